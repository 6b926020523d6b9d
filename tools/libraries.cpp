// Finds the shared libraries and programs of the CUDA driver, its toolkit, MPI and NCCL.
// SPDX-License-Identifier: MIT
#include "tools/libraries.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <sstream>

#include "runtime/environment.hpp"
#include "runtime/jit/cuda_toolkit.hpp"

namespace ondula::tools {
namespace {

namespace fs = std::filesystem;

struct CloseLibrary {
  void operator()(void* handle) const { dlclose(handle); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

/// The file a loaded symbol came from.
std::string file_of(void* symbol) {
  Dl_info info = {};
  return dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

/// Opens the first of the names that can be, in each folder and then by the loader, and asks for `symbol`.
Finding find_library(const std::string& what, const std::vector<std::string>& names, const char* symbol,
                     const std::vector<std::string>& folders, std::string remedy) {
  Finding finding{what, "", "", {}, std::move(remedy)};
  std::vector<std::string> candidates;
  for (const std::string& folder : folders) {
    for (const std::string& name : names) candidates.push_back(folder + "/" + name);
  }
  candidates.insert(candidates.end(), names.begin(), names.end());
  for (const std::string& candidate : candidates) {
    finding.searched.push_back(candidate);
    const Library library(dlopen(candidate.c_str(), RTLD_LAZY | RTLD_LOCAL));
    if (!library) continue;
    void* const found = dlsym(library.get(), symbol);
    if (found == nullptr) continue;
    finding.path = file_of(found);
    return finding;
  }
  return finding;
}

Finding find_program(const std::string& what, const std::string& name, std::vector<std::string> folders,
                     std::string remedy) {
  Finding finding{what, "", "", {}, std::move(remedy)};
  std::istringstream path(read_environment().path);
  for (std::string folder; std::getline(path, folder, ':');) {
    if (!folder.empty()) folders.push_back(folder);
  }
  for (const std::string& folder : folders) {
    const std::string candidate = folder + "/" + name;
    finding.searched.push_back(candidate);
    if (access(candidate.c_str(), X_OK) != 0) continue;
    finding.path = candidate;
    return finding;
  }
  return finding;
}

}  // namespace

std::vector<Finding> find_optional_parts() {
  std::vector<std::string> libraries, programs;
  for (const std::string& folder : jit::cuda_toolkits()) {
    libraries.push_back(folder + "/lib64");
    programs.push_back(folder + "/bin");
  }
  return {
      find_program("CUDA toolkit", "nvcc", programs, "set CUDA_HOME to its folder"),
      find_library("NCCL", {"libnccl.so.2"}, "ncclGetVersion", libraries, "a package of its own"),
      find_library("MPI", {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi.so"}, "MPI_Init", {},
                   "on Debian: libopenmpi-dev"),
      find_program("mpirun", "mpirun", {}, "on Debian: openmpi-bin"),
  };
}

}  // namespace ondula::tools
