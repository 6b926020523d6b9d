// Tests of the tuner's records: their bytes, and their life in the cache.
// SPDX-License-Identifier: MIT
#include "runtime/jit/tuning_record.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <span>

#include "compiler/error.hpp"
#include "runtime/jit/cache.hpp"
#include "runtime/jit/cache_key.hpp"
#include "tests/runtime/jit/support.hpp"

using namespace ondula;
using namespace ondula::test;
namespace fs = std::filesystem;

namespace {

jit::TuningRecord record_named(const std::string& device) {
  jit::TuningRecord record;
  record.subject = {jit::KeyBuilder().add("program").hex(), device, 132, "13.0", "z 128, x 512"};
  record.equation = "acoustic";
  record.architecture = "sm_90";
  record.nvrtc = "13.0";
  record.created = "2025-01-31T12:00:00Z";
  record.kernels = {{"sweep0", 1, {{{false, {32, 8}, 4, 1}, 2e-3, ""}, {{false, {32, 4}, 8, 1}, 1e-3, ""}}},
                    {"sweep1", 0, {{{true, {64, 8}, 2, 8}, 0, ""}, {{false, {32, 8}, 4, 8}, 0, "spills"}}}};
  return record;
}

bool is_accepted(const std::string& text) {
  try {
    jit::decode_record(std::as_bytes(std::span(text)));
    return true;
  } catch (const InternalError&) {
    return false;
  }
}

}  // namespace

TEST_CASE("tuner's record: what is written is read back") {
  const jit::TuningRecord record = record_named("GPU");
  const std::string text = jit::encode_record(record);
  const jit::TuningRecord read = jit::decode_record(std::as_bytes(std::span(text)));
  CHECK(read.subject == record.subject);
  CHECK(read.shapes() == record.shapes());
  CHECK(read.shapes().at("sweep0") == passes::CudaShape{false, {32, 4}, 8, 1});
  CHECK(read.kernels[1].candidates[1].refused == "spills");
  CHECK(read.kernels[0].candidates[0].seconds == 2e-3);
  CHECK(jit::encode_record(read) == text);
}

TEST_CASE("tuner's record: one cut anywhere, or with any byte changed, is damaged") {
  const std::string text = jit::encode_record(record_named("GPU"));
  for (std::size_t size = 0; size + 1 < text.size(); ++size) CHECK(!is_accepted(text.substr(0, size)));
  int accepted = 0;
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    accepted += is_accepted(changed) ? 1 : 0;
  }
  CHECK(accepted == 0);
  for (const char* other : {"[]", "null", "{}", "{\"checksum\": 3}", "\xff\xfe"}) CHECK(!is_accepted(other));
}

TEST_CASE("tuner's record: the key tells program, device, driver and size of the grid apart") {
  const jit::TuningSubject subject = record_named("GPU").subject;
  const auto other = [&](auto change) {
    jit::TuningSubject own = subject;
    change(own);
    return jit::tuning_key(own) != jit::tuning_key(subject);
  };
  CHECK(other([](auto& s) { s.program = "other"; }));
  CHECK(other([](auto& s) { s.device = "other"; }));
  CHECK(other([](auto& s) { s.multiprocessors = 66; }));
  CHECK(other([](auto& s) { s.driver = "12.9"; }));
  CHECK(other([](auto& s) { s.grid = "z 256, x 512"; }));
  CHECK(jit::grid_class({"z", "x"}, {255, 512}) == "z 128, x 512");
  CHECK(jit::grid_class({"x"}, {256}) == "x 256");
}

TEST_CASE("tuner's record: the cache keeps it beside its entries, lists and clears it") {
  const TemporaryDirectory directory;
  Warnings warnings;
  jit::Cache cache(cache_in(directory), warnings.sink());
  const jit::TuningRecord record = record_named("GPU");
  CHECK(!cache.load_record(record.subject));
  CHECK(cache.store_record(record));
  REQUIRE(cache.load_record(record.subject));
  CHECK(cache.load_record(record.subject)->shapes() == record.shapes());
  CHECK(cache.records_of(record.subject.program).size() == 1);
  CHECK(cache.records_of("another").empty());
  const auto listed = cache.list();
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].record);
  CHECK(listed[0].damage == "");
  CHECK(listed[0].path == cache.record_path(record.subject));
  CHECK(cache.verify().empty());
  CHECK(cache.clear() == 1);
  CHECK(!cache.load_record(record.subject));
  CHECK(warnings.all().empty());
}

TEST_CASE("tuner's record: a damaged one and one of another subject are removed with a warning") {
  const TemporaryDirectory directory;
  Warnings warnings;
  jit::Cache cache(cache_in(directory), warnings.sink());
  const jit::TuningRecord record = record_named("GPU"), foreign = record_named("another GPU");
  cache.store_record(record);
  const fs::path path = cache.record_path(record.subject);
  const std::string whole = read_bytes(path);
  write_bytes(path, whole.substr(0, whole.size() / 2));
  CHECK(cache.records_of(record.subject.program).empty());
  CHECK(!cache.load_record(record.subject));
  CHECK(!fs::exists(path));
  REQUIRE(warnings.all().size() == 1);
  CHECK(warnings.all()[0].find("is of no use") != std::string::npos);
  write_bytes(path, jit::encode_record(foreign));
  CHECK(!cache.load_record(record.subject));
  CHECK(!fs::exists(path));
  CHECK(warnings.all().back().find("another program, device or grid") != std::string::npos);
  write_bytes(path, whole.substr(1));
  const auto removed = cache.verify();
  REQUIRE(removed.size() == 1);
  CHECK(!removed[0].record);
  CHECK(!fs::exists(path));
}

TEST_CASE("tuner's record: it counts for the cache's limit, and goes when it is the longest unused") {
  const TemporaryDirectory directory;
  jit::CacheOptions options = cache_in(directory);
  const std::size_t size = jit::encode_record(record_named("GPU 0")).size();
  options.limit_bytes = 2 * size + size / 2;
  jit::Cache cache(options, {});
  for (const int number : {0, 1}) {
    cache.store_record(record_named("GPU " + std::to_string(number)));
    fs::last_write_time(cache.record_path(record_named("GPU " + std::to_string(number)).subject),
                        fs::file_time_type::clock::now() - std::chrono::hours(2 - number));
  }
  CHECK(cache.load_record(record_named("GPU 0").subject));  // used now
  cache.store_record(record_named("GPU 2"));
  CHECK(cache.load_record(record_named("GPU 0").subject));
  CHECK(!cache.load_record(record_named("GPU 1").subject));
  CHECK(cache.load_record(record_named("GPU 2").subject));
}

TEST_CASE(
    "tuner's record: without a folder, or in one that cannot be written, there is none, and no failure") {
  Warnings warnings;
  const jit::TuningRecord record = record_named("GPU");
  jit::CacheOptions off;
  off.directory = "off";
  jit::Cache none(off, warnings.sink());
  CHECK(!none.store_record(record));
  CHECK(!none.load_record(record.subject));
  CHECK(warnings.all().empty());
  jit::CacheOptions closed;
  closed.directory = "/proc/ondula";
  jit::Cache cache(closed, warnings.sink());
  CHECK(!cache.store_record(record));
  CHECK(!cache.load_record(record.subject));
  CHECK(warnings.all().size() == 1);
}
