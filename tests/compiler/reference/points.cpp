// Sources and receivers of the oracle.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "equations/equations.hpp"
#include "tests/compiler/reference/setup.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {

namespace {

constexpr double dt = 1e-3, speed = 1500;

reference::Executor<double> acoustic(const ir::Domain& domain) {
  reference::Executor<double> executor(program(equations::acoustic(), 2, 4), domain, {{"dt", dt}}, {});
  executor.set_parameter("vp", constant(domain, speed));
  return executor;
}

}  // namespace

TEST_CASE("reference: a source adds factor * weight * sample at its taps, once") {
  const ir::Domain domain = test::domain({12, 12}, 10, FaceKind::rigid);
  auto executor = acoustic(domain);
  const ir::PointSource source{"u", {{{5, 6, 0}, 0.25}, {{5, 7, 0}, 0.75}}, {2.0, -1.0}};
  executor.step(0, {&source, 1}, {}, {});
  std::vector<double> expected(144, 0.0);
  expected[flat_index(domain, 5, 6)] = dt * dt * speed * speed * 0.25 * 2;
  expected[flat_index(domain, 5, 7)] = dt * dt * speed * speed * 0.75 * 2;
  CHECK(max_abs_diff(executor.field("u"), expected) < 1e-15);
  executor.clear();
  executor.step(2, {&source, 1}, {}, {});  // past the end of the wavelet
  CHECK(max_abs(executor.field("u")) == 0);
}

TEST_CASE("reference: a raw source adds weight * sample") {
  const ir::Domain domain = test::domain({12, 12}, 10, FaceKind::rigid);
  auto executor = acoustic(domain);
  const ir::PointSource source{"u", {{{5, 6, 0}, 0.5}}, {3.0}, true};
  executor.step(0, {&source, 1}, {}, {});
  CHECK(executor.field("u")[flat_index(domain, 5, 6)] == 1.5);
}

TEST_CASE("reference: a record precedes the update of its step") {
  const ir::Domain domain = test::domain({12, 12}, 10, FaceKind::rigid);
  auto executor = acoustic(domain);
  executor.set_field("u", 0, sampled(domain, [](const ir::Extents& i) { return double(10 * i[0] + i[1]); }));
  const std::vector<ir::PointReceiver> receivers = {{"u", {{{3, 4, 0}, 1.0}}},
                                                    {"u", {{{3, 4, 0}, 0.5}, {{3, 5, 0}, -2.0}}}};
  std::vector<double> samples(2, 7.0);
  executor.step(0, {}, receivers, samples);
  CHECK(samples[0] == 34);
  CHECK(samples[1] == 17 - 70);
  executor.step(1, {}, receivers, samples);
  CHECK(samples[0] != 34);
}

TEST_CASE("reference: taps where a field does not live neither inject nor sample") {
  const ir::Domain domain = test::domain({12, 12}, 10, FaceKind::free_surface);
  auto executor = acoustic(domain);
  const ir::PointSource source{"u", {{{0, 6, 0}, 1.0}}, {1.0}, true};
  const ir::PointReceiver receiver{"u", {{{0, 6, 0}, 1.0}, {{4, 4, 0}, 0.0}}};
  double sample = 1;
  for (int n = 0; n < 2; ++n) executor.step(n, {&source, 1}, {&receiver, 1}, {&sample, 1});
  CHECK(sample == 0);
  CHECK(max_abs(executor.field("u")) == 0);
}

TEST_CASE("A21: many sources in one cell add up, with the same bits every time") {
  const ir::Domain domain = test::domain({12, 12}, 10, FaceKind::rigid);
  std::vector<ir::PointSource> sources;
  double sum = 0;
  for (int k = 0; k < 50; ++k) {
    sources.push_back({"u", {{{5, 5, 0}, 1.0}}, {1.0 / (k + 3)}});
    sum += 1.0 / (k + 3);
  }
  const auto result = [&](std::span<const ir::PointSource> which) {
    auto executor = acoustic(domain);
    for (int n = 0; n < 20; ++n) executor.step(n, which, {}, {});
    return executor.field("u");
  };
  const ir::PointSource one{"u", {{{5, 5, 0}, 1.0}}, {sum}};
  const auto all = result(sources);
  CHECK(max_abs(all) > 0);
  CHECK(max_abs_diff(all, result({&one, 1})) < 1e-13 * max_abs(all));
  CHECK(all == result(sources));
}

TEST_CASE("reference: a force feeds the velocity before the stress reads it") {
  const ir::Domain domain = test::domain({12, 12}, 10, FaceKind::rigid);
  reference::Executor<double> executor(program(equations::elastic(), 2, 4), domain, {{"dt", dt}}, {});
  executor.set_parameter("vp", constant(domain, 2000));
  executor.set_parameter("vs", constant(domain, 1000));
  executor.set_parameter("rho", constant(domain, 2500));
  const ir::PointSource force{"v.z", {{{5, 6, 0}, 1.0}}, {4.0}};
  const ir::PointReceiver receiver{"v.z", {{{5, 6, 0}, 1.0}}};
  double sample = 1;
  executor.step(0, {&force, 1}, {&receiver, 1}, {&sample, 1});
  CHECK(sample == 0);
  CHECK(executor.field("v.z")[flat_index(domain, 5, 6)] == doctest::Approx(dt / 2500 * 4).epsilon(1e-14));
  CHECK(max_abs(executor.field("s.zz")) > 0);
  const ir::PointSource moment{"s.xx", {{{5, 6, 0}, 1.0}}, {4.0}};
  executor.clear();
  executor.step(0, {&moment, 1}, {}, {});
  CHECK(executor.field("s.xx")[flat_index(domain, 5, 6)] == doctest::Approx(-dt * 4).epsilon(1e-14));
  CHECK(max_abs(executor.field("v.z")) == 0);
}

}  // namespace ondula::test
