// Equations bound to axes.
// SPDX-License-Identifier: MIT
#include "compiler/dsl/dsl.hpp"

#include <fmt/format.h>

#include "compiler/error.hpp"

namespace ondula {

ir::Equation EquationDefinition::instantiate(const std::vector<std::string>& axes) const {
  try {
    return body_(name_, description_, axes);
  } catch (const UserError& error) {
    // What has no line of the author's has the file.
    if (file_.empty() || !std::string(error.what()).starts_with("equation ")) throw;
    throw UserError(fmt::format("{}: {}", file_, error.what()));
  }
}

EquationDefinition EquationDefinition::loaded(std::string file, std::shared_ptr<const void> owner) const {
  EquationDefinition result = *this;
  result.file_ = std::move(file);
  result.owner_ = std::move(owner);
  return result;
}

std::vector<std::string> default_axes(int dims) {
  switch (dims) {
    case 1:
      return {"z"};
    case 2:
      return {"z", "x"};
    case 3:
      return {"z", "y", "x"};
    default:
      throw UserError(fmt::format("dims {}: allowed are 1, 2 and 3", dims));
  }
}

}  // namespace ondula
