// Hashes, poisons and compares host memory around copies.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/driver_host.hpp"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ondula::sim::driver {
namespace {

constexpr int launch_failed = 719;

bool untouched(const void* memory, std::size_t bytes) {
  const auto* const first = static_cast<const unsigned char*>(memory);
  return std::all_of(first, first + bytes, [](unsigned char byte) { return byte == 0xff; });
}

}  // namespace

void HostUses::enqueued(const Operation& operation, const Ended& ended, std::vector<Finding>& findings) {
  const Copy& copy = std::get<Copy>(operation.work);
  if (copy.kind == Copy::Kind::on_device) return;
  const bool writes = copy.kind == Copy::Kind::to_host;
  const std::uint64_t begin = writes ? copy.to : copy.from;
  Use use{operation.id, operation.what, begin, begin + copy.bytes, writes, true, 0};
  for (const Use& other : uses_) {
    if (other.end <= use.begin || use.end <= other.begin || !(other.writes || writes)) continue;
    use.watched = false;
    if (!ended || ended(other.operation, operation.clock)) continue;
    findings.push_back(
        {fmt::format("host memory at {:#x}: operation {} ({}) and operation {} ({}) both use it, one of them "
                     "writes, and neither waits for the other",
                     std::max(use.begin, other.begin), other.operation, other.what, operation.id,
                     operation.what),
         launch_failed});
  }
  void* const memory = reinterpret_cast<void*>(begin);
  if (use.watched && writes) std::memset(memory, 0xff, copy.bytes);
  if (use.watched && !writes) use.hash = XXH3_64bits(memory, copy.bytes);
  uses_.push_back(std::move(use));
}

const HostUses::Use* HostUses::find(std::uint64_t operation) const {
  const auto at =
      std::find_if(uses_.begin(), uses_.end(), [&](const Use& use) { return use.operation == operation; });
  return at == uses_.end() || !at->watched ? nullptr : &*at;
}

void HostUses::before_writing(const Operation& copy, const void* bytes,
                              std::vector<Finding>& findings) const {
  const Use* const use = find(copy.id);
  if (use == nullptr || untouched(bytes, use->end - use->begin)) return;
  findings.push_back(
      {fmt::format("the host wrote to the destination of operation {} ({}) at {:#x}, {} bytes, "
                   "before the copy had ended",
                   copy.id, copy.what, use->begin, use->end - use->begin),
       launch_failed});
}

void HostUses::after_reading(const Operation& copy, const void* bytes, std::vector<Finding>& findings) const {
  const Use* const use = find(copy.id);
  if (use == nullptr || XXH3_64bits(bytes, use->end - use->begin) == use->hash) return;
  findings.push_back(
      {fmt::format("the source of operation {} ({}) at {:#x}, {} bytes, changed before the copy "
                   "had ended: a buffer was reused too early",
                   copy.id, copy.what, use->begin, use->end - use->begin),
       launch_failed});
}

void HostUses::prune(const std::function<bool(std::uint64_t)>& over) {
  std::erase_if(uses_, [&](const Use& use) { return over(use.operation); });
}

void HostUses::forget(std::uint64_t address, std::size_t bytes) {
  std::erase_if(uses_, [&](const Use& use) { return use.begin < address + bytes && address < use.end; });
}

std::size_t copy_if_mapped(void* to, const void* from, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const iovec local{static_cast<char*>(to) + done, bytes - done};
    const iovec remote{const_cast<char*>(static_cast<const char*>(from)) + done, bytes - done};
    const ssize_t moved = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    if (moved > 0) {
      done += static_cast<std::size_t>(moved);
      continue;
    }
    if (errno == EFAULT || moved == 0) break;
    std::memcpy(local.iov_base, remote.iov_base, bytes - done);  // the system has no such call
    return bytes;
  }
  return done;
}

}  // namespace ondula::sim::driver
