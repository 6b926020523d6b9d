// Opens NVRTC with dlopen and calls it by prototypes of our own.
// SPDX-License-Identifier: MIT
#include "runtime/jit/nvrtc.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "compiler/error.hpp"
#include "runtime/jit/cuda_toolkit.hpp"
#include "runtime/jit/join.hpp"

namespace ondula::jit {
namespace {

namespace fs = std::filesystem;

constexpr int open_flags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
constexpr int compilation_failed = 6;  // NVRTC_ERROR_COMPILATION
constexpr int builtins_failed = 7;     // NVRTC_ERROR_BUILTIN_OPERATION_FAILURE

std::string last_dl_error() {
  const char* reason = dlerror();
  return reason != nullptr ? reason : "unknown";
}

std::string builtins_name(const CudaVersion& version) { return "libnvrtc-builtins.so." + version.text(); }

}  // namespace

/// Destroys a program.
struct Nvrtc::Owner {
  const Functions& call;
  Program program = nullptr;
  explicit Owner(const Functions& functions) : call(functions) {}
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() {
    if (program != nullptr) call.destroy(&program);
  }
};

Nvrtc::Nvrtc(const std::string& toolkit, NvrtcStatus& status) {
  const NvrtcFile file = find_nvrtc(toolkit);
  status_.path = file.path;
  status_.build = file.build;
  status_.searched = file.searched;
  if (file.path.empty()) {
    status_.problem = fmt::format(
        "NVRTC (libnvrtc.so.*) is missing, which compiles kernels for CUDA. Looked in {}. It comes with the "
        "CUDA "
        "toolkit; CUDA_HOME names another place for it. The host backend does without",
        join(file.searched));
  } else {
    open();
  }
  status_.usable = status_.problem.empty();
  status = status_;
}

Nvrtc::Nvrtc(const std::string& toolkit) {
  NvrtcStatus status;
  *this = Nvrtc(toolkit, status);
  if (!status.usable) throw RuntimeError(status.problem);
}

void Nvrtc::open() {
  void* const handle = dlopen(status_.path.c_str(), open_flags);
  if (handle == nullptr) {
    status_.problem = fmt::format("{} cannot be opened: {}", status_.path, last_dl_error());
    return;
  }
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (function == nullptr && status_.problem.empty())
      status_.problem = fmt::format(
          "{} lacks {}: it is older than CUDA 11.2, or no NVRTC; set CUDA_HOME to a newer toolkit",
          status_.path, name);
  };
  find(call_.version, "nvrtcVersion");
  find(call_.architecture_count, "nvrtcGetNumSupportedArchs");
  find(call_.architectures, "nvrtcGetSupportedArchs");
  find(call_.error_text, "nvrtcGetErrorString");
  find(call_.create, "nvrtcCreateProgram");
  find(call_.destroy, "nvrtcDestroyProgram");
  find(call_.compile, "nvrtcCompileProgram");
  find(call_.log_size, "nvrtcGetProgramLogSize");
  find(call_.log, "nvrtcGetProgramLog");
  find(call_.cubin_size, "nvrtcGetCUBINSize");
  find(call_.cubin, "nvrtcGetCUBIN");
  find(call_.ptx_size, "nvrtcGetPTXSize");
  find(call_.ptx, "nvrtcGetPTX");
  if (!status_.problem.empty()) return;
  int count = 0;
  check(call_.version(&status_.version.major, &status_.version.minor), "nvrtcVersion");
  check(call_.architecture_count(&count), "nvrtcGetNumSupportedArchs");
  status_.architectures.resize(static_cast<std::size_t>(count));
  check(call_.architectures(status_.architectures.data()), "nvrtcGetSupportedArchs");
  load_builtins();
}

/// NVRTC opens its builtins by bare name, which the loader finds only in its own path or among what is open.
void Nvrtc::load_builtins() {
  std::error_code ignored;
  const fs::path beside = fs::path(status_.path).parent_path() / builtins_name(status_.version);
  if (!fs::exists(beside, ignored) || dlopen(beside.c_str(), open_flags) == nullptr) return;
  status_.builtins = beside.string();
}

void Nvrtc::check(int result, const char* call) const {
  if (result == 0) return;
  throw RuntimeError(fmt::format("{}: {} failed: {}", status_.path, call, call_.error_text(result)));
}

void Nvrtc::refuse_builtins(const std::string& log) const {
  std::vector<std::string> searched = {fs::path(status_.path).parent_path().string()};
  for (const std::string& folder : loader_folders()) searched.push_back(folder);
  searched.emplace_back("the loader's path");
  throw RuntimeError(
      fmt::format("NVRTC {} ({}) cannot open {}, which it needs. Looked in {}. Both come with the CUDA "
                  "toolkit and belong in one "
                  "folder; CUDA_HOME names another toolkit. The host backend does without. NVRTC says: {}",
                  status_.version.text(), status_.path, builtins_name(status_.version), join(searched), log));
}

Nvrtc::Compiled Nvrtc::compile(const std::string& name, const std::string& text,
                               const std::vector<std::string>& arguments, bool portable) const {
  Owner owner(call_);
  check(call_.create(&owner.program, text.c_str(), name.c_str(), 0, nullptr, nullptr), "nvrtcCreateProgram");
  std::vector<const char*> pointers;
  pointers.reserve(arguments.size());
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  const int result = call_.compile(owner.program, static_cast<int>(pointers.size()), pointers.data());

  Compiled compiled;
  std::size_t size = 0;
  check(call_.log_size(owner.program, &size), "nvrtcGetProgramLogSize");
  compiled.log.resize(size);
  if (size > 0) check(call_.log(owner.program, compiled.log.data()), "nvrtcGetProgramLog");
  while (!compiled.log.empty() && (compiled.log.back() == '\0' || compiled.log.back() == '\n'))
    compiled.log.pop_back();
  if (result == builtins_failed) refuse_builtins(compiled.log);
  if (result == compilation_failed) return compiled;
  if (result != 0)
    throw RuntimeError(fmt::format("{}: nvrtcCompileProgram failed: {}\n{}\n  options: {}", status_.path,
                                   call_.error_text(result), compiled.log, join(arguments, " ")));

  const auto& binary_size = portable ? call_.ptx_size : call_.cubin_size;
  const auto& binary = portable ? call_.ptx : call_.cubin;
  check(binary_size(owner.program, &size), portable ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize");
  compiled.binary.resize(size);
  check(binary(owner.program, reinterpret_cast<char*>(compiled.binary.data())),
        portable ? "nvrtcGetPTX" : "nvrtcGetCUBIN");
  if (portable && !compiled.binary.empty() && compiled.binary.back() == std::byte{0})
    compiled.binary.pop_back();
  compiled.succeeded = true;
  return compiled;
}

NvrtcStatus inspect_nvrtc(const std::string& toolkit) {
  NvrtcStatus status;
  const Nvrtc library(toolkit, status);
  return status;
}

}  // namespace ondula::jit
