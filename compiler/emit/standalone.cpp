// The set of standalone files.
// SPDX-License-Identifier: MIT
#include "compiler/emit/standalone.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
    if (!part.looks.empty()) {
      order.push_back({{"look", part.looks}});
      continue;
    }
    if (part.injection < 0) {
      order.push_back({{"call", c.launcher(step, part)}});
      continue;
    }
    const ir::Injection& injection = step.injection(part.injection);
    if (step.adjoint()) {
      order.push_back({{"residual", injection.source}, {"to", c.written(step, injection.field)}});
      if (!injection.times.empty()) order.back()["times"] = injection.times;
      continue;
    }
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

/// The steps of a gradient, what is kept, and the coefficients it passes through; or why there is none.
ordered_json gradient_manifest(const StandaloneContext& c) {
  ordered_json out;
  if (!c.adjoint) {
    out["refused"] = c.names.no_gradient;
    return out;
  }
  for (const ir::Save& save : c.gradient->adjoint.saves)
    out["kept"].push_back({{"member", StandaloneContext::kept(save)}, {"field", save.field}});
  for (const ir::CoefficientGradient& g : c.gradient->adjoint.gradients)
    out["coefficients"].push_back(ir::text(g.coefficient, c.program().axes));
  for (const StandaloneStep* step : {&*c.keeping, &*c.adjoint}) {
    const ordered_json program = program_manifest(c, *step);
    out[step->direction()] = {{"kernels", program.at("kernels")}, {"step", order_of(c, *step)}};
  }
  return out;
}

/// The functions a header declares, with their arguments in order.
ordered_json functions(const std::string& header) {
  ordered_json all;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = header.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string line = header.substr(begin, end - begin);
    const std::size_t open = line.find('(');
    if (line.starts_with("//") || line.starts_with("#") || line.starts_with(" ") ||
        open == std::string::npos || !line.ends_with(");"))
      continue;
    const std::size_t name = line.rfind(' ', open) + 1;
    ordered_json arguments = ordered_json::array();
    for (std::size_t at = open + 1; at < line.size() - 2;) {
      const std::size_t comma = std::min(line.find(", ", at), line.size() - 2);
      arguments.push_back(line.substr(at, comma - at));
      at = comma + 2;
    }
    all.push_back({{"name", line.substr(name, open - name)},
                   {"returns", line.substr(0, name - 1)},
                   {"arguments", std::move(arguments)}});
  }
  return all;
}

std::string file_manifest(const StandaloneContext& c, const std::vector<StandaloneFile>& files) {
  ordered_json out = program_manifest(c, c.forward);
  out["dims"] = c.dims();
  out["version"] = c.names.version;
  out["prefix"] = c.names.prefix;
  out["backend"] = c.cuda() ? "cuda" : "host";
  for (const StandaloneFile& file : files) out["files"].push_back(file.name);
  for (const ir::Parameter& parameter : c.program().parameters) out["units"][parameter.name] = parameter.unit;
  for (const ir::Field& field : c.program().fields) {
    if (field.strip_axis < 0) out["units"][field.name] = field.unit;
  }
  out["functions"] = functions(files.front().text);
  for (const StandaloneArray& array : c.arrays) {
    out[array.holder == "adjoint" ? "adjoint_arrays" : "arrays"].push_back(array.member);
  }
  out["step"] = order_of(c, c.forward);
  out["reverse"] = reverse_manifest(c);
  out["gradient"] = gradient_manifest(c);
  return out.dump(1) + "\n";
}

constexpr const char* tiles_note =
    " Their tiles are cut for a\n  cache of 1 MiB: `-DONDULA_TILE_BYTES=...` for the set-up file fits them "
    "to "
    "yours.";

constexpr const char* run_check =
    "It compares them bit for bit with what Ondula's own run found too: status 1 where one differs.\n";

/// The README's parts on the step back; where there is none, why.
std::vector<std::pair<std::string, std::string>> reverse_words(const StandaloneContext& c,
                                                               const std::string& suffix) {
  if (!c.reverse) {
    return {{"REVERSE_ROW", ""},
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
  return {{"REVERSE_ROW", fmt::format("| {} | the kernels of a step back, and the ring it needs |\n", file)},
          {"REVERSE_CHECK", templates::standalone_reverse_check},
          {"REVERSE", templates::standalone_reverse},
          {"RING", fmt::format("{}", fmt::join(fields, ";\n"))}};
}

std::string kept_words(const StandaloneContext& c) {
  std::vector<std::string> names;
  for (const ir::Save& save : c.gradient->adjoint.saves) names.push_back(StandaloneContext::kept(save));
  return fmt::format("{} ({})", names.size() == 1 ? "one array" : fmt::format("{} arrays", names.size()),
                     fmt::join(names, ", "));
}

/// The README's parts on the gradient; where there is none, why.
std::vector<std::pair<std::string, std::string>> gradient_words(const StandaloneContext& c,
                                                                const std::string& suffix) {
  const char* const steps = c.reverse ? "a step, and a step back" : "a step";
  if (!c.adjoint) {
    return {{"DIRECTIONS", steps},
            {"GRADIENT_ROWS", ""},
            {"GRADIENT_CHECK", ""},
            {"GRADIENT", "There is none for this equation: " + c.names.no_gradient + "\n"}};
  }
  const std::string keep = c.base() + "_keeping" + suffix, back = c.base() + "_adjoint" + suffix;
  const std::string both = c.reverse ? "a step, a step back" : "a step";
  return {{"DIRECTIONS", both + ", and a step of the adjoint"},
          {"GRADIENT_ROWS", fmt::format("| {} | the same step, whose result is kept for a gradient |\n"
                                        "| {} | the kernels of a step of the adjoint |\n",
                                        keep, back)},
          {"GRADIENT_CHECK", templates::standalone_gradient_check},
          {"GRADIENT", filled(templates::standalone_gradient, {{"KEPT", kept_words(c)}})}};
}

/// The sources of the library, then those of the example.
std::pair<std::vector<std::string>, std::vector<std::string>> source_names(const StandaloneContext& c,
                                                                           const std::string& suffix) {
  std::vector<std::string> library, example = {"example" + suffix};
  for (const StandaloneStep* step : c.steps()) library.push_back(c.base() + "_" + step->direction() + suffix);
  library.push_back(c.base() + "_setup.cpp");
  if (c.adjoint) example.push_back("example_gradient" + suffix);
  return {library, example};
}

/// A command that ends with these names, on several lines where one is too long.
std::string command(std::string line, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (line.size() + name.size() > 92) {
      text += line + " \\\n";
      line = std::string(7, ' ');
    }
    line += " " + name;
  }
  return text + line;
}

/// Lines of words, no longer than 98 columns; what is indented or in a table stays as it is.
std::string wrapped(const std::string& text) {
  std::string out;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    std::string line = text.substr(begin, end - begin);
    const bool item = line.starts_with("- ") || line.starts_with("  ");
    while (line.size() > 98 && !line.starts_with("    ") && !line.starts_with("|")) {
      const std::size_t cut = line.rfind(' ', 98);
      if (cut == std::string::npos || cut < 4) break;
      out += line.substr(0, cut) + "\n";
      line = (item ? "  " : "") + line.substr(cut + 1);
    }
    out += line + "\n";
  }
  return out;
}

/// The README's line that compiles the example.
std::string readme_command(const StandaloneContext& c, const std::string& suffix) {
  auto [library, all] = source_names(c, suffix);
  all.insert(all.end(), library.begin(), library.end());
  if (!c.cuda())
    return command("    g++ -std=c++17 -O3 -march=native -ffp-contract=off -Wno-psabi -o example", all);
  return command(
      fmt::format("    nvcc -std=c++17 -O3 --fmad=false -arch=sm_{} -o example", c.forward.cuda->target.sm),
      all);
}

std::vector<StandaloneFile> files(const StandaloneContext& c) {
  const std::string base = c.base();
  const std::string architecture = c.cuda() ? std::to_string(c.forward.cuda->target.sm) : "";
  const std::string suffix = c.cuda() ? ".cu" : ".cpp";
  const bool single = c.real == Real::float32;
  std::vector<std::pair<std::string, std::string>> values = reverse_words(c, suffix);
  const std::vector<std::pair<std::string, std::string>> others = {
      {"COMMAND", readme_command(c, suffix)},
      {"LIBRARY", fmt::format("{}", fmt::join(source_names(c, suffix).first, "\n  "))},
      {"PROGRAM", fmt::format("{}", fmt::join(source_names(c, suffix).second, " "))},
      {"P", c.symbol()},
      {"BASE", base},
      {"VERSION", c.names.version},
      {"EQUATION", c.program().equation},
      {"DESCRIPTION", c.program().description},
      {"AXES", fmt::format("{}", fmt::join(c.program().axes, ", "))},
      {"ORDER", std::to_string(c.program().order)},
      {"DTYPE", single ? "float32" : "float64"},
      {"SM", architecture},
      {"RUN_CHECK", c.example.run_values.empty() ? "" : run_check},
      {"TILES", c.dims() == 3 ? tiles_note : ""},
      {"SURFACE", c.program().no_surface.empty() ? "" : " (refused: " + c.program().no_surface + ")"},
      {"TOLERANCE", single ? "2e-5" : "1e-13"},
      {"REVERSED_TOLERANCE", single ? "1e-5" : "1e-12"}};
  const auto gradient = gradient_words(c, suffix);
  values.insert(values.end(), gradient.begin(), gradient.end());
  values.insert(values.end(), others.begin(), others.end());
  const auto kernels = [&](const StandaloneStep& step) {
    return StandaloneFile{base + "_" + step.direction() + suffix,
                          c.cuda() ? standalone_cuda_kernels(c, step) : standalone_host_kernels(c, step)};
  };
  std::vector<StandaloneFile> all = {{base + ".h", standalone_header(c)}};
  for (const StandaloneStep* step : c.steps()) all.push_back(kernels(*step));
  all.push_back({base + "_setup.cpp", standalone_setup(c)});
  all.push_back({"example" + suffix, standalone_example(c)});
  if (c.adjoint) all.push_back({"example_gradient" + suffix, standalone_gradient_example(c)});
  all.push_back({"example_case.h", standalone_case_header(c)});
  all.push_back({"README.md", wrapped(filled(c.cuda() ? templates::standalone_readme_cuda
                                                      : templates::standalone_readme_host,
                                             values))});
  all.push_back(
      {"CMakeLists.txt",
       filled(c.cuda() ? templates::standalone_cmake_cuda : templates::standalone_cmake_host, values)});
  all.push_back({"manifest.json", file_manifest(c, all)});
  return all;
}

}  // namespace

std::vector<StandaloneFile> standalone_host(const ir::KernelSet& forward, const ir::KernelSet* reverse,
                                            Real real, const StandaloneNames& names,
                                            const StandaloneCase& example,
                                            const StandaloneGradient* gradient) {
  std::optional<StandaloneStep> back;
  if (reverse != nullptr) back.emplace(*reverse, nullptr);
  return files({{forward, nullptr}, std::move(back), gradient, real, names, example});
}

std::vector<StandaloneFile> standalone_cuda(const ir::CudaProgram& forward, const ir::CudaProgram* reverse,
                                            Real real, const StandaloneNames& names,
                                            const StandaloneCase& example,
                                            const StandaloneGradient* gradient) {
  std::optional<StandaloneStep> back;
  if (reverse != nullptr) back.emplace(reverse->set, reverse);
  return files({{forward.set, &forward}, std::move(back), gradient, real, names, example});
}

}  // namespace ondula::emit
