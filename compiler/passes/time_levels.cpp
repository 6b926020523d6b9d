// Two levels by the derivatives between fields, and an order of updates that needs no second copy.
// SPDX-License-Identifier: MIT
#include "compiler/passes/time_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/error.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;

using Names = std::set<std::string>;

/// What a right side reads, within derivatives and outside.
struct Reads {
  Names slopes, bare;
};

void collect(Expr e, bool inside, Reads& reads) {
  if (e->kind == Kind::field) (inside ? reads.slopes : reads.bare).insert(e->name);
  for (const Expr arg : e->args) collect(arg, inside || e->kind == Kind::derivative, reads);
}

class Leveller {
 public:
  explicit Leveller(const ir::Equation& equation) : equation_(equation) {
    for (const ir::Evolution& evolution : equation.evolutions)
      collect(evolution.rhs, false, reads_[evolution.field]);
    for (std::size_t i = 0; i < equation.evolutions.size(); ++i) {
      if (i == 0 || !same_statement(i - 1, i)) result_.statements.emplace_back();
      result_.statements.back().push_back(i);
    }
  }

  TimeLevels run() {
    const bool first_order = std::all_of(equation_.evolutions.begin(), equation_.evolutions.end(),
                                         [](const ir::Evolution& e) { return e.order == 1; });
    if (!first_order || !divide()) {
      result_.level.clear();
      return std::move(result_);
    }
    for (const auto& [field, reads] : reads_) {
      for (const std::string& other : reads.bare) {
        if (other != field && level(other) == level(field)) result_.means.emplace(field, other);
      }
    }
    if (!result_.means.empty() || !centred()) sort();
    return std::move(result_);
  }

 private:
  const std::string& field_of(std::size_t evolution) const { return equation_.evolutions[evolution].field; }
  int level(const std::string& field) const { return result_.level.at(field); }

  /// An author's single statement, or those of a field's components, none of which reads an earlier one, so
  /// that their order does not matter.
  bool same_statement(std::size_t a, std::size_t b) const {
    const ir::Evolution& left = equation_.evolutions[a];
    const ir::Evolution& right = equation_.evolutions[b];
    if (group(left.field) != group(right.field) || left.order != right.order) return false;
    if (left.location.line == right.location.line && left.location.file == right.location.file) return true;
    const Reads& reads = reads_.at(right.field);
    return std::none_of(result_.statements.back().begin(), result_.statements.back().end(),
                        [&](std::size_t i) {
                          return reads.bare.contains(field_of(i)) || reads.slopes.contains(field_of(i));
                        });
  }

  const std::string& group(const std::string& name) const {
    return std::find_if(equation_.fields.begin(), equation_.fields.end(),
                        [&](const ir::Field& f) { return f.name == name; })
        ->group;
  }

  /// A level for every field; false where derivatives connect an odd ring of them.
  bool divide() {
    for (const ir::Evolution& evolution : equation_.evolutions) {
      if (result_.level.contains(evolution.field)) continue;
      std::map<std::string, int> part = {{evolution.field, 0}};
      if (!spread(part)) return false;
      const int flip = opposite(part);
      for (const auto& [field, own] : part) result_.level[field] = flip ? 1 - own : own;
    }
    return true;
  }

  /// All that derivatives connect with the one field of `part`.
  bool spread(std::map<std::string, int>& part) const {
    std::vector<std::string> open = {part.begin()->first};
    while (!open.empty()) {
      const std::string here = open.back();
      open.pop_back();
      for (const auto& [field, reads] : reads_) {
        const bool linked = reads.slopes.contains(here) || reads_.at(here).slopes.contains(field);
        if (!linked) continue;
        const int wanted = 1 - part.at(here);
        const auto [known, fresh] = part.emplace(field, wanted);
        if (!fresh && known->second != wanted) return false;
        if (fresh) open.push_back(field);
      }
    }
    return true;
  }

  /// True if `part` should be turned round. Components of one vector or tensor share a level. Otherwise a
  /// coupling without derivatives to fields that have their levels is centred between two levels, and needs
  /// no mean.
  bool opposite(const std::map<std::string, int>& part) const {
    for (const auto& [field, own] : part) {
      for (const auto& [other, known] : result_.level) {
        if (group(field) == group(other)) return own != known;
      }
    }
    for (const ir::Evolution& evolution : equation_.evolutions) {
      const auto other = result_.level.find(evolution.field);
      if (other == result_.level.end()) continue;
      for (const auto& [field, own] : part) {
        const bool coupled =
            reads_.at(field).bare.contains(other->first) || reads_.at(other->first).bare.contains(field);
        if (coupled) return own == other->second;
      }
    }
    return false;
  }

  /// As written, everything of level 0 comes before what of level 1 it exchanges values with.
  bool centred() const {
    for (std::size_t late = 0; late < equation_.evolutions.size(); ++late) {
      const std::string& first = field_of(late);
      if (level(first) != 0) continue;
      for (std::size_t early = 0; early < late; ++early) {
        const std::string& second = field_of(early);
        const auto reads = [&](const std::string& a, const std::string& b) {
          return reads_.at(a).slopes.contains(b) || reads_.at(a).bare.contains(b);
        };
        if (level(second) == 1 && (reads(first, second) || reads(second, first))) return false;
      }
    }
    return true;
  }

  /// Level by level; who takes means together, readers before what they read.
  void sort() {
    std::vector<std::vector<std::size_t>> statements;
    for (const int own : {0, 1}) {
      for (const std::vector<std::size_t>& written : result_.statements) {
        std::vector<std::size_t> statement;
        for (const std::size_t i : written) {
          if (level(field_of(i)) == own) statement.push_back(i);
        }
        if (!statement.empty()) statements.push_back(std::move(statement));
      }
    }
    join(statements);
    for (std::vector<std::size_t>& statement : statements) order(statement);
    result_.statements = std::move(statements);
  }

  bool coupled(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) const {
    return std::any_of(a.begin(), a.end(), [&](std::size_t i) {
      return std::any_of(b.begin(), b.end(), [&](std::size_t j) {
        return result_.means.contains({field_of(i), field_of(j)}) ||
               result_.means.contains({field_of(j), field_of(i)});
      });
    });
  }

  void join(std::vector<std::vector<std::size_t>>& statements) const {
    for (bool joined = true; joined;) {
      joined = false;
      for (std::size_t a = 0; a < statements.size() && !joined; ++a) {
        for (std::size_t b = a + 1; b < statements.size() && !joined; ++b) {
          if (!coupled(statements[a], statements[b])) continue;
          statements[a].insert(statements[a].end(), statements[b].begin(), statements[b].end());
          statements.erase(statements.begin() + static_cast<std::ptrdiff_t>(b));
          joined = true;
        }
      }
    }
  }

  void order(std::vector<std::size_t>& statement) const {
    std::vector<std::size_t> open = std::move(statement);
    statement.clear();
    while (!open.empty()) {
      const auto read = [&](std::size_t i) { return reader_of(i, open).has_value(); };
      const auto next = std::find_if_not(open.begin(), open.end(), read);
      if (next == open.end()) refuse_ring(open);
      statement.push_back(*next);
      open.erase(next);
    }
  }

  /// One of `open` that takes the mean of evolution i's field.
  std::optional<std::size_t> reader_of(std::size_t i, const std::vector<std::size_t>& open) const {
    for (const std::size_t j : open) {
      if (result_.means.contains({field_of(j), field_of(i)})) return j;
    }
    return {};
  }

  [[noreturn]] void refuse_ring(const std::vector<std::size_t>& open) const {
    const ir::Evolution& read = equation_.evolutions[open[0]];
    const ir::Evolution& reader = equation_.evolutions[*reader_of(open[0], open)];
    throw UserError(
        fmt::format("{}: equation {}: {} and {} live at one time and feed each other, directly or through "
                    "others, without "
                    "a derivative: not compiled yet. One of them may enter the other's right side, not both",
                    reader.location.text(), equation_.name, reader.field, read.field));
  }

  const ir::Equation& equation_;
  std::map<std::string, Reads> reads_;
  TimeLevels result_;
};

}  // namespace

TimeLevels time_levels(const ir::Equation& equation) { return Leveller(equation).run(); }

}  // namespace ondula::passes
