// A Propagator's state as a value: out, back in, and a check that it fits.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "compiler/error.hpp"
#include "runtime/propagator_impl.hpp"
#include "runtime/state_data.hpp"

namespace ondula {
namespace {

bool same_domain(const ir::Domain& a, const ir::Domain& b) {
  return a.dims == b.dims && a.shape == b.shape && a.pad == b.pad && a.faces == b.faces &&
         a.spacing == b.spacing;
}

}  // namespace

std::shared_ptr<const State::Data> Propagator::Impl::state() const {
  if (!engine_ || !state_known_) return nullptr;
  auto data = std::make_shared<State::Data>();
  describe(*data);
  for (const ir::Field& field : compilation_.physical.fields) {
    if (field.strip_axis < 0) data->fields.push_back(field);
  }
  data->substeps = substeps_;
  data->step = step_now_;
  data->arrays = engine_->save();
  return data;
}

void Propagator::Impl::set_state(std::shared_ptr<const State::Data> state) {
  if (state) {
    State::Data own;
    describe(own);
    const auto require = [&](bool same, const std::string& what) {
      if (same) return;
      throw UserError(fmt::format("the state is of another {} than this Propagator ({}, order {})", what,
                                  own.equation, own.order));
    };
    require(state->equation == own.equation, fmt::format("equation, {},", state->equation));
    require(state->axes == own.axes && same_domain(state->domain, own.domain), "grid");
    require(state->order == own.order, fmt::format("order, {},", state->order));
    require(state->dt == own.dt, fmt::format("dt, {} s,", state->dt));
    require(state->dtype == own.dtype, "working type");
    require(state->backend == own.backend, "backend");
    require(state->kappa == own.kappa, "kind of absorbing layer (absorb.kappa)");
  }
  start_ = std::move(state);
}

void Propagator::Impl::describe(State::Data& data) const {
  data.equation = compilation_.physical.equation;
  data.axes = grid_.axes;
  data.domain = domain_;
  data.order = options_.order;
  data.dt = options_.dt;
  data.dtype = options_.dtype;
  data.backend = options_.backend;
  data.kappa = options_.absorb.kappa > 1.0;
}

void Propagator::Impl::require_start(int substeps) const {
  if (!start_ || start_->substeps == substeps) return;
  throw UserError(
      fmt::format("the state that was set comes from {} substeps a sample, this run takes {}: set "
                  "options.substeps to {}",
                  start_->substeps, substeps, start_->substeps));
}

void Propagator::Impl::start_shot(loop::Engine& engine) {
  step_now_ = start_ ? start_->step : 0;
  engine.clear();
  if (start_) {
    engine.restore(start_->arrays);
    return;
  }
  for (const auto& [key, values] : initial_) engine.set_field(key.first, key.second, values);
}

}  // namespace ondula
