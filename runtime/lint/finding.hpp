// What is wrong with an equation's file, and where: for people, for programs, and with its cure.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ondula::lint {

/// Replaces the text from a place up to another one. Lines and columns count from 1, columns in bytes.
struct Edit {
  std::string file;
  std::size_t line = 0, column = 0, end_line = 0, end_column = 0;
  std::string text;
};

/// One thing that is wrong, or likely so.
struct Finding {
  std::string
      id;  ///< "integer-division"; of the compiler's own warnings the name of its option, else "compiler"
  bool error = false;  ///< the file does not compile, or states no valid equation
  std::string file;
  std::size_t line = 0, column = 0;  ///< 0 where it has no line
  std::size_t begin = 0, end = 0;    ///< the columns from `begin` up to `end` that it is about
  std::string message;               ///< one sentence
  std::string line_text;             ///< the author's line, without its end
  std::vector<Edit> fixes;           ///< what mends it, all together; may be none
};

/// "FILE:LINE:COLUMN: warning: MESSAGE [ID]", the line with a caret below it, and the line as its fix leaves
/// it.
std::string text_of(const Finding& finding);

/// A finding as JSON and back.
nlohmann::ordered_json json_of(const Finding& finding);
Finding finding_of(const nlohmann::ordered_json& json);

/// The line, its number, and below it a caret under `column` in the range from `begin` up to `end`, each line
/// ended. Bytes that are no UTF-8 are shown as "?". Tabs stay, so that a caret stands where a terminal puts
/// the character.
std::string excerpt(std::size_t number, const std::string& line, std::size_t column, std::size_t begin,
                    std::size_t end);

/// `text` without what is no UTF-8.
std::string printable(const std::string& text);

/// Where the first byte that is no UTF-8 stands; npos where there is none.
std::size_t find_foreign_byte(const std::string& text);

}  // namespace ondula::lint
