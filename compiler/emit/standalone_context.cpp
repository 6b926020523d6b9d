// Which arrays there are, what a step consists of, and how everything is called.
// SPDX-License-Identifier: MIT
#include "compiler/emit/standalone_context.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/error.hpp"
#include "compiler/passes/names.hpp"

namespace ondula::emit {
namespace {

/// Most fields of first order are updated in place: both levels are one array.
ir::ArrayArgument normal(const ir::KernelSet& set, ir::ArrayArgument a) {
  const bool levels = a.kind == ir::ArrayKind::field && set.program.field(a.name).slots() == 2;
  if (!levels) a.slot = 0;
  return a;
}

bool same_array(const ir::ArrayArgument& a, const ir::ArrayArgument& b) {
  return a.kind == b.kind && a.name == b.name && a.side == b.side && a.slot == b.slot &&
         (a.kind != ir::ArrayKind::profile || (a.axis == b.axis && a.half == b.half));
}

/// Fields of an adjoint have a struct of their own: they are called like the forward ones.
std::string holder_of(const StandaloneStep& step, const ir::ArrayArgument& a) {
  return step.adjoint() && a.kind == ir::ArrayKind::field ? "adjoint" : "arrays";
}

/// Fields come first, then coefficients, then what layers have.
int rank(const StandaloneArray& array) {
  if (array.is_profile()) return 3;
  if (array.is_memory()) return 2;
  return array.is_coefficient() ? 1 : 0;
}

/// Adds every array that the kernels take and that is not there yet; those of a kind in the order of the
/// kernels' arguments.
void add_arrays(const StandaloneStep& step, std::vector<StandaloneArray>& arrays) {
  for (const ir::Kernel& kernel : step.set.kernels) {
    for (const ir::ArrayArgument& given : kernel.arrays) {
      const ir::ArrayArgument a = normal(step.set, given);
      const std::string holder = holder_of(step, a);
      const auto known = std::find_if(arrays.begin(), arrays.end(), [&](const StandaloneArray& other) {
        return other.holder == holder && same_array(other.argument, a);
      });
      if (known != arrays.end()) {
        if (known->member != a.identifier)
          throw InternalError(fmt::format("one array is called {} and {}", known->member, a.identifier));
        continue;
      }
      const bool taken = std::any_of(arrays.begin(), arrays.end(), [&](const StandaloneArray& other) {
        return other.holder == holder && other.member == a.identifier;
      });
      if (taken) throw InternalError("two arrays are called " + a.identifier);
      const ir::Field* const field = a.kind == ir::ArrayKind::field ? &step.program().field(a.name) : nullptr;
      const bool kept = field != nullptr && (field->saved || (field->apart && a.slot == 1));
      arrays.push_back({a.identifier, a, holder, kept});
    }
  }
  std::stable_sort(arrays.begin(), arrays.end(),
                   [](const StandaloneArray& a, const StandaloneArray& b) { return rank(a) < rank(b); });
}

/// Adds what has another name than all that is there.
template <class Named>
void add_named(const std::vector<Named>& from, std::vector<Named>& to) {
  for (const Named& one : from) {
    const bool known = std::any_of(to.begin(), to.end(), [&](const Named& n) { return n.name == one.name; });
    if (!known) to.push_back(one);
  }
}

std::vector<StandalonePart> parts_of(const ir::KernelSet& set) {
  std::vector<StandalonePart> parts;
  for (const ir::Stage& stage : set.stages) {
    StandalonePart part;
    if (stage.kernel >= 0) {
      part.sweep = stage.kernel;
      parts.push_back(part);
      continue;
    }
    const ir::Operation& operation = set.program.operations[static_cast<std::size_t>(stage.operation)];
    if (const auto* sample = std::get_if<ir::Sample>(&operation)) {
      if (set.program.direction == "adjoint") {
        if (parts.empty() || parts.back().looks.empty()) parts.push_back(part);
        parts.back().looks.push_back(sample->field);
      } else if (!parts.empty()) {
        throw InternalError("a step that looks at fields after its first sweep");
      }
    }
    if (std::holds_alternative<ir::Injection>(operation)) {
      part.injection = stage.operation;
      parts.push_back(part);
    }
    if (const auto* ring = std::get_if<ir::Ring>(&operation)) {
      if (parts.empty() || parts.back().rings.empty()) parts.push_back(part);
      parts.back().rings.push_back(*ring);
    }
    if (const auto* halo = std::get_if<ir::Halo>(&operation)) {
      if (parts.empty() || parts.back().images.empty()) parts.push_back(part);
      parts.back().images.push_back(halo->field);
    }
  }
  return parts;
}

}  // namespace

StandaloneStep::StandaloneStep(const ir::KernelSet& kernels, const ir::CudaProgram* program)
    : set(kernels), cuda(program), parts(parts_of(kernels)) {}

const ir::Injection& StandaloneStep::injection(int operation) const {
  return std::get<ir::Injection>(program().operations[static_cast<std::size_t>(operation)]);
}

std::vector<std::string> StandaloneStep::imaged() const {
  std::vector<std::string> fields;
  for (const StandalonePart& part : parts)
    fields.insert(fields.end(), part.images.begin(), part.images.end());
  return fields;
}

std::vector<ir::Ring> StandaloneStep::rings() const {
  std::vector<ir::Ring> all;
  for (const StandalonePart& part : parts) all.insert(all.end(), part.rings.begin(), part.rings.end());
  return all;
}

bool StandaloneStep::takes_off(const ir::Program& forward, const ir::Injection& injection) const {
  for (const ir::Operation& operation : forward.operations) {
    const auto* other = std::get_if<ir::Injection>(&operation);
    if (other == nullptr || other->field != injection.field || other->source != injection.source) continue;
    if (injection.factor == other->factor) return false;
    if (injection.factor == forward.pool->negate(other->factor)) return true;
    break;
  }
  throw InternalError("a step back takes back what no source of " + injection.source + " gave");
}

StandaloneContext::StandaloneContext(StandaloneStep there, std::optional<StandaloneStep> back,
                                     const StandaloneGradient* derived, Real type,
                                     const StandaloneNames& called, const StandaloneCase& small)
    : forward(std::move(there)),
      reverse(std::move(back)),
      gradient(derived),
      real(type),
      names(called),
      example(small) {
  if (gradient != nullptr) {
    keeping.emplace(gradient->keeping, gradient->cuda_keeping);
    adjoint.emplace(gradient->back, gradient->cuda_back);
  }
  for (const StandaloneStep* step : steps()) {
    add_arrays(*step, arrays);
    add_named(step->program().coefficients, coefficients);
    add_named(step->program().scalars, scalars);
  }
}

std::vector<const StandaloneStep*> StandaloneContext::steps() const {
  std::vector<const StandaloneStep*> all = {&forward};
  if (reverse) all.push_back(&*reverse);
  if (keeping) all.push_back(&*keeping);
  if (adjoint) all.push_back(&*adjoint);
  return all;
}

std::string StandaloneContext::base() const {
  return fmt::format("{}_{}d_o{}", program().equation, dims(), program().order);
}

std::string StandaloneContext::symbol() const { return names.prefix + base(); }

int StandaloneContext::halo() const {
  int widest = 0;
  for (const StandaloneStep* step : steps()) {
    for (const ir::Kernel& kernel : step->set.kernels)
      widest = std::max(widest, *std::max_element(kernel.halo.begin(), kernel.halo.end()));
  }
  return widest;
}

bool StandaloneContext::first_order() const { return program().first_order(); }

std::string StandaloneContext::short_name(const std::string& kernel) const {
  const std::string head = base() + "_", ahead = "forward_";
  if (!kernel.starts_with(head)) throw InternalError("kernel " + kernel + " is not called after " + base());
  const std::string name = kernel.substr(head.size());
  return name.starts_with(ahead) ? name.substr(ahead.size()) : name;
}

std::string StandaloneContext::launcher(const StandaloneStep& step, const StandalonePart& part) const {
  if (part.sweep >= 0) return launcher(step, part.sweep);
  // All components of one of the author's fields stand together.
  const bool ring = !part.rings.empty();
  const std::string field = ring ? part.rings.front().field : part.images.front();
  const auto group = [&](const StandalonePart& p) {
    if (!p.rings.empty() == ring && (!p.rings.empty() || !p.images.empty()))
      return step.program().field(ring ? p.rings.front().field : p.images.front()).group;
    return std::string();
  };
  // A step may fill those of one group more than once.
  int again = 0;
  for (const StandalonePart& other : step.parts) {
    if (&other == &part) break;
    if (group(other) == group(part)) ++again;
  }
  return fmt::format("{}_{}_{}_{}{}", symbol(), step.direction(), ring ? "ring" : "images",
                     plain_identifier(step.program().field(field).group),
                     again > 0 ? fmt::format("_{}", again + 1) : "");
}

std::string StandaloneContext::array_parameters(const StandaloneStep& step) const {
  std::string text = fmt::format("const {}_arrays* arrays", symbol());
  if (step.adjoint()) text += fmt::format(", const {}_adjoint_arrays* adjoint", symbol());
  return text;
}

const StandaloneArray& StandaloneContext::array(const StandaloneStep& step,
                                                const ir::ArrayArgument& argument) const {
  ir::ArrayArgument there = normal(step.set, argument);
  const std::string holder = holder_of(step, there);
  const bool levels = there.kind == ir::ArrayKind::field && there.side < 0;
  if (step.back() && levels && program().field(there.name).time_order == 2) there.slot = 1 - there.slot;
  for (const StandaloneArray& one : arrays) {
    if (one.holder == holder && same_array(one.argument, there)) return one;
  }
  throw InternalError("no array " + argument.name);
}

std::string StandaloneContext::current(const StandaloneStep& step, const std::string& field) const {
  ir::ArrayArgument argument;
  argument.name = field;
  return member(step.back() ? forward : step, argument);
}

std::string StandaloneContext::written(const StandaloneStep& step, const std::string& field) const {
  ir::ArrayArgument argument;
  argument.name = field;
  argument.slot = 1;
  return member(step, argument);
}

std::string StandaloneContext::changed_places(const StandaloneStep& step) const {
  std::string text;
  for (const ir::Field& field : program().fields) {
    if (!step.back() || field.time_order != 2) continue;
    text += fmt::format("// The step that is undone left its result in {} and what it found in {}.\n",
                        current(field.name), written(forward, field.name));
  }
  return text;
}

std::string StandaloneContext::memory_layout(const StandaloneStep& step,
                                             const ir::ArrayArgument& argument) const {
  const ir::Field& field = step.program().field(argument.name);
  const bool half = field.stagger[static_cast<std::size_t>(field.strip_axis)] != 0;
  int reach = ir::strip_reach(step.set, field);
  // Steps that share a memory variable share its layout.
  if (!step.adjoint()) {
    reach = ir::strip_reach(forward.set, field);
    if (keeping) reach = std::max(reach, ir::strip_reach(keeping->set, field));
  }
  return fmt::format("strip_layout(*grid, {}, {}, {}, {}, {})", cut(step), field.strip_axis, argument.side,
                     half, reach);
}

std::string StandaloneContext::description(const StandaloneStep& step, const std::string& field) {
  const std::string name = plain_identifier(field);
  if (step.keeping()) return "keeping_" + name;
  if (step.adjoint()) return "adjoint_" + name;
  return (step.back() ? "back_" : "at_") + name;
}

std::string StandaloneContext::images(const StandaloneStep& step, const std::string& field) {
  return (step.adjoint() ? "adjoint_" : "") + plain_identifier(field) + "_images";
}

int StandaloneContext::beyond(const StandaloneStep& step, const ir::Kernel& kernel) {
  int most = 0;
  for (const ir::Piece& piece : kernel.pieces) {
    for (const ir::Store& store : piece.stores) {
      const ir::Field& field = step.program().field(store.field);
      if (field.beyond_axis >= 0) most = std::max({most, field.beyond, 1});
    }
  }
  return most;
}

std::string StandaloneContext::kept(const ir::Save& save) { return passes::identifier(save.field); }

std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [key, value] : values) {
    const std::string what = "@" + key + "@";
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + value.size()))
      text.replace(at, what.size(), value);
  }
  return text;
}

std::string plain_identifier(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

}  // namespace ondula::emit
