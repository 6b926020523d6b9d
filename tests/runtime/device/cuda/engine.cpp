// The CUDA engine beside the host's: linearised runs, more graphs than are kept, scalars in device memory.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compiler/emit/cuda_text.hpp"
#include "compiler/passes/pipeline.hpp"
#include "runtime/loop/cuda_engine.hpp"
#include "tests/equations/engines.hpp"
#include "tests/runtime/device/cuda/on_sim.hpp"
#include "tests/runtime/gradient/born.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

/// The kernels of `equation` for the stand-in; with `in_memory` their scalars come through one pointer each.
std::shared_ptr<const loop::CudaKernels> kernels_of(const passes::Compilation& compilation,
                                                    const EngineCase& c, bool in_memory) {
  const std::shared_ptr<jit::CudaCompiler> compiler = sim_compiler();
  loop::CudaSource source =
      loop::cuda_source(compilation, c.domain, c.dtype, 0, compiler->architecture_for(9, 0), false);
  if (in_memory) {
    using Kind = ir::CudaArgument::Kind;
    for (ir::CudaKernel& kernel : source.program.kernels) {
      const std::size_t before = kernel.arguments.size();
      std::erase_if(kernel.arguments, [](const ir::CudaArgument& a) { return a.kind == Kind::scalar; });
      REQUIRE(kernel.arguments.size() < before);
      kernel.arguments.push_back({.kind = Kind::scalars, .name = "scalars"});
    }
    const bool wide = c.dtype == DType::float64;
    source.text.text = emit::cuda_text(source.program, wide ? emit::Real::float64 : emit::Real::float32);
  }
  return loop::compile_cuda(std::move(source), *compiler);
}

/// u after 9 steps taken one by one from a bump.
std::vector<double> stepped(const passes::Compilation& compilation, const EngineCase& c, bool in_memory) {
  cuda::DeviceOptions options;
  options.driver = cuda::Driver::open(cuda::stand_in_library());
  options.poison = true;
  options.threads = 1;
  cuda::Device device(options);
  loop::EngineSetup setup;
  setup.domain = c.domain;
  setup.symbols = {{"dt", c.dt}, {"h_z", c.domain.spacing[0]}, {"h_x", c.domain.spacing[1]}};
  setup.layer.dt = c.dt;
  setup.layer.velocity = c.layer_velocity;
  setup.layer.frequency = c.layer_frequency;
  setup.dtype = c.dtype;
  const loop::Models models = {{"vp", loop::ModelArray(c.models.at("vp"))}};
  const auto engine =
      loop::make_cuda_engine(compilation, setup, device, kernels_of(compilation, c, in_memory), true);
  engine->set_models(models);
  engine->set_points({}, {});
  const std::vector<double> bump = padded_noise(c.domain, -1, 1, 5);
  engine->set_field("u", 0, bump);
  engine->set_field("u", -1, bump);
  for (std::int64_t n = 0; n < 9; ++n) engine->step(n, {});
  std::vector<double> u = engine->field("u", 0);
  CHECK(engine->magnitude() >= max_abs(u));
  CHECK(std::isfinite(engine->magnitude()));
  return u;
}

}  // namespace

TEST_CASE("cuda-sim: linearised records and Gauss-Newton products have the host's bits") {
  ONDULA_NEEDS_STAND_IN();
  for (const char* equation : {"acoustic", "acoustic_density", "elastic"}) {
    CAPTURE(equation);
    Setting s;
    s.equation = equation;
    s.faces = "flllll";
    s.dtype = DType::float32;
    s.steps = 30;
    BornSetup setup(s);
    const Problem host = setup.problem;
    Records linear;
    Gradient product;
    for (const Backend backend : {Backend::host, Backend::cuda_sim}) {
      const SimDriver driver(untouched(ONDULA_SIM_SHUFFLE, 6));
      Propagator propagator =
          on(host, backend, backend == Backend::host ? nullptr : sim_compiler()).propagator();
      const Records own = propagator.born(setup.shots(), setup.perturbation);
      const Gradient again = propagator.gauss_newton(setup.shots(), setup.perturbation);
      if (backend == Backend::host) {
        linear = own;
        product = again;
        CHECK(max_abs(linear[0].begin()->second.data) > 0);
        continue;
      }
      CHECK(fmt::format("{}", fmt::join(differences(own, linear), "; ")) == "");
      const std::vector<std::string> apart = differences(Everything{{}, {}, again}, {{}, {}, product});
      CHECK(fmt::format("{}", fmt::join(apart, "; ")) == "");
      CHECK(driver.report() == "");
    }
  }
}

TEST_CASE("cuda-sim: where an adjoint's layers reach into those across, gradients are still the host's") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched(ONDULA_SIM_CHECK, 9));
  // The adjoint of nested derivatives reaches order - 1 cells beyond a layer, and there are 13 and 11.
  for (const int order : {14, 16}) {
    CAPTURE(order);
    Setting s;
    s.equation = "acoustic_density";
    s.order = order;
    s.steps = 30;
    s.initial = true;
    const Problem problem = random_problem(s);
    const Everything host = everything(problem);
    const Everything found = everything(on(problem, Backend::cuda_sim, sim_compiler()));
    CHECK(fmt::format("{}", fmt::join(differences(found.records, host.records), "; ")) == "");
    // The host adds what the layer across gives after what the own layer gives, so the last bit may differ.
    CHECK(worst_difference(found.gradient.models, host.gradient.models) < 1e-13);
    CHECK(worst_difference(found.gradient.initial, host.gradient.initial) < 1e-13);
  }
  CHECK(driver.report() == "");
}

TEST_CASE("cuda: stretches of more lengths than there are graphs kept: old graphs go, and the bits stay") {
  ONDULA_NEEDS_STAND_IN();
  use_graphs(true);
  Setting s;
  s.dims = 1;
  s.order = 2;
  const Problem problem = random_problem(s);
  Shot unheard = problem.shots[0];
  unheard.receivers.clear();
  const SimDriver driver(untouched());
  Propagator host = problem.propagator();
  Propagator device = on(problem, Backend::cuda_sim, sim_compiler()).propagator();
  std::uint64_t most = 0;
  bool fewer = false;
  for (std::int64_t count = 4; count < 44; ++count) {
    for (const Shot& shot : {problem.shots[0], unheard}) {
      CHECK(differences(device.forward({&shot, 1}, count), host.forward({&shot, 1}, count)).empty());
      const std::uint64_t now = driver.live().execs;
      fewer = fewer || now < most;
      most = std::max(most, now);
    }
  }
  CHECK(device.state().at("u") == host.state().at("u"));
  CHECK(most == 64);
  CHECK(fewer);
}

TEST_CASE(
    "cuda: kernels that find their scalars in device memory give the bits of those that are given them") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched(ONDULA_SIM_CHECK, 1));
  for (const DType dtype : {DType::float32, DType::float64}) {
    EngineCase c = acoustic_case(layered({13, 11}, 4), 4);
    c.dtype = dtype;
    const passes::Compilation compilation = passes::compile(
        equations::acoustic(), {.axes = {"z", "x"}, .order = c.order, .target = passes::Target::cuda});
    const std::vector<double> given = stepped(compilation, c, false);
    CHECK(max_abs(given) > 0);
    CHECK(stepped(compilation, c, true) == given);
  }
  CHECK(driver.report() == "");
  CHECK(leaks(driver) == "");
}

}  // namespace ondula::test
