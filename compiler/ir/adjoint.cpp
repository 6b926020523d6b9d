// Listing an adjoint.
// SPDX-License-Identifier: MIT
#include "compiler/ir/adjoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ondula::ir {
namespace {

std::string text_of(const Combination& combination, const std::vector<std::string>& axes) {
  std::vector<std::string> terms;
  for (const auto& [factor, field] : combination.terms) {
    terms.push_back(is_constant(factor, 1) ? field : fmt::format("{}*{}", text(factor, axes), field));
  }
  return fmt::format("{}", fmt::join(terms, " + "));
}

}  // namespace

std::string dump(const Adjoint& adjoint) {
  const std::vector<std::string>& axes = adjoint.program.axes;
  std::string out = dump(adjoint.program);
  for (const Save& save : adjoint.saves) out += fmt::format("  saved {} = {}\n", save.name, save.field);
  for (const AdjointVariable& v : adjoint.variables) {
    if (!v.value.terms.empty())
      out += fmt::format("  adjoint of {} = H*({})\n", v.field, text_of(v.value, axes));
  }
  for (const CoefficientGradient& g : adjoint.gradients) {
    out += fmt::format("  gradient of {} = H*({}){}\n", text(g.coefficient, axes), text_of(g.value, axes),
                       g.injected ? ", less what sources injected" : "");
  }
  if (!adjoint.no_mirror.empty()) out += "  no mirroring faces: " + adjoint.no_mirror + "\n";
  for (const std::string& decision : adjoint.decisions) out += "  " + decision + "\n";
  return out;
}

}  // namespace ondula::ir
