// What an equation's author includes: EQUATION(name, "description") { declarations; evolve(...); }.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/dsl/definition.hpp"
#include "compiler/dsl/functions.hpp"
#include "compiler/dsl/stiffness.hpp"
#include "compiler/dsl/tensor.hpp"
#include "compiler/ir/equation.hpp"

/// Defines a function NAME() that returns the EquationDefinition whose body follows. Whoever loads the object
/// of such a file finds the functions in its section ondula_equations.
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
  namespace {                                                                                               \
  [[gnu::used, gnu::section("ondula_equations")]] ::ondula::EquationDefinition (*NAME##_entry)() = &NAME;   \
  }                                                                                                         \
  void NAME##_author::define()
