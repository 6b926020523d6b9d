// Writes standalone kernel sources, and the numbers their example must find.
// SPDX-License-Identifier: MIT
#include "tools/generate.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <system_error>

#include "compiler/emit/standalone.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/cuda_schedule.hpp"
#include "compiler/passes/standalone_steps.hpp"
#include "runtime/jit/clang_library.hpp"
#include "runtime/jit/cuda_architecture.hpp"
#include "runtime/standalone_values.hpp"
#include "tools/session.hpp"

namespace ondula::tools {
namespace {

emit::Real real_of(const std::string& dtype) {
  if (dtype == "float32") return emit::Real::float32;
  if (dtype == "float64") return emit::Real::float64;
  throw UserError(fmt::format("--dtype: found \"{}\"; allowed: float32, float64", dtype));
}

void check_options(const GenerateCommand& command) {
  if (command.backend != "host" && command.backend != "cuda")
    throw UserError(fmt::format("--backend: found \"{}\"; allowed: host, cuda", command.backend));
  if (command.backend == "host" && !command.arch.empty())
    throw UserError("--arch belongs to --backend cuda: host sources are for any CPU");
  const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const std::string& prefix = command.prefix;
  if (!std::all_of(prefix.begin(), prefix.end(), fits) ||
      (!prefix.empty() && std::isdigit(static_cast<unsigned char>(prefix[0])) != 0)) {
    throw UserError(fmt::format(
        "--prefix: found \"{}\"; allowed: letters, digits and underscores, not starting with a digit",
        prefix));
  }
}

/// Before anything is computed: the folder can be written to, and no file of `names` is in the way.
void check_directory(const GenerateCommand& command) {
  std::error_code error;
  const std::filesystem::path directory(command.directory);
  if (!std::filesystem::exists(directory, error)) return;
  if (!std::filesystem::is_directory(directory, error))
    throw UserError(fmt::format("{} is not a directory", command.directory));
  const bool empty = std::filesystem::is_empty(directory, error);
  if (error) throw UserError(fmt::format("cannot read {}: {}", command.directory, error.message()));
  if (!empty && command.existing == io::Existing::refuse) {
    throw UserError(fmt::format(
        "{} is not empty; --force writes into it, over files of the same names; or name another folder",
        command.directory));
  }
}

/// The place of the parenthesis that closes the one at `open`.
std::size_t closing(const std::string& text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at;
  }
  return text.size();
}

/// Without what stands in a coefficient's place on free surfaces, with differences as such, in lines that
/// fit.
std::string readable(std::string line) {
  const std::string surface = "surface(";
  for (std::size_t at = 0; (at = line.find(surface)) != std::string::npos;) {
    const std::size_t end = closing(line, at + surface.size() - 1), other = line.find(" | ", at);
    line.replace(at, end + 1 - at,
                 line.substr(at + surface.size() - 1, other - at - surface.size() + 1) + ")");
  }
  line = std::regex_replace(line, std::regex(R"(\+ \(-1\)\*)"), "- ");
  line = std::regex_replace(line, std::regex(R"(\+ \(-(\d+)\)\*)"), "- $1*");
  std::string lines;
  while (line.size() > 88) {
    const std::size_t sum = line.rfind(" + ", 88), difference = line.rfind(" - ", 88);
    const std::size_t cut =
        std::max(sum == std::string::npos ? 0 : sum, difference == std::string::npos ? 0 : difference);
    if (cut < 12) break;
    lines += line.substr(0, cut) + "\n//         ";
    line.erase(0, cut + 1);
  }
  return lines + line;
}

/// The updates in a program's listing, for people: all, or those outside the layers.
std::vector<std::string> updates(const std::string& listing, bool layers) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = listing.find('\n', begin)) != std::string::npos; begin = end + 1) {
    std::string line = listing.substr(begin, end - begin);
    const std::string head = "  update ", tail = "   on live";
    if (!line.starts_with(head) || (!layers && !line.ends_with(tail))) continue;
    line.erase(0, head.size());
    if (line.ends_with(tail)) line.resize(line.size() - tail.size());
    lines.push_back(readable(std::move(line)));
  }
  return lines;
}

/// Those of a step as pass `name` leaves them.
std::vector<std::string> equations(const passes::Compilation& compilation, const std::string& name) {
  for (const passes::PassRecord& pass : compilation.passes) {
    if (pass.name == name) return updates(pass.listing, true);
  }
  return {};
}

struct Generated {
  std::vector<emit::StandaloneFile> files;
  std::string no_reverse,
      no_gradient;  ///< why there is no step back, or no adjoint; empty where there is one
};

/// Without the folders of the author's file: what is written does not depend on where that lies.
std::string without_folders(const std::string& reason) {
  return std::regex_replace(reason, std::regex(R"(\S*/([^/\s]+:\d+))"), "$1");
}

Generated sources(const GenerateCommand& command, bool clang) {
  const EquationDefinition definition = equation_of(command.equation);
  const emit::Real real = real_of(command.dtype);
  const bool cuda = command.backend == "cuda";
  passes::PipelineOptions options;
  options.axes = default_axes(command.dims);
  options.order = command.order;
  options.dumps = true;
  options.target = cuda ? passes::Target::cuda : passes::Target::host;
  const passes::StandaloneCompilation all = passes::compile_standalone(definition, options);
  const passes::Compilation& forward = all.plain.forward;
  const auto& reverse = all.plain.reverse;
  emit::StandaloneCase example = emit::standalone_case(forward.kernels.program);
  example.values = standalone_values(forward, example);
  if (!cuda && clang)
    example.run_values = standalone_run_values(forward, example,
                                               real == emit::Real::float32 ? DType::float32 : DType::float64);
  if (all.gradient) example.gradient = standalone_gradient(*all.gradient, example);
  emit::StandaloneNames names{command.prefix,
                              jit::ondula_version(),
                              equations(forward, "discretize_time"),
                              {},
                              without_folders(all.plain.no_reverse),
                              {},
                              without_folders(all.no_gradient)};
  if (reverse) names.reversed = equations(*reverse, "reversed_step");
  if (all.gradient) names.adjoint = updates(ir::dump(all.gradient->adjoint.program), false);
  std::optional<emit::StandaloneGradient> gradient;
  if (all.gradient)
    gradient.emplace(all.gradient->adjoint, all.gradient->forward.kernels, all.gradient->backward.kernels);
  Generated result{{}, names.no_reverse, names.no_gradient};
  if (!cuda) {
    result.files = emit::standalone_host(forward.kernels, reverse ? &reverse->kernels : nullptr, real, names,
                                         example, gradient ? &*gradient : nullptr);
    return result;
  }
  const auto architecture = jit::parse_architecture(command.arch.empty() ? "sm_90" : command.arch);
  const ir::CudaTarget target{architecture.number(), real == emit::Real::float32 ? 4 : 8, 64};
  std::optional<ir::CudaProgram> back, keeping, adjoint;
  if (reverse) back = passes::cuda_schedule(reverse->kernels, target);
  if (gradient) {
    keeping = passes::cuda_schedule(gradient->keeping, target);
    adjoint = passes::cuda_schedule(gradient->back, target);
    gradient->cuda_keeping = &*keeping;
    gradient->cuda_back = &*adjoint;
  }
  result.files =
      emit::standalone_cuda(passes::cuda_schedule(forward.kernels, target), back ? &*back : nullptr, real,
                            names, example, gradient ? &*gradient : nullptr);
  return result;
}

bool is_code(const std::string& name) {
  return name.ends_with(".cpp") || name.ends_with(".cu") || name.ends_with(".h");
}

/// Lines that are comments broken at spaces, so that laying the text out joins none of them.
std::string broken_comments(const std::string& text) {
  constexpr std::size_t most = 96;
  std::string out;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    std::string line = text.substr(begin, end - begin);
    while (line.starts_with("// ") && line.size() > most) {
      const std::size_t cut = line.rfind(' ', most);
      if (cut == std::string::npos || line.find_first_not_of(" /") >= cut) break;
      out += line.substr(0, cut) + "\n";
      line = "//     " + line.substr(cut + 1);
    }
    out += line + "\n";
  }
  return out;
}

}  // namespace

CLI::App* add_generate_command(CLI::App& program, GenerateCommand& command) {
  CLI::App* generate = program.add_subcommand(
      "generate",
      "standalone sources of a step, a step back and a gradient, with an example and its numbers");
  generate
      ->add_option("EQ", command.equation,
                   "an equation's name (`ondula list`), or a C++ file that states one")
      ->required();
  generate->add_option("--dims", command.dims, "1, 2 or 3")->capture_default_str();
  generate->add_option("--order", command.order, "accuracy of the stencils: 2, 4, ... 16")
      ->capture_default_str();
  generate->add_option("--dtype", command.dtype, "float32 or float64")->capture_default_str();
  generate->add_option("--backend", command.backend, "host or cuda")->capture_default_str();
  generate->add_option("--arch", command.arch,
                       "what CUDA sources are arranged for, for example sm_90 (the default)");
  generate->add_option("--prefix", command.prefix, "put before every external name");
  generate->add_option("-o,--output", command.directory, "the folder to write to")->required();
  add_json_option(*generate, command.voice);
  generate->add_flag("-q,--quiet", command.voice.quiet, "say nothing but errors");
  generate->add_flag_callback(
      "--force", [&command] { command.existing = io::Existing::replace; },
      "write into a folder that is not empty, over files of the same names");
  return generate;
}

void generate_sources(const GenerateCommand& command) {
  check_options(command);
  check_directory(command);
  const jit::ClangStatus clang = jit::inspect_clang();
  Generated generated = sources(command, clang.usable);
  std::vector<emit::StandaloneFile>& files = generated.files;
  for (emit::StandaloneFile& file : files) {
    if (is_code(file.name)) file.text = broken_comments(file.text);
  }
  if (clang.usable) {
    const jit::ClangLibrary library;
    for (emit::StandaloneFile& file : files) {
      if (is_code(file.name)) file.text = library.format(file.name, file.text);
    }
  }
  std::error_code error;
  std::filesystem::create_directories(command.directory, error);
  if (error)
    throw UserError(fmt::format("cannot make the directory {}: {}", command.directory, error.message()));
  nlohmann::ordered_json answer;
  answer["directory"] = command.directory;
  for (const emit::StandaloneFile& file : files) {
    const std::string path = (std::filesystem::path(command.directory) / file.name).string();
    io::write_text(path, file.text, command.existing);
    answer["files"].push_back(file.name);
    if (!command.voice.json && !command.voice.quiet) fmt::print("{}\n", path);
  }
  if (!generated.no_reverse.empty()) {
    answer["no_reverse"] = generated.no_reverse;
    if (!command.voice.json && !command.voice.quiet)
      fmt::print("no step back is written: {}\n", generated.no_reverse);
  }
  if (!generated.no_gradient.empty()) {
    answer["no_gradient"] = generated.no_gradient;
    if (!command.voice.json && !command.voice.quiet)
      fmt::print("no gradient is written: {}\n", generated.no_gradient);
  }
  if (command.voice.json) fmt::print("{}\n", answer.dump(2));
  if (!clang.usable && !command.voice.quiet)
    fmt::print(stderr, "warning: the sources are not formatted: {}\n", clang.problem);
}

}  // namespace ondula::tools
