// The cases of generated code (docs/cases.md, F) on equations from users' files.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <regex>
#include <thread>

#include "compiler/emit/cuda_text.hpp"
#include "compiler/emit/host_text.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/cuda_schedule.hpp"
#include "equations/equations.hpp"
#include "runtime/equation_file.hpp"
#include "runtime/jit/host_compiler.hpp"
#include "tests/equations/engines.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/messages.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

const std::string include = "#include <ondula/dsl.hpp>\n";

class Desk {
 public:
  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    write_bytes(path(name), text);
    return path(name);
  }
  EquationFileOptions options() const {
    EquationFileOptions options;
    options.cache.directory = path("cache");
    return options;
  }
  std::vector<EquationDefinition> load(const std::string& text) const {
    return load_equations(write("mine.cpp", include + text), options());
  }

 private:
  TemporaryDirectory directory_;
};

/// The built-in equations as a user's own file.
std::string built_in() {
  std::string text;
  for (const char* file : {"equations/acoustic.cpp", "equations/elastic.cpp"}) {
    std::string own = read_bytes(file);
    text += own.substr(own.find("namespace ondula"));
  }
  return std::regex_replace(text, std::regex("namespace ondula::equations"), "namespace mine");
}

/// Both backends' text, whose comments name lines of the author's.
std::string texts(const EquationDefinition& definition, int dims, int order) {
  passes::PipelineOptions options;
  options.axes = default_axes(dims);
  options.order = order;
  const ir::KernelSet host = passes::compile(definition, options).kernels;
  options.target = passes::Target::cuda;
  const ir::KernelSet cuda = passes::compile(definition, options).kernels;
  return emit::host_text(host, emit::Real::float32) + emit::host_text(host, emit::Real::float64) +
         emit::cuda_text(passes::cuda_schedule(cuda, {80, 4, 32}), emit::Real::float32);
}

std::string without_lines(const std::string& text) {
  return std::regex_replace(text, std::regex(R"(// \w+\.cpp:[0-9]+)"), "// ");
}

/// Three coupled waves by other names.
std::string coupled(const std::string& name, const std::vector<std::string>& names) {
  return fmt::format(
      "EQUATION({}, \"three coupled waves\") {{\n"
      "  auto c = parameter(\"{}\", \"m/s\", positive);\n"
      "  auto k = parameter(\"{}\", \"1/s^2\");\n"
      "  auto f = scalar(\"{}\", \"Pa\"), g = scalar(\"{}\", \"Pa\"), h = scalar(\"{}\", \"Pa\");\n"
      "  evolve(dtt(f) = sq(c) * laplacian(f) + k * g + source(f));\n"
      "  evolve(dtt(g) = sq(c) * laplacian(g) + k * h);\n"
      "  evolve(dtt(h) = sq(c) * laplacian(h) - k * f);\n}}\n",
      name, names[0], names[1], names[2], names[3], names[4]);
}

}  // namespace

TEST_CASE("F1, F2: on a user's file, awkward names and keywords give the numbers of plain ones") {
  ONDULA_NEEDS_CLANG();
  const Desk desk;
  const auto loaded = desk.load(coupled("plain", {"speed", "pull", "p", "q", "o"}) +
                                coupled("temporaries", {"c0", "w1", "t0", "r0", "tmp0"}) +
                                coupled("devices", {"nx", "n", "u_vec", "threadIdx", "blockIdx"}) +
                                coupled("keywords", {"lambda", "new", "double", "in", "register"}));
  REQUIRE(loaded.size() == 4);
  const auto expected = nameless_fields(loaded[0]);
  for (std::size_t k = 1; k < loaded.size(); ++k) {
    CAPTURE(loaded[k].name());
    CHECK(nameless_fields(loaded[k]) == expected);
  }
}

TEST_CASE("F2: on a user's file, what is no name is refused at the author's line and column") {
  ONDULA_NEEDS_CLANG();
  const Desk desk;
  for (const char* name : {"__x", "x_", "\u03bb", "u-v"}) {
    const auto loaded = desk.load(coupled("named", {"c", "k", name, "g", "h"}));
    const std::string told = refusal([&] { loaded[0].instantiate({"z", "x"}); });
    check_mentions(told, {"mine.cpp:5:12: equation named:", name, "is no name: a letter, then letters"});
  }
}

TEST_CASE("F3, F7, F8: on a user's file, its kernels are those of the same text linked in") {
  ONDULA_NEEDS_CLANG();
  const Desk desk;
  const auto loaded = desk.load(built_in());
  const auto linked = equations::all();
  REQUIRE(loaded.size() == linked.size());
  for (std::size_t k = 0; k < linked.size(); ++k) {
    for (const int dims : {1, 2, 3}) {
      for (const int order : {2, 8, 16}) {
        if (dims == 3 && order == 16 && k < 2) continue;
        CAPTURE(linked[k].name());
        CAPTURE(dims);
        CAPTURE(order);
        CHECK(loaded[k].name() == linked[k].name());
        CHECK(without_lines(texts(loaded[k], dims, order)) == without_lines(texts(linked[k], dims, order)));
      }
    }
  }
}

TEST_CASE("F4: on a user's file, div(b grad p), orders 2 to 16: kernels equal the reference") {
  ONDULA_NEEDS_CLANG();
  const Desk desk;
  const auto loaded = desk.load(
      "EQUATION(nested, \"a nested Laplacian\") {\n"
      "  auto b = parameter(\"b\", \"m^2/s^2\", positive);\n"
      "  auto p = scalar(\"p\", \"Pa\");\n"
      "  evolve(dtt(p) = div(b * grad(p)) + source(p));\n}\n");
  double worst = 0;
  for (int order = 2; order <= 16; order += 2) {
    CAPTURE(order);
    EngineCase c;
    c.domain = layered({order + 7, order + 12}, 3);
    c.order = order;
    c.models["b"] = scattered(c.domain, 1e6, 9e6, 1);
    c.sources["p"] = 1;
    for (const ir::Kernel& kernel : compiled(loaded[0], c).kernels.kernels)
      CHECK(kernel.halo[0] <= order - 1);
    const double error = host_error(loaded[0], c);
    CHECK(error < 1e-13);
    worst = std::max(worst, error);
  }
  MESSAGE(fmt::format("host - reference at most {:.1e}", worst));
}

TEST_CASE("F5: on a user's file, a level beyond what is kept is the language's to refuse") {
  ONDULA_NEEDS_CLANG();
  const Desk desk;
  const auto loaded = desk.load(
      "EQUATION(heat, \"diffusion, whose step needs two levels of a field of one\") {\n"
      "  auto k = parameter(\"k\", \"m^2/s\", positive);\n"
      "  auto u = scalar(\"u\", \"Pa\");\n"
      "  evolve(dt(u) = k * laplacian(u) + source(u));\n}\n");
  const std::string told = refusal([&] { passes::compile(loaded[0], {.axes = {"z", "x"}}); });
  check_mentions(
      told, {"mine.cpp:5:", "equation heat", "the update of u reads a neighbour of what it writes in place"});
}

TEST_CASE("F6, F10: on a user's file, every folder, process and thread writes the same bytes") {
  ONDULA_NEEDS_CLANG();
  const Desk desk;
  const std::string text = coupled("mine", {"speed", "pull", "p", "q", "o"});
  std::filesystem::create_directory(desk.path("other"));
  const std::string first = desk.write("mine.cpp", include + text);
  const std::string second = desk.write("other/mine.cpp", include + text);
  const auto explained = [&](const std::string& path, const std::string& cache) {
    const Outcome outcome =
        run_program({"explain", path, "--dims", "2", "--text"}, {.variables = {{"ONDULA_CACHE", cache}}});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    return outcome.out;
  };
  const std::string once = explained(first, desk.path("one"));
  CHECK(once.find("mine.cpp:") != std::string::npos);
  CHECK(once.find(desk.path("")) == std::string::npos);
  for (int k = 0; k < 3; ++k) CHECK(explained(first, desk.path("one")) == once);
  CHECK(explained(second, desk.path("two")) == once);

  const EquationDefinition loaded = load_equation(first, desk.options());
  const std::string expected = texts(loaded, 2, 8);
  std::vector<std::string> all(16);
  std::vector<std::thread> threads;
  for (std::string& own : all) threads.emplace_back([&own, &loaded] { own = texts(loaded, 2, 8); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& own : all) CHECK(own == expected);
}

TEST_CASE(
    "F12: on a user's file, a bad kernel's message gives the author's line, equation and saved source") {
  ONDULA_NEEDS_CLANG();
  const Desk desk;
  const auto loaded = desk.load(coupled("mine", {"speed", "pull", "p", "q", "o"}));
  std::string text =
      emit::host_text(passes::compile(loaded[0], {.axes = {"z"}, .order = 2}).kernels, emit::Real::float32);
  const std::size_t line = text.find("// mine.cpp:6"), place = text.find(" = ", text.find("p_next", line));
  REQUIRE(line != std::string::npos);
  REQUIRE(place != std::string::npos);
  text.insert(place + 3, "missing + ");
  jit::HostCompiler compiler({.directory = desk.path("kernels")});
  try {
    compiler.compile({text, "mine", {}, ""});
    FAIL("the broken text compiled");
  } catch (const CompileError& error) {
    check_mentions(error.what(), {"'mine'", "use of undeclared identifier 'missing'", "// mine.cpp:6",
                                  error.source_path()});
    CHECK(read_bytes(error.source_path()) == text);
  }
}

}  // namespace ondula::test
