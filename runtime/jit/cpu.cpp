// CPU features from cpuid and xgetbv, under LLVM's names.
// SPDX-License-Identifier: MIT
#include "runtime/jit/cpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "compiler/error.hpp"
#include "runtime/jit/join.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ondula::jit {
namespace {

enum Register { eax, ebx, ecx, edx };

/// Where cpuid shows a feature, and the one it rests on.
struct Feature {
  std::string_view name;
  unsigned leaf, subleaf;
  Register where;
  int bit;
  std::string_view needs;
};

/// Those that change the code of a kernel. A feature stands after the one it needs.
constexpr Feature known[] = {
    {"sse3", 1, 0, ecx, 0, ""},
    {"ssse3", 1, 0, ecx, 9, "sse3"},
    {"sse4.1", 1, 0, ecx, 19, "ssse3"},
    {"sse4.2", 1, 0, ecx, 20, "sse4.1"},
    {"popcnt", 1, 0, ecx, 23, ""},
    {"movbe", 1, 0, ecx, 22, ""},
    {"cx16", 1, 0, ecx, 13, ""},
    {"sahf", 0x80000001, 0, ecx, 0, ""},
    {"lzcnt", 0x80000001, 0, ecx, 5, ""},
    {"bmi", 7, 0, ebx, 3, ""},
    {"bmi2", 7, 0, ebx, 8, "bmi"},
    {"avx", 1, 0, ecx, 28, "sse4.2"},
    {"f16c", 1, 0, ecx, 29, "avx"},
    {"fma", 1, 0, ecx, 12, "avx"},
    {"avx2", 7, 0, ebx, 5, "avx"},
    {"avxvnni", 7, 1, eax, 4, "avx2"},
    {"gfni", 7, 0, ecx, 8, "sse4.2"},
    {"vaes", 7, 0, ecx, 9, "avx2"},
    {"vpclmulqdq", 7, 0, ecx, 10, "avx2"},
    {"avx512f", 7, 0, ebx, 16, "fma"},
    {"avx512cd", 7, 0, ebx, 28, "avx512f"},
    {"avx512bw", 7, 0, ebx, 30, "avx512f"},
    {"avx512dq", 7, 0, ebx, 17, "avx512f"},
    {"avx512vl", 7, 0, ebx, 31, "avx512f"},
    {"avx512ifma", 7, 0, ebx, 21, "avx512f"},
    {"avx512vbmi", 7, 0, ecx, 1, "avx512bw"},
    {"avx512vbmi2", 7, 0, ecx, 6, "avx512bw"},
    {"avx512vnni", 7, 0, ecx, 11, "avx512f"},
    {"avx512bitalg", 7, 0, ecx, 12, "avx512bw"},
    {"avx512vpopcntdq", 7, 0, ecx, 14, "avx512f"},
    {"avx512bf16", 7, 1, eax, 5, "avx512bw"},
    {"avx512fp16", 7, 0, edx, 23, "avx512bw"},
};

const Feature& find(std::string_view name) {
  return *std::find_if(std::begin(known), std::end(known), [&](const Feature& f) { return f.name == name; });
}

/// Whether `feature` rests on `base`, directly or not, or is it.
bool rests_on(std::string_view feature, std::string_view base) {
  for (; !feature.empty(); feature = find(feature).needs)
    if (feature == base) return true;
  return false;
}

#if defined(__x86_64__)
using Registers = std::array<unsigned, 4>;

Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r{};
  __cpuid_count(leaf, subleaf, r[eax], r[ebx], r[ecx], r[edx]);
  return r;
}

/// The answers of the leaves used here, each asked once: a virtual machine takes tens of microseconds for an
/// answer.
std::map<std::pair<unsigned, unsigned>, Registers> ask_leaves() {
  std::map<std::pair<unsigned, unsigned>, Registers> leaves;
  leaves[{0, 0}] = cpuid(0);
  leaves[{1, 0}] = cpuid(1);
  const unsigned last = leaves[{0, 0}][eax];
  if (last >= 7) leaves[{7, 0}] = cpuid(7);
  if (last >= 7 && leaves[{7, 0}][eax] >= 1) leaves[{7, 1}] = cpuid(7, 1);
  leaves[{0x80000001, 0}] = cpuid(0x80000001);  // there on every x86-64
  return leaves;
}

/// Which register files the operating system saves: bits 1, 2 the xmm and ymm halves, 5 to 7 the AVX-512
/// state.
std::uint64_t enabled_state(const Registers& version) {
  if ((version[ecx] >> 27 & 1) == 0) return 0;  // no OSXSAVE
  std::uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

std::vector<std::string> detect_features(std::map<std::pair<unsigned, unsigned>, Registers>& leaves) {
  const std::uint64_t state = enabled_state(leaves[{1, 0}]);
  const bool avx_saved = (state & 0x6) == 0x6, avx512_saved = (state & 0xe6) == 0xe6;
  std::set<std::string> found;
  for (const Feature& f : known) {
    if ((leaves[{f.leaf, f.subleaf}][f.where] >> f.bit & 1) == 0) continue;
    if (rests_on(f.name, "avx") && !avx_saved) continue;
    if (rests_on(f.name, "avx512f") && !avx512_saved) continue;
    if (!f.needs.empty() && found.count(std::string(f.needs)) == 0) continue;
    found.emplace(f.name);
  }
  return {found.begin(), found.end()};
}
#endif

/// The parts of a comma-separated list, blanks removed.
std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> parts(1);
  for (char c : names) {
    if (c == ',') {
      parts.emplace_back();
    } else if (c != ' ') {
      parts.back() += c;
    }
  }
  std::erase(parts, "");
  return parts;
}

}  // namespace

bool Cpu::has(const std::string& feature) const {
  return std::binary_search(features.begin(), features.end(), feature);
}

Cpu host_cpu() {
#if defined(__x86_64__)
  Cpu cpu;
  auto leaves = ask_leaves();
  const Registers vendor = leaves[{0, 0}], version = leaves[{1, 0}];
  for (Register r : {ebx, edx, ecx}) {
    std::array<char, 4> letters{};
    std::memcpy(letters.data(), &vendor[r], 4);
    cpu.vendor.append(letters.data(), 4);
  }
  const int family = static_cast<int>(version[eax] >> 8 & 0xf);
  cpu.family = family == 0xf ? family + static_cast<int>(version[eax] >> 20 & 0xff) : family;
  cpu.model = static_cast<int>(version[eax] >> 4 & 0xf);
  if (family == 0x6 || family == 0xf) cpu.model += static_cast<int>(version[eax] >> 16 & 0xf) << 4;
  cpu.features = detect_features(leaves);
  return cpu;
#else
  throw RuntimeError("the host device compiles for x86-64 only, and this machine is another");
#endif
}

Cpu restrict_cpu(Cpu cpu, const std::string& names) {
  std::vector<std::string> kept, dropped;
  const std::vector<std::string> parts = split(names);
  for (const std::string& part : parts) {
    if (part == "baseline") continue;
    const bool minus = part.front() == '-';
    const std::string name = minus ? part.substr(1) : part;
    if (!cpu.has(name) && !(minus && std::any_of(std::begin(known), std::end(known),
                                                 [&](const Feature& f) { return f.name == name; })))
      throw UserError(fmt::format("CPU features '{}': '{}' is not one of this CPU's, which are {}", names,
                                  name, join(cpu.features, ", ")));
    (minus ? dropped : kept).push_back(name);
  }
  const bool only_kept = !parts.empty() && dropped.size() < parts.size();
  std::erase_if(cpu.features, [&](const std::string& feature) {
    const bool out =
        std::any_of(dropped.begin(), dropped.end(), [&](auto& d) { return rests_on(feature, d); });
    const bool in = std::any_of(kept.begin(), kept.end(), [&](auto& k) { return rests_on(k, feature); });
    return out || (only_kept && !in);
  });
  return cpu;
}

}  // namespace ondula::jit
