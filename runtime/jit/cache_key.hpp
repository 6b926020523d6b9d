// The key of a cache entry: a 128-bit hash over a length-prefixed list.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ondula::jit {

/// Collects the parts of a key. Each part is preceded by its length, so that no two lists run together to the
/// same key.
class KeyBuilder {
 public:
  /// Appends one string.
  KeyBuilder& add(std::string_view part);
  /// Appends a list as its count and its strings.
  KeyBuilder& add(std::span<const std::string> parts);
  /// The key: 32 lower-case hexadecimal digits (XXH3, 128 bits).
  std::string hex() const;

 private:
  std::string bytes_;
};

/// XXH3's 128 bits over `bytes` as 32 lower-case hexadecimal digits.
std::string hash_hex(std::span<const std::byte> bytes);

}  // namespace ondula::jit
