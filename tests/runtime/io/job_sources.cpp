// Forces, moment rates and combined receivers of a job: read, checked against the equation, written back.
// SPDX-License-Identifier: MIT
#include "tests/runtime/io/job_text.hpp"

using namespace ondula;
using namespace ondula::job_test;

namespace {

const std::string place = R"("at": {"z": 50, "x": 300})";

io::SourceSpec source_of(const std::string& keys) {
  Json job = small_job();
  job["sources"][0] = Json::parse("{" + keys + ", " + place + "}");
  return parse(job).sources[0];
}

std::string refusal_of(const std::string& keys) {
  Json job = small_job();
  job["sources"][0] = Json::parse("{" + keys + ", " + place + "}");
  return complaint(job);
}

}  // namespace

TEST_CASE("job: forces by axis or components, tensors by components or name") {
  CHECK(source_of(R"("kind": "force", "direction": "x")").components == std::vector<double>{0, 1});
  CHECK(source_of(R"("kind": "force", "direction": {"z": -2})").components == std::vector<double>{-2, 0});
  const auto kind = [](const std::string& tensor) {
    const io::SourceSpec s = source_of(R"("kind": "moment_rate", "tensor": )" + tensor);
    CHECK(s.kind == SourceKind::moment_rate);
    CHECK(s.field.empty());
    return s.components;
  };
  CHECK(kind(R"("explosion")") == std::vector<double>{1, 0, 0, 1});
  CHECK(kind(R"({"zz": 1, "zx": 3})") == std::vector<double>{1, 3, 3, 0});
  CHECK(kind(R"({"xz": 3, "zx": 3})") == std::vector<double>{0, 3, 3, 0});
  CHECK(kind(R"({"double_couple": {"dip": 45}})")[0] == doctest::Approx(1));
}

TEST_CASE("job: what a kind needs or cannot have is named") {
  check_mentions(refusal_of(R"("kind": "force")"), {"sources[0].direction", "missing"});
  check_mentions(refusal_of(R"("kind": "force", "direction": {"z": 0})"), {"sources[0].direction", "0"});
  check_mentions(refusal_of(R"("kind": "force", "direction": "y")"),
                 {"sources[0].direction", "Allowed: z, x"});
  check_mentions(refusal_of(R"("kind": "moment_rate")"), {"sources[0].tensor", "explosion"});
  check_mentions(refusal_of(R"("kind": "moment_rate", "tensor": {"zx": 1, "xz": 2})"),
                 {"sources[0].tensor", "symmetric"});
  check_mentions(refusal_of(R"("kind": "moment_rate", "tensor": {"yy": 1})"), {"sources[0].tensor", "yy"});
  check_mentions(refusal_of(R"("kind": "moment_rate", "tensor": {"double_couple": {"strike": 1}})"),
                 {"strike"});
  check_mentions(refusal_of(R"("field": "u", "direction": "z")"), {"sources[0].direction", "\"force\""});
}

TEST_CASE("job: forces, tensors and fibres written back give the same job") {
  Json job = small_job();
  job["sources"] = Json::parse(R"([
    {"kind": "force", "direction": {"z": 1, "x": -2}, "at": {"z": 50, "x": 300}},
    {"shot": 1, "kind": "moment_rate", "tensor": {"double_couple": {"dip": 30}}, "at": {"z": 50, "x": 300}}])");
  job["receivers"] = Json::parse(R"([
    {"field": "fibre", "direction": {"z": 1, "x": 1}, "at": {"z": 50, "x": 300}},
    {"field": "pressure", "at": {"z": 50, "x": 300}}])");
  job["time"]["substeps"] = 4;
  const io::Job first = parse(job);
  const io::Job again = parse(io::resolved(first));
  CHECK(again.substeps == 4);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(again.sources[i].kind == first.sources[i].kind);
    CHECK(again.sources[i].components == first.sources[i].components);
  }
  CHECK(again.receivers[0].direction == std::vector<double>{1, 1});
  CHECK(io::resolved(again) == io::resolved(first));
}

TEST_CASE("job: kinds and receivers an equation does not have are refused with what it has") {
  const io::EquationNames acoustic{"acoustic", {"vp"}, {"u"}, {"u"}, {"u"}, {}, {}, {}};
  const io::EquationNames elastic{"elastic", {"vp"},       {"v.z", "s.zz"}, {"v.z", "s.zz"},
                                  {},        {"pressure"}, {"v"},           {"s"}};
  Json job = small_job();
  const auto refused = [&](const io::EquationNames& names) {
    return ondula::test::message_of<UserError>([&] { io::check_names(parse(job), names); });
  };
  job["receivers"] = Json::array();
  job["sources"][0] = Json::parse(R"({"kind": "force", "direction": "z", "at": {"z": 50, "x": 300}})");
  check_mentions(refused(acoustic), {"sources[0].kind", "takes no force", "u"});
  CHECK(refused(elastic).empty());
  job["sources"][0]["field"] = "s";
  check_mentions(refused(elastic), {"sources[0].field", "Allowed: v"});
  job["sources"] = Json::array();
  job["receivers"] = Json::parse(R"([{"field": "presure", "at": {"z": 50, "x": 300}}])");
  check_mentions(refused(elastic), {"receivers[0].field", "Did you mean \"pressure\"?"});
  job["receivers"][0]["field"] = "v.x";
  job["receivers"][0]["direction"] = "z";
  check_mentions(complaint(job), {"receivers[0].direction", "fibre"});
}

TEST_CASE("A18: a moment rate on a free surface is warned of") {
  Json job = small_job();
  job["free_surface"] = {"z-"};
  job["sources"][0] =
      Json::parse(R"({"kind": "moment_rate", "tensor": "explosion", "at": {"z": 0, "x": 300}})");
  check_mentions(warnings_of(job), {"moment-rate source", "free surface"});
}
