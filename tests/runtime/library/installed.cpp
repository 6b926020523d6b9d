// An installation as other programs meet it: in a folder it was not configured for, with g++, CMake and
// Meson. SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/runtime/jit/support.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ondula::test {
namespace {

namespace fs = std::filesystem;

struct Answer {
  int status = 0;
  std::string text;  ///< stdout and stderr
};

Answer shell(const std::string& command) {
  Answer answer;
  FILE* pipe = ::popen(("{ " + command + "; } 2>&1").c_str(), "r");
  std::array<char, 4096> piece;
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), pipe))
    answer.text.append(piece.data(), count);
  const int status = ::pclose(pipe);
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return answer;
}

/// What the command printed; a failed check where it failed.
std::string must(const std::string& command) {
  const Answer answer = shell(command);
  INFO(command);
  INFO(answer.text);
  REQUIRE(answer.status == 0);
  return answer.text;
}

bool has(const std::string& program) { return shell("command -v " + program).status == 0; }

const fs::path examples = fs::path(ONDULA_TESTS_DIR) / "../docs/examples";

/// `meson install` into a folder of its own: the prefix is found elsewhere than it was configured for.
class Installation {
 public:
  Installation() {
    const fs::path build = fs::path(ONDULA_PROGRAM).parent_path().parent_path();
    must("meson install -C '" + build.string() + "' --no-rebuild --quiet --destdir '" + root().string() +
         "'");
    for (const auto& entry : fs::recursive_directory_iterator(root())) {
      if (entry.path().filename() == "ondula.pc") pkgconfig_ = entry.path().parent_path();
      if (entry.path().filename() == "ondula.hpp") headers_ = entry.path().parent_path();
    }
    REQUIRE(!pkgconfig_.empty());
    REQUIRE(!headers_.empty());
  }

  fs::path root() const { return directory_.path() / "root"; }
  fs::path folder() const { return directory_.path(); }
  fs::path headers() const { return headers_; }
  fs::path libraries() const { return pkgconfig_.parent_path(); }
  fs::path prefix() const { return headers_.parent_path().parent_path(); }
  /// Before a command that uses the installation: only what it says itself, and a cache of its own.
  std::string environment() const {
    return "unset ONDULA_CLANG_MODULE; export PKG_CONFIG_PATH='" + pkgconfig_.string() +
           "' LD_LIBRARY_PATH='" + libraries().string() + "' ONDULA_CACHE='" + (folder() / "cache").string() +
           "'; cd '" + folder().string() + "'; ";
  }

 private:
  TemporaryDirectory directory_;
  fs::path pkgconfig_, headers_;
};

constexpr const char* strict = "-std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror ";

}  // namespace

TEST_CASE("library: each installed header stands alone and draws in nothing but the C++ library") {
  const Installation installed;
  std::string sources;
  for (const auto& entry : fs::directory_iterator(installed.headers())) {
    const std::string name = entry.path().filename().string();
    const std::string source = (installed.folder() / (name + ".cpp")).string();
    write_bytes(source, "#include <ondula/" + name + ">\n#include <ondula/" + name + ">\n");
    sources += " '" + source + "'";
  }
  const std::string draws = must(installed.environment() + "g++ -fsyntax-only -H " + strict +
                                 "$(pkg-config --cflags ondula)" + sources);
  CHECK(draws.find("/ondula/propagator.hpp") != std::string::npos);
  for (const char* foreign : {"/tbb/", "/fmt/", "/nlohmann/", "/llvm", "/clang", "cuda", "/png", "xxhash",
                              "/runtime/", "/compiler/"}) {
    CAPTURE(foreign);
    CHECK(draws.find(foreign) == std::string::npos);
  }
  write_bytes(installed.folder() / "plain.c", "#include <ondula/ondula.h>\n");
  must(
      installed.environment() +
      "gcc -std=c11 -fsyntax-only -Wall -Wextra -Wpedantic -Wstrict-prototypes -Werror $(pkg-config --cflags "
      "ondula) plain.c");
}

TEST_CASE(
    "library: only the public interface is exported, the file has a version, the program finds its module") {
  const Installation installed;
  const std::string library = "'" + (installed.libraries() / "libondula.so").string() + "'";
  std::istringstream symbols(must("nm -DC --defined-only " + library));
  std::set<std::string> others;
  int c_functions = 0, count = 0;
  static const std::regex known(
      R"(^[0-9a-f]+ \w (ondula_\w+|(typeinfo for |typeinfo name for |vtable for )?ondula::(dsl|load_equations?|find_equation|is_equation_path|Propagator|State|EquationDefinition|equations|\w*Error|Cancelled|default_axes|facts|explosion|double_couple|double_couple_2d|make_compiler|compare_records|misfit_against|mute_weights|check_misfit|version)\b.*)$)");
  for (std::string line; std::getline(symbols, line); ++count) {
    if (!std::regex_match(line, known) || line.find("::Impl") != std::string::npos ||
        line.find("::Data") != std::string::npos)
      others.insert(line);
    c_functions += line.find(" ondula_") != std::string::npos ? 1 : 0;
  }
  CAPTURE(others);
  CHECK(others.empty());
  CHECK(c_functions >= 45);
  CHECK(count < 250);
  const std::string dynamic = must("readelf -d " + library);
  CHECK(dynamic.find("SONAME") != std::string::npos);
  CHECK(dynamic.find("libondula.so.0]") != std::string::npos);
  CHECK(dynamic.find("LLVM") == std::string::npos);
  // The program of the same prefix finds its module there, wherever the prefix is now.
  const std::string found =
      must(installed.environment() + "'" + (installed.prefix() / "bin/ondula").string() + "' doctor");
  if (jit::built_clang_version() != "none")
    CHECK(found.find(fs::canonical(installed.libraries() / "libondula-clang.so").string()) !=
          std::string::npos);
}

TEST_CASE("library: the examples build by the pkg-config line, in C++ and in C, and give the same records") {
  ONDULA_NEEDS_CLANG();
  const Installation installed;
  const std::string use = installed.environment() + "flags=$(pkg-config --cflags --libs ondula); ";
  const std::string source = "'" + (examples / "one_shot.cpp").string() + "'";
  must(use + "g++ " + strict + source + " $flags -o one_shot");
  const std::string plain = "'" + (examples / "one_shot_c.c").string() + "'";
  must(use + "gcc -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror " + plain +
       " $flags -lm -o one_shot_c");
  const std::string said = must(use + "./one_shot cpp.raw");
  CHECK(std::regex_match(
      said,
      std::regex(
          R"(Ondula 0\.\d+\.\d+: 96 traces of 600 samples, largest 0\.20\d+ Pa, digest [0-9a-f]{16}\n)")));
  CHECK(must(use + "./one_shot_c c.raw") == said);
  CHECK(fs::file_size(installed.folder() / "cpp.raw") == 96 * 600 * 8);
  must(use + "cmp cpp.raw c.raw");
}

TEST_CASE("library: a CMake project finds the package, whose prefix was moved, and runs") {
  ONDULA_NEEDS_CLANG();
  if (!has("cmake")) ONDULA_SKIP("cmake is not installed");
  const Installation installed;
  const std::string project = installed.environment() + "cmake -S '" + examples.string() +
                              "' -B cmake -DCMAKE_PREFIX_PATH='" + installed.prefix().string() + "' ";
  must(project + "&& cmake --build cmake");
  // CMake puts the library's folder into the program: no LD_LIBRARY_PATH.
  CHECK(must(installed.environment() + "unset LD_LIBRARY_PATH; ./cmake/one_shot") ==
        must(installed.environment() + "unset LD_LIBRARY_PATH; ./cmake/one_shot_c"));
  // The version file alone says which versions asked for this one serves.
  std::string script = "foreach(wanted 0.1 0.1.0 0 0.2 0.1.9 1)\n";
  script += "  set(PACKAGE_FIND_VERSION ${wanted})\n  string(REPLACE \".\" \";\" parts ${wanted})\n";
  script +=
      "  list(LENGTH parts PACKAGE_FIND_VERSION_COUNT)\n  list(GET parts 0 PACKAGE_FIND_VERSION_MAJOR)\n";
  script += "  set(PACKAGE_FIND_VERSION_MINOR 0)\n  if(PACKAGE_FIND_VERSION_COUNT GREATER 1)\n";
  script += "    list(GET parts 1 PACKAGE_FIND_VERSION_MINOR)\n  endif()\n";
  script +=
      "  include(\"" + (installed.libraries() / "cmake/ondula/ondulaConfigVersion.cmake").string() + "\")\n";
  script += "  message(STATUS \"${wanted} ${PACKAGE_VERSION_COMPATIBLE}\")\nendforeach()\n";
  write_bytes(installed.folder() / "versions.cmake", script);
  CHECK(must(installed.environment() + "cmake -P versions.cmake") ==
        "-- 0.1 TRUE\n-- 0.1.0 TRUE\n-- 0 TRUE\n-- 0.2 FALSE\n-- 0.1.9 FALSE\n-- 1 FALSE\n");
}

TEST_CASE("library: a Meson project finds it through pkg-config and runs") {
  ONDULA_NEEDS_CLANG();
  const Installation installed;
  must(installed.environment() + "meson setup meson '" + examples.string() + "' && meson compile -C meson");
  CHECK(must(installed.environment() + "./meson/one_shot") ==
        must(installed.environment() + "./meson/one_shot_c"));
}

TEST_CASE("C27: a host program with libgomp's threads and another LLVM embeds the installed library") {
  ONDULA_NEEDS_CLANG();
  const Installation installed;
  const std::string source = (fs::path(ONDULA_TESTS_DIR) / "runtime/library/busy_host.cpp").string();
  must(installed.environment() + "g++ -fopenmp " + strict + "'" + source +
       "' $(pkg-config --cflags --libs ondula) -ldl -o busy_host");
  std::string other;
  for (const char* name : {"libLLVM-15.so.1", "libLLVM-14.so.1", "libLLVM-16.so.1", "libLLVM-13.so.1"}) {
    if (other.empty() && ::dlopen(name, RTLD_LAZY | RTLD_LOCAL) != nullptr) other = name;
  }
  CHECK(must(installed.environment() + "./busy_host") == "the records agree\n");
  if (other.empty()) ONDULA_SKIP("libgomp's part ran; no other LLVM is installed for the rest");
  CHECK(must(installed.environment() + "export ONDULA_CACHE=off; ./busy_host " + other) ==
        "the records agree\n");
}

}  // namespace ondula::test
