// An equation by name, not yet bound to axes: what a Propagator is made of.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/export.hpp"

namespace ondula {

namespace ir {
struct Equation;
}

/// An equation not yet bound to axes: a name and the author's text as a function.
class ONDULA_API EquationDefinition {
 public:
  using Body = ir::Equation (*)(const std::string&, const std::string&, const std::vector<std::string>&);
  EquationDefinition(std::string name, std::string description, Body body)
      : name_(std::move(name)), description_(std::move(description)), body_(body) {}

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  /// The equation over `axes`, slowest first: {"z"}, {"x"}, {"z","x"} or {"z","y","x"}. Throws UserError
  /// where the author's text is wrong, naming equation, field and line.
  ir::Equation instantiate(const std::vector<std::string>& axes) const;
  /// The file it was loaded from; empty for one that is linked in.
  const std::string& file() const { return file_; }
  /// The same, loaded from `file`: `owner` keeps the author's compiled text for as long as a copy lives.
  EquationDefinition loaded(std::string file, std::shared_ptr<const void> owner) const;

 private:
  std::string name_;
  std::string description_;
  Body body_;
  std::string file_;
  std::shared_ptr<const void> owner_;
};

/// The axes of a 1-, 2- or 3-D equation: {"z"}, {"z","x"}, {"z","y","x"}. Throws UserError for other counts.
ONDULA_API std::vector<std::string> default_axes(int dims);

}  // namespace ondula
