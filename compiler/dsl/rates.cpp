// dt(u) as a term: where it may stand.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "compiler/dsl/access.hpp"
#include "compiler/error.hpp"

namespace ondula::dsl {
namespace {

using ir::Expr;

/// Why a rate in `e` cannot be; `own` is the field that evolves, empty where no rate may stand at all.
std::string fault(Expr e, const std::string& own, bool within) {
  if (ir::is_rate(e)) {
    const std::string& field = e->args[0]->name;
    if (within) return fmt::format("dt({}) under a derivative", field);
    if (own.empty()) {
      return fmt::format(
          "dt({}) on the right side of a dt(): it may stand on the right side of dtt({}) only; in a "
          "first-order "
          "system write what it equals",
          field, field);
    }
    if (field != own) {
      return fmt::format("dt({}) on the right side of dtt({}): only dt({}) itself may stand there", field,
                         own, own);
    }
    return "";
  }
  for (const Expr arg : e->args) {
    std::string found = fault(arg, own, within || e->kind == ir::Kind::derivative);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace

Located::Located(const TimeDerivative& rate, std::source_location w) : tensor(0.0), where(w) {
  Author* author = Access::author(rate.field_);
  const char* name = rate.order_ == 2 ? "dtt" : "dt";
  if (author == nullptr)
    throw UserError(fmt::format("{}:{}: {}() of a plain number", w.file_name(), w.line(), name));
  const Tensor& field = rate.field_;
  if (field.field().empty())
    Access::fail(author, w, fmt::format("{}() takes a field, found an expression", name));
  if (rate.order_ != 1) {
    Access::fail(
        author, w,
        fmt::format("dtt({}) on a right side: only dt({}) may stand there", field.field(), field.field()));
  }
  std::vector<Expr> components;
  for (const Expr e : field.components()) components.push_back(Access::pool(author).rate(e));
  const ir::Unit second{{0, 0, 1}};
  tensor = Access::make(author, field.rank(), std::move(components), *field.unit() / second);
}

void require_rates(Author* author, const EvolutionStatement& statement) {
  const auto& left = statement.left.components();
  const auto& right = statement.right.components();
  for (std::size_t i = 0; i < right.size(); ++i) {
    const std::string own = statement.order == 2 && i < left.size() ? left[i]->name : "";
    const std::string found = fault(right[i], own, false);
    if (!found.empty()) Access::fail(author, statement.where, found);
  }
}

}  // namespace ondula::dsl
