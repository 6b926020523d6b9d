// An author's folder for tests.
// SPDX-License-Identifier: MIT
#include "tests/runtime/lint_support.hpp"

#include <fmt/format.h>

#include <fstream>

namespace ondula::test {

std::string AuthorsFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(directory_.path() / name, std::ios::binary) << text;
  return path(name);
}

EquationFileOptions AuthorsFolder::options(bool cached) const {
  EquationFileOptions options;
  options.cache.directory = cached ? (directory_.path() / "cache").string() : "off";
  return options;
}

EquationExamination AuthorsFolder::examine(const std::string& text) const {
  return examine_equations(write("mine.cpp", text), options());
}

std::string equation_text(const std::string& lines, const std::string& before) {
  return "#include <ondula/dsl.hpp>\n" + before +
         "EQUATION(mine, \"of a test\") {\n"
         "  auto vp = parameter(\"vp\", \"m/s\", positive);\n"
         "  auto u = scalar(\"u\", \"Pa\");\n" +
         lines + "  evolve(dtt(u) = sq(vp) * (laplacian(u) + source(u)));\n}\n";
}

std::vector<std::string> told(const std::vector<lint::Finding>& findings) {
  std::vector<std::string> all;
  for (const lint::Finding& finding : findings)
    all.push_back(fmt::format("{}:{}: {} [{}]", finding.line, finding.column, finding.message, finding.id));
  return all;
}

}  // namespace ondula::test
