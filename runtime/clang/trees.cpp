// Answers about Clang's syntax trees.
// SPDX-License-Identifier: MIT
#include "runtime/clang/trees.hpp"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>

namespace ondula::clang_module {

std::string dsl_class(const clang::QualType& type) {
  const clang::CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (record == nullptr || record->getIdentifier() == nullptr) return "";
  const std::string name = record->getQualifiedNameAsString();
  const std::string space = "ondula::dsl::";
  return name.rfind(space, 0) == 0 ? name.substr(space.size()) : "";
}

namespace {

bool holds_at(clang::QualType type, int depth) {
  type = type.getCanonicalType().getNonReferenceType();
  if (depth > 4) return false;
  if (const std::string name = dsl_class(type); !name.empty())
    return name == "Tensor" || name == "Located" || name == "Condition" || name == "Stiffness" ||
           name == "TimeDerivative" || name == "EvolutionStatement";
  if (type->isPointerType()) return holds_at(type->getPointeeType(), depth + 1);
  if (const clang::ArrayType* array = type->getAsArrayTypeUnsafe())
    return holds_at(array->getElementType(), depth + 1);
  const auto* special =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
  if (special == nullptr) return false;
  for (const clang::TemplateArgument& argument : special->getTemplateArgs().asArray()) {
    if (argument.getKind() == clang::TemplateArgument::Type && holds_at(argument.getAsType(), depth + 1))
      return true;
  }
  return false;
}

}  // namespace

bool holds_tensors(const clang::QualType& type) { return holds_at(type, 0); }

const clang::Expr* plain(const clang::Expr* e) {
  return e == nullptr ? nullptr : e->IgnoreUnlessSpelledInSource();
}

const clang::VarDecl* variable(const clang::Expr* e) {
  const auto* name = llvm::dyn_cast_or_null<clang::DeclRefExpr>(plain(e));
  return name == nullptr ? nullptr : llvm::dyn_cast<clang::VarDecl>(name->getDecl());
}

const clang::VarDecl* changed_variable(const clang::Expr* e) {
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

std::vector<const clang::Stmt*> below(const clang::Stmt* top) {
  std::vector<const clang::Stmt*> all;
  if (top != nullptr) all.push_back(top);
  for (std::size_t k = 0; k < all.size(); ++k)
    for (const clang::Stmt* child : all[k]->children())
      if (child != nullptr) all.push_back(child);
  return all;
}

}  // namespace ondula::clang_module
