// Printing binary expressions as C++.
// SPDX-License-Identifier: MIT
#include "compiler/emit/expression.hpp"

#include <fmt/format.h>

#include <map>

#include "compiler/error.hpp"

namespace ondula::emit {
namespace {

using ir::Expr;
using ir::Kind;

class Printer {
 public:
  Printer(Real real, const AccessPrinter& access) : real_(real), access_(access) {}

  std::string print(Expr e, bool nested) const {
    switch (e->kind) {
      case Kind::constant:
        return literal(e->number, real_);
      case Kind::symbol:
      case Kind::let:
        return e->name;
      case Kind::field:
      case Kind::coefficient:
      case Kind::profile:
        return access_(*e);
      case Kind::function:
        return call(e, nested);
      default:
        throw InternalError("cannot print " + ir::text(e));
    }
  }

 private:
  std::string call(Expr e, bool nested) const {
    if (e->name == "neg") return "-" + print(e->args[0], true);
    static const std::map<std::string, char> operators = {
        {"add", '+'}, {"sub", '-'}, {"mul", '*'}, {"div", '/'}};
    const auto found = operators.find(e->name);
    if (found != operators.end()) {
      const std::string text =
          fmt::format("{} {} {}", print(e->args[0], true), found->second, print(e->args[1], true));
      return nested ? "(" + text + ")" : text;
    }
    std::string text = e->name + "(";
    for (std::size_t i = 0; i < e->args.size(); ++i) text += (i == 0 ? "" : ", ") + print(e->args[i], false);
    return text + ")";
  }

  Real real_;
  const AccessPrinter& access_;
};

}  // namespace

std::string literal(const ir::Number& number, Real real) {
  std::string text = real == Real::float32 ? fmt::format("{}", static_cast<float>(number.value()))
                                           : fmt::format("{}", number.value());
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return real == Real::float32 ? text + "f" : text;
}

std::string expression(Expr e, Real real, const AccessPrinter& access) {
  return Printer(real, access).print(e, false);
}

}  // namespace ondula::emit
