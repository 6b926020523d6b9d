// The input is wrong, and the JSON on stdout says so already.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/error.hpp"

namespace ondula::tools {

/// Ends a command with status 2 and a message on stderr, but without a second JSON object on stdout.
class Answered : public UserError {
 public:
  using UserError::UserError;
};

}  // namespace ondula::tools
