// The passes in order.
// SPDX-License-Identifier: MIT
#include "compiler/passes/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "compiler/error.hpp"
#include "compiler/passes/absorb.hpp"
#include "compiler/passes/check.hpp"
#include "compiler/passes/dependences.hpp"
#include "compiler/passes/differentiate.hpp"
#include "compiler/passes/discretize_time.hpp"
#include "compiler/passes/expand.hpp"
#include "compiler/passes/hoist.hpp"
#include "compiler/passes/linearize.hpp"
#include "compiler/passes/lower.hpp"
#include "compiler/passes/materialize.hpp"
#include "compiler/passes/rebuild.hpp"
#include "compiler/passes/reverse.hpp"
#include "compiler/passes/reversed_step.hpp"
#include "compiler/passes/standalone_steps.hpp"
#include "compiler/passes/surface.hpp"
#include "compiler/passes/windows.hpp"

namespace ondula::passes {
namespace {

class Recorder {
 public:
  Recorder(Compilation& compilation, bool dumps) : compilation_(compilation), dumps_(dumps) {}

  template <class F>
  auto run(const std::string& name, const F& pass) {
    const auto begin = std::chrono::steady_clock::now();
    auto result = pass();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    compilation_.passes.push_back({name, seconds, ""});
    if constexpr (requires { ir::verify(result, name); }) ir::verify(result, name);
    if constexpr (requires { dump(result); }) {
      if (dumps_) {
        std::string listing = dump(result);
        if (listing != last_) compilation_.passes.back().listing = listing;
        last_ = std::move(listing);
      }
    }
    return result;
  }

 private:
  Compilation& compilation_;
  bool dumps_;
  std::string last_;
};

/// What the steps of one equation share: checked, in time steps, with its surfaces and layers.
ir::Program physical_program(const EquationDefinition& definition, const PipelineOptions& options,
                             Recorder& recorder) {
  if (options.order < 2 || options.order > 16 || options.order % 2 != 0) {
    throw UserError(fmt::format("order {}: supported are 2, 4, 6, 8, 10, 12, 14 and 16", options.order));
  }
  const ir::Equation stated = definition.instantiate(options.axes);
  const ir::Equation checked = recorder.run("check", [&] { return check(stated); });
  const ir::Program stepped =
      recorder.run("discretize_time", [&] { return discretize_time(checked, options.order); });
  const ir::Program surfaced = recorder.run("surface", [&] { return surface(stepped); });
  return recorder.run("absorb", [&] { return absorb(surfaced, options.stretched); });
}

/// From a program at derivative level to kernels. `given`: see hoist.
ir::KernelSet kernels(const ir::Program& physical, const PipelineOptions& options, Recorder& recorder,
                      const ir::Program* given = nullptr) {
  // expand before hoist: only then do coefficients stand where they are read.
  const ir::Program expanded = recorder.run("expand", [&] { return expand(physical); });
  const auto step = recorder.run("dependences", [&] {
    const bool host = options.target == Target::host;
    return dependences(expanded, host, host ? Concurrency::rows : Concurrency::points);
  });
  const ir::Program hoisted = recorder.run("hoist", [&] { return hoist(expanded, given); });
  const ir::Program program = recorder.run("materialize", [&] { return materialize(hoisted, step); });
  // A GPU's kernel holds all pieces of a sweep: what they load in common it loads once without being told.
  const Fusion fusion = options.target == Target::cuda ? Fusion::points : options.fusion;
  const auto pieces = recorder.run("fuse", [&] { return fuse(program, step, fusion); });
  ir::KernelSet lowered = recorder.run("lower", [&] { return lower(program, pieces); });
  if (options.target == Target::host && options.windows)
    lowered = recorder.run("windows", [&] { return windows(std::move(lowered)); });
  return lowered;
}

}  // namespace

Compilation compile(const EquationDefinition& definition, const PipelineOptions& options) {
  Compilation result;
  Recorder recorder(result, options.dumps);
  result.physical = physical_program(definition, options, recorder);
  result.kernels = kernels(result.physical, options, recorder);
  return result;
}

ReversibleCompilation compile_reversible(const EquationDefinition& definition,
                                         const PipelineOptions& options) {
  ReversibleCompilation result;
  result.forward = compile(definition, options);
  const ir::Program& physical = result.forward.physical;
  Compilation back;
  Recorder recorder(back, options.dumps);
  try {
    back.physical = recorder.run("reversed_step", [&] { return reversed_step(physical); });
  } catch (const UserError& reason) {
    result.no_reverse = reason.what();
    return result;
  }
  back.kernels = kernels(back.physical, options, recorder, &result.forward.kernels.program);
  result.reverse = std::move(back);
  return result;
}

AdjointCompilation compile_adjoint(const EquationDefinition& definition, const PipelineOptions& options,
                                   bool unscaled, bool rebuilt) {
  AdjointCompilation result;
  Recorder recorder(result.forward, options.dumps);
  const ir::Program physical = physical_program(definition, options, recorder);
  if (rebuilt) static_cast<void>(reverse(physical));  // the reason of an equation that has none, first of all
  result.adjoint = recorder.run("differentiate", [&] {
    ir::Adjoint adjoint = differentiate(physical, unscaled, rebuilt);
    ir::verify(adjoint.program, "differentiate");
    return adjoint;
  });
  if (rebuilt) {
    result.adjoint = recorder.run("rebuild", [&] {
      ir::Adjoint adjoint = rebuild(physical, result.adjoint);
      ir::verify(adjoint.program, "rebuild");
      return adjoint;
    });
  }
  result.forward.physical = result.adjoint.forward;
  result.forward.kernels = kernels(result.adjoint.forward, options, recorder);
  Recorder backward(result.backward, options.dumps);
  result.backward.physical = result.adjoint.program;
  result.backward.kernels = kernels(result.adjoint.program, options, backward);
  return result;
}

StandaloneCompilation compile_standalone(const EquationDefinition& definition,
                                         const PipelineOptions& options) {
  StandaloneCompilation result{compile_reversible(definition, options), {}, {}};
  const ir::Program& physical = result.plain.forward.physical;
  const ir::Program& given = result.plain.forward.kernels.program;
  AdjointCompilation gradient;
  Recorder keeping(gradient.forward, options.dumps);
  Recorder backward(gradient.backward, options.dumps);
  const bool unscaled = std::any_of(physical.parameters.begin(), physical.parameters.end(),
                                    [](const ir::Parameter& p) { return p.sign == ir::Sign::nonnegative; });
  try {
    gradient.adjoint = differentiate(physical, unscaled);
    ir::verify(gradient.adjoint.program, "differentiate");
    gradient.forward.physical = gradient.adjoint.forward;
    gradient.forward.physical.direction = "keeping";
    gradient.backward.physical = gradient.adjoint.program;
    gradient.forward.kernels = kernels(gradient.forward.physical, options, keeping, &given);
    gradient.backward.kernels = kernels(gradient.backward.physical, options, backward, &given);
  } catch (const UserError& reason) {
    result.no_gradient = reason.what();
    return result;
  }
  result.gradient = std::move(gradient);
  return result;
}

BornCompilation compile_born(const EquationDefinition& definition, const PipelineOptions& options) {
  BornCompilation result;
  Recorder recorder(result.step, options.dumps);
  result.forward = physical_program(definition, options, recorder);
  result.step.physical = recorder.run("linearize", [&] {
    result.tangent = linearize(result.forward);
    return result.tangent.program;
  });
  result.step.kernels = kernels(result.step.physical, options, recorder);
  return result;
}

}  // namespace ondula::passes
