// Searches toolkit folders, and reads build ids from ELF notes.
// SPDX-License-Identifier: MIT
#include "runtime/jit/cuda_toolkit.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "runtime/environment.hpp"

namespace ondula::jit {
namespace {

namespace fs = std::filesystem;

constexpr const char* default_toolkit = "/usr/local/cuda";

/// The version in "libnvrtc.so.13.0.88", as numbers; {-1} for any other name, {} for "libnvrtc.so".
std::vector<int> version_in(const std::string& name) {
  constexpr std::string_view stem = "libnvrtc.so";
  if (!name.starts_with(stem)) return {-1};
  std::vector<int> version;
  std::istringstream parts(name.substr(stem.size()));
  std::string part;
  std::getline(parts, part, '.');
  if (!part.empty()) return {-1};
  while (std::getline(parts, part, '.')) {
    if (part.empty() || part.find_first_not_of("0123456789") != std::string::npos || part.size() > 6)
      return {-1};
    version.push_back(std::stoi(part));
  }
  return version;
}

/// The newest libnvrtc.so* of a folder; empty where there is none.
std::string newest_in(const fs::path& folder) {
  std::pair<std::vector<int>, std::string> newest;
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder, ignored)) {
    const std::vector<int> version = version_in(file.path().filename().string());
    if (version == std::vector<int>{-1} || !fs::exists(file.path(), ignored)) continue;
    newest = std::max(newest, std::pair(version, file.path().string()));
  }
  return newest.second;
}

/// Where the loader has NVRTC: it must be opened to know.
std::string loaded_path() {
  for (const char* name :
       {"libnvrtc.so.14", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"}) {
    void* handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    void* symbol = handle == nullptr ? nullptr : dlsym(handle, "nvrtcVersion");
    Dl_info info = {};
    if (symbol != nullptr && dladdr(symbol, &info) != 0 && info.dli_fname != nullptr) return info.dli_fname;
  }
  return "";
}

/// The build id among the notes of one segment; empty where there is none.
std::string build_id(const std::string& notes) {
  std::size_t at = 0;
  Elf64_Nhdr header;
  while (at + sizeof header <= notes.size()) {
    std::memcpy(&header, notes.data() + at, sizeof header);
    const std::size_t name = at + sizeof header;
    const std::size_t description = name + (std::size_t{header.n_namesz} + 3) / 4 * 4;
    const std::size_t end = description + (std::size_t{header.n_descsz} + 3) / 4 * 4;
    if (end > notes.size()) break;
    if (header.n_type == NT_GNU_BUILD_ID && notes.compare(name, 4, std::string("GNU\0", 4)) == 0) {
      std::string text;
      for (std::size_t i = 0; i < header.n_descsz; ++i)
        text += fmt::format("{:02x}", static_cast<unsigned char>(notes[description + i]));
      return text;
    }
    at = end;
  }
  return "";
}

}  // namespace

std::vector<std::string> cuda_toolkits(const std::string& toolkit) {
  if (!toolkit.empty()) return {toolkit};
  const Environment environment = read_environment();
  std::vector<std::string> folders;
  for (const std::string& folder :
       {environment.cuda_home, environment.cuda_path, std::string(default_toolkit)})
    if (!folder.empty() && std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(folder);
  return folders;
}

NvrtcFile find_nvrtc(const std::string& toolkit) {
  NvrtcFile file;
  std::error_code ignored;
  if (!toolkit.empty() && fs::is_regular_file(toolkit, ignored)) {
    file.path = toolkit;
    file.searched.push_back(toolkit);
    file.build = library_build(file.path);
    return file;
  }
  for (const std::string& folder : cuda_toolkits(toolkit)) {
    for (const char* part : {"lib64", "lib", "targets/x86_64-linux/lib"}) {
      file.searched.push_back((fs::path(folder) / part).string());
      file.path = newest_in(file.searched.back());
      if (!file.path.empty()) break;
    }
    if (!file.path.empty()) break;
  }
  if (file.path.empty() && toolkit.empty()) {
    file.searched.emplace_back("the loader's path");
    file.path = loaded_path();
  }
  if (!file.path.empty()) file.build = library_build(file.path);
  return file;
}

std::string library_build(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  Elf64_Ehdr header = {};
  const bool elf = stream.read(reinterpret_cast<char*>(&header), sizeof header) &&
                   std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                   header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_phentsize == sizeof(Elf64_Phdr);
  for (unsigned i = 0; elf && i < header.e_phnum; ++i) {
    Elf64_Phdr segment = {};
    stream.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof segment));
    if (!stream.read(reinterpret_cast<char*>(&segment), sizeof segment)) break;
    constexpr std::uint64_t most = 1 << 16;
    if (segment.p_type != PT_NOTE || segment.p_filesz > most) continue;
    std::string notes(segment.p_filesz, '\0');
    stream.seekg(static_cast<std::streamoff>(segment.p_offset));
    if (!stream.read(notes.data(), static_cast<std::streamsize>(notes.size()))) break;
    const std::string id = build_id(notes);
    if (!id.empty()) return "build id " + id;
  }
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return "";
  return fmt::format("{} bytes of {}.{}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

std::vector<std::string> loader_folders() {
  std::vector<std::string> folders;
  std::istringstream path(read_environment().library_path);
  for (std::string folder; std::getline(path, folder, ':');)
    if (!folder.empty()) folders.push_back(folder);
  return folders;
}

}  // namespace ondula::jit
