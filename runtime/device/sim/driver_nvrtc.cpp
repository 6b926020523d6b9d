// Entry points: NVRTC's, over the stand-in's compiler.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/driver_nvrtc.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/sim/compile.hpp"
#include "runtime/device/sim/driver_call.hpp"
#include "runtime/device/sim/driver_image.hpp"

namespace ondula::sim::driver {
namespace {

/// nvrtcResult.
constexpr int success = 0, program_creation_failed = 2, invalid_input = 3, invalid_program = 4,
              compilation_failed = 6, internal_failed = 11;

constexpr std::array architectures = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120};

/// What NVRTC calls a program: its text, and what compiling it gave.
struct Source {
  std::string name;
  std::string text;
  std::string log;
  std::vector<std::byte> cubin;
  std::vector<std::byte> ptx;
};

struct Programs {
  std::map<void*, std::shared_ptr<Source>> open;
  std::uintptr_t next = 0xC0DA080000000000U;
};

/// Call with the mutex held.
Programs& programs() {
  static Programs* const all = new Programs;
  return *all;
}

/// What a planned fault of this call says, 0 for none.
int planned(const char* name) {
  return counted_call(name, false, [](World&, cuda::Result result) { return result; });
}

std::shared_ptr<Source> find(void* handle) {
  const std::lock_guard lock(Process::get().mutex);
  const auto at = programs().open.find(handle);
  return at == programs().open.end() ? nullptr : at->second;
}

/// A virtual architecture (compute_90) gives PTX only.
bool virtual_architecture(const std::vector<std::string>& options) {
  return std::any_of(options.begin(), options.end(), [](const std::string& option) {
    return option.find("arch") != std::string::npos && option.find("compute_") != std::string::npos;
  });
}

int give_size(const std::vector<std::byte>& bytes, std::size_t* size) {
  if (size == nullptr) return invalid_input;
  *size = bytes.size();
  return success;
}

int give(const std::vector<std::byte>& bytes, char* to) {
  if (to == nullptr) return invalid_input;
  std::memcpy(to, bytes.data(), bytes.size());
  return success;
}

int compile_program(Source& program, const std::vector<std::string>& options) {
  const Compiled compiled = compile(program.name, program.text, options);
  program.log = compiled.log;
  if (!compiled.succeeded) return compilation_failed;
  program.ptx = make_ptx(compiled.binary);
  if (!virtual_architecture(options)) program.cubin = compiled.binary;
  return success;
}

}  // namespace
}  // namespace ondula::sim::driver

using namespace ondula;               // NOLINT: what follows belongs to no namespace
using namespace ondula::sim::driver;  // NOLINT

int nvrtcVersion(int* major, int* minor) {
  if (const int fault = planned("nvrtcVersion")) return fault;
  if (major == nullptr || minor == nullptr) return invalid_input;
  *major = nvrtc_major;
  *minor = nvrtc_minor;
  return success;
}

int nvrtcGetNumSupportedArchs(int* count) {
  if (count == nullptr) return invalid_input;
  *count = static_cast<int>(architectures.size());
  return success;
}

int nvrtcGetSupportedArchs(int* to) {
  if (to == nullptr) return invalid_input;
  std::copy(architectures.begin(), architectures.end(), to);
  return success;
}

const char* nvrtcGetErrorString(int result) {
  constexpr std::array names = {"NVRTC_SUCCESS",
                                "NVRTC_ERROR_OUT_OF_MEMORY",
                                "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                "NVRTC_ERROR_INVALID_INPUT",
                                "NVRTC_ERROR_INVALID_PROGRAM",
                                "NVRTC_ERROR_INVALID_OPTION",
                                "NVRTC_ERROR_COMPILATION",
                                "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
                                "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
                                "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
                                "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
                                "NVRTC_ERROR_INTERNAL_ERROR"};
  const auto index = static_cast<std::size_t>(result);
  return result >= 0 && index < names.size() ? names[index] : "NVRTC_ERROR unknown";
}

int nvrtcCreateProgram(void** handle, const char* text, const char* name, int headers, const char* const*,
                       const char* const*) {
  if (const int fault = planned("nvrtcCreateProgram")) return fault;
  if (handle == nullptr || text == nullptr) return invalid_input;
  if (headers != 0) return program_creation_failed;
  auto program = std::make_shared<Source>();
  program->text = text;
  program->name = name == nullptr || *name == '\0' ? "default_program" : name;
  const std::lock_guard lock(Process::get().mutex);
  programs().next += 16;
  *handle = reinterpret_cast<void*>(programs().next);
  programs().open.emplace(*handle, std::move(program));
  return success;
}

int nvrtcDestroyProgram(void** handle) {
  const int fault = planned("nvrtcDestroyProgram");
  if (handle == nullptr) return invalid_input;
  const std::lock_guard lock(Process::get().mutex);
  if (programs().open.erase(*handle) == 0) return invalid_program;
  *handle = nullptr;
  return fault;
}

// No lock is held across the compilation; two of one program at once are the caller's mistake.
int nvrtcCompileProgram(void* handle, int count, const char* const* options) {
  if (const int fault = planned("nvrtcCompileProgram")) return fault;
  const std::shared_ptr<Source> program = find(handle);
  if (program == nullptr) return invalid_program;
  if (count < 0 || (count > 0 && options == nullptr)) return invalid_input;
  try {
    return compile_program(*program, {options, options + count});
  } catch (const std::exception& error) {
    program->log = error.what();
    return internal_failed;  // the compiler's library is missing
  }
}

int nvrtcGetProgramLogSize(void* handle, std::size_t* bytes) {
  const std::shared_ptr<Source> program = find(handle);
  if (program == nullptr) return invalid_program;
  if (bytes == nullptr) return invalid_input;
  *bytes = program->log.size() + 1;
  return success;
}

int nvrtcGetProgramLog(void* handle, char* log) {
  const std::shared_ptr<Source> program = find(handle);
  if (program == nullptr) return invalid_program;
  if (log == nullptr) return invalid_input;
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return success;
}

int nvrtcGetCUBINSize(void* handle, std::size_t* bytes) {
  const std::shared_ptr<Source> program = find(handle);
  return program == nullptr ? invalid_program : give_size(program->cubin, bytes);
}

int nvrtcGetCUBIN(void* handle, char* cubin) {
  if (const int fault = planned("nvrtcGetCUBIN")) return fault;
  const std::shared_ptr<Source> program = find(handle);
  return program == nullptr ? invalid_program : give(program->cubin, cubin);
}

int nvrtcGetPTXSize(void* handle, std::size_t* bytes) {
  const std::shared_ptr<Source> program = find(handle);
  return program == nullptr ? invalid_program : give_size(program->ptx, bytes);
}

int nvrtcGetPTX(void* handle, char* ptx) {
  if (const int fault = planned("nvrtcGetPTX")) return fault;
  const std::shared_ptr<Source> program = find(handle);
  return program == nullptr ? invalid_program : give(program->ptx, ptx);
}
