// Reads architecture names and compares versions.
// SPDX-License-Identifier: MIT
#include "runtime/jit/cuda_architecture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "compiler/error.hpp"
#include "runtime/jit/join.hpp"

namespace ondula::jit {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

[[noreturn]] void refuse(const std::string& text) {
  throw UserError(
      fmt::format("CUDA architecture: found '{}'; allowed: sm_XX for a cubin (sm_90, sm_90a), compute_XX for "
                  "PTX, or a compute "
                  "capability (9.0)",
                  text));
}

std::string names_of(std::span<const int> supported) {
  std::vector<std::string> names;
  for (const int number : supported) names.push_back(fmt::format("sm_{}", number));
  return join(names);
}

}  // namespace

std::string CudaVersion::text() const { return fmt::format("{}.{}", major, minor); }

std::string CudaArchitecture::text() const {
  return fmt::format("{}_{}{}{}", portable ? "compute" : "sm", major, minor, variant);
}

CudaArchitecture parse_architecture(const std::string& text) {
  CudaArchitecture architecture;
  std::string_view rest = text;
  const bool named = rest.starts_with("sm_") || rest.starts_with("compute_");
  architecture.portable = rest.starts_with("compute_");
  if (named) rest.remove_prefix(rest.find('_') + 1);
  if (!rest.empty() && (rest.back() == 'a' || rest.back() == 'f')) {
    architecture.variant = rest.back();
    rest.remove_suffix(1);
  }
  const std::size_t dot = rest.find('.');
  if (named == (dot != std::string_view::npos)) refuse(text);
  const std::string_view major =
      rest.substr(0, named ? rest.size() - std::min<std::size_t>(1, rest.size()) : dot);
  const std::string_view minor = named ? rest.substr(major.size()) : rest.substr(dot + 1);
  if (!is_digits(major) || !is_digits(minor) || major.size() > 2 || minor.size() != 1) refuse(text);
  architecture.major = std::stoi(std::string(major));
  architecture.minor = minor.front() - '0';
  return architecture;
}

CudaArchitecture choose_architecture(int major, int minor, std::span<const int> supported) {
  const int wanted = 10 * major + minor;
  if (std::find(supported.begin(), supported.end(), wanted) != supported.end())
    return {major, minor, "", false};
  int newest = 0;
  for (const int number : supported)
    if (number < wanted) newest = std::max(newest, number);
  if (newest == 0)
    throw UserError(
        fmt::format("the device has compute capability {}.{}; this NVRTC compiles for {}, and newer devices "
                    "by PTX. An older CUDA "
                    "toolkit serves this one: set CUDA_HOME to it (12.x for compute capability 5.0 to 7.0)",
                    major, minor, names_of(supported)));
  return {newest / 10, newest % 10, "", true};
}

void require_supported(const CudaArchitecture& architecture, std::span<const int> supported,
                       const CudaVersion& nvrtc) {
  if (std::find(supported.begin(), supported.end(), architecture.number()) != supported.end()) return;
  throw UserError(fmt::format("CUDA architecture {}: NVRTC {} compiles for {}", architecture.text(),
                              nvrtc.text(), names_of(supported)));
}

void require_loadable(const CudaArchitecture& architecture, const CudaVersion& nvrtc,
                      const CudaVersion& driver) {
  const bool loads = architecture.portable ? driver >= nvrtc : driver.major >= nvrtc.major;
  if (loads) return;
  throw RuntimeError(
      fmt::format("the driver supports CUDA up to {}, and the kernels ({}) were compiled by NVRTC {}, which "
                  "needs a driver for CUDA "
                  "{} or newer. Either update the driver, or set CUDA_HOME to a CUDA {}.x toolkit",
                  driver.text(), architecture.text(), nvrtc.text(),
                  architecture.portable ? nvrtc.text() : fmt::format("{}.0", nvrtc.major), driver.major));
}

}  // namespace ondula::jit
