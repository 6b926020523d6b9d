// Binding a host launch's arrays and numbers to the CUDA kernels of its sweep.
// SPDX-License-Identifier: MIT
#include "tests/runtime/device/sim/sim_device.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "compiler/emit/cuda_launch.hpp"
#include "compiler/emit/manifest.hpp"
#include "compiler/error.hpp"
#include "runtime/device/sim/compile.hpp"

namespace ondula::test {
namespace {

using Kind = ir::CudaArgument::Kind;

class SimDevice final : public device::Device {
 public:
  explicit SimDevice(const SimSetup& setup)
      : setup_(setup), host_(device::make_host_device(1)), program_(setup.kernels) {}

  std::string name() const override { return "the stand-in's executor"; }
  int threads() const override { return 1; }

  device::Buffer allocate(std::size_t bytes) override {
    device::Buffer buffer = host_->allocate(bytes);
    void* const data = buffer.data();
    std::memset(data, 0xff, bytes);
    shadow_.add(reinterpret_cast<std::uint64_t>(data), bytes);
    buffers_[data] = std::move(buffer);
    account(bytes);
    return {this, data, bytes};
  }
  void fill_zero(device::Buffer& buffer) override { std::memset(buffer.data(), 0, buffer.bytes()); }
  void upload(device::Buffer& to, std::size_t offset, const void* from, std::size_t bytes) override {
    host_->upload(to, offset, from, bytes);
  }
  void download(const device::Buffer& from, std::size_t offset, void* to, std::size_t bytes) const override {
    host_->download(from, offset, to, bytes);
  }
  void copy(const device::Buffer& from, device::Buffer& to) override { host_->copy(from, to); }
  void scatter_add(device::Buffer& buffer, DType dtype, std::span<const device::Weighted> to,
                   double amplitude) override {
    host_->scatter_add(buffer, dtype, to, amplitude);
  }
  double gather(const device::Buffer& buffer, DType dtype,
                std::span<const device::Weighted> from) const override {
    return host_->gather(buffer, dtype, from);
  }
  void parallel(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& body) override {
    host_->parallel(count, body);
  }

  void launch(const device::Launch& launch) override {
    using Function = void (*)(void* const*, const std::int64_t*, const void*, std::int64_t*);
    std::int64_t sweep = -1;
    reinterpret_cast<Function>(launch.function)(launch.arrays.data(), launch.integers.data(),
                                                launch.scalars.data(), &sweep);
    if (setup_.mode == sim::Mode::check) note_host_writes();
    for (const ir::CudaKernel& kernel : setup_.program.kernels)
      if (kernel.sweep == sweep) run(kernel, launch);
  }

 protected:
  void release(void* data, std::size_t bytes) noexcept override {
    shadow_.remove(reinterpret_cast<std::uint64_t>(data), setup_.record->findings);
    buffers_.erase(data);
    unaccount(bytes);
  }

 private:
  /// The engine writes buffers itself: what is no longer the NaN of fresh memory has been written.
  void note_host_writes() {
    constexpr std::uint32_t fresh = 0xffffffff;
    for (const auto& [data, buffer] : buffers_) {
      const std::size_t words = buffer.bytes() / 4;
      const auto* values = static_cast<const std::uint32_t*>(data);
      for (std::size_t i = 0; i < words;) {
        const std::size_t begin = i;
        while (i < words && values[i] != fresh) ++i;
        if (i > begin)
          shadow_.wrote(reinterpret_cast<std::uint64_t>(values + begin), 4 * (i - begin), 0, "the host",
                        setup_.record->findings);
        while (i < words && values[i] == fresh) ++i;
      }
    }
  }

  void run(const ir::CudaKernel& kernel, const device::Launch& from) {
    const emit::CudaLaunch plan = emit::cuda_launch(setup_.program, kernel, setup_.domain, 1);
    if (plan.empty()) return;
    sim::Launch launch;
    launch.program = program_.get();
    launch.kernel = program_->find(kernel.name);
    if (launch.kernel == nullptr) throw RuntimeError("there is no kernel " + kernel.name);
    launch.grid = plan.grid;
    launch.block = plan.block;
    launch.operation = ++operations_;
    launch.arguments.resize(launch.kernel->argument_bytes);
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) bind(kernel, i, plan, from, launch);
    if (setup_.plant) setup_.plant(launch);
    sim::RunOptions options;
    options.mode = setup_.mode;
    options.seed = setup_.seed;
    options.shadow = &shadow_;
    options.counters = &setup_.record->counters[kernel.name];
    options.count_sectors = setup_.count_sectors;
    sim::run(launch, options, setup_.record->findings);
  }

  /// Puts argument `i` in its place.
  void bind(const ir::CudaKernel& kernel, std::size_t i, const emit::CudaLaunch& plan,
            const device::Launch& from, sim::Launch& to) const {
    const ir::CudaArgument& argument = kernel.arguments[i];
    const sim::Parameter& parameter = to.kernel->parameters.at(i);
    const ir::Kernel& source = setup_.program.set.kernels[static_cast<std::size_t>(kernel.sweep)];
    const emit::ArgumentLayout layout(source, setup_.domain.dims);
    const std::size_t element = setup_.real == emit::Real::float32 ? 4 : 8;
    const auto a = static_cast<std::size_t>(argument.array);
    const auto put = [&](const void* value) {
      std::memcpy(to.arguments.data() + parameter.offset, value, parameter.bytes);
    };
    // Little-endian: the low bytes come first.
    const auto put_number = [&](std::int64_t value) { put(&value); };
    switch (argument.kind) {
      case Kind::array: {
        auto* data = static_cast<std::byte*>(from.arrays[a]);
        if (data != nullptr && layout.strip(a) >= 0)
          data +=
              from.integers[static_cast<std::size_t>(layout.strip(a))] * static_cast<std::int64_t>(element);
        return put(&data);
      }
      case Kind::stride:
        return put_number(from.integers[static_cast<std::size_t>(argument.axis)]);
      case Kind::strip_stride:
        return put_number(from.integers[static_cast<std::size_t>(layout.strip(a) + 1 + argument.axis)]);
      case Kind::planes:
        return put_number(plan.planes);
      case Kind::scalar: {
        const auto at =
            std::find(source.scalars.begin(), source.scalars.end(), argument.name) - source.scalars.begin();
        return put(from.scalars.data() + static_cast<std::size_t>(at) * element);
      }
      case Kind::scalars:
        throw RuntimeError("a kernel takes its scalars by pointer");
      default:
        return put_number(emit::cuda_bound(setup_.program, kernel, argument, setup_.domain));
    }
  }

  SimSetup setup_;
  std::unique_ptr<device::Device> host_;
  std::shared_ptr<sim::Program> program_;
  sim::Shadow shadow_;
  std::map<void*, device::Buffer> buffers_;
  std::uint64_t operations_ = 0;
};

}  // namespace

std::shared_ptr<sim::Program> sim_program(const ir::CudaProgram& program, emit::Real real) {
  const sim::Compiled compiled =
      sim::compile("sweeps.cu", emit::cuda_text(program, real), {"--gpu-architecture=sm_90", "--fmad=false"});
  if (!compiled.succeeded) throw RuntimeError(compiled.log);
  return sim::Program::load(compiled.binary);
}

std::string sweeps_text(const ir::CudaProgram& program, emit::Real real) {
  std::string text;
  for (std::size_t k = 0; k < program.set.kernels.size(); ++k)
    text += fmt::format(
        "extern \"C\" void {}({}* const*, const long long*, const void*, long long* sweep) {{ *sweep = {}; "
        "}}\n",
        program.set.kernels[k].name, real == emit::Real::float32 ? "float" : "double", k);
  return text;
}

std::unique_ptr<device::Device> make_sim_device(const SimSetup& setup) {
  return std::make_unique<SimDevice>(setup);
}

}  // namespace ondula::test
