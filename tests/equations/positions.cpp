// Where every field lives in the cell: files and other codes depend on it.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "compiler/dsl/dsl.hpp"
#include "equations/equations.hpp"

namespace ondula::test {
namespace {

/// Raised with every change of a position: records and states written before then mean something else.
constexpr int positions_version = 1;

std::string positions() {
  std::string text = fmt::format("version {}\n", positions_version);
  for (const EquationDefinition& equation : equations::all()) {
    for (int dims = 1; dims <= 3; ++dims) {
      const ir::Equation stated = equation.instantiate(default_axes(dims));
      text += fmt::format("\n{} ({})\n", stated.name, fmt::join(stated.axes, ", "));
      for (const ir::Field& field : stated.fields) {
        text += fmt::format("  {:<5}", field.name);
        for (std::size_t a = 0; a < stated.axes.size(); ++a)
          text += field.stagger[a] != 0 ? " +1/2" : "    0";
        text += "\n";
      }
    }
  }
  return text;
}

}  // namespace

TEST_CASE("E9: the staggered positions are those of the golden file; another version rewrites it") {
  const std::string path = fmt::format("{}/equations/golden/positions.txt", ONDULA_TESTS_DIR);
  const auto kept = [&] {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  const char* update = std::getenv("ONDULA_UPDATE_GOLDEN");
  const bool bumped = kept().rfind(fmt::format("version {}\n", positions_version), 0) != 0;
  if (update != nullptr && std::string(update) == "1" && bumped) std::ofstream(path) << positions();
  INFO("a moved field needs a higher positions_version; ONDULA_UPDATE_GOLDEN=1 then rewrites ", path);
  CHECK(kept() == positions());
}

}  // namespace ondula::test
