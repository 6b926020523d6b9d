// Entry points: modules, functions, launches.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstdint>

#include "runtime/device/sim/driver_call.hpp"
#include "runtime/device/sim/driver_capture.hpp"
#include "runtime/device/sim/driver_entries.hpp"
#include "runtime/device/sim/driver_image.hpp"
#include "runtime/device/sim/driver_nvrtc.hpp"

namespace ondula::sim::driver {
namespace {

constexpr unsigned most_threads = 1024;
constexpr std::array<unsigned, 3> most_block = {1024, 1024, 64};
constexpr std::array<unsigned, 3> most_grid = {2147483647, 65535, 65535};
constexpr std::size_t shared_limit = 49152, shared_limit_chosen = 101376;
/// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, _PREFERRED_SHARED_MEMORY_CARVEOUT.
constexpr int attribute_dynamic_shared = 8, attribute_carveout = 9;

/// A device takes what was made for its own major version and no later minor one.
void require_capability(const Configuration& c, int capability, bool portable) {
  const bool fits = portable ? capability <= c.capability
                             : capability / 10 == c.capability / 10 && capability <= c.capability;
  if (!fits) throw Refusal{cuda::result::no_binary_for_gpu};
}

cuda::Module load(World& world, ContextObject& context, const void* image) {
  refuse_unsafe(world);
  const Image read = read_image(world, image);
  const Configuration& c = world.configuration;
  if (c.driver_version / 1000 < nvrtc_major && c.old_driver != 0) throw Refusal{c.old_driver};
  std::shared_ptr<Program> program;
  try {
    program = Program::load(read.binary);
  } catch (const std::exception& error) {
    world.explain(cuda::result::invalid_image, error.what());
    throw Refusal{cuda::result::invalid_image};
  }
  require_capability(c, program->capability(), read.portable);
  auto module = std::make_unique<ModuleObject>();
  module->context = &context;
  module->program = std::move(program);
  return world.modules.add(std::move(module));
}

int attribute_of(const FunctionObject& function, int attribute) {
  switch (attribute) {
    case cuda::function_attribute::max_threads_per_block:
      return function.kernel->threads_bound;
    case cuda::function_attribute::shared_bytes:
      return static_cast<int>(function.kernel->shared_bytes);
    case cuda::function_attribute::local_bytes:
      return 0;
    case cuda::function_attribute::registers:
      return 0;  // there are none to count
    case attribute_dynamic_shared:
      return static_cast<int>(function.dynamic_shared);
    default:
      throw Refusal{cuda::result::invalid_value};
  }
}

void require_shape(const FunctionObject& function, const Launch& launch) {
  std::uint64_t threads = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    require(launch.grid[axis] > 0 && launch.grid[axis] <= most_grid[axis]);
    require(launch.block[axis] > 0 && launch.block[axis] <= most_block[axis]);
    threads *= launch.block[axis];
  }
  require(threads <= most_threads);
  require(launch.shared_bytes <= function.dynamic_shared);
  if (threads > static_cast<std::uint64_t>(function.kernel->threads_bound))
    throw Refusal{cuda::result::launch_out_of_resources};
}

void require_arguments(const Kernel& kernel, void* const* arguments) {
  require(kernel.parameters.empty() || arguments != nullptr);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) require(arguments[i] != nullptr);
}

}  // namespace
}  // namespace ondula::sim::driver

using namespace ondula;               // NOLINT: what follows belongs to no namespace
using namespace ondula::sim;          // NOLINT
using namespace ondula::sim::driver;  // NOLINT

cuda::Result cuModuleLoadDataEx(cuda::Module* handle, const void* image, unsigned count, int* options,
                                void** values) {
  return context_call("cuModuleLoadDataEx", Kind::plain, [&](World& world, ContextObject& context) {
    require(handle != nullptr && (count == 0 || (options != nullptr && values != nullptr)));
    *handle = load(world, context, image);
  });
}

cuda::Result cuModuleLoadData(cuda::Module* handle, const void* image) {
  return context_call("cuModuleLoadData", Kind::plain, [&](World& world, ContextObject& context) {
    require(handle != nullptr);
    *handle = load(world, context, image);
  });
}

cuda::Result cuModuleUnload(cuda::Module handle) {
  return context_call("cuModuleUnload", Kind::releases, [&](World& world, ContextObject& context) {
    const ModuleObject& module = object(world.modules, handle, context);
    refuse_unsafe(world);
    for (const auto& [name, function] : module.functions) world.functions.erase(function);
    world.modules.erase(handle);
  });
}

cuda::Result cuModuleGetFunction(cuda::Function* function, cuda::Module handle, const char* name) {
  return context_call("cuModuleGetFunction", Kind::plain, [&](World& world, ContextObject& context) {
    require(function != nullptr && name != nullptr);
    ModuleObject& module = object(world.modules, handle, context);
    const Kernel* const kernel = module.program->find(name);
    if (kernel == nullptr) throw Refusal{cuda::result::not_found};
    cuda::Function& known = module.functions[name];
    if (known == nullptr) {
      auto made = std::make_unique<FunctionObject>();
      made->context = &context;
      made->program = module.program;
      made->kernel = kernel;
      made->dynamic_shared = shared_limit - std::min(shared_limit, kernel->shared_bytes);
      known = world.functions.add(std::move(made));
    }
    *function = known;
  });
}

cuda::Result cuFuncGetAttribute(int* value, int attribute, cuda::Function handle) {
  return context_call("cuFuncGetAttribute", Kind::plain, [&](World& world, ContextObject& context) {
    require(value != nullptr);
    *value = attribute_of(object(world.functions, handle, context), attribute);
  });
}

cuda::Result cuFuncSetAttribute(cuda::Function handle, int attribute, int value) {
  return context_call("cuFuncSetAttribute", Kind::plain, [&](World& world, ContextObject& context) {
    FunctionObject& function = object(world.functions, handle, context);
    if (attribute == attribute_carveout) return;
    require(attribute == attribute_dynamic_shared && value >= 0);
    const auto bytes = static_cast<std::size_t>(value);
    require(bytes + function.kernel->shared_bytes <= shared_limit_chosen);
    function.dynamic_shared = bytes;
  });
}

// As many as fit by threads, blocks and shared memory of a multiprocessor.
cuda::Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, cuda::Function handle, int threads,
                                                         std::size_t shared_bytes) {
  return context_call(
      "cuOccupancyMaxActiveBlocksPerMultiprocessor", Kind::plain, [&](World& world, ContextObject& context) {
        constexpr std::size_t threads_there = 2048, blocks_there = 32, shared_there = 102400, warp = 32;
        const FunctionObject& function = object(world.functions, handle, context);
        require(blocks != nullptr && threads > 0);
        const auto wanted = static_cast<std::size_t>(threads);
        const std::size_t shared = shared_bytes + function.kernel->shared_bytes;
        std::size_t fit = std::min(blocks_there, threads_there / ((wanted + warp - 1) / warp * warp));
        if (shared > 0) fit = std::min(fit, shared_there / shared);
        if (threads > function.kernel->threads_bound) fit = 0;
        *blocks = static_cast<int>(fit);
      });
}

cuda::Result cuLaunchKernel(cuda::Function handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                            unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                            cuda::Stream stream_handle, void** arguments, void** extra) {
  return context_call("cuLaunchKernel", Kind::plain, [&](World& world, ContextObject& context) {
    const FunctionObject& function = object(world.functions, handle);
    StreamObject& stream = stream_of(world, context, stream_handle);
    if (function.context != stream.context) throw Refusal{cuda::result::invalid_handle};
    require(extra == nullptr);
    KernelRun run;
    run.program = function.program;
    run.launch.program = function.program.get();
    run.launch.kernel = function.kernel;
    run.launch.grid = {grid_x, grid_y, grid_z};
    run.launch.block = {block_x, block_y, block_z};
    run.launch.shared_bytes = shared_bytes;
    require_shape(function, run.launch);
    require_arguments(*function.kernel, arguments);
    run.launch.arguments = function.kernel->pack(arguments);
    refuse_implicit(world, stream);
    if (capturing(stream))
      capture(stream, std::move(run), handle);
    else
      world.enqueue(stream, std::move(run));
  });
}
