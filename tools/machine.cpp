// What the operating system tells of this machine.
// SPDX-License-Identifier: MIT
#include "tools/machine.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <fstream>
#include <thread>

namespace ondula::tools {
namespace {

/// The rest of the first line of a file that starts with `key`, blanks and quotes stripped.
std::string line_of(const char* path, const std::string& key) {
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const std::string value = line.substr(key.size());
    const auto first = value.find_first_not_of(" \t:=\""), last = value.find_last_not_of(" \t\"");
    return first == std::string::npos ? "" : value.substr(first, last - first + 1);
  }
  return "";
}

/// A line of /proc/meminfo, which counts in kB.
std::size_t memory_line(const char* key) {
  const std::string value = line_of("/proc/meminfo", key);
  return value.empty() ? 0 : std::stoull(value) * 1024;
}

}  // namespace

std::size_t memory_available() { return memory_line("MemAvailable"); }
std::size_t memory_total() { return memory_line("MemTotal"); }

std::size_t memory_peak() {
  rusage usage = {};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::size_t>(usage.ru_maxrss) * 1024 : 0;
}

std::string system_text() {
  const std::string name = line_of("/etc/os-release", "PRETTY_NAME");
  utsname kernel = {};
  const std::string release = uname(&kernel) == 0
                                  ? fmt::format("{} {} {}", kernel.sysname, kernel.release, kernel.machine)
                                  : "unknown";
  return name.empty() ? release : name + ", " + release;
}

std::string cpu_name() { return line_of("/proc/cpuinfo", "model name"); }

int threads_available() { return static_cast<int>(std::thread::hardware_concurrency()); }

}  // namespace ondula::tools
