// Checkpoints below the Propagator: an equation with damping, which no reversed step can rebuild.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>

#include "equations/equations.hpp"
#include "runtime/jit/host_compiler.hpp"
#include "runtime/loop/arrays.hpp"
#include "runtime/storage/schedule.hpp"
#include "runtime/storage/state_store.hpp"
#include "runtime/storage_facts.hpp"
#include "tests/equations/engines.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/runtime/storage/plans.hpp"

namespace ondula::test {

EQUATION(waning_wave, "a wave in velocity and pressure, both damped by amounts that vary") {
  auto c = parameter("c", "m/s", positive);
  auto k = parameter("k", "1/s", nonnegative), q = parameter("q", "1/s", nonnegative);
  auto v = vector("v", "m/s");
  auto f = scalar("f", "m/s");
  evolve(dt(v) = c * grad(f) - q * v + force(v));
  evolve(dt(f) = c * div(v) - k * f + source(f));
}

namespace {

constexpr std::int64_t steps = 26;

/// Both directions of one equation on one device.
class Pair {
 public:
  Pair(const passes::AdjointCompilation& both, const loop::EngineSetup& setup, bool reference)
      : both_(both), setup_(setup) {
    setup_.least_halo =
        std::max(loop::common_halo(both.forward.kernels), loop::common_halo(both.backward.kernels));
    if (!reference) device_ = device::make_host_device(2, true);
    ahead_ = make(both.forward);
    back_ = make(both.backward);
    models_["c"] = loop::ModelArray(scattered(setup.domain, 1500, 2500, 1));
    models_["k"] = loop::ModelArray(scattered(setup.domain, 5, 60, 2));
    models_["q"] = loop::ModelArray(scattered(setup.domain, 0, 40, 3));
    ahead_->set_models(models_);
    back_->set_models(models_);
  }

  /// Every field and sum of the adjoint after the way there and back.
  Arrays run(const Checkpoints& plan) {
    history_ = ahead_->make_history(both_.adjoint.saves, storage::predict(plan, steps).longest + 1);
    storage::StateStore states(*ahead_, storage::predict(plan, steps).states, {});
    begin();
    for (const storage::Action& a : storage::make_schedule(plan, steps)) act(a, states);
    Arrays result;
    for (const ir::Field& field : both_.backward.physical.fields) {
      if (field.strip_axis < 0 && !field.saved) result[field.name] = back_->field(field.name, 0);
    }
    return result;
  }

 private:
  std::unique_ptr<loop::Engine> make(const passes::Compilation& compilation) {
    if (!device_) return loop::make_reference_engine(compilation, setup_);
    const emit::Real real = setup_.dtype == DType::float32 ? emit::Real::float32 : emit::Real::float64;
    jit::HostCompiler compiler;
    return loop::make_compiled_engine(compilation, setup_, *device_,
                                      compiler.compile({emit::host_text(compilation.kernels, real),
                                                        "waning_wave",
                                                        {},
                                                        emit::manifest(compilation.kernels, real)}));
  }

  void begin() {
    ahead_->stand(*history_, 0);
    fill(*ahead_, both_.forward.physical, 10);
    fill(*back_, both_.backward.physical, 20);
  }

  void fill(loop::Engine& engine, const ir::Program& program, unsigned seed) const {
    engine.clear();
    for (const ir::Field& field : program.fields) {
      if (field.strip_axis < 0 && !field.saved && !field.accumulator)
        engine.set_field(field.name, 0, padded_noise(setup_.domain, -1, 1, ++seed));
    }
  }

  void act(const storage::Action& a, storage::StateStore& states) {
    using Kind = storage::Action::Kind;
    using Way = loop::Kept::Way;
    if (a.kind == Kind::keep) states.keep(a.slot);
    if (a.kind == Kind::restore) {
      history_->reset();
      ahead_->stand(*history_, 0);
      states.restore(a.slot);
    }
    if (a.kind == Kind::advance) {
      ahead_->steps(a.from, a.to - a.from, 1, {}, {history_.get(), Way::pass});
      history_->rebase((a.to - a.from) % 2);
    }
    if (a.kind == Kind::run) {
      ahead_->keep(*history_, 0);
      ahead_->steps(a.from, a.to - a.from, 1, {}, {history_.get(), Way::keep});
    }
    if (a.kind == Kind::reverse) {
      const std::int64_t length = a.to - a.from;
      back_->steps(steps - a.to, length, 1, {}, {history_.get(), Way::backward, 0, length});
    }
  }

  const passes::AdjointCompilation& both_;
  loop::EngineSetup setup_;
  std::unique_ptr<device::Device> device_;
  loop::Models models_;
  std::unique_ptr<loop::Engine> ahead_, back_;
  std::unique_ptr<loop::History> history_;
};

}  // namespace

TEST_CASE("damping: storage_facts says that checkpoints serve, and why boundary saving does not") {
  const StorageFacts damped = storage_facts(waning_wave(), {"z", "x"});
  CHECK(damped.full == "");
  CHECK(damped.checkpoints == "");
  CHECK(damped.boundary.find("waning_wave") != std::string::npos);
  const StorageFacts plain = storage_facts(equations::acoustic(), {"z", "x"});
  CHECK(plain.checkpoints + plain.boundary == "");
}

TEST_CASE("A23: checkpoints serve an equation with damping, bit for bit, on the reference and the host") {
  ONDULA_NEEDS_CLANG();
  const passes::AdjointCompilation both =
      passes::compile_adjoint(waning_wave(), {{"z", "x"}, 4, false, false});
  loop::EngineSetup setup;
  setup.domain = layered({14, 12}, 5);
  setup.symbols = {{"dt", 1e-3}, {"h_z", 10}, {"h_x", 10}};
  setup.layer.dt = 1e-3;
  setup.layer.velocity = 2500;
  setup.layer.frequency = 20;
  for (const DType dtype : {DType::float32, DType::float64}) {
    for (const bool reference : {true, false}) {
      setup.dtype = dtype;
      Pair pair(both, setup, reference);
      const Arrays full = pair.run({});
      double size = 0;
      for (const auto& [name, values] : full) size += energy(values);
      CHECK(std::isfinite(size));
      CHECK(size > 0);
      for (const Checkpoints& plan : checkpoint_plans) {
        CAPTURE(reference);
        CAPTURE(text(plan));
        CHECK(pair.run(plan) == full);
      }
    }
  }
}

}  // namespace ondula::test
