// Tests of a cache that is damaged, full, busy, unwritable or nowhere: kernels come out right, with one
// warning. SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "runtime/jit/host_compiler.hpp"
#include "tests/runtime/jit/support.hpp"

using namespace ondula;
using namespace ondula::test;
namespace fs = std::filesystem;

namespace {

/// Compiles three kernels under `options`: each right, compiled anew, and one warning in all.
void check_memory_only(const jit::CacheOptions& options) {
  Warnings warnings;
  jit::HostCompiler compiler(options, warnings.sink());
  for (int i = 0; i < 3; ++i) CHECK(axpy_works(*compiler.compile(axpy_source(i)), i));
  for (const auto& record : compiler.history()) CHECK(record.compiled);
  CHECK(warnings.all().size() == 1);
}

/// Stores a kernel, damages its file, and expects one warning, the right result, and a good entry again.
void check_rebuilt(const std::function<std::string(std::string)>& damage) {
  const TemporaryDirectory directory;
  jit::HostCompiler first(cache_in(directory));
  const fs::path path = first.cache().path_of(first.compile(axpy_source())->record().key);
  write_bytes(path, damage(read_bytes(path)));
  Warnings warnings;
  jit::HostCompiler second(cache_in(directory), warnings.sink());
  const auto module = second.compile(axpy_source());
  CHECK(axpy_works(*module));
  CHECK(module->record().compiled);
  CHECK(warnings.all().size() == 1);
  CHECK(warnings.all().front().find(path.string()) != std::string::npos);
  Warnings later;
  CHECK(jit::HostCompiler(cache_in(directory), later.sink()).compile(axpy_source())->record().cache_hit);
  CHECK(later.all().empty());
}

}  // namespace

TEST_CASE(
    "C4: an emptied, halved or bit-flipped entry gives one warning, is rebuilt, and the result is right") {
  ONDULA_NEEDS_CLANG();
  SUBCASE("emptied") {
    check_rebuilt([](const std::string&) { return std::string(); });
  }
  SUBCASE("halved") {
    check_rebuilt([](const std::string& bytes) { return bytes.substr(0, bytes.size() / 2); });
  }
  SUBCASE("a bit of the code flipped") {
    check_rebuilt([](std::string bytes) {
      bytes[bytes.size() - 600] = static_cast<char>(bytes[bytes.size() - 600] ^ 0x10);
      return bytes;
    });
  }
  SUBCASE("a bit of the source flipped") {
    check_rebuilt([](std::string bytes) {
      bytes[bytes.find("axpy")] ^= 1;
      return bytes;
    });
  }
}

TEST_CASE("cache: a whole entry whose object cannot be loaded is rebuilt") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  jit::HostCompiler first(cache_in(directory));
  const std::string key = first.compile(axpy_source())->record().key;
  jit::CacheEntry entry = first.cache().load(key, axpy_source().text).value();
  entry.payload.resize(entry.payload.size() / 2);
  first.cache().store(entry);
  Warnings warnings;
  jit::HostCompiler second(cache_in(directory), warnings.sink());
  CHECK(axpy_works(*second.compile(axpy_source())));
  CHECK(warnings.all().size() == 1);
}

TEST_CASE("C7: ESTALE or EBUSY on open and rename is tried again, and in the end kernels stay in memory") {
  ONDULA_NEEDS_CLANG();
  for (const int error : {ESTALE, EBUSY}) {
    for (const std::string_view failing : {"open", "rename"}) {
      const TemporaryDirectory directory;
      int left = 2;
      jit::CacheOptions options = cache_in(directory);
      options.fault = [&](const char* operation) { return operation == failing && left-- > 0 ? error : 0; };
      Warnings warnings;
      CHECK(axpy_works(*jit::HostCompiler(options, warnings.sink()).compile(axpy_source())));
      CHECK(warnings.all().empty());
      CHECK(jit::HostCompiler(cache_in(directory)).compile(axpy_source())->record().cache_hit);

      const TemporaryDirectory other;
      options = cache_in(other);
      options.fault = [&](const char* operation) { return operation == failing ? error : 0; };
      check_memory_only(options);
      CHECK(files_below(other.path()).empty());
    }
  }
}

TEST_CASE("C14: HOME unset, not a folder, read-only or yet to be made: at most one warning, and it works") {
  ONDULA_NEEDS_CLANG();
  ::unsetenv("ONDULA_CACHE");
  ::unsetenv("XDG_CACHE_HOME");
  SUBCASE("unset") {
    ::unsetenv("HOME");
    check_memory_only({});
  }
  SUBCASE("not a folder") {
    ::setenv("HOME", "/dev/null", 1);
    check_memory_only({});
  }
  SUBCASE("read-only") {
    const TemporaryDirectory directory;
    ::chmod(directory.path().c_str(), 0500);
    // The superuser may write there all the same; nobody may in /proc.
    ::setenv("HOME", ::geteuid() == 0 ? "/proc" : directory.path().c_str(), 1);
    check_memory_only({});
    ::chmod(directory.path().c_str(), 0700);
  }
  SUBCASE("yet to be made") {
    const TemporaryDirectory directory;
    ::setenv("HOME", (directory.path() / "a" / "b").c_str(), 1);
    Warnings warnings;
    CHECK(axpy_works(*jit::HostCompiler({}, warnings.sink()).compile(axpy_source())));
    CHECK(warnings.all().empty());
    CHECK(files_below(directory.path() / "a/b/.cache/ondula").size() == 1);
  }
}

TEST_CASE("C14: the cache can be put elsewhere, or turned off without a warning") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  Warnings warnings;
  ::unsetenv("HOME");
  ::setenv("ONDULA_CACHE", (directory.path() / "here").c_str(), 1);
  CHECK(axpy_works(*jit::HostCompiler({}, warnings.sink()).compile(axpy_source())));
  CHECK(files_below(directory.path() / "here").size() == 1);
  ::setenv("ONDULA_CACHE", "off", 1);
  jit::HostCompiler off({}, warnings.sink());
  CHECK(axpy_works(*off.compile(axpy_source())));
  CHECK_FALSE(off.history().front().cache_hit);
  CHECK(warnings.all().empty());
}

TEST_CASE("C15: a full file system gives one warning and leaves no half-written file") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  jit::CacheOptions options = cache_in(directory);
  options.fault = [](const char* operation) { return operation == std::string_view("write") ? ENOSPC : 0; };
  check_memory_only(options);
  CHECK(files_below(directory.path()).empty());
}
