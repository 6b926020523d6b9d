// Printing binary expressions as C++: shared by the emitters.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include "compiler/emit/manifest.hpp"
#include "compiler/ir/expr.hpp"

namespace ondula::emit {

/// How an access (field, coefficient, profile) is spelled.
using AccessPrinter = std::function<std::string(const ir::Node&)>;

/// `e` as C++; constants of the working type with all their digits, nothing decided here.
std::string expression(ir::Expr e, Real real, const AccessPrinter& access);

/// A constant of the working type: "0.125f", "2.0", "0.10000000000000001".
std::string literal(const ir::Number& number, Real real);

}  // namespace ondula::emit
