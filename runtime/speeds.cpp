// Plane-wave symbols and their eigenvalues.
// SPDX-License-Identifier: MIT
#include "runtime/speeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>

#include "compiler/error.hpp"
#include "compiler/ir/evaluate.hpp"

namespace ondula {
namespace {

using ir::Expr;

/// Relative to the fastest wave of the cell: below, an eigenvalue c^2 is a wave that does not move. Double
/// roots of a characteristic polynomial carry the root of the rounding.
constexpr double still_diagonal = 1e-12;
constexpr double still_root = 1e-7;

using Direction = std::array<double, ir::max_axes>;

/// One product of the symbol: coefficient (by index) times a monomial of the direction.
struct Entry {
  std::size_t coefficient = 0;
  double scale = 1;
  std::array<int, ir::max_axes> power{};

  double at(const Direction& n) const {
    double value = scale;
    for (std::size_t a = 0; a < n.size(); ++a) {
      for (int k = 0; k < power[a]; ++k) value *= n[a];
    }
    return value;
  }
};

/// A matrix of sums of entries, row by row.
struct SymbolMatrix {
  std::size_t rows = 0, columns = 0;
  std::vector<std::vector<Entry>> entries;
  std::vector<Entry>& at(std::size_t i, std::size_t j) { return entries[i * columns + j]; }
  const std::vector<Entry>& at(std::size_t i, std::size_t j) const { return entries[i * columns + j]; }
};

/// The real roots of x^n + p[n-1] x^(n-1) + ... + p[0], all of whose roots are real: Laguerre's method with
/// deflation, which converges for such polynomials from anywhere.
std::vector<std::complex<double>> roots(std::vector<std::complex<double>> p) {
  using Complex = std::complex<double>;
  p.push_back(1.0);
  std::vector<Complex> found;
  while (p.size() > 1) {
    const auto n = static_cast<double>(p.size() - 1);
    Complex x = 0;
    for (int iteration = 0; iteration < 200; ++iteration) {
      Complex value = 0, slope = 0, half_curve = 0;
      for (std::size_t k = p.size(); k-- > 0;) {
        half_curve = half_curve * x + slope;
        slope = slope * x + value;
        value = value * x + p[k];
      }
      if (value == 0.0) break;
      const Complex g = slope / value;
      const Complex root = std::sqrt((n - 1) * (n * (g * g - 2.0 * half_curve / value) - g * g));
      const Complex plus = g + root, minus = g - root;
      const Complex denominator = std::abs(plus) > std::abs(minus) ? plus : minus;
      if (denominator == 0.0) break;
      const Complex step = n / denominator;
      x -= step;
      if (std::abs(step) <= 1e-15 * std::abs(x)) break;
    }
    found.push_back(x);
    for (std::size_t k = p.size() - 1; k-- > 0;) p[k] += x * p[k + 1];
    p.erase(p.begin());
  }
  return found;
}

/// The eigenvalues of a small matrix, from its characteristic polynomial (Faddeev and LeVerrier).
std::vector<std::complex<double>> eigenvalues(const std::vector<double>& a, std::size_t n) {
  double size = 0;
  for (const double x : a) size = std::max(size, std::fabs(x));
  if (!(size > 0) || !std::isfinite(size)) return std::vector<std::complex<double>>(n, size);
  std::vector<double> m(n * n, 0.0), product(n * n);
  std::vector<std::complex<double>> polynomial(n);
  double last = 1;
  for (std::size_t k = 1; k <= n; ++k) {
    for (std::size_t i = 0; i < n; ++i) m[i * n + i] += last;
    double trace = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::size_t l = 0; l < n; ++l) sum += a[i * n + l] / size * m[l * n + j];
        product[i * n + j] = sum;
      }
      trace += product[i * n + i];
    }
    m = product;
    last = -trace / static_cast<double>(k);
    polynomial[n - k] = last;
  }
  std::vector<std::complex<double>> result = roots(std::move(polynomial));
  for (auto& x : result) x *= size;
  return result;
}

class Symbol {
 public:
  Symbol(const ir::Program& program, const Scheme& scheme) : program_(program) {
    const auto& first = scheme.stages[0];
    if (scheme.second_order()) {
      matrices_.push_back(matrix(first, first, 2));
    } else {
      // As dt(v) = grad(p), dt(p) = div(v), or as dt(w) = laplacian(u), dt(u) = w.
      const auto& second = scheme.stages[1];
      const int degree = std::clamp(highest(first), 0, 2);
      matrices_.push_back(matrix(first, second, degree));
      matrices_.push_back(matrix(second, first, 2 - degree));
    }
    size_ = first.size();
  }

  std::size_t size() const { return size_; }
  /// The products of nodal expressions that stand in the symbol.
  const std::vector<std::vector<Expr>>& coefficients() const { return coefficients_; }

  /// The symbol at one cell, given its coefficients' values.
  void evaluate(const Direction& n, const std::vector<double>& values, std::vector<double>& out) const {
    const auto whole = [&](const SymbolMatrix& m) {
      std::vector<double> result(m.entries.size(), 0.0);
      for (std::size_t i = 0; i < m.entries.size(); ++i) {
        for (const Entry& e : m.entries[i]) result[i] += e.at(n) * values[e.coefficient];
      }
      return result;
    };
    out = whole(matrices_[0]);
    if (matrices_.size() == 1) return;
    const std::vector<double> left = out, right = whole(matrices_[1]);
    const std::size_t inner = matrices_[0].columns;
    out.assign(size_ * size_, 0.0);
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < inner; ++k) {
        for (std::size_t j = 0; j < size_; ++j)
          out[i * size_ + j] += left[i * inner + k] * right[k * size_ + j];
      }
    }
  }

  /// Where the symbol has entries at `n`: if on the diagonal alone, the eigenvalues are those.
  bool diagonal(const Direction& n) const {
    const std::vector<double> ones(coefficients_.size(), 1.0);
    const auto filled = [&](const SymbolMatrix& m, std::size_t i, std::size_t j) {
      return std::any_of(m.at(i, j).begin(), m.at(i, j).end(), [&](const Entry& e) { return e.at(n) != 0; });
    };
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < size_; ++j) {
        if (i == j) continue;
        if (matrices_.size() == 1 && filled(matrices_[0], i, j)) return false;
        for (std::size_t k = 0; matrices_.size() == 2 && k < matrices_[0].columns; ++k) {
          if (filled(matrices_[0], i, k) && filled(matrices_[1], k, j)) return false;
        }
      }
    }
    return true;
  }

  /// The diagonal over `count` cells at once: `rows` holds the coefficients' values, one row each.
  void diagonals(const Direction& n, const std::vector<std::vector<double>>& rows, std::size_t count,
                 std::vector<std::vector<double>>& out) const {
    out.assign(size_, {});
    std::vector<double> left(count), right(count);
    const auto sum = [&](const std::vector<Entry>& entries, std::vector<double>& into) {
      into.assign(count, 0.0);
      for (const Entry& e : entries) {
        const double scale = e.at(n);
        if (scale == 0) continue;
        for (std::size_t c = 0; c < count; ++c) into[c] += scale * rows[e.coefficient][c];
      }
    };
    for (std::size_t i = 0; i < size_; ++i) {
      if (matrices_.size() == 1) {
        sum(matrices_[0].at(i, i), out[i]);
        continue;
      }
      out[i].assign(count, 0.0);
      for (std::size_t k = 0; k < matrices_[0].columns; ++k) {
        sum(matrices_[0].at(i, k), left);
        sum(matrices_[1].at(k, i), right);
        for (std::size_t c = 0; c < count; ++c) out[i][c] += left[c] * right[c];
      }
    }
  }

 private:
  static int order_of(const Term& term) {
    int order = 0;
    for (const Slope& slope : term.slopes) order += slope.order;
    return order;
  }

  static int highest(const std::vector<FieldTerms>& rows) {
    int highest = 0;
    for (const FieldTerms& row : rows) {
      for (const Term& term : row.terms) highest = std::max(highest, order_of(term));
    }
    return highest;
  }

  SymbolMatrix matrix(const std::vector<FieldTerms>& rows, const std::vector<FieldTerms>& columns,
                      int degree) {
    SymbolMatrix m{rows.size(), columns.size(), {}};
    m.entries.resize(m.rows * m.columns);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const Term& term : rows[i].terms) {
        const int order = order_of(term);
        Entry entry;
        entry.scale = term.scale;
        for (const Slope& slope : term.slopes)
          entry.power[static_cast<std::size_t>(slope.axis)] += slope.order;
        if (order < degree) continue;
        if (order > degree) {
          throw UserError(
              fmt::format("equation {}: the update of {} has a derivative of order {}: waves of such an "
                          "equation have no speed of their own",
                          program_.equation, rows[i].field, order));
        }
        entry.coefficient = coefficient(term);
        const auto j = std::find_if(columns.begin(), columns.end(),
                                    [&](const FieldTerms& f) { return f.field == term.field; });
        m.at(i, static_cast<std::size_t>(j - columns.begin())).push_back(entry);
      }
    }
    return m;
  }

  std::size_t coefficient(const Term& term) {
    std::vector<Expr> factors;
    for (const TermFactor& factor : term.factors) factors.push_back(factor.nodal);
    const auto found = std::find(coefficients_.begin(), coefficients_.end(), factors);
    if (found != coefficients_.end()) return static_cast<std::size_t>(found - coefficients_.begin());
    coefficients_.push_back(std::move(factors));
    return coefficients_.size() - 1;
  }

  const ir::Program& program_;
  std::vector<SymbolMatrix> matrices_;
  std::vector<std::vector<Expr>> coefficients_;
  std::size_t size_ = 0;
};

/// Axes and diagonals, one of each opposite pair; in two dimensions every 15 degrees.
std::vector<Direction> directions(int dims) {
  if (dims == 1) return {{1, 0, 0}};
  std::vector<Direction> result;
  if (dims == 2) {
    for (int k = 0; k < 12; ++k) {
      const double angle = k * std::numbers::pi / 12;
      result.push_back(k == 6 ? Direction{0, 1, 0} : Direction{std::cos(angle), std::sin(angle), 0});
    }
    return result;
  }
  for (int code = 0; code < 27; ++code) {
    const std::array<int, 3> n = {code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1};
    const int leading = n[0] != 0 ? n[0] : n[1] != 0 ? n[1] : n[2];
    if (leading <= 0) continue;
    const double length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    result.push_back({n[0] / length, n[1] / length, n[2] / length});
  }
  return result;
}

/// c^2 of one cell, real parts sorted; complex ones are reported as NaN.
std::vector<double> squares(const std::vector<double>& matrix, std::size_t n) {
  std::vector<double> result;
  double size = 0;
  const auto values = n == 1 ? std::vector<std::complex<double>>{matrix[0]} : eigenvalues(matrix, n);
  for (const auto& x : values) size = std::max(size, std::abs(x));
  for (const auto& x : values) {
    if (!(std::fabs(x.imag()) <= 1e-5 * size)) return std::vector<double>(n, std::nan(""));
    result.push_back(x.real());
  }
  std::sort(result.begin(), result.end());
  return result;
}

class Extremes {
 public:
  Extremes(const ir::Program& program, const std::vector<std::int64_t>& shape, double still)
      : program_(program), shape_(shape), still_(still) {}

  /// c^2 of the waves of one cell, of which `top` is the largest.
  void add(std::int64_t cell, double square, double top) {
    if (!std::isfinite(square) || square < -still_ * std::fabs(top)) {
      throw UserError(
          fmt::format("equation {}: at cell ({}) a squared wave speed is {:.6g} m^2/s^2; it must be 0 "
                      "or more and finite",
                      program_.equation, fmt::join(indices(cell), ", "), square));
    }
    if (square > fastest_) {
      fastest_ = square;
      where_ = cell;
    }
    if (square > still_ * top && (slowest_ == 0 || square < slowest_)) slowest_ = square;
  }

  Speeds result() const {
    if (!(fastest_ > 0))
      throw UserError(fmt::format("equation {}: no wave moves in this model", program_.equation));
    return {std::sqrt(fastest_), std::sqrt(slowest_), indices(where_)};
  }

 private:
  std::vector<std::int64_t> indices(std::int64_t flat) const {
    std::vector<std::int64_t> cell(shape_.size());
    for (std::size_t a = shape_.size(); a-- > 0;) {
      cell[a] = flat % shape_[a];
      flat /= shape_[a];
    }
    return cell;
  }

  const ir::Program& program_;
  const std::vector<std::int64_t>& shape_;
  double still_;
  double fastest_ = 0, slowest_ = 0;
  std::int64_t where_ = 0;
};

/// A function that is not analytic: of what holds for some parameters nothing follows for others.
bool piecewise(Expr e) {
  static constexpr std::array<const char*, 6> names = {"abs", "min", "max", "less", "less_equal", "where"};
  const bool own =
      e->kind == ir::Kind::function && std::find(names.begin(), names.end(), e->name) != names.end();
  return own || std::any_of(e->args.begin(), e->args.end(), piecewise);
}

/// Speeds that do not depend on direction for parameters drawn at random do so for none: their difference is
/// an algebraic function of the parameters.
bool isotropic(const ir::Program& program, const Symbol& symbol, const std::vector<Direction>& all) {
  for (int sample = 1; sample <= 3; ++sample) {
    std::map<std::string, double> parameters;
    for (std::size_t k = 0; k < program.parameters.size(); ++k) {
      double whole = 0;
      parameters[program.parameters[k].name] =
          1 + std::modf(std::numbers::phi * static_cast<double>(sample * 7 + static_cast<int>(k) * 3 + 1),
                        &whole);
    }
    std::vector<double> values;
    for (const auto& factors : symbol.coefficients()) {
      double product = 1;
      std::vector<double> out;
      for (const Expr factor : factors) {
        ir::nodal_values(factor, {}, [&](const std::string& name) { return &parameters.at(name); }, 1, out);
        product *= out[0];
      }
      values.push_back(product);
    }
    std::vector<double> matrix, first;
    for (const Direction& n : all) {
      symbol.evaluate(n, values, matrix);
      const std::vector<double> now = squares(matrix, symbol.size());
      if (first.empty()) first = now;
      for (std::size_t i = 0; i < now.size(); ++i) {
        if (!(std::fabs(now[i] - first[i]) <= 1e-5 * std::fabs(first.back()))) return false;
      }
    }
  }
  return true;
}

/// The coefficients of `count` cells from `begin` on, one row each.
void coefficient_rows(const Symbol& symbol, const loop::Models& models, std::int64_t begin,
                      std::int64_t count, std::vector<std::vector<double>>& rows) {
  std::map<std::string, std::vector<double>> parameters;
  const auto parameter = [&](const std::string& name) {
    auto& row = parameters[name];
    const loop::ModelArray& array = models.at(name);
    if (row.empty()) {
      row.resize(static_cast<std::size_t>(count));
      for (std::int64_t i = 0; i < count; ++i) row[static_cast<std::size_t>(i)] = array[begin + i];
    }
    return static_cast<const double*>(row.data());
  };
  rows.resize(symbol.coefficients().size());
  std::vector<double> values;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    rows[c].assign(static_cast<std::size_t>(count), 1.0);
    for (const Expr factor : symbol.coefficients()[c]) {
      ir::nodal_values(factor, {}, parameter, static_cast<std::size_t>(count), values);
      for (std::size_t i = 0; i < values.size(); ++i) rows[c][i] *= values[i];
    }
  }
}

/// The speeds an author states.
Speeds declared(const ir::Program& program, const loop::Models& models,
                const std::vector<std::int64_t>& shape) {
  std::int64_t nodes = 1;
  for (const std::int64_t n : shape) nodes *= n;
  if (std::all_of(models.begin(), models.end(), [](const auto& m) { return m.second.is_constant(); }))
    nodes = 1;
  Extremes extremes(program, shape, still_diagonal);
  std::int64_t cell = 0;
  std::map<std::string, double> values;
  const auto parameter = [&](const std::string& name) {
    values[name] = models.at(name)[cell];
    return static_cast<const double*>(&values[name]);
  };
  std::vector<double> out;
  for (; cell < nodes; ++cell) {
    std::array<double, 2> squares{};
    for (std::size_t k = 0; k < 2; ++k) {
      ir::nodal_values(k == 0 ? program.speeds.fastest : program.speeds.slowest, {}, parameter, 1, out);
      squares[k] = out[0] < 0 ? -out[0] * out[0] : out[0] * out[0];
    }
    for (const double square : squares) extremes.add(cell, square, squares[0]);
  }
  return extremes.result();
}

}  // namespace

Speeds speeds(const ir::Program& physical, const Scheme& scheme, const loop::Models& models,
              const std::vector<std::int64_t>& shape) {
  if (physical.speeds.fastest) return declared(physical, models, shape);
  const Symbol symbol(physical, scheme);
  std::vector<Direction> all = directions(physical.dims());
  const bool smooth = std::none_of(
      symbol.coefficients().begin(), symbol.coefficients().end(),
      [](const auto& factors) { return std::any_of(factors.begin(), factors.end(), piecewise); });
  if (smooth && isotropic(physical, symbol, all)) all = {{1, 0, 0}};
  const bool simple = all.size() == 1 && symbol.diagonal(all[0]);
  std::int64_t nodes = 1;
  for (const std::int64_t n : shape) nodes *= n;
  const bool constant =
      std::all_of(models.begin(), models.end(), [](const auto& m) { return m.second.is_constant(); });
  if (constant) nodes = 1;

  Extremes extremes(physical, shape, simple ? still_diagonal : still_root);
  constexpr std::int64_t chunk = 4096;
  std::vector<std::vector<double>> rows, diagonals;
  std::vector<double> values(symbol.coefficients().size()), before, matrix;
  for (std::int64_t begin = 0; begin < nodes; begin += chunk) {
    const std::int64_t count = std::min(chunk, nodes - begin);
    coefficient_rows(symbol, models, begin, count, rows);
    if (simple) symbol.diagonals(all[0], rows, static_cast<std::size_t>(count), diagonals);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto cell = static_cast<std::size_t>(i);
      if (simple) {
        double top = 0;
        for (const auto& d : diagonals) top = std::max(top, d[cell]);
        for (const auto& d : diagonals) extremes.add(begin + i, d[cell], top);
        continue;
      }
      for (std::size_t c = 0; c < values.size(); ++c) values[c] = rows[c][cell];
      if (values == before) continue;
      before = values;
      for (const Direction& n : all) {
        symbol.evaluate(n, values, matrix);
        const std::vector<double> now = squares(matrix, symbol.size());
        for (const double square : now) extremes.add(begin + i, square, now.back());
      }
    }
  }
  return extremes.result();
}

}  // namespace ondula
