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
#include "compiler/passes/pipeline.hpp"
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
  while (line.size() > 96) {
    const std::size_t sum = line.rfind(" + ", 96), difference = line.rfind(" - ", 96);
    const std::size_t cut =
        std::max(sum == std::string::npos ? 0 : sum, difference == std::string::npos ? 0 : difference);
    if (cut < 12) break;
    lines += line.substr(0, cut) + "\n//         ";
    line.erase(0, cut + 1);
  }
  return lines + line;
}

/// The updates of a step as pass `name` leaves them, for people.
std::vector<std::string> equations(const passes::Compilation& compilation, const std::string& name) {
  std::vector<std::string> lines;
  for (const passes::PassRecord& pass : compilation.passes) {
    if (pass.name != name) continue;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = pass.listing.find('\n', begin)) != std::string::npos; begin = end + 1) {
      std::string line = pass.listing.substr(begin, end - begin);
      const std::string head = "  update ", tail = "   on live";
      if (!line.starts_with(head)) continue;
      line.erase(0, head.size());
      if (line.ends_with(tail)) line.resize(line.size() - tail.size());
      lines.push_back(readable(std::move(line)));
    }
  }
  return lines;
}

struct Generated {
  std::vector<emit::StandaloneFile> files;
  std::string no_reverse;  ///< why there is no step back; empty where there is one
};

Generated sources(const GenerateCommand& command) {
  const EquationDefinition definition = equation_of(command.equation);
  const emit::Real real = real_of(command.dtype);
  const bool cuda = command.backend == "cuda";
  passes::PipelineOptions options;
  options.axes = default_axes(command.dims);
  options.order = command.order;
  options.dumps = true;
  options.target = cuda ? passes::Target::cuda : passes::Target::host;
  const passes::ReversibleCompilation both = passes::compile_reversible(definition, options);
  const passes::Compilation& forward = both.forward;
  emit::StandaloneCase example = emit::standalone_case(forward.kernels.program);
  example.values = standalone_values(forward, example);
  emit::StandaloneNames names{
      command.prefix, jit::ondula_version(), equations(forward, "discretize_time"), {}, both.no_reverse};
  if (both.reverse) names.reversed = equations(*both.reverse, "reversed_step");
  if (!cuda) {
    const ir::KernelSet* const back = both.reverse ? &both.reverse->kernels : nullptr;
    return {emit::standalone_host(forward.kernels, back, real, names, example), both.no_reverse};
  }
  const auto architecture = jit::parse_architecture(command.arch.empty() ? "sm_90" : command.arch);
  const ir::CudaTarget target{architecture.number(), real == emit::Real::float32 ? 4 : 8, 64};
  std::optional<ir::CudaProgram> back;
  if (both.reverse) back = passes::cuda_schedule(both.reverse->kernels, target);
  return {emit::standalone_cuda(passes::cuda_schedule(forward.kernels, target), back ? &*back : nullptr, real,
                                names, example),
          both.no_reverse};
}

bool is_code(const std::string& name) {
  return name.ends_with(".cpp") || name.ends_with(".cu") || name.ends_with(".h");
}

}  // namespace

CLI::App* add_generate_command(CLI::App& program, GenerateCommand& command) {
  CLI::App* generate = program.add_subcommand(
      "generate", "standalone sources of a step and a step back, with an example and its numbers");
  generate->add_option("EQ", command.equation, "an equation's name (`ondula list`)")->required();
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
  Generated generated = sources(command);
  std::vector<emit::StandaloneFile>& files = generated.files;
  const jit::ClangStatus clang = jit::inspect_clang();
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
  if (command.voice.json) fmt::print("{}\n", answer.dump(2));
  if (!clang.usable && !command.voice.quiet)
    fmt::print(stderr, "warning: the sources are not formatted: {}\n", clang.problem);
}

}  // namespace ondula::tools
