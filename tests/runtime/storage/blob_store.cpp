// The store of numbered blobs: what was put comes back, late and in any order, and faults are told.
// SPDX-License-Identifier: MIT
#include "runtime/storage/blob_store.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <future>
#include <map>
#include <random>

#include "compiler/error.hpp"
#include "tests/runtime/storage/faulty_files.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace ondula;
using namespace ondula::test;
using storage::BlobOptions;
using storage::BlobStore;

namespace {

using Blob = std::vector<std::byte>;

Blob blob(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  Blob result(bytes);
  for (std::byte& b : result) b = static_cast<std::byte>(random() & 0xff);
  return result;
}

struct Place {
  TemporaryDirectory folder;
  std::shared_ptr<FaultyFiles> files = std::make_shared<FaultyFiles>();
  BlobOptions options(Tier tier, std::int64_t count, std::size_t bytes, int staging) const {
    return {"history", count, bytes, tier, folder.path().string(), staging, {}, files};
  }
};

}  // namespace

TEST_CASE("blob store: put, prefetch, get, write and read in any order give back the last bytes") {
  for (const Tier tier : {Tier::host, Tier::disk}) {
    for (const int staging : {0, 1, 3}) {
      CAPTURE(staging);
      const Place place;
      constexpr std::int64_t count = 7;
      constexpr std::size_t bytes = 5003;
      BlobStore store(place.options(tier, count, bytes, staging));
      std::mt19937 random(11);
      std::map<std::int64_t, Blob> kept;
      const auto memory = storage::allocate_host({}, storage::blob_room(tier, bytes), "test");
      Blob back(bytes);
      for (unsigned k = 0; k < 400; ++k) {
        const auto slot = static_cast<std::int64_t>(random() % count);
        const auto what = random() % 5;
        if (what == 0) {
          kept[slot] = blob(bytes, k);
          store.put(slot, kept[slot]);
        } else if (what == 1) {
          kept[slot] = blob(bytes, k);
          std::copy(kept[slot].begin(), kept[slot].end(), memory.get());
          store.write(slot, memory.get());
          if (random() % 2 == 0) store.prefetch(slot);
          store.wait(slot);
        } else if (!kept.contains(slot)) {
          continue;
        } else if (what == 2) {
          store.prefetch(slot);
        } else if (what == 3) {
          store.get(slot, back);
          REQUIRE(back == kept[slot]);
        } else {
          store.read(slot, memory.get());
          store.wait(slot);
          REQUIRE(std::equal(kept[slot].begin(), kept[slot].end(), memory.get()));
        }
      }
      store.finish();
    }
  }
}

TEST_CASE("blob store: put returns before the disk has it, and waits while all staging is under way") {
  const Place place;
  std::promise<void> open;
  place.files->at_write = [gate = open.get_future().share()] { gate.wait(); };
  BlobStore store(place.options(Tier::disk, 8, 1000, 2));
  store.put(0, blob(1000, 0));
  store.put(1, blob(1000, 1));
  auto third = std::async(std::launch::async, [&] { store.put(2, blob(1000, 2)); });
  CHECK(third.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
  open.set_value();
  third.get();
  store.finish();
  Blob back(1000);
  for (unsigned slot = 0; slot < 3; ++slot) {
    store.get(slot, back);
    CHECK(back == blob(1000, slot));
  }
}

TEST_CASE("blob store: what was fetched ahead is not read again, nor what is still in staging") {
  const Place place;
  BlobStore store(place.options(Tier::disk, 8, 1000, 2));
  // Of two on their way either thread may end first, and the third takes its buffer.
  for (unsigned slot = 0; slot < 8; ++slot) {
    store.put(slot, blob(1000, slot));
    store.finish();
  }
  Blob back(1000);
  store.get(7, back);
  store.get(6, back);
  CHECK(back == blob(1000, 6));
  CHECK(place.files->reads == 0);
  for (const std::int64_t slot : {3, 2, 1}) store.prefetch(slot);
  store.finish();
  CHECK(place.files->reads == 2);  // the third waits for a buffer
  store.get(3, back);
  CHECK(back == blob(1000, 3));
  store.finish();
  CHECK(place.files->reads == 3);
  store.get(1, back);
  CHECK(back == blob(1000, 1));
  CHECK(place.files->reads == 3);
}

TEST_CASE("B17: what goes wrong on the disk comes out of the next call, and nothing wrong is given back") {
  struct Case {
    const char* what;
    std::int64_t FaultyFiles::* fault;
    std::int64_t at;
    int error;
    std::vector<std::string> told;
  };
  const std::vector<Case> cases = {
      {"disk full", &FaultyFiles::fail_write, 3, ENOSPC, {"history", "No space left", "offset"}},
      {"write error", &FaultyFiles::fail_write, 5, EIO, {"history", "Input/output error"}},
      {"nothing taken", &FaultyFiles::fail_write, 2, 0, {"history", "0 written"}},
      {"read error", &FaultyFiles::fail_read, 2, EIO, {"history", "Input/output error"}},
      {"short file", &FaultyFiles::end_read, 2, 0, {"history", "8192 bytes wanted", "0 got"}},
      {"flipped bit", &FaultyFiles::flip_read, 3, 0, {"history", "not what was written"}},
      {"lost write", &FaultyFiles::lose_write, 4, 0, {"history", "not what was written"}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    const Place place;
    (*place.files).*(c.fault) = c.at;
    place.files->error = c.error;
    BlobStore store(place.options(Tier::disk, 6, 6000, 2));
    int right = 0;
    const auto run = [&] {
      for (unsigned slot = 0; slot < 6; ++slot) store.put(slot, blob(6000, slot + 50));
      store.finish();
      Blob back(6000);
      for (std::int64_t slot = 5; slot >= 0; --slot) {
        store.get(slot, back);
        for (std::int64_t ahead = slot - 1; ahead >= std::max<std::int64_t>(0, slot - 2); --ahead)
          store.prefetch(ahead);
        REQUIRE(back == blob(6000, static_cast<unsigned>(slot) + 50));
        ++right;
      }
    };
    const std::string told = message_of<RuntimeError>(run);
    CHECK(right < 6);
    check_mentions(told, c.told);
    check_mentions(told, {place.folder.path().string()});
    // Two threads write and read, in an order of their own: the blob is whichever met the fault.
    if (c.error == 0 && c.fault != &FaultyFiles::fail_write && c.fault != &FaultyFiles::end_read)
      check_mentions(told, {fmt::format("blob {}", place.files->hit / 8192)});
    // Every further call says so too, until a new run begins.
    CHECK(message_of<RuntimeError>([&] { store.finish(); }) == told);
    CHECK(message_of<RuntimeError>([&] { store.put(0, blob(6000, 0)); }) == told);
    store.restart();
    right = 0;
    run();
    CHECK(right == 6);
  }
}

TEST_CASE("blob store: what no call has told is told when a new run begins, once") {
  const Place place;
  place.files->fail_write = 1;
  BlobStore store(place.options(Tier::disk, 2, 100, 1));
  store.put(0, blob(100, 1));
  while (place.files->writes == 0) std::this_thread::yield();
  check_mentions(message_of<RuntimeError>([&] { store.restart(); }), {"history", "Input/output error"});
  store.restart();
  store.put(0, blob(100, 1));
  store.finish();
}

TEST_CASE("blob store: short writes and reads change nothing") {
  const Place place;
  place.files->short_write = 2;
  place.files->short_read = 1;
  BlobStore store(place.options(Tier::disk, 4, 9000, 0));
  for (unsigned slot = 0; slot < 4; ++slot) store.put(slot, blob(9000, slot));
  Blob back(9000);
  for (unsigned slot = 0; slot < 4; ++slot) {
    store.get(slot, back);
    CHECK(back == blob(9000, slot));
  }
  CHECK(place.files->writes == 5);
  CHECK(place.files->reads == 5);
}

TEST_CASE("blob store: what was not put is not got") {
  const Place place;
  for (const Tier tier : {Tier::host, Tier::disk}) {
    BlobStore store(place.options(tier, 3, 10, 1));
    Blob back(10);
    check_mentions(message_of<InternalError>([&] { store.get(1, back); }), {"history", "blob 1"});
    store.restart();
    store.put(1, back);
    store.get(1, back);
    store.restart();  // an earlier run's blobs are none of this one's
    check_mentions(message_of<InternalError>([&] { store.get(1, back); }), {"history", "blob 1"});
    store.restart();
    check_mentions(message_of<InternalError>([&] { store.put(3, back); }), {"history", "blob 3", "3 of 10"});
    check_mentions(message_of<InternalError>([&] { store.put(0, Blob(9)); }), {"9 bytes", "blob 0"});
  }
}

TEST_CASE("blob store: bytes are those allocated, and memory comes from where it is told") {
  const Place place;
  std::size_t asked = 0;
  BlobOptions options = place.options(Tier::host, 5, 1000, 2);
  options.allocate = [&](std::size_t bytes) {
    asked += bytes;
    return storage::allocate_host({}, bytes, "test");
  };
  {
    BlobStore store(options);
    CHECK(asked == storage::blob_bytes(options).host);
    CHECK(asked == 5000);
    CHECK(store.memory(4) != nullptr);
  }
  options.tier = Tier::disk;
  asked = 0;
  const BlobStore store(options);
  CHECK(asked == storage::blob_bytes(options).host);
  CHECK(asked == 2 * 4096);
  CHECK(storage::blob_bytes(options).disk == 5 * 4096);
}
