// Where a CUDA toolkit may be, and which NVRTC is in it.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace ondula::jit {

/// The folders of toolkits, in the order they are tried: `toolkit` if given, else CUDA_HOME, CUDA_PATH and
/// the default place.
std::vector<std::string> cuda_toolkits(const std::string& toolkit = "");

/// NVRTC's file, found but not opened.
struct NvrtcFile {
  std::string path;                   ///< empty: not found
  std::string build;                  ///< what tells this very build from any other; empty: not found
  std::vector<std::string> searched;  ///< folders, in order, then "the loader's path"
};

/// Looks for libnvrtc.so.* (the newest in each folder) in the toolkits' library folders, then, unless
/// `toolkit` is given, where the loader looks. A `toolkit` that is a file is the library itself.
NvrtcFile find_nvrtc(const std::string& toolkit = "");

/// What tells a library's build from any other: the build id its linker wrote, else its size and time.
/// Empty where the file cannot be read.
std::string library_build(const std::string& path);

/// The folders in which the loader and NVRTC look for a library, for messages: those of LD_LIBRARY_PATH.
std::vector<std::string> loader_folders();

}  // namespace ondula::jit
