// The fixed text before the kernels.
// SPDX-License-Identifier: MIT
#include "compiler/emit/host_header.hpp"

#include <fmt/format.h>

#include "templates/templates.hpp"

namespace ondula::emit {
namespace {

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

}  // namespace

std::string host_header(const ir::KernelSet& set, Real real) {
  const ir::Program& program = set.program;
  std::string out;
  out += fmt::format("// {}, {}, axes {}, order {}, {}.\n// {}\n//\n", program.equation, program.direction,
                     fmt::join(program.axes, " "), program.order,
                     real == Real::float32 ? "float32" : "float64", program.description);
  for (const ir::Coefficient& c : program.coefficients) {
    out += fmt::format("// {} = {}\n", c.name, text(c.definition, program.axes));
  }
  for (const ir::Scalar& s : program.scalars) {
    out += fmt::format("// {} = {}\n", s.name, text(s.definition, program.axes));
  }
  std::string prelude =
      replaced(templates::host_prelude, "@REAL@", real == Real::float32 ? "float" : "double");
  prelude = replaced(prelude, "@LANES@", real == Real::float32 ? "16" : "8");
  out += replaced(prelude, "@FMA@", real == Real::float32 ? "__builtin_fmaf" : "__builtin_fma");
  bool mixed = false;
  for (const ir::Kernel& kernel : set.kernels) {
    for (const ir::Piece& p : kernel.pieces) mixed |= p.mixed;
  }
  if (mixed) out += templates::host_live;
  return out;
}

}  // namespace ondula::emit
