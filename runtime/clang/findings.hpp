// What compiler and linter say of an author's file, with places.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace clang {
class ASTConsumer;
class CharSourceRange;
class FixItHint;
class LangOptions;
class SourceLocation;
class SourceManager;
}  // namespace clang

namespace ondula::clang_module {

/// Lines and columns count from 1, columns in bytes; 0 where there is none.
struct Place {
  std::string file;
  bool own = false;  ///< the file is the author's
  unsigned line = 0, column = 0;
};

/// Replaces the text from a place up to another one.
struct Fix {
  Place begin;
  unsigned end_line = 0, end_column = 0;
  std::string text;
};

struct Note {
  Place place;
  std::string message;
};

/// As clang_module.h describes it.
struct Diagnostic {
  std::string id, group, level, message;
  Place place;
  unsigned begin = 0, end = 0;  ///< columns on its line
  std::vector<Fix> fixes;
  std::vector<Note> notes;
};

/// Everything said so far.
struct Findings {
  std::vector<Diagnostic> diagnostics;
  bool equation_known = false;
};

/// As JSON.
std::string text_of(const Findings& findings);

/// Of a macro's text that of its use.
Place place_of(const clang::SourceManager& files, const clang::SourceLocation& at);

/// The range as characters of one file; invalid where there is none.
clang::CharSourceRange characters(const clang::SourceManager& files, const clang::LangOptions& language,
                                  const clang::CharSourceRange& range);

/// Puts `said` at `at`, with the columns that the ranges take up on its line, its own included.
void put_at(Diagnostic& said, const clang::SourceManager& files, const clang::LangOptions& language,
            const clang::SourceLocation& at, const std::vector<clang::CharSourceRange>& ranges);

/// One fix-it, or nothing where its range is in a macro or in no file.
void add_fix(std::vector<Fix>& to, const clang::SourceManager& files, const clang::LangOptions& language,
             const clang::FixItHint& hint);

/// Looks at the author's own text once it is parsed, and adds to `findings`. Says nothing of a file with
/// errors.
std::unique_ptr<clang::ASTConsumer> make_linter(Findings& findings);

}  // namespace ondula::clang_module
