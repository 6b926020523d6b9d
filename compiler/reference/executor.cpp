// One time step: updates on their regions, injections, samples and halos, in the program's order.
// SPDX-License-Identifier: MIT
#include "compiler/reference/executor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/error.hpp"
#include "compiler/reference/evaluate.hpp"
#include "compiler/reference/state.hpp"
#include "compiler/reference/statics.hpp"

namespace ondula::reference {
namespace {

/// A memory variable differentiated along another axis than its own has no images beyond that axis's faces:
/// both must be layers, beyond which everything is 0.
void require_layers(const ir::Program& program, const ir::Domain& domain, ir::Expr e, int across) {
  if (e->kind == ir::Kind::derivative) across |= 1 << e->axis;
  if (e->kind == ir::Kind::field) {
    const int strip = program.field(e->name).strip_axis;
    const bool layer = strip >= 0 && domain.pad[at(strip)][0] + domain.pad[at(strip)][1] > 0;
    for (int axis = 0; axis < domain.dims && layer; ++axis) {
      const auto& faces = domain.faces[at(axis)];
      const bool open = faces[0] == FaceKind::absorbing && faces[1] == FaceKind::absorbing;
      if (axis == strip || (across & (1 << axis)) == 0 || open) continue;
      throw UserError(
          fmt::format("equation {}: derivatives along two axes are nested, as in grad(div(v)): "
                      "with a layer along {} they need layers on both faces of {}",
                      program.equation, program.axes[at(strip)], program.axes[at(axis)]));
    }
  }
  for (const ir::Expr arg : e->args) require_layers(program, domain, arg, across);
}

void require_fit(const ir::Program& program, const ir::Domain& domain) {
  ir::verify(program, "reference");
  if (program.dims() != domain.dims) {
    throw InternalError(
        fmt::format("equation {} has {} axes, the domain {}", program.equation, program.dims(), domain.dims));
  }
  for (const ir::Operation& operation : program.operations) {
    const auto* update = std::get_if<ir::Update>(&operation);
    if (update != nullptr) require_layers(program, domain, update->value, 0);
  }
  for (int axis = 0; axis < domain.dims; ++axis) {
    const auto& faces = domain.faces[at(axis)];
    const bool open = faces[0] == FaceKind::absorbing && faces[1] == FaceKind::absorbing;
    if (!open && domain.total(axis) < 2) {
      throw UserError(fmt::format("axis {}: {} node; mirroring and periodic faces need at least 2",
                                  program.axes[at(axis)], domain.total(axis)));
    }
  }
}

bool holds(const ir::Box& box, const ir::Extents& i) {
  for (std::size_t a = 0; a < box.size(); ++a) {
    if (i[a] < box[a].lo || i[a] >= box[a].hi) return false;
  }
  return true;
}

/// The boxes of one region of `field`: strips and aprons have one per side, aprons that overlap are joined.
std::vector<ir::Box> boxes(const ir::Region& region, const ir::Field& field, const ir::Box& live,
                           const ir::Domain& domain, int radius) {
  if (region.kind == ir::RegionKind::live) return {live};
  const bool half = field.stagger[at(region.axis)] != 0;
  std::array<ir::Range, 2> sides;
  for (int side = 0; side < 2; ++side) {
    sides[at(side)] = region.kind == ir::RegionKind::strip ? domain.strip(field, region.axis, side)
                                                           : domain.apron(region.axis, side, half, radius);
  }
  const bool both = sides[0].size() > 0 && sides[1].size() > 0;
  if (both && sides[1].lo < sides[0].hi) {
    sides[0] = {std::min(sides[0].lo, sides[1].lo), std::max(sides[0].hi, sides[1].hi)};
    sides[1] = {0, 0};
  }
  std::vector<ir::Box> result;
  for (const ir::Range& side : sides) {
    ir::Box box = live;
    box[at(region.axis)] = side;
    result.push_back(intersection(box, live));
  }
  return result;
}

bool is_empty(const ir::Box& box) {
  return std::any_of(box.begin(), box.end(), [](const ir::Range& r) { return r.size() == 0; });
}

}  // namespace

template <class Real>
class Executor<Real>::Impl {
 public:
  Impl(const ir::Program& program, const ir::Domain& domain, std::map<std::string, double> symbols,
       const ir::LayerOptions& options)
      : program_(program),
        domain_(domain),
        layout_((require_fit(program, domain), Layout(program, domain))),
        statics_(program_, domain_, layout_, std::move(symbols), options),
        coefficients_(statics_),
        state_(program_, domain_, layout_),
        evaluator_(program_, domain_, layout_, coefficients_,
                   [this](const std::string& name, int level) -> const std::vector<Real>& {
                     return state_.level(name, level);
                   }),
        pending_(at(layout_.size)) {}

  void set_parameter(const std::string& name, std::span<const double> values) {
    statics_.set_parameter(name, values);
    coefficients_.forget();
    factors_.clear();
  }

  void set_perturbation(const std::string& name, std::span<const double> values) {
    statics_.set_perturbation(name, values);
    coefficients_.forget();
    factors_.clear();
  }

  void step(std::int64_t n, std::span<const ir::PointSource> sources,
            std::span<const ir::PointReceiver> receivers, std::span<double> samples) {
    if (samples.size() != receivers.size()) {
      throw InternalError(fmt::format("{} samples for {} receivers", samples.size(), receivers.size()));
    }
    std::fill(samples.begin(), samples.end(), 0.0);
    state_.begin_step();
    for (const ir::Operation& operation : program_.operations) {
      if (const auto* reading = std::get_if<ir::Sample>(&operation)) {
        sample(*reading, receivers, samples);
      } else if (const auto* writing = std::get_if<ir::Update>(&operation)) {
        update(*writing);
      } else if (const auto* feeding = std::get_if<ir::Injection>(&operation)) {
        inject(*feeding, n, sources);
      } else if (const auto* ring = std::get_if<ir::Ring>(&operation)) {
        if (!ring->keep) take(*ring);
      } else {
        const auto& halo = std::get<ir::Halo>(operation);
        state_.fill_halo(halo.field, halo.level);
      }
    }
    state_.end_step();
  }

  State<Real>& state() { return state_; }
  const ir::Program& program() const { return program_; }

  std::vector<double> values(const std::string& name, int level, const ir::Box& box) const {
    const std::vector<Real>& array = state_.level(name, level);
    std::vector<double> result;
    for_rows(layout_, box, [&](std::int64_t first, std::int64_t count, const ir::Extents&) {
      for (std::int64_t i = first; i < first + count; ++i)
        result.push_back(static_cast<double>(array[at(i)]));
    });
    return result;
  }

  std::vector<double> rings() const {
    std::vector<double> result;
    for (const ir::Ring* ring : program_rings()) {
      for (const ir::Box& box : domain_.ring(program_.field(ring->field), ring->outer, ring->inner)) {
        const int level = program_.field(ring->field).time_order == 2 ? -1 : 0;
        const std::vector<double> part = values(ring->field, level, box);
        result.insert(result.end(), part.begin(), part.end());
      }
    }
    return result;
  }

  void take_rings(const std::vector<double>* kept) { kept_ = kept; }

 private:
  std::vector<const ir::Ring*> program_rings() const {
    std::vector<const ir::Ring*> result;
    for (const ir::Operation& operation : program_.operations) {
      if (const auto* ring = std::get_if<ir::Ring>(&operation)) result.push_back(ring);
    }
    std::sort(result.begin(), result.end(),
              [](const ir::Ring* a, const ir::Ring* b) { return a->number < b->number; });
    return result;
  }

  void take(const ir::Ring& op) {
    std::size_t next = 0;
    if (kept_ == nullptr) return;
    for (const ir::Ring* ring : program_rings()) {
      std::vector<Real>& out = state_.level(ring->field, 1);
      for (const ir::Box& box : domain_.ring(program_.field(ring->field), ring->outer, ring->inner)) {
        for_rows(layout_, box, [&](std::int64_t first, std::int64_t count, const ir::Extents&) {
          for (std::int64_t i = first; i < first + count; ++i, ++next) {
            if (ring->number == op.number) out[at(i)] = static_cast<Real>(kept_->at(next));
          }
        });
      }
    }
  }

  void sample(const ir::Sample& op, std::span<const ir::PointReceiver> receivers, std::span<double> samples) {
    const std::vector<Real>& now = state_.level(op.field, op.level);
    const ir::Box& live = state_.of(op.field).live;
    for (std::size_t r = 0; r < receivers.size(); ++r) {
      for (const ir::FieldTaps& part : receivers[r].parts) {
        if (part.field != op.field) continue;
        double sum = 0;
        for (const ir::Tap& tap : part.taps) {
          if (holds(live, tap.index)) {
            sum += tap.weight * static_cast<double>(now[at(layout_.index(tap.index))]);
          }
        }
        samples[r] += sum;
      }
    }
  }

  /// All values are computed before any is stored, since the right side may read what is written.
  void update(const ir::Update& op) {
    const FieldState<Real>& target = state_.of(op.field);
    std::vector<ir::Box> all;
    for (const ir::Region& region : op.regions) {
      for (const ir::Box& box : boxes(region, *target.field, target.live, domain_, program_.apron_cells())) {
        if (!is_empty(box)) all.push_back(box);
      }
    }
    for (const ir::Box& box : all) {
      evaluator_.clear();
      const Value<Real> value = evaluator_.evaluate(op.value, target.field->stagger, box);
      for_rows(layout_, box, [&](std::int64_t first, std::int64_t count, const ir::Extents&) {
        for (std::int64_t i = first; i < first + count; ++i) {
          pending_[at(i)] = value.array != nullptr ? value.array[i] : value.number;
        }
      });
    }
    std::vector<Real>& out = state_.level(op.field, op.level);
    for (const ir::Box& box : all) {
      for_rows(layout_, box, [&](std::int64_t first, std::int64_t count, const ir::Extents&) {
        for (std::int64_t i = first; i < first + count; ++i) {
          out[at(i)] = op.accumulate ? out[at(i)] + pending_[at(i)] : pending_[at(i)];
        }
      });
    }
  }

  void inject(const ir::Injection& op, std::int64_t n, std::span<const ir::PointSource> sources) {
    std::vector<Real>& array = state_.level(op.field, op.level);
    const ir::Box& live = state_.of(op.field).live;
    for (const ir::PointSource& source : sources) {
      if (source.source != op.source || n < 0 || at(n) >= source.samples.size()) continue;
      for (const ir::Tap& tap : source.taps) {
        if (!holds(live, tap.index)) continue;
        const std::int64_t i = layout_.index(tap.index);
        const double factor = source.raw ? 1.0 : factor_of(op.factor)[i];
        const Real gain = static_cast<Real>(factor * tap.weight * source.samples[at(n)]);
        array[at(i)] += op.times.empty() ? gain : gain * state_.level(op.times, op.times_level)[at(i)];
      }
    }
  }

  const Static& factor_of(ir::Expr e) {
    auto found = factors_.find(e->id);
    if (found == factors_.end()) found = factors_.emplace(e->id, statics_.evaluate(e)).first;
    return found->second;
  }

  ir::Program program_;
  ir::Domain domain_;
  Layout layout_;
  Statics statics_;
  Coefficients<Real> coefficients_;
  State<Real> state_;
  Evaluator<Real> evaluator_;
  std::vector<Real> pending_;
  const std::vector<double>* kept_ = nullptr;
  std::map<std::uint32_t, Static> factors_;  // of injections, by id
};

template <class Real>
Executor<Real>::Executor(const ir::Program& program, const ir::Domain& domain,
                         std::map<std::string, double> symbols, const ir::LayerOptions& options)
    : impl_(std::make_unique<Impl>(program, domain, std::move(symbols), options)) {}

template <class Real>
Executor<Real>::~Executor() = default;
template <class Real>
Executor<Real>::Executor(Executor&&) noexcept = default;
template <class Real>
Executor<Real>& Executor<Real>::operator=(Executor&&) noexcept = default;

template <class Real>
void Executor<Real>::set_parameter(const std::string& name, std::span<const double> values) {
  impl_->set_parameter(name, values);
}

template <class Real>
void Executor<Real>::set_perturbation(const std::string& name, std::span<const double> values) {
  impl_->set_perturbation(name, values);
}

template <class Real>
void Executor<Real>::clear() {
  impl_->state().clear();
}

template <class Real>
void Executor<Real>::clear_state() {
  for (const ir::Field& field : impl_->program().fields) {
    if (field.accumulator) continue;
    for (auto& array : impl_->state().of(field.name).levels) std::fill(array.begin(), array.end(), Real(0));
  }
}

template <class Real>
std::vector<double> Executor<Real>::values(const std::string& name, const ir::Box& box) const {
  return impl_->values(name, 0, box);
}

template <class Real>
std::vector<double> Executor<Real>::rings() const {
  return impl_->rings();
}

template <class Real>
void Executor<Real>::take_rings(const std::vector<double>* kept) {
  impl_->take_rings(kept);
}

template <class Real>
void Executor<Real>::set_field(const std::string& name, int level, std::span<const double> values) {
  if (level > 0) throw InternalError(fmt::format("{} is set at time level {}: only 0 and -1", name, level));
  impl_->state().set(name, level, values);
}

template <class Real>
std::vector<double> Executor<Real>::field(const std::string& name, int level) const {
  return impl_->state().get(name, level);
}

template <class Real>
void Executor<Real>::step(std::int64_t n, std::span<const ir::PointSource> sources,
                          std::span<const ir::PointReceiver> receivers, std::span<double> samples) {
  impl_->step(n, sources, receivers, samples);
}

template class Executor<float>;
template class Executor<double>;

}  // namespace ondula::reference
