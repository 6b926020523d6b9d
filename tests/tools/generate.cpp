// `ondula generate`: what it writes compiles without us and finds the reference's numbers.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <regex>

#include "tests/support/environment.hpp"
#include "tests/support/skip.hpp"
#include "tests/tools/generated.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

namespace fs = std::filesystem;

/// One set of sources.
struct Sources {
  std::string equation;
  int dims = 1;
  int order = 4;
  std::string dtype = "float32";
  std::string prefix = {};

  std::string base() const { return equation + "_" + std::to_string(dims) + "d_o" + std::to_string(order); }
};

Outcome generate(const Sources& s, const fs::path& folder, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"generate", s.equation,
                                    "--dims",   std::to_string(s.dims),
                                    "--order",  std::to_string(s.order),
                                    "--dtype",  s.dtype,
                                    "--prefix", s.prefix,
                                    "-o",       folder.string()};
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words);
}

void make(const Sources& s, const fs::path& folder, const std::vector<std::string>& more = {}) {
  CAPTURE(s.base());
  CAPTURE(s.dtype);
  const Outcome made = generate(s, folder, more);
  CAPTURE(made.err);
  REQUIRE(made.status == 0);
  CHECK(made.err == "");
}

void run_example(const Sources& s, const fs::path& folder, const std::string& compile) {
  CAPTURE(s.base());
  CAPTURE(s.dtype);
  const bool compiled = shell(folder, compile) == 0;
  INFO(read_file(folder / "output.txt"));
  REQUIRE(compiled);
  CHECK(read_file(folder / "output.txt") == "");  // no note either
  const bool passed = shell(folder, "./example") == 0;
  INFO(read_file(folder / "output.txt"));
  CHECK(passed);
  CHECK(read_file(folder / "output.txt").find("as expected") != std::string::npos);
  CHECK(undone(folder) <= (s.dtype == "float32" ? 1e-5 : 1e-12));
}

/// By the README's own line, its compiler replaced by `compiler`; with every warning an error.
void check_host(const Sources& s, const fs::path& folder, const std::string& compiler, bool optimised) {
  CAPTURE(compiler);
  make(s, folder);
  std::string command = readme_command(folder);
  REQUIRE(command.starts_with("g++ "));
  const std::string options = " -O3 -march=native ";
  const std::size_t at = command.find(options);
  REQUIRE(at != std::string::npos);
  if (!optimised) command.replace(at, options.size(), " -O0 ");
  run_example(s, folder, compiler + command.substr(3) + strict_options);
}

/// Unoptimised and for any processor, which saves time.
void check_host(const Sources& s, const fs::path& folder) { check_host(s, folder, "g++", false); }

/// Kernels, launches and example of CUDA, on the CPU: kernel<<<...>>>(...) becomes a call of the stand-in.
void check_cuda(const Sources& s, const fs::path& folder, const std::string& architecture) {
  make(s, folder, {"--backend", "cuda", "--arch", architecture});
  std::string files = s.base() + "_setup.cpp";
  // Kernels of sweeps and halos, and those of points or of the ring.
  for (const std::string direction : {"_forward", "_reverse", "_keeping", "_adjoint"}) {
    CHECK(on_cpu(folder, s.base() + direction) > 2);
    files += " " + s.base() + direction + "_cu.cpp";
  }
  for (const std::string name : {"example", "example_gradient"}) {
    on_cpu(folder, name);
    files += " " + name + "_cu.cpp";
  }
  run_example(s, folder, cuda_stand_in_compiler + "-o example " + files);
}

/// Every equation, dimension, several orders, both types.
std::vector<Sources> matrix() {
  std::vector<Sources> all;
  for (const char* equation : {"acoustic", "acoustic_density", "elastic"}) {
    for (int dims = 1; dims <= 3; ++dims) {
      for (const int order : {2, 4, 8, 16}) {
        for (const char* dtype : {"float32", "float64"}) all.push_back({equation, dims, order, dtype});
      }
    }
  }
  return all;
}

/// The name under which Clang is installed; empty where it is not.
std::string clang(const fs::path& folder) {
  for (const std::string name : {"clang++", "clang++-19"}) {
    if (shell(folder, "command -v " + name) == 0) return name;
  }
  return "";
}

/// nvcc of the toolkit that is named or in its usual place; empty where there is none.
std::string nvcc() {
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* const home = std::getenv(name);
    if (home != nullptr && fs::exists(fs::path(home) / "bin/nvcc")) return std::string(home) + "/bin/nvcc";
  }
  return fs::exists("/usr/local/cuda/bin/nvcc") ? "/usr/local/cuda/bin/nvcc" : "";
}

}  // namespace

TEST_CASE("`ondula generate` writes host sources that compile alone and find the reference's numbers") {
  TemporaryDirectory directory;
  std::vector<Sources> sets = {{"elastic", 2, 2, "float64"}};
  if (full_matrices()) sets = matrix();
  for (const Sources& s : sets) check_host(s, directory.path() / (s.base() + s.dtype));
}

TEST_CASE("`ondula generate`: host sources by the README's own line") {
  TemporaryDirectory directory;
  check_host({"acoustic", 3, 4, "float32"}, directory.path() / "by_gcc", "g++", true);
}

TEST_CASE("`ondula generate`: host sources by Clang") {
  TemporaryDirectory directory;
  const std::string second = clang(directory.path());
  if (second.empty()) ONDULA_SKIP("no clang++ here");
  std::vector<Sources> sets = {{"acoustic_density", 2, 4, "float64", "my_"}};
  if (full_matrices()) {
    for (const Sources& s : matrix()) {
      if ((s.order == 4 || s.order == 8) && s.dtype == "float32") sets.push_back(s);
    }
  }
  for (const Sources& s : sets) check_host(s, directory.path() / (s.base() + s.dtype), second, false);
}

TEST_CASE("`ondula generate --backend cuda`: kernels, launches and example, thread by thread on the CPU") {
  TemporaryDirectory directory;
  std::vector<Sources> sets = {{"acoustic", 3, 8, "float32"},
                               {"acoustic_density", 1, 4, "float64"},
                               {"elastic", 2, 4, "float64", "my_"}};
  if (full_matrices()) sets = matrix();
  for (const Sources& s : sets) check_cuda(s, directory.path() / (s.base() + s.dtype), "sm_90");
  if (full_matrices()) check_cuda({"elastic", 3, 2, "float32"}, directory.path() / "plain", "sm_80");
}

TEST_CASE("`ondula generate --backend cuda`: nvcc compiles and links the sources without a warning") {
  const std::string compiler = nvcc();
  if (compiler.empty()) ONDULA_SKIP("no nvcc in CUDA_HOME, CUDA_PATH or /usr/local/cuda");
  TemporaryDirectory directory;
  const auto check = [&](const Sources& s, const std::vector<int>& architectures) {
    const fs::path folder = directory.path() / (s.base() + s.dtype);
    make(s, folder, {"--backend", "cuda"});
    std::string command = readme_command(folder);
    const std::string options = " -O3 --fmad=false -arch=sm_90 ";
    const std::size_t at = command.find(options);
    REQUIRE(command.starts_with("nvcc "));
    REQUIRE(at != std::string::npos);
    std::string codes;
    for (const int sm : architectures) codes += fmt::format(" -gencode arch=compute_{0},code=sm_{0}", sm);
    command.replace(at, options.size(), " -O1 --fmad=false" + codes + " ");
    const bool compiled = shell(folder, compiler + command.substr(4) +
                                            " -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror") == 0;
    INFO(read_file(folder / "output.txt"));
    CAPTURE(command);
    CHECK(compiled);
  };
  if (!full_matrices()) return check({"acoustic", 2, 4, "float32"}, {75, 120});
  check({"elastic", 2, 4, "float32"}, {75, 80, 86, 89, 90, 100, 120});
  for (const Sources& s : matrix()) {
    const bool mixed = (s.dims + s.order / 4) % 2 == 0;  // of the types one each
    if ((s.order == 4 || s.order == 8) && (s.dtype == "float32") == mixed) check(s, {75, 120});
  }
}

TEST_CASE("Generated sources include nothing of Ondula's, are formatted, and their header is C") {
  TemporaryDirectory directory;
  for (const std::string backend : {"host", "cuda"}) {
    CAPTURE(backend);
    const fs::path folder = directory.path() / backend;
    const Sources s{"elastic", 2, 4, "float32"};
    make(s, folder, {"--backend", backend});
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name == "output.txt") continue;
      CAPTURE(name);
      const std::string text = read_file(entry.path());
      if (name != "manifest.json") CHECK(text.find("Ondula") != std::string::npos);
      CHECK(text.find("License") == std::string::npos);
      CHECK(text.find('@') == std::string::npos);
      static const std::regex quoted("#include \"([^\"]+)\"");
      for (std::sregex_iterator match(text.begin(), text.end(), quoted), end; match != end; ++match)
        CHECK(fs::exists(folder / (*match)[1].str()));
      if (name == "manifest.json") continue;
      for (std::size_t begin = 0, next = 0; next != std::string::npos; begin = next + 1) {
        next = text.find('\n', begin);
        CHECK((next == std::string::npos ? text.size() : next) - begin < 100);
      }
    }
    const auto manifest = nlohmann::json::parse(read_file(folder / "manifest.json"));
    CHECK(manifest.at("backend") == backend);
    CHECK_FALSE(manifest.at("version").get<std::string>().empty());
    CHECK(manifest.at("step").size() == 9);
    CHECK(manifest.at("reverse").at("step").size() == 10);
    CHECK(manifest.at("reverse").at("ring").at(0).dump() ==
          R"({"field":"v.x","half_cells":{"x":{"inner":3,"outer":-3},"z":{"inner":4,"outer":-2}}})");
    CHECK(manifest.at("gradient").at("kept").size() == 2);
    CHECK(manifest.at("gradient").at("adjoint").at("step").size() > 9);
    CHECK(manifest.at("units").at("rho") == "kg/m^3");
    const std::string header = read_file(folder / "elastic_2d_o4.h");
    for (const auto& function : manifest.at("functions")) {
      CHECK(function.at("arguments").size() > 0);
      CHECK(header.find(function.at("name").get<std::string>() + "(") != std::string::npos);
    }
    for (const auto& file : manifest.at("files")) CHECK(fs::exists(folder / file.get<std::string>()));
    CHECK(shell(folder,
                "printf '#include \"elastic_2d_o4.h\"\\n' > c.c && gcc -std=c99 -pedantic -Wall -Wextra "
                "-Werror -c c.c") == 0);
  }
}

TEST_CASE("Generated sources: CMakeLists.txt compiles kernels with the options of the README's line") {
  TemporaryDirectory directory;
  const fs::path folder = directory.path() / "x";
  make({"acoustic", 1, 2, "float32"}, folder);
  static const std::regex list("target_compile_options\\(acoustic_1d_o2 PRIVATE ([^)]*)\\)");
  const std::string lists = read_file(folder / "CMakeLists.txt");
  std::smatch match;
  REQUIRE(std::regex_search(lists, match, list));
  // C++17 and -O3 are CMake's own settings.
  CHECK(readme_command(folder).starts_with("g++ -std=c++17 -O3 " + match[1].str() + " -o example "));
}

TEST_CASE("Generated sources with two prefixes fit in one program") {
  TemporaryDirectory directory;
  make({"acoustic", 1, 2, "float32", "one_"}, directory.path() / "one");
  make({"acoustic", 1, 2, "float32", "two_"}, directory.path() / "two");
  std::ofstream(directory.path() / "main.cpp")
      << "#include \"one/acoustic_1d_o2.h\"\n#include \"two/acoustic_1d_o2.h\"\n"
         "int main() { return one_acoustic_1d_o2_dims - two_acoustic_1d_o2_dims; }\n";
  CHECK(shell(directory.path(),
              strict_compiler + "-o both main.cpp one/*_1d_*.cpp two/*_1d_*.cpp && ./both") == 0);
  // Clang sees an index before an array that g++ does not.
  const std::string other = clang(directory.path());
  if (!other.empty())
    CHECK(shell(directory.path(), other + strict_options + "-std=c++17 -fsyntax-only one/*_1d_*.cpp") == 0);
}

TEST_CASE("The example of generated sources fails where something else is computed") {
  TemporaryDirectory directory;
  const Sources s{"acoustic", 1, 4, "float32"};
  const fs::path folder = directory.path() / "a";
  check_host(s, folder);
  REQUIRE(shell(folder, strict_compiler + "-c example*.cpp acoustic_1d_o4_[!s]*.cpp") == 0);
  const std::string whole = read_file(folder / "acoustic_1d_o4_setup.cpp");
  const auto spoilt = [&](const std::string& from, const std::string& to, const std::string& told) {
    const std::size_t at = whole.find(from);
    REQUIRE(at != std::string::npos);
    std::string changed = whole;
    std::ofstream(folder / "changed.cpp") << changed.replace(at, from.size(), to);
    const int status =
        shell(folder, strict_compiler + "-o example example*.o acoustic_1d_o4_*.o changed.cpp && ./example");
    return status != 0 && read_file(folder / "output.txt").find(told) != std::string::npos;
  };
  CHECK(spoilt("3.0 + width / 5.0", "3.0 + width / 5.1", "NOT as expected"));
  CHECK(spoilt("return field.surface_sign[axis];", "return 1;", "NOT as expected"));
  CHECK(spoilt("box.hi[a] = range.hi;", "box.hi[a] = a == 0 ? range.hi - 1 : range.hi;", "NOT within"));
  CHECK(spoilt("gradient->vp[node_v0] += d_v1;", "gradient->vp[node_v0] -= d_v1;", "NOT within"));
}

TEST_CASE("`ondula generate` refuses what it cannot do, and a folder that is not empty") {
  TemporaryDirectory directory;
  const fs::path out = directory.path() / "x";
  const Sources s{"acoustic", 1, 2, "float32"};
  const auto refused = [&](const Sources& sources, const std::vector<std::string>& more,
                           const std::string& words) {
    const Outcome outcome = generate(sources, out, more);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find(words) != std::string::npos);
    CHECK(outcome.out == "");
  };
  refused(s, {"--backend", "gpu"}, "allowed: host, cuda");
  refused(s, {"--arch", "sm_90"}, "--arch belongs to --backend cuda");
  refused(s, {"--backend", "cuda", "--arch", "90"}, "sm_90");
  refused({"acoustic", 1, 2, "half"}, {}, "allowed: float32, float64");
  refused({"acoustic", 4, 2, "float32"}, {}, "dims");
  refused({"acoustic", 1, 3, "float32"}, {}, "order");
  refused({"acustic", 1, 2, "float32"}, {}, "acoustic");
  refused({"acoustic", 1, 2, "float32", "9a"}, {}, "--prefix");
  CHECK_FALSE(fs::exists(out));
  REQUIRE(generate(s, out, {"--json"}).status == 0);
  std::ofstream(out / "example.cpp") << "mine";
  refused(s, {}, "is not empty");
  CHECK(read_file(out / "example.cpp") == "mine");
  CHECK(generate(s, out, {"--force"}).status == 0);
  CHECK(read_file(out / "example.cpp").find("int main(") != std::string::npos);
}

}  // namespace ondula::test
