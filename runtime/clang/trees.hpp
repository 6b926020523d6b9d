// Questions about Clang's syntax trees, for the linter.
// SPDX-License-Identifier: MIT
#pragma once

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>

#include <string>
#include <vector>

namespace ondula::clang_module {

/// The name of a class of the language's, "Tensor", or "" for any other type.
inline std::string dsl_class(clang::QualType type) {
  const clang::CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (record == nullptr || record->getIdentifier() == nullptr) return "";
  const std::string name = record->getQualifiedNameAsString();
  const std::string space = "ondula::dsl::";
  return name.rfind(space, 0) == 0 ? name.substr(space.size()) : "";
}

/// Whether objects of this type hold expressions: Tensor itself, a container or an array of them.
inline bool holds_tensors(clang::QualType type, int depth = 0) {
  type = type.getCanonicalType().getNonReferenceType();
  if (depth > 4) return false;
  if (const std::string name = dsl_class(type); !name.empty())
    return name == "Tensor" || name == "Located" || name == "TimeDerivative" || name == "EvolutionStatement";
  if (type->isPointerType()) return holds_tensors(type->getPointeeType(), depth + 1);
  if (const clang::ArrayType* array = type->getAsArrayTypeUnsafe())
    return holds_tensors(array->getElementType(), depth + 1);
  const auto* special =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
  if (special == nullptr) return false;
  for (const clang::TemplateArgument& argument : special->getTemplateArgs().asArray()) {
    if (argument.getKind() == clang::TemplateArgument::Type && holds_tensors(argument.getAsType(), depth + 1))
      return true;
  }
  return false;
}

inline const clang::Expr* plain(const clang::Expr* e) {
  return e == nullptr ? nullptr : e->IgnoreUnlessSpelledInSource();
}

/// The variable an expression names, or nothing.
inline const clang::VarDecl* variable(const clang::Expr* e) {
  const auto* name = llvm::dyn_cast_or_null<clang::DeclRefExpr>(plain(e));
  return name == nullptr ? nullptr : llvm::dyn_cast<clang::VarDecl>(name->getDecl());
}

/// The variable whose memory an assignment to `e` changes.
inline const clang::VarDecl* changed_variable(const clang::Expr* e) {
  for (e = plain(e); e != nullptr;) {
    if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(e)) {
      if (const auto* own = llvm::dyn_cast<clang::VarDecl>(member->getMemberDecl()))
        return own;  // a static member
      e = member->isArrow() ? nullptr : plain(member->getBase());
    } else if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(e)) {
      e = plain(element->getBase());
    } else if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(e)) {
      e = call->getOperator() == clang::OO_Subscript ? plain(call->getArg(0)) : nullptr;
    } else {
      return variable(e);
    }
  }
  return nullptr;
}

/// A statement and all below it.
inline std::vector<const clang::Stmt*> below(const clang::Stmt* top) {
  std::vector<const clang::Stmt*> all;
  if (top != nullptr) all.push_back(top);
  for (std::size_t k = 0; k < all.size(); ++k)
    for (const clang::Stmt* child : all[k]->children())
      if (child != nullptr) all.push_back(child);
  return all;
}

}  // namespace ondula::clang_module
