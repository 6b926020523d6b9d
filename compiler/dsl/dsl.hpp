// What an equation's author includes: EQUATION(name, "description") { declarations; evolve(...); }.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/dsl/definition.hpp"
#include "compiler/dsl/tensor.hpp"
#include "compiler/ir/equation.hpp"

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
