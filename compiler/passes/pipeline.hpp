// pipeline: the passes in order, with a verifier, a dump and a timer between each.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/dsl/dsl.hpp"
#include "compiler/ir/adjoint.hpp"
#include "compiler/ir/kernel.hpp"
#include "compiler/ir/tangent.hpp"
#include "compiler/passes/dependences.hpp"
#include "compiler/passes/fuse.hpp"

namespace ondula::passes {

/// What runs the kernels: a sweep of the host may keep an order among its rows, one of a GPU keeps none.
enum class Target { host, cuda };

/// What the text depends on; nothing else may (no grid size, dt or device).
struct PipelineOptions {
  std::vector<std::string> axes;
  int order = 8;           ///< even, 2..16; UserError otherwise
  bool stretched = false;  ///< CPML with kappa != 1
  bool dumps = false;      ///< keep the listings
  Target target = Target::host;
  Fusion fusion = Fusion::loads;  ///< of the host's pieces; changes no value
  bool windows = true;            ///< pass windows, on the host; changes no value
};

/// One pass as it ran: its listing only where it changed something.
struct PassRecord {
  std::string name;
  double seconds = 0;
  std::string listing;
};

struct Compilation {
  ir::Program physical;  ///< after absorb: what the reference executes
  ir::KernelSet kernels;
  std::vector<PassRecord> passes;
};

/// A forward run that keeps what its gradient needs, and the step back.
struct AdjointCompilation {
  ir::Adjoint adjoint;
  Compilation forward;   ///< computes what is to be kept beside the fields, whose values it does not change
  Compilation backward;  ///< `physical` is the adjoint program
};

/// `unscaled`: see differentiate; `rebuilt`: see rebuild. Throws UserError where an equation has no adjoint,
/// or no step backwards in time.
AdjointCompilation compile_adjoint(const EquationDefinition& definition, const PipelineOptions& options,
                                   bool unscaled = false, bool rebuilt = false);

/// A forward run and its step undone, which begins with the forward step's scalars and coefficients.
struct ReversibleCompilation {
  Compilation forward;
  std::optional<Compilation> reverse;  ///< see reversed_step
  std::string no_reverse;              ///< why there is none, in words
};

/// Both, or the forward step alone where no other can be derived.
ReversibleCompilation compile_reversible(const EquationDefinition& definition,
                                         const PipelineOptions& options);

/// The step of a wave field with its derivative along a perturbation of the models.
struct BornCompilation {
  ir::Program forward;  ///< what was linearised: its sources and receivers are a shot's own
  ir::Tangent tangent;
  Compilation step;  ///< `physical` is the tangent's program
};

/// Throws UserError where an equation has no linearised step.
BornCompilation compile_born(const EquationDefinition& definition, const PipelineOptions& options);

/// Equation text to kernels. Deterministic: the same definition and options give the same result in any
/// process.
Compilation compile(const EquationDefinition& definition, const PipelineOptions& options);

}  // namespace ondula::passes
