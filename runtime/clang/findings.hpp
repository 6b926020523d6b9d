// What compiler and linter say of an author's file, with places. For the files that include Clang's headers.
// SPDX-License-Identifier: MIT
#pragma once

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/LangOptions.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <llvm/Support/JSON.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace clang {
class ASTConsumer;
}

namespace ondula::clang_module {

/// Everything said so far, as clang_module.h describes it.
struct Findings {
  llvm::json::Array diagnostics;
  bool equation_known = false;
};

/// "file", "own", "line" and "column" of a place; of a macro's text that of its use.
inline llvm::json::Object place_of(const clang::SourceManager& files, clang::SourceLocation at) {
  const clang::SourceLocation here = files.getFileLoc(at);
  clang::PresumedLoc place;
  if (here.isValid()) place = files.getPresumedLoc(here, /*UseLineDirectives=*/false);
  llvm::json::Object said;
  said["file"] = std::string(place.isValid() ? place.getFilename() : "");
  said["own"] = place.isValid() && !files.isInSystemHeader(here);
  said["line"] = place.isValid() ? place.getLine() : 0;
  said["column"] = place.isValid() ? place.getColumn() : 0;
  return said;
}

/// The range as characters of one file; invalid where there is none.
inline clang::CharSourceRange characters(const clang::SourceManager& files,
                                         const clang::LangOptions& language, clang::CharSourceRange range) {
  range.setBegin(files.getFileLoc(range.getBegin()));
  range.setEnd(files.getFileLoc(range.getEnd()));
  return clang::Lexer::makeFileCharRange(range, files, language);
}

/// Adds "begin" and "end": the columns that the ranges take up on the line of `at`, its own included.
inline void add_range(llvm::json::Object& to, const clang::SourceManager& files,
                      const clang::LangOptions& language, clang::SourceLocation at,
                      llvm::ArrayRef<clang::CharSourceRange> ranges) {
  const clang::SourceLocation here = files.getFileLoc(at);
  const auto column = static_cast<unsigned>(to.getInteger("column").value_or(0));
  unsigned begin = column, end = column + 1;
  if (here.isValid()) {
    const unsigned line = files.getSpellingLineNumber(here);
    for (const clang::CharSourceRange& given : ranges) {
      const clang::CharSourceRange range = characters(files, language, given);
      if (range.isInvalid() || files.getFileID(range.getBegin()) != files.getFileID(here)) continue;
      if (files.getSpellingLineNumber(range.getBegin()) == line)
        begin = std::min(begin, files.getSpellingColumnNumber(range.getBegin()));
      if (files.getSpellingLineNumber(range.getEnd()) == line)
        end = std::max(end, files.getSpellingColumnNumber(range.getEnd()));
    }
  }
  to["begin"] = begin;
  to["end"] = end;
}

/// One fix-it, or nothing where its range is in a macro or in no file.
inline void add_fix(llvm::json::Array& to, const clang::SourceManager& files,
                    const clang::LangOptions& language, const clang::FixItHint& hint) {
  if (hint.isNull() || hint.RemoveRange.getBegin().isMacroID() || hint.RemoveRange.getEnd().isMacroID())
    return;
  const clang::CharSourceRange range = clang::Lexer::makeFileCharRange(hint.RemoveRange, files, language);
  if (range.isInvalid()) return;
  llvm::json::Object fix = place_of(files, range.getBegin());
  fix["end_line"] = files.getSpellingLineNumber(range.getEnd());
  fix["end_column"] = files.getSpellingColumnNumber(range.getEnd());
  fix["text"] = hint.CodeToInsert;
  to.push_back(std::move(fix));
}

/// Looks at the author's own text once it is parsed, and adds to `findings`. Says nothing of a file with
/// errors.
std::unique_ptr<clang::ASTConsumer> make_linter(Findings& findings);

}  // namespace ondula::clang_module
