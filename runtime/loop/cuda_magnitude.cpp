// Two passes of a reduction, and its results on their way to the host.
// SPDX-License-Identifier: MIT
#include "runtime/loop/cuda_magnitude.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ondula::loop {
namespace {

constexpr std::int64_t threads = 256;
constexpr std::int64_t most_blocks = 256;  // of the first pass

template <class Real>
double largest_of(const void* data, std::size_t count) {
  const auto* values = static_cast<const Real*>(data);
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(values[i])) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, static_cast<double>(values[i]));
  }
  return largest;
}

}  // namespace

CudaMagnitude::CudaMagnitude(cuda::Device& device, const cuda::LoadedModule& module, DType dtype,
                             std::size_t arrays)
    : device_(device), session_(device.session()), wide_(dtype == DType::float64) {
  const std::size_t real = wide_ ? sizeof(double) : sizeof(float);
  slot_bytes_ = std::max<std::size_t>(arrays, 1) * static_cast<std::size_t>(threads) * real;
  partial_ = device.allocate(static_cast<std::size_t>(threads * most_blocks) * real);
  result_ = device.allocate(slots_.size() * slot_bytes_);
  const cuda::Scope scope(*session_);
  function_ = module.function("ondula_magnitude");
  down_ = cuda::make_stream(session_);
  computed_ = cuda::make_event(session_);
  for (Slot& slot : slots_) {
    slot.values = cuda::make_pinned(session_, slot_bytes_);
    slot.done = cuda::make_event(session_);
  }
}

CudaMagnitude::~CudaMagnitude() {
  session_->dispose(session_->functions().stream_synchronize, down_.get());
  session_->dispose(session_->functions().stream_synchronize, device_.stream());
}

std::size_t CudaMagnitude::bytes(DType dtype, std::size_t arrays) {
  const std::size_t values = most_blocks + 2 * std::max<std::size_t>(arrays, 1);
  return values * static_cast<std::size_t>(threads) *
         (dtype == DType::float32 ? sizeof(float) : sizeof(double));
}

void CudaMagnitude::ask(std::int64_t step, const std::vector<Array>& arrays, const Watch& watch) {
  const cuda::Scope scope(*session_);
  Slot& slot = slots_[next_];
  enqueue(slot, next_, arrays);
  slot.step = step;
  next_ = 1 - next_;
  tell(slots_[next_], watch);
}

void CudaMagnitude::tell(const Watch& watch) {
  const cuda::Scope scope(*session_);
  for (std::size_t k = 0; k < slots_.size(); ++k) tell(slots_[(next_ + k) % slots_.size()], watch);
}

void CudaMagnitude::tell(Slot& slot, const Watch& watch) {
  if (!slot.pending) return;
  const double largest = take(slot);
  if (watch.magnitude) watch.magnitude(slot.step, largest);
}

double CudaMagnitude::now(const std::vector<Array>& arrays) {
  const cuda::Scope scope(*session_);
  Slot& slot = slots_[next_];
  enqueue(slot, next_, arrays);
  return take(slot);
}

void CudaMagnitude::forget() {
  for (Slot& slot : slots_) slot.pending = false;
}

/// A slot that was forgotten may still be on its way: its next results come after them on the same streams.
void CudaMagnitude::enqueue(Slot& slot, std::size_t place, const std::vector<Array>& arrays) {
  const cuda::Functions& f = session_->functions();
  const std::size_t real = wide_ ? sizeof(double) : sizeof(float);
  const cuda::DevicePointer into = cuda::address(result_) + place * slot_bytes_;
  // The copy out of this place, if it is still to be made, comes first.
  session_->call(f.stream_wait, device_.stream(), slot.done.get(), 0U);
  slot.count = 0;
  for (const Array& array : arrays) {
    const std::int64_t blocks =
        std::clamp<std::int64_t>((array.count + threads - 1) / threads, 1, most_blocks);
    cuda::KernelLaunch first;
    first.function = function_;
    first.grid = {static_cast<std::uint32_t>(blocks), 1, 1};
    first.block = {static_cast<std::uint32_t>(threads), 1, 1};
    first.add(array.address).add(array.count).add(cuda::address(partial_));
    device_.enqueue(first, device_.stream());
    cuda::KernelLaunch second;
    second.function = function_;
    second.block = first.block;
    second.add(cuda::address(partial_)).add(blocks * threads).add(into + slot.count * real);
    device_.enqueue(second, device_.stream());
    slot.count += static_cast<std::size_t>(threads);
  }
  session_->call(f.event_record, computed_.get(), device_.stream());
  session_->call(f.stream_wait, down_.get(), computed_.get(), 0U);
  session_->call(f.copy_to_host, slot.values.get(), into, slot.count * real, down_.get());
  session_->call(f.event_record, slot.done.get(), down_.get());
  slot.pending = true;
}

double CudaMagnitude::take(Slot& slot) {
  session_->call(session_->functions().event_synchronize, slot.done.get());
  slot.pending = false;
  return wide_ ? largest_of<double>(slot.values.get(), slot.count)
               : largest_of<float>(slot.values.get(), slot.count);
}

}  // namespace ondula::loop
