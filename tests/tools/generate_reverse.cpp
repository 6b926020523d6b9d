// The step back among generated sources: for which equations it is written, and what is said where it is not.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "compiler/emit/standalone.hpp"
#include "compiler/passes/cuda_schedule.hpp"
#include "equations/equations.hpp"
#include "runtime/standalone_values.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/generated.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {

EQUATION(dying_wave, "a wave that loses some of itself in each step") {
  auto vp = parameter("vp", "m/s", positive);
  auto rho = parameter("rho", "1/s", nonnegative);
  auto v = vector("v", "m/s");
  auto f = scalar("f", "m/s");
  evolve(dt(v) = vp * grad(f) - rho * v);
  evolve(dt(f) = vp * div(v) + source(f));
}

namespace {

passes::ReversibleCompilation compiled(const EquationDefinition& equation, int dims, int order, bool cuda) {
  passes::PipelineOptions options;
  options.axes = default_axes(dims);
  options.order = order;
  options.target = cuda ? passes::Target::cuda : passes::Target::host;
  return passes::compile_reversible(equation, options);
}

std::vector<emit::StandaloneFile> written(const passes::ReversibleCompilation& both, bool cuda,
                                          const emit::StandaloneCase& example) {
  const emit::StandaloneNames names{"", "tested", {}, {}, both.no_reverse};
  const ir::KernelSet* const reverse = both.reverse ? &both.reverse->kernels : nullptr;
  if (!cuda) return emit::standalone_host(both.forward.kernels, reverse, emit::Real::float32, names, example);
  const ir::CudaTarget target{90, 4, 64};
  std::optional<ir::CudaProgram> back;
  if (reverse != nullptr) back = passes::cuda_schedule(*reverse, target);
  return emit::standalone_cuda(passes::cuda_schedule(both.forward.kernels, target), back ? &*back : nullptr,
                               emit::Real::float32, names, example);
}

/// The text of the file of that name; empty where there is none.
std::string text_of(const std::vector<emit::StandaloneFile>& files, const std::string& name) {
  const auto found = std::find_if(files.begin(), files.end(), [&](const auto& f) { return f.name == name; });
  return found == files.end() ? "" : found->text;
}

}  // namespace

TEST_CASE("`ondula generate` writes a step back for every equation, in 2-D and 3-D, of any order") {
  for (const auto& equation : {equations::acoustic(), equations::acoustic_density(), equations::elastic()}) {
    for (const int dims : {2, 3}) {
      for (const int order : {4, 8}) {
        for (const bool cuda : {false, true}) {
          const std::string base =
              equation.name() + "_" + std::to_string(dims) + "d_o" + std::to_string(order);
          CAPTURE(base);
          CAPTURE(cuda);
          const passes::ReversibleCompilation both = compiled(equation, dims, order, cuda);
          const auto files = written(both, cuda, emit::standalone_case(both.forward.kernels.program));
          const std::string header = text_of(files, base + ".h");
          const std::string kernels = text_of(files, base + "_reverse" + (cuda ? ".cu" : ".cpp"));
          for (const ir::Stage& stage : both.reverse.value().kernels.stages) {
            if (stage.kernel < 0) continue;
            const std::string call =
                base + "_reverse_sweep" + std::to_string(stage.kernel) + "(const " + base + "_plan* plan";
            CHECK(header.find(call) != std::string::npos);
            CHECK(kernels.find(call) != std::string::npos);
          }
          CHECK(kernels.find(base + "_keep_ring(") != std::string::npos);
          CHECK(text_of(files, "README.md").find(base + "_reverse") != std::string::npos);
          CHECK(text_of(files, "CMakeLists.txt").find(base + "_reverse") != std::string::npos);
        }
      }
    }
  }
}

TEST_CASE("`ondula generate` of an equation without a step back writes none and says why") {
  const passes::ReversibleCompilation both = compiled(dying_wave(), 2, 4, false);
  emit::StandaloneCase example = emit::standalone_case(both.forward.kernels.program);
  example.values = standalone_values(both.forward, example);
  const auto files = written(both, false, example);
  TemporaryDirectory directory;
  for (const emit::StandaloneFile& file : files) {
    CHECK(file.name.find("_reverse") == std::string::npos);
    CHECK(file.text.find("keep_ring") == std::string::npos);
    std::ofstream(directory.path() / file.name) << file.text;
  }
  const std::string why = "no step backwards in time is derived for v.";
  for (const char* const name : {"README.md", "dying_wave_2d_o4.h"})
    CHECK(text_of(files, name).find(why) != std::string::npos);
  const auto manifest = nlohmann::json::parse(text_of(files, "manifest.json"));
  CHECK(manifest.at("reverse").at("refused") == both.no_reverse);
  const int status = shell(directory.path(), strict_compiler + "-o example *.cpp && ./example");
  INFO(read_file(directory.path() / "output.txt"));
  CHECK(status == 0);
}

}  // namespace ondula::test
