// Timed launches.
// SPDX-License-Identifier: MIT
#include "runtime/loop/cuda_meter.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ondula::loop {
namespace {

constexpr double wanted = 2e-3;  // s, of the launches that one time is made of
constexpr int most_launches = 50;

std::size_t element_bytes(const EngineSetup& setup) {
  return setup.dtype == DType::float32 ? sizeof(float) : sizeof(double);
}

cuda::OwnedEvent timed_event(const std::shared_ptr<cuda::Session>& session) {
  constexpr unsigned with_timing = 0;
  cuda::Event event = nullptr;
  session->call(session->functions().event_create, &event, with_timing);
  return {session, event};
}

template <class Real>
std::vector<Real> noise(std::size_t count, double low, double high) {
  std::vector<Real> values(count);
  std::uint32_t state = 1;
  for (Real& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<Real>(low + (high - low) * static_cast<double>(state >> 8) * 0x1p-24);
  }
  return values;
}

}  // namespace

/// One candidate's module, and its launches by kernel.
struct CudaLaunchMeter::Loaded {
  std::unique_ptr<cuda::LoadedModule> module;
  std::unique_ptr<CudaBinder> binder;
  std::map<std::size_t, cuda::KernelLaunch> launches;
};

CudaLaunchMeter::CudaLaunchMeter(std::unique_ptr<cuda::Device> device, const ir::KernelSet& set,
                                 const EngineSetup& setup)
    : device_(std::move(device)),
      setup_(setup),
      halo_(std::max(common_halo(set), setup.least_halo)),
      plans_(plan_arrays(set, setup.domain, element_bytes(setup), halo_)),
      arrays_(plans_, *device_, element_bytes(setup)) {
  // Numbers as a run has them, so that power and divisions are a run's too; small coefficients, so that they
  // stay finite for some hundred launches.
  for (auto& [key, array] : arrays_.all()) {
    const bool field = key.kind == ir::ArrayKind::field;
    fill(array.buffer, field ? -1 : 0.01, field ? 1 : 0.02);
  }
  const cuda::Scope scope(*device_->session());
  begin_ = timed_event(device_->session());
  end_ = timed_event(device_->session());
}

CudaLaunchMeter::~CudaLaunchMeter() = default;

void CudaLaunchMeter::fill(device::Buffer& buffer, double low, double high) {
  constexpr std::size_t piece = std::size_t{1} << 22;
  const std::size_t most = std::min(piece, buffer.bytes());
  const auto put = [&](const auto& values) {
    for (std::size_t at = 0; at < buffer.bytes(); at += most)
      device_->upload(buffer, at, values.data(), std::min(most, buffer.bytes() - at));
  };
  if (setup_.dtype == DType::float32)
    put(noise<float>(most / sizeof(float), low, high));
  else
    put(noise<double>(most / sizeof(double), low, high));
}

CudaLaunchMeter::Loaded& CudaLaunchMeter::loaded(const std::shared_ptr<const CudaKernels>& kernels) {
  std::unique_ptr<Loaded>& own = loaded_[kernels];
  if (!own) {
    auto fresh = std::make_unique<Loaded>();
    fresh->module = device_->load(*kernels->module);
    fresh->binder = std::make_unique<CudaBinder>(kernels->program, setup_, *device_, *fresh->module, arrays_,
                                                 shot_strides(plans_, element_bytes(setup_)), halo_);
    own = std::move(fresh);
  }
  return *own;
}

double CudaLaunchMeter::seconds(const std::shared_ptr<const CudaKernels>& kernels, std::size_t number) {
  const cuda::Scope scope(*device_->session());
  Loaded& own = loaded(kernels);
  auto found = own.launches.find(number);
  if (found == own.launches.end()) {
    cuda::KernelLaunch launch = own.binder->launch(number, 0);
    const Layout full = full_layout(setup_.domain, halo_, element_bytes(setup_));
    for (const CudaExternal& external : own.binder->externals(number)) {
      if (launch.grid[0] == 0) break;
      const auto [slot, fresh] = history_.try_emplace({external.field, external.previous});
      if (fresh) {
        slot->second = device_->allocate(static_cast<std::size_t>(full.size) * element_bytes(setup_));
        fill(slot->second, -1, 1);
      }
      launch.arguments.at(external.argument) =
          cuda::address(slot->second) + static_cast<cuda::DevicePointer>(full.origin) * element_bytes(setup_);
    }
    found = own.launches.emplace(number, std::move(launch)).first;
  }
  const cuda::KernelLaunch& launch = found->second;
  if (launch.grid[0] == 0) return 0;
  const double first = run(launch, 1);  // with cold caches and clocks: not the time that is told
  int& count = launches_[number];
  if (count == 0)
    count = std::clamp(static_cast<int>(std::ceil(wanted / std::max(first, 1e-6))), 1, most_launches);
  return run(launch, count);
}

double CudaLaunchMeter::run(const cuda::KernelLaunch& launch, int count) {
  cuda::Session& session = *device_->session();
  const cuda::Functions& f = session.functions();
  session.call(f.event_record, begin_.get(), device_->stream());
  for (int n = 0; n < count; ++n) device_->enqueue(launch, device_->stream());
  session.call(f.event_record, end_.get(), device_->stream());
  session.call(f.event_synchronize, end_.get());
  float milliseconds = 0;
  session.call(f.event_elapsed, &milliseconds, begin_.get(), end_.get());
  constexpr double seconds_each = 1e-3;
  return seconds_each * static_cast<double>(milliseconds) / count;
}

}  // namespace ondula::loop
