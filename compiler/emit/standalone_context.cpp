// Which arrays there are, what a step consists of, and how everything is called.
// SPDX-License-Identifier: MIT
#include "compiler/emit/standalone_context.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/error.hpp"

namespace ondula::emit {
namespace {

/// Fields of first order are updated in place: both levels are one array.
int slot_of(const ir::KernelSet& set, const ir::ArrayArgument& a) {
  const bool levels = a.kind == ir::ArrayKind::field && set.program.field(a.name).time_order == 2;
  return levels ? a.slot : 0;
}

bool same_array(const ir::KernelSet& set, const ir::ArrayArgument& a, const ir::ArrayArgument& b) {
  return a.kind == b.kind && a.name == b.name && a.side == b.side && slot_of(set, a) == slot_of(set, b) &&
         (a.kind != ir::ArrayKind::profile || (a.axis == b.axis && a.half == b.half));
}

/// Fields come first, then coefficients, then what layers have.
int rank(const StandaloneArray& array) {
  if (array.is_profile()) return 3;
  if (array.is_memory()) return 2;
  return array.is_coefficient() ? 1 : 0;
}

/// Every array that the kernels take, each once; those of a kind in the order of the kernels' arguments.
std::vector<StandaloneArray> arrays_of(const ir::KernelSet& set) {
  std::vector<StandaloneArray> arrays;
  for (const ir::Kernel& kernel : set.kernels) {
    for (const ir::ArrayArgument& a : kernel.arrays) {
      const auto known = std::find_if(arrays.begin(), arrays.end(), [&](const StandaloneArray& other) {
        return same_array(set, other.argument, a);
      });
      if (known != arrays.end()) {
        if (known->member != a.identifier)
          throw InternalError(fmt::format("one array is called {} and {}", known->member, a.identifier));
        continue;
      }
      const bool taken = std::any_of(arrays.begin(), arrays.end(), [&](const StandaloneArray& other) {
        return other.member == a.identifier;
      });
      if (taken) throw InternalError("two arrays are called " + a.identifier);
      arrays.push_back({a.identifier, a});
    }
  }
  std::stable_sort(arrays.begin(), arrays.end(),
                   [](const StandaloneArray& a, const StandaloneArray& b) { return rank(a) < rank(b); });
  return arrays;
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
    if (std::holds_alternative<ir::Sample>(operation) && !parts.empty())
      throw InternalError("a step that looks at fields after its first sweep");
    if (std::holds_alternative<ir::Injection>(operation)) {
      part.injection = stage.operation;
      parts.push_back(part);
    }
    if (const auto* halo = std::get_if<ir::Halo>(&operation)) {
      if (parts.empty() || parts.back().images.empty()) parts.push_back(part);
      parts.back().images.push_back(halo->field);
    }
  }
  return parts;
}

}  // namespace

StandaloneContext::StandaloneContext(const ir::KernelSet& kernels, const ir::CudaProgram* program, Real type,
                                     const StandaloneNames& called, const StandaloneCase& small)
    : set(kernels),
      cuda(program),
      real(type),
      names(called),
      example(small),
      arrays(arrays_of(kernels)),
      parts(parts_of(kernels)) {}

std::string StandaloneContext::base() const {
  return fmt::format("{}_{}d_o{}", program().equation, dims(), program().order);
}

std::string StandaloneContext::symbol() const { return names.prefix + base(); }

int StandaloneContext::halo() const {
  int widest = 0;
  for (const ir::Kernel& kernel : set.kernels)
    widest = std::max(widest, *std::max_element(kernel.halo.begin(), kernel.halo.end()));
  return widest;
}

bool StandaloneContext::first_order() const { return program().first_order(); }

std::string StandaloneContext::short_name(const std::string& kernel) const {
  const std::string head = base() + "_forward_";
  if (!kernel.starts_with(head)) throw InternalError("kernel " + kernel + " is not called after " + base());
  return kernel.substr(head.size());
}

std::string StandaloneContext::images_launcher(const StandalonePart& part) const {
  // All components of one of the author's fields stand together.
  return fmt::format("{}_forward_images_{}", symbol(),
                     plain_identifier(program().field(part.images.front()).group));
}

std::string StandaloneContext::member(const ir::ArrayArgument& argument) const {
  for (const StandaloneArray& array : arrays) {
    if (same_array(set, array.argument, argument)) return array.member;
  }
  throw InternalError("no array " + argument.name);
}

std::string StandaloneContext::current(const std::string& field) const {
  ir::ArrayArgument argument;
  argument.name = field;
  return member(argument);
}

std::string StandaloneContext::written(const std::string& field) const {
  ir::ArrayArgument argument;
  argument.name = field;
  argument.slot = 1;
  return member(argument);
}

std::vector<std::string> StandaloneContext::imaged() const {
  std::vector<std::string> fields;
  for (const StandalonePart& part : parts)
    fields.insert(fields.end(), part.images.begin(), part.images.end());
  return fields;
}

std::string StandaloneContext::memory_layout(const ir::ArrayArgument& argument) const {
  const ir::Field& field = program().field(argument.name);
  const bool half = field.stagger[static_cast<std::size_t>(field.strip_axis)] != 0;
  return fmt::format("strip_layout(*grid, {}, {}, {}, {})", field.strip_axis, argument.side, half,
                     ir::strip_reach(set, field));
}

std::string StandaloneContext::description(const std::string& field) {
  return "at_" + plain_identifier(field);
}

const ir::Injection& StandaloneContext::injection(int operation) const {
  return std::get<ir::Injection>(program().operations[static_cast<std::size_t>(operation)]);
}

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
