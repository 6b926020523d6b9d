// A command failed, and the JSON on stdout says so already.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "compiler/error.hpp"

namespace ondula::tools {

/// Ends a command with its status and a message on stderr, but without a second JSON object on stdout.
class Answered : public Error {
 public:
  Answered(const std::string& message, int status) : Error(message), status_(status) {}
  int status() const noexcept { return status_; }

 private:
  int status_;
};

}  // namespace ondula::tools
