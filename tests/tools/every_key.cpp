// Every key of a job changes what a run gives, or is refused.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "runtime/io/npy.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

using Json = nlohmann::ordered_json;

/// One key, as a JSON pointer, and another value than the base job has.
struct Change {
  const char* pointer;
  Json value;
};

void make_files(const Workshop& shop) {
  std::vector<double> values(41 * 51, 0.0);
  values[18 * 51 + 26] = 1e-4;
  io::write_npy((shop.folder() / "u.npy").string(), io::Array{{41, 51}, values}, DType::float64,
                io::Existing::replace);
}

/// A workshop whose job has one key changed, and the run of it.
struct Changed {
  Workshop shop;
  Outcome outcome;
  explicit Changed(const Change& change) {
    shop.job[Json::json_pointer(change.pointer)] = change.value;
    make_files(shop);
    outcome = shop.run();
  }
};

const std::vector<Change>& changes_of_records() {
  static const std::vector<Change> list = {
      {"/grid/shape", {43, 51}},
      {"/grid/spacing", {11, 10}},
      {"/grid/origin", {-5, 0}},
      {"/grid/periodic", {"x"}},
      {"/time/dt", 0.0011},
      {"/time/steps", 401},
      {"/time/t0", 0.001},
      {"/order", 2},
      {"/dtype", "float64"},
      {"/backend", "reference"},
      {"/models/vp", 2001},
      {"/models/vp", {{"value", 2.1}, {"unit", "km/s"}}},
      {"/absorb/width", 2},
      {"/absorb/frequency", 10},
      {"/absorb/velocity", 1000},
      {"/absorb/reflection", 0.5},
      {"/absorb/kappa", 2},
      {"/free_surface", {"z-"}},
      {"/initial", {{"u", "u.npy"}}},
      {"/initial", {{"u.previous", "u.npy"}}},
      {"/wavelet/ricker/frequency", 12},
      {"/wavelet/ricker/delay", 0.12},
      {"/wavelet", {{"gaussian", {{"frequency", 14}, {"delay", 0.11}, {"order", 1}}}}},
      {"/wavelet", {{"samples", {0, 1, 0}}}},
      {"/sources/0/at", {{"z", 210}, {"x", 247}}},
      {"/sources/0/at", {{"cell", {{"z", 20}, {"x", 25}}}}},
      {"/sources/0/strength", 2},
      {"/sources/0/scaling", "raw"},
      {"/sources/0/interpolation", "linear"},
      {"/sources/0/wavelet", {{"ricker", {{"frequency", 10}, {"delay", 0.15}}}}},
      {"/sources/1/shot", 0},
      {"/receivers/0/at/0", {{"z", 190}, {"x", 260}}},
      {"/receivers/0/interpolation", "linear"},
      {"/receivers/0/shots", {0}},
  };
  return list;
}

TEST_CASE("E8: every key of the physics changes the records") {
  Workshop base;
  REQUIRE(base.run().status == 0);
  const std::string records = read_file(base.out() / "records_u.npy");
  for (const Change& change : changes_of_records()) {
    CAPTURE(change.pointer);
    CAPTURE(change.value.dump());
    const Changed changed(change);
    CAPTURE(changed.outcome.err);
    REQUIRE(changed.outcome.status == 0);
    const auto file = changed.shop.out() / "records_u.npy";
    CHECK((!std::filesystem::exists(file) || read_file(file) != records));
  }
}

TEST_CASE("E8: keys of the output change the files") {
  const std::vector<Change> changes = {
      {"/output/pictures", true},
      {"/output/snapshots", {{"field", "u"}, {"every", 30}}},
      {"/output/directory", "out/deeper"},
      {"/output/records", "segy"},
      {"/output/records", {{"format", "su"}, {"endian", "little"}}},
  };
  Workshop base;
  REQUIRE(base.run().status == 0);
  for (const Change& change : changes) {
    CAPTURE(change.pointer);
    const Changed changed(change);
    REQUIRE(changed.outcome.status == 0);
    CHECK(changed.shop.files() != base.files());
  }
}

TEST_CASE("E8: what this version lacks is refused, not ignored") {
  const std::vector<Change> changes = {
      {"/equation", "elastic"},
      {"/grid/axes", {"z", "y"}},
      {"/time/substeps", 17},
      {"/backend", "opencl"},
      {"/device", -1},
      {"/models/rho", 1000},
      {"/sources/0/kind", "force"},
      {"/sources/0/field", "v.z"},
      {"/receivers/0/field", "pressure"},
      {"/receivers/0/shots", {5}},
      {"/memory", {{"mode", "segments"}}},
      {"/memory", {{"limits", {{"device", 1}}}}},
      {"/output/records", "sac"},
      {"/output/snapshots", {{"field", "v"}, {"every", 30}}},
      {"/mesh", {{"z", 2}}},
      {"/gradient", {{"parameters", {"vs"}}}},
      {"/observed", {{"v", "u.npy"}}},
      {"/born", {{"rho", 1}}},
      {"/invert", {{"parameters", {"vp"}}}},
      {"/threads", 0},
  };
  for (const Change& change : changes) {
    CAPTURE(change.pointer);
    CAPTURE(change.value.dump());
    const Changed changed(change);
    CAPTURE(changed.outcome.err);
    CHECK(changed.outcome.status == 2);
  }
}

TEST_CASE(
    "A run takes no notice of what gradients and linearised modelling are to do, and keeps it in run.json") {
  Workshop base;
  REQUIRE(base.run().status == 0);
  const std::vector<Change> changes = {{"/observed", {{"u", "not_there.npy"}}},
                                       {"/misfit", {{"kind", "envelope"}, {"mute", {{"before", 0.1}}}}},
                                       {"/gradient", {{"wavelet", true}, {"extent", "interior"}}},
                                       {"/born", {{"vp", "not_there.npy"}}}};
  for (const Change& change : changes) {
    CAPTURE(change.pointer);
    const Changed changed(change);
    REQUIRE_MESSAGE(changed.outcome.status == 0, changed.outcome.err);
    CHECK(read_file(changed.shop.out() / "records_u.npy") == read_file(base.out() / "records_u.npy"));
    const Json::json_pointer pointer(change.pointer);
    CHECK(changed.shop.report()["job"][pointer] != base.report()["job"][pointer]);
  }
}

TEST_CASE("A key set to its default gives the same bytes as the key left out") {
  Workshop base;
  REQUIRE(base.run().status == 0);
  const std::vector<Change> changes = {
      {"/time/substeps", 1},           {"/dtype", "float32"},           {"/threads", 1},
      {"/memory", {{"mode", "none"}}}, {"/memory", {{"mode", "full"}}}, {"/mesh", "auto"}};
  for (const Change& change : changes) {
    CAPTURE(change.pointer);
    const Changed changed(change);
    REQUIRE(changed.outcome.status == 0);
    CHECK(read_file(changed.shop.out() / "records_u.npy") == read_file(base.out() / "records_u.npy"));
  }
}

}  // namespace
}  // namespace ondula::test
