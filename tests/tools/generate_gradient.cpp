// Generated sources beside the library: records of `ondula run` bit for bit, gradients of other equations,
// and what is said where there is none. SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "compiler/emit/standalone_case.hpp"
#include "compiler/passes/pipeline.hpp"
#include "equations/equations.hpp"
#include "runtime/io/npy.hpp"
#include "tests/support/environment.hpp"
#include "tests/tools/generated.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct Set {
  std::string equation;
  int dims = 1;
  int order = 4;
  std::string dtype = "float32";
};

/// The values that `./example records` printed, by field: those of the first probe, look by look.
std::map<std::string, std::vector<double>> first_probes(const std::string& output) {
  static const std::regex line("step (\\d+), (\\S+) at node ([^:]*): (\\S+)\n");
  std::map<std::string, std::vector<double>> found;
  std::map<std::string, std::string> nodes;
  for (std::sregex_iterator match(output.begin(), output.end(), line), end; match != end; ++match) {
    const std::string field = (*match)[2].str();
    const std::string& node = nodes.try_emplace(field, (*match)[3].str()).first->second;
    if (node == (*match)[3].str()) found[field].push_back(std::strtod((*match)[4].str().c_str(), nullptr));
  }
  return found;
}

/// Metres, of a field's point at a node of the padded grid.
ordered_json position(const ir::Program& program, const ir::Domain& domain, const ir::Field& field,
                      const ir::Extents& node) {
  ordered_json at;
  for (int a = 0; a < program.dims(); ++a) {
    const auto axis = static_cast<std::size_t>(a);
    const double cells = static_cast<double>(node[axis] - domain.pad[axis][0]) + 0.5 * field.stagger[axis];
    at[program.axes[axis]] = cells * domain.spacing[axis];
  }
  return at;
}

void put_faces(ordered_json& job, const ir::Program& program, const ir::Domain& domain) {
  for (int a = 0; a < program.dims(); ++a) {
    const auto axis = static_cast<std::size_t>(a);
    const std::string name = program.axes[axis];
    job["grid"]["axes"].push_back(name);
    job["grid"]["shape"].push_back(domain.shape[axis]);
    job["grid"]["spacing"].push_back(domain.spacing[axis]);
    if (domain.faces[axis][0] == FaceKind::periodic) {
      job["grid"]["periodic"].push_back(name);
      continue;
    }
    for (std::size_t side = 0; side < 2; ++side) {
      const std::string face = name + (side == 0 ? "-" : "+");
      if (domain.faces[axis][side] == FaceKind::free_surface)
        job["free_surface"].push_back(face);
      else
        job["absorb"]["width"][face] = domain.pad[axis][side];
    }
  }
}

/// The job that runs what a set's example does: its receivers are the first probes.
ordered_json job_of(const Set& set, const fs::path& folder) {
  passes::PipelineOptions options;
  options.axes = default_axes(set.dims);
  options.order = set.order;
  const ir::Program program = passes::compile(equations::find(set.equation), options).kernels.program;
  const emit::StandaloneCase c = emit::standalone_case(program);
  ordered_json job;
  job["equation"] = set.equation;
  put_faces(job, program, c.domain);
  job["time"] = {{"dt", c.layer.dt}, {"steps", c.steps}, {"substeps", 1}};
  job["order"] = set.order;
  job["dtype"] = set.dtype;
  job["absorb"]["velocity"] = c.layer.velocity;
  job["absorb"]["frequency"] = c.layer.frequency;
  double volume = 1;
  std::vector<std::int64_t> shape;
  for (int a = 0; a < program.dims(); ++a) {
    volume *= c.domain.spacing[static_cast<std::size_t>(a)];
    shape.push_back(c.domain.shape[static_cast<std::size_t>(a)]);
  }
  for (const emit::StandaloneModel& model : c.models) {
    io::Array array{shape, {}};
    std::int64_t count = 1;
    for (const std::int64_t n : shape) count *= n;
    for (std::int64_t k = 0; k < count; ++k)
      array.data.push_back(model.base + model.step * static_cast<double>(k % 7));
    io::write_npy((folder / (model.name + ".npy")).string(), array, DType::float64, io::Existing::replace);
    job["models"][model.name] = model.name + ".npy";
  }
  std::vector<double> samples;
  for (std::int64_t n = 0; n < c.steps; ++n) samples.push_back(emit::standalone_pulse(n));
  job["wavelet"] = {{"samples", samples}};
  for (const emit::StandaloneSource& source : c.sources) {
    const ir::Field& field = program.field(source.source);
    ordered_json one = {{"kind", "point"},
                        {"field", field.name},
                        {"interpolation", "linear"},
                        {"at", position(program, c.domain, field, source.node)},
                        {"strength", source.strength}};
    if (field.kind == ir::FieldKind::tensor) {
      // A physical one has its samples between the steps; what it adds in a step is -dt times them.
      one["scaling"] = "raw";
      one["strength"] = -c.layer.dt * (source.strength / volume);
    }
    job["sources"].push_back(one);
  }
  for (std::size_t p = 0; p < c.probes.size(); p += emit::standalone_probes) {
    const ir::Field& field = program.field(c.probes[p].field);
    job["receivers"].push_back({{"field", field.name},
                                {"interpolation", "linear"},
                                {"at", position(program, c.domain, field, c.probes[p].node)}});
  }
  job["output"] = {{"directory", "out"}, {"pictures", false}};
  return job;
}

/// Every value that the example of a set finds beside its sources, against `ondula run` on the same case.
void check_records(const Set& set) {
  CAPTURE(set.equation);
  CAPTURE(set.dims);
  CAPTURE(set.order);
  CAPTURE(set.dtype);
  Workshop shop;
  shop.job = job_of(set, shop.folder());
  const Outcome run = shop.run();
  INFO(run.err);
  REQUIRE(run.status == 0);
  const fs::path folder = shop.folder() / "sources";
  REQUIRE(run_program({"generate", set.equation, "--dims", std::to_string(set.dims), "--order",
                       std::to_string(set.order), "--dtype", set.dtype, "-o", folder.string()})
              .status == 0);
  std::string compile = readme_command(folder);
  compile.replace(compile.find("-O3 -march=native"), 17, "-O1");
  REQUIRE(shell(folder, compile + strict_options) == 0);
  const int status = shell(folder, "./example records");
  const std::string output = read_file(folder / "output.txt");
  INFO(output);
  CHECK(status == 0);
  CHECK(output.find("as Ondula's own run has them, bit for bit") != std::string::npos);
  const auto found = first_probes(output);
  REQUIRE_FALSE(found.empty());
  for (const auto& [field, values] : found) {
    CAPTURE(field);
    const io::Array records = shop.records("records_" + field + ".npy");
    REQUIRE(values.size() == 10);
    bool any = false;
    for (std::size_t look = 0; look < values.size(); ++look) {
      CHECK(records.data.at(16 * look) == values[look]);
      any = any || values[look] != 0;
    }
    CHECK(any);
  }
}

}  // namespace

TEST_CASE("`ondula generate`: the example's records are those of `ondula run`, bit for bit") {
  std::vector<Set> sets = {{"acoustic", 2, 8, "float32"}, {"elastic", 1, 4, "float64"}};
  if (full_matrices()) {
    sets.clear();
    for (const char* equation : {"acoustic", "acoustic_density", "elastic"}) {
      for (int dims = 1; dims <= 3; ++dims) {
        for (const int order : {4, 8})
          sets.push_back({equation, dims, order, (dims + order / 4) % 2 == 0 ? "float32" : "float64"});
      }
    }
  }
  for (const Set& set : sets) check_records(set);
}

TEST_CASE("`ondula generate` of an author's file: its own parameters, no folder's name, the same twice") {
  TemporaryDirectory directory;
  std::ofstream(directory.path() / "mine.cpp")
      << "#include <ondula/dsl.hpp>\n\n"
         "EQUATION(mine, \"a wave in a string of tension k and mass m\") {\n"
         "  auto k = parameter(\"k\", \"Pa\", positive);\n  auto m = parameter(\"m\", \"kg/m^3\", "
         "positive);\n"
         "  auto u = scalar(\"u\", \"m\");\n"
         "  evolve(dtt(u) = k / m * laplacian(u) + source(u));\n}\n";
  const auto generate = [&](const std::string& name) {
    const fs::path folder = directory.path() / name;
    const Outcome made = run_program({"generate", (directory.path() / "mine.cpp").string(), "--dims", "1",
                                      "--order", "2", "--dtype", "float64", "-o", folder.string()});
    INFO(made.err);
    REQUIRE(made.status == 0);
    return folder;
  };
  const fs::path one = generate("one"), two = generate("two");
  for (const auto& entry : fs::directory_iterator(one)) {
    CAPTURE(entry.path().filename());
    const std::string written = read_file(entry.path());
    CHECK(written == read_file(two / entry.path().filename()));
    CHECK(written.find(directory.path().string()) == std::string::npos);
  }
  const bool passed = shell(one, strict_compiler + "-o example *.cpp && ./example") == 0;
  INFO(read_file(one / "output.txt"));
  CHECK(passed);
}

TEST_CASE("`ondula generate`: a gradient without a step back, and neither, with the reasons") {
  const std::string head = "#include <ondula/dsl.hpp>\n\nEQUATION(mine, \"of a test\") {\n";
  const auto made = [](const TemporaryDirectory& directory, const std::string& text) {
    std::ofstream(directory.path() / "mine.cpp") << text;
    const Outcome outcome = run_program({"generate", (directory.path() / "mine.cpp").string(), "--dims", "1",
                                         "--order", "2", "-o", (directory.path() / "x").string(), "--json"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const bool passed = shell(directory.path() / "x", strict_compiler + "-o example *.cpp && ./example") == 0;
    INFO(read_file(directory.path() / "x/output.txt"));
    CHECK(passed);
    return nlohmann::json::parse(outcome.out);
  };
  TemporaryDirectory damped, blocked;
  const auto first =
      made(damped, head +
                       "  auto c = parameter(\"c\", \"m/s\", positive);\n"
                       "  auto k = parameter(\"k\", \"1/s\", nonnegative);\n"
                       "  auto v = vector(\"v\", \"m/s\");\n  auto f = scalar(\"f\", \"m/s\");\n"
                       "  evolve(dt(v) = c * grad(f) - k * v);\n"
                       "  evolve(dt(f) = c * div(v) + source(f));\n}\n");
  CHECK(first.contains("no_reverse"));
  CHECK_FALSE(first.contains("no_gradient"));
  CHECK(read_file(damped.path() / "x/output.txt").find("gradient of k: ") != std::string::npos);
  const auto second = made(blocked, head +
                                        "  auto c = parameter(\"c\", \"m/s\", positive);\n"
                                        "  auto u = scalar(\"u\", \"Pa\");\n"
                                        "  evolve(dtt(u) = laplacian(sq(c) * u) + source(u));\n}\n");
  const std::string why = second.at("no_gradient");
  CHECK(why.find("has no gradient yet") != std::string::npos);
  CHECK_FALSE(fs::exists(blocked.path() / "x/mine_1d_o2_adjoint.cpp"));
  const auto manifest = nlohmann::json::parse(read_file(blocked.path() / "x/manifest.json"));
  CHECK(manifest.at("gradient").at("refused") == why);
  CHECK(read_file(blocked.path() / "x/README.md").find("has no gradient") != std::string::npos);
}

TEST_CASE("`ondula generate`: functions of parameters, and the chain rule through each of them") {
  TemporaryDirectory directory;
  std::ofstream(directory.path() / "mine.cpp")
      << "#include <ondula/dsl.hpp>\n\nEQUATION(mine, \"a speed of many functions\") {\n"
         "  auto vp = parameter(\"vp\", \"m/s\", positive);\n"
         "  auto vs = parameter(\"vs\", \"m/s\", nonnegative);\n"
         "  auto u = scalar(\"u\", \"Pa\");\n  auto a = vs / vp;\n"
         "  auto soft = exp(-a) * abs(sin(0.3 + a)) + sq(cos(a)) + tan(a / 4) + tanh(a);\n"
         "  auto stiff = sqrt(a) + pow(a + 1, 0.7) + max(a, 0.1) + log(2 + min(a, 2));\n"
         "  auto share = where(a < 0.2 || a >= 0.3, 0.9 + a, 1.1 - a);\n"
         "  evolve(dtt(u) = sq(vp) * share * (div(grad(u) / soft) + 0.1 * stiff * laplacian(u) + "
         "source(u)));\n}\n";
  const Outcome made =
      run_program({"generate", (directory.path() / "mine.cpp").string(), "--dims", "2", "--order", "4",
                   "--dtype", "float64", "-o", (directory.path() / "x").string()});
  INFO(made.err);
  REQUIRE(made.status == 0);
  const bool passed = shell(directory.path() / "x", strict_compiler + "-o example *.cpp && ./example") == 0;
  const std::string output = read_file(directory.path() / "x/output.txt");
  INFO(output);
  CHECK(passed);
  CHECK(output.find("gradient against differences") != std::string::npos);
}

TEST_CASE("`ondula generate`: a source that feeds two fields is refused with the reason") {
  TemporaryDirectory directory;
  const Outcome outcome = run_program({"generate", "docs/examples/equations/vti_acoustic.cpp", "--dims", "2",
                                       "-o", (directory.path() / "x").string()});
  CHECK(outcome.status == 2);
  CHECK(outcome.err.find("the source of sh feeds sv too") != std::string::npos);
}

}  // namespace ondula::test
