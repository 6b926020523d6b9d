// Insets of sums.
// SPDX-License-Identifier: MIT
#include "compiler/passes/confine.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;
using ir::RegionKind;

void collect_fields(Expr e, std::set<std::string>& names) {
  if (e->kind == Kind::field) names.insert(e->name);
  for (const Expr arg : e->args) collect_fields(arg, names);
}

/// The fields of which `e` takes derivatives.
void collect_differentiated(Expr e, std::set<std::string>& names) {
  if (e->kind == Kind::derivative) return collect_fields(e, names);
  for (const Expr arg : e->args) collect_differentiated(arg, names);
}

class Confiner {
 public:
  Confiner(ir::Program& back, const ir::Program& physical, const std::set<std::string>& rebuilt,
           const std::set<std::string>& partners)
      : back_(back), rebuilt_(rebuilt), partners_(partners) {
    for (const ir::Field& field : physical.fields) own_.insert(field.name);
  }

  void run() {
    for (ir::Field& field : back_.fields) {
      if (!field.accumulator || field.along || field.beyond_axis >= 0 || !pictures(field.name)) continue;
      ir::Depths depths{};
      for (std::size_t a = 0; a < depths.size(); ++a) depths[a] = -field.stagger[a];
      field.inset = depths;
      confined_.insert(field.name);
      pair(field);
    }
    std::erase_if(back_.operations, [&](const ir::Operation& operation) { return acts_nowhere(operation); });
    while (drop_unread()) {
    }
    put_off();
  }

 private:
  bool pictures(const std::string& name) const {
    std::set<std::string> read;
    for (const ir::Operation& operation : back_.operations) {
      const auto* update = std::get_if<ir::Update>(&operation);
      if (update != nullptr && update->field == name) collect_differentiated(update->value, read);
    }
    return std::any_of(read.begin(), read.end(), [&](const auto& field) { return rebuilt_.contains(field); });
  }

  /// What begins within a cell of the sums begins where they do, and they count as of its statement.
  void pair(const ir::Field& sum) {
    for (ir::Field& field : back_.fields) {
      if (!partners_.contains(field.name) || field.stagger != sum.stagger || !near(field, sum)) continue;
      field.inset = sum.inset;
      const ir::Update* own = nullptr;
      for (const ir::Operation& operation : back_.operations) {
        const auto* update = std::get_if<ir::Update>(&operation);
        if (update != nullptr && update->field == field.name) own = update;
      }
      for (ir::Operation& operation : back_.operations) {
        auto* update = std::get_if<ir::Update>(&operation);
        if (own != nullptr && update != nullptr && update->field == sum.name)
          update->location = own->location;
      }
    }
  }

  /// Corrections of the sums come after the updates of rebuilt fields, none of which they touch: what is
  /// plain stands together.
  void put_off() {
    const auto update_of = [&](std::size_t k) {
      return k < back_.operations.size() ? std::get_if<ir::Update>(&back_.operations[k]) : nullptr;
    };
    for (std::size_t begin = 0; begin < back_.operations.size(); ++begin) {
      std::size_t end = begin;
      while (update_of(end) != nullptr) ++end;
      std::stable_partition(back_.operations.begin() + static_cast<std::ptrdiff_t>(begin),
                            back_.operations.begin() + static_cast<std::ptrdiff_t>(end),
                            [&](const ir::Operation& operation) {
                              const auto& update = std::get<ir::Update>(operation);
                              return !update.accumulate || !confined_.contains(update.field);
                            });
      begin = end;
    }
  }

  static bool near(const ir::Field& a, const ir::Field& b) {
    for (std::size_t axis = 0; axis < ir::max_axes; ++axis) {
      if (!a.inset || std::abs((*a.inset)[axis] - (*b.inset)[axis]) > 2) return false;
    }
    return true;
  }

  bool acts_nowhere(const ir::Operation& operation) const {
    const auto* update = std::get_if<ir::Update>(&operation);
    if (update == nullptr || !confined_.contains(update->field)) return false;
    return std::all_of(update->regions.begin(), update->regions.end(), [&](const ir::Region& region) {
      return region.kind == RegionKind::strip &&
             back_.field(update->field).stagger[static_cast<std::size_t>(region.axis)] == 0;
    });
  }

  /// One memory variable of the sums that only its own update reads.
  bool drop_unread() {
    for (const ir::Field& field : back_.fields) {
      if (field.strip_axis < 0 || own_.contains(field.name)) continue;
      bool read = false;
      for (const ir::Operation& operation : back_.operations) {
        const auto* update = std::get_if<ir::Update>(&operation);
        if (update == nullptr || update->field == field.name) continue;
        std::set<std::string> names;
        collect_fields(update->value, names);
        read |= names.contains(field.name);
      }
      if (read) continue;
      const std::string name = field.name;
      std::erase_if(back_.operations, [&](const ir::Operation& operation) {
        const auto* update = std::get_if<ir::Update>(&operation);
        return update != nullptr && update->field == name;
      });
      std::erase_if(back_.fields, [&](const ir::Field& f) { return f.name == name; });
      return true;
    }
    return false;
  }

  ir::Program& back_;
  const std::set<std::string>&rebuilt_, &partners_;
  std::set<std::string> own_;  ///< the equation's
  std::set<std::string> confined_;
};

}  // namespace

void confine(ir::Program& back, const ir::Program& physical, const std::set<std::string>& rebuilt,
             const std::set<std::string>& partners) {
  Confiner(back, physical, rebuilt, partners).run();
}

}  // namespace ondula::passes
