// Hashes the parts of a cache key with XXH3.
// SPDX-License-Identifier: MIT
#include "runtime/jit/cache_key.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstdint>

namespace ondula::jit {
namespace {

void append_length(std::string& bytes, std::size_t length) {
  for (int shift = 0; shift < 64; shift += 8)
    bytes += static_cast<char>(static_cast<unsigned char>(std::uint64_t{length} >> shift & 0xff));
}

}  // namespace

KeyBuilder& KeyBuilder::add(std::string_view part) {
  append_length(bytes_, part.size());
  bytes_ += part;
  return *this;
}

KeyBuilder& KeyBuilder::add(std::span<const std::string> parts) {
  append_length(bytes_, parts.size());
  for (const std::string& part : parts) add(std::string_view(part));
  return *this;
}

std::string KeyBuilder::hex() const { return hash_hex(std::as_bytes(std::span(bytes_))); }

std::string hash_hex(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace ondula::jit
