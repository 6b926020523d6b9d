// Forces and moment rates: linear, reciprocal, refused where they cannot be.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>

#include "runtime/moment.hpp"
#include "tests/runtime/points/elastic.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/messages.hpp"

using namespace ondula;
using namespace ondula::test;

namespace {

const Grid square = grid({40, 42}, 10, {FaceKind::absorbing, 8});

std::vector<double> combined(const std::vector<double>& a, double x, const std::vector<double>& b, double y) {
  std::vector<double> sum(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) sum[i] = x * a[i] + y * b[i];
  return sum;
}

std::vector<double> one(SourceKind kind, const std::vector<double>& components, const std::string& field) {
  Shot shot;
  shot.sources.push_back(elastic_source(kind, components, {203, 177}));
  shot.receivers.push_back(elastic_receiver(field, {150, 280}));
  return elastic_traces(square, shot)[0];
}

void check_tensor(const std::vector<double>& found, const std::vector<double>& wanted) {
  CHECK(max_abs_diff(found, wanted) < 1e-15);
}

}  // namespace

TEST_CASE("Double couples follow strike, dip and rake with x north, y east, z down") {
  // Vertical plane striking north: left-lateral slip (rake 0) is M_xy = 1.
  check_tensor(double_couple(0, 90, 0), {0, 0, 0, 0, 0, 1, 0, 1, 0});
  // A plane striking north that dips 45 degrees east, slipping up dip: pressure along y, tension along z.
  check_tensor(double_couple(0, 45, 90), {1, 0, 0, 0, -1, 0, 0, 0, 0});
  // Horizontal plane, hanging wall moving north (strike 0, rake 0): M_xz = -1 since its normal points up.
  check_tensor(double_couple(0, 0, 0), {0, 0, -1, 0, 0, 0, -1, 0, 0});
  check_tensor(double_couple_2d(45), {1, 0, 0, -1});
  CHECK(double_couple_2d(30)[1] == doctest::Approx(0.5));
  CHECK(explosion(2) == std::vector<double>{1, 0, 0, 1});
}

TEST_CASE("Forces and moment rates are the sums of their components, each on its own points") {
  for (const char* field : {"v.z", "s.zx", "pressure"}) {
    CAPTURE(field);
    const auto z = one(SourceKind::force, {1, 0}, field), x = one(SourceKind::force, {0, 1}, field);
    const auto oblique = one(SourceKind::force, {2, -3}, field);
    CHECK(max_abs(oblique) > 0);
    CHECK(max_abs_diff(oblique, combined(z, 2, x, -3)) < 1e-13 * max_abs(oblique));
    const auto zz = one(SourceKind::moment_rate, {1, 0, 0, 0}, field),
               xx = one(SourceKind::moment_rate, {0, 0, 0, 1}, field);
    const auto blast = one(SourceKind::moment_rate, explosion(2), field);
    CHECK(max_abs_diff(blast, combined(zz, 1, xx, 1)) < 1e-13 * max_abs(blast));
  }
}

TEST_CASE("A moment rate is a couple of forces with the moment as their strength") {
  // M_zz at a point acts as forces -M/h and M/h at z - h/2 and z + h/2, M the integral of its rate.
  const auto slow = [](Source s, bool integrate) {
    s.wavelet = ricker_wavelet(15, 0.067, elastic_dt, elastic_steps);
    double sum = 0;
    for (double& w : s.wavelet) {
      const double rate = w;
      if (integrate) w = sum + 0.5 * elastic_dt * rate;
      sum += elastic_dt * rate;
    }
    return s;
  };
  Shot moment, pair;
  moment.sources.push_back(slow(elastic_source(SourceKind::moment_rate, {1, 0, 0, 0}, {203, 177}), false));
  for (const double side : {-1.0, 1.0})
    pair.sources.push_back(
        slow(elastic_source(SourceKind::force, {side / 10, 0}, {203 + 5 * side, 177}), true));
  for (Shot* shot : {&moment, &pair}) shot->receivers.push_back(elastic_receiver("v.x", {150, 280}));
  const auto a = elastic_traces(square, moment)[0], b = elastic_traces(square, pair)[0];
  CHECK(max_abs(a) > 0);
  // The pair's distance is a tenth of the shortest S wavelength.
  CHECK(max_abs_diff(a, b) < 0.05 * max_abs(a));
}

TEST_CASE("Reciprocity holds to rounding, on free and rigid faces too: what is folded in is read out alike") {
  Grid g = grid({26, 30}, 10);
  g.faces[0][0] = free_surface;
  const std::vector<std::pair<std::vector<double>, std::vector<double>>> pairs = {
      {{110, 90}, {163, 214}}, {{0, 90}, {140, 200}}, {{13, 117}, {0, 222}}, {{60, 0}, {120, 187}}};
  for (const auto& [a, b] : pairs) {
    CAPTURE(a[0]);
    CAPTURE(a[1]);
    Shot there, back;
    there.sources.push_back(elastic_source(SourceKind::force, {0, 1}, a));
    there.receivers.push_back(elastic_receiver("v.x", b));
    back.sources.push_back(elastic_source(SourceKind::force, {0, 1}, b));
    back.receivers.push_back(elastic_receiver("v.x", a));
    const auto forth = elastic_traces(g, there)[0], again = elastic_traces(g, back)[0];
    if (a[1] > 0) CHECK(max_abs(forth) > 0);
    CHECK(max_abs_diff(forth, again) <= 1e-11 * max_abs(forth));
  }
}

TEST_CASE(
    "Forces across free surfaces are the transposes of normal velocities there, on edges and in corners "
    "too") {
  // Free faces all around, every parameter noise; positions on rows, edges and corners, beside them, inside.
  for (int dims = 1; dims <= 3; ++dims) {
    const Grid g = grid(std::vector<std::int64_t>(static_cast<std::size_t>(dims), dims == 3 ? 11 : 14), 10,
                        free_surface);
    const double end = g.spacing[0] * static_cast<double>(g.shape[0] - 1);
    Random random(5);
    Propagator propagator(equations::elastic(), g, options(elastic_dt, 60, 4));
    for (const auto& [name, value] : {std::pair{"vp", 3000.0}, {"vs", 1700.0}, {"rho", 2200.0}}) {
      const double middle = value;
      propagator.set_model(name, on_nodes(g, [&](const std::vector<std::int64_t>&) {
                             return middle * (0.95 + 0.1 * random.uniform());
                           }));
    }
    const std::vector<double> places = {0, end, 4, end - 13.7, 0.4 * end};
    const auto position = [&] {
      std::vector<double> p;
      for (int a = 0; a < dims; ++a)
        p.push_back(places[static_cast<std::size_t>(random.uniform() * static_cast<double>(places.size()))]);
      return p;
    };
    for (int pair = 0; pair < (dims == 1 ? 6 : 14); ++pair) {
      const std::vector<double> a = position(), b = position();
      const auto component = [&](const std::vector<double>& at) {  // across a surface where there is one
        for (int axis = 0; axis < dims; ++axis) {
          const double x = at[static_cast<std::size_t>(axis)];
          if (x == 0 || x == end) return static_cast<std::size_t>(axis);
        }
        return static_cast<std::size_t>(dims - 1);
      };
      const auto trace = [&](const std::vector<double>& from, const std::vector<double>& to) {
        std::vector<double> force(static_cast<std::size_t>(dims), 0.0);
        force[component(from)] = 1;
        Shot shot;
        shot.sources.push_back(elastic_source(SourceKind::force, force, from));
        shot.receivers.push_back(elastic_receiver("v." + g.axes[component(to)], to));
        return rows(propagator.forward({&shot, 1})[0].begin()->second)[0];
      };
      const auto forth = trace(a, b), back = trace(b, a);
      CAPTURE(a);
      CAPTURE(b);
      CHECK(max_abs(forth) > 0);
      CHECK(max_abs_diff(forth, back) <= 1e-11 * max_abs(forth));
    }
  }
}

TEST_CASE("A force gives a medium its whole momentum, wherever it acts between free surfaces") {
  const Grid g = grid({16, 18}, 10, free_surface);
  for (const std::vector<double>& at :
       {std::vector<double>{0, 80}, {3, 77}, {75, 0}, {150, 170}, {0, 0}, {80, 80}}) {
    Propagator propagator(equations::elastic(), g, options(elastic_dt, 2, 8));
    propagator.set_model("vp", elastic_vp);
    propagator.set_model("vs", elastic_vs);
    propagator.set_model("rho", elastic_rho);
    Shot shot;
    shot.sources.push_back(elastic_source(SourceKind::force, {2, -3}, at));
    shot.sources.back().wavelet = {1, 0};
    propagator.forward({&shot, 1});
    for (const std::size_t axis : {0, 1}) {
      // Points on a free row own half a cell.
      const auto field = propagator.state().at("v." + g.axes[axis]);
      double momentum = 0;
      for (std::int64_t i = 0; i < 16; ++i) {
        for (std::int64_t k = 0; k < 18; ++k) {
          const std::int64_t across = axis == 0 ? k : i, last = axis == 0 ? 17 : 15;
          const double share = across == 0 || across == last ? 0.5 : 1.0;
          momentum += share * elastic_rho * 100 * field[static_cast<std::size_t>(i * 18 + k)];
        }
      }
      CAPTURE(at);
      CHECK(momentum == doctest::Approx(elastic_dt * (axis == 0 ? 2 : -3)).epsilon(1e-10));
    }
  }
}

TEST_CASE("A21: 50 forces in one cell equal one of their sum, the same bits every run") {
  Shot many, single;
  for (int k = 0; k < 50; ++k)
    many.sources.push_back(elastic_source(SourceKind::force, {0.1 * k, 1}, {203, 177}));
  single.sources.push_back(elastic_source(SourceKind::force, {0.1 * 49 * 25, 50}, {203, 177}));
  many.receivers.push_back(elastic_receiver("v.z", {150, 280}));
  single.receivers = many.receivers;
  const auto first = elastic_traces(square, many)[0];
  CHECK(max_abs_diff(first, elastic_traces(square, many)[0]) == 0);
  CHECK(max_abs_diff(first, elastic_traces(square, single)[0]) < 1e-12 * max_abs(first));
}

TEST_CASE("What is no force, tensor or source of an equation is refused by name") {
  const auto refused = [](const Source& s, const EquationDefinition& equation, const std::string& part) {
    Propagator p(equation, square, options(1e-3, 5, 4));
    for (const std::string& name : facts(equation, square.axes).parameters) p.set_model(name, 1500.0);
    Shot shot;
    shot.sources.push_back(s);
    check_mentions(refusal([&] { p.forward({&shot, 1}); }), {part});
  };
  refused(elastic_source(SourceKind::force, {1}, {100, 100}), equations::elastic(), "each of the axes z, x");
  refused(elastic_source(SourceKind::moment_rate, {1, 2, 3, 4}, {100, 100}), equations::elastic(),
          "not symmetric");
  refused(elastic_source(SourceKind::force, {1, NAN}, {100, 100}), equations::elastic(), "nan");
  refused(elastic_source(SourceKind::force, {1, 0}, {100, 100}), equations::acoustic(), "takes no force");
  refused(elastic_source(SourceKind::moment_rate, {1, 0, 0, 1}, {100, 100}), equations::acoustic(),
          "takes no moment rate");
  refused(elastic_source(SourceKind::force, {1, 0}, {100, 500}), equations::elastic(),
          "x = 500 m is outside");
}
