// Tests of the object loader: what it resolves, what it refuses, and that damage is never a crash.
// SPDX-License-Identifier: MIT
#include "runtime/jit/elf_loader.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "compiler/error.hpp"
#include "runtime/jit/clang_library.hpp"
#include "runtime/jit/cpu.hpp"
#include "runtime/jit/host_options.hpp"
#include "tests/runtime/jit/support.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

/// The object of a text, compiled for the baseline CPU so that fma is a call.
std::vector<std::byte> object_of(const std::string& text) {
  const auto arguments = jit::host_arguments(jit::Cpu{"Test", 6, 1, {}}, {}, "t.cpp");
  auto compiled = jit::ClangLibrary().compile("t.cpp", text, arguments);
  if (!compiled.succeeded) throw InternalError(compiled.log);
  return compiled.object;
}

const char* const every_kind =
    "namespace { const float weights[4] = {1, 2, 3, 4}; long calls; const float* table[2] = {weights, "
    "weights + 2}; }\n"
    "extern \"C\" { long counter = 5; extern const long fixed; const long fixed = 7;\n"
    "float pick(int i) { return *table[i]; }\n"
    "void zero(char* p, long n) { __builtin_memset(p, 0, n); }\n"
    "float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }\n"
    "long count() { return ++calls + ++counter + fixed; }\n"
    "int choose(int i) { switch (i) { case 0: return 4; case 1: return 77; case 2: return -3; case 3: return "
    "12;\n"
    "  case 4: return 1000; case 5: return 6; default: return 0; } } }\n";

}  // namespace

TEST_CASE("elf: tables, data, calls into libm and libc, and jumps are relocated") {
  ONDULA_NEEDS_CLANG();
  const std::vector<std::byte> object = object_of(every_kind);
  const jit::ElfImage image(object);
  const auto pick = reinterpret_cast<float (*)(int)>(image.symbol("pick"));
  CHECK(pick(0) == 1);
  CHECK(pick(1) == 3);
  char bytes[9] = "aaaaaaaa";
  reinterpret_cast<void (*)(char*, long)>(image.symbol("zero"))(bytes, 3);
  CHECK(bytes[2] == 0);
  CHECK(bytes[3] == 'a');
  CHECK(reinterpret_cast<float (*)(float, float, float)>(image.symbol("fused"))(2, 3, 4) == 10);
  const auto count = reinterpret_cast<long (*)()>(image.symbol("count"));
  CHECK(count() == 1 + 6 + 7);
  CHECK(count() == 2 + 7 + 7);
  CHECK(*static_cast<long*>(image.symbol("counter")) == 7);
  CHECK(reinterpret_cast<int (*)(int)>(image.symbol("choose"))(4) == 1000);
  CHECK(image.symbol("weights") == nullptr);  // local
  CHECK(image.symbol("absent") == nullptr);
}

TEST_CASE("elf: two images of one object have their own data") {
  ONDULA_NEEDS_CLANG();
  const std::vector<std::byte> object = object_of(every_kind);
  const jit::ElfImage first(object), second(object);
  const auto count = [](const jit::ElfImage& image) {
    return reinterpret_cast<long (*)()>(image.symbol("count"))();
  };
  count(first);
  CHECK(count(first) == 16);
  CHECK(count(second) == 14);
}

TEST_CASE("elf: code is never writable and data never executable") {
  ONDULA_NEEDS_CLANG();
  const std::vector<std::byte> object = object_of(every_kind);
  const jit::ElfImage image(object);
  const auto protection = [](const void* address) {
    const std::string maps = read_bytes("/proc/self/maps");
    for (std::size_t at = 0; at < maps.size(); at = maps.find('\n', at) + 1) {
      unsigned long from = 0, to = 0;
      char flags[5] = "";
      if (std::sscanf(maps.c_str() + at, "%lx-%lx %4s", &from, &to, flags) != 3) break;
      const auto value = reinterpret_cast<unsigned long>(address);
      if (value >= from && value < to) return std::string(flags);
    }
    return std::string("none");
  };
  CHECK(protection(image.symbol("pick")) == "r-xp");
  CHECK(protection(image.symbol("fixed")) == "r--p");
  CHECK(protection(image.symbol("counter")) == "rw-p");
}

TEST_CASE("elf: zero-fill and copy loops stay loops") {
  ONDULA_NEEDS_CLANG();
  const std::vector<std::byte> object = object_of(
      "extern \"C\" void fill(float* __restrict a, const float* __restrict b, long n) {\n"
      "  for (long i = 0; i < n; ++i) a[i] = 0;\n  for (long i = 0; i < n; ++i) a[n + i] = b[i];\n}\n");
  const std::string bytes(reinterpret_cast<const char*>(object.data()), object.size());
  CHECK(bytes.find("fill") != std::string::npos);
  CHECK(bytes.find("memset") == std::string::npos);
  CHECK(bytes.find("memcpy") == std::string::npos);
}

TEST_CASE("elf: an undefined symbol outside the short list is named") {
  ONDULA_NEEDS_CLANG();
  const std::vector<std::byte> object =
      object_of("extern \"C\" int getpid(); extern \"C\" int f() { return getpid(); }\n");
  CHECK_THROWS_WITH_AS(jit::ElfImage{object},
                       doctest::Contains("undefined symbol 'getpid': kernels may call cos, cosf, exp"),
                       InternalError);
}

TEST_CASE("elf: static constructors and thread-local data are refused") {
  ONDULA_NEEDS_CLANG();
  const std::vector<std::byte> constructed =
      object_of("extern \"C\" { int f(); int f() { return 4; } int value = f(); }\n");
  const std::vector<std::byte> local =
      object_of("extern \"C\" { thread_local int t; int g() { return ++t; } }\n");
  CHECK_NOTHROW(jit::ElfImage{constructed});  // folded to a constant: nothing runs
  CHECK_THROWS_WITH_AS(jit::ElfImage{local}, "kernel object: thread-local data", InternalError);
  const std::vector<std::byte> running =
      object_of("extern \"C\" { volatile int seed; int h() { return seed; } int value = h(); }\n");
  CHECK_THROWS_WITH_AS(jit::ElfImage{running}, doctest::Contains("code that runs on loading"), InternalError);
}

TEST_CASE("elf: any flipped bit and any cut length is loaded or refused, never a crash") {
  ONDULA_NEEDS_CLANG();
  const std::vector<std::byte> object = object_of(every_kind);
  std::size_t refused = 0;
  const auto attempt = [&](std::span<const std::byte> bytes) {
    try {
      const jit::ElfImage image(bytes);
    } catch (const InternalError&) {
      ++refused;
    }
  };
  for (std::size_t bit = 0; bit < 8 * object.size(); ++bit) {
    std::vector<std::byte> damaged = object;
    damaged[bit / 8] ^= std::byte{1} << (bit % 8);
    attempt(damaged);
  }
  CHECK(refused > object.size() / 8);  // headers, names and relocations are most of a small object
  refused = 0;
  for (std::size_t size = 0; size < object.size(); ++size) attempt(std::span(object).first(size));
  CHECK(refused == object.size());  // the section table stands last
}

TEST_CASE("elf: something else than an object is refused") {
  const std::vector<std::byte> nothing, text(4096, std::byte{'x'});
  CHECK_THROWS_WITH_AS(jit::ElfImage{nothing}, doctest::Contains("the ELF header"), InternalError);
  CHECK_THROWS_WITH_AS(jit::ElfImage{text}, "kernel object: not an ELF file", InternalError);
}
