// Opens a CUDA driver library and looks its entry points up.
// SPDX-License-Identifier: MIT
#include "runtime/device/cuda/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "compiler/error.hpp"
#include "runtime/clang/clang_version.h"
#include "runtime/environment.hpp"

namespace ondula::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* usual_driver = "libcuda.so.1";
constexpr const char* stand_in_name = "libondula-cuda-sim.so";
constexpr const char* stand_in_mark = "ondula_sim_calls";  // only the stand-in exports it

std::string last_dl_error() {
  const char* reason = dlerror();
  return reason != nullptr ? reason : "unknown";
}

/// The file a symbol's library was loaded from.
std::string file_of(void* symbol, const std::string& fallback) {
  Dl_info info = {};
  if (dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return fallback;
  return info.dli_fname;
}

/// What a failed cuInit means to the one who reads it.
std::string meaning(Result result) {
  switch (result) {
    case result::no_device:
      return "there is no CUDA device: no NVIDIA GPU is in this machine, or CUDA_VISIBLE_DEVICES hides all";
    case result::stub_library:
      return "it is the toolkit's stub for linking, not a driver: install the NVIDIA driver, or take the "
             "stub "
             "out of LD_LIBRARY_PATH";
    case result::system_driver_mismatch:
      return "the driver library is not of the same version as the kernel module: reboot, or install one of "
             "the two anew";
    case result::system_not_ready:
      return "the system is not ready: services that the GPUs need (fabric manager) do not run yet";
    default:
      return "the driver cannot start; nvidia-smi may tell more";
  }
}

std::vector<std::string> stand_in_places() {
  const std::string named = read_environment().cuda_stand_in;
  if (!named.empty()) return {named};
  std::error_code ignored;
  Dl_info info = {};
  fs::path own;
  if (dladdr(reinterpret_cast<void*>(&stand_in_library), &info) != 0 && info.dli_fname != nullptr)
    own = fs::weakly_canonical(info.dli_fname, ignored).parent_path();
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<std::string> paths;
  const auto add = [&](const fs::path& folder) {
    const std::string path = (folder / stand_in_name).lexically_normal().string();
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  };
  for (const fs::path& folder : {own, program}) {
    if (folder.empty()) continue;
    add(folder);
    add(folder / "device" / "sim");
    add(folder / ".." / "runtime");
    add(folder / ".." / "runtime" / "device" / "sim");
    add(folder / ONDULA_LIBDIR_FROM_PROGRAM);
  }
  add(ONDULA_LIBDIR);
  return paths;
}

}  // namespace

Driver::Driver(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    status_.problem = fmt::format(
        "{} cannot be opened, the NVIDIA driver's library, without which nothing runs on a GPU: {}. Install "
        "the "
        "driver, or let ONDULA_CUDA_DRIVER name the file. The host backend does without",
        library, last_dl_error());
    return;
  }
  std::string missing;
  const auto find = [&](auto& entry) {
    void* const symbol = dlsym(handle, entry.name);
    entry.function = reinterpret_cast<decltype(entry.function)>(symbol);
    if (symbol != nullptr && status_.path.empty()) status_.path = file_of(symbol, library);
    if (symbol == nullptr && missing.empty()) missing = entry.name;
  };
#define ONDULA_CUDA_FIND(member, symbol, arguments) find(functions_.member);
  ONDULA_CUDA_DRIVER(ONDULA_CUDA_FIND)
#undef ONDULA_CUDA_FIND
  stand_in_ = dlsym(handle, stand_in_mark) != nullptr;
  if (status_.path.empty()) status_.path = library;
  int number = 0;
  const auto version = functions_.driver_version.function;
  const Result told = version == nullptr ? result::success : version(&number);
  if (told != result::success && missing.empty()) {
    status_.problem = fmt::format("{}: {} failed with {} {}", status_.path, functions_.driver_version.name,
                                  told, describe(told));
    return;
  }
  status_.version = jit::CudaVersion::from_number(number);
  const bool old = status_.version.major > 0 && status_.version < oldest_driver;
  if (old || (!missing.empty() && status_.version.major > 0)) {
    status_.problem = fmt::format(
        "{} supports CUDA up to {}, and Ondula needs a driver for {} or newer{}. Update the driver. The host "
        "backend does without",
        status_.path, status_.version.text(), oldest_driver.text(),
        missing.empty() ? "" : fmt::format(" (it lacks {})", missing));
    return;
  }
  if (!missing.empty()) {
    status_.problem = fmt::format("{} lacks {}: it is no CUDA driver", status_.path, missing);
    return;
  }
  const Result started = functions_.init.function(0);
  if (started != result::success) {
    status_.problem = fmt::format("{}: cuInit failed with {} {}: {}", status_.path, started,
                                  describe(started), meaning(started));
    return;
  }
  find_devices();
}

void Driver::find_devices() {
  // What a call that fails is told as; true where it does not.
  const auto done = [&](Result result, const char* call) {
    if (result != result::success && status_.problem.empty())
      status_.problem = fmt::format("{}: {} failed with {} {}", status_.path, call, result, describe(result));
    return result == result::success;
  };
  const Functions& f = functions_;
  int count = 0;
  if (!done(f.device_count.function(&count), f.device_count.name)) return;
  for (int ordinal = 0; ordinal < count && status_.problem.empty(); ++ordinal) {
    DeviceFacts facts;
    DeviceNumber device = 0;
    std::array<char, 256> name{};
    const auto attribute = [&](int& value, int which) {
      done(f.device_attribute.function(&value, which, device), f.device_attribute.name);
    };
    if (!done(f.device_get.function(&device, ordinal), f.device_get.name)) return;
    done(f.device_name.function(name.data(), static_cast<int>(name.size()) - 1, device), f.device_name.name);
    done(f.device_memory.function(&facts.bytes, device), f.device_memory.name);
    attribute(facts.major, attribute::capability_major);
    attribute(facts.minor, attribute::capability_minor);
    attribute(facts.multiprocessors, attribute::multiprocessors);
    facts.name = name.data();
    status_.devices.push_back(facts);
  }
  if (status_.devices.empty() && status_.problem.empty())
    status_.problem = fmt::format("{}: {}", status_.path, meaning(result::no_device));
  status_.usable = status_.problem.empty();
}

std::shared_ptr<const Driver> Driver::open(const std::string& library) {
  std::shared_ptr<const Driver> driver(new Driver(library));
  if (!driver->status_.usable) throw RuntimeError(driver->status_.problem);
  return driver;
}

std::string Driver::describe(Result result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  functions_.error_name.function(result, &name);
  functions_.error_string.function(result, &text);
  if (name == nullptr) return "(no name)";
  return text == nullptr ? name : fmt::format("{} ({})", name, text);
}

DriverStatus inspect_driver(const std::string& library) { return Driver(library).status_; }

std::string driver_library() {
  const std::string named = read_environment().cuda_driver;
  return named.empty() ? usual_driver : named;
}

std::string stand_in_library(std::vector<std::string>* searched) {
  const std::vector<std::string> places = stand_in_places();
  if (searched != nullptr) *searched = places;
  std::error_code ignored;
  for (const std::string& path : places) {
    if (fs::exists(path, ignored)) return path;
  }
  return "";
}

}  // namespace ondula::cuda
