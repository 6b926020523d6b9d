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

using nlohmann::ordered_json;

ordered_json program_manifest(const StandaloneContext& c, const StandaloneStep& step) {
  return ordered_json::parse(c.cuda() ? cuda_manifest(*step.cuda) : manifest(step.set, c.real));
}

ordered_json order_of(const StandaloneContext& c, const StandaloneStep& step) {
  ordered_json order;
  for (const StandalonePart& part : step.parts) {
    if (part.injection < 0) {
      order.push_back({{"call", c.launcher(step, part)}});
      continue;
    }
    const ir::Injection& injection = step.injection(part.injection);
    const bool off = step.back() && step.takes_off(c.program(), injection);
    order.push_back({{"source", injection.source}, {off ? "off" : "to", c.written(step, injection.field)}});
  }
  return order;
}

/// Its kernels, its order and its ring's depths, in half cells; or why there is none.
ordered_json reverse_manifest(const StandaloneContext& c) {
  ordered_json out;
  if (!c.reverse) {
    out["refused"] = c.names.no_reverse;
    return out;
  }
  const ordered_json program = program_manifest(c, *c.reverse);
  for (const char* const key : {"coefficients", "scalars", "kernels"}) out[key] = program.at(key);
  out["step"] = order_of(c, *c.reverse);
  for (const ir::Ring& ring : c.reverse->rings()) {
    ordered_json depths;
    for (int a = 0; a < c.dims(); ++a) {
      const auto axis = static_cast<std::size_t>(a);
      depths[c.axis(a)] = {{"outer", ring.outer[axis]}, {"inner", ring.inner[axis]}};
    }
    out["ring"].push_back({{"field", ring.field}, {"half_cells", std::move(depths)}});
  }
  return out;
}

std::string file_manifest(const StandaloneContext& c) {
  ordered_json out = program_manifest(c, c.forward);
  out["version"] = c.names.version;
  out["prefix"] = c.names.prefix;
  out["backend"] = c.cuda() ? "cuda" : "host";
  for (const StandaloneArray& array : c.arrays) out["arrays"].push_back(array.member);
  out["step"] = order_of(c, c.forward);
  out["reverse"] = reverse_manifest(c);
  return out.dump(1) + "\n";
}

constexpr const char* tiles_note =
    " Their tiles are cut for a cache of 1 MiB:\n  `-DONDULA_TILE_BYTES=...` for the set-up file fits them "
    "to "
    "yours.";

/// The README's parts on the step back; where there is none, why.
std::vector<std::pair<std::string, std::string>> reverse_words(const StandaloneContext& c,
                                                               const std::string& suffix) {
  if (!c.reverse) {
    return {{"DIRECTIONS", "the forward direction alone"},
            {"REVERSE_FILE", ""},
            {"REVERSE_ROW", ""},
            {"REVERSE_CHECK", ""},
            {"REVERSE", "There is none for this equation: " + c.names.no_reverse + "\n"}};
  }
  std::vector<std::string> fields;
  for (const ir::Ring& ring : c.reverse->rings()) {
    std::vector<std::string> along;
    for (int a = 0; a < c.dims(); ++a) {
      const auto axis = static_cast<std::size_t>(a);
      along.push_back(fmt::format("{} along {}", (ring.inner[axis] - ring.outer[axis]) / 2, c.axis(a)));
    }
    fields.push_back(fmt::format("{} ({})", ring.field, fmt::join(along, ", ")));
  }
  const std::string file = c.base() + "_reverse" + suffix;
  return {
      {"DIRECTIONS", "a step, and a step back"},
      {"REVERSE_FILE", " " + file},
      {"REVERSE_ROW", fmt::format("| {} | the kernels of a step back, and what keeps and restores the ring "
                                  "it needs |\n",
                                  file)},
      {"REVERSE_CHECK", templates::standalone_reverse_check},
      {"REVERSE", templates::standalone_reverse},
      {"RING", fmt::format("{}", fmt::join(fields, "; "))}};
}

std::vector<StandaloneFile> files(const StandaloneContext& c) {
  const std::string base = c.base();
  const std::string architecture = c.cuda() ? std::to_string(c.forward.cuda->target.sm) : "";
  const std::string suffix = c.cuda() ? ".cu" : ".cpp";
  const bool single = c.real == Real::float32;
  std::vector<std::pair<std::string, std::string>> values = reverse_words(c, suffix);
  const std::vector<std::pair<std::string, std::string>> others = {
      {"P", c.symbol()},
      {"BASE", base},
      {"VERSION", c.names.version},
      {"EQUATION", c.program().equation},
      {"DESCRIPTION", c.program().description},
      {"AXES", fmt::format("{}", fmt::join(c.program().axes, ", "))},
      {"ORDER", std::to_string(c.program().order)},
      {"DTYPE", single ? "float32" : "float64"},
      {"SM", architecture},
      {"TILES", c.dims() == 3 ? tiles_note : ""},
      {"SURFACE", c.program().no_surface.empty() ? "" : " (refused: " + c.program().no_surface + ")"},
      {"TOLERANCE", single ? "2e-5" : "1e-13"},
      {"REVERSED_TOLERANCE", single ? "1e-5" : "1e-12"}};
  values.insert(values.end(), others.begin(), others.end());
  const auto kernels = [&](const StandaloneStep& step) {
    return StandaloneFile{base + "_" + step.direction() + suffix,
                          c.cuda() ? standalone_cuda_kernels(c, step) : standalone_host_kernels(c, step)};
  };
  std::vector<StandaloneFile> all = {{base + ".h", standalone_header(c)}};
  for (const StandaloneStep* step : c.steps()) all.push_back(kernels(*step));
  all.push_back({base + "_setup.cpp", standalone_setup(c)});
  all.push_back({"example" + suffix, standalone_example(c)});
  all.push_back({"example_case.h", standalone_case_header(c)});
  all.push_back({"manifest.json", file_manifest(c)});
  all.push_back(
      {"README.md",
       filled(c.cuda() ? templates::standalone_readme_cuda : templates::standalone_readme_host, values)});
  all.push_back(
      {"CMakeLists.txt",
       filled(c.cuda() ? templates::standalone_cmake_cuda : templates::standalone_cmake_host, values)});
  return all;
}

}  // namespace

std::vector<StandaloneFile> standalone_host(const ir::KernelSet& forward, const ir::KernelSet* reverse,
                                            Real real, const StandaloneNames& names,
                                            const StandaloneCase& example) {
  std::optional<StandaloneStep> back;
  if (reverse != nullptr) back.emplace(*reverse, nullptr);
  return files({{forward, nullptr}, std::move(back), real, names, example});
}

std::vector<StandaloneFile> standalone_cuda(const ir::CudaProgram& forward, const ir::CudaProgram* reverse,
                                            Real real, const StandaloneNames& names,
                                            const StandaloneCase& example) {
  std::optional<StandaloneStep> back;
  if (reverse != nullptr) back.emplace(reverse->set, reverse);
  return files({{forward.set, &forward}, std::move(back), real, names, example});
}

}  // namespace ondula::emit
