// Born modelling: the tangent of the step, and the Gauss-Newton product made of it.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"
#include "runtime/born_points.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/propagator_adjoint.hpp"
#include "runtime/propagator_impl.hpp"
#include "runtime/propagator_tangent.hpp"
#include "runtime/shot_batch.hpp"

namespace ondula {

Records Propagator::Impl::born(std::span<const Shot> shots, const loop::Perturbation& given) {
  const loop::Perturbation perturbation = whole_perturbation(given);
  const Limits now = begin_run(shots, std::nullopt, true);
  count_tangents();
  const auto entry = Clock::now();
  substeps_ = substeps(now);
  fix_layer(now.speeds, shots);
  ready_born(perturbation);
  const loop::Sensitivity sensitivity(domain_, engine_setup().symbols, models_);
  const passes::BornCompilation& own = born_->compilation;
  return run_shots(*born_->engine, shots, born_->batch, entry, [&](std::int64_t shot) {
    return born_points(own.forward, own.tangent, sensitivity, points_of(shots, shot, true), perturbation);
  });
}

Gradient Propagator::Impl::gauss_newton(std::span<const Shot> shots, const loop::Perturbation& perturbation,
                                        const GradientOptions& options) {
  require_gradient(options);
  return gradient(shots, std::vector<AdjointSources>(born(shots, perturbation)), options);
}

loop::Perturbation Propagator::Impl::whole_perturbation(const loop::Perturbation& given) const {
  loop::Perturbation result = given;
  for (auto& [name, values] : result) {
    const std::string what = "perturbation of " + name;
    if (find_parameter(name).uniform) {
      std::size_t nodes = 1;
      for (const std::int64_t n : grid_.shape) nodes *= static_cast<std::size_t>(n);
      values.assign(nodes, one_of_all(what, values));
    }
    require_count(what, values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i]))
        throw UserError(fmt::format("{}: value {} at index {}", what, values[i], i));
    }
  }
  return result;
}

void Propagator::Impl::ready_born(const loop::Perturbation& perturbation) {
  engine_.reset();
  if (adjoint_) adjoint_->release();
  state_known_ = false;
  models_changed_ = true;
  if (!born_) {
    device_.reset();  // tuning may want the room
    const auto begin = Clock::now();
    auto born = std::make_unique<Born>();
    born->compilation = passes::compile_born(equation_, pipeline());
    machine_.ready();
    // A state to start from is one of the forward run's arrays.
    born->kernels =
        machine_.compile(born->compilation.step, domain_, loop::common_halo(compilation_.kernels));
    timings_.compile = since(begin);
    timings_.compiled = born->kernels.compiled();
    timings_.tuning = machine_.tuning_seconds();
    born_ = std::move(born);
  }
  const passes::Compilation& step = born_->compilation.step;
  const int halo = loop::common_halo(compilation_.kernels);
  const std::int64_t wanted = batch_of(step, halo);
  const auto bytes = [&](std::int64_t count) { return engine_bytes(step, halo, count, substeps_, counts_); };
  if (born_->shots < wanted || too_large(born_->shots, wanted, bytes)) born_->engine.reset();
  if (!born_->engine) {
    born_->shots = with_room(wanted, [&](std::int64_t batch) {
      born_->engine.reset();
      loop::EngineSetup setup = engine_setup(batch);
      setup.least_halo = halo;
      renew_device();
      born_->engine = machine_.make_engine(step, setup, device_.get(), born_->kernels);
      require_room_for_points(batch);
    });
  }
  born_->batch = std::min(wanted, born_->shots);
  born_->engine->set_models(models_);
  born_->engine->set_perturbation(perturbation);
}

void Propagator::Impl::release_born() {
  if (born_) born_->engine.reset();
}

}  // namespace ondula
