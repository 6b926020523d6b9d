// Declarations of an equation's body, and the completeness checks at its end.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/dsl/access.hpp"
#include "compiler/dsl/functions.hpp"
#include "compiler/error.hpp"

namespace ondula::dsl {
namespace {

using ir::Expr;

bool is_identifier(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (name.empty() || !letter(name.front()) || name.find("__") != std::string::npos || name.back() == '_')
    return false;
  return std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

void collect(Expr e, ir::Kind kind, std::set<std::string>& names, std::set<std::uint32_t>& seen) {
  if (!seen.insert(e->id).second) return;
  if (e->kind == kind) names.insert(e->name);
  for (const Expr arg : e->args) collect(arg, kind, names, seen);
}

/// As generated code names a field: v.z is v_z there.
std::string printed(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

ir::Location location(const std::source_location& where) {
  return {where.file_name(), where.line(), where.column()};
}

}  // namespace

Tensor::Tensor(double number) : number_(number), unit_(ir::Unit{}) {
  if (number == 0) unit_.reset();
}

void Access::fail(Author* author, const std::source_location& where, const std::string& what) {
  author->fail(where, what);
}

Tensor Access::make(Author* author, int rank, std::vector<Expr> components, std::optional<ir::Unit> unit,
                    std::string field) {
  Tensor t;
  t.author_ = author;
  t.rank_ = rank;
  t.components_ = std::move(components);
  t.unit_ = unit;
  t.field_ = std::move(field);
  return t;
}

Tensor Access::lifted(const Tensor& t, Author* author) {
  if (t.author_ != nullptr) return t;
  return make(author, 0, {pool(author).constant(ir::Number(t.number_))}, t.unit_);
}

Author::Author(std::string name, std::string description, std::vector<std::string> axes) {
  equation_.name = std::move(name);
  equation_.description = std::move(description);
  equation_.axes = std::move(axes);
  equation_.pool = std::make_shared<ir::Pool>();
}

void Author::fail(const std::source_location& where, const std::string& what) const {
  throw UserError(fmt::format("{}: equation {}: {}", location(where).text(), equation_.name, what));
}

void Author::declare(const std::string& name, std::source_location where) {
  if (!is_identifier(name)) {
    fail(where,
         fmt::format(
             "\"{}\" is no name: a letter, then letters, digits and single underscores (a-z, A-Z, 0-9)",
             name));
  }
  const auto taken = [&](const auto& item) { return item.name == name; };
  const bool parameter_taken = std::any_of(equation_.parameters.begin(), equation_.parameters.end(), taken);
  const bool field_taken = std::any_of(equation_.fields.begin(), equation_.fields.end(),
                                       [&](const ir::Field& f) { return f.group == name; });
  if (parameter_taken || field_taken) fail(where, fmt::format("\"{}\" is declared twice", name));
}

Tensor Author::parameter(const std::string& name, const std::string& unit, ir::Sign sign,
                         std::source_location where) {
  return model({name, unit, sign, location(where), false}, where);
}

Tensor Author::uniform(const std::string& name, const std::string& unit, ir::Sign sign,
                       std::source_location where) {
  return model({name, unit, sign, location(where), true}, where);
}

Tensor Author::model(ir::Parameter parameter, std::source_location where) {
  declare(parameter.name, where);
  try {
    const ir::Unit unit = ir::Unit::parse(parameter.unit);
    equation_.parameters.push_back(parameter);
    return Access::make(this, 0, {equation_.pool->parameter(parameter.name)}, unit);
  } catch (const UserError& error) {
    fail(where, fmt::format("parameter {}: {}", parameter.name, error.what()));
  }
}

void Author::require(const Condition& condition, const std::string& reason, std::source_location where) {
  const Tensor value = Access::lifted(condition.value(), this);
  equation_.requirements.push_back({value.components()[0], reason, location(where)});
}

void Author::speeds(const Located& fastest, const Located& slowest) {
  if (equation_.speeds.fastest) fail(fastest.where, "speeds are declared twice");
  const auto stated = [&](const Located& speed) {
    const Tensor value = Access::lifted(speed.tensor, this);
    if (value.rank() != 0 || ir::time_dependent(value.components()[0]))
      fail(speed.where, "a speed is a scalar made of parameters");
    const ir::Unit wanted{{1, 0, -1}};
    if (!(value.unit().value_or(ir::Unit{}) == wanted))
      fail(speed.where,
           fmt::format("a speed has unit [{}], needed is [m/s]", value.unit().value_or(ir::Unit{}).text()));
    return value.components()[0];
  };
  equation_.speeds = {stated(fastest), stated(slowest)};
}

Tensor Author::field_tensor(const std::string& group, const std::string& unit, ir::FieldKind kind,
                            std::source_location where) {
  declare(group, where);
  const std::size_t d = equation_.axes.size();
  const bool axial = kind == ir::FieldKind::axial;
  const int rank = axial ? 1 : static_cast<int>(kind);
  std::vector<Expr> components;
  const std::size_t count = rank == 0 ? 1 : rank == 1 ? d : d * d;
  for (std::size_t i = 0; i < count; ++i) {
    ir::Field field{.name = group, .group = group, .unit = unit, .kind = kind, .location = location(where)};
    if (rank > 0) {
      std::size_t first = rank == 1 ? i : std::min(i / d, i % d);
      const std::size_t second = rank == 1 ? first : std::max(i / d, i % d);
      field.component = rank == 1 ? std::vector<int>{static_cast<int>(first)}
                                  : std::vector<int>{static_cast<int>(first), static_cast<int>(second)};
      field.name = group + "." + equation_.axes[first] + (rank == 2 ? equation_.axes[second] : "");
      if (rank == 1 || first != second) field.stagger[first] = 1;
      for (std::size_t a = 0; axial && a < d; ++a) field.stagger[a] = a == first ? 0 : 1;
      if (rank == 2 && first != second) field.stagger[second] = 1;
    }
    components.push_back(equation_.pool->field(field.name, 0));
    for (const ir::Field& other : equation_.fields) {
      if (other.name != field.name && printed(other.name) == printed(field.name)) {
        fail(where, fmt::format("field {} reads like {} in generated code: name one of them otherwise",
                                field.name, other.name));
      }
    }
    const auto known = [&](const ir::Field& f) { return f.name == field.name; };
    if (std::none_of(equation_.fields.begin(), equation_.fields.end(), known))
      equation_.fields.push_back(field);
  }
  try {
    return Access::make(this, rank, std::move(components), ir::Unit::parse(unit), group);
  } catch (const UserError& error) {
    fail(where, fmt::format("field {}: {}", group, error.what()));
  }
}

Tensor Author::scalar(const std::string& name, const std::string& unit, std::source_location where) {
  return field_tensor(name, unit, ir::FieldKind::scalar, where);
}

Tensor Author::vector(const std::string& name, const std::string& unit, std::source_location where) {
  return field_tensor(name, unit, ir::FieldKind::vector, where);
}

Tensor Author::axial_vector(const std::string& name, const std::string& unit, std::source_location where) {
  require_curls(this, name, where);
  return field_tensor(name, unit, ir::FieldKind::axial, where);
}

Tensor Author::symmetric_tensor(const std::string& name, const std::string& unit,
                                std::source_location where) {
  return field_tensor(name, unit, ir::FieldKind::tensor, where);
}

Tensor Author::identity() {
  const std::size_t d = equation_.axes.size();
  std::vector<Expr> components;
  for (std::size_t i = 0; i < d * d; ++i)
    components.push_back(equation_.pool->constant(i / d == i % d ? 1 : 0));
  return Access::make(this, 2, std::move(components), ir::Unit{});
}

void Author::evolve(const EvolutionStatement& statement) {
  const Tensor& left = statement.left;
  const auto& where = statement.where;
  if (left.field().empty()) fail(where, "the left side must be dt() or dtt() of a field");
  const Tensor right = Access::lifted(statement.right, this);
  require_rates(this, {left, statement.order, right, where});
  const bool zero = right.rank() == 0 && ir::is_constant(right.components()[0], 0);
  if (right.rank() != left.rank() && !zero) {
    fail(where,
         fmt::format("{} has rank {}, its right side rank {}", left.field(), left.rank(), right.rank()));
  }
  const ir::Unit second{{0, 0, 1}};
  const ir::Unit wanted = *left.unit() / second.power(statement.order);
  if (right.unit() && !(*right.unit() == wanted)) {
    fail(where,
         fmt::format("the right side of {}({}) has unit [{}], needed is [{}]",
                     statement.order == 2 ? "dtt" : "dt", left.field(), right.unit()->text(), wanted.text()));
  }
  for (std::size_t i = 0; i < left.components().size(); ++i) {
    const std::string& name = left.components()[i]->name;
    const Expr rhs = zero ? right.components()[0] : right.components()[i];
    const auto same = std::find_if(equation_.evolutions.begin(), equation_.evolutions.end(),
                                   [&](const ir::Evolution& e) { return e.field == name; });
    if (same == equation_.evolutions.end()) {
      equation_.evolutions.push_back({name, statement.order, rhs, location(where)});
    } else if (same->location.line != where.line() || left.rank() < 2) {
      fail(where, fmt::format("{} evolves twice (first at {})", name, same->location.text()));
    } else if (!(same->rhs == rhs)) {
      fail(where, fmt::format("the right side of {} is not symmetric: component {}", left.field(), name));
    }
    for (ir::Field& field : equation_.fields) {
      if (field.name == name) field.time_order = statement.order;
    }
  }
}

ir::Equation Author::finish() {
  try {
    define();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw UserError(fmt::format("equation {}: its text threw: {}", equation_.name, error.what()));
  } catch (...) {
    throw UserError(fmt::format("equation {}: its text threw what is no std::exception", equation_.name));
  }
  std::set<std::string> parameters, fields, sources;
  std::set<std::uint32_t> seen_p, seen_f, seen_s;
  for (const ir::Evolution& evolution : equation_.evolutions) {
    collect(evolution.rhs, ir::Kind::parameter, parameters, seen_p);
    collect(evolution.rhs, ir::Kind::field, fields, seen_f);
    collect(evolution.rhs, ir::Kind::source, sources, seen_s);
  }
  const auto complain = [&](const ir::Location& at, const std::string& what) {
    throw UserError(fmt::format("{}: equation {}: {}", at.text(), equation_.name, what));
  };
  if (equation_.evolutions.empty()) {
    const std::string what = "nothing evolves; state evolve(dt(...) = ...)";
    if (!equation_.fields.empty()) complain(equation_.fields.front().location, what);
    if (!equation_.parameters.empty()) complain(equation_.parameters.front().location, what);
    throw UserError(fmt::format("equation {}: {}", equation_.name, what));
  }
  const bool electric = std::any_of(equation_.fields.begin(), equation_.fields.end(),
                                    [](const ir::Field& f) { return f.kind == ir::FieldKind::axial; });
  for (ir::Field& field : equation_.fields) {
    field.electric = electric;
    if (field.time_order == 0) complain(field.location, fmt::format("field {} never evolves", field.name));
  }
  for (const ir::Parameter& p : equation_.parameters) {
    if (!parameters.contains(p.name)) complain(p.location, fmt::format("parameter {} is never used", p.name));
  }
  for (const ir::Field& field : equation_.fields) {
    if (sources.contains(field.name)) equation_.sources.push_back(field.name);
  }
  return std::move(equation_);
}

}  // namespace ondula::dsl
