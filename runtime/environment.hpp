// The environment variables Ondula heeds, read in one place.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace ondula {

/// Every variable Ondula reads; an unset one is an empty string. An option of the caller's beats its
/// variable.
struct Environment {
  std::string cache;         ///< ONDULA_CACHE: the kernel cache's folder, or "off"
  std::string cache_limit;   ///< ONDULA_CACHE_LIMIT: its size limit, for example "500 MB" or "2 GiB"
  std::string clang_module;  ///< ONDULA_CLANG_MODULE: path of libondula-clang.so, instead of the usual places
  std::string cpu_features;  ///< ONDULA_CPU_FEATURES: features to compile for ("avx2,fma") or to leave out
                             ///< ("-avx512f")
  std::string cuda_driver;   ///< ONDULA_CUDA_DRIVER: the CUDA driver's library, instead of libcuda.so.1
  std::string cuda_stand_in;  ///< ONDULA_CUDA_SIM: path of libondula-cuda-sim.so, instead of the usual places
  std::string cuda_graphs;    ///< ONDULA_CUDA_GRAPHS: "off" launches every kernel by itself
  std::string data;           ///< ONDULA_DATA: the folder of the real models and reference records
  std::string cuda_home;      ///< CUDA_HOME: a CUDA toolkit's folder, where NVRTC is looked for first
  std::string cuda_path;      ///< CUDA_PATH: another one, looked at next
  std::string library_path;   ///< LD_LIBRARY_PATH: the loader's, told of where a library is missing
  std::string path;           ///< PATH: where `ondula doctor` looks for programs
  std::string cache_home;     ///< XDG_CACHE_HOME: where a user's caches live
  std::string home;           ///< HOME: used when XDG_CACHE_HOME is unset
  /// TMPDIR: where scratch files go, and the source of a failed compile without a cache; "/tmp" when unset
  std::string temporary;
  std::string sim_mode;        ///< ONDULA_SIM_MODE: how the stand-in driver runs: "fast", "shuffle", "check"
  std::string sim_seed;        ///< ONDULA_SIM_SEED: of the orders that shuffle and check draw
  std::string sim_devices;     ///< ONDULA_SIM_DEVICES: how many devices it pretends to have
  std::string sim_capability;  ///< ONDULA_SIM_CAPABILITY: their compute capability, "90"
  std::string sim_memory;      ///< ONDULA_SIM_MEMORY: memory of each, "16 GiB"
  std::string sim_driver_version;  ///< ONDULA_SIM_DRIVER_VERSION: the driver's version, "13000"
};

/// Reads the variables as they are now.
Environment read_environment();

}  // namespace ondula
