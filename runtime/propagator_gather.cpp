// The chain rule at the end of a gradient: from sums and adjoints to models and the initial state.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "compiler/passes/surface.hpp"
#include "runtime/domain.hpp"
#include "runtime/propagator_adjoint.hpp"
#include "runtime/propagator_impl.hpp"

namespace ondula {
namespace {

/// Of an entry of the padded grid.
std::int64_t flat_of(const ir::Domain& domain, const ir::Extents& i) {
  return (i[0] * domain.total(1) + i[1]) * domain.total(2) + i[2];
}

template <class F>
void each_entry(const ir::Box& box, const F& f) {
  ir::Extents i{};
  std::size_t flat = 0;
  for (i[0] = box[0].lo; i[0] < box[0].hi; ++i[0]) {
    for (i[1] = box[1].lo; i[1] < box[1].hi; ++i[1]) {
      for (i[2] = box[2].lo; i[2] < box[2].hi; ++i[2]) f(i, flat++);
    }
  }
}

/// f(index, k) for the entries k of a row that lie on the outermost nodes of any axis, where weights differ
/// from 1.
template <class F>
void each_face_entry(const ir::Domain& domain, const ir::Extents& first, std::size_t count, const F& f) {
  const int along = domain.dims - 1;
  const auto inner = static_cast<std::size_t>(along);
  const auto on_face = [&](int axis, std::int64_t i) { return i == 0 || i == domain.total(axis) - 1; };
  bool all = false;
  for (int axis = 0; axis < along; ++axis) all = all || on_face(axis, first[static_cast<std::size_t>(axis)]);
  ir::Extents index = first;
  for (std::size_t k = 0; k < count; ++k, ++index[inner]) {
    if (all || on_face(along, index[inner])) f(index, k);
  }
}

ir::Box row_from(const ir::Domain& domain, const ir::Extents& index, std::size_t count) {
  ir::Box box;
  for (std::size_t a = 0; a < box.size(); ++a) box[a] = {index[a], index[a] + 1};
  box[static_cast<std::size_t>(domain.dims - 1)].hi += static_cast<std::int64_t>(count) - 1;
  return box;
}

/// The box in an even number of slabs along its first axis: the first and the last hold all that folds onto
/// the edge nodes, so that every other slab adds to nodes of its own.
std::vector<ir::Box> slabs_of(const ir::Domain& domain, const ir::Box& box) {
  constexpr std::int64_t margin = 8, inner = 14;
  const std::int64_t lo = domain.pad[0][0] + margin, hi = domain.total(0) - domain.pad[0][1] - margin;
  if (hi - lo < 4 * inner) return {box};
  std::vector<std::int64_t> cuts = {box[0].lo};
  for (std::int64_t k = 0; k <= inner; ++k) cuts.push_back(lo + (hi - lo) * k / inner);
  cuts.push_back(box[0].hi);
  std::vector<ir::Box> slabs;
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
    slabs.push_back(box);
    slabs.back()[0] = {cuts[k], cuts[k + 1]};
  }
  return slabs;
}

std::vector<const ir::Field*> fields_of(const ir::Program& program, const std::vector<std::string>& names) {
  std::vector<const ir::Field*> fields;
  for (const std::string& name : names) fields.push_back(&program.field(name));
  return fields;
}

}  // namespace

void Propagator::Impl::gather_models(const loop::Sensitivity& sensitivity,
                                     loop::ModelGradient& models) const {
  const Adjoint& own = *adjoint_;
  const ir::Program& back = own.compilation.adjoint.program;
  const ir::Program& forward = own.compilation.adjoint.forward;
  for (const ir::CoefficientGradient& gradient : own.compilation.adjoint.gradients) {
    const auto fields = fields_of(forward, gradient.of);
    // Without surfaces there is nothing to choose, and half of the arithmetic.
    const auto plain = [&](ir::Expr e) {
      return domain_.has_free_surface() ? e : passes::medium(*back.pool, e);
    };
    const ir::Expr coefficient = plain(gradient.coefficient);
    std::vector<std::pair<ir::Expr, std::string>> terms = gradient.value.terms;
    for (auto& [factor, accumulator] : terms) factor = plain(factor);
    std::vector<std::pair<ir::Expr, const std::vector<double>*>> starts;
    for (const ir::StartTerm& start : gradient.starts) {
      const auto started = own.start_sums.find({start.field, start.level});
      if (started != own.start_sums.end()) starts.emplace_back(plain(start.factor), &started->second);
    }
    const auto slab = [&](const ir::Box& box) {
      std::vector<std::unique_ptr<loop::ValueRows>> factors;
      for (const auto& [factor, accumulator] : terms) factors.push_back(sensitivity.rows(factor, box));
      std::vector<std::unique_ptr<loop::ValueRows>> start_factors;
      for (const auto& [factor, sums] : starts) start_factors.push_back(sensitivity.rows(factor, box));
      const auto cotangents = [&](const ir::Extents& index, std::span<double> row) {
        std::fill(row.begin(), row.end(), 0.0);
        for (std::size_t t = 0; t < terms.size(); ++t) {
          const ir::Box place = row_from(domain_, index, row.size());
          const std::vector<double> sums =
              own.sums ? own.sums->row(terms[t].second, place) : own.back->values(terms[t].second, place);
          if (std::all_of(sums.begin(), sums.end(), [](double s) { return s == 0; })) continue;
          const std::span<const double> factor = factors[t]->values(index, row.size());
          for (std::size_t k = 0; k < row.size(); ++k) row[k] += sums[k] == 0 ? 0 : factor[k] * sums[k];
        }
        for (std::size_t s = 0; s < starts.size(); ++s) {
          const double* const sums = starts[s].second->data() + flat_of(domain_, index);
          const std::span<const double> factor = start_factors[s]->values(index, row.size());
          for (std::size_t k = 0; k < row.size(); ++k) row[k] += sums[k] == 0 ? 0 : factor[k] * sums[k];
        }
        each_face_entry(domain_, index, row.size(), [&](const ir::Extents& entry, std::size_t k) {
          row[k] *= node_weight(domain_, fields, gradient.stagger, forward.first_order(), entry);
        });
      };
      sensitivity.transpose(coefficient, box, cotangents, models);
    };
    const std::vector<ir::Box> slabs =
        slabs_of(domain_, domain_.live(back.field(gradient.value.terms.front().second)));
    // Neighbouring slabs add to nodes they share: first every other one, then the rest, whatever the threads.
    for (std::size_t first = 0; first < 2; ++first) {
      const auto run = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) slab(slabs[static_cast<std::size_t>(2 * k) + first]);
      };
      const auto count = static_cast<std::int64_t>((slabs.size() + 1 - first) / 2);
      if (device_)
        device_->parallel(count, run);
      else
        run(0, count);
    }
    if (!gradient.injected) continue;
    const auto injected = own.injected.find(gradient.of.front());
    if (injected == own.injected.end()) continue;
    for (const auto& [index, sum] : injected->second) {
      const double value = sensitivity.value(coefficient, index);
      if (sum != 0 && value != 0) sensitivity.transpose(coefficient, index, -sum / value, models);
    }
  }
}

/// dJ/df(0) is the adjoint after the last step back; dJ/df(-1) what the recursion would hand on to it.
void Propagator::Impl::gather_initial(const loop::Sensitivity& sensitivity, Gradient& result) const {
  const Adjoint& own = *adjoint_;
  const ir::Program& forward = own.compilation.adjoint.forward;
  for (const ir::AdjointVariable& variable : own.compilation.adjoint.variables) {
    const ir::Field& field = forward.field(variable.field);
    const ir::Box box = domain_.live(field);
    for (int level = 0; level >= (field.time_order == 2 ? -1 : 0); --level) {
      std::vector<double> padded(static_cast<std::size_t>(domain_.points()), 0.0);
      for (const auto& [factor, state] : variable.value.terms) {
        const std::vector<double> values = own.back->field(state, level);
        const ir::Expr whole = level < 0 ? forward.pool->product({variable.previous, factor}) : factor;
        const std::vector<double> factors = sensitivity.values(whole, box);
        each_entry(box, [&](const ir::Extents& index, std::size_t i) {
          const auto flat = static_cast<std::size_t>(flat_of(domain_, index));
          const double weight = node_weight(domain_, {&field}, field.stagger, forward.first_order(), index);
          if (values[flat] != 0) padded[flat] += weight * factors[i] * values[flat];
        });
      }
      const std::vector<double> nodes = cropped(padded);
      std::vector<double>& into = result.initial[level < 0 ? field.name + ".previous" : field.name];
      into.resize(nodes.size(), 0.0);
      for (std::size_t i = 0; i < nodes.size(); ++i) into[i] += nodes[i];
    }
  }
}

}  // namespace ondula
