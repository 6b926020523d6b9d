// A command did its work and the answer is no.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/error.hpp"

namespace ondula::tools {

/// A check or comparison failed, and its answer is printed. Exit status 1.
class CheckFailed : public Error {
 public:
  using Error::Error;
};

}  // namespace ondula::tools
