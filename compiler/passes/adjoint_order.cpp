// The order of a step back, from who reads whom.
// SPDX-License-Identifier: MIT
#include "compiler/passes/adjoint_order.hpp"

#include <algorithm>

namespace ondula::passes {

bool AdjointOrder::ending(const std::string& field) const {
  const ir::Field& own = physical_.field(field);
  return own.strip_axis < 0 && own.time_order == 1 && !cotangents_.early(field) && cotangents_.is_read(field);
}

std::vector<std::string> AdjointOrder::ending_fields() const {
  std::vector<std::string> fields;
  for (const ir::Field& field : physical_.fields) {
    if (ending(field.name)) fields.push_back(field.name);
  }
  return fields;
}

bool AdjointOrder::whole(const std::string& field) const {
  std::size_t kept = 0;
  for (const Use& use : uses_) {
    if (!use.self || use.target != field) continue;
    if (!ir::is_constant(use.coefficient, 1) || !use.profiles.empty()) return false;
    ++kept;
  }
  return kept == 1;
}

bool AdjointOrder::unread(const std::string& field) const {
  std::vector<std::string> members = variables_.states.at(field).group;
  if (members.empty()) members = {field};
  const auto stranger = [&](const ir::Field& other) {
    return !cotangents_.early(other.name) && other.name != field && !allied(field, other.name);
  };
  return std::all_of(members.begin(), members.end(), [&](const std::string& member) {
    const bool read = std::any_of(
        physical_.fields.begin(), physical_.fields.end(),
        [&](const ir::Field& other) { return stranger(other) && reads_before(other.name, member); });
    return whole(member) && !read;
  });
}

std::vector<std::string> AdjointOrder::at_the_end(std::vector<std::string> late) const {
  std::vector<std::string> order;
  while (!late.empty()) {
    const auto free = [&](const std::string& field) {
      return std::none_of(late.begin(), late.end(), [&](const std::string& other) {
        return other != field && !allied(field, other) && reads_before(other, field);
      });
    };
    auto next = std::find_if(late.begin(), late.end(), free);
    if (next == late.end())
      next = late.begin();  // a ring, which in place no kernel can run: dependences tells
    order.push_back(*next);
    late.erase(next);
  }
  return order;
}

/// Kept times one law, hence updated together.
bool AdjointOrder::allied(const std::string& a, const std::string& b) const {
  const std::vector<std::string>& group = variables_.states.at(a).group;
  return std::find(group.begin(), group.end(), b) != group.end();
}

/// What the adjoint of `reader` gains holds that of `field`, of first order, as the step found it.
bool AdjointOrder::reads_before(const std::string& reader, const std::string& field) const {
  ir::Pool& pool = *physical_.pool;
  return physical_.field(field).time_order == 1 &&
         (drives(pool.field(reader, 1), field) || drives(pool.field(reader, 0), field));
}

/// `field` is updated with a value or its derivatives, the field itself apart.
bool AdjointOrder::drives(ir::Expr atom, const std::string& field) const {
  return std::any_of(uses_.begin(), uses_.end(), [&](const Use& use) {
    if (!(use.atom == atom) || use.self) return false;
    return use.parent ? drives(use.parent, field) : use.target == field;
  });
}

}  // namespace ondula::passes
