// <A x, y> = <x, A' y>: the gradient's way back is the transpose of the modelling, x being wavelets and
// initial states. SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "tests/runtime/gradient/pairs.hpp"
#include "tests/runtime/gradient/problem.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"

namespace ondula::test {
namespace {

/// |<Ax, y> - <x, A'y>|/(|Ax||y|), fields scaled to equal size; y is half the record, half noise, so that the
/// two products are of the size of what they are divided by.
double asymmetry(const Problem& p, std::uint64_t seed) {
  Propagator propagator = p.propagator();
  Random random(seed);
  double left = 0, records_norm = 0, y_norm = 0;
  const auto y_of = [&](std::int64_t, const std::map<std::string, Traces>& records) {
    AdjointSources y = records;
    for (auto& [field, traces] : y) {
      const double size = size_of(traces.data);
      for (double& v : traces.data) {
        const double record = v / size, sample = record / 2 + 2 * random.uniform() - 1;
        v = sample / size;
        left += record * sample;
        records_norm += record * record;
        y_norm += sample * sample;
      }
    }
    return Misfit{0, y};
  };
  GradientOptions options;
  options.wavelets = true;
  options.initial = !p.initial.empty();
  const Gradient gradient = propagator.gradient(p.shots, y_of, options);
  double right = 0;
  for (std::size_t s = 0; s < p.shots.size(); ++s) {
    for (std::size_t i = 0; i < p.shots[s].sources.size(); ++i) {
      const std::vector<double>& wavelet = p.shots[s].sources[i].wavelet;
      for (std::size_t k = 0; k < wavelet.size(); ++k) right += gradient.wavelets[s][i][k] * wavelet[k];
    }
  }
  for (const auto& [name, values] : p.initial) {
    const std::vector<double>& slopes = gradient.initial.at(name);
    for (std::size_t i = 0; i < values.size(); ++i) right += slopes[i] * values[i];
  }
  CHECK(std::fabs(left) > 0.05 * std::sqrt(records_norm * y_norm));
  return std::fabs(left - right) / std::sqrt(records_norm * y_norm);
}

/// Worst figures by type.
struct Figures {
  double float32 = 0, float64 = 0;
  int settings = 0;

  void add(const Setting& s) {
    CAPTURE(text(s));
    const double found = asymmetry(random_problem(s), s.seed + 7);
    CHECK(found < (s.dtype == DType::float32 ? 1e-5 : 1e-13));
    double& worst = s.dtype == DType::float32 ? float32 : float64;
    worst = detail::worse(worst, found);
    ++settings;
  }
  ~Figures() {
    MESSAGE(fmt::format("{} settings, largest asymmetry {:.1e} (float32), {:.1e} (float64)", settings,
                        float32, float64));
  }
};

/// z-, z+, y-, y+, x-, x+ of three axes, whose last ones serve fewer.
const std::vector<std::string> kinds_of_faces = {"llllll", "flllll", "lfllll", "llflll", "lllfll",
                                                 "llllfl", "lllllf", "ffffff", "flflfl", "flllpp",
                                                 "rrrrrr", "pppppp", "aaaaaa", "rllfpp", "arlrfr"};

std::string faces_of(const std::string& all, int dims) {
  return all.substr(static_cast<std::size_t>(6 - 2 * dims));
}

/// Columns: dims, order, faces, type, substeps, initial state, kappa and fluid.
const std::vector<std::size_t> levels = {3, 4, kinds_of_faces.size(), 2, 2, 2, 2, 2};

Setting setting_of(const std::string& equation, Backend backend, const Row& row) {
  Setting s;
  s.equation = equation;
  s.backend = backend;
  s.dims = static_cast<int>(row[0]) + 1;
  s.order = std::array{2, 4, 8, 12}[row[1]];
  s.faces = faces_of(kinds_of_faces[row[2]], s.dims);
  s.dtype = row[3] == 0 ? DType::float64 : DType::float32;
  s.substeps = row[4] == 0 ? 1 : 3;
  s.initial = row[5] == 1;
  s.kappa = row[6] == 0 ? 1 : 3;
  s.fluid = row[7] == 1;
  s.steps = s.dims < 3 ? 60 : backend == Backend::host ? 16 : 7;
  s.seed = 1 + row[2] + 16 * row[1];
  return s;
}

void dot_products(const std::string& equation, Backend backend, const std::function<bool(const Row&)>& some) {
  const auto allowed = [&](const Row& row) {
    if (row[6] == 1 && equation == "acoustic_density") return false;  // nested derivatives have kappa 1
    if (row[7] == 1 && equation != "elastic") return false;
    if (equation == "acoustic_density" && row[0] == 2 && row[1] == 3)
      return false;  // needs 11 nodes, see F11
    return full_matrices() || some(row);
  };
  Figures figures;
  const std::vector<Row> rows =
      full_matrices() ? whole_matrix(levels, allowed) : cover_by_pairs(levels, allowed);
  for (const Row& row : rows) figures.add(setting_of(equation, backend, row));
}

bool any(const Row&) { return true; }

}  // namespace

TEST_CASE("dot products, acoustic, reference") { dot_products("acoustic", Backend::reference, any); }

TEST_CASE("dot products, variable density, reference") {
  dot_products("acoustic_density", Backend::reference, any);
}

TEST_CASE("dot products, elastic, reference") {
  // Order 12 in 3-D takes as long as all else.
  dot_products("elastic", Backend::reference, [](const Row& row) { return row[0] != 2 || row[1] != 3; });
}

namespace {

// Kernels are one text for all faces and substeps, so a few orders and types meet all of them; the whole
// matrix comes with --full. In a fluid adjoints are kept unscaled, which is another text.
bool some_texts(const Row& row) {
  const std::size_t dims = row[0] + 1, order = row[1], kappa = row[6], fluid = row[7];
  const bool single = row[3] == 1;
  if (dims == 3) return order == 1 && !single && kappa == 0 && fluid == 0;
  if (dims == 2)
    return order == 2 ? single && kappa * fluid == 0 : order == 3 && !single && kappa + fluid == 0;
  return order == 0 && single && kappa == 0;
}

}  // namespace

TEST_CASE("dot products, acoustic, compiled kernels") {
  ONDULA_NEEDS_CLANG();
  dot_products("acoustic", Backend::host, some_texts);
}

TEST_CASE("dot products, variable density, compiled kernels") {
  ONDULA_NEEDS_CLANG();
  dot_products("acoustic_density", Backend::host, some_texts);
}

TEST_CASE("dot products, elastic, compiled kernels") {
  ONDULA_NEEDS_CLANG();
  dot_products("elastic", Backend::host, some_texts);
}

namespace {

/// The grid cut to n x n nodes.
Problem small_problem(const Setting& s, std::int64_t n) {
  Problem p = random_problem(s);
  const auto count = static_cast<std::size_t>(n * n);
  CHECK(p.nodes() > count);
  p.grid.shape = {n, n};
  for (auto* arrays : {&p.models, &p.initial}) {
    for (auto& [name, values] : *arrays) values.resize(count);
  }
  Random random(5);
  const auto inside = [&] {
    const double end = static_cast<double>(n - 1);
    return std::vector<double>{10 * end * random.uniform(), -20 + 11 * end * random.uniform()};
  };
  for (Source& source : p.shots[0].sources) source.position = inside();
  for (Receiver& receiver : p.shots[0].receivers) receiver.position = inside();
  return p;
}

}  // namespace

TEST_CASE("F11: the dot product holds on 5x5 cells at order 8, or is refused with the least size") {
  ONDULA_NEEDS_CLANG();
  double worst = 0;
  int refused = 0;
  for (const EquationDefinition& equation : equations::all()) {
    for (const std::string faces : {"l", "f", "flrl", "p"}) {
      for (const std::int64_t nodes : {5, 7}) {
        for (const Backend backend : {Backend::host, Backend::reference}) {
          Setting s;
          s.equation = equation.name();
          s.order = 8;
          s.faces = faces;
          s.backend = backend;
          s.initial = true;
          CAPTURE(text(s));
          CAPTURE(nodes);
          const Problem p = small_problem(s, nodes);
          // The adjoint of nested derivatives reaches 2*4 - 1 cells out of a layer: not into its image.
          if (s.equation == "acoustic_density" && faces == "flrl" && nodes < 7) {
            CHECK_THROWS_WITH_AS(
                p.propagator().gradient(p.shots, LeastSquares(p).function()),
                "axis z: 5 nodes between a layer and a face without one; the gradient of acoustic_density at "
                "order 8 needs 7",
                UserError);
            ++refused;
            continue;
          }
          const double found = asymmetry(p, 3);
          CHECK(found < 1e-13);
          worst = detail::worse(worst, found);
        }
      }
    }
  }
  CHECK(refused == 2);
  MESSAGE(fmt::format("largest asymmetry {:.1e}", worst));
}

}  // namespace ondula::test
