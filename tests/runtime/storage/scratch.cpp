// Scratch files: what is written comes back, nothing is left behind, and errors name the file.
// SPDX-License-Identifier: MIT
#include "runtime/storage/scratch.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "tests/runtime/storage/faulty_files.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace ondula;
using namespace ondula::test;
using storage::ScratchFile;

namespace {

std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> result(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    result[i] = static_cast<std::byte>((i * 31 + seed * 7 + i / 251) & 0xff);
  return result;
}

/// What `body` does in another process; its exit status, or minus the signal that ended it.
template <class F>
int in_child(const F& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      body();
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("scratch file: bytes come back, and nothing of it can be seen in the folder") {
  const TemporaryDirectory folder;
  const auto data = pattern(100'000, 3);
  {
    ScratchFile file(folder.path().string(), "history", 300'000);
    CHECK(std::filesystem::is_empty(folder.path()));
    file.write(123'456, data);
    std::vector<std::byte> back(data.size());
    file.read(123'456, back);
    CHECK(back == data);
    check_mentions(file.path(), {folder.path().string() + "/ondula-scratch-", "/history"});
    file.close();
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("scratch file: whole pages and parts of pages may come in any order") {
  const TemporaryDirectory folder;
  constexpr std::size_t page = 4096;
  std::vector<std::byte> room(9 * page);
  std::byte* const aligned =
      room.data() + (page - reinterpret_cast<std::uintptr_t>(room.data()) % page) % page;
  const auto data = pattern(8 * page, 6);
  for (const bool short_calls : {false, true}) {
    std::copy(data.begin(), data.end(), aligned);
    auto files = std::make_shared<FaultyFiles>();
    ScratchFile file(folder.path().string(), "history", 8 * page, files);
    if (short_calls) files->short_write = files->short_read = 1;
    file.write(0, {aligned, 8 * page});
    std::fill_n(aligned, 8 * page, std::byte{0});
    file.read(0, {aligned, 8 * page});
    CHECK(std::equal(data.begin(), data.end(), aligned));
    CHECK(files->writes == (short_calls ? 2 : 1));
    file.write(5, std::span(data).first(100));
    file.read(0, {aligned, 8 * page});
    CHECK(std::equal(data.begin(), data.begin() + 100, aligned + 5));
    CHECK(std::equal(data.begin() + 105, data.end(), aligned + 105));
  }
}

TEST_CASE("scratch file: a folder that is missing, no folder, closed or read-only is named") {
  const TemporaryDirectory folder;
  const std::string missing = (folder.path() / "missing").string(), plain = (folder.path() / "file").string();
  std::ofstream(plain) << "x";
  check_mentions(refusal([&] { storage::scratch_folder(missing); }), {missing, "No such file"});
  check_mentions(refusal([&] { storage::scratch_folder(plain); }), {plain, "no folder"});
  // It goes between the check and its use.
  check_mentions(refusal([&] { ScratchFile(missing, "history", 10); }), {missing, "No such file"});
  auto read_only = std::make_shared<FaultyFiles>();
  read_only->directory_error = EROFS;
  check_mentions(refusal([&] { ScratchFile(folder.path().string(), "history", 10, read_only); }),
                 {folder.path().string(), "Read-only file system"});
  CHECK(in_child([&] {
          if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(3);
          ::chmod(folder.path().c_str(), 0555);  // where we are not root it is ours
          const std::string told =
              message_of<UserError>([&] { storage::scratch_folder(folder.path().string()); });
          ::_exit(holds(told, "Permission denied") && holds(told, folder.path().string()) ? 0 : 2);
        }) == 0);
  ::chmod(folder.path().c_str(), 0700);
}

TEST_CASE("scratch file: a folder that vanishes under an open file takes nothing away") {
  const TemporaryDirectory above;
  const std::string folder = (above.path() / "scratch").string();
  std::filesystem::create_directory(folder);
  ScratchFile file(folder, "history", 5000);
  std::filesystem::remove_all(folder);
  const auto data = pattern(5000, 1);
  file.write(0, data);
  std::vector<std::byte> back(data.size());
  file.read(0, back);
  CHECK(back == data);
}

TEST_CASE("scratch file: short writes and reads go on; ends, errors and what was done are told") {
  const TemporaryDirectory folder;
  auto files = std::make_shared<FaultyFiles>();
  ScratchFile file(folder.path().string(), "history", 90'000, files);
  const auto data = pattern(30'000, 5);
  std::vector<std::byte> back(data.size());
  files->short_write = 1;
  files->short_read = 1;
  file.write(30'000, data);
  file.read(30'000, back);
  CHECK(back == data);
  CHECK(files->writes == 2);
  CHECK(files->reads == 2);
  files->short_write = 3;
  files->fail_write = 4;
  files->error = ENOSPC;
  check_mentions(message_of<RuntimeError>([&] { file.write(60'000, data); }),
                 {file.path(), "offset 60000", "30000 bytes wanted", "10000 written", "No space left"});
  files->end_read = 3;
  check_mentions(message_of<RuntimeError>([&] { file.read(30'000, back); }),
                 {file.path(), "offset 30000", "30000 bytes wanted", "0 got", "ends"});
  files->fail_read = 4;
  files->error = EIO;
  check_mentions(message_of<RuntimeError>([&] { file.read(30'000, back); }),
                 {file.path(), "Input/output error"});
  files->close_error = EIO;
  check_mentions(message_of<RuntimeError>([&] { file.close(); }), {file.path(), "closing"});
  CHECK(files->closes == 1);
}

TEST_CASE("scratch file: no room on the disk is told before anything is written") {
  const TemporaryDirectory folder;
  auto files = std::make_shared<FaultyFiles>();
  files->reserve_error = ENOSPC;
  check_mentions(
      message_of<RuntimeError>([&] { ScratchFile(folder.path().string(), "history", 4096, files); }),
      {folder.path().string(), "/history", "4096 bytes wanted", "free", "No space left"});
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK(files->closes == 1);
}

TEST_CASE("scratch file: a limit on file sizes is an error, not the end of the process") {
  const TemporaryDirectory folder;
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit) == 0);
  rlimit small = limit;
  small.rlim_cur = 100'000;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  check_mentions(message_of<RuntimeError>([&] { ScratchFile(folder.path().string(), "history", 200'000); }),
                 {"/history", "200000 bytes wanted", "File too large"});
  auto files = std::make_shared<FaultyFiles>();
  files->keep_room = false;
  ScratchFile file(folder.path().string(), "history", 200'000, files);
  check_mentions(message_of<RuntimeError>([&] { file.write(0, pattern(200'000, 2)); }),
                 {file.path(), "200000 bytes wanted", "100000 written", "File too large"});
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

TEST_CASE("scratch file: a file system of 1 MB that is too small says so") {
  const TemporaryDirectory folder;
  if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("scratch", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0)
    ONDULA_SKIP("no tmpfs may be mounted");
  check_mentions(message_of<RuntimeError>([&] { ScratchFile(folder.path().string(), "history", 5'000'000); }),
                 {folder.path().string(), "5000000 bytes wanted", "1048576 free", "No space left"});
  ScratchFile file(folder.path().string(), "history", 500'000);
  auto files = std::make_shared<FaultyFiles>();
  files->keep_room = false;
  ScratchFile other(folder.path().string(), "rings", 900'000, files);
  check_mentions(message_of<RuntimeError>([&] { other.write(0, pattern(900'000, 2)); }),
                 {other.path(), "900000 bytes wanted", "No space left"});
  ::umount2(folder.path().c_str(), MNT_DETACH);
}

TEST_CASE("scratch file: kill -9 leaves nothing, or what the next one clears") {
  const TemporaryDirectory folder;
  const std::string path = folder.path().string();
  CHECK(in_child([&] {
          ScratchFile file(path, "history", 100'000);
          file.write(0, pattern(100'000, 4));
          ::raise(SIGKILL);
        }) == -SIGKILL);
  CHECK(std::filesystem::is_empty(folder.path()));
  const auto dies_at_once = [&] {
    auto files = std::make_shared<FaultyFiles>();
    files->at_open = [] { ::raise(SIGKILL); };
    ScratchFile(path, "history", 10, files);
  };
  CHECK(in_child(dies_at_once) == -SIGKILL);
  CHECK_FALSE(std::filesystem::is_empty(folder.path()));
  {
    const ScratchFile next(path, "history", 10);
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("scratch file: what living processes hold, and what is not ours, is left alone") {
  const TemporaryDirectory folder;
  const std::string path = folder.path().string();
  std::array<int, 2> begun{}, end{};
  REQUIRE(::pipe(begun.data()) == 0);
  REQUIRE(::pipe(end.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto files = std::make_shared<FaultyFiles>();
    files->at_open = [&] {
      char c = 'x';
      static_cast<void>(::write(begun[1], &c, 1) + ::read(end[0], &c, 1));
    };
    try {
      ScratchFile(path, "history", 10, files);
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  char c = 0;
  REQUIRE(::read(begun[0], &c, 1) == 1);
  std::filesystem::create_directory(folder.path() / "ondula-scratch-elsewhere-1-1-0");
  std::filesystem::create_directory(folder.path() / "ondula-scratch-");
  CHECK(storage::clear_leftovers(path) == 0);
  REQUIRE(::write(end[1], &c, 1) == 1);
  int status = 1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}
