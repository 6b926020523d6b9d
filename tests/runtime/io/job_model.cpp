// Models: units, floors, shapes, and values that are refused.
// SPDX-License-Identifier: MIT
#include "runtime/io/job_model.hpp"

#include <cmath>
#include <filesystem>
#include <limits>

#include "runtime/io/npy.hpp"
#include "tests/runtime/io/job_text.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace ondula;
using namespace ondula::io;
using namespace ondula::job_test;

namespace {

Grid grid_of(std::vector<std::int64_t> shape) {
  Grid grid;
  grid.axes =
      shape.size() == 2 ? std::vector<std::string>{"z", "x"} : std::vector<std::string>{"z", "y", "x"};
  grid.spacing.assign(shape.size(), 10);
  grid.origin.assign(shape.size(), 0);
  grid.shape = std::move(shape);
  return grid;
}

/// A model file that holds an array, removed when it goes.
class ModelFile {
 public:
  explicit ModelFile(const Array& array) {
    write_npy(path_.string(), array, DType::float64, Existing::replace);
  }
  ModelSpec spec() const {
    ModelSpec spec;
    spec.kind = ModelSpec::Kind::npy;
    spec.file = path_.string();
    return spec;
  }

 private:
  ondula::test::TemporaryDirectory folder_;
  std::filesystem::path path_ = folder_.path() / "model.npy";
};

std::string load_complaint(const Array& array, const Grid& grid) {
  const ModelFile file(array);
  std::vector<std::string> warnings;
  return ondula::test::message_of<UserError>(
      [&] { load_model("models.vp", file.spec(), grid, "m/s", warnings); });
}

std::string check_complaint(double bad, ValueDomain domain) {
  Array array{{2, 3}, {1500, 1500, 1500, 1500, bad, 1500}};
  return ondula::test::message_of<UserError>(
      [&] { check_model("models.vp", array, grid_of({2, 3}), "m/s", domain); });
}

double converted(double stored, const std::string& stored_unit, const std::string& unit) {
  ModelSpec spec;
  spec.number = stored;
  spec.unit = stored_unit;
  std::vector<std::string> warnings;
  return load_model("models.vp", spec, grid_of({2, 3}), unit, warnings).data[0];
}

}  // namespace

TEST_CASE("a number stays one value") {
  ModelSpec spec;
  spec.number = 1500;
  std::vector<std::string> warnings;
  const Array array = load_model("models.vp", spec, grid_of({2000, 2000, 2000}), "m/s", warnings);
  CHECK(array.shape.empty());
  CHECK(array.data == std::vector<double>{1500});
  CHECK(warnings.empty());
}

TEST_CASE("a model file is read onto the grid") {
  const ModelFile file(Array{{2, 3}, {1500, 1600, 1700, 1800, 1900, 2000}});
  std::vector<std::string> warnings;
  const Array array = load_model("models.vp", file.spec(), grid_of({2, 3}), "m/s", warnings);
  CHECK(array.shape == std::vector<std::int64_t>{2, 3});
  CHECK(array.data[5] == 2000);
  CHECK(warnings.empty());
}

TEST_CASE("E1, E10: a rank that is not the grid's prints both shapes, a zero extent or not") {
  check_mentions(load_complaint(Array{{1, 2, 3}, std::vector<double>(6, 1500)}, grid_of({2, 3})),
                 {"models.vp", "has 3 axes, shape (1, 2, 3)", "the grid has 2, shape (2, 3) (z, x)"});
  check_mentions(load_complaint(Array{{0, 2, 3}, {}}, grid_of({2, 3})),
                 {"has 3 axes, shape (0, 2, 3)", "shape (2, 3) (z, x)"});
}

TEST_CASE("E17: a shape that is not the grid's prints both, and suggests swapped axes where they fit") {
  check_mentions(load_complaint(Array{{3, 2}, std::vector<double>(6, 1500)}, grid_of({2, 3})),
                 {"has shape (3, 2)", "the grid has shape (2, 3)", "axes seem swapped"});
  const std::string other = load_complaint(Array{{2, 4}, std::vector<double>(8, 1500)}, grid_of({2, 3}));
  check_mentions(other, {"has shape (2, 4)", "(2, 3)"});
  CHECK(other.find("swapped") == std::string::npos);
}

TEST_CASE("stored units become the parameter's own") {
  CHECK(converted(1.5, "km/s", "m/s") == doctest::Approx(1500));
  CHECK(converted(5000, "ft/s", "m/s") == doctest::Approx(1524));
  CHECK(converted(0.25, "s^2/km^2", "m/s") == doctest::Approx(2000));
  CHECK(converted(1e-6, "s^2/m^2", "m/s") == doctest::Approx(1000));
  CHECK(converted(0.5, "s/km", "m/s") == doctest::Approx(2000));
  CHECK(converted(2.1, "g/cm^3", "kg/m^3") == doctest::Approx(2100));
  CHECK(converted(3, "GPa", "Pa") == doctest::Approx(3e9));
  CHECK(converted(1500, "m/s", "m/s") == 1500);
}

TEST_CASE("a unit of another quantity is refused with those that fit") {
  CHECK_THROWS_WITH_AS(
      converted(1, "g/cm^3", "m/s"),
      doctest::Contains("models.vp.unit: found \"g/cm^3\", but the parameter is in m/s; allowed: m/s, km/s"),
      UserError);
  CHECK_THROWS_WITH_AS(converted(1, "km/s", ""), doctest::Contains("the parameter is in no unit"), UserError);
  CHECK_THROWS_WITH_AS(converted(-0.25, "s^2/km^2", "m/s"),
                       doctest::Contains("found a slowness of -0.25 s^2/km^2"), UserError);
}

TEST_CASE("floor and ceiling apply in the parameter's unit and are counted") {
  const ModelFile file(Array{{2, 3}, {0.009, 1.6, 1.7, 1.8, 6, 7}});
  ModelSpec spec = file.spec();
  spec.unit = "km/s";
  spec.floor = 1500;
  spec.ceiling = 5000;
  std::vector<std::string> warnings;
  const Array array = load_model("models.vp", spec, grid_of({2, 3}), "m/s", warnings);
  CHECK(array.data[0] == 1500);
  CHECK(array.data[1] == 1600);
  CHECK(array.data[5] == 5000);
  REQUIRE(warnings.size() == 2);
  check_mentions(warnings[0], {"models.vp.floor: 1 of 6 values raised to 1500 m/s"});
  check_mentions(warnings[1], {"models.vp.ceiling: 2 of 6 values lowered to 5000 m/s"});
}

TEST_CASE("E21: values that look like km/s are warned of") {
  const ModelFile file(Array{{2, 3}, {1.5, 1.6, 1.7, 1.8, 1.9, 2}});
  std::vector<std::string> warnings;
  load_model("models.vp", file.spec(), grid_of({2, 3}), "m/s", warnings);
  REQUIRE(warnings.size() == 1);
  check_mentions(warnings[0], {"models.vp", "km/s"});
}

TEST_CASE("E14, A25: NaN, infinite, zero and negative values are refused with their index") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double bad : {std::nan(""), inf, -inf, 0.0, -1500.0}) {
    check_mentions(
        check_complaint(bad, ValueDomain::positive),
        {"models.vp: found ", "in the cell z = 1, x = 1", "a finite number > 0, in m/s", "1 of 6 values"});
  }
  CHECK(check_complaint(0, ValueDomain::nonnegative).empty());
  check_mentions(check_complaint(-1, ValueDomain::nonnegative), {"found -1", ">= 0"});
  CHECK(check_complaint(-1, ValueDomain::any).empty());
  check_mentions(check_complaint(std::nan(""), ValueDomain::any), {"found nan", "a finite number"});
  CHECK_THROWS_WITH_AS(
      check_model("models.vp", Array{{}, {0}}, grid_of({2, 3}), "m/s", ValueDomain::positive),
      "models.vp: found 0; allowed: a finite number > 0, in m/s", UserError);
}

TEST_CASE("a raw model is read in its own axis order") {
  const ondula::test::TemporaryDirectory folder;
  const std::filesystem::path path = folder.path() / "model.bin";
  const std::vector<float> stored = {1500, 1800, 1600, 1900, 1700, 2000};
  std::FILE* file = std::fopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  CHECK(std::fwrite(stored.data(), sizeof(float), stored.size(), file) == stored.size());
  std::fclose(file);
  Json json = small_job();
  json["grid"]["shape"] = {2, 3};
  json["order"] = 2;
  json["models"]["vp"] = Json::object({{"raw", path.string()}, {"axes", {"x", "z"}}});
  const Job job = parse(json);
  std::vector<std::string> warnings;
  const Array array = load_model("models.vp", job.models[0].second, job.grid, "m/s", warnings);
  CHECK(array.shape == std::vector<std::int64_t>{2, 3});
  CHECK(array.data == std::vector<double>{1500, 1600, 1700, 1800, 1900, 2000});
}
