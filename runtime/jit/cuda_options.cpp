// Resolves options of CUDA kernels to arguments of NVRTC.
// SPDX-License-Identifier: MIT
#include "runtime/jit/cuda_options.hpp"

#include <fmt/format.h>

#include <map>

#include "compiler/error.hpp"

namespace ondula::jit {

std::vector<std::string> cuda_arguments(const CudaArchitecture& architecture,
                                        const std::vector<std::string>& options) {
  constexpr std::string_view registers = "--maxrregcount=";
  // Arithmetic as the host's: no contraction, single-precision denormals flushed (of what is read and what
  // results, as x86 does with FTZ and DAZ), division and square root correctly rounded.
  std::vector<std::string> arguments = {"--gpu-architecture=" + architecture.text(),
                                        "--std=c++17",
                                        "--fmad=false",
                                        "--ftz=true",
                                        "--prec-div=true",
                                        "--prec-sqrt=true"};
  std::map<std::string, std::string> chosen;  // by kind: the whole argument
  for (const std::string& option : options) {
    const std::size_t value = registers.size();
    if (option.starts_with(registers) && option.size() > value && option.size() <= value + 3 &&
        option.find_first_not_of("0123456789", value) == std::string::npos) {
      chosen["--maxrregcount"] = option;
    } else if (option == "--ptxas-options=-v" || option == "-lineinfo") {
      chosen[option] = option;
    } else if (option.starts_with("-D") && option.size() > 2) {
      const bool bare = option.find('=') == std::string::npos;
      chosen["-D" + option.substr(2, option.find('=') - 2)] = bare ? option + "=1" : option;
    } else {
      throw UserError(
          fmt::format("CUDA kernel option '{}' is unknown; allowed are --maxrregcount=N, --ptxas-options=-v, "
                      "-lineinfo and "
                      "-DNAME[=VALUE]",
                      option));
    }
  }
  for (const auto& [kind, argument] : chosen) arguments.push_back(argument);
  return arguments;
}

}  // namespace ondula::jit
