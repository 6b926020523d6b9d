// Tests of compiling, and of what is compiled only once.
// SPDX-License-Identifier: MIT
#include "runtime/jit/host_compiler.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "compiler/error.hpp"
#include "tests/runtime/jit/support.hpp"

using namespace ondula;
using namespace ondula::test;

TEST_CASE("jit: a kernel is compiled, called, and compiled no second time in the process") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  Warnings warnings;
  jit::HostCompiler compiler(cache_in(directory), warnings.sink());
  const auto module = compiler.compile(axpy_source());
  CHECK(axpy_works(*module));
  CHECK(module->record().compiled);
  CHECK_FALSE(module->record().cache_hit);
  CHECK(module->symbols() == std::vector<std::string>{"axpy"});
  CHECK(compiler.compile(axpy_source()) == module);
  REQUIRE(compiler.history().size() == 2);
  CHECK(compiler.history()[1].in_process);
  CHECK_FALSE(compiler.history()[1].compiled);
  CHECK(warnings.all().empty());
}

TEST_CASE("jit: a second compiler finds the kernel on disk") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  jit::HostCompiler(cache_in(directory)).compile(axpy_source());
  jit::HostCompiler second(cache_in(directory));
  const auto module = second.compile(axpy_source());
  CHECK(module->record().cache_hit);
  CHECK_FALSE(module->record().compiled);
  CHECK(axpy_works(*module));
}

TEST_CASE("jit: threads that ask for one text share one compilation") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  jit::HostCompiler compiler(cache_in(directory));
  std::vector<std::shared_ptr<const jit::HostModule>> modules(8);
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (auto& module : modules) threads.emplace_back([&] { module = compiler.compile(axpy_source()); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& module : modules) CHECK(module == modules.front());
  const auto history = compiler.history();
  CHECK(std::count_if(history.begin(), history.end(), [](const auto& r) { return r.compiled; }) == 1);
}

TEST_CASE("jit: different texts are compiled in parallel threads") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  jit::HostCompiler compiler(cache_in(directory));
  std::vector<int> good(6, 0);
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&, i] { good[i] = axpy_works(*compiler.compile(axpy_source(i)), i) ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  CHECK(good == std::vector<int>(6, 1));
}

TEST_CASE("C12: an option unset and one set to its default give one key, another option another") {
  const jit::HostCompiler compiler({.directory = "off"});
  jit::HostSource plain = axpy_source(), same = plain, defined = plain;
  same.options = {"-O3", "-O1"};
  defined.options = {"-DROWS=4"};
  CHECK(compiler.key_of(plain) == compiler.key_of(same));
  CHECK(compiler.key_of(plain) != compiler.key_of(defined));
  jit::HostSource bare = plain, spelled = plain;
  bare.options = {"-DX", "-DY=2"};
  spelled.options = {"-DY=2", "-DX=1"};
  CHECK(compiler.key_of(bare) == compiler.key_of(spelled));
  jit::HostSource manifest = plain;
  manifest.manifest = "{\"moved\": true}";
  CHECK(compiler.key_of(plain) == compiler.key_of(manifest));
}

TEST_CASE("C21: every option toggled on a warm cache gives its own kernel") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  const std::string text = "extern \"C\" int value() { return VALUE; }\n";
  for (int round = 0; round < 2; ++round) {
    jit::HostCompiler compiler(cache_in(directory));
    for (const int value : {1, 2, 3}) {
      const auto module = compiler.compile({text, "test", {"-DVALUE=" + std::to_string(value)}, ""});
      CHECK(reinterpret_cast<int (*)()>(module->symbol("value"))() == value);
      CHECK(module->record().cache_hit == (round == 1));
    }
  }
}

TEST_CASE("C9, C10: another Clang, CPU model, feature or text is another key") {
  jit::HostCompiler compiler({.directory = "off"});
  const jit::HostSource source = axpy_source();
  const std::string key = jit::host_key(source, compiler.cpu(), jit::built_clang_version());
  CHECK(compiler.key_of(source) == key);
  CHECK(jit::host_key(source, compiler.cpu(), "19.1.8") != jit::host_key(source, compiler.cpu(), "19.1.7"));
  CHECK(jit::host_key(source, compiler.cpu(), "20.1.0") != key);
  CHECK(jit::host_key(axpy_source(1), compiler.cpu(), jit::built_clang_version()) != key);
  jit::Cpu other = compiler.cpu();
  ++other.model;
  CHECK(jit::host_key(source, other, jit::built_clang_version()) != key);
  other = compiler.cpu();
  REQUIRE_FALSE(other.features.empty());
  other.features.pop_back();
  CHECK(jit::host_key(source, other, jit::built_clang_version()) != key);
}

TEST_CASE("C10: fewer CPU features are another key, and their kernel works") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  jit::HostCompiler full(cache_in(directory));
  jit::HostCompiler baseline(cache_in(directory), {}, "baseline");
  CHECK(full.compile(axpy_source())->record().compiled);
  const auto module = baseline.compile(axpy_source());
  CHECK(module->record().compiled);  // without the fma feature the kernel calls libm's fmaf
  CHECK(axpy_works(*module));
}

TEST_CASE("jit: full vectors are used where the CPU has AVX-512") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  jit::HostCompiler compiler(cache_in(directory));
  if (!compiler.cpu().has("avx512f")) ONDULA_SKIP("this CPU has no AVX-512");
  jit::HostSource full = axpy_source(), narrow = full;  // a plain loop, which -O2 makes vectors of
  full.options = {"-O2"};
  narrow.options = {"-O2", "-mprefer-vector-width=256"};
  const auto payload = [&](const jit::HostSource& source) {
    compiler.compile(source);
    return compiler.cache().load(compiler.key_of(source), source.text).value().payload;
  };
  // An EVEX prefix is 62; bits 5 and 6 of its fourth byte hold the vector length, 10 being 512 bits.
  const auto wide = [](const std::vector<std::byte>& code) {
    int count = 0;
    for (std::size_t i = 0; i + 4 < code.size(); ++i)
      if (code[i] == std::byte{0x62} && (code[i + 3] & std::byte{0x60}) == std::byte{0x40}) ++count;
    return count;
  };
  CHECK(wide(payload(full)) > wide(payload(narrow)));
}

TEST_CASE("jit: an unknown option is refused and the allowed ones are named") {
  jit::HostCompiler compiler({.directory = "off"});
  jit::HostSource source = axpy_source();
  source.options = {"-ffast-math"};
  CHECK_THROWS_WITH_AS(compiler.compile(source),
                       "host kernel option '-ffast-math' is unknown; allowed are -O0 to -O3, "
                       "-mprefer-vector-width=128, 256 or 512, and -DNAME[=VALUE]",
                       UserError);
}
