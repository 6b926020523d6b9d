// Compiles CUDA kernels once per process and once per cache.
// SPDX-License-Identifier: MIT
#include "runtime/jit/cuda_compiler.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <sstream>
#include <string_view>
#include <utility>

#include "compiler/error.hpp"
#include "runtime/jit/cache_key.hpp"
#include "runtime/jit/clang_library.hpp"
#include "runtime/jit/cuda_options.hpp"

namespace ondula::jit {
namespace {

constexpr const char* backend = "cuda";
constexpr const char* extension = ".cu";

}  // namespace

std::vector<std::string> warnings_in(const std::string& log) {
  std::vector<std::string> warnings;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);)
    if (line.find(": warning") != std::string::npos || line.starts_with("ptxas warning"))
      warnings.push_back(line);
  return warnings;
}

CudaModule::CudaModule(const CacheEntry& entry, CompileRecord record)
    : binary_(entry.payload), log_(entry.log), record_(std::move(record)) {
  try {
    architecture_ = parse_architecture(entry.architecture);
  } catch (const UserError& error) {
    throw InternalError(error.what());
  }
  if (std::sscanf(entry.compiler.c_str(), "nvrtc %d.%d", &nvrtc_.major, &nvrtc_.minor) != 2)
    throw InternalError(fmt::format("'{}' is no NVRTC", entry.compiler));
  if (architecture_.portable) {
    const std::string_view text(reinterpret_cast<const char*>(binary_.data()), binary_.size());
    if (text.find(".version ") == std::string_view::npos) throw InternalError("the payload is no PTX");
    return;
  }
  use_ = read_cubin(binary_);
  if (use_.capability != architecture_.number())
    throw InternalError(
        fmt::format("the cubin is for {} instead of {}", use_.capability, architecture_.text()));
}

CudaCompiler::CudaCompiler(const CacheOptions& cache, Log log, const std::string& toolkit)
    : toolkit_(toolkit),
      file_(find_nvrtc(toolkit)),
      log_(std::move(log)),
      store_(backend, extension, cache, log_) {}

std::string cuda_key(const KernelSource& source, const CudaArchitecture& architecture,
                     const std::string& nvrtc_build) {
  KeyBuilder key;
  key.add(fmt::format("format {}", cache_format)).add("ondula " + ondula_version()).add(backend);
  key.add(source.text).add(cuda_arguments(architecture, source.options));
  key.add(text_name(source.equation, extension)).add(architecture.text()).add("nvrtc " + nvrtc_build);
  return key.hex();
}

std::string CudaCompiler::key_of(const KernelSource& source, const CudaArchitecture& architecture) const {
  return cuda_key(source, architecture, file_.build);
}

std::shared_ptr<const CudaModule> CudaCompiler::compile(const KernelSource& source,
                                                        const CudaArchitecture& architecture) {
  return store_.obtain(key_of(source, architecture), source, [&] { return build(source, architecture); });
}

CudaArchitecture CudaCompiler::architecture_for(int major, int minor) {
  return choose_architecture(major, minor, nvrtc().status().architectures);
}

Built CudaCompiler::build(const KernelSource& source, const CudaArchitecture& architecture) {
  const Nvrtc& library = nvrtc();
  require_supported(architecture, library.status().architectures, library.status().version);
  const std::string name = text_name(source.equation, extension);
  Built built;
  CacheEntry& entry = built.entry;
  entry.options = cuda_arguments(architecture, source.options);
  entry.architecture = architecture.text();
  entry.compiler = fmt::format("nvrtc {} ({})", library.status().version.text(), library.status().build);
  Nvrtc::Compiled compiled = library.compile(name, source.text, entry.options, architecture.portable);
  built.succeeded = compiled.succeeded;
  // The key was made from the file that was found; what another one made must not stand under it.
  built.keep = library.status().build == file_.build;
  entry.log = std::move(compiled.log);
  entry.payload = std::move(compiled.binary);
  if (built.succeeded && log_ && !warnings_in(entry.log).empty())
    log_(fmt::format("the cuda kernels of equation '{}' compiled with warnings:\n{}", source.equation,
                     entry.log));
  return built;
}

const Nvrtc& CudaCompiler::nvrtc() {
  std::call_once(nvrtc_once_, [this] { nvrtc_ = std::make_unique<Nvrtc>(toolkit_); });
  return *nvrtc_;
}

}  // namespace ondula::jit
