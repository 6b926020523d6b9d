// All faces are mirror images of each other: a run seen in a mirror, or along another axis, is the same run.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>

#include "equations/equations.hpp"
#include "tests/equations/energy.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

/// A change of axes: new axis a is old axis from[a], reversed where flip[a].
struct View {
  std::vector<std::size_t> from;
  std::vector<bool> flip;
};

/// Values over a grid of `shape` as `view` sees them; `half[a]`: half cells along the new axis a, whose last
/// entry is none.
std::vector<double> seen(const View& view, const ir::Extents& shape, const std::vector<double>& values,
                         const ir::HalfCells& half, double sign) {
  ir::Extents extents{1, 1, 1};
  for (std::size_t a = 0; a < view.from.size(); ++a) extents[a] = shape[view.from[a]];
  std::vector<double> result;
  ir::Extents i{};
  for (i[0] = 0; i[0] < extents[0]; ++i[0]) {
    for (i[1] = 0; i[1] < extents[1]; ++i[1]) {
      for (i[2] = 0; i[2] < extents[2]; ++i[2]) {
        ir::Extents old{};
        bool exists = true;
        for (std::size_t a = 0; a < view.from.size(); ++a) {
          const std::int64_t last = extents[a] - 1 - half[a];
          exists = exists && i[a] <= last;
          old[view.from[a]] = view.flip[a] ? last - i[a] : i[a];
        }
        const std::int64_t flat = (old[0] * shape[1] + old[1]) * shape[2] + old[2];
        result.push_back(exists ? sign * values[static_cast<std::size_t>(flat)] : 0.0);
      }
    }
  }
  return result;
}

EngineCase seen(const View& view, const EngineCase& c) {
  EngineCase result = c;
  for (std::size_t a = 0; a < view.from.size(); ++a) {
    const std::size_t from = view.from[a];
    result.domain.shape[a] = c.domain.shape[from];
    for (std::size_t side = 0; side < 2; ++side) {
      const std::size_t other = view.flip[a] ? 1 - side : side;
      result.domain.pad[a][side] = c.domain.pad[from][other];
      result.domain.faces[a][side] = c.domain.faces[from][other];
    }
  }
  for (auto& [name, values] : result.models) values = seen(view, c.domain.shape, values, {}, 1);
  return result;
}

/// `fields` of a run of `program` in `domain`, by the names they have in the view.
Fields seen(const View& view, const ir::Program& program, const ir::Domain& domain, const Fields& fields) {
  ir::Extents total{};
  for (int a = 0; a < ir::max_axes; ++a) total[static_cast<std::size_t>(a)] = domain.total(a);
  Fields result;
  for (const ir::Field& field : program.fields) {
    if (field.strip_axis >= 0) continue;
    double sign = 1;
    std::vector<std::size_t> old;
    for (const int axis : field.component) {
      const auto a = static_cast<std::size_t>(axis);
      if (view.flip[a]) sign = -sign;
      old.push_back(view.from[a]);
    }
    std::sort(old.begin(), old.end());
    std::string name = field.group + ".";
    for (const std::size_t axis : old) name += program.axes[axis];
    result[field.name] = seen(view, total, fields.at(name), field.stagger, sign);
  }
  return result;
}

EngineCase noise(const std::vector<std::int64_t>& shape, int order) {
  EngineCase c;
  c.domain = layered(shape, 5);
  c.order = order;
  c.dt = 8e-4;
  c.models["vp"] = scattered(c.domain, 2500, 3000, 1);
  c.models["vs"] = scattered(c.domain, -300, 1500, 2);  // some fluid
  for (double& vs : c.models["vs"]) vs = std::max(vs, 0.0);
  c.models["rho"] = scattered(c.domain, 1000, 2500, 3);
  return c;
}

void make_free(EngineCase& c, std::size_t axis, std::size_t side) {
  c.domain.faces[axis][side] = FaceKind::free_surface;
  c.domain.pad[axis][side] = 0;
}

Fields initial(const Running& running, const EngineCase& c) {
  Fields fields;
  unsigned seed = 20;
  for (const ir::Field& field : running.compilation.physical.fields) {
    if (field.strip_axis >= 0) continue;
    const double size = field.kind == ir::FieldKind::vector ? 1 : 4e6;
    fields[field.name] = padded_noise(c.domain, -size, size, ++seed);
  }
  return fields;
}

/// The largest difference, over the largest value, between the run in the view and the view of the run.
double difference(const EngineCase& c, const View& view) {
  constexpr int steps = 60;
  Running plain = on_host(equations::elastic(), c);
  const ir::Program& program = plain.compilation.physical;
  const Fields start = initial(plain, c);
  plain.set_fields(start);
  plain.steps(steps);
  const Fields expected = seen(view, program, c.domain, plain.fields());
  Running other = on_host(equations::elastic(), seen(view, c));
  other.set_fields(seen(view, program, c.domain, start));
  other.steps(steps);
  double worst = 0;
  for (const auto& [name, values] : other.fields()) {
    worst = detail::worse(worst, max_abs_diff(values, expected.at(name)) / max_abs(expected.at(name)));
  }
  return worst;
}

}  // namespace

TEST_CASE("elastic: a free face, an edge, a corner on the other side are mirror images, bit for bit") {
  ONDULA_NEEDS_CLANG();
  for (const DType dtype : {DType::float32, DType::float64}) {
    EngineCase c = noise({14, 19}, 8);
    c.dtype = dtype;
    make_free(c, 0, 0);
    CHECK(difference(c, {{0, 1}, {true, false}}) == 0);
    CHECK(difference(c, {{0, 1}, {false, true}}) == 0);
    make_free(c, 1, 0);
    CHECK(difference(c, {{0, 1}, {true, true}}) == 0);
  }
  EngineCase c = noise({9, 11, 10}, 4);
  make_free(c, 0, 0);
  CHECK(difference(c, {{0, 1, 2}, {true, false, false}}) == 0);
  make_free(c, 1, 0);
  CHECK(difference(c, {{0, 1, 2}, {false, true, false}}) == 0);
  make_free(c, 2, 1);
  CHECK(difference(c, {{0, 1, 2}, {true, true, true}}) == 0);
}

// Along another axis sums run in another order, so the bits differ.
TEST_CASE("elastic: free faces of the other axes are the same to rounding, in 2-D and 3-D") {
  ONDULA_NEEDS_CLANG();
  EngineCase plane = noise({14, 19}, 8);
  make_free(plane, 0, 0);
  double worst = difference(plane, {{1, 0}, {false, false}});
  EngineCase space = noise({9, 11, 10}, 4);
  make_free(space, 0, 0);
  for (const View& view : {View{{1, 0, 2}, {false, false, false}},
                           {{2, 1, 0}, {false, false, true}},
                           {{1, 2, 0}, {false, true, false}}}) {
    worst = detail::worse(worst, difference(space, view));
  }
  CHECK(worst < 1e-13);
  MESSAGE("at most ", worst);
}

}  // namespace ondula::test
