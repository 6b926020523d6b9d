// Boxes of values and derivatives, in pieces of rows that stay in the cache.
// SPDX-License-Identifier: MIT
#include "runtime/loop/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/error.hpp"

namespace ondula::loop {
namespace {

constexpr std::int64_t piece = 256;  // entries of a row at a time

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::size_t entries(const ir::Box& box) { return at(box[0].size() * box[1].size() * box[2].size()); }

std::size_t width(const ir::Range& row) { return at(std::min(piece, row.size())); }

ir::Box single(const ir::Extents& index) {
  ir::Box box;
  for (std::size_t a = 0; a < box.size(); ++a) box[a] = {index[a], index[a] + 1};
  return box;
}

/// f(index, count) for each piece of each row of `box` along `axis`, the last one the grid has.
template <class F>
void for_pieces(const ir::Box& box, int axis, const F& f) {
  const ir::Range row = box[at(axis)];
  ir::Box outer = box;
  outer[at(axis)].hi = outer[at(axis)].lo + 1;
  ir::Extents i{};
  for (i[0] = outer[0].lo; i[0] < outer[0].hi; ++i[0]) {
    for (i[1] = outer[1].lo; i[1] < outer[1].hi; ++i[1]) {
      for (i[2] = outer[2].lo; i[2] < outer[2].hi; ++i[2]) {
        ir::Extents first = i;
        for (std::int64_t k = row.lo; k < row.hi; k += piece) {
          first[at(axis)] = k;
          f(first, at(std::min(piece, row.hi - k)));
        }
      }
    }
  }
}

std::size_t offset(const ir::Box& box, const ir::Extents& i) {
  return at(((i[0] - box[0].lo) * box[1].size() + i[1] - box[1].lo) * box[2].size() + i[2] - box[2].lo);
}

}  // namespace

ValueRows::ValueRows(Tape tape, const ir::Domain& domain, const Models& models, const ir::Box& box)
    : tape_(std::move(tape)),
      nodes_(domain, box, tape_),
      run_(tape_, models, nodes_, width(box[at(domain.dims - 1)])) {}

Sensitivity::Sensitivity(const ir::Domain& domain, ir::Symbols symbols, const Models& models)
    : domain_(domain), symbols_(std::move(symbols)), models_(models) {}

Tape Sensitivity::tape(ir::Expr e, Surfaces surfaces) const {
  // Without surfaces only the first of their values is ever taken.
  return make_tape(e, symbols_, domain_.has_free_surface() ? surfaces : Surfaces::ignored);
}

ir::Box Sensitivity::used(ir::Box box) const {
  for (std::size_t a = at(domain_.dims); a < box.size(); ++a) box[a] = {0, 1};
  return box;
}

void Sensitivity::require_nodes(const std::string& name, std::size_t count) const {
  const std::size_t nodes = at(domain_.shape[0] * domain_.shape[1] * domain_.shape[2]);
  if (count == nodes) return;
  throw InternalError(fmt::format("derivative in {}: {} values for {} nodes", name, count, nodes));
}

std::vector<double> Sensitivity::gathered(const Tape& tape, const ir::Box& given,
                                          const Perturbation* perturbation) const {
  const ir::Box box = used(given);
  std::vector<double> result(entries(box));
  if (result.empty()) return result;
  const BoxNodes nodes(domain_, box, tape);
  TapeRun run(tape, models_, nodes, width(box[at(domain_.dims - 1)]));
  if (perturbation != nullptr) {
    std::vector<const double*> directions;
    for (const std::string& name : tape.parameters) {
      const auto found = perturbation->find(name);
      directions.push_back(found == perturbation->end() ? nullptr : found->second.data());
      if (directions.back() != nullptr) require_nodes(name, found->second.size());
    }
    run.differentiate(std::move(directions));
  }
  for_pieces(box, domain_.dims - 1, [&](const ir::Extents& index, std::size_t count) {
    std::span<const double> row = run.values(index, count);
    if (perturbation != nullptr) row = run.tangents();
    std::copy(row.begin(), row.end(), result.begin() + static_cast<std::ptrdiff_t>(offset(box, index)));
  });
  return result;
}

void Sensitivity::transpose(const Tape& tape, const ir::Box& given, const CotangentRow& cotangents,
                            ModelGradient& gradient) const {
  const ir::Box whole = used(given);
  if (entries(whole) == 0) return;
  std::vector<double*> arrays;
  for (const std::string& name : tape.parameters) {
    const auto found = gradient.arrays.find(name);
    arrays.push_back(found == gradient.arrays.end() ? nullptr : found->second.data());
    if (arrays.back() != nullptr) require_nodes(name, found->second.size());
  }
  const BoxNodes nodes(domain_, whole, tape);
  std::vector<double> row(width(whole[at(domain_.dims - 1)]));
  TapeRun run(tape, models_, nodes, row.size());
  run.differentiate(std::move(arrays), gradient.interior);
  for_pieces(whole, domain_.dims - 1, [&](const ir::Extents& index, std::size_t count) {
    const std::span<double> part = std::span(row).first(count);
    cotangents(index, part);
    if (std::all_of(part.begin(), part.end(), [](double c) { return c == 0; })) return;
    run.values(index, count);
    run.transpose(part);
  });
}

double Sensitivity::value(ir::Expr e, const ir::Extents& index, Surfaces surfaces) const {
  return gathered(tape(e, surfaces), single(index), nullptr)[0];
}

std::vector<double> Sensitivity::values(ir::Expr e, const ir::Box& box) const {
  return gathered(tape(e, Surfaces::counted), box, nullptr);
}

void Sensitivity::transpose(ir::Expr e, const ir::Extents& index, double cotangent, ModelGradient& gradient,
                            Surfaces surfaces) const {
  const CotangentRow one = [&](const ir::Extents&, std::span<double> row) { row[0] = cotangent; };
  transpose(tape(e, surfaces), single(index), one, gradient);
}

void Sensitivity::transpose(ir::Expr e, const ir::Box& given, std::span<const double> cotangent,
                            ModelGradient& gradient) const {
  const ir::Box box = used(given);
  if (cotangent.size() != entries(box)) {
    throw InternalError(fmt::format("{} cotangents for {} entries", cotangent.size(), entries(box)));
  }
  const CotangentRow stored = [&](const ir::Extents& index, std::span<double> row) {
    std::copy_n(cotangent.begin() + static_cast<std::ptrdiff_t>(offset(box, index)), row.size(), row.begin());
  };
  transpose(e, box, stored, gradient);
}

void Sensitivity::transpose(ir::Expr e, const ir::Box& box, const CotangentRow& cotangents,
                            ModelGradient& gradient) const {
  transpose(tape(e, Surfaces::counted), box, cotangents, gradient);
}

std::unique_ptr<ValueRows> Sensitivity::rows(ir::Expr e, const ir::Box& box) const {
  return std::make_unique<ValueRows>(tape(e, Surfaces::counted), domain_, models_, used(box));
}

double Sensitivity::tangent(ir::Expr e, const ir::Extents& index, const Perturbation& perturbation,
                            Surfaces surfaces) const {
  return gathered(tape(e, surfaces), single(index), &perturbation)[0];
}

std::vector<double> Sensitivity::tangents(ir::Expr e, const ir::Box& box,
                                          const Perturbation& perturbation) const {
  return gathered(tape(e, Surfaces::counted), box, &perturbation);
}

}  // namespace ondula::loop
