// Where blobs lie: in the host's memory or in a scratch file.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/storage/file_operations.hpp"
#include "runtime/storage/storage_plan.hpp"

namespace ondula::storage {

/// Memory of the host's, given back with its last owner; empty functions stand for the C++ heap. A device
/// may want it pinned.
using HostAllocator = std::function<std::shared_ptr<std::byte>(std::size_t bytes)>;

/// So many blobs of one size on Tier::host or Tier::disk.
struct BlobOptions {
  std::string name = "blobs";  ///< of the file, and what messages call it
  std::int64_t count = 0;
  std::size_t bytes = 0;  ///< of one
  Tier tier = Tier::disk;
  std::string scratch;                    ///< folder, as StoragePlan::scratch
  int staging = 0;                        ///< blobs that a store may hold on their way
  HostAllocator allocate;                 ///< of blobs and staging
  std::shared_ptr<FileOperations> files;  ///< null: the system's
};

/// Bytes of memory that a blob is written from and read into: whole pages for a disk, the rest of them of no
/// meaning.
std::size_t blob_room(Tier tier, std::size_t bytes);

/// Bytes that blobs take, on the host (staging included) and on disk.
struct BlobBytes {
  std::size_t host = 0, disk = 0;
};
BlobBytes blob_bytes(const BlobOptions& options);

/// `allocate(bytes)`, or as much of the heap, on a page. Throws RuntimeError naming `what` and the bytes.
std::shared_ptr<std::byte> allocate_host(const HostAllocator& allocate, std::size_t bytes,
                                         const std::string& what);

/// Blobs written and read, several at a time but for one of them, from and to memory of blob_room() bytes on
/// a page.
class BlobMedium {
 public:
  virtual ~BlobMedium() = default;
  virtual void write(std::int64_t slot, const std::byte* from) = 0;
  /// Throws RuntimeError naming the blob where what comes back is not what was written, InternalError where
  /// nothing was since the last forget().
  virtual void read(std::int64_t slot, std::byte* to) = 0;
  virtual void forget() = 0;
  /// Where the blob lies, if that is in the host's memory.
  virtual std::byte* memory(std::int64_t /*slot*/) { return nullptr; }
};

/// Everything is allocated, or set aside on disk, at once; the errors of ScratchFile.
std::unique_ptr<BlobMedium> make_medium(const BlobOptions& options);

}  // namespace ondula::storage
