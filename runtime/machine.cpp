// The three ways to run steps.
// SPDX-License-Identifier: MIT
#include "runtime/machine.hpp"

#include <fmt/format.h>

#include <utility>

#include "compiler/emit/cuda_launch.hpp"
#include "compiler/emit/host_text.hpp"
#include "compiler/emit/manifest.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/cuda_candidates.hpp"
#include "runtime/device/cuda/device.hpp"
#include "runtime/device/cuda/foreign_memory.hpp"
#include "runtime/environment.hpp"
#include "runtime/jit/join.hpp"
#include "runtime/jit/nvrtc.hpp"
#include "runtime/loop/cuda_engine.hpp"
#include "runtime/loop/cuda_meter.hpp"
#include "runtime/loop/cuda_tier.hpp"
#include "runtime/loop/present.hpp"
#include "runtime/loop/ring_layout.hpp"
#include "runtime/loop/tiered_history.hpp"
#include "runtime/shot_batch.hpp"

namespace ondula {
namespace {

std::string library_of(Backend backend) {
  if (backend == Backend::cuda) return cuda::driver_library();
  std::vector<std::string> searched;
  const std::string path = cuda::stand_in_library(&searched);
  if (!path.empty()) return path;
  throw RuntimeError(
      fmt::format("libondula-cuda-sim.so is missing, the stand-in of backend cuda-sim. Looked at: {}. Build "
                  "Ondula with LLVM "
                  "and Clang 19, or let ONDULA_CUDA_SIM name it",
                  jit::join(searched, ", ")));
}

}  // namespace

std::string backend_problem(Backend backend) {
  try {
    if (!runs_cuda(backend)) return "";
    const cuda::DriverStatus driver = cuda::inspect_driver(library_of(backend));
    if (!driver.usable) return driver.problem;
    return jit::inspect_nvrtc(backend == Backend::cuda_sim ? driver.path : "").problem;
  } catch (const Error& error) {
    return error.what();
  }
}

bool StepKernels::compiled() const {
  if (host) return !host->record().cache_hit;
  return cuda && !cuda->module->record().cache_hit;
}

void StepKernels::add_shapes(std::vector<LaunchShape>& shapes) const {
  if (!cuda) return;
  for (const ir::CudaKernel& kernel : cuda->program.kernels)
    shapes.push_back({kernel.name, passes::shape_text(passes::shape_of(kernel)), kernel.shape_given});
}

double Machine::tuning_seconds() const { return options_.cuda_tuner ? options_.cuda_tuner->seconds() : 0; }

loop::CudaSource Machine::shaped(loop::CudaSource table, const passes::Compilation& compilation,
                                 const ir::Domain& domain, int least_halo) const {
  const cuda::DeviceFacts& device = cuda::require_device(*driver_, options_.device);
  const std::vector<std::string>& axes = compilation.physical.axes;
  std::vector<std::int64_t> totals;
  loop::EngineSetup setup;
  setup.domain = domain;
  setup.symbols["dt"] = options_.dt;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    setup.symbols["h_" + axes[a]] = domain.spacing[a];
    totals.push_back(domain.total(static_cast<int>(a)));
  }
  setup.dtype = options_.dtype;
  setup.least_halo = least_halo;
  const jit::TuningSubject subject{"", device.name, device.multiprocessors, driver_->version().text(),
                                   jit::grid_class(axes, totals)};
  loop::MakeCudaMeter make;
  if (options_.tune) {
    make = [&] {
      return std::make_unique<loop::CudaLaunchMeter>(make_cuda_device(nullptr), compilation.kernels, setup);
    };
  }
  return options_.cuda_tuner->shaped(std::move(table), subject, make);
}

void Machine::ready() {
  if (cuda()) {
    if (!driver_) driver_ = cuda::Driver::open(library_of(options_.backend));
    static_cast<void>(cuda::require_device(*driver_, options_.device));
    if (!options_.cuda_compiler) {
      // The stand-in is its own NVRTC.
      const std::string toolkit = driver_->stand_in() ? driver_->path() : "";
      options_.cuda_compiler = std::make_shared<jit::CudaCompiler>(options_.cache, options_.log, toolkit);
    }
    if (!options_.cuda_tuner && !driver_->stand_in())
      options_.cuda_tuner = std::make_shared<loop::CudaTuner>(options_.cuda_compiler, options_.log);
    if (!options_.cuda_tuner && options_.tune && options_.log)
      options_.log(
          "no launch shapes are measured on cuda-sim, whose times tell nothing of a GPU's; they are the "
          "table's");
  } else if (!reference() && !options_.compiler) {
    options_.compiler = std::make_shared<jit::HostCompiler>(options_.cache, options_.log);
  }
}

StepSource Machine::source(const passes::Compilation& compilation, const ir::Domain& domain,
                           int least_halo) const {
  StepSource made;
  if (cuda()) {
    const cuda::DeviceFacts& device = cuda::require_device(*driver_, options_.device);
    made.cuda = loop::cuda_source(compilation, domain, options_.dtype, least_halo,
                                  options_.cuda_compiler->architecture_for(device.major, device.minor),
                                  several_shots(domain));
    if (options_.cuda_tuner) made.cuda = shaped(std::move(made.cuda), compilation, domain, least_halo);
  } else if (!reference()) {
    const emit::Real real = options_.dtype == DType::float32 ? emit::Real::float32 : emit::Real::float64;
    made.host = {emit::host_text(compilation.kernels, real),
                 compilation.physical.equation,
                 {},
                 emit::manifest(compilation.kernels, real),
                 emit::host_parts(compilation.kernels)};
  }
  return made;
}

StepKernels Machine::compile(StepSource source) const {
  StepKernels kernels;
  if (cuda())
    kernels.cuda = loop::compile_cuda(std::move(source.cuda), *options_.cuda_compiler);
  else if (!reference())
    kernels.host = options_.compiler->compile(source.host);
  return kernels;
}

std::unique_ptr<device::Device> Machine::make_device() const {
  if (reference()) return nullptr;
  if (!cuda())
    return device::make_host_device(options_.threads, options_.poison, options_.device_bytes_limit);
  return make_cuda_device(static_cast<cuda::Stream>(options_.stream));
}

std::unique_ptr<cuda::Device> Machine::make_cuda_device(cuda::Stream stream) const {
  // The stand-in's check mode sees each allocation by itself.
  const bool checked = driver_->stand_in() && read_environment().sim_mode == "check";
  return std::make_unique<cuda::Device>(
      cuda::DeviceOptions{driver_, options_.device, options_.device_bytes_limit, options_.poison || checked,
                          options_.threads, stream, static_cast<cuda::Context>(options_.context)});
}

template <class F>
auto Machine::on_device(device::Device* device, const std::string& what, const F& body) {
  if (!cuda()) {
    throw UserError(
        fmt::format("{}: device memory belongs to the backends cuda and cuda-sim; the backend is {}", what,
                    backend_name(options_.backend)));
  }
  if (device != nullptr) return body(dynamic_cast<cuda::Device&>(*device));
  ready();
  const std::unique_ptr<device::Device> own = make_device();
  return body(dynamic_cast<cuda::Device&>(*own));
}

std::vector<double> Machine::read(device::Device* device, const std::string& what,
                                  const ConstArrayView& from) {
  return on_device(device, what, [&](cuda::Device& own) { return cuda::read_foreign(own, what, from); });
}

void Machine::write(device::Device* device, const std::string& what, std::span<const double> values,
                    const ArrayView& to) {
  on_device(device, what, [&](cuda::Device& own) { cuda::write_foreign(own, what, values, to); });
}

void Machine::require_host(device::Device* device, const std::string& what, const ConstArrayView& view) {
  if (cuda() && device != nullptr && device->sound())
    cuda::require_host(dynamic_cast<cuda::Device&>(*device), what, view);
}

std::size_t Machine::engine_bytes(const passes::Compilation& compilation, const ir::Domain& domain,
                                  int least_halo, std::int64_t shots, std::int64_t every,
                                  const loop::PointCounts& points) const {
  if (reference()) return 0;
  if (!cuda()) return loop::compiled_engine_bytes(compilation, domain, options_.dtype, least_halo);
  return loop::cuda_engine_bytes(compilation, domain, options_.dtype, least_halo, shots, every, points);
}

std::size_t Machine::points_bytes(std::int64_t every, const loop::PointCounts& points) const {
  return cuda() ? loop::cuda_points_bytes(options_.dtype, every, points) : 0;
}

std::size_t Machine::slot_bytes(const passes::Compilation& compilation, const ir::Domain& domain,
                                int least_halo, std::int64_t shots, std::size_t saves) const {
  const loop::RingLayout rings = loop::ring_layout(compilation.physical, domain);
  if (rings.size > 0 && !reference()) {
    const std::size_t element = options_.dtype == DType::float32 ? sizeof(float) : sizeof(double);
    const std::int64_t stride = loop::ring_stride(rings, element);
    return static_cast<std::size_t>(loop::shots_size(rings.size, stride, shots)) * element;
  }
  if (!cuda()) return loop::history_slot_bytes(compilation, domain, options_.dtype, least_halo, saves);
  return loop::cuda_history_bytes(compilation, domain, options_.dtype, least_halo, shots, saves);
}

TierBytes Machine::history_bytes(Tier tier, std::int64_t slots, std::size_t bytes) const {
  const std::int64_t held = cuda() ? loop::cuda_window(tier, slots, bytes) : loop::host_window(tier, slots);
  TierBytes all{static_cast<std::size_t>(held) * bytes, 0, 0};
  if (held == slots) return all;
  if (!cuda()) all.device = static_cast<std::size_t>(held) * storage::blob_room(tier, bytes);
  storage::BlobOptions blobs;
  blobs.count = slots;
  blobs.bytes = bytes;
  blobs.tier = tier;
  const storage::BlobBytes below = storage::blob_bytes(blobs);
  all.host = below.host;
  all.disk = below.disk;
  if (cuda() && tier == Tier::disk)
    all.host += static_cast<std::size_t>(loop::cuda_tier_staging(bytes)) * storage::blob_room(tier, bytes);
  return all;
}

std::size_t Machine::state_bytes(const passes::Compilation& compilation, const ir::Domain& domain,
                                 int least_halo, std::int64_t shots) const {
  return loop::present_bytes(compilation, domain, options_.dtype, least_halo, shots);
}

std::int64_t Machine::most_shots(const ir::Domain& domain) const {
  return several_shots(domain) ? emit::cuda_most_shots(domain) : 1;
}

/// Kernels of several shots want some registers more: a grid that has a launch for itself does without.
bool Machine::several_shots(const ir::Domain& domain) const {
  if (!cuda()) return false;
  const cuda::DeviceFacts* const facts = options_.shot_batch == 0 ? device_facts() : nullptr;
  return options_.shot_batch > 1 ||
         (facts != nullptr && filling_batch(domain.points(), facts->multiprocessors) > 1);
}

const cuda::DeviceFacts* Machine::device_facts() const {
  if (!cuda()) return nullptr;
  try {
    if (!driver_) driver_ = cuda::Driver::open(library_of(options_.backend));
    return &cuda::require_device(*driver_, options_.device);
  } catch (const Error&) {
    return nullptr;
  }
}

std::unique_ptr<loop::Engine> Machine::make_engine(const passes::Compilation& compilation,
                                                   const loop::EngineSetup& setup, device::Device* device,
                                                   const StepKernels& kernels) const {
  if (reference()) return loop::make_reference_engine(compilation, setup);
  if (!cuda()) return loop::make_compiled_engine(compilation, setup, *device, kernels.host);
  const bool graphs = read_environment().cuda_graphs != "off";
  return loop::make_cuda_engine(compilation, setup, dynamic_cast<cuda::Device&>(*device), kernels.cuda,
                                graphs);
}

}  // namespace ondula
