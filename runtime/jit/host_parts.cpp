// Framing objects.
// SPDX-License-Identifier: MIT
#include "runtime/jit/host_parts.hpp"

#include <array>
#include <cstdint>
#include <cstring>

#include "compiler/error.hpp"

namespace ondula::jit {
namespace {

using Word = std::uint64_t;

constexpr std::array<char, sizeof(Word)> magic = {'O', 'N', 'D', 'P', 'A', 'R', 'T', 'S'};
constexpr std::size_t alignment = 16;

std::size_t aligned(std::size_t size) { return (size + alignment - 1) / alignment * alignment; }

Word word_at(std::span<const std::byte> bytes, std::size_t index) {
  Word word = 0;
  std::memcpy(&word, bytes.data() + index * sizeof word, sizeof word);
  return word;
}

}  // namespace

std::vector<std::byte> joined_parts(const std::vector<std::vector<std::byte>>& objects) {
  if (objects.size() == 1) return objects[0];
  std::vector<std::byte> payload(aligned((2 + objects.size()) * sizeof(Word)));
  std::memcpy(payload.data(), magic.data(), magic.size());
  const Word count = objects.size();
  std::memcpy(payload.data() + sizeof(Word), &count, sizeof count);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const Word size = objects[i].size();
    std::memcpy(payload.data() + (2 + i) * sizeof(Word), &size, sizeof size);
    payload.insert(payload.end(), objects[i].begin(), objects[i].end());
    payload.resize(aligned(payload.size()));
  }
  return payload;
}

std::vector<std::span<const std::byte>> split_parts(std::span<const std::byte> payload) {
  const bool several =
      payload.size() >= 2 * sizeof(Word) && std::memcmp(payload.data(), magic.data(), magic.size()) == 0;
  if (!several) return {payload};
  const InternalError damaged("the table of a compiled text's parts is damaged");
  const Word count = word_at(payload, 1);
  if (count > payload.size() / sizeof(Word) - 2) throw damaged;
  std::vector<std::span<const std::byte>> parts;
  std::size_t begin = aligned((2 + count) * sizeof(Word));
  for (Word i = 0; i < count; ++i) {
    const Word size = word_at(payload, 2 + i);
    if (begin > payload.size() || size > payload.size() - begin) throw damaged;
    parts.push_back(payload.subspan(begin, size));
    begin = aligned(begin + size);
  }
  return parts;
}

}  // namespace ondula::jit
