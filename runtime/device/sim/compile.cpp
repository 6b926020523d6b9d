// Compiling for the stand-in: options, the text around the text, the log as NVRTC writes it.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <sstream>
#include <string_view>

#include "compiler/error.hpp"
#include "runtime/device/sim/binary.hpp"
#include "runtime/device/sim/compile_text.hpp"
#include "runtime/device/sim/program.hpp"
#include "runtime/device/sim/scan.hpp"
#include "runtime/device/sim/spread.hpp"
#include "runtime/environment.hpp"
#include "runtime/jit/cpu.hpp"
#include "runtime/jit/host_options.hpp"
#include "templates/templates.hpp"

namespace ondula::sim {
namespace {

struct Options {
  int capability = 0;
  std::vector<std::string> macros;  ///< "-DNAME=VALUE"
  std::string problem;
};

/// The architecture "sm_90a" or "compute_90" means; 0: none.
int capability_of(const std::string& architecture) {
  const std::size_t line = architecture.find('_');
  const std::string kind = architecture.substr(0, line);
  if (line == std::string::npos || (kind != "sm" && kind != "compute")) return 0;
  int number = 0;
  for (std::size_t i = line + 1; i < architecture.size() && architecture[i] >= '0' && architecture[i] <= '9';
       ++i)
    number = std::min(10 * number + (architecture[i] - '0'), 999);
  return number;
}

Options read_options(const std::vector<std::string>& options) {
  // Others say how a GPU's code is made, which changes nothing here.
  constexpr std::array<const char*, 12> without_meaning = {
      "--std=c++",        "-std=c++",    "--fmad=false",         "-fmad=false",
      "--ftz=",           "--prec-div=", "--prec-sqrt=",         "--maxrregcount=",
      "--ptxas-options=", "-lineinfo",   "--generate-line-info", "--device-debug"};
  Options result;
  for (const std::string& option : options) {
    const auto value = [&] { return option.substr(option.find('=') + 1); };
    if (option.starts_with("--gpu-architecture=") || option.starts_with("-arch="))
      result.capability = capability_of(value());
    else if (option.starts_with("-D") && option.size() > 2)
      result.macros.push_back(option);
    else if (std::none_of(without_meaning.begin(), without_meaning.end(),
                          [&](const char* known) { return option.starts_with(known); }))
      result.problem = fmt::format("error: option '{}' is not known to the stand-in CUDA compiler\n", option);
  }
  if (result.problem.empty() && result.capability == 0)
    result.problem = "error: no architecture: --gpu-architecture=sm_NN is needed\n";
  return result;
}

/// The arguments of both variants: the host kernels', but for warnings, optimisation and the name at the end.
std::vector<std::string> common_arguments(const std::string& name, const std::vector<std::string>& macros) {
  const jit::Cpu cpu = jit::restrict_cpu(jit::host_cpu(), read_environment().cpu_features);
  std::vector<std::string> arguments = jit::host_arguments(cpu, macros, name);
  arguments.resize(arguments.size() - 3);
  std::erase_if(arguments, [](const std::string& a) { return a.starts_with("-W") || a.starts_with("-O"); });
  // Warnings would be of the text put around, or of words the host does not know (#pragma unroll).
  arguments.emplace_back("-w");
  return arguments;
}

/// What a text consists of: the CUDA text, and how its kernels are called.
struct Parts {
  std::string text;
  std::vector<bool> rows;  ///< by kernel: it runs a row of threads
};

/// Kernels as they are written: one thread at a time.
Parts threads_of(const Scanned& scanned) {
  return {scanned.text, std::vector<bool>(scanned.kernels.size(), false)};
}

/// Kernels that run rows of threads, where they are understood.
Parts rows_of(const Scanned& scanned, const std::vector<std::string>& macros) {
  Parts parts = threads_of(scanned);
  // Words and numbers: they hide nothing of what a kernel does.
  const bool plain = std::all_of(macros.begin(), macros.end(), [](const std::string& macro) {
    return std::all_of(macro.begin() + 1, macro.end(), [](char c) {
      return std::isalnum(c) != 0 || std::string_view("_.=").find(c) != std::string_view::npos;
    });
  });
  if (scanned.lanes_elsewhere || !plain) return parts;
  // Last first: the places before stay.
  for (std::size_t i = scanned.kernels.size(); i-- > 0;) {
    const ScannedKernel& kernel = scanned.kernels[i];
    std::string body = spread(scanned.text, kernel);
    if (body.empty()) continue;
    // Loops that are short everywhere keep a loop of lanes from being the innermost.
    constexpr std::string_view rolled = "#pragma unroll 1", unrolled = "#pragma clang loop unroll(full)";
    for (std::size_t at = body.find(rolled); at != std::string::npos;
         at = body.find(rolled, at + unrolled.size()))
      body.replace(at, rolled.size(), unrolled);
    parts.text.replace(kernel.body_begin + 1, kernel.body_end - kernel.body_begin - 1, body);
    parts.rows[i] = true;
  }
  return parts;
}

/// The text with what makes it C++ around it.
std::string wrapped(const std::string& name, const Scanned& scanned, const Parts& parts) {
  std::string text = std::string("#line 1 \"prelude\"\n") + templates::sim_prelude;
  std::string quoted;
  for (const char c : name) quoted += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
  text += fmt::format("#line 1 \"{}\"\n{}\n#line 1 \"entry points\"\n}};\n", quoted, parts.text);
  // So that a text without kernels has something to load.
  text += fmt::format("extern \"C\" const unsigned long ondula_sim_kernels = {};\n", scanned.kernels.size());
  for (std::size_t i = 0; i < scanned.kernels.size(); ++i) {
    const ScannedKernel& kernel = scanned.kernels[i];
    text += fmt::format("ONDULA_SIM_KERNEL({}, {}, {}, {})\n", i, kernel.name,
                        parts.rows[i] ? "rows" : "threads", kernel.bounds);
  }
  return text;
}

/// "NAME:LINE:COLUMN: error: ..." becomes "NAME(LINE): error: ...".
std::string as_nvrtc(const std::string& log) {
  static const std::regex place("^([^:\n]+):([0-9]+):[0-9]+: (error|warning|note|fatal error): ");
  std::string result;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);)
    result += std::regex_replace(line, place, "$1($2): $3: ") + "\n";
  return result;
}

}  // namespace

jit::ClangLibrary::Compiled compile_variant(const Binary& binary, const std::string& text, Code code) {
  std::vector<std::string> arguments = binary.arguments;
  if (code != Code::plain) {
    // Functions are the kind of coverage that adds nothing by itself. Lines are for findings (lines.hpp).
    for (const char* argument :
         {"-O1", "-fsanitize-coverage-type=1", "-fsanitize-coverage-trace-loads",
          "-fsanitize-coverage-trace-stores", "-debug-info-kind=line-tables-only", "-dwarf-version=4"})
      arguments.emplace_back(argument);
  } else {
    for (const char* argument : {"-O2", "-vectorize-loops", "-vectorize-slp"})
      arguments.emplace_back(argument);
  }
  if (code == Code::arithmetic) {
    // Of unsigned types too: an index that wraps is seldom meant.
    constexpr std::string_view kinds =
        "signed-integer-overflow,unsigned-integer-overflow,implicit-signed-integer-truncation,"
        "implicit-unsigned-integer-truncation";
    arguments.push_back(fmt::format("-fsanitize={}", kinds));
    arguments.push_back(fmt::format("-fsanitize-recover={}", kinds));
    arguments.emplace_back("-fsanitize-minimal-runtime");
  }
  for (const std::string& last : {std::string("-main-file-name"), binary.name, binary.name})
    arguments.push_back(last);
  return jit::ClangLibrary().compile(binary.name, text, arguments);
}

Compiled compile(const std::string& name, const std::string& text, const std::vector<std::string>& options) {
  const Options read = read_options(options);
  Compiled result;
  result.log = read.problem;
  if (!read.problem.empty()) return result;
  const Scanned scanned = scan(text);
  Binary binary;
  binary.capability = read.capability;
  binary.name = name;
  binary.text = wrapped(name, scanned, threads_of(scanned));
  binary.arguments = common_arguments(name, read.macros);
  jit::ClangLibrary::Compiled compiled =
      compile_variant(binary, wrapped(name, scanned, rows_of(scanned, read.macros)), Code::plain);
  // As the text was written: what is wrong with it, or right with it and not with the rows.
  if (!compiled.succeeded) compiled = compile_variant(binary, binary.text, Code::plain);
  result.log = as_nvrtc(compiled.log);
  if (!compiled.succeeded) return result;
  binary.object = std::move(compiled.object);
  const jit::ElfImage image(binary.object, kernel_callbacks());
  for (std::size_t i = 0; i < scanned.kernels.size(); ++i) {
    BinaryKernel& stated = binary.kernels.emplace_back();
    stated.name = scanned.kernels[i].name;
    stated.parameters = scanned.kernels[i].parameters;
    stated.barriers = scanned.kernels[i].barriers;
    Kernel kernel;
    kernel.name = stated.name;
    read_layout(image, i, kernel);
    stated.threads_bound = kernel.threads_bound;
    stated.blocks_bound = kernel.blocks_bound;
    stated.argument_bytes = static_cast<std::int64_t>(kernel.argument_bytes);
    // Of all kernels together where several have some: their arrays stand in one section.
    if (scanned.kernels[i].shared)
      stated.shared_bytes = static_cast<std::int64_t>(image.section("ondula_shared").size());
  }
  result.binary = write_binary(binary);
  result.succeeded = true;
  return result;
}

}  // namespace ondula::sim
