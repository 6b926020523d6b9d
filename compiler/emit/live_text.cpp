// Keeping what does not live.
// SPDX-License-Identifier: MIT
#include "compiler/emit/live_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace ondula::emit {
namespace {

constexpr int part = 256;  // entries of a row kept at a time

/// Written out, store by store: taking the rows' addresses would hide from the compiler that they are apart.
std::string edges(const ir::Piece& piece, int dims, bool back) {
  std::string text = "  if (edges) {\n";
  for (std::size_t k = 0; k < piece.stores.size(); ++k) {
    const std::size_t live = 2 * static_cast<std::size_t>(dims) * (k + 2) - 2;
    const std::string& row = piece.stores[k].array;
    for (const bool last : {false, true}) {
      const std::string entry = fmt::format("{}[{}]", row, last ? "end - 1" : "begin");
      const std::string kept = fmt::format("kept[{}]", 2 * k + (last ? 1 : 0));
      text += fmt::format(
          "    if ({}) {} = {};\n",
          last ? fmt::format("end > lives[{}]", live + 1) : fmt::format("begin < lives[{}]", live),
          back ? entry : kept, back ? kept : entry);
    }
  }
  return text + "  }\n";
}

}  // namespace

std::string keep_edges(const ir::Piece& piece, int dims) {
  return fmt::format(
             "  const bool edges = begin < end && (begin < lives[{}] || end > lives[{}]);\n  real "
             "kept[{}] = {{}};\n",
             2 * dims - 2, 2 * dims - 1, 2 * piece.stores.size()) +
         edges(piece, dims, false);
}

std::string restore_edges(const ir::Piece& piece, int dims) { return edges(piece, dims, true); }

std::string partial_row(const ir::Piece& piece, const LiveNames& names) {
  const std::size_t axes = names.outer.size() + 1;
  std::vector<std::string> declared = names.parameters, passed = names.arguments;
  const auto lives = std::find(declared.begin(), declared.end(), "const index* lives");
  declared.erase(std::next(lives), declared.end());
  passed.emplace_back("lives");
  for (std::size_t o = 0; o < names.outer.size(); ++o) {
    declared.push_back("const index " + names.outer[o]);
    if (o + 1 < names.outer.size()) passed.push_back(names.outer[o]);
  }
  const std::string& row = names.outer.back();
  const std::string swap = fmt::format("swap_rows(stored, kept, {}, lives + {}, {}, at, from, until, ",
                                       piece.stores.size(), 2 * axes, axes);
  std::string text = fmt::format(
      "\nONDULA_BLOCK void {}_partial(\n    {},\n    const index begin,\n    const index end) {{\n",
      names.function, fmt::join(declared, ",\n    "));
  text += fmt::format("  real* const stored[] = {{{}}};\n  const index at[] = {{{}}};\n",
                      fmt::join(names.rows, ", "), fmt::join(names.outer, ", "));
  text += fmt::format("  real kept[{}];\n  for (index from = begin; from < end; from += {}) {{\n",
                      part * static_cast<int>(piece.stores.size()), part);
  text += fmt::format("    const index until = earlier(from + {}, end);\n    {}false);\n", part, swap);
  text += fmt::format("    {}({}, false, {}, {} + 1, from, until);\n    {}true);\n  }}\n}}\n", names.function,
                      fmt::join(passed, ", "), row, row, swap);
  return text;
}

std::string all_live(const std::vector<std::string>& outer) {
  std::vector<std::string> tests;
  for (std::size_t o = 0; o < outer.size(); ++o) {
    tests.push_back(fmt::format("{} >= lives[{}] && {} < lives[{}]", outer[o], 2 * o, outer[o], 2 * o + 1));
  }
  return fmt::format("{}", fmt::join(tests, " && "));
}

}  // namespace ondula::emit
