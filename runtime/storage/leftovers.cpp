// Finding and removing the private directories of dead processes.
// SPDX-License-Identifier: MIT
#include "runtime/storage/leftovers.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "runtime/storage/scratch.hpp"

namespace ondula::storage {
namespace {

constexpr std::string_view prefix = "ondula-scratch-";

std::string machine_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

/// When a process started, in the system's ticks; 0 where there is no such process.
long long start_of(long long process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  if (!std::getline(file, text)) return 0;
  // The program's name, in brackets, may hold anything; the start is the 20th entry behind it.
  const std::size_t bracket = text.rfind(')');
  if (bracket == std::string::npos) return 0;
  std::istringstream rest(text.substr(bracket + 1));
  std::string entry;
  for (int k = 0; k < 20; ++k) rest >> entry;
  long long start = 0;
  std::from_chars(entry.data(), entry.data() + entry.size(), start);
  return start;
}

std::optional<long long> number_of(std::string_view text) {
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Whether `name` is that of a directory whose process, of this machine, is no more.
bool is_orphan(std::string_view name, std::string_view machine) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  std::array<long long, 3> numbers{};  // directory, start, process
  for (long long& number : numbers) {
    const std::size_t dash = name.rfind('-');
    if (dash == std::string_view::npos) return false;
    const std::optional<long long> found = number_of(name.substr(dash + 1));
    if (!found) return false;
    number = *found;
    name = name.substr(0, dash);
  }
  return name == machine && start_of(numbers[2]) != numbers[1];
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

/// Names in an open directory, which is closed.
std::vector<std::string> names_in(int descriptor) {
  std::vector<std::string> names;
  const Directory directory(::fdopendir(descriptor));
  if (!directory) {
    ::close(descriptor);
    return names;
  }
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

/// Where another of this user's processes holds its lock it stays: it lives where we cannot see it.
bool remove_orphan(int folder, const std::string& name) {
  const int orphan = ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (orphan < 0) return false;
  struct stat facts{};
  bool gone = false;
  if (::fstat(orphan, &facts) == 0 && facts.st_uid == ::geteuid() &&
      ::flock(orphan, LOCK_EX | LOCK_NB) == 0) {
    for (const std::string& file : names_in(::dup(orphan))) ::unlinkat(orphan, file.c_str(), 0);
    gone = ::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0;
  }
  ::close(orphan);
  return gone;
}

}  // namespace

std::string private_name(int number) {
  return fmt::format("{}{}-{}-{}-{}", prefix, machine_name(), ::getpid(), start_of(::getpid()), number);
}

int clear_leftovers(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  const std::string machine = machine_name();
  int gone = 0;
  for (const std::string& name : names_in(::dup(descriptor))) {
    if (is_orphan(name, machine) && remove_orphan(descriptor, name)) ++gone;
  }
  ::close(descriptor);
  return gone;
}

}  // namespace ondula::storage
