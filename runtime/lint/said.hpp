// What the Clang module says of an author's file, as it comes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "runtime/lint/finding.hpp"

namespace ondula::lint {

/// A place, and what is said of it.
struct Note {
  std::string file;
  bool own = false;  ///< the file is the author's
  std::size_t line = 0, column = 0;
  std::string message;
};

/// A diagnostic of the compiler or the linter, with the notes behind it.
struct Said : Note {
  std::string id;     ///< the linter's; else empty
  std::string group;  ///< of a compiler's warning, "unused-function"; else empty
  bool error = false;
  std::size_t begin = 0, end = 0;
  std::vector<Edit> fixes;
  std::vector<Note> notes;
};

/// All of one file.
struct Report {
  bool equation_known = false;  ///< the macro EQUATION was defined
  std::vector<Said> all;
};

/// The report of a module's `findings`. Throws InternalError where it is none.
Report report_of(const std::string& json);

/// The lines of the author's files: of the one that is compiled as it was read, of others as they are.
class Lines {
 public:
  Lines(std::string file, const std::string& text);
  /// Without its end; empty where there is none.
  std::string line(const std::string& file, std::size_t number);
  const std::string& file() const { return file_; }

 private:
  const std::vector<std::string>& lines(const std::string& file);

  std::string file_;
  std::map<std::string, std::vector<std::string>> known_;
};

}  // namespace ondula::lint
