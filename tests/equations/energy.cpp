// Discrete energies, from nodal models and the values of fields.
// SPDX-License-Identifier: MIT
#include "tests/equations/energy.hpp"

#include <algorithm>
#include <cmath>

#include "compiler/passes/stencil.hpp"

namespace ondula::test {
namespace {

class Grid {
 public:
  explicit Grid(const EngineCase& c) : case_(c), dims_(c.domain.dims), axes_(default_axes(dims_)) {}

  /// f(index, flat) at each point of the padded grid.
  template <class F>
  void each(const F& f) const {
    std::size_t flat = 0;
    ir::Extents i{};
    for (i[0] = 0; i[0] < case_.domain.total(0); ++i[0]) {
      for (i[1] = 0; i[1] < case_.domain.total(1); ++i[1]) {
        for (i[2] = 0; i[2] < case_.domain.total(2); ++i[2]) f(i, flat++);
      }
    }
  }

  int dims() const { return dims_; }
  const std::string& axis(int a) const { return axes_[static_cast<std::size_t>(a)]; }
  bool last(const ir::Extents& i, int a) const {
    return i[static_cast<std::size_t>(a)] == case_.domain.total(a) - 1;
  }

  /// A model at a padded node.
  double model(const std::string& name, const ir::Extents& i) const {
    const auto& values = case_.models.at(name);
    if (values.size() == 1) return values[0];
    std::int64_t flat = 0;
    for (std::size_t a = 0; a < i.size(); ++a) {
      const std::int64_t node =
          std::clamp<std::int64_t>(i[a] - case_.domain.pad[a][0], 0, case_.domain.shape[a] - 1);
      flat = flat * case_.domain.shape[a] + node;
    }
    return values[static_cast<std::size_t>(flat)];
  }

  /// The product over axes with nodes (all but the half ones) of 1/2 on the rows of mirroring faces.
  double weight(const ir::Extents& i, std::initializer_list<int> half) const {
    double product = 1;
    for (int a = 0; a < dims_; ++a) {
      if (std::find(half.begin(), half.end(), a) != half.end()) continue;
      const auto& faces = case_.domain.faces[static_cast<std::size_t>(a)];
      const bool row =
          (i[static_cast<std::size_t>(a)] == 0 && mirrors(faces[0])) || (last(i, a) && mirrors(faces[1]));
      product *= row ? 0.5 : 1.0;
    }
    return product;
  }

 private:
  static bool mirrors(FaceKind face) { return face == FaceKind::free_surface || face == FaceKind::rigid; }

  const EngineCase& case_;
  int dims_;
  std::vector<std::string> axes_;
};

ir::Extents up(ir::Extents i, int a) {
  ++i[static_cast<std::size_t>(a)];
  return i;
}

/// sigma : C^-1 : sigma of the normal stresses at a node.
double normal_part(const Grid& grid, const Fields& s, const ir::Extents& i, std::size_t flat) {
  const double vp = grid.model("vp", i), vs = grid.model("vs", i), rho = grid.model("rho", i);
  const double mu = rho * vs * vs, lambda = rho * vp * vp - 2 * mu;
  double squares = 0, trace = 0;
  for (int a = 0; a < grid.dims(); ++a) {
    const double value = s.at("s." + grid.axis(a) + grid.axis(a))[flat];
    squares += value * value;
    trace += value;
  }
  return (squares - lambda / (grid.dims() * lambda + 2 * mu) * trace * trace) / (2 * mu);
}

/// The mean of 1/mu over the four nodes around the half cell along a and b.
double shear_compliance(const Grid& grid, const ir::Extents& i, int a, int b) {
  double sum = 0;
  for (const ir::Extents& node : {i, up(i, a), up(i, b), up(up(i, a), b)}) {
    const double vs = grid.model("vs", node);
    sum += 1 / (grid.model("rho", node) * vs * vs);
  }
  return sum / 4;
}

/// du/dx_a half a cell above node i; u is odd about a free face's row, 0 beyond other faces.
double slope(const EngineCase& c, const std::vector<double>& u, const ir::Extents& i, std::size_t flat,
             int a) {
  const auto axis = static_cast<std::size_t>(a);
  std::int64_t stride = 1;
  for (int b = 2; b > a; --b) stride *= c.domain.total(b);
  const auto value = [&](std::int64_t k) {
    const std::int64_t last = c.domain.total(a) - 1;
    double sign = 1;
    while (k < 0 || k > last) {
      if (c.domain.faces[axis][k < 0 ? 0 : 1] != FaceKind::free_surface) return 0.0;
      k = k < 0 ? -k : 2 * last - k;
      sign = -sign;
    }
    return sign * u[static_cast<std::size_t>(static_cast<std::int64_t>(flat) + (k - i[axis]) * stride)];
  };
  const auto weights = passes::staggered(c.order);
  double sum = 0;
  for (std::size_t m = 0; m < weights.size(); ++m) {
    const auto reach = static_cast<std::int64_t>(m);
    sum += weights[m].value() * (value(i[axis] + 1 + reach) - value(i[axis] - reach));
  }
  return sum / c.domain.spacing[axis];
}

}  // namespace

double elastic_energy(const EngineCase& c, const Fields& before, const Fields& after) {
  const Grid grid(c);
  double kinetic = 0, strain = 0;
  grid.each([&](const ir::Extents& i, std::size_t flat) {
    strain += grid.weight(i, {}) * normal_part(grid, before, i, flat);
    for (int a = 0; a < grid.dims(); ++a) {
      if (grid.last(i, a)) continue;
      const std::string name = "v." + grid.axis(a);
      const double rho = (grid.model("rho", i) + grid.model("rho", up(i, a))) / 2;
      kinetic += grid.weight(i, {a}) * rho * before.at(name)[flat] * after.at(name)[flat];
      for (int b = a + 1; b < grid.dims(); ++b) {
        if (grid.last(i, b)) continue;
        const double s = before.at("s." + grid.axis(a) + grid.axis(b))[flat];
        strain += grid.weight(i, {a, b}) * s * s * shear_compliance(grid, i, a, b);
      }
    }
  });
  return (kinetic + strain) / 2;
}

double density_energy(const EngineCase& c, const std::vector<double>& now, const std::vector<double>& next) {
  const Grid grid(c);
  double kinetic = 0, strain = 0;
  grid.each([&](const ir::Extents& i, std::size_t flat) {
    const double vp = grid.model("vp", i), rate = (next[flat] - now[flat]) / c.dt;
    kinetic += rate * rate / (grid.model("rho", i) * vp * vp);
    for (int a = 0; a < grid.dims(); ++a) {
      if (grid.last(i, a)) continue;
      const double rho = (grid.model("rho", i) + grid.model("rho", up(i, a))) / 2;
      strain += slope(c, now, i, flat, a) * slope(c, next, i, flat, a) / rho;
    }
  });
  return (kinetic + strain) / 2;
}

}  // namespace ondula::test
