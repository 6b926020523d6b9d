// Helpers of the JIT tests.
// SPDX-License-Identifier: MIT
#include "tests/runtime/jit/support.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace ondula::test {

namespace fs = std::filesystem;

jit::Log Warnings::sink() {
  return [this](const std::string& message) {
    const std::scoped_lock lock(mutex_);
    messages_.push_back(message);
  };
}

std::vector<std::string> Warnings::all() const {
  const std::scoped_lock lock(mutex_);
  return messages_;
}

jit::HostSource axpy_source(int constant) {
  jit::HostSource source;
  source.text = fmt::format(
      "extern \"C\" void axpy(float* __restrict y, const float* __restrict x, float a, long n) {{\n"
      "  for (long i = 0; i < n; ++i) y[i] = __builtin_fmaf(a, x[i], y[i]) + {}.0f;\n"
      "}}\n",
      constant);
  source.equation = "test";
  source.manifest = "{}";
  return source;
}

jit::KernelSource cuda_axpy_source(int constant) {
  jit::KernelSource source;
  source.text = fmt::format(
      "extern \"C\" __global__ void __launch_bounds__(256) axpy(float* __restrict__ y, const float* "
      "__restrict__ x,\n"
      "                                                       float a, long n) {{\n"
      "  // test.cpp:1: y = a * x + y\n"
      "  const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = fmaf(a, x[i], y[i]) + {}.0f;\n"
      "}}\n",
      constant);
  source.equation = "test";
  source.manifest = "{}";
  return source;
}

bool axpy_works(const jit::HostModule& module, int constant) {
  using Axpy = void (*)(float*, const float*, float, long);
  std::vector<float> x(101), y(101), expected(101);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = 0.1f * static_cast<float>(i);
    y[i] = 1.0f / static_cast<float>(i + 1);
    expected[i] = std::fma(3.0f, x[i], y[i]) + static_cast<float>(constant);
  }
  reinterpret_cast<Axpy>(module.symbol("axpy"))(y.data(), x.data(), 3.0f, static_cast<long>(x.size()));
  return y == expected;
}

jit::CacheOptions cache_in(const TemporaryDirectory& directory) {
  jit::CacheOptions options;
  options.directory = (directory.path() / "cache").string();
  return options;
}

std::vector<std::string> files_below(const fs::path& directory) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& item : fs::recursive_directory_iterator(directory, ignored))
    if (item.is_regular_file()) files.push_back(fs::relative(item.path(), directory).string());
  std::sort(files.begin(), files.end());
  return files;
}

std::string read_bytes(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

bool in_child(const std::function<bool()>& body, const fs::path& output) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!output.empty()) {
      const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(file, STDOUT_FILENO);
      ::dup2(file, STDERR_FILENO);
    }
    bool good = false;
    try {
      good = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
    }
    std::fflush(nullptr);
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool llvm_is_loaded() {
  const std::string maps = read_bytes("/proc/self/maps");
  return maps.find("libLLVM") != std::string::npos || maps.find("libclang-cpp") != std::string::npos ||
         maps.find("libondula-clang") != std::string::npos;
}

}  // namespace ondula::test
