// The set of standalone files.
// SPDX-License-Identifier: MIT
#include "compiler/emit/standalone.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/emit/cuda_manifest.hpp"
#include "compiler/emit/standalone_context.hpp"
#include "compiler/error.hpp"
#include "templates/templates.hpp"

namespace ondula::emit {
namespace {

std::string file_manifest(const StandaloneContext& c) {
  auto out =
      nlohmann::ordered_json::parse(c.cuda != nullptr ? cuda_manifest(*c.cuda) : manifest(c.set, c.real));
  out["version"] = c.names.version;
  out["prefix"] = c.names.prefix;
  out["backend"] = c.cuda != nullptr ? "cuda" : "host";
  for (const StandaloneArray& array : c.arrays) out["arrays"].push_back(array.member);
  for (const StandalonePart& part : c.parts) {
    if (part.sweep >= 0) out["step"].push_back({{"call", c.launcher(part.sweep)}});
    if (part.injection >= 0) {
      const ir::Injection& injection = c.injection(part.injection);
      out["step"].push_back({{"source", injection.source}, {"to", c.written(injection.field)}});
    }
    if (!part.images.empty()) out["step"].push_back({{"call", c.images_launcher(part)}});
  }
  return out.dump(1) + "\n";
}

constexpr const char* tiles_note =
    " Their tiles are cut for a cache of 1 MiB:\n  `-DONDULA_TILE_BYTES=...` for the set-up file fits them "
    "to "
    "yours.";

std::vector<StandaloneFile> files(const StandaloneContext& c) {
  const std::string base = c.base();
  const bool cuda = c.cuda != nullptr;
  const std::string architecture = cuda ? std::to_string(c.cuda->target.sm) : "";
  const auto with_names = [&](const char* text) {
    return filled(text, {{"P", c.symbol()},
                         {"BASE", base},
                         {"VERSION", c.names.version},
                         {"EQUATION", c.program().equation},
                         {"DESCRIPTION", c.program().description},
                         {"AXES", fmt::format("{}", fmt::join(c.program().axes, ", "))},
                         {"ORDER", std::to_string(c.program().order)},
                         {"DTYPE", c.real == Real::float32 ? "float32" : "float64"},
                         {"SM", architecture},
                         {"TILES", c.dims() == 3 ? tiles_note : ""},
                         {"SURFACE",
                          c.program().no_surface.empty() ? "" : " (refused: " + c.program().no_surface + ")"},
                         {"TOLERANCE", c.real == Real::float32 ? "2e-5" : "1e-13"}});
  };
  const std::string suffix = cuda ? ".cu" : ".cpp";
  const std::string kernels = cuda ? standalone_cuda_kernels(c) : standalone_host_kernels(c);
  return {
      {base + ".h", standalone_header(c)},
      {base + "_forward" + suffix, kernels},
      {base + "_setup.cpp", standalone_setup(c)},
      {"example" + suffix, standalone_example(c)},
      {"example_case.h", standalone_case_header(c)},
      {"manifest.json", file_manifest(c)},
      {"README.md", with_names(cuda ? templates::standalone_readme_cuda : templates::standalone_readme_host)},
      {"CMakeLists.txt",
       with_names(cuda ? templates::standalone_cmake_cuda : templates::standalone_cmake_host)}};
}

}  // namespace

std::vector<StandaloneFile> standalone_host(const ir::KernelSet& set, Real real, const StandaloneNames& names,
                                            const StandaloneCase& example) {
  return files({set, nullptr, real, names, example});
}

std::vector<StandaloneFile> standalone_cuda(const ir::CudaProgram& program, Real real,
                                            const StandaloneNames& names, const StandaloneCase& example) {
  return files({program.set, &program, real, names, example});
}

}  // namespace ondula::emit
