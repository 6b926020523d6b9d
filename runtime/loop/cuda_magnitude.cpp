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

/// Of what the threads of one block found; NaN where one of them is not finite.
template <class Real>
double largest_of(const Real* values) {
  double largest = 0;
  for (std::int64_t i = 0; i < threads; ++i) {
    if (!std::isfinite(values[i])) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, static_cast<double>(values[i]));
  }
  return largest;
}

}  // namespace

CudaMagnitude::CudaMagnitude(cuda::Device& device, const cuda::LoadedModule& module, DType dtype,
                             std::size_t arrays, std::int64_t shots)
    : device_(device), session_(device.session()), wide_(dtype == DType::float64) {
  const std::size_t real = wide_ ? sizeof(double) : sizeof(float);
  const std::size_t values = static_cast<std::size_t>(shots * threads) * real;
  slot_bytes_ = std::max<std::size_t>(arrays, 1) * values;
  partial_ = device.allocate(static_cast<std::size_t>(most_blocks) * values);
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

std::size_t CudaMagnitude::bytes(DType dtype, std::size_t arrays, std::int64_t shots) {
  const std::size_t values = most_blocks + 2 * std::max<std::size_t>(arrays, 1);
  return values * static_cast<std::size_t>(threads * shots) *
         (dtype == DType::float32 ? sizeof(float) : sizeof(double));
}

void CudaMagnitude::ask(std::int64_t step, const std::vector<Array>& arrays, std::int64_t shots,
                        const Watch& watch) {
  const cuda::Scope scope(*session_);
  Slot& slot = slots_[next_];
  enqueue(slot, next_, arrays, shots);
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
  const std::vector<double> largest = take(slot);
  if (watch.magnitude) watch.magnitude(slot.step, largest);
}

std::vector<double> CudaMagnitude::now(const std::vector<Array>& arrays, std::int64_t shots) {
  const cuda::Scope scope(*session_);
  Slot& slot = slots_[next_];
  enqueue(slot, next_, arrays, shots);
  return take(slot);
}

void CudaMagnitude::forget() {
  for (Slot& slot : slots_) slot.pending = false;
}

/// A slot that was forgotten may still be on its way: its next results come after them on the same streams.
void CudaMagnitude::enqueue(Slot& slot, std::size_t place, const std::vector<Array>& arrays,
                            std::int64_t shots) {
  const cuda::Functions& f = session_->functions();
  const std::size_t real = wide_ ? sizeof(double) : sizeof(float);
  const cuda::DevicePointer into = cuda::address(result_) + place * slot_bytes_;
  const std::size_t row = static_cast<std::size_t>(shots * threads) * real;  // an array's results
  // The copy out of this place, if it is still to be made, comes first.
  session_->call(f.stream_wait, device_.stream(), slot.done.get(), 0U);
  slot.arrays = slot.shots = 0;
  for (const Array& array : arrays) {
    const std::int64_t blocks =
        std::clamp<std::int64_t>((array.count + threads - 1) / threads, 1, most_blocks);
    const std::int64_t found = blocks * threads;
    cuda::KernelLaunch first;
    first.function = function_;
    first.grid = {static_cast<std::uint32_t>(blocks), 1, 1};
    first.block = {static_cast<std::uint32_t>(threads), 1, 1};
    first.shot_blocks = 1;
    first.add(array.address).add(array.count).add(cuda::address(partial_)).add(array.shot_stride).add(found);
    device_.enqueue(first, device_.stream(), shots);
    cuda::KernelLaunch second;
    second.function = function_;
    second.block = first.block;
    second.shot_blocks = 1;
    second.add(cuda::address(partial_)).add(found).add(into + slot.arrays * row).add(found).add(threads);
    device_.enqueue(second, device_.stream(), shots);
    ++slot.arrays;
  }
  slot.shots = static_cast<std::size_t>(shots);
  session_->call(f.event_record, computed_.get(), device_.stream());
  session_->call(f.stream_wait, down_.get(), computed_.get(), 0U);
  session_->call(f.copy_to_host, slot.values.get(), into, slot.arrays * row, down_.get());
  session_->call(f.event_record, slot.done.get(), down_.get());
  slot.pending = true;
}

std::vector<double> CudaMagnitude::take(Slot& slot) {
  session_->call(session_->functions().event_synchronize, slot.done.get());
  slot.pending = false;
  std::vector<double> largest(slot.shots, 0.0);
  for (std::size_t place = 0; place < slot.arrays * slot.shots; ++place) {
    const std::size_t at = place * static_cast<std::size_t>(threads);
    const double own = wide_ ? largest_of(static_cast<const double*>(slot.values.get()) + at)
                             : largest_of(static_cast<const float*>(slot.values.get()) + at);
    double& most = largest[place % slot.shots];
    if (!(own <= most)) most = std::isnan(most) ? most : own;
  }
  return largest;
}

}  // namespace ondula::loop
