// `ondula explain`: an equation after every pass, its kernels' text, and the work in them.
// SPDX-License-Identifier: MIT
#include "tools/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "compiler/emit/host_text.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/pipeline.hpp"
#include "runtime/domain.hpp"
#include "runtime/storage_facts.hpp"
#include "tools/explain_cuda.hpp"
#include "tools/session.hpp"

namespace ondula::tools {
namespace {

/// Built-in equations are compiled in a build folder, from where their files' paths start with "..".
std::string place(const ir::Location& location) {
  std::string path = std::filesystem::path(location.text()).lexically_normal().generic_string();
  while (path.starts_with("../")) path.erase(0, 3);
  return path;
}

void print_heading(const std::string& heading) { fmt::print("\n==== {} ====\n\n", heading); }

void print_equation(const EquationDefinition& definition, const EquationOptions& options) {
  const ir::Equation stated = definition.instantiate(default_axes(options.dims));
  fmt::print("{}: {}\n", stated.name, stated.description);
  for (const ir::Evolution& evolution : stated.evolutions)
    fmt::print("  {} evolves as stated at {}\n", evolution.field, place(evolution.location));
}

void print_passes(const passes::Compilation& compilation) {
  double total = 0;
  for (const passes::PassRecord& pass : compilation.passes) {
    print_heading(fmt::format("{} ({:.2f} ms)", pass.name, 1e3 * pass.seconds));
    fmt::print("{}", pass.listing.empty() ? "nothing changed\n" : pass.listing);
    total += pass.seconds;
  }
  fmt::print("\nall passes: {:.2f} ms\n", 1e3 * total);
}

void print_work(const passes::Compilation& compilation, int element) {
  print_heading("work per point");
  fmt::print("{:<18} {:<34} {:>6} {:>7} {:>6} {:>6} {:>11}\n", "kernel", "piece", "loads", "stores", "flops",
             "bytes", "flops/byte");
  for (const ir::Kernel& kernel : compilation.kernels.kernels) {
    for (std::size_t p = 0; p < kernel.pieces.size(); ++p) {
      const ir::Cost& cost = kernel.costs[p];
      const int bytes = cost.streams * element;
      fmt::print("{:<18} {:<34} {:>6} {:>7} {:>6} {:>6} {:>11.2f}\n", kernel.name,
                 kernel.pieces[p].comment.substr(0, 34), cost.loads, cost.stores, cost.flops, bytes,
                 bytes > 0 ? static_cast<double>(cost.flops) / bytes : 0.0);
    }
  }
  for (const ir::Kernel& kernel : compilation.kernels.kernels) {
    fmt::print("{} reads a halo of", kernel.name);
    for (std::size_t a = 0; a < compilation.physical.axes.size(); ++a)
      fmt::print("{} {} cells along {}", a == 0 ? "" : ",", kernel.halo[a], compilation.physical.axes[a]);
    fmt::print("\n");
  }
  fmt::print(
      "\nbytes: each array through memory once per sweep; loads: as written, most of them from cache\n");
}

/// The grid that --shape and --width describe: layers on every face.
ir::Domain domain_of(const EquationOptions& options) {
  const auto axes = default_axes(options.dims);
  if (options.shape.size() != axes.size())
    throw UserError(fmt::format("--shape: found {} numbers; allowed: {}, for {}", options.shape.size(),
                                axes.size(), fmt::join(axes, ", ")));
  if (options.width < 0) throw UserError(fmt::format("--width: found {}; allowed: 0 or more", options.width));
  Grid grid;
  grid.axes = axes;
  grid.shape = options.shape;
  grid.spacing.assign(axes.size(), 1.0);
  grid.origin.assign(axes.size(), 0.0);
  const Face face{options.width > 0 ? FaceKind::absorbing : FaceKind::rigid, options.width};
  grid.faces.assign(axes.size(), {face, face});
  return make_domain(grid, options.order);
}

/// The adjoint's choices, what is kept of each step, and how gradients follow.
void print_adjoint(const passes::AdjointCompilation& both, const EquationOptions& options, int element) {
  print_heading("the adjoint, and what it keeps");
  fmt::print("{}", ir::dump(both.adjoint));
  if (both.adjoint.handovers.empty()) {
    fmt::print("  full storage: {} bytes per padded point and step\n",
               both.adjoint.saves.size() * static_cast<std::size_t>(element));
  }
  for (const ir::Handover& handover : both.adjoint.handovers)
    fmt::print("  {}({}) begins as {}({}) ended\n", handover.rebuilt, handover.to, handover.field,
               handover.from);
  if (options.shape.empty()) return;
  const KeptBytes bytes =
      kept_bytes(both, domain_of(options), element == 4 ? DType::float32 : DType::float64);
  fmt::print("  bytes kept of a step: {}\n  bytes of a checkpoint: {}\n", bytes.step, bytes.checkpoint);
}

/// True for "adjoint".
bool backwards(const EquationOptions& options) {
  if (options.direction != "forward" && options.direction != "adjoint")
    throw UserError(fmt::format("--direction: found \"{}\"; allowed: forward, adjoint", options.direction));
  return options.direction == "adjoint";
}

/// True for boundary saving.
bool rebuilds(const EquationOptions& options, bool back) {
  if (options.memory != "full" && options.memory != "boundary")
    throw UserError(fmt::format("--memory: found \"{}\"; allowed: full, boundary", options.memory));
  if (!back && (options.memory != "full" || !options.shape.empty()))
    throw UserError("--memory and --shape belong to --direction adjoint: a forward run keeps nothing");
  return options.memory == "boundary";
}

emit::Real real_of(const std::string& dtype) {
  if (dtype == "float32") return emit::Real::float32;
  if (dtype == "float64") return emit::Real::float64;
  throw UserError(fmt::format("--dtype: found \"{}\"; allowed: float32, float64", dtype));
}

}  // namespace

void explain_equation(const EquationOptions& options) {
  const EquationDefinition definition = equation_of(options.equation);
  const emit::Real real = real_of(options.dtype);
  if (!(options.kappa >= 1))
    throw UserError(fmt::format("--kappa: found {}; allowed: 1 or more", options.kappa));
  if (options.backend == "cuda" && (options.memory != "full" || !options.shape.empty()))
    throw UserError("--memory and --shape belong to --backend host: what is kept is the same on both");
  if (options.backend == "cuda") return explain_cuda(definition, options, real);
  if (options.backend != "host")
    throw UserError(fmt::format("--backend: found \"{}\"; allowed: host, cuda", options.backend));
  if (!options.arch.empty() || !options.gpu.empty() || options.shots)
    throw UserError(
        "--arch, --gpu and --shots belong to --backend cuda: host kernels are for this machine's CPU");
  const passes::PipelineOptions pipeline{default_axes(options.dims), options.order, options.kappa > 1,
                                         !options.text};
  const int element = real == emit::Real::float32 ? 4 : 8;
  passes::AdjointCompilation both;
  const bool back = backwards(options);
  const bool rebuilt = rebuilds(options, back);
  if (back) both = passes::compile_adjoint(definition, pipeline, false, rebuilt);
  const passes::Compilation compilation =
      back ? std::move(both.backward) : passes::compile(definition, pipeline);
  const std::string text = emit::host_text(compilation.kernels, real);
  if (options.text) {
    fmt::print("{}", text);
    return;
  }
  print_equation(definition, options);
  if (back) {
    print_passes(both.forward);
    print_adjoint(both, options, element);
  }
  print_passes(compilation);
  print_heading("host text");
  fmt::print("{}", text);
  print_work(compilation, element);
}

}  // namespace ondula::tools
