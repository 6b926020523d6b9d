// Writes and reads what stands for PTX; finds a cubin's end.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/driver_image.hpp"

#include <cstdint>
#include <cstring>

namespace ondula::sim::driver {
namespace {

struct Head {
  char magic[16] = {'/', '/', ' ', '.', 'v', 'e', 'r', 's', 'i', 'o', 'n', ' ', 's', 'i', 'm', '\n'};
  std::uint64_t bytes = 0;
};

}  // namespace

std::vector<std::byte> make_ptx(std::span<const std::byte> binary) {
  Head head;
  head.bytes = binary.size();
  std::vector<std::byte> ptx(sizeof head + binary.size() + 1);
  std::memcpy(ptx.data(), &head, sizeof head);
  std::memcpy(ptx.data() + sizeof head, binary.data(), binary.size());
  return ptx;
}

Image read_image(World& world, const void* image) {
  if (image == nullptr) throw Refusal{cuda::result::invalid_value};
  Head head;
  // A foreign image may be shorter; then it differs within the bytes that it has.
  if (std::strncmp(static_cast<const char*>(image), head.magic, sizeof head.magic) == 0) {
    std::memcpy(&head, image, sizeof head);
    return {true, {static_cast<const std::byte*>(image) + sizeof head, head.bytes}};
  }
  const bool elf = std::strncmp(static_cast<const char*>(image), "\177ELF", 4) == 0;
  const std::size_t bytes = elf ? Program::bytes_at(image) : 0;
  if (bytes == 0) {
    world.explain(cuda::result::invalid_image, "the image is not of the stand-in's NVRTC");
    throw Refusal{cuda::result::invalid_image};
  }
  return {false, {static_cast<const std::byte*>(image), bytes}};
}

}  // namespace ondula::sim::driver
