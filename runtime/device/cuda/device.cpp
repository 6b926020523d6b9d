// Transfers through pinned memory, module loading, launches.
// SPDX-License-Identifier: MIT
#include "runtime/device/cuda/device.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ondula::cuda {
namespace {

constexpr std::size_t staging_bytes = std::size_t{4} << 20;

void require(const device::Buffer& buffer, std::size_t offset, std::size_t bytes) {
  if (offset > buffer.bytes() || bytes > buffer.bytes() - offset)
    throw InternalError(
        fmt::format("a copy of {} bytes at {} in a buffer of {}", bytes, offset, buffer.bytes()));
}

[[noreturn]] void only_host(const char* what) {
  throw InternalError(fmt::format("{} of host kernels on a CUDA device", what));
}

}  // namespace

/// Two pinned pieces, taken in turn; `done` is the last copy from or to each.
struct Device::Staging {
  struct Piece {
    OwnedPinned memory;
    OwnedEvent done;
    bool busy = false;
  };
  std::array<Piece, 2> pieces;
  std::size_t next = 0;
};

Function LoadedModule::function(const std::string& name) const {
  Function function = nullptr;
  session_->call(session_->functions().module_function, &function, module_.get(), name.c_str());
  return function;
}

Device::Device(const DeviceOptions& options)
    : session_(std::make_shared<Session>(options.driver, options.number, options.context)),
      host_(device::make_host_device(options.threads)),
      poison_(options.poison),
      caller_stream_(options.stream),
      pool_(session_, options.limit_bytes, !options.poison) {
  const Scope scope(*session_);
  if (caller_stream_ != nullptr) session_->require_stream(caller_stream_);
  own_stream_ = make_stream(session_);
}

Device::~Device() {
  // What is enqueued may still use what is about to go.
  session_->dispose(session_->functions().stream_synchronize, stream());
}

std::string Device::name() const {
  const DeviceFacts& f = facts();
  return fmt::format("CUDA device {}, {} (compute capability {}.{})", session_->number(), f.name, f.major,
                     f.minor);
}

device::Buffer Device::allocate(std::size_t bytes) {
  const Scope scope(*session_);
  const DevicePointer pointer = pool_.take(bytes);
  account(bytes);
  device::Buffer buffer(this, reinterpret_cast<void*>(pointer), bytes);
  constexpr unsigned char nan_byte = 0xff;  // all bits set is a NaN in both working types
  if (poison_ && bytes > 0)
    session_->call(session_->functions().fill_bytes, pointer, nan_byte, bytes, stream());
  return buffer;
}

void Device::release(void* data, std::size_t bytes) noexcept {
  pool_.give(reinterpret_cast<DevicePointer>(data));
  unaccount(bytes);
}

void Device::fill_zero(device::Buffer& buffer) {
  if (buffer.bytes() == 0) return;
  const Scope scope(*session_);
  constexpr unsigned char zero = 0;
  session_->call(session_->functions().fill_bytes, address(buffer), zero, buffer.bytes(), stream());
}

Device::Staging& Device::staging() const {
  if (!staging_) {
    auto fresh = std::make_unique<Staging>();
    for (Staging::Piece& piece : fresh->pieces) {
      piece.memory = make_pinned(session_, staging_bytes);
      piece.done = make_event(session_);
    }
    staging_ = std::move(fresh);
  }
  return *staging_;
}

void Device::upload(device::Buffer& to, std::size_t offset, const void* from, std::size_t bytes) {
  require(to, offset, bytes);
  upload_to(address(to) + offset, from, bytes);
}

void Device::upload_to(DevicePointer to, const void* from, std::size_t bytes) {
  const Scope scope(*session_);
  const Functions& f = session_->functions();
  for (std::size_t at = 0; at < bytes;) {
    Staging& all = staging();
    Staging::Piece& piece = all.pieces[all.next];
    all.next = 1 - all.next;
    const std::size_t count = std::min(staging_bytes, bytes - at);
    if (piece.busy) session_->call(f.event_synchronize, piece.done.get());
    std::memcpy(piece.memory.get(), static_cast<const char*>(from) + at, count);
    session_->call(f.copy_to_device, to + at, static_cast<const void*>(piece.memory.get()), count, stream());
    session_->call(f.event_record, piece.done.get(), stream());
    piece.busy = true;
    at += count;
  }
}

void Device::download(const device::Buffer& from, std::size_t offset, void* to, std::size_t bytes) const {
  require(from, offset, bytes);
  download_from(address(from) + offset, to, bytes);
}

void Device::download_from(DevicePointer from, void* to, std::size_t bytes) const {
  const Scope scope(*session_);
  const Functions& f = session_->functions();
  // While one piece is copied out of, the next is on its way.
  struct Pending {
    Staging::Piece* piece = nullptr;
    std::size_t at = 0, count = 0;
  } before;
  const auto take = [&](const Pending& p) {
    if (p.piece == nullptr) return;
    session_->call(f.event_synchronize, p.piece->done.get());
    std::memcpy(static_cast<char*>(to) + p.at, p.piece->memory.get(), p.count);
  };
  for (std::size_t at = 0; at < bytes;) {
    Staging& all = staging();
    Staging::Piece& piece = all.pieces[all.next];
    all.next = 1 - all.next;
    if (piece.busy && before.piece != &piece) session_->call(f.event_synchronize, piece.done.get());
    const std::size_t count = std::min(staging_bytes, bytes - at);
    session_->call(f.copy_to_host, piece.memory.get(), from + at, count, stream());
    session_->call(f.event_record, piece.done.get(), stream());
    piece.busy = true;
    take(before);
    before = {&piece, at, count};
    at += count;
  }
  take(before);
}

void Device::copy(const device::Buffer& from, device::Buffer& to) {
  require(to, 0, from.bytes());
  if (from.bytes() == 0) return;
  const Scope scope(*session_);
  session_->call(session_->functions().copy_on_device, address(to), address(from), from.bytes(), stream());
}

void Device::parallel(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& body) {
  host_->parallel(count, body);
}

void Device::launch(const device::Launch&) { only_host("a launch"); }
void Device::scatter_add(device::Buffer&, DType, std::span<const device::Weighted>, double) {
  only_host("an injection");
}
double Device::gather(const device::Buffer&, DType, std::span<const device::Weighted>) const {
  only_host("a record");
}

std::unique_ptr<LoadedModule> Device::load(const jit::CudaModule& kernels) {
  const Scope scope(*session_);
  const jit::CudaVersion& driver = session_->driver().version();
  jit::require_loadable(kernels.architecture(), kernels.nvrtc(), driver);
  // PTX is text and ends in a zero.
  std::vector<std::byte> image(kernels.binary().begin(), kernels.binary().end());
  image.push_back(std::byte{0});
  Module module = nullptr;
  try {
    session_->call(session_->functions().module_load, &module, static_cast<const void*>(image.data()), 0U,
                   static_cast<int*>(nullptr), static_cast<void**>(nullptr));
  } catch (const DeviceError& error) {
    const Result code = error.code();
    if (code != result::no_binary_for_gpu && code != result::invalid_image &&
        code != result::invalid_source && code != result::unsupported_ptx_version &&
        code != result::driver_too_old)
      throw;
    throw DeviceError(
        fmt::format(
            "{}. The kernels ({}) were compiled by NVRTC {}; the driver supports CUDA up to {}, and the "
            "device has compute capability {}.{}. Update the driver, or set CUDA_HOME to a CUDA {}.x toolkit",
            error.what(), kernels.architecture().text(), kernels.nvrtc().text(), driver.text(), facts().major,
            facts().minor, driver.major),
        error.call(), code);
  }
  return std::make_unique<LoadedModule>(session_, OwnedModule(session_, module));
}

void Device::enqueue(const KernelLaunch& launch, Stream stream, std::int64_t shots) const {
  const auto more = static_cast<std::uint32_t>(shots - 1) * launch.shot_blocks;
  std::vector<void*> pointers;
  pointers.reserve(launch.arguments.size());
  for (const std::uint64_t& slot : launch.arguments) pointers.push_back(const_cast<std::uint64_t*>(&slot));
  session_->call(session_->functions().launch, launch.function, launch.grid[0], launch.grid[1],
                 launch.grid[2] + more, launch.block[0], launch.block[1], launch.block[2], 0U, stream,
                 pointers.data(), static_cast<void**>(nullptr));
}

void Device::synchronize() const {
  const Scope scope(*session_);
  session_->call(session_->functions().stream_synchronize, stream());
}

}  // namespace ondula::cuda
