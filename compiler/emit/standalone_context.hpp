// What the texts of standalone sources share: the arrays, one member of their structs for each, and names.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/emit/standalone.hpp"

namespace ondula::emit {

/// One array, called by the kernels' own name for it. Which struct it is in, `holder` says.
struct StandaloneArray {
  std::string member;
  ir::ArrayArgument argument;  ///< slot 0 where both levels are one array
  std::string holder = "arrays";
  bool kept = false;  ///< stands where steps are kept
  bool is_memory() const { return argument.kind == ir::ArrayKind::field && argument.side >= 0; }
  bool is_profile() const { return argument.kind == ir::ArrayKind::profile; }
  bool is_coefficient() const { return argument.kind == ir::ArrayKind::coefficient; }
};

/// A part of a step: one of these.
struct StandalonePart {
  int sweep = -1;                   ///< index into the set's kernels
  int injection = -1;               ///< index into the program's operations
  std::vector<std::string> looks;   ///< fields that are looked at here, in an adjoint's step
  std::vector<ir::Ring> rings;      ///< filled together
  std::vector<std::string> images;  ///< fields whose halos are filled together
};

/// One direction.
struct StandaloneStep {
  const ir::KernelSet& set;
  const ir::CudaProgram* cuda;  ///< null for the host
  std::vector<StandalonePart> parts;

  StandaloneStep(const ir::KernelSet& set, const ir::CudaProgram* cuda);
  const ir::Program& program() const { return set.program; }
  std::string direction() const { return set.program.direction; }
  /// A step back finds a second-order field's levels in each other's arrays: the addresses changed places.
  bool back() const { return direction() == "reverse"; }
  bool keeping() const { return direction() == "keeping"; }
  bool adjoint() const { return direction() == "adjoint"; }
  const ir::Injection& injection(int operation) const;
  /// Fields whose halo is filled, in order.
  std::vector<std::string> imaged() const;
  std::vector<ir::Ring> rings() const;
  /// Whether sources are taken off a field, which the forward step adds them to.
  bool takes_off(const ir::Program& forward, const ir::Injection& injection) const;
};

struct StandaloneContext {
  StandaloneStep forward;
  std::optional<StandaloneStep> reverse;
  const StandaloneGradient* gradient;              ///< null: none
  std::optional<StandaloneStep> keeping, adjoint;  ///< its steps
  Real real;
  const StandaloneNames& names;
  const StandaloneCase& example;
  std::vector<StandaloneArray> arrays;        ///< of all directions
  std::vector<ir::Coefficient> coefficients;  ///< likewise
  std::vector<ir::Scalar> scalars;

  /// Throws InternalError where two kernels call one array differently, or a step is of another form.
  StandaloneContext(StandaloneStep forward, std::optional<StandaloneStep> reverse,
                    const StandaloneGradient* gradient, Real real, const StandaloneNames& names,
                    const StandaloneCase& example);

  bool cuda() const { return forward.cuda != nullptr; }
  const ir::Program& program() const { return forward.program(); }
  std::vector<const StandaloneStep*> steps() const;
  int dims() const { return program().dims(); }
  std::string axis(int a) const { return program().axes[static_cast<std::size_t>(a)]; }
  std::string real_name() const { return real == Real::float32 ? "float" : "double"; }
  std::string base() const;    ///< "acoustic_2d_o8", of file names
  std::string symbol() const;  ///< the same with the prefix, of external names
  int halo() const;            ///< cells around fields and coefficients
  bool first_order() const;    ///< a velocity-stress system: decides the images of a rigid wall

  /// "sweep0" of "acoustic_2d_o8_forward_sweep0", "reverse_sweep0": what belongs to a kernel is called so.
  std::string short_name(const std::string& kernel) const;
  /// "my_acoustic_2d_o8_forward_sweep0": the launcher of a sweep.
  std::string launcher(const StandaloneStep& step, int sweep) const {
    return names.prefix + step.set.kernels[static_cast<std::size_t>(sweep)].name;
  }
  /// The launcher of a part that is no injection.
  std::string launcher(const StandaloneStep& step, const StandalonePart& part) const;
  /// The last argument of launchers, with a comma: a stream, or nothing.
  std::string stream_parameter() const { return cuda() ? ", void* stream" : ""; }
  /// The arguments of launchers that follow the plan, as they are declared; of a step's.
  std::string array_parameters(const StandaloneStep& step) const;
  std::string result() const { return cuda() ? "int" : "void"; }

  /// The array of an argument.
  const StandaloneArray& array(const StandaloneStep& step, const ir::ArrayArgument& argument) const;
  /// The member that holds it.
  std::string member(const StandaloneStep& step, const ir::ArrayArgument& argument) const {
    return array(step, argument).member;
  }
  /// The member that holds a field as it is between two steps, or as a step leaves it.
  std::string current(const std::string& field) const { return current(forward, field); }
  std::string current(const StandaloneStep& step, const std::string& field) const;
  std::string written(const StandaloneStep& step, const std::string& field) const;
  /// A comment line above a sweep back, where its arrays are not those of the same name; else nothing.
  std::string changed_places(const StandaloneStep& step) const;
  /// The expression of a memory variable's layout, in set-up code.
  std::string memory_layout(const StandaloneStep& step, const ir::ArrayArgument& argument) const;
  /// How a step's layers are cut, in set-up code.
  static std::string cut(const StandaloneStep& step) { return step.adjoint() ? "back_cut" : "cut"; }
  /// The name of a field's description in set-up code: "at_v_z"; in steps back "back_v_z".
  static std::string description(const StandaloneStep& step, const std::string& field);
  /// The plan's member with the images of a field.
  static std::string images(const StandaloneStep& step, const std::string& field);
  /// How far beyond the grid any store of a kernel reaches.
  static int beyond(const StandaloneStep& step, const ir::Kernel& kernel);
  /// The member of what is kept of a step.
  static std::string kept(const ir::Save& save);
};

/// Occurrences of @KEY@ replaced.
std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& values);

/// "v.z" as an identifier: v_z.
std::string plain_identifier(std::string name);

/// The texts of the files. `head`: comment lines on what the files compute.
std::string standalone_head(const StandaloneContext& context);
std::string standalone_header(const StandaloneContext& context);
std::string standalone_setup(const StandaloneContext& context);
std::string standalone_host_kernels(const StandaloneContext& context, const StandaloneStep& step);
std::string standalone_cuda_kernels(const StandaloneContext& context, const StandaloneStep& step);
std::string standalone_example(const StandaloneContext& context);
/// The gradient: declarations, set-up, the functions that bind what is kept, and its example.
std::string standalone_gradient_header(const StandaloneContext& context);
std::string standalone_gradient_setup(const StandaloneContext& context);
std::string standalone_kept_functions(const StandaloneContext& context);
std::string standalone_gradient_example(const StandaloneContext& context);
std::string standalone_gradient_case(const StandaloneContext& context);
/// One step in its program's order, as the examples run it.
std::string standalone_step_text(const StandaloneContext& context, const StandaloneStep& step);
std::string standalone_case_header(const StandaloneContext& context);

/// Set-up functions place_NAME(const Grid*, Plan*), which fill the arguments of each kernel; their names; and
/// what the plan holds for them.
std::string standalone_host_places(const StandaloneContext& context, const StandaloneStep& step);
std::string standalone_cuda_places(const StandaloneContext& context, const StandaloneStep& step);
std::vector<std::string> standalone_places(const StandaloneContext& context, const StandaloneStep& step);
std::string standalone_plan_members(const StandaloneContext& context, const StandaloneStep& step);

/// The ring, where there is a step back: its members of the plan, its depths as constants with the type of
/// its boxes, the calls that place it; and, beside the kernels of the step back, the functions that keep and
/// restore it.
std::string standalone_ring_members(const StandaloneContext& context);
std::string standalone_ring_depths(const StandaloneContext& context);
std::string standalone_ring_places(const StandaloneContext& context);
std::string standalone_ring_functions(const StandaloneContext& context);

/// The declaration of the factor of a source, without its end; and whether it takes models and a node.
std::string factor_declaration(const StandaloneContext& context, const ir::Injection& injection);
bool factor_needs_models(const ir::Injection& injection);

}  // namespace ondula::emit
