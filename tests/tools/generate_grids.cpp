// Generated sources on other grids than the one they ship: every kind of face, narrow grids, layers of any
// width. SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <fstream>

#include "compiler/emit/standalone.hpp"
#include "compiler/passes/cuda_schedule.hpp"
#include "compiler/passes/standalone_steps.hpp"
#include "equations/equations.hpp"
#include "runtime/standalone_values.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/generated.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

namespace fs = std::filesystem;
using Faces = std::array<std::array<FaceKind, 2>, ir::max_axes>;

/// Nodes, faces, and the width of absorbing layers.
struct GridCase {
  ir::Extents shape;
  Faces faces;
  std::int64_t width = 5;
};

/// The shipped case on another grid: sources in the middle, probes beside them and at the first node along
/// each axis.
emit::StandaloneCase on_grid(const ir::Program& program, const GridCase& grid) {
  emit::StandaloneCase c = emit::standalone_case(program);
  ir::Extents middle{}, near{}, first{};
  for (int a = 0; a < program.dims(); ++a) {
    const auto axis = static_cast<std::size_t>(a);
    c.domain.shape[axis] = grid.shape[axis];
    c.domain.faces[axis] = grid.faces[axis];
    for (std::size_t side = 0; side < 2; ++side)
      c.domain.pad[axis][side] = grid.faces[axis][side] == FaceKind::absorbing ? grid.width + a : 0;
    middle[axis] = c.domain.pad[axis][0] + grid.shape[axis] / 2;
    near[axis] = middle[axis] + 1;
    first[axis] = c.domain.pad[axis][0] + 1;
  }
  for (emit::StandaloneSource& source : c.sources) source.node = middle;
  for (std::size_t p = 0; p < c.probes.size(); p += emit::standalone_probes) {
    c.probes[p].node = near;
    c.probes[p + 1].node = first;
    c.probes[p + 2].node = middle;
  }
  return c;
}

std::vector<emit::StandaloneFile> sources(const passes::StandaloneCompilation& all, bool cuda,
                                          const emit::StandaloneCase& c) {
  const emit::StandaloneNames names{"", "tested", {}, {}, {}};
  const ir::KernelSet& forward = all.plain.forward.kernels;
  const ir::KernelSet& reverse = all.plain.reverse.value().kernels;
  const passes::AdjointCompilation& both = all.gradient.value();
  emit::StandaloneGradient gradient{both.adjoint, both.forward.kernels, both.backward.kernels};
  if (!cuda) return emit::standalone_host(forward, &reverse, emit::Real::float64, names, c, &gradient);
  const ir::CudaTarget target{90, 8, 64};
  const ir::CudaProgram back = passes::cuda_schedule(reverse, target);
  const ir::CudaProgram keeping = passes::cuda_schedule(gradient.keeping, target);
  const ir::CudaProgram adjoint = passes::cuda_schedule(gradient.back, target);
  gradient.cuda_keeping = &keeping;
  gradient.cuda_back = &adjoint;
  return emit::standalone_cuda(passes::cuda_schedule(forward, target), &back, emit::Real::float64, names, c,
                               &gradient);
}

/// Kernels and set-up are compiled once, and run on every grid.
void check_grids(const EquationDefinition& equation, int dims, int order, bool cuda,
                 const std::vector<GridCase>& grids) {
  CAPTURE(equation.name());
  CAPTURE(dims);
  CAPTURE(cuda);
  passes::PipelineOptions options;
  options.axes = default_axes(dims);
  options.order = order;
  options.target = cuda ? passes::Target::cuda : passes::Target::host;
  const passes::StandaloneCompilation all = passes::compile_standalone(equation, options);
  TemporaryDirectory directory;
  const fs::path folder = directory.path();
  const std::string suffix = cuda ? "_cu.cpp" : ".cpp";
  const std::string compiler = cuda ? cuda_stand_in_compiler : strict_compiler;
  const std::string base = equation.name() + "_" + std::to_string(dims) + "d_o" + std::to_string(order);
  for (std::size_t g = 0; g < grids.size(); ++g) {
    CAPTURE(g);
    emit::StandaloneCase c = on_grid(all.plain.forward.kernels.program, grids[g]);
    c.values = standalone_values(all.plain.forward, c);
    c.gradient = standalone_gradient(all.gradient.value(), c);
    for (const emit::StandaloneFile& file : sources(all, cuda, c))
      std::ofstream(folder / file.name) << file.text;
    std::string kernels = base + "_setup.cpp";
    for (const std::string direction : {"_forward", "_reverse", "_keeping", "_adjoint"}) {
      if (cuda && g == 0) on_cpu(folder, base + direction);
      kernels += " " + base + direction + suffix;
    }
    for (const std::string example : {"example", "example_gradient"}) {
      if (cuda) on_cpu(folder, example);
    }
    if (g == 0) REQUIRE(shell(folder, compiler + "-c " + kernels) == 0);
    const int status = shell(folder, compiler + "-o example example" + suffix + " example_gradient" + suffix +
                                         " " + base + "_*.o && ./example");
    INFO(read_file(folder / "output.txt"));
    CHECK(status == 0);
    CHECK(undone(folder) <= 1e-12);
  }
}

constexpr auto layer = FaceKind::absorbing;
constexpr auto open = FaceKind::free_surface;
constexpr auto wall = FaceKind::rigid;
constexpr auto round = FaceKind::periodic;

/// In 3-D the third axis repeats the second.
std::vector<GridCase> grids(int dims) {
  const ir::Extents shape = dims == 3 ? ir::Extents{9, 8, 11} : ir::Extents{11, 13, 1};
  std::vector<GridCase> all;
  for (const auto& pair :
       {std::array{open, open}, {wall, wall}, {round, round}, {wall, layer}, {layer, open}})
    all.push_back({shape, {{pair, {layer, layer}, pair}}});
  all.push_back({shape, {{{layer, wall}, {open, open}, {open, wall}}}});
  all.push_back({{5, 5, 5}, {{{layer, layer}, {layer, layer}, {layer, layer}}}, 1});  // layers meet
  all.push_back({{5, 70, 40}, {{{open, wall}, {layer, layer}, {layer, layer}}}, 17});
  return all;
}

}  // namespace

TEST_CASE("generated sources on other grids: every kind of face, narrow grids, one cell of layer and many") {
  if (!full_matrices()) {
    const std::vector<GridCase> all = grids(2);
    check_grids(equations::elastic(), 2, 4, false, {all[2], all[3], all[5], all[6]});
    return;
  }
  for (const bool cuda : {false, true}) {
    for (int dims = 1; dims <= 3; ++dims) {
      check_grids(equations::acoustic(), dims, 8, cuda, grids(dims));
      check_grids(equations::acoustic_density(), dims, 4, cuda, grids(dims));
      check_grids(equations::elastic(), dims, 4, cuda, grids(dims));
    }
  }
}

TEST_CASE("generated CUDA sources on other grids") {
  const std::vector<GridCase> all = grids(2);
  check_grids(equations::acoustic(), 2, 8, true, {all[3], all[6]});
}

TEST_CASE("generated sources of nested derivatives on other grids") {
  const std::vector<GridCase> all = grids(2);
  check_grids(equations::acoustic_density(), 2, 8, false, {all[1], all[3]});
}

}  // namespace ondula::test
