// The four kinds of error: the user's, the compile's, the run's, and ours.
// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "compiler/export.hpp"

namespace ondula {

/// Base of every error Ondula throws. The message says what happened, where, and what to do.
class ONDULA_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The input is wrong: which key, file, field or line, what was found, and what is allowed. Exit status 2.
class ONDULA_API UserError : public Error {
 public:
  using Error::Error;
};

/// A kernel or an equation file did not compile. Exit status 3.
class ONDULA_API CompileError : public Error {
 public:
  CompileError(const std::string& message, std::string log, std::string source_path)
      : Error(message), log_(std::move(log)), source_path_(std::move(source_path)) {}
  /// The compiler's own output.
  const std::string& log() const noexcept { return log_; }
  /// Where the offending source was saved; empty if it could not be.
  const std::string& source_path() const noexcept { return source_path_; }

 private:
  std::string log_;
  std::string source_path_;
};

/// The run failed: device, memory, disk, communication, or a field that turned NaN. Exit status 4.
class ONDULA_API RuntimeError : public Error {
 public:
  using Error::Error;
};

/// A fault of ours. Exit status 70.
class ONDULA_API InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace ondula
