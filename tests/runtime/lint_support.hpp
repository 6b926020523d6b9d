// An author's folder, and what is said of the files in it.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "runtime/equation_examination.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ondula::test {

/// Files of equations in a folder of their own, compiled without a cache unless asked for.
class AuthorsFolder {
 public:
  std::string write(const std::string& name, const std::string& text) const;
  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }
  EquationFileOptions options(bool cached = false) const;
  /// Writes "mine.cpp" and compiles it.
  EquationExamination examine(const std::string& text) const;

 private:
  TemporaryDirectory directory_;
};

/// A file that states equation `mine` of parameter vp and field u: line 1 includes the language, `before`
/// begins in line 2, EQUATION stands in the line after it, `lines` begin three lines below that, and evolve
/// is the last.
std::string equation_text(const std::string& lines, const std::string& before = "");

/// "LINE:COLUMN: MESSAGE [ID]" of each finding.
std::vector<std::string> told(const std::vector<lint::Finding>& findings);

}  // namespace ondula::test
