// Opens the stand-in driver and looks its functions up.
// SPDX-License-Identifier: MIT
#include "tests/runtime/device/sim/sim_driver.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>

namespace ondula::test {
namespace {

template <class Function>
void look_up(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  const bool found = function != nullptr;
  REQUIRE_MESSAGE(found, name);
}

template <class... Arguments>
int nvrtc(void* library, const char* name, Arguments... arguments) {
  int (*function)(Arguments...) = nullptr;
  look_up(library, function, name);
  return function(arguments...);
}

}  // namespace

SimDriver::SimDriver(const DriverSetup& setup) {
  library = dlopen(ONDULA_SIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  REQUIRE_MESSAGE(library != nullptr, dlerror());
#define ONDULA_TEST_LOOK_UP(member, name, arguments) look_up(library, member, #name);
  ONDULA_CUDA_DRIVER(ONDULA_TEST_LOOK_UP)
#undef ONDULA_TEST_LOOK_UP
  look_up(library, context_create, "cuCtxCreate_v2");
  look_up(library, context_destroy, "cuCtxDestroy_v2");
  look_up(library, context_set, "cuCtxSetCurrent");
  look_up(library, primary_reset, "cuDevicePrimaryCtxReset_v2");
  look_up(library, stream_capturing, "cuStreamIsCapturing");
  look_up(library, function_set, "cuFuncSetAttribute");
  look_up(library, set_mode, "ondula_sim_set_mode");
  look_up(library, fail, "ondula_sim_fail");
  look_up(library, calls, "ondula_sim_calls");
  look_up(library, failed_call, "ondula_sim_failed");
  look_up(library, count_sectors, "ondula_sim_count_sectors");
  look_up(library, counters, "ondula_sim_counters");
  look_up(library, clear_counters, "ondula_sim_clear_counters");
  look_up(library, configure, "ondula_sim_configure");
  look_up(library, old_driver, "ondula_sim_old_driver");
  look_up(library, reset, "ondula_sim_reset");
  reset();
  configure(setup.devices, setup.capability, setup.memory, -1, -1);
  set_mode(setup.mode, setup.seed);
  if (!setup.context) return;
  REQUIRE(init(0) == 0);
  REQUIRE(primary_retain(&context, 0) == 0);
  REQUIRE(context_push(context) == 0);
}

SimDriver::~SimDriver() {
  if (reset != nullptr) reset();
}

cuda::DevicePointer SimDriver::allocate_bytes(std::size_t bytes) const {
  cuda::DevicePointer pointer = 0;
  REQUIRE(allocate(&pointer, bytes) == 0);
  return pointer;
}

float* SimDriver::pinned(std::size_t count) const {
  void* pointer = nullptr;
  REQUIRE(host_allocate(&pointer, count * sizeof(float), cuda::host_memory_portable) == 0);
  return static_cast<float*>(pointer);
}

cuda::Stream SimDriver::stream() const {
  cuda::Stream made = nullptr;
  REQUIRE(stream_create(&made, cuda::stream_non_blocking) == 0);
  return made;
}

cuda::Event SimDriver::event() const {
  cuda::Event made = nullptr;
  REQUIRE(event_create(&made, cuda::event_disable_timing) == 0);
  return made;
}

cuda::GraphExec SimDriver::captured(cuda::Stream stream) const {
  cuda::Graph graph = nullptr;
  cuda::GraphExec exec = nullptr;
  REQUIRE(capture_end(stream, &graph) == 0);
  REQUIRE(graph_instantiate(&exec, graph, 0) == 0);
  REQUIRE(graph_destroy(graph) == 0);
  return exec;
}

std::vector<char> SimDriver::compile(const std::string& text, const std::string& architecture) const {
  void* program = nullptr;
  const char* const* const none = nullptr;
  REQUIRE(nvrtc(library, "nvrtcCreateProgram", &program, text.c_str(), "kernels.cu", 0, none, none) == 0);
  const std::string target = "--gpu-architecture=" + architecture;
  const char* const options[] = {target.c_str(), "--std=c++17", "--fmad=false"};
  const char* const* const first = options;
  const int result = nvrtc(library, "nvrtcCompileProgram", program, 3, first);
  std::size_t size = 0;
  REQUIRE(nvrtc(library, "nvrtcGetProgramLogSize", program, &size) == 0);
  std::vector<char> log(size);
  REQUIRE(nvrtc(library, "nvrtcGetProgramLog", program, log.data()) == 0);
  REQUIRE_MESSAGE(result == 0, log.data());
  const bool portable = architecture.starts_with("compute_");
  REQUIRE(nvrtc(library, portable ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize", program, &size) == 0);
  std::vector<char> binary(size);
  REQUIRE(nvrtc(library, portable ? "nvrtcGetPTX" : "nvrtcGetCUBIN", program, binary.data()) == 0);
  REQUIRE(nvrtc(library, "nvrtcDestroyProgram", &program) == 0);
  return binary;
}

cuda::Function SimDriver::kernel(const std::string& text, const std::string& name) const {
  const std::vector<char> binary = compile(text);
  cuda::Module module = nullptr;
  cuda::Function function = nullptr;
  REQUIRE(module_load(&module, binary.data(), 0, nullptr, nullptr) == 0);
  REQUIRE(module_function(&function, module, name.c_str()) == 0);
  return function;
}

std::string SimDriver::report() const {
  decltype(&ondula_sim_report) function = nullptr;
  look_up(library, function, "ondula_sim_report");
  std::vector<char> text(1 << 16);
  function(text.data(), text.size());
  return text.data();
}

std::string SimDriver::failed() const {
  std::vector<char> name(128);
  failed_call(name.data(), name.size());
  return name.data();
}

ondula_sim_counts SimDriver::live() const {
  decltype(&ondula_sim_live) function = nullptr;
  look_up(library, function, "ondula_sim_live");
  ondula_sim_counts counts{};
  function(&counts);
  return counts;
}

}  // namespace ondula::test
