// `ondula doctor`: what is here, what is missing, and where it was looked for.
// SPDX-License-Identifier: MIT
#include "tools/doctor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "compiler/error.hpp"
#include "runtime/device/cuda/library.hpp"
#include "runtime/environment.hpp"
#include "runtime/jit/cache.hpp"
#include "runtime/jit/clang_library.hpp"
#include "runtime/jit/cpu.hpp"
#include "runtime/jit/nvrtc.hpp"
#include "tools/libraries.hpp"
#include "tools/machine.hpp"
#include "tools/words.hpp"

namespace ondula::tools {
namespace {

using Json = nlohmann::ordered_json;

Json examine_cpu() {
  Json json{{"name", cpu_name()}, {"threads", threads_available()}};
  try {
    const jit::Cpu cpu = jit::restrict_cpu(jit::host_cpu(), read_environment().cpu_features);
    json["features"] = cpu.features;
  } catch (const Error& error) {
    json["problem"] = error.what();
  }
  return json;
}

Json examine_cache() {
  try {
    const jit::Cache cache({}, {});
    Json json{{"path", cache.directory().string()}, {"limit_bytes", cache.limit_bytes()}};
    if (cache.directory().empty()) {
      json["problem"] =
          "there is no cache: every process compiles its kernels; set ONDULA_CACHE to a folder, or HOME";
      return json;
    }
    std::uint64_t bytes = 0;
    std::size_t damaged = 0;
    const auto entries = cache.list();
    for (const jit::CacheListing& entry : entries) {
      bytes += entry.bytes;
      damaged += entry.entry || entry.record ? 0 : 1;
    }
    json["entries"] = entries.size();
    json["bytes"] = bytes;
    if (damaged > 0)
      json["problem"] = fmt::format("{} entries are damaged; `ondula cache verify` removes them", damaged);
    return json;
  } catch (const Error& error) {
    return {{"problem", error.what()}};
  }
}

Json examine_clang() {
  const jit::ClangStatus status = jit::inspect_clang();
  Json json{{"usable", status.usable},
            {"path", status.path},
            {"version", status.version},
            {"built_with", status.built_version},
            {"searched", status.searched}};
  if (!status.usable) json["problem"] = status.problem;
  return json;
}

Json examine_nvrtc() {
  const jit::NvrtcStatus status = jit::inspect_nvrtc();
  Json json{{"usable", status.usable},          {"path", status.path},
            {"version", status.version.text()}, {"build", status.build},
            {"builtins", status.builtins},      {"architectures", status.architectures},
            {"searched", status.searched}};
  if (!status.usable) {
    json["version"] = "";
    json["problem"] = status.problem;
  }
  return json;
}

Json examine_driver(const std::string& library, const std::string& missing) {
  const cuda::DriverStatus status = library.empty() ? cuda::DriverStatus{} : cuda::inspect_driver(library);
  Json devices = Json::array();
  for (const cuda::DeviceFacts& device : status.devices)
    devices.push_back({{"name", device.name},
                       {"capability", fmt::format("{}.{}", device.major, device.minor)},
                       {"bytes", device.bytes},
                       {"multiprocessors", device.multiprocessors}});
  Json json{{"usable", status.usable},
            {"path", status.path},
            {"cuda", status.version.major > 0 ? status.version.text() : ""},
            {"devices", devices}};
  if (!status.usable) json["problem"] = library.empty() ? missing : status.problem;
  return json;
}

Json examine_stand_in() {
  std::vector<std::string> searched;
  const std::string path = cuda::stand_in_library(&searched);
  Json json = examine_driver(path, "libondula-cuda-sim.so is missing, the stand-in of backend cuda-sim");
  json["searched"] = searched;
  return json;
}

Json examine_parts() {
  Json list = Json::array();
  for (const Finding& finding : find_optional_parts()) {
    list.push_back({{"what", finding.what},
                    {"path", finding.path},
                    {"searched", finding.searched},
                    {"remedy", finding.path.empty() ? finding.remedy : ""}});
  }
  return list;
}

Json examine_variables() {
  const Environment e = read_environment();
  return {{"ONDULA_CACHE", e.cache},
          {"ONDULA_CACHE_LIMIT", e.cache_limit},
          {"ONDULA_CLANG_MODULE", e.clang_module},
          {"ONDULA_CPU_FEATURES", e.cpu_features},
          {"ONDULA_CUDA_DRIVER", e.cuda_driver},
          {"ONDULA_CUDA_GRAPHS", e.cuda_graphs},
          {"ONDULA_CUDA_SIM", e.cuda_stand_in},
          {"ONDULA_DATA", e.data},
          {"ONDULA_SIM_MODE", e.sim_mode},
          {"ONDULA_SIM_SEED", e.sim_seed},
          {"ONDULA_SIM_DEVICES", e.sim_devices},
          {"ONDULA_SIM_CAPABILITY", e.sim_capability},
          {"ONDULA_SIM_MEMORY", e.sim_memory},
          {"ONDULA_SIM_DRIVER_VERSION", e.sim_driver_version},
          {"CUDA_HOME", e.cuda_home},
          {"CUDA_PATH", e.cuda_path}};
}

Json examine() {
  return {{"ondula", jit::ondula_version()},
          {"system", system_text()},
          {"cpu", examine_cpu()},
          {"memory", {{"total", memory_total()}, {"available", memory_available()}}},
          {"cache", examine_cache()},
          {"clang", examine_clang()},
          {"nvrtc", examine_nvrtc()},
          {"cuda_driver", examine_driver(cuda::driver_library(), "")},
          {"cuda_sim", examine_stand_in()},
          {"optional", examine_parts()},
          {"variables", examine_variables()}};
}

void row(const std::string& head, const std::string& text) { fmt::print("{:<14} {}\n", head, text); }

void problem(const Json& part) {
  if (part.contains("problem")) row("", "PROBLEM: " + part["problem"].get<std::string>());
}

std::string joined(const Json& list) {
  return fmt::format("{}", fmt::join(list.get<std::vector<std::string>>(), ", "));
}

void print_nvrtc(const Json& nvrtc) {
  if (!nvrtc["usable"].get<bool>()) {
    row("NVRTC", "not usable: no text is compiled for CUDA, and the host needs none of it");
    problem(nvrtc);
    return;
  }
  const auto architectures = nvrtc["architectures"].get<std::vector<int>>();
  row("NVRTC",
      fmt::format("{}, CUDA {}", nvrtc["path"].get<std::string>(), nvrtc["version"].get<std::string>()));
  row("", fmt::format("compiles for sm_{}", fmt::join(architectures, ", ")));
  if (nvrtc["builtins"].get<std::string>().empty())
    row("", "its builtins library is not beside it: the loader's path must hold it");
}

void print_driver(const std::string& head, const Json& driver, const std::string& use) {
  if (!driver["usable"].get<bool>()) {
    row(head, "not usable: " + use);
    problem(driver);
    return;
  }
  row(head,
      fmt::format("{}, up to CUDA {}", driver["path"].get<std::string>(), driver["cuda"].get<std::string>()));
  int number = 0;
  for (const Json& device : driver["devices"])
    row("",
        fmt::format("device {}: {}, compute capability {}, {}", number++, device["name"].get<std::string>(),
                    device["capability"].get<std::string>(), bytes_text(device["bytes"].get<double>())));
}

void print(const Json& all) {
  const auto text = [](const Json& value) { return value.get<std::string>(); };
  const auto bytes = [](const Json& value) { return bytes_text(value.get<double>()); };
  row("Ondula", text(all["ondula"]));
  row("system", text(all["system"]));
  const Json& cpu = all["cpu"];
  row("CPU", fmt::format("{}, {} threads", text(cpu["name"]), cpu["threads"].get<int>()));
  if (cpu.contains("features")) row("", "kernels are compiled for: " + joined(cpu["features"]));
  problem(cpu);
  row("memory",
      fmt::format("{}, {} available", bytes(all["memory"]["total"]), bytes(all["memory"]["available"])));
  const Json& cache = all["cache"];
  if (cache.contains("entries")) {
    row("kernel cache",
        fmt::format("{}: {} entries, {} of at most {}", text(cache["path"]), cache["entries"].get<int>(),
                    bytes(cache["bytes"]), bytes(cache["limit_bytes"])));
  } else {
    row("kernel cache", "none");
  }
  problem(cache);
  const Json& clang = all["clang"];
  row("Clang module", clang["usable"].get<bool>()
                          ? fmt::format("{}, LLVM {}", text(clang["path"]), text(clang["version"]))
                          : fmt::format("not usable (built with {}); looked in {}", text(clang["built_with"]),
                                        joined(clang["searched"])));
  problem(clang);
  print_nvrtc(all["nvrtc"]);
  print_driver("CUDA driver", all["cuda_driver"],
               "backend cuda does not run here, and the others need none of it");
  print_driver("CUDA stand-in", all["cuda_sim"], "backend cuda-sim does not run");
  fmt::print("\nNot used by this version, and looked for:\n");
  for (const Json& part : all["optional"]) {
    row(text(part["what"]),
        text(part["path"]).empty()
            ? fmt::format("not found ({}); looked for {}", text(part["remedy"]), joined(part["searched"]))
            : text(part["path"]));
  }
  fmt::print("\nEnvironment variables:\n");
  for (const auto& [name, value] : all["variables"].items())
    fmt::print("{:<25} {}\n", name, text(value).empty() ? "not set" : text(value));
}

}  // namespace

void examine_machine(const DoctorOptions& options) {
  const Json all = examine();
  if (options.voice.json)
    fmt::print("{}\n", all.dump(2));
  else
    print(all);
}

}  // namespace ondula::tools
