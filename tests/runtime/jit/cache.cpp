// Tests of the cache's keys, entries, limits and upkeep.
// SPDX-License-Identifier: MIT
#include "runtime/jit/cache.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "compiler/error.hpp"
#include "runtime/jit/cache_key.hpp"
#include "tests/runtime/jit/support.hpp"

using namespace ondula;
using namespace ondula::test;
namespace fs = std::filesystem;

namespace {

/// An entry whose key, source and payload follow from `name`.
jit::CacheEntry entry_named(const std::string& name, std::size_t payload = 100) {
  jit::CacheEntry entry;
  entry.key = jit::KeyBuilder().add(name).hex();
  entry.backend = "host";
  entry.equation = name;
  entry.source = "source of " + name + "\n";
  entry.options = {"-O2"};
  entry.manifest = "{\"kernels\": []}";
  entry.compile_seconds = 0.25;
  entry.payload.assign(payload, std::byte{0x5a});
  return entry;
}

bool is_accepted(std::span<const std::byte> file) {
  try {
    jit::decode_entry(file);
    return true;
  } catch (const InternalError&) {
    return false;
  }
}

void set_age(const fs::path& path, std::chrono::minutes age) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - age);
}

}  // namespace

TEST_CASE("cache: a key tells apart lists whose parts run together to the same text") {
  const auto key = [](std::vector<std::string> parts) { return jit::KeyBuilder().add(parts).hex(); };
  CHECK(key({"ab", "c"}) != key({"a", "bc"}));
  CHECK(key({"abc"}) != key({"abc", ""}));
  CHECK(jit::KeyBuilder().add("a").add("b").hex() != key({"a", "b"}));
  CHECK(key({"ab", "c"}) == key({"ab", "c"}));
  CHECK(key({}).size() == 32);
}

TEST_CASE("cache: an entry comes back as it was stored, one sharded file per key") {
  const TemporaryDirectory directory;
  jit::Cache cache(cache_in(directory), {});
  const jit::CacheEntry entry = entry_named("acoustic");
  cache.store(entry);
  CHECK(files_below(cache.directory()) ==
        std::vector<std::string>{entry.key.substr(0, 2) + "/" + entry.key + ".ondula"});
  const auto loaded = cache.load(entry.key, entry.source);
  REQUIRE(loaded);
  CHECK(loaded.value().payload == entry.payload);
  CHECK(loaded.value().options == entry.options);
  CHECK(loaded.value().manifest == entry.manifest);
  CHECK(loaded.value().compile_seconds == entry.compile_seconds);
  CHECK_FALSE(cache.load(entry_named("other").key, "x"));
}

TEST_CASE("cache: an entry with another source under the same key is not used") {
  const TemporaryDirectory directory;
  Warnings warnings;
  jit::Cache cache(cache_in(directory), warnings.sink());
  const jit::CacheEntry entry = entry_named("acoustic");
  cache.store(entry);
  CHECK_FALSE(cache.load(entry.key, "another text"));
  CHECK(warnings.all().size() == 1);
}

TEST_CASE("cache: an entry with any one bit flipped, or any length cut, is refused") {
  const std::vector<std::byte> file = jit::encode_entry(entry_named("acoustic", 16));
  CHECK_NOTHROW(jit::decode_entry(file));
  int accepted = 0;
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    std::vector<std::byte> damaged = file;
    damaged[bit / 8] ^= std::byte{1} << (bit % 8);
    accepted += is_accepted(damaged) ? 1 : 0;
  }
  for (std::size_t size = 0; size < file.size(); ++size)
    accepted += is_accepted(std::span(file).first(size)) ? 1 : 0;
  CHECK(accepted == 0);
}

TEST_CASE("C5: half-written files of a killed writer are ignored, and removed when they are old") {
  const TemporaryDirectory directory;
  jit::Cache cache(cache_in(directory), {});
  const jit::CacheEntry entry = entry_named("acoustic");
  const fs::path shard = cache.path_of(entry.key).parent_path();
  fs::create_directories(shard);
  const fs::path old_file = shard / ".writing-1-0011223344556677",
                 new_file = shard / ".writing-2-0011223344556677";
  write_bytes(old_file, "half");
  write_bytes(new_file, "half");
  set_age(old_file, std::chrono::minutes(90));
  CHECK_FALSE(cache.load(entry.key, entry.source));
  CHECK(cache.list().empty());
  cache.store(entry);
  CHECK(cache.load(entry.key, entry.source));
  CHECK_FALSE(fs::exists(old_file));
  CHECK(fs::exists(new_file));  // its writer may be at work
}

TEST_CASE("C15: beyond the limit the longest unused entries go, and nothing that is not the cache's") {
  const TemporaryDirectory directory;
  jit::CacheOptions options = cache_in(directory);
  options.limit_bytes = 4500;
  jit::Cache cache(options, {});
  const jit::CacheEntry a = entry_named("a", 1000), b = entry_named("b", 1000), c = entry_named("c", 1000);
  cache.store(a);
  cache.store(b);
  fs::create_directories(cache.directory() / "mine");
  write_bytes(cache.directory() / "mine" / "notes.txt", std::string(5000, 'x'));
  set_age(cache.path_of(a.key), std::chrono::minutes(20));
  set_age(cache.path_of(b.key), std::chrono::minutes(10));
  CHECK(cache.load(a.key, a.source));  // now b is the longest unused
  cache.store(c);
  CHECK(cache.load(a.key, a.source));
  cache.store(entry_named("d", 1000));
  CHECK_FALSE(fs::exists(cache.path_of(b.key)));
  CHECK(fs::exists(cache.path_of(a.key)));
  CHECK(fs::exists(cache.directory() / "mine" / "notes.txt"));
  std::uint64_t total = 0;
  for (const auto& listing : cache.list()) total += listing.bytes;
  CHECK(total <= options.limit_bytes);
}

TEST_CASE("cache: an entry larger than the limit is not stored, with one warning") {
  const TemporaryDirectory directory;
  Warnings warnings;
  jit::CacheOptions options = cache_in(directory);
  options.limit_bytes = 500;
  jit::Cache cache(options, warnings.sink());
  cache.store(entry_named("a", 1000));
  cache.store(entry_named("b", 1000));
  CHECK(cache.list().empty());
  CHECK(warnings.all().size() == 1);
}

TEST_CASE("cache: list shows damage, verify removes it, clear empties and leaves other files") {
  const TemporaryDirectory directory;
  jit::Cache cache(cache_in(directory), {});
  for (const char* name : {"a", "b", "c"}) cache.store(entry_named(name));
  const std::string failed = cache.save_failed_source(jit::KeyBuilder().add("bad").hex(), "bad");
  write_bytes(cache.directory() / "readme", "mine");
  const fs::path damaged = cache.path_of(entry_named("b").key);
  write_bytes(damaged, read_bytes(damaged).substr(0, 200));
  int with_damage = 0;
  for (const auto& listing : cache.list()) {
    CHECK(listing.entry.has_value() == listing.damage.empty());
    with_damage += listing.damage.empty() ? 0 : 1;
  }
  CHECK(with_damage == 1);
  const auto removed = cache.verify();
  REQUIRE(removed.size() == 1);
  CHECK(removed.front().path == damaged);
  CHECK(cache.list().size() == 2);
  CHECK(fs::exists(failed));
  CHECK(cache.clear() == 3);
  CHECK(files_below(cache.directory()) == std::vector<std::string>{"readme"});
}

TEST_CASE("cache: files named almost like its own survive trim, verify and clear") {
  const TemporaryDirectory directory;
  jit::CacheOptions options = cache_in(directory);
  options.limit_bytes = 4500;
  jit::Cache cache(options, {});
  const std::string key = entry_named("a").key;
  const std::vector<std::string> theirs = {"00/x.ondula", "data/" + key + ".ondula",
                                           "data/.writing-1-0011223344556677", "data/x.ondula",
                                           "failed/" + key + ".txt", "failed/notes.cpp", "failed/report.txt",
                                           // the right name in another key's folder
                                           (key.starts_with("00") ? "11/" : "00/") + key + ".ondula"};
  for (const std::string& name : theirs) {
    const fs::path path = cache.directory() / name;
    fs::create_directories(path.parent_path());
    write_bytes(path, std::string(5000, 'x'));
    set_age(path, std::chrono::minutes(90));
  }
  cache.store(entry_named("a", 1000));  // trims
  CHECK(cache.list().size() == 1);
  CHECK(cache.verify().empty());
  CHECK(fs::exists(cache.path_of(key)));
  CHECK(cache.clear() == 1);
  for (const std::string& name : theirs) {
    CAPTURE(name);
    CHECK(fs::exists(cache.directory() / name));
  }
}

TEST_CASE("cache: the folder comes from the option, then ONDULA_CACHE, XDG_CACHE_HOME and HOME") {
  const auto directory = [](const std::string& option) {
    return jit::Cache({.directory = option}, {}).directory();
  };
  ::setenv("HOME", "/h", 1);
  ::setenv("XDG_CACHE_HOME", "/x", 1);
  ::setenv("ONDULA_CACHE", "/o", 1);
  CHECK(directory("/chosen") == "/chosen");
  CHECK(directory("off") == "");
  CHECK(directory("") == "/o");
  ::setenv("ONDULA_CACHE", "off", 1);
  CHECK(directory("") == "");
  ::unsetenv("ONDULA_CACHE");
  CHECK(directory("") == "/x/ondula");
  ::unsetenv("XDG_CACHE_HOME");
  CHECK(directory("") == "/h/.cache/ondula");
}

TEST_CASE("cache: sizes are read with units, and ONDULA_CACHE_LIMIT is checked") {
  CHECK(jit::parse_bytes("1000", "x") == 1000);
  CHECK(jit::parse_bytes("1.5 kB", "x") == 1500);
  CHECK(jit::parse_bytes("2 GiB", "x") == std::uint64_t{2} << 30);
  for (const char* text : {"", "GiB", "-1", "3 parsecs", "1e300", "nan"})
    CHECK_THROWS_AS(jit::parse_bytes(text, "x"), UserError);
  ::setenv("ONDULA_CACHE_LIMIT", "10 MB", 1);
  CHECK(jit::Cache({}, {}).limit_bytes() == 10000000);
  ::setenv("ONDULA_CACHE_LIMIT", "much", 1);
  CHECK_THROWS_WITH_AS(
      jit::Cache({}, {}),
      "ONDULA_CACHE_LIMIT: 'much' is no size; write a number with B, kB, MB, GB, KiB, MiB or GiB", UserError);
  ::unsetenv("ONDULA_CACHE_LIMIT");
}
