// Reads the environment variables; no other file calls getenv.
// SPDX-License-Identifier: MIT
#include "runtime/environment.hpp"

#include <cstdlib>

namespace ondula {
namespace {

std::string variable(const char* name, const char* fallback = "") {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : fallback;
}

}  // namespace

Environment read_environment() {
  Environment environment;
  environment.cache = variable("ONDULA_CACHE");
  environment.cache_limit = variable("ONDULA_CACHE_LIMIT");
  environment.clang_module = variable("ONDULA_CLANG_MODULE");
  environment.cpu_features = variable("ONDULA_CPU_FEATURES");
  environment.data = variable("ONDULA_DATA");
  environment.cuda_home = variable("CUDA_HOME");
  environment.cuda_path = variable("CUDA_PATH");
  environment.library_path = variable("LD_LIBRARY_PATH");
  environment.path = variable("PATH");
  environment.cache_home = variable("XDG_CACHE_HOME");
  environment.home = variable("HOME");
  environment.temporary = variable("TMPDIR", "/tmp");
  environment.sim_mode = variable("ONDULA_SIM_MODE");
  environment.sim_seed = variable("ONDULA_SIM_SEED");
  environment.sim_devices = variable("ONDULA_SIM_DEVICES");
  environment.sim_capability = variable("ONDULA_SIM_CAPABILITY");
  environment.sim_memory = variable("ONDULA_SIM_MEMORY");
  environment.sim_driver_version = variable("ONDULA_SIM_DRIVER_VERSION");
  return environment;
}

}  // namespace ondula
