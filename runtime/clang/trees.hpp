// Questions about Clang's syntax trees, for the linter.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace clang {
class Expr;
class QualType;
class Stmt;
class VarDecl;
}  // namespace clang

namespace ondula::clang_module {

/// The name of a class of the language's, "Tensor", or "" for any other type.
std::string dsl_class(const clang::QualType& type);

/// Whether objects of this type hold expressions: Tensor itself, a container or an array of them.
bool holds_tensors(const clang::QualType& type);

/// Without what the author did not write.
const clang::Expr* plain(const clang::Expr* e);

/// The variable an expression names, or nothing.
const clang::VarDecl* variable(const clang::Expr* e);

/// The variable whose memory an assignment to `e` changes.
const clang::VarDecl* changed_variable(const clang::Expr* e);

/// A statement and all below it.
std::vector<const clang::Stmt*> below(const clang::Stmt* top);

}  // namespace ondula::clang_module
