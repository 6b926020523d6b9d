// The commands.
// SPDX-License-Identifier: MIT
#include "tests/tools/generated.hpp"

#include <cstdlib>
#include <fstream>
#include <limits>
#include <regex>

#include "tests/tools/program.hpp"

namespace ondula::test {

int shell(const std::filesystem::path& folder, const std::string& command) {
  return std::system(("cd '" + folder.string() + "' && { " + command + "; } > output.txt 2>&1").c_str());
}

std::string readme_command(const std::filesystem::path& folder) {
  static const std::regex line("\n    ((g\\+\\+|nvcc) [^\n]*)\n");
  const std::string text = std::regex_replace(read_file(folder / "README.md"), std::regex(R"( \\\n +)"), " ");
  std::smatch match;
  return std::regex_search(text, match, line) ? match[1].str() : "";
}

double undone(const std::filesystem::path& folder) {
  static const std::regex line(
      "every step undone: largest difference ([0-9.e+-]+) of a field's largest value");
  const std::string text = read_file(folder / "output.txt");
  std::smatch match;
  return std::regex_search(text, match, line) ? std::stod(match[1].str())
                                              : std::numeric_limits<double>::infinity();
}

const std::string strict_options = " -Wall -Wextra -Werror -DONDULA_TILE_BYTES=1 ";

const std::string strict_compiler = "g++ -std=c++17 -O0 -ffp-contract=off -Wno-psabi" + strict_options;

// Kernels keep pragmas that g++ does not know.
const std::string cuda_stand_in_compiler =
    strict_compiler + "-Wno-unknown-pragmas -I " ONDULA_TESTS_DIR "/tools/cuda_stand_in ";

int on_cpu(const std::filesystem::path& folder, const std::string& name) {
  static const std::regex launch(R"((\w+(?:<\w+>)?)<<<([^>]*)>>>\()");
  const std::string text = read_file(folder / (name + ".cu"));
  std::ofstream(folder / (name + "_cu.cpp")) << std::regex_replace(text, launch, "stand_in_launch($1, $2)(");
  return static_cast<int>(std::distance(std::sregex_iterator(text.begin(), text.end(), launch), {}));
}

}  // namespace ondula::test
