// A CUDA device as the time loop uses it: memory, transfers, streams, modules and launches.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/cuda/pool.hpp"
#include "runtime/device/cuda/session.hpp"
#include "runtime/device/device.hpp"
#include "runtime/jit/cuda_compiler.hpp"

namespace ondula::cuda {

struct DeviceOptions {
  std::shared_ptr<const Driver> driver;
  int number = 0;               ///< which device
  std::size_t limit_bytes = 0;  ///< of device memory held, 0: what there is
  bool poison = false;          ///< fresh memory is NaN, and none is reused (tests)
  int threads = 0;              ///< of the host, for what is computed there
  Stream stream = nullptr;      ///< the caller's, of the context, for all kernels; null: its own
  Context context = nullptr;    ///< the caller's, of the device; null: the primary one
};

/// One kernel with its arguments, each in a slot of 8 bytes. `grid` is that of one shot, which grows along z
/// by `shot_blocks` with each further one.
struct KernelLaunch {
  Function function = nullptr;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t shot_blocks = 0;
  std::vector<std::uint64_t> arguments;

  template <class T>
  KernelLaunch& add(const T& value) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    arguments.push_back(0);
    std::memcpy(&arguments.back(), &value, sizeof value);
    return *this;
  }
};

/// A loaded cubin or PTX.
class LoadedModule {
 public:
  LoadedModule(std::shared_ptr<Session> session, OwnedModule module)
      : session_(std::move(session)), module_(std::move(module)) {}
  /// The kernel called `name`. The context must be current. Throws DeviceError.
  Function function(const std::string& name) const;

 private:
  std::shared_ptr<Session> session_;
  OwnedModule module_;
};

/// All work of device::Device's calls is in the order of one stream, stream(). Buffer::data() is a device
/// address. Not for two threads at once. Errors are DeviceErrors; after one that loses the context alive() is
/// false, every call throws, and buffers may still be destroyed.
class Device final : public device::Device {
 public:
  explicit Device(const DeviceOptions& options);
  ~Device() override;

  std::string name() const override;
  bool host_memory() const override { return false; }
  int threads() const override { return host_->threads(); }
  device::Buffer allocate(std::size_t bytes) override;
  void fill_zero(device::Buffer& buffer) override;
  /// Copies through pinned memory: `from` may change as soon as it returns.
  void upload(device::Buffer& to, std::size_t offset_bytes, const void* from, std::size_t bytes) override;
  void download(const device::Buffer& from, std::size_t offset_bytes, void* to,
                std::size_t bytes) const override;
  void copy(const device::Buffer& from, device::Buffer& to) override;
  /// On the host's threads.
  void parallel(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& body) override;
  // What only kernels of the host have.
  void launch(const device::Launch& launch) override;
  void scatter_add(device::Buffer& buffer, DType dtype, std::span<const device::Weighted> to,
                   double amplitude) override;
  double gather(const device::Buffer& buffer, DType dtype,
                std::span<const device::Weighted> from) const override;

  /// The same between the host and an address that is checked by the caller.
  void upload_to(DevicePointer to, const void* from, std::size_t bytes);
  void download_from(DevicePointer from, void* to, std::size_t bytes) const;

  const std::shared_ptr<Session>& session() const { return session_; }
  const DeviceFacts& facts() const { return session_->facts(); }
  bool sound() const override { return session_->sound(); }
  Stream stream() const { return caller_stream_ != nullptr ? caller_stream_ : own_stream_.get(); }
  bool has_caller_stream() const { return caller_stream_ != nullptr; }
  /// One that may be captured; work is enqueued nowhere else while it is.
  Stream capture_stream() const { return own_stream_.get(); }

  /// Loads kernels. Throws RuntimeError naming the versions of driver and NVRTC where the driver refuses
  /// them.
  std::unique_ptr<LoadedModule> load(const jit::CudaModule& module);
  /// Enqueues a kernel on `stream`, for so many shots. The context must be current.
  void enqueue(const KernelLaunch& launch, Stream stream, std::int64_t shots = 1) const;
  /// Waits for all work of stream().
  void synchronize() const;
  /// Bytes in use and kept for reuse.
  std::size_t held_bytes() const { return pool_.held_bytes(); }

 private:
  struct Staging;
  Staging& staging() const;
  void release(void* data, std::size_t bytes) noexcept override;

  std::shared_ptr<Session> session_;
  std::unique_ptr<device::Device> host_;
  bool poison_;
  Stream caller_stream_;
  OwnedStream own_stream_;
  Pool pool_;
  mutable std::unique_ptr<Staging> staging_;  ///< from the first transfer on
};

/// The address of a buffer's first byte.
inline DevicePointer address(const device::Buffer& buffer) {
  return reinterpret_cast<DevicePointer>(buffer.data());
}

}  // namespace ondula::cuda
