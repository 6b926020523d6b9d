// The host device with every buffer against a page that may not be touched.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>

#include "runtime/device/device.hpp"

namespace ondula::test {

/// Where a buffer touches its guard page. The other end is within a page of its own.
enum class Guard { before, after };

/// Runs kernels as the host does; one that reads or writes a byte past the guarded end of an array stops the
/// process with SIGSEGV, like an address sanitizer of kernels, which no compiler instruments here.
class GuardedDevice final : public device::Device {
 public:
  GuardedDevice(Guard guard, int threads) : guard_(guard), host_(device::make_host_device(threads)) {}

  std::string name() const override { return "guarded " + host_->name(); }
  int threads() const override { return host_->threads(); }
  device::Buffer allocate(std::size_t bytes) override;
  void fill_zero(device::Buffer& buffer) override { host_->fill_zero(buffer); }
  void upload(device::Buffer& to, std::size_t offset, const void* from, std::size_t bytes) override {
    host_->upload(to, offset, from, bytes);
  }
  void download(const device::Buffer& from, std::size_t offset, void* to, std::size_t bytes) const override {
    host_->download(from, offset, to, bytes);
  }
  void copy(const device::Buffer& from, device::Buffer& to) override { host_->copy(from, to); }
  void launch(const device::Launch& launch) override { host_->launch(launch); }
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

 protected:
  void release(void* data, std::size_t bytes) noexcept override;

 private:
  struct Mapping {
    void* begin = nullptr;
    std::size_t bytes = 0;
  };
  Guard guard_;
  std::unique_ptr<device::Device> host_;
  std::map<void*, Mapping> mappings_;
};

}  // namespace ondula::test
