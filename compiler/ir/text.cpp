// Printing expressions for dumps and messages.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "compiler/ir/expr.hpp"

namespace ondula::ir {
namespace {

class Printer {
 public:
  /// `lowered`: offsets count cells, and a profile's name is whole.
  Printer(const std::vector<std::string>& axes, bool lowered) : axes_(axes), lowered_(lowered) {}

  std::string print(Expr e) const {
    const Node& n = *e;
    switch (n.kind) {
      case Kind::constant:
        return n.number.text();
      case Kind::symbol:
      case Kind::parameter:
      case Kind::let:
        return n.name;
      case Kind::coefficient:
        return n.name + at(n);
      case Kind::field:
        return n.name + (n.level == 0 ? "" : n.level > 0 ? "'" : "`") + at(n);
      case Kind::profile:
        if (lowered_) return n.name;
        return fmt::format("{}_{}{}", n.name, axis(n.axis), n.staggered ? "_half" : "");
      case Kind::source:
        return "source(" + n.name + ")";
      case Kind::derivative:
        return fmt::format("D{}{}{}({})", n.order, axis(n.axis), n.staggered ? "s" : "", print(n.args[0]));
      case Kind::average:
        return fmt::format("mean{}({})", at(n), print(n.args[0]));
      case Kind::surface:
        return "surface(" + joined(n.args, " | ", false) + ")";
      case Kind::sum:
        return joined(n.args, " + ", false);
      case Kind::product:
        return joined(n.args, "*", true);
      case Kind::quotient: {
        const std::string below = print(n.args[1]);
        return wrapped(n.args[0]) + "/" + (n.args[1]->args.empty() ? below : "(" + below + ")");
      }
      case Kind::function:
        return n.name + "(" + joined(n.args, ", ", false) + ")";
    }
    return "?";
  }

 private:
  std::string axis(int a) const {
    return static_cast<std::size_t>(a) < axes_.size() ? axes_[static_cast<std::size_t>(a)]
                                                      : std::to_string(a);
  }

  std::string at(const Node& n) const {
    if (n.offset == HalfCells{}) return "";
    const std::size_t count = axes_.empty() ? n.offset.size() : axes_.size();
    std::string result;
    for (std::size_t i = 0; i < count; ++i) {
      if (i != 0) result += ",";
      const int half = lowered_ ? 2 * n.offset[i] : n.offset[i];
      result += half % 2 == 0 ? std::to_string(half / 2) : fmt::format("{}/2", half);
    }
    return "[" + result + "]";
  }

  std::string wrapped(Expr e) const {
    const bool wrap = e->kind == Kind::sum || (e->kind == Kind::constant && e->number.value() < 0);
    return wrap ? "(" + print(e) + ")" : print(e);
  }

  std::string joined(const std::vector<Expr>& args, const char* separator, bool wrap) const {
    std::string result;
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (i != 0) result += separator;
      result += wrap ? wrapped(args[i]) : print(args[i]);
    }
    return result;
  }

  const std::vector<std::string>& axes_;
  bool lowered_;
};

}  // namespace

std::string text(Expr e, const std::vector<std::string>& axes) { return Printer(axes, false).print(e); }

std::string lowered_text(Expr e, const std::vector<std::string>& axes) {
  return Printer(axes, true).print(e);
}

}  // namespace ondula::ir
