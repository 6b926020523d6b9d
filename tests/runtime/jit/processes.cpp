// Tests of several processes on one cache, of quiet compilation, and of how long things take.
// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "runtime/jit/host_compiler.hpp"
#include "tests/runtime/jit/support.hpp"

using namespace ondula;
using namespace ondula::test;

TEST_CASE("C1: of two processes with the same kernel the second compiles nothing and opens no LLVM") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  const auto run = [&](bool expect_hit) {
    return in_child([&] {
      jit::HostCompiler compiler(cache_in(directory));
      const auto module = compiler.compile(axpy_source());
      return axpy_works(*module) && module->record().cache_hit == expect_hit &&
             llvm_is_loaded() == !expect_hit;
    });
  };
  CHECK(run(false));
  CHECK(run(true));
}

TEST_CASE("jit: a cached kernel needs no Clang module at all") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  jit::HostCompiler(cache_in(directory)).compile(axpy_source());
  ::setenv("ONDULA_CLANG_MODULE", "/nowhere/libondula-clang.so", 1);
  jit::HostCompiler compiler(cache_in(directory));
  CHECK(axpy_works(*compiler.compile(axpy_source())));
  CHECK(compiler.history().front().cache_hit);
  ::unsetenv("ONDULA_CLANG_MODULE");
}

TEST_CASE("C27: kernels compile in a program that has another LLVM loaded for all to see") {
  ONDULA_NEEDS_CLANG();
  bool tried = false;
  for (const char* name : {"libLLVM-13.so.1", "libLLVM-14.so.1", "libLLVM-15.so.1", "libLLVM-16.so.1"}) {
    const TemporaryDirectory directory;
    const std::filesystem::path output = directory.path() / "output";
    const bool good = in_child(
        [&] {
          if (::dlopen(name, RTLD_NOW | RTLD_GLOBAL) == nullptr) return true;
          write_bytes(directory.path() / "tried", "");
          jit::HostCompiler compiler({.directory = "off"});
          return axpy_works(*compiler.compile(axpy_source()));
        },
        output);
    CHECK(good);
    CHECK(read_bytes(output) == "");
    tried = tried || std::filesystem::exists(directory.path() / "tried");
  }
  if (!tried) ONDULA_SKIP("no other LLVM is installed");
}

TEST_CASE("C2: processes that start on an empty cache together all succeed and leave whole entries only") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const bool good = in_child([&] {
        jit::HostCompiler compiler(cache_in(directory));
        return axpy_works(*compiler.compile(axpy_source())) &&
               axpy_works(*compiler.compile(axpy_source(1)), 1);
      });
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  jit::Cache cache(cache_in(directory), {});
  CHECK(cache.list().size() == 2);
  CHECK(cache.verify().empty());
  CHECK(files_below(cache.directory()).size() == 2);
}

TEST_CASE("C24: fifty kernels are compiled without a word on stdout or stderr") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  const std::filesystem::path output = directory.path() / "output";
  const bool good = in_child(
      [&] {
        jit::HostCompiler compiler(cache_in(directory));
        bool all = true;
        for (int i = 0; i < 50; ++i) all = axpy_works(*compiler.compile(axpy_source(i)), i) && all;
        return all && compiler.history().size() == 50;
      },
      output);
  CHECK(good);
  CHECK(read_bytes(output) == "");
}

TEST_SUITE("alone") {
  TEST_CASE("jit: a cached kernel loads in under 5 ms, a small one compiles in under 0.3 s") {
    ONDULA_NEEDS_CLANG();
    const TemporaryDirectory directory;
    const auto fastest = [&](bool cold) {
      double best = 1e9;
      for (int i = 0; i < 5; ++i) {
        if (cold) jit::Cache(cache_in(directory), {}).clear();
        const auto report = directory.path() / "seconds";
        CHECK(in_child([&] {
          const auto start = std::chrono::steady_clock::now();
          jit::HostCompiler compiler(cache_in(directory));
          const auto module = compiler.compile(axpy_source());
          const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
          write_bytes(report, std::to_string(spent.count()));
          return module->record().cache_hit == !cold;
        }));
        best = std::min(best, std::stod(read_bytes(report)));
      }
      return best;
    };
    const double cold = fastest(true), cached = fastest(false);
    std::cout << "a small kernel: cold " << 1e3 * cold << " ms (loading LLVM included), cached "
              << 1e3 * cached << " ms\n";
    CHECK(cold < 0.3);
    CHECK(cached < 0.005);
  }
}
