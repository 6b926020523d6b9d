// docs/tutorial.md, followed to the letter: its files written, its commands run, its output found.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>

#include "runtime/io/array.hpp"
#include "runtime/io/npy.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

/// A fenced block: what it is ("sh", "text", or a language with a file's name), and what stands in it.
struct Block {
  std::string kind, file, text;
};

std::vector<Block> blocks_of(const std::string& page) {
  std::vector<Block> blocks;
  std::istringstream lines(page);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (!inside) continue;
      std::istringstream words(line.substr(3));
      blocks.emplace_back();
      words >> blocks.back().kind >> blocks.back().file;
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

/// Without its numbers, which may differ by machine, and without the spaces beside them.
std::string without_numbers(const std::string& text) {
  static const std::regex number(R"( *\b[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?\b *)");
  return std::regex_replace(text, number, "#");
}

Outcome shell(const std::filesystem::path& folder, const std::string& script) {
  const std::string programs = std::filesystem::path(ONDULA_PROGRAM).parent_path().string();
  return run_program({"-euo", "pipefail", "-c", fmt::format("cd '{}'\n{}", folder.string(), script)},
                     {.variables = {{"PATH", programs + ":" + std::getenv("PATH")}}, .program = "/bin/bash"});
}

TEST_CASE("The tutorial, followed to the letter, makes a checked gradient and its picture") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory folder;
  const std::vector<Block> blocks = blocks_of(read_bytes("docs/tutorial.md"));
  REQUIRE(blocks.size() > 10);
  std::string printed;
  std::size_t commands = 0, lines_found = 0;
  for (const Block& block : blocks) {
    CAPTURE(block.text);
    if (!block.file.empty()) {
      write_bytes(folder.path() / block.file, block.text);
    } else if (block.kind == "sh") {
      const Outcome outcome = shell(folder.path(), block.text);
      CAPTURE(outcome.out);
      CAPTURE(outcome.err);
      REQUIRE(outcome.status == 0);
      CHECK(outcome.err.find("warning") == std::string::npos);
      printed = without_numbers(outcome.out);
      ++commands;
    } else {
      REQUIRE(block.kind == "text");
      std::istringstream lines(block.text);
      for (std::string line; std::getline(lines, line);) {
        CAPTURE(line);
        CAPTURE(printed);
        CHECK(printed.find(without_numbers(line)) != std::string::npos);
        ++lines_found;
      }
    }
  }
  CHECK(commands >= 5);
  CHECK(lines_found >= 9);
  for (const char* picture : {"observed/snapshot_eta_300.png", "start/gradient_depth.png"})
    CHECK(std::filesystem::file_size(folder.path() / picture) > 10000);
  const io::Array gradient = io::read_npy((folder.path() / "start/gradient_depth.npy").string());
  CHECK(gradient.shape == std::vector<std::int64_t>{160, 240});
}

TEST_SUITE("alone") {
  TEST_CASE("An equation's file is at its first step within 3 s cold, and 0.5 s from the cache") {
    ONDULA_NEEDS_CLANG();
    const TemporaryDirectory folder;
    for (const Block& block : blocks_of(read_bytes("docs/tutorial.md"))) {
      if (!block.file.empty()) write_bytes(folder.path() / block.file, block.text);
    }
    nlohmann::ordered_json job = nlohmann::ordered_json::parse(read_bytes(folder.path() / "job.json"));
    job["time"]["steps"] = 2;
    job["models"]["depth"] = 3600;
    job["output"] = {{"pictures", false}};
    write_bytes(folder.path() / "first.json", job.dump());
    const auto seconds = [&](const std::string& cache) {
      const auto begin = std::chrono::steady_clock::now();
      const Outcome outcome =
          shell(folder.path(), fmt::format("ONDULA_CACHE='{}' ondula run first.json -o out --force", cache));
      CAPTURE(outcome.err);
      REQUIRE(outcome.status == 0);
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    double cold = 1e9, cached = 1e9;
    for (int k = 0; k < 3; ++k) {
      const std::string cache = (folder.path() / fmt::format("cache{}", k)).string();
      cold = std::min(cold, seconds(cache));
      cached = std::min(cached, seconds(cache));
    }
    MESSAGE(fmt::format("the whole program: {:.2f} s cold, {:.3f} s from the cache", cold, cached));
    CHECK(cold < 3);
    CHECK(cached < 0.5);
  }
}

}  // namespace
}  // namespace ondula::test
