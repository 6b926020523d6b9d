// `ondula gradient` and `ondula born`: against differences of `ondula run`, and what they refuse.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <random>

#include "runtime/io/npy.hpp"
#include "runtime/io/png.hpp"
#include "tests/support/compare.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;
using Shape = std::vector<std::int64_t>;
using Values = std::vector<double>;

constexpr std::size_t nodes = 41 * 51;

Values noise(std::size_t count, unsigned seed, double size, double mean = 0) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-size, size);
  Values values(count);
  for (double& value : values) value = mean + uniform(generator);
  return values;
}

Values along(const Values& base, double step, const Values& direction) {
  Values moved = base;
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += step * direction[i];
  return moved;
}

double product(const Values& a, const Values& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// A job in float64 with observed records, whose layer does not follow the model; 120 steps.
struct Study {
  Workshop shop;

  Study() {
    shop.job["dtype"] = "float64";
    shop.job["time"]["steps"] = 120;
    shop.job["wavelet"]["ricker"] = {{"frequency", 25}, {"delay", 0.04}};
    shop.job["absorb"] = {{"width", 6}, {"frequency", 25}, {"velocity", 2300}};
    REQUIRE(shop.run({"-o", (shop.folder() / "observed").string()}).status == 0);
    shop.job["observed"] = {{"u", "observed/records_u.npy"}};
    shop.job["models"]["vp"] = "vp.npy";
    write("vp.npy", {41, 51}, vp);
  }

  void write(const std::string& name, const Shape& shape, const Values& values) const {
    io::write_npy((shop.folder() / name).string(), io::Array{shape, values}, DType::float64,
                  io::Existing::replace);
  }
  io::Array read(const std::string& name) const { return io::read_npy((shop.out() / name).string()); }
  /// Runs a command over what is there.
  void command(const std::string& name) {
    const Outcome outcome = shop.command(name, {"--force"});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  }
  Values records() {
    command("run");
    return read("records_u.npy").data;
  }
  /// Half the sum of squares times dt, from the records of `ondula run`.
  double misfit_of_run() {
    const Values ours = records();
    const Values theirs = io::read_npy((shop.folder() / "observed/records_u.npy").string()).data;
    return 0.5 * 0.001 * std::pow(l2_norm(along(ours, -1, theirs)), 2);
  }
  static double l2_norm(const Values& values) { return std::sqrt(product(values, values)); }

  Values vp = noise(nodes, 1, 40, 2050);
};

TEST_CASE(
    "A gradient is the derivative of the misfit of `ondula run`'s records: model, wavelets, initial state") {
  Study study;
  Workshop& shop = study.shop;
  shop.job["gradient"] = {{"wavelet", true}, {"initial", true}};
  shop.job["output"]["pictures"] = true;
  shop.job["initial"] = {{"u", "u.npy"}};
  study.write("u.npy", {41, 51}, noise(nodes, 2, 1e-3));
  study.command("gradient");
  CHECK(shop.files() == Names{"gradient_initial_u.npy", "gradient_initial_u.png",
                              "gradient_initial_u.previous.npy", "gradient_initial_u.previous.png",
                              "gradient_vp.npy", "gradient_vp.png", "gradient_wavelet.npy", "records_u.npy",
                              "run.json", "shot_0_u.png", "shot_1_u.png", "vp.png"});
  CHECK(io::read_png((shop.out() / "gradient_vp.png").string()).width() > 100);
  const io::Array model = study.read("gradient_vp.npy"), wavelet = study.read("gradient_wavelet.npy");
  const Values initial = study.read("gradient_initial_u.npy").data;
  const Values records = study.read("records_u.npy").data;
  CHECK(model.shape == Shape{41, 51});
  CHECK(wavelet.shape == Shape{2, 120});
  const Json report = shop.report();
  CHECK(report["misfit"]["shots"].size() == 2);
  CHECK(report["files"].size() == 12);
  CHECK(report["timings"]["gpoints_per_s"] > 0.0);
  shop.job["output"]["pictures"] = false;
  CHECK(study.misfit_of_run() == doctest::Approx(report["misfit"]["total"].get<double>()).epsilon(1e-12));
  CHECK(study.records() == records);

  const auto difference = [&](double h, const auto& set) {
    set(h);
    const double plus = study.misfit_of_run();
    set(-h);
    const double minus = study.misfit_of_run();
    set(0);
    return (plus - minus) / (2 * h);
  };
  const Values dv = noise(nodes, 3, 10);
  CHECK(difference(1e-2, [&](double h) { study.write("vp.npy", {41, 51}, along(study.vp, h, dv)); }) ==
        doctest::Approx(product(model.data, dv)).epsilon(1e-6));
  const Values u = noise(nodes, 2, 1e-3), du = noise(nodes, 4, 1e-4);
  CHECK(difference(1, [&](double h) { study.write("u.npy", {41, 51}, along(u, h, du)); }) ==
        doctest::Approx(product(initial, du)).epsilon(1e-6));
  // The rows of gradient_wavelet.npy are those of a wavelet file.
  const Values w = noise(240, 5, 1), dw = noise(240, 6, 1);
  shop.job["wavelet"] = {{"file", "w.npy"}};
  study.write("w.npy", {2, 120}, w);
  study.command("gradient");
  const Values slope = study.read("gradient_wavelet.npy").data;
  CHECK(difference(1e-2, [&](double h) { study.write("w.npy", {2, 120}, along(w, h, dw)); }) ==
        doctest::Approx(product(slope, dw)).epsilon(1e-6));
}

TEST_CASE("Every misfit, muted and filtered, has its own gradient") {
  Study study;
  Workshop& shop = study.shop;
  const Values direction = noise(nodes, 3, 10);
  const auto total = [&](double h) {
    study.write("vp.npy", {41, 51}, along(study.vp, h, direction));
    study.command("gradient");
    return shop.report()["misfit"]["total"].get<double>();
  };
  std::vector<Values> gradients;
  for (const Json& misfit :
       {Json("l2"), Json("correlation"), Json("envelope"), Json{{"kind", "l2"}, {"band", {5, 20}}},
        Json{{"kind", "correlation"}, {"mute", {{"before", 0.04}, {"velocity", 2000}, {"taper", 0.01}}}}}) {
    CAPTURE(misfit.dump());
    shop.job["misfit"] = misfit;
    const double plus = total(1e-2), minus = total(-1e-2);
    static_cast<void>(total(0));
    gradients.push_back(study.read("gradient_vp.npy").data);
    CHECK((plus - minus) / 2e-2 == doctest::Approx(product(gradients.back(), direction)).epsilon(1e-5));
    for (std::size_t i = 0; i + 1 < gradients.size(); ++i) CHECK(gradients[i] != gradients.back());
  }
}

TEST_CASE("Born records are the derivative of `ondula run`'s, in the files of a run") {
  Study study;
  Workshop& shop = study.shop;
  const Values direction = noise(nodes, 3, 10);
  study.write("d.npy", {41, 51}, direction);
  shop.job["born"] = {{"vp", "d.npy"}};
  study.command("born");
  CHECK(shop.files() == Names{"records_u.npy", "run.json"});
  CHECK(study.read("records_u.npy").shape == Shape{2, 3, 120});
  const Values born = study.read("records_u.npy").data;
  study.write("vp.npy", {41, 51}, along(study.vp, 1e-2, direction));
  const Values plus = study.records();
  study.write("vp.npy", {41, 51}, along(study.vp, -1e-2, direction));
  Values difference = along(plus, -1, study.records());
  for (double& value : difference) value /= 2e-2;
  CHECK(max_abs_diff(difference, born) < 1e-6 * max_abs(born));
  // A number, in another unit, is that change everywhere.
  study.write("vp.npy", {41, 51}, study.vp);
  study.write("d.npy", {41, 51}, Values(nodes, 3.0));
  study.command("born");
  const std::string everywhere = read_file(shop.out() / "records_u.npy");
  shop.job["born"] = {{"vp", {{"value", 0.003}, {"unit", "km/s"}}}};
  study.command("born");
  CHECK(read_file(shop.out() / "records_u.npy") == everywhere);
}

TEST_CASE("What is asked for is what is written; the extent changes the edges") {
  Study study;
  Workshop& shop = study.shop;
  shop.job["gradient"] = {{"parameters", {"vp"}}};
  study.command("gradient");
  CHECK(shop.files() == Names{"gradient_vp.npy", "records_u.npy", "run.json"});
  const Values whole = study.read("gradient_vp.npy").data;
  shop.job["gradient"]["extent"] = "interior";
  shop.job["dtype"] = "float32";
  shop.job["backend"] = "reference";
  study.command("gradient");
  const Values interior = study.read("gradient_vp.npy").data;
  CHECK(interior[20 * 51 + 25] == doctest::Approx(whole[20 * 51 + 25]).epsilon(1e-3));
  CHECK(std::abs(interior[20 * 51] - whole[20 * 51]) > 1e-3 * std::abs(whole[20 * 51]));
  CHECK(io::NpyReader((shop.out() / "gradient_vp.npy").string()).header().format.bytes == 4);
}

TEST_CASE("Observed records are read in every format that a run writes, uneven shots included") {
  for (const bool uneven : {false, true}) {
    std::vector<double> totals;
    for (const Json& format : {Json("npy"), Json("segy"), Json("su")}) {
      CAPTURE(uneven);
      CAPTURE(format.dump());
      Workshop shop;
      shop.job["time"]["steps"] = 200;
      if (uneven) {
        shop.job["receivers"].push_back({{"field", "u"}, {"at", {{"z", 30}, {"x", 70}}}, {"shots", {1}}});
      }
      shop.job["output"]["records"] = format;
      REQUIRE(shop.run().status == 0);
      shop.job["observed"] = {{"u", "out/records_u." + format.get<std::string>()}};
      shop.job["models"]["vp"] = 2010;
      const Outcome outcome = shop.command("gradient", {"-o", (shop.folder() / "g").string()});
      REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
      CHECK(outcome.err == "");
      totals.push_back(Json::parse(read_file(shop.folder() / "g/run.json"))["misfit"]["total"]);
    }
    CHECK(totals[0] > 0);
    CHECK(totals == std::vector<double>(3, totals[0]));
  }
}

TEST_CASE("E13: 0, 1 and 2 steps have gradients of the model's shape") {
  for (const int steps : {0, 1, 2}) {
    for (const char* backend : {"host", "reference"}) {
      Workshop shop;
      shop.job["time"]["steps"] = steps;
      shop.job["output"]["pictures"] = steps == 0;
      shop.job["receivers"][0]["at"][0] = shop.job["sources"][0]["at"];
      REQUIRE(shop.run({"--backend", backend, "-o", (shop.folder() / "observed").string()}).status == 0);
      shop.job["observed"] = {{"u", "observed/records_u.npy"}};
      shop.job["gradient"] = {{"wavelet", true}, {"initial", true}};
      shop.job["models"]["vp"] = 2010;
      const Outcome outcome = shop.command("gradient", {"--backend", backend});
      REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
      const auto shape = [&](const char* name) { return io::read_npy((shop.out() / name).string()).shape; };
      CHECK(shape("gradient_vp.npy") == Shape{41, 51});
      CHECK(shape("gradient_initial_u.previous.npy") == Shape{41, 51});
      CHECK(shape("gradient_wavelet.npy") == Shape{2, steps});
      const Values slope = io::read_npy((shop.out() / "gradient_vp.npy").string()).data;
      CHECK((max_abs(slope) > 0) == (steps == 2));
    }
  }
}

/// Expects status 2, the words on stderr, and no result.
void expect_refusal(Workshop& shop, const std::string& command, const std::string& words) {
  const Outcome outcome = shop.command(command);
  CAPTURE(words);
  CAPTURE(outcome.err);
  CHECK(outcome.status == 2);
  CHECK(outcome.out == "");
  CHECK(outcome.err.find(words) != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(shop.out() / "run.json"));
}

TEST_CASE("B20: a gradient with storage off is refused") {
  Study study;
  study.shop.job["memory"] = {{"mode", "none"}};
  expect_refusal(study.shop, "gradient", "memory.mode: found \"none\", which keeps no history");
}

TEST_CASE("E13: observed records of another shape are refused with both shapes") {
  Study study;
  Workshop& shop = study.shop;
  study.write("o.npy", {2, 3, 119}, Values(2 * 3 * 119));
  shop.job["observed"]["u"] = "o.npy";
  expect_refusal(shop, "gradient",
                 "o.npy has shape (2, 3, 119); the job models (2, 3, 120) (shot, receiver, time)");
  shop.job["receivers"].push_back({{"field", "u"}, {"at", {{"z", 30}, {"x", 70}}}, {"shots", {1}}});
  study.write("o_shot_0.npy", {3, 120}, Values(3 * 120));
  study.write("o_shot_1.npy", {3, 120}, Values(3 * 120));
  expect_refusal(shop, "gradient",
                 "o_shot_1.npy has shape (3, 120); the job models (4, 120) (receiver, time)");
  shop.job["receivers"].erase(1);
  shop.job["output"]["records"] = "segy";
  REQUIRE(shop.run({"-o", (shop.folder() / "s").string()}).status == 0);
  shop.job["observed"]["u"] = "s/records_u.segy";
  shop.job["time"]["steps"] = 100;
  expect_refusal(shop, "gradient",
                 "holds 6 traces of 120 samples; the job models 6 traces (2 shots) of 100 samples");
  shop.job["time"] = {{"dt", 0.0011}, {"steps", 120}};
  expect_refusal(shop, "gradient", "is sampled every 0.001 s; the job's time.dt is 0.0011 s");
}

TEST_CASE("What a gradient or a perturbation cannot be made of is refused by name") {
  Study study;
  Workshop& shop = study.shop;
  const auto with = [&](const char* pointer, const Json& value, const std::string& words,
                        const char* command = "gradient") {
    const Json before = shop.job;
    shop.job[Json::json_pointer(pointer)] = value;
    expect_refusal(shop, command, words);
    shop.job = before;
  };
  with("/observed", Json::object(), "observed: missing; it names the file");
  with("/observed", {{"u.previous", "o.npy"}},
       "observed.u.previous: the equation acoustic has no field \"u.previous\"");
  with("/observed/u", "nowhere.npy", "nowhere.npy");
  with("/receivers", Json::array(), "observed.u: the job has no receiver of u; it records: nothing");
  with("/gradient", {{"parameters", {"vq"}}},
       "gradient.parameters: the equation acoustic has no parameter \"vq\". Did you mean \"vp\"?");
  Values wrong(2 * 3 * 120, 0.0);
  wrong[400] = std::nan("");
  study.write("o.npy", {2, 3, 120}, wrong);
  with("/observed/u", "o.npy", "found nan in ");
  with("/observed/u", "o.npy", "(shot 1, receiver 0, sample 40); allowed: finite numbers");
  with("/born", Json::object(), "born: missing; it holds the perturbation", "born");
  with("/born", {{"vq", 1}}, "born.vq: the equation acoustic has no parameter \"vq\"", "born");
  with("/born", {{"vp", {{"value", 1}, {"unit", "s/km"}}}}, "born.vp.unit: found \"s/km\"; a perturbation is",
       "born");
  with("/born", {{"vp", "observed/records_u.npy"}}, "born.vp: the array in ", "born");
}

TEST_CASE("A gradient writes over nothing without --force, and takes no snapshots") {
  Study study;
  study.command("gradient");
  const Outcome again = study.shop.command("gradient");
  CHECK(again.status == 2);
  CHECK(again.err.find("exists already; use --force") != std::string::npos);
  std::filesystem::remove(study.shop.out() / "records_u.npy");
  CHECK(study.shop.command("gradient").err.find("gradient_vp.npy exists already") != std::string::npos);
  study.shop.job["output"]["snapshots"] = {{"field", "u"}, {"every", 50}};
  const Outcome forced = study.shop.command("gradient", {"--force", "--json"});
  CHECK(forced.status == 0);
  CHECK(forced.err.find("warning: output.snapshots: `ondula gradient` takes none") != std::string::npos);
  CHECK(Json::parse(forced.out)["misfit"]["total"] > 0.0);
}

TEST_CASE("An interrupted gradient ends with status 130 and leaves nothing") {
  Workshop shop;
  shop.job["grid"]["shape"] = {12, 12};
  shop.job["absorb"]["width"] = 0;
  shop.job["time"]["steps"] = 100'000;
  shop.job["wavelet"]["ricker"]["frequency"] = 20;
  for (Json& source : shop.job["sources"]) source["at"] = {{"z", 50}, {"x", 50}};
  shop.job["receivers"] = {{{"field", "u"}, {"at", {{"z", 70}, {"x", 50}}}}};
  io::write_npy((shop.folder() / "o.npy").string(), io::Array{{2, 1, 100'000}, Values(200'000)},
                DType::float64, io::Existing::refuse);
  shop.job["observed"] = {{"u", "o.npy"}};
  const Outcome outcome = shop.command("gradient", {}, {{}, SIGINT, shop.out()});
  CAPTURE(outcome.err);
  CHECK(outcome.status == 130);
  CHECK(outcome.err.find("interrupted") != std::string::npos);
  CHECK(shop.files().empty());
}

}  // namespace
}  // namespace ondula::test
