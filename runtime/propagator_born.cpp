// Born modelling: the tangent of the step, and the Gauss-Newton product made of it.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>

#include "compiler/error.hpp"
#include "runtime/born_points.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/propagator_adjoint.hpp"
#include "runtime/propagator_impl.hpp"
#include "runtime/propagator_tangent.hpp"

namespace ondula {

Records Propagator::Impl::born(std::span<const Shot> shots, const loop::Perturbation& perturbation) {
  require_perturbation(perturbation);
  const Limits now = begin_run(shots, std::nullopt);
  const auto entry = Clock::now();
  substeps_ = substeps(now);
  fix_layer(now.speeds, shots);
  ready_born(perturbation);
  const loop::Sensitivity sensitivity(domain_, engine_setup().symbols, models_);
  loop::Engine& engine = *born_->engine;
  Records records;
  const auto count = static_cast<std::int64_t>(shots.size());
  for (std::int64_t s = 0; s < count; ++s) {
    const passes::BornCompilation& own = born_->compilation;
    ShotPoints points =
        born_points(own.forward, own.tangent, sensitivity, points_of(shots, s, true), perturbation);
    start_shot(engine);
    engine.set_points(std::move(points.sources), std::move(points.receivers));
    records.push_back(
        run_shot(engine, shots[static_cast<std::size_t>(s)], s, count, s == 0 ? entry : Clock::now()));
  }
  finish_timings();
  return records;
}

Gradient Propagator::Impl::gauss_newton(std::span<const Shot> shots, const loop::Perturbation& perturbation,
                                        const GradientOptions& options) {
  require_gradient(options);
  return gradient(shots, std::vector<AdjointSources>(born(shots, perturbation)), options);
}

void Propagator::Impl::require_perturbation(const loop::Perturbation& perturbation) const {
  for (const auto& [name, values] : perturbation) {
    static_cast<void>(find_parameter(name));
    require_count("perturbation of " + name, values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i]))
        throw UserError(fmt::format("perturbation of {}: value {} at index {}", name, values[i], i));
    }
  }
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
  if (!born_->engine) {
    const passes::Compilation& step = born_->compilation.step;
    loop::EngineSetup setup = engine_setup();
    setup.least_halo = loop::common_halo(compilation_.kernels);
    renew_device();
    born_->engine = machine_.make_engine(step, setup, device_.get(), born_->kernels);
  }
  born_->engine->set_models(models_);
  born_->engine->set_perturbation(perturbation);
}

void Propagator::Impl::release_born() {
  if (born_) born_->engine.reset();
}

}  // namespace ondula
