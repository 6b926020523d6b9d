// Blobs in memory, and blobs in a file with a checksum each.
// SPDX-License-Identifier: MIT
#include "runtime/storage/blob_medium.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include "compiler/error.hpp"
#include "runtime/storage/scratch.hpp"

namespace ondula::storage {
namespace {

constexpr std::size_t page = 4096;  // blobs in a file begin on pages
constexpr std::align_val_t host_alignment{page};

std::size_t stride(std::size_t bytes) { return (bytes + page - 1) / page * page; }

class HostMedium final : public BlobMedium {
 public:
  explicit HostMedium(const BlobOptions& options) : bytes_(options.bytes), name_(options.name) {
    for (std::int64_t slot = 0; slot < options.count; ++slot)
      blobs_.push_back({allocate_host(options.allocate, options.bytes, options.name), false});
  }
  void write(std::int64_t slot, const std::byte* from) override {
    Blob& blob = blobs_.at(static_cast<std::size_t>(slot));
    std::memcpy(blob.data.get(), from, bytes_);
    blob.written = true;
  }
  void read(std::int64_t slot, std::byte* to) override {
    const Blob& blob = blobs_.at(static_cast<std::size_t>(slot));
    if (!blob.written) throw InternalError(fmt::format("{}: nothing was kept in blob {}", name_, slot));
    std::memcpy(to, blob.data.get(), bytes_);
  }
  void forget() override {
    for (Blob& blob : blobs_) blob.written = false;
  }
  std::byte* memory(std::int64_t slot) override {
    return blobs_.at(static_cast<std::size_t>(slot)).data.get();
  }

 private:
  struct Blob {
    std::shared_ptr<std::byte> data;
    bool written = false;
  };
  std::size_t bytes_;
  std::string name_;
  std::vector<Blob> blobs_;
};

/// The checksums stay in memory: neither an old blob nor another's can pass for the one that was written.
class DiskMedium final : public BlobMedium {
 public:
  explicit DiskMedium(const BlobOptions& options)
      : bytes_(options.bytes),
        sums_(static_cast<std::size_t>(options.count)),
        file_(scratch_folder(options.scratch), options.name,
              static_cast<std::int64_t>(blob_bytes(options).disk), options.files) {}

  void write(std::int64_t slot, const std::byte* from) override {
    std::optional<XXH64_hash_t>& sum = sums_.at(static_cast<std::size_t>(slot));
    sum.reset();  // an error on the way leaves nothing to read
    const XXH64_hash_t own = checksum(slot, from);
    file_.write(offset(slot), {from, stride(bytes_)});
    sum = own;
  }

  void read(std::int64_t slot, std::byte* to) override {
    const std::optional<XXH64_hash_t>& sum = sums_.at(static_cast<std::size_t>(slot));
    if (!sum) throw InternalError(fmt::format("{}: nothing was kept in blob {}", file_.path(), slot));
    file_.read(offset(slot), {to, stride(bytes_)});
    const XXH64_hash_t found = checksum(slot, to);
    if (found == *sum) return;
    throw RuntimeError(
        fmt::format("{}: blob {} ({} bytes at offset {}) is not what was written there: checksum {:016x} "
                    "instead of {:016x}; the disk or what lies between is at fault",
                    file_.path(), slot, bytes_, offset(slot), found, *sum));
  }

  void forget() override { sums_.assign(sums_.size(), std::nullopt); }

 private:
  std::int64_t offset(std::int64_t slot) const { return slot * static_cast<std::int64_t>(stride(bytes_)); }
  /// The blob's number is part of it.
  XXH64_hash_t checksum(std::int64_t slot, const std::byte* data) const {
    return XXH3_64bits_withSeed(data, bytes_, static_cast<XXH64_hash_t>(slot));
  }

  std::size_t bytes_;
  std::vector<std::optional<XXH64_hash_t>> sums_;
  ScratchFile file_;
};

}  // namespace

std::size_t blob_room(Tier tier, std::size_t bytes) { return tier == Tier::disk ? stride(bytes) : bytes; }

BlobBytes blob_bytes(const BlobOptions& options) {
  const auto count = static_cast<std::size_t>(options.count);
  if (options.tier == Tier::host) return {count * options.bytes, 0};
  return {static_cast<std::size_t>(options.staging) * stride(options.bytes), count * stride(options.bytes)};
}

std::shared_ptr<std::byte> allocate_host(const HostAllocator& allocate, std::size_t bytes,
                                         const std::string& what) {
  if (allocate) return allocate(bytes);
  void* const data = ::operator new(bytes, host_alignment, std::nothrow);
  if (data == nullptr)
    throw RuntimeError(fmt::format("{}: no {} bytes of the host's memory are to be had", what, bytes));
  return {static_cast<std::byte*>(data), [](std::byte* own) { ::operator delete(own, host_alignment); }};
}

std::unique_ptr<BlobMedium> make_medium(const BlobOptions& options) {
  switch (options.tier) {
    case Tier::host:
      return std::make_unique<HostMedium>(options);
    case Tier::disk:
      return std::make_unique<DiskMedium>(options);
    case Tier::device:
      break;
  }
  throw InternalError(options.name + ": a device keeps its own");
}

}  // namespace ondula::storage
