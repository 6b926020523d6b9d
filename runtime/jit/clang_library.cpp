// Opens the Clang module with dlopen, apart from any LLVM the host program has.
// SPDX-License-Identifier: MIT
#include "runtime/jit/clang_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>

#include "compiler/error.hpp"
#include "runtime/clang/clang_version.h"
#include "runtime/environment.hpp"
#include "runtime/jit/join.hpp"

namespace ondula::jit {
namespace {

namespace fs = std::filesystem;

constexpr const char* module_name = "libondula-clang.so";

/// The folder of the library or program this very code is part of.
fs::path own_folder() {
  Dl_info info = {};
  std::error_code ignored;
  if (dladdr(reinterpret_cast<void*>(&inspect_clang), &info) == 0 || info.dli_fname == nullptr) return {};
  return fs::weakly_canonical(info.dli_fname, ignored).parent_path();
}

/// Where the module may be: beside us, in a build tree's folder, under an installation's prefix.
std::vector<std::string> candidates() {
  const std::string named = read_environment().clang_module;
  if (!named.empty()) return {named};
  std::error_code ignored;
  const fs::path own = own_folder(), program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<std::string> paths;
  const auto add = [&](const fs::path& folder) {
    const std::string path = (folder / module_name).lexically_normal().string();
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  };
  for (const fs::path& folder : {own, program}) {
    if (folder.empty()) continue;
    add(folder);
    add(folder / "clang");
    add(folder / ".." / "runtime" / "clang");
    add(folder / ".." / ".." / "clang");  // of the stand-in driver
    add(folder / ONDULA_LIBDIR_FROM_PROGRAM);
  }
  add(ONDULA_LIBDIR);
  return paths;
}

ClangStatus look() {
  ClangStatus status;
  status.built_version = built_clang_version();
  status.searched = candidates();
  std::error_code ignored;
  for (const std::string& path : status.searched) {
    if (!fs::exists(path, ignored)) continue;
    status.path = path;
    break;
  }
  if (status.path.empty())
    status.problem = fmt::format(
        "{} is missing, which compiles kernels for the host. Looked at: {}. Build Ondula with LLVM and Clang "
        "19 "
        "(llvm-19-dev, libclang-19-dev, libclang-cpp19-dev), or let ONDULA_CLANG_MODULE name it",
        module_name, join(status.searched, ", "));
  return status;
}

/// RTLD_DEEPBIND: libclang-cpp has no symbol versions, and a host program may carry another LLVM.
void* open_module(ClangStatus& status) {
  void* handle = dlopen(status.path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* reason = dlerror();
    status.problem =
        fmt::format("{} cannot be opened: {}", status.path, reason != nullptr ? reason : "unknown");
  }
  return handle;
}

}  // namespace

std::string built_clang_version() { return ONDULA_CLANG_VERSION; }

std::string ondula_version() { return ONDULA_VERSION; }

ClangLibrary::ClangLibrary(ClangStatus& status) {
  status = look();
  void* handle = status.path.empty() ? nullptr : open_module(status);
  if (handle == nullptr) return;
  const auto find = [&](const char* name) {
    void* address = dlsym(handle, name);
    if (address == nullptr)
      status.problem = fmt::format("{} lacks {}: it is of another Ondula", status.path, name);
    return address;
  };
  const auto interface = reinterpret_cast<ondula_clang_interface_function*>(find("ondula_clang_interface"));
  const auto version = reinterpret_cast<ondula_clang_version_function*>(find("ondula_clang_version"));
  compile_ = reinterpret_cast<ondula_clang_compile_function*>(find("ondula_clang_compile"));
  build_ = reinterpret_cast<ondula_clang_build_function*>(find("ondula_clang_build"));
  format_ = reinterpret_cast<ondula_clang_format_function*>(find("ondula_clang_format"));
  release_ = reinterpret_cast<ondula_clang_release_function*>(find("ondula_clang_release"));
  if (!status.problem.empty()) return;
  if (interface() != ONDULA_CLANG_INTERFACE) {
    status.problem = fmt::format("{} has interface {}, this Ondula needs {}: it is of another build",
                                 status.path, interface(), ONDULA_CLANG_INTERFACE);
    return;
  }
  path_ = status.path;
  version_ = version();
  status.version = version_;
  status.usable = true;
}

ClangLibrary::ClangLibrary() {
  ClangStatus status;
  *this = ClangLibrary(status);
  if (!status.usable) throw RuntimeError(status.problem);
}

namespace {

std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

ClangLibrary::Compiled taken(const ondula_clang_result& result) {
  ClangLibrary::Compiled compiled;
  compiled.succeeded = result.succeeded != 0;
  const auto* object = reinterpret_cast<const std::byte*>(result.object);
  if (result.object_size > 0) compiled.object.assign(object, object + result.object_size);
  compiled.log.assign(result.log, result.log_size);
  if (result.findings != nullptr) compiled.findings = result.findings;
  std::istringstream names(result.dependencies != nullptr ? result.dependencies : "");
  for (std::string name; std::getline(names, name);) compiled.dependencies.push_back(name);
  return compiled;
}

}  // namespace

ClangLibrary::Compiled ClangLibrary::compile(const std::string& name, const std::string& text,
                                             const std::vector<std::string>& arguments) const {
  const std::vector<const char*> pointers = pointers_to(arguments);
  const ondula_clang_request request = {name.c_str(), text.data(), text.size(), pointers.data(),
                                        pointers.size()};
  ondula_clang_result result = {};
  compile_(&request, &result);
  const std::unique_ptr<ondula_clang_result, ondula_clang_release_function*> owner(&result, release_);
  return taken(result);
}

ClangLibrary::Compiled ClangLibrary::build(const std::string& path, const std::string& text,
                                           const std::vector<Header>& headers,
                                           const std::vector<std::string>& arguments) const {
  const std::vector<const char*> pointers = pointers_to(arguments);
  std::vector<ondula_clang_text> texts;
  for (const Header& header : headers)
    texts.push_back({header.name.c_str(), header.text.data(), header.text.size()});
  const ondula_clang_program program = {
      {path.c_str(), text.data(), text.size()}, texts.data(), texts.size(), pointers.data(), pointers.size()};
  ondula_clang_result result = {};
  build_(&program, &result);
  const std::unique_ptr<ondula_clang_result, ondula_clang_release_function*> owner(&result, release_);
  return taken(result);
}

std::string ClangLibrary::format(const std::string& name, const std::string& text) const {
  const ondula_clang_text request = {name.c_str(), text.data(), text.size()};
  ondula_clang_result result = {};
  format_(&request, &result);
  const std::unique_ptr<ondula_clang_result, ondula_clang_release_function*> owner(&result, release_);
  if (result.succeeded == 0) throw RuntimeError(fmt::format("{} cannot be formatted: {}", name, result.log));
  return {result.object, result.object_size};
}

ClangStatus inspect_clang() {
  ClangStatus status;
  const ClangLibrary library(status);
  return status;
}

}  // namespace ondula::jit
