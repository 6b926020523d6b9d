// What C++ lets slip in an equation's file: looks at the author's own syntax trees, once they are complete.
// SPDX-License-Identifier: MIT
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/clang/findings.hpp"
#include "runtime/clang/trees.hpp"

namespace ondula::clang_module {
namespace {

using clang::CharSourceRange;
using clang::Expr;
using clang::FixItHint;
using clang::QualType;
using clang::SourceLocation;
using clang::SourceRange;
using clang::VarDecl;

/// A declaration of an equation's: parameter(...), scalar(...) and so on.
struct Declaration {
  std::string call, name;
  bool is_model() const { return call == "parameter" || call == "uniform"; }
  bool is_field() const { return !call.empty() && !is_model(); }
};

/// What is known of a local variable.
struct Local {
  Declaration declared;   ///< where it names a parameter or a field
  unsigned reads = 0;     ///< places where its value is used
  unsigned operands = 0;  ///< of them, those that are operands or arguments of the language's
  bool evolves = false;   ///< an argument of dt() or dtt()
};

class Linter final : public clang::RecursiveASTVisitor<Linter> {
  using Base = clang::RecursiveASTVisitor<Linter>;

 public:
  Linter(clang::ASTContext& context, Findings& findings)
      : context_(context), files_(context.getSourceManager()), findings_(findings) {}

  void run() {
    for (clang::Decl* declaration : context_.getTranslationUnitDecl()->decls()) {
      if (own(declaration->getLocation())) TraverseDecl(declaration);
    }
    for (const VarDecl* local : order_) tell_of(*local, locals_[local]);
  }

  bool shouldVisitTemplateInstantiations() const { return false; }
  bool shouldVisitImplicitCode() const { return false; }

  bool TraverseCXXMethodDecl(clang::CXXMethodDecl* method) {
    const bool before = body_;
    const bool equation = is_body(*method);
    body_ = body_ || equation;
    const bool evolved_before = std::exchange(evolved_, false);
    const bool go_on = Base::TraverseCXXMethodDecl(method);
    if (equation && !evolved_ && method->hasBody()) {
      std::string name = method->getParent()->getNameAsString();
      name.resize(name.size() - std::string("_author").size());
      tell("no-evolution", method->getLocation(), {},
           "equation " + name + " states no evolution: write evolve(dt(...) = ...)");
    }
    evolved_ = evolved_before;
    body_ = before;
    return go_on;
  }

  bool VisitVarDecl(VarDecl* v) {
    if (v->isImplicit() || llvm::isa<clang::ParmVarDecl>(v)) return true;
    if (v->hasGlobalStorage()) {
      const bool number = v->getType().isConstQualified() && v->hasInit() && is_number(v->getInit());
      if (holds_tensors(v->getType()) && !number)
        tell("static-tensor", v->getLocation(), {},
             v->getNameAsString() +
                 " outlives the equation's body, whose expressions it holds: declare it in "
                 "the body, without static");
      return true;
    }
    if (v->isLocalVarDecl() && is_plain(*v)) {
      order_.push_back(v);
      locals_[v].declared = declaration(v->getInit());
    }
    return true;
  }

  bool VisitDeclRefExpr(clang::DeclRefExpr* name) {
    const auto* v = llvm::dyn_cast<VarDecl>(name->getDecl());
    if (v != nullptr && !written_.contains(name)) ++locals_[v].reads;
    return true;
  }

  bool VisitCXXConstructExpr(clang::CXXConstructExpr* made) {
    const std::string name = dsl_class(made->getType());
    if ((name == "Located" || name == "Tensor") && made->getNumArgs() > 0) {
      if (name == "Located") {
        if (const VarDecl* v = variable(made->getArg(0))) ++locals_[v].operands;
      }
      coefficient(made->getArg(0));
    }
    if (made->getConstructor()->getParent()->getQualifiedNameAsString() == "std::random_device")
      tell_not_reproducible(made->getBeginLoc(), "std::random_device");
    return true;
  }

  bool VisitCastExpr(clang::CastExpr* cast) {
    if (cast->getCastKind() == clang::CK_IntegralToFloating) mark_divisions(cast->getSubExpr());
    const auto* implicit = llvm::dyn_cast<clang::ImplicitCastExpr>(cast);
    if (cast->getCastKind() != clang::CK_FloatingToIntegral || implicit == nullptr ||
        implicit->isPartOfExplicitCast() || cast->isValueDependent())
      return true;
    Expr::EvalResult value;
    if (cast->getSubExpr()->EvaluateAsRValue(value, context_) && value.Val.isFloat() &&
        value.Val.getFloat().isInteger())
      return true;
    tell("narrowing", cast->getSubExpr()->getExprLoc(), cast->getSubExpr()->getSourceRange(),
         text(cast->getSubExpr(), "a double") +
             " loses its fraction, since a whole number is wanted here: use a "
             "double, or static_cast where that is meant");
    return true;
  }

  bool VisitBinaryOperator(clang::BinaryOperator* operation) {
    if (operation->isAssignmentOp()) changes(operation->getLHS(), operation->getOpcode() == clang::BO_Assign);
    if (operation->isTypeDependent() || operation->isValueDependent() ||
        !operation->getLHS()->getType()->isIntegerType() || !operation->getRHS()->getType()->isIntegerType())
      return true;
    if (operation->getOpcode() == clang::BO_Div) divides(*operation);
    if (operation->getOpcode() == clang::BO_Xor) raises(*operation);
    return true;
  }

  bool VisitUnaryOperator(clang::UnaryOperator* operation) {
    if (operation->isIncrementDecrementOp()) changes(operation->getSubExpr(), false);
    return true;
  }

  bool VisitCXXOperatorCallExpr(clang::CXXOperatorCallExpr* call) {
    if (call->isAssignmentOp() && call->getNumArgs() == 2)
      changes(call->getArg(0), call->getOperator() == clang::OO_Equal);
    return true;
  }

  bool VisitCXXMemberCallExpr(clang::CXXMemberCallExpr* call) {
    const clang::CXXMethodDecl* method = call->getMethodDecl();
    if (method == nullptr || method->getIdentifier() == nullptr) return true;
    static const std::set<std::string> mutators = {"push_back", "emplace_back", "pop_back", "insert",
                                                   "emplace",   "clear",        "erase",    "resize",
                                                   "assign",    "swap"};
    if (!method->isConst() && !own(method->getLocation()) && mutators.contains(method->getNameAsString()))
      changes(call->getImplicitObjectArgument(), false);
    return true;
  }

  /// Also in a generic lambda, where the call itself is not resolved.
  bool VisitMemberExpr(clang::MemberExpr* member) {
    evolved_ = evolved_ || member->getMemberNameInfo().getAsString() == "evolve";
    return true;
  }
  bool VisitUnresolvedMemberExpr(clang::UnresolvedMemberExpr* member) {
    evolved_ = evolved_ || member->getMemberName().getAsString() == "evolve";
    return true;
  }

  /// Where the lambda is put into a std::function, the compiler does not look.
  bool VisitReturnStmt(clang::ReturnStmt* statement) {
    for (const clang::Stmt* part : below(statement)) {
      const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(part);
      if (lambda == nullptr) continue;
      for (const clang::LambdaCapture& capture : lambda->captures()) {
        if (!capture.capturesVariable() || capture.getCaptureKind() != clang::LCK_ByRef) continue;
        const auto* v = llvm::dyn_cast<VarDecl>(capture.getCapturedVar());
        if (v != nullptr && v->hasLocalStorage() && !v->getType()->isReferenceType())
          tell("dangling-reference", capture.isExplicit() ? capture.getLocation() : lambda->getBeginLoc(), {},
               "returns a function that refers to " + v->getNameAsString() +
                   ", which ends here: capture it by value");
      }
    }
    return true;
  }

  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (callee == nullptr || callee->getIdentifier() == nullptr) return true;
    const std::string name = callee->getQualifiedNameAsString();
    if (name == "ondula::dsl::dt" || name == "ondula::dsl::dtt") {
      if (const VarDecl* v = argument(call)) locals_[v].evolves = true;
    }
    static const std::set<std::string> moods = {
        "rand",   "srand",        "random",        "drand48",     "lrand48", "time",       "clock",
        "getpid", "gettimeofday", "clock_gettime", "std::getenv", "getenv",  "gethostname"};
    const bool now = callee->getName() == "now" && name.rfind("std::chrono::", 0) == 0;
    if (!own(callee->getLocation()) &&
        (moods.contains(name) || moods.contains(callee->getNameAsString()) || now))
      tell_not_reproducible(call->getExprLoc(), (now ? name : callee->getNameAsString()) + "()");
    return true;
  }

  bool VisitCompoundStmt(clang::CompoundStmt* block) {
    for (const clang::Stmt* statement : block->body()) {
      if (const auto* e = llvm::dyn_cast<Expr>(statement)) dropped(*e);
    }
    return true;
  }

 private:
  bool own(SourceLocation at) const {
    return at.isValid() && !files_.isInSystemHeader(files_.getFileLoc(at));
  }

  std::string text(SourceRange range, const std::string& otherwise) const {
    const CharSourceRange token = CharSourceRange::getTokenRange(range);
    const llvm::StringRef found = clang::Lexer::getSourceText(
        characters(files_, context_.getLangOpts(), token), files_, context_.getLangOpts());
    constexpr std::size_t longest = 40;
    if (found.empty() || found.size() > longest || found.contains('\n')) return otherwise;
    return found.str();
  }
  std::string text(const Expr* e, const std::string& otherwise) const {
    return text(e->getSourceRange(), otherwise);
  }

  /// Each place once, whatever instantiates it.
  void tell(const std::string& id, SourceLocation at, SourceRange range, const std::string& message,
            const std::vector<FixItHint>& hints = {}) {
    at = files_.getFileLoc(at);
    if (!own(at) || !told_.insert({id, at.getRawEncoding()}).second) return;
    if (range.isInvalid()) range = SourceRange(at);
    Diagnostic said{.id = id, .level = "warning", .message = message};
    put_at(said, files_, context_.getLangOpts(), at, {CharSourceRange::getTokenRange(range)});
    for (const FixItHint& hint : hints) add_fix(said.fixes, files_, context_.getLangOpts(), hint);
    if (said.fixes.size() != hints.size()) said.fixes.clear();  // half a fix is none
    findings_.diagnostics.push_back(std::move(said));
  }

  void tell_not_reproducible(SourceLocation at, const std::string& what) {
    tell("not-reproducible", at, {},
         what + " differs from run to run: an equation must be the same in every process");
  }

  /// The body of an EQUATION.
  static bool is_body(const clang::CXXMethodDecl& method) {
    if (!method.isThisDeclarationADefinition() || method.getIdentifier() == nullptr ||
        method.getName() != "define" || !method.getParent()->getName().ends_with("_author"))
      return false;
    for (const clang::CXXBaseSpecifier& base : method.getParent()->bases())
      if (dsl_class(base.getType()) == "Author") return true;
    return false;
  }

  bool is_number(const Expr* e) const {
    bool tensors = false;
    const std::vector<const clang::Stmt*> parts = below(e);
    for (const clang::Stmt* part : parts) {
      const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(part);
      tensors =
          tensors || llvm::isa<clang::CallExpr>(part) || (name != nullptr && holds_tensors(name->getType()));
    }
    return !tensors;
  }

  /// Only variables whose life itself does nothing: numbers, expressions, functions.
  static bool is_plain(const VarDecl& v) {
    const QualType type = v.getType().getCanonicalType();
    if (v.isInitCapture() || v.hasAttr<clang::UnusedAttr>() || v.getName().empty()) return false;
    if (type->isReferenceType()) return holds_tensors(type);
    const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
    return type->isArithmeticType() || holds_tensors(type) || (record != nullptr && record->isLambda());
  }

  Declaration declaration(const Expr* e) const {
    e = plain(e);
    const auto* call = llvm::dyn_cast_or_null<clang::CXXMemberCallExpr>(e);
    if (call == nullptr || call->getMethodDecl() == nullptr || call->getNumArgs() == 0) return {};
    const clang::CXXMethodDecl* method = call->getMethodDecl();
    static const std::set<std::string> calls = {"parameter", "uniform",          "scalar",
                                                "vector",    "symmetric_tensor", "axial_vector"};
    if (dsl_class(context_.getRecordType(method->getParent())) != "Author" ||
        !calls.contains(method->getNameAsString()))
      return {};
    const auto* name = llvm::dyn_cast<clang::StringLiteral>(plain(call->getArg(0)));
    return {method->getNameAsString(), name != nullptr ? name->getString().str() : text(call->getArg(0), "")};
  }

  /// The variable that is the first argument of a call of the language's.
  static const VarDecl* argument(const clang::CallExpr* call) {
    if (call->getNumArgs() == 0) return nullptr;
    for (const clang::Stmt* part : below(call->getArg(0)))
      if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(part))
        return llvm::dyn_cast<VarDecl>(name->getDecl());
    return nullptr;
  }

  void tell_of(const VarDecl& v, const Local& local) {
    const Declaration& declared = local.declared;
    if (local.reads == 0 && declared.call.empty()) {
      tell("unused-variable", v.getLocation(), {},
           v.getNameAsString() + " is computed and never read: use it, or drop it");
    } else if (local.reads == 0 && declared.is_model()) {
      tell_unused_parameter(v.getLocation(), declared.name);
    } else if (local.reads == 0) {
      tell_unused_field(v.getLocation(), declared.name);
    } else if (declared.is_field() && !local.evolves && local.reads == local.operands) {
      tell("field-never-evolves", v.getLocation(), {},
           "field " + declared.name + " never evolves: write evolve(dt(" + v.getNameAsString() +
               ") = ...) or evolve(dtt(" + v.getNameAsString() + ") = ...)");
    }
  }
  void tell_unused_parameter(SourceLocation at, const std::string& name) {
    tell("unused-parameter", at, {}, "parameter " + name + " is never read: use it, or drop its declaration");
  }
  void tell_unused_field(SourceLocation at, const std::string& name) {
    tell("unused-field", at, {},
         "field " + name + " is never read: state how it evolves, or drop its declaration");
  }

  /// A statement whose value nobody takes.
  void dropped(const Expr& statement) {
    const Expr* e = plain(&statement);
    const Declaration declared = declaration(e);
    if (declared.is_model()) tell_unused_parameter(e->getBeginLoc(), declared.name);
    if (declared.is_field()) tell_unused_field(e->getBeginLoc(), declared.name);
    const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(e);
    if (call == nullptr || call->getOperator() != clang::OO_Equal ||
        dsl_class(call->getArg(0)->getType()) != "TimeDerivative")
      return;
    const SourceLocation end =
        clang::Lexer::getLocForEndOfToken(call->getEndLoc(), 0, files_, context_.getLangOpts());
    tell("evolution-dropped", call->getBeginLoc(), call->getSourceRange(),
         "states an evolution and drops it: write evolve(" + text(call, "...") + ")",
         {FixItHint::CreateInsertion(call->getBeginLoc(), "evolve("), FixItHint::CreateInsertion(end, ")")});
  }

  /// An assignment to `left`, which is no read of it where the old value plays no part.
  void changes(const Expr* left, bool overwrites) {
    if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(plain(left)); name != nullptr && overwrites)
      written_.insert(name);
    const VarDecl* v = changed_variable(left);
    if (v == nullptr || !v->hasGlobalStorage()) return;
    tell("global-state", left->getExprLoc(), left->getSourceRange(),
         "changes " + v->getNameAsString() +
             ", which outlives the body: the equation may then differ from one use to the next");
  }

  /// What a number of an equation is made of.
  void coefficient(const Expr* number) {
    if (!number->getType()->isArithmeticType()) return;
    mark_divisions(number);
    for (const clang::Stmt* part : below(number)) {
      const auto* e = llvm::dyn_cast<Expr>(part);
      if (e == nullptr || e->isValueDependent() ||
          e->getType().getCanonicalType().getUnqualifiedType() != context_.FloatTy)
        continue;
      if (const auto* literal = llvm::dyn_cast<clang::FloatingLiteral>(e)) narrow_literal(*literal);
      const VarDecl* v = llvm::isa<clang::DeclRefExpr>(e) ? variable(e) : nullptr;
      if (v != nullptr) narrow_variable(*v);
    }
  }

  void narrow_literal(const clang::FloatingLiteral& literal) {
    std::string spelled = text(&literal, "");
    if (spelled.size() < 2 || (spelled.back() != 'f' && spelled.back() != 'F')) return;
    const std::string digits = spelled.substr(0, spelled.size() - 1);
    const SourceLocation suffix = literal.getBeginLoc().getLocWithOffset(static_cast<int>(digits.size()));
    tell("narrowing", literal.getBeginLoc(), literal.getSourceRange(),
         spelled + " keeps 7 digits, a coefficient 16: write " + digits,
         {FixItHint::CreateRemoval(CharSourceRange::getCharRange(suffix, suffix.getLocWithOffset(1)))});
  }

  void narrow_variable(const VarDecl& v) {
    std::vector<FixItHint> fixes;
    const SourceRange type = v.getTypeSourceInfo() != nullptr
                                 ? v.getTypeSourceInfo()->getTypeLoc().getSourceRange()
                                 : SourceRange();
    if (text(type, "") == "float") fixes.push_back(FixItHint::CreateReplacement(type, "double"));
    tell("narrowing", v.getLocation(), {},
         v.getNameAsString() +
             " is a float, which keeps 7 digits, and a coefficient has 16: declare it double",
         fixes);
  }

  /// Divisions below `e` whose result becomes a real number.
  void mark_divisions(const Expr* e) {
    std::vector<const Expr*> left = {e};
    while (!left.empty()) {
      const Expr* at = left.back()->IgnoreParenImpCasts();
      left.pop_back();
      if (!at->getType()->isIntegerType()) continue;
      if (const auto* operation = llvm::dyn_cast<clang::BinaryOperator>(at)) {
        if (operation->getOpcode() == clang::BO_Div) real_.insert(operation);
        left.push_back(operation->getLHS());
        left.push_back(operation->getRHS());
      } else if (const auto* sign = llvm::dyn_cast<clang::UnaryOperator>(at)) {
        left.push_back(sign->getSubExpr());
      } else if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(at)) {
        left.push_back(choice->getTrueExpr());
        left.push_back(choice->getFalseExpr());
      }
    }
  }

  void divides(const clang::BinaryOperator& division) {
    Expr::EvalResult left, right;
    const bool constant = division.getLHS()->EvaluateAsInt(left, context_) &&
                          division.getRHS()->EvaluateAsInt(right, context_) && right.Val.getInt() != 0;
    std::string result = "drops what remains";
    if (constant) {
      const std::int64_t a = left.Val.getInt().getExtValue(), b = right.Val.getInt().getExtValue();
      if (a % b == 0) return;
      result = "gives " + std::to_string(a / b);
    }
    if (!real_.contains(&division) && !(body_ && constant)) return;
    const auto [fixed, hints] = real_division(division);
    tell("integer-division", division.getLHS()->getBeginLoc(), division.getSourceRange(),
         text(&division, "a division") + " divides integers and " + result + ": write " + fixed, hints);
  }

  static bool is_digits(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos &&
           (text.size() == 1 || text[0] != '0');
  }

  /// "1.0/2" of 1/2, and how to get there.
  std::pair<std::string, std::vector<FixItHint>> real_division(const clang::BinaryOperator& division) const {
    if (division.getBeginLoc().isMacroID() || division.getEndLoc().isMacroID())
      return {"one of the two with a point, 1.0 for 1", {}};
    const std::string whole = text(&division, "");
    const std::string left = text(division.getLHS(), ""), right = text(division.getRHS(), "");
    const auto after = [&](const Expr* e) {
      return clang::Lexer::getLocForEndOfToken(e->getEndLoc(), 0, files_, context_.getLangOpts());
    };
    if (is_digits(left))
      return {left + ".0" + whole.substr(left.size()),
              {FixItHint::CreateInsertion(after(division.getLHS()), ".0")}};
    if (is_digits(right)) return {whole + ".0", {FixItHint::CreateInsertion(after(division.getRHS()), ".0")}};
    if (whole.empty()) return {"double(...) around the dividend", {}};
    return {"double(" + left + ")" + whole.substr(left.size()),
            {FixItHint::CreateInsertion(division.getLHS()->getBeginLoc(), "double("),
             FixItHint::CreateInsertion(after(division.getLHS()), ")")}};
  }

  /// `^` between integers: the author wants a power where both are written out, and anywhere in an equation.
  void raises(const clang::BinaryOperator& power) {
    const Expr* base = power.getLHS()->IgnoreParenImpCasts();
    const Expr* exponent = power.getRHS()->IgnoreParenImpCasts();
    const bool literal = is_digits(text(base, "")) && is_digits(text(exponent, ""));
    if (!body_ && !literal) return;
    // Worded where a compiler's error is, with the same message: `u^2` is one.
    tell("power", power.getOperatorLoc(), power.getSourceRange(), "");
  }

  clang::ASTContext& context_;
  const clang::SourceManager& files_;
  Findings& findings_;
  std::map<const VarDecl*, Local> locals_;
  std::vector<const VarDecl*> order_;
  std::set<const clang::DeclRefExpr*> written_;
  std::set<const clang::BinaryOperator*> real_;
  std::set<std::pair<std::string, unsigned>> told_;
  bool body_ = false, evolved_ = false;
};

class LintConsumer final : public clang::ASTConsumer {
 public:
  explicit LintConsumer(Findings& findings) : findings_(findings) {}
  void HandleTranslationUnit(clang::ASTContext& context) override {
    if (!context.getDiagnostics().hasErrorOccurred()) Linter(context, findings_).run();
  }

 private:
  Findings& findings_;
};

}  // namespace

std::unique_ptr<clang::ASTConsumer> make_linter(Findings& findings) {
  return std::make_unique<LintConsumer>(findings);
}

}  // namespace ondula::clang_module
