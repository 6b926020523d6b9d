// Resolves options of host kernels to arguments of clang -cc1.
// SPDX-License-Identifier: MIT
#include "runtime/jit/host_options.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>

#include "compiler/error.hpp"

namespace ondula::jit {
namespace {

/// What the caller's options mean.
struct Resolved {
  // The text is vectors already: -O2 finds nothing more to gain in it, and takes a third longer.
  std::string optimise = "-O1";
  std::string vector_width;                   ///< "-mprefer-vector-width=N" or empty
  std::map<std::string, std::string> macros;  ///< by name: the whole "-DNAME=VALUE"
};

Resolved resolve(const Cpu& cpu, const std::vector<std::string>& options) {
  Resolved resolved;
  if (cpu.has("avx512f")) resolved.vector_width = "-mprefer-vector-width=512";
  for (const std::string& option : options) {
    if (option == "-O0" || option == "-O1" || option == "-O2" || option == "-O3") {
      resolved.optimise = option;
    } else if (option == "-mprefer-vector-width=128" || option == "-mprefer-vector-width=256" ||
               option == "-mprefer-vector-width=512") {
      resolved.vector_width = option;
    } else if (option.starts_with("-D") && option.size() > 2) {
      const bool bare = option.find('=') == std::string::npos;
      resolved.macros[option.substr(2, option.find('=') - 2)] = bare ? option + "=1" : option;
    } else {
      throw UserError(
          fmt::format("host kernel option '{}' is unknown; allowed are -O0 to -O3, "
                      "-mprefer-vector-width=128, 256 or 512, and -DNAME[=VALUE]",
                      option));
    }
  }
  return resolved;
}

// clang-format off
constexpr const char* target[] = {"-triple", "x86_64-unknown-linux-gnu", "-target-cpu", "x86-64", "-tune-cpu", "native"};

constexpr const char* fixed[] = {
    "-emit-obj", "-x", "c++", "-std=c++20", "-fno-rtti",
    // position-independent, so that a loader of ours can put it anywhere
    "-mrelocation-model", "pic", "-pic-level", "2", "-fvisibility=hidden",
    // arithmetic exactly as written, and loops stay loops instead of calls of memset or memcpy
    "-ffp-contract=off", "-fno-builtin", "-ffreestanding", "-nostdsysteminc", "-nobuiltininc",
    "-mframe-pointer=none", "-discard-value-names", "-ferror-limit", "20",
    // a warning is an error, except over names that generated text leaves unused, loops that stay scalar, and vector types
    // passed between kernels of one text
    "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unused-variable", "-Wno-unused-function",
    "-Wno-unused-but-set-variable", "-Wno-pass-failed", "-Wno-psabi"};
// clang-format on

}  // namespace

std::vector<std::string> host_arguments(const Cpu& cpu, const std::vector<std::string>& options,
                                        const std::string& name) {
  const Resolved resolved = resolve(cpu, options);
  std::vector<std::string> arguments(std::begin(target), std::end(target));
  for (const std::string& feature : cpu.features) {
    arguments.emplace_back("-target-feature");
    arguments.push_back("+" + feature);
  }
  arguments.insert(arguments.end(), std::begin(fixed), std::end(fixed));
  arguments.push_back(resolved.optimise);
  // What the driver adds at these.
  if (resolved.optimise >= "-O2") arguments.insert(arguments.end(), {"-vectorize-loops", "-vectorize-slp"});
  if (!resolved.vector_width.empty()) arguments.push_back(resolved.vector_width);
  for (const auto& [macro, definition] : resolved.macros) arguments.push_back(definition);
  arguments.insert(arguments.end(), {"-main-file-name", name, name});
  return arguments;
}

}  // namespace ondula::jit
