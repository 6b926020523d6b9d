// Requirements and domains of functions, over all cells.
// SPDX-License-Identifier: MIT
#include "runtime/model_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compiler/error.hpp"
#include "compiler/ir/evaluate.hpp"

namespace ondula {
namespace {

using ir::Expr;
using ir::Kind;

enum class Domain { everything, not_negative, positive };

/// `e` must lie in `domain` wherever `condition` is not 0 (null: everywhere).
struct Demand {
  Expr e;
  Domain domain = Domain::everything;
  Expr condition;
  std::string what;  ///< the function, or the author's reason
};

class Collector {
 public:
  explicit Collector(ir::Pool& pool) : pool_(pool) {}

  std::vector<Demand> run(const ir::Program& program) {
    for (const ir::Operation& operation : program.operations) {
      if (const auto* update = std::get_if<ir::Update>(&operation)) walk(update->value, {});
      if (const auto* injection = std::get_if<ir::Injection>(&operation)) walk(injection->factor, {});
    }
    for (const Expr speed : {program.speeds.fastest, program.speeds.slowest}) {
      if (speed) walk(speed, {});
    }
    for (const ir::Requirement& r : program.requirements) {
      walk(r.condition, {});
      found_.push_back(
          {pool_.sum({pool_.constant(1), pool_.negate(r.condition)}), Domain::everything, {}, r.reason});
    }
    return std::move(found_);
  }

 private:
  void walk(Expr e, Expr condition) {
    if (!seen_.insert({e->id, condition ? condition->id + 1 : 0}).second) return;
    if (e->kind == Kind::surface) return walk(e->args[0], condition);
    if (e->kind == Kind::function && e->name == "where") {
      walk(e->args[0], condition);
      walk(e->args[1], both(condition, e->args[0]));
      walk(e->args[2],
           both(condition, pool_.function("where", {e->args[0], pool_.constant(0), pool_.constant(1)})));
      return;
    }
    for (const Expr arg : e->args) walk(arg, condition);
    if (e->kind != Kind::function || !ir::contains(e, Kind::parameter)) return;
    const Domain domain = domain_of(*e);
    if (domain != Domain::everything) found_.push_back({e->args[0], domain, condition, e->name});
  }

  static Domain domain_of(const ir::Node& f) {
    if (f.name == "sqrt") return Domain::not_negative;
    if (f.name == "log") return Domain::positive;
    if (f.name != "pow") return Domain::everything;
    const bool inverse = f.args[1]->kind != Kind::constant || f.args[1]->number.value() < 0;
    return inverse ? Domain::positive : Domain::not_negative;
  }

  Expr both(Expr a, Expr b) { return a ? pool_.product({a, b}) : b; }

  ir::Pool& pool_;
  std::vector<Demand> found_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen_;
};

void collect(Expr e, std::set<std::string>& names) {
  if (e->kind == Kind::parameter) names.insert(e->name);
  for (const Expr arg : e->args) collect(arg, names);
}

class Cells {
 public:
  Cells(const ir::Program& program, const loop::Models& models, const std::vector<std::int64_t>& shape)
      : program_(program), models_(models), shape_(shape) {}

  /// The values of `e` in `count` cells from `begin` on.
  const std::vector<double>& values(Expr e, std::int64_t begin, std::int64_t count,
                                    std::vector<double>& out) const {
    std::map<std::string, std::vector<double>> rows;
    const auto row = [&](const std::string& name) {
      auto& values = rows[name];
      const loop::ModelArray& model = models_.at(name);
      for (std::int64_t i = begin; values.size() < static_cast<std::size_t>(count); ++i)
        values.push_back(model[i]);
      return static_cast<const double*>(values.data());
    };
    ir::nodal_values(e, {}, row, static_cast<std::size_t>(count), out);
    return out;
  }

  [[noreturn]] void refuse(const Demand& demand, double value, std::int64_t flat) const {
    std::set<std::string> names;
    collect(demand.e, names);
    std::vector<std::string> models;
    for (const std::string& name : names)
      models.push_back(fmt::format("{} = {:.6g}", name, models_.at(name)[flat]));
    std::vector<std::string> cell(shape_.size());
    std::int64_t rest = flat;
    for (std::size_t a = shape_.size(); a-- > 0;) {
      cell[a] = fmt::format("{} {}", program_.axes[a], rest % shape_[a]);
      rest /= shape_[a];
    }
    const std::string what = demand.domain == Domain::everything
                                 ? demand.what
                                 : fmt::format("{}({}) of {:.6g}, which must be {}", demand.what,
                                               ir::text(demand.e, program_.axes), value,
                                               demand.domain == Domain::positive ? "positive" : "0 or more");
    throw UserError(fmt::format("equation {}: {}: at cell ({}), {}", program_.equation, what,
                                fmt::join(cell, ", "), fmt::join(models, ", ")));
  }

 private:
  const ir::Program& program_;
  const loop::Models& models_;
  const std::vector<std::int64_t>& shape_;
};

bool lies(double value, Domain domain) {
  if (domain == Domain::everything) return value == 0;  // 1 - condition
  return domain == Domain::positive ? value > 0 : value >= 0;
}

}  // namespace

void require_models(const ir::Program& physical, const loop::Models& models,
                    const std::vector<std::int64_t>& shape) {
  const Cells cells(physical, models, shape);
  std::int64_t nodes = 1;
  for (const std::int64_t n : shape) nodes *= n;
  constexpr std::int64_t chunk = 4096;
  std::vector<double> value, condition;
  for (const Demand& demand : Collector(*physical.pool).run(physical)) {
    std::set<std::string> names;
    collect(demand.e, names);
    if (demand.condition) collect(demand.condition, names);
    const bool constant = std::all_of(names.begin(), names.end(),
                                      [&](const std::string& name) { return models.at(name).is_constant(); });
    const std::int64_t end = constant ? 1 : nodes;
    for (std::int64_t begin = 0; begin < end; begin += chunk) {
      const std::int64_t count = std::min(chunk, end - begin);
      cells.values(demand.e, begin, count, value);
      if (demand.condition) cells.values(demand.condition, begin, count, condition);
      for (std::int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (demand.condition && condition[at] == 0) continue;
        if (!lies(value[at], demand.domain)) cells.refuse(demand, value[at], begin + i);
      }
    }
  }
}

}  // namespace ondula
