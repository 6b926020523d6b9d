// What an equation's author includes: EQUATION(name, "description") { declarations; evolve(...); }.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/dsl/tensor.hpp"
#include "compiler/ir/equation.hpp"

namespace ondula {

/// An equation not yet bound to axes: a name and the author's text as a function.
class EquationDefinition {
 public:
  using Body = ir::Equation (*)(const std::string&, const std::string&, const std::vector<std::string>&);
  EquationDefinition(std::string name, std::string description, Body body)
      : name_(std::move(name)), description_(std::move(description)), body_(body) {}

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  /// The equation over `axes`, slowest first: {"z"}, {"x"}, {"z","x"} or {"z","y","x"}. Throws UserError
  /// where the author's text is wrong, naming equation, field and line.
  ir::Equation instantiate(const std::vector<std::string>& axes) const {
    return body_(name_, description_, axes);
  }

 private:
  std::string name_;
  std::string description_;
  Body body_;
};

/// The axes of a 1-, 2- or 3-D equation: {"z"}, {"z","x"}, {"z","y","x"}.
std::vector<std::string> default_axes(int dims);

}  // namespace ondula

/// Defines a function NAME() that returns the EquationDefinition whose body follows.
#define EQUATION(NAME, DESCRIPTION)                                                                         \
  namespace {                                                                                               \
  struct NAME##_author final : ::ondula::dsl::Author {                                                      \
    using Author::Author;                                                                                   \
    void define() override;                                                                                 \
  };                                                                                                        \
  }                                                                                                         \
  ::ondula::EquationDefinition NAME();                                                                      \
  ::ondula::EquationDefinition NAME() {                                                                     \
    return {                                                                                                \
        #NAME, DESCRIPTION,                                                                                 \
        [](const std::string& name, const std::string& description, const std::vector<std::string>& axes) { \
          return NAME##_author(name, description, axes).finish();                                           \
        }};                                                                                                 \
  }                                                                                                         \
  void NAME##_author::define()
