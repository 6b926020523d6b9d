// Decodes opcodes, access widths and branch targets, as found by compiling small kernels and reading their
// listings. SPDX-License-Identifier: MIT
#include "runtime/jit/sass.hpp"

#include <array>
#include <cstring>
#include <vector>

namespace ondula::jit {
namespace {

constexpr std::size_t instruction_bytes = 16;

/// One instruction, as two little-endian words.
struct Instruction {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  /// Bits 0 to 8; bits 9 to 11 tell the form of the operands (register, constant, immediate, uniform).
  unsigned opcode() const { return low & 0x1ff; }
  /// Bytes of a load or store, of bits 73 to 75: 8, 16, 32, 64, 128 bits.
  int width() const {
    constexpr std::array<int, 8> bytes = {1, 1, 2, 2, 4, 8, 16, 32};
    return bytes[high >> 9 & 7];
  }
};

enum Opcode : unsigned {
  fmul = 0x020,
  fadd = 0x021,
  ffma = 0x023,
  dmul = 0x028,
  dadd = 0x029,
  dfma = 0x02b,
  nop = 0x118,
  bar = 0x11d,
  bra = 0x147,
  ld = 0x180,
  ldg = 0x181,
  ldl = 0x183,
  lds = 0x184,
  st = 0x185,
  stg = 0x186,
  stl = 0x187,
  sts = 0x188
};

std::vector<Instruction> decode(std::span<const std::byte> code) {
  std::vector<Instruction> instructions(code.size() / instruction_bytes);
  if (!instructions.empty())
    std::memcpy(instructions.data(), code.data(), instructions.size() * instruction_bytes);
  return instructions;
}

/// How far a branch goes, in bytes from the instruction after it.
std::int64_t branch_offset(const Instruction& branch, int capability) {
  const auto wide = static_cast<std::int64_t>(branch.high & 0x3ffff) << 46 >> 14;  // bits 64 to 81, signed
  const std::int64_t upper = wide | static_cast<std::int64_t>(branch.low >> 32);
  constexpr int first_split = 90;  // from here bits 16 to 23 hold the lowest bits of the offset in words
  if (capability < first_split) return upper;
  return ((upper >> 2 << 8) | static_cast<std::int64_t>(branch.low >> 16 & 0xff)) * 4;
}

void count_load(MemoryCounts& counts, const Instruction& instruction) {
  ++counts.loads;
  counts.load_bytes += instruction.width();
}

void count_store(MemoryCounts& counts, const Instruction& instruction) {
  ++counts.stores;
  counts.store_bytes += instruction.width();
}

void count(SassCounts& counts, const Instruction& instruction) {
  if (instruction.opcode() == nop) return;
  ++counts.instructions;
  switch (instruction.opcode()) {
    case ffma:
    case dfma:
      ++counts.fma;
      break;
    case fadd:
    case dadd:
      ++counts.add;
      break;
    case fmul:
    case dmul:
      ++counts.multiply;
      break;
    case bar:
      ++counts.barriers;
      break;
    case ld:
    case ldg:
      count_load(counts.global, instruction);
      break;
    case st:
    case stg:
      count_store(counts.global, instruction);
      break;
    case lds:
      count_load(counts.shared, instruction);
      break;
    case sts:
      count_store(counts.shared, instruction);
      break;
    case ldl:
      count_load(counts.local, instruction);
      break;
    case stl:
      count_store(counts.local, instruction);
      break;
    default:
      break;
  }
}

}  // namespace

SassSummary summarize_sass(std::span<const std::byte> code, int capability) {
  const std::vector<Instruction> instructions = decode(code);
  SassSummary summary;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    count(summary.all, instructions[i]);
    if (instructions[i].opcode() != bra) continue;
    const std::int64_t target =
        static_cast<std::int64_t>(i) + 1 +
        branch_offset(instructions[i], capability) / static_cast<std::int64_t>(instruction_bytes);
    // A branch to itself closes the code and is no loop.
    if (target < 0 || target >= static_cast<std::int64_t>(i)) continue;
    SassCounts loop;
    for (auto k = static_cast<std::size_t>(target); k <= i; ++k) count(loop, instructions[k]);
    const bool smaller = summary.loop.instructions == 0 || loop.instructions < summary.loop.instructions;
    if (loop.global.stores > 0 && smaller) summary.loop = loop;
  }
  return summary;
}

}  // namespace ondula::jit
