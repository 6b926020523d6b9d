// Look-ups, listing and invariants of Programs.
// SPDX-License-Identifier: MIT
#include "compiler/ir/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/error.hpp"

namespace ondula::ir {
namespace {

template <class T>
const T* find_named(const std::vector<T>& items, const std::string& name) {
  for (const T& item : items) {
    if (item.name == name) return &item;
  }
  return nullptr;
}

std::string region_text(const std::vector<Region>& regions, const std::vector<std::string>& axes) {
  std::string result;
  for (const Region& region : regions) {
    if (!result.empty()) result += "+";
    if (region.kind == RegionKind::live) {
      result += "live";
    } else {
      result += fmt::format("{}({})", region.kind == RegionKind::strip ? "strip" : "apron",
                            axes[static_cast<std::size_t>(region.axis)]);
    }
  }
  return result;
}

std::string level_text(int level) { return level > 0 ? "'" : level < 0 ? "`" : ""; }

struct OperationPrinter {
  const Program& program;
  std::string operator()(const Sample& op) const {
    return fmt::format("sample {}{}", op.field, level_text(op.level));
  }
  std::string operator()(const Halo& op) const {
    return fmt::format("halo   {}{}", op.field, level_text(op.level));
  }
  std::string operator()(const Ring& op) const {
    const auto depths = [&](const Depths& d) {
      std::string out;
      for (int a = 0; a < program.dims(); ++a)
        out += fmt::format("{}{}", a > 0 ? "," : "", d[static_cast<std::size_t>(a)] / 2.0);
      return out;
    };
    return fmt::format("ring   {}' {} at depths {} to {}", op.field, op.keep ? "kept" : "from what was kept",
                       depths(op.outer), depths(op.inner));
  }
  std::string operator()(const Injection& op) const {
    return fmt::format("inject {}{} += {} * source({}){}", op.field, level_text(op.level),
                       text(op.factor, program.axes), op.source,
                       op.times.empty() ? "" : fmt::format(" * {}{}", op.times, level_text(op.times_level)));
  }
  std::string operator()(const Update& op) const {
    return fmt::format("update {}{} {} {}   on {}", op.field, level_text(op.level),
                       op.accumulate ? "+=" : "=", text(op.value, program.axes),
                       region_text(op.regions, program.axes));
  }
};

class Verifier {
 public:
  Verifier(const Program& program, const std::string& pass) : program_(program), pass_(pass) {
    for (const Scalar& scalar : program.scalars) symbols_.insert(scalar.name);
  }

  void run() {
    std::set<std::string> names;
    for (const Field& field : program_.fields) {
      require(names.insert(field.name).second, "two fields named " + field.name);
    }
    for (const Operation& operation : program_.operations) {
      if (const auto* update = std::get_if<Update>(&operation)) {
        program_.field(update->field);
        require(update->level == 1,
                "an update of " + update->field + " at level " + std::to_string(update->level));
        require(!update->regions.empty(), "an update of " + update->field + " without a region");
        expression(update->value);
      } else if (const auto* injection = std::get_if<Injection>(&operation)) {
        program_.field(injection->field);
        require(!time_dependent(injection->factor),
                "a source factor of " + injection->source + " that varies in time");
        const Field* const times = find_named(program_.fields, injection->times);
        require(injection->times.empty() || times != nullptr,
                "an injection times " + injection->times + ", which is no field");
        require(times == nullptr || times->saved == (injection->times_level < 0),
                "an injection times " + injection->times + " at a level that is not at hand");
      } else if (const auto* ring = std::get_if<Ring>(&operation)) {
        program_.field(ring->field);
      }
    }
  }

 private:
  void require(bool condition, const std::string& what) const {
    if (!condition) {
      throw InternalError(fmt::format("after pass {}: equation {}: {}", pass_, program_.equation, what));
    }
  }

  void expression(Expr e) {
    if (!seen_.insert(e->id).second) return;
    if (e->kind == Kind::field) {
      const Field& field = program_.field(e->name);
      const int oldest = field.time_order == 2 ? -1 : 0;
      require(e->level >= oldest && e->level <= 1,
              fmt::format("{} is read at time level {}, kept are {} to 1", e->name, e->level, oldest));
    }
    if (e->kind == Kind::coefficient) {
      require(program_.find_coefficient(e->name) != nullptr, "unknown coefficient " + e->name);
    }
    if (e->kind == Kind::parameter) {
      require(program_.find_parameter(e->name) != nullptr, "unknown parameter " + e->name);
    }
    require(e->kind != Kind::source, "a source term left inside an update");
    for (const Expr arg : e->args) expression(arg);
  }

  const Program& program_;
  const std::string& pass_;
  std::set<std::string> symbols_;
  std::set<std::uint32_t> seen_;
};

}  // namespace

bool Program::first_order() const {
  return std::any_of(fields.begin(), fields.end(),
                     [](const Field& field) { return field.kind != FieldKind::scalar; });
}

const Field& Program::field(const std::string& name) const {
  const Field* found = find_named(fields, name);
  if (found == nullptr) throw InternalError("equation " + equation + " has no field " + name);
  return *found;
}

const Parameter* Program::find_parameter(const std::string& name) const {
  return find_named(parameters, name);
}
const Coefficient* Program::find_coefficient(const std::string& name) const {
  return find_named(coefficients, name);
}

std::string dump(const Program& program) {
  std::string out = fmt::format("program {} {} ({}), order {}\n", program.equation, program.direction,
                                fmt::join(program.axes, ","), program.order);
  if (!program.no_surface.empty()) out += "  no free surface: " + program.no_surface + "\n";
  for (const Parameter& p : program.parameters)
    out += fmt::format("  {} {} [{}]\n", p.uniform ? "uniform" : "parameter", p.name, p.unit);
  for (const Requirement& r : program.requirements)
    out += fmt::format("  requires {}: {}\n", text(r.condition, program.axes), r.reason);
  for (const Field& f : program.fields) {
    std::string at;
    for (int a = 0; a < program.dims(); ++a) at += f.stagger[static_cast<std::size_t>(a)] != 0 ? "h" : "n";
    out += fmt::format("  field {} [{}] at {}", f.name, f.unit, at);
    if (f.time_order == 2) out += ", two levels";
    if (f.half_step) out += ", half step";
    if (f.saved) out += ", saved";
    if (f.apart) out += ", kept where it is written";
    if (f.inset) {
      out += ", from depth";
      for (int a = 0; a < program.dims(); ++a)
        out += fmt::format(" {}", (*f.inset)[static_cast<std::size_t>(a)] / 2.0);
    }
    if (f.strip_axis >= 0) out += ", strips of " + program.axes[static_cast<std::size_t>(f.strip_axis)];
    out += "\n";
  }
  for (const Coefficient& c : program.coefficients) {
    out += fmt::format("  coefficient {} = {}\n", c.name, text(c.definition, program.axes));
  }
  for (const Scalar& s : program.scalars) {
    out += fmt::format("  scalar {} = {}\n", s.name, text(s.definition, program.axes));
  }
  for (const Operation& operation : program.operations) {
    out += "  " + std::visit(OperationPrinter{program}, operation) + "\n";
  }
  return out;
}

void verify(const Program& program, const std::string& pass) { Verifier(program, pass).run(); }

}  // namespace ondula::ir
