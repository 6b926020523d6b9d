// Smallest eigenvalues over a model, row by row.
// SPDX-License-Identifier: MIT
#include "runtime/conditions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/error.hpp"
#include "runtime/loop/sensitivity.hpp"

namespace ondula {
namespace {

/// Of the largest entry: what rounding may make of a 0.
constexpr double rounding = 1e-10;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The smallest eigenvalue of a symmetric n by n matrix, by Jacobi rotations.
double smallest_eigenvalue(std::vector<double> a, std::size_t n) {
  for (int sweep = 0; sweep < 30; ++sweep) {
    double off = 0, size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) (i == j ? size : off) += a[i * n + j] * a[i * n + j];
    }
    if (off <= 1e-30 * size) break;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a[p * n + q] == 0) continue;
        const double angle = 0.5 * std::atan2(2 * a[p * n + q], a[q * n + q] - a[p * n + p]);
        const double c = std::cos(angle), s = std::sin(angle);
        for (std::size_t k = 0; k < n; ++k) {
          const double x = a[k * n + p], y = a[k * n + q];
          a[k * n + p] = c * x - s * y;
          a[k * n + q] = s * x + c * y;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double x = a[p * n + k], y = a[q * n + k];
          a[p * n + k] = c * x - s * y;
          a[q * n + k] = s * x + c * y;
        }
      }
    }
  }
  double smallest = a[0];
  for (std::size_t i = 1; i < n; ++i) smallest = std::min(smallest, a[i * n + i]);
  return smallest;
}

/// The worst point: how far below what is allowed, relative to the entries there.
struct Worst {
  double share = std::numeric_limits<double>::infinity();
  double value = 0;
  ir::Extents index{};
  bool asymmetric = false;
};

/// -inf where the matrix is no number, or not symmetric.
/// `entries`: the matrix, then what its rounding is a share of.
Worst judged(const std::vector<double>& entries, std::size_t n, const ir::Extents& index) {
  double size = 0;
  for (const double e : entries) size += std::fabs(e);
  Worst result{0, 0, index, false};
  if (!std::isfinite(size)) return {-std::numeric_limits<double>::infinity(), size, index, false};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (std::fabs(entries[i * n + j] - entries[j * n + i]) <= rounding * size) continue;
      return {-std::numeric_limits<double>::infinity(), entries[i * n + j] - entries[j * n + i], index, true};
    }
  }
  result.value = n == 1 ? entries[0]
                        : smallest_eigenvalue(
                              {entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(n * n)}, n);
  result.share = size > 0 ? result.value / size : 0;
  return result;
}

Worst worst_of(const Condition& condition, const loop::Sensitivity& sensitivity, const ir::Box& box) {
  const std::size_t n = condition.size;
  std::vector<std::vector<double>> values;
  for (const ir::Expr e : condition.entries) values.push_back(sensitivity.values(e, box));
  for (const ir::Expr e : condition.beside) values.push_back(sensitivity.values(e, box));
  Worst worst;
  std::vector<double> here(values.size()), before;
  Worst last;
  std::size_t k = 0;
  ir::Extents i{};
  for (i[0] = box[0].lo; i[0] < box[0].hi; ++i[0]) {
    for (i[1] = box[1].lo; i[1] < box[1].hi; ++i[1]) {
      for (i[2] = box[2].lo; i[2] < box[2].hi; ++i[2], ++k) {
        for (std::size_t e = 0; e < here.size(); ++e) here[e] = values[e][k];
        if (k == 0 || here != before) last = judged(here, n, i);
        before = here;
        if (last.share < worst.share) {
          worst = last;
          worst.index = i;
        }
      }
    }
  }
  return worst;
}

[[noreturn]] void refuse(const ir::Program& program, const Condition& condition, const ir::Domain& domain,
                         const Worst& worst) {
  std::vector<std::int64_t> cell;
  for (int axis = 0; axis < domain.dims; ++axis) {
    const std::int64_t node = worst.index[at(axis)] - domain.pad[at(axis)][0];
    cell.push_back(std::clamp<std::int64_t>(node, 0, domain.shape[at(axis)] - 1));
  }
  const std::string where = fmt::format("equation {}: at cell ({})", program.equation, fmt::join(cell, ", "));
  if (worst.asymmetric) {
    throw UserError(
        fmt::format("{} {} is not symmetric: two entries differ by {:.6g}; nobody knows its energy", where,
                    condition.what, worst.value));
  }
  throw UserError(fmt::format("{} {}{} is {:.6g}; it must be {}, or waves would grow", where,
                              condition.size > 1 ? "the smallest eigenvalue of " : "", condition.what,
                              worst.value, condition.strict ? "positive" : "0 or more"));
}

}  // namespace

void require_conditions(const ir::Program& program, const Scheme& scheme, const ir::Domain& domain,
                        const loop::Models& models, int threads) {
  if (scheme.conditions.empty()) return;
  const loop::Sensitivity sensitivity(domain, {}, models);
  const bool uniform =
      std::all_of(models.begin(), models.end(), [](const auto& m) { return m.second.is_constant(); });
  tbb::task_arena arena(threads > 0 ? threads : tbb::task_arena::automatic);
  for (const Condition& condition : scheme.conditions) {
    ir::Box box = domain.live(program.field(condition.field));
    for (int axis = domain.dims; axis < ir::max_axes; ++axis) box[at(axis)] = {0, 1};
    for (ir::Range& range : box) {
      if (uniform) range.hi = std::min(range.hi, range.lo + 1);
    }
    const Worst worst = arena.execute([&] {
      return tbb::parallel_reduce(
          tbb::blocked_range<std::int64_t>(box[0].lo, box[0].hi), Worst{},
          [&](const tbb::blocked_range<std::int64_t>& planes, Worst so_far) {
            ir::Box row = box;
            for (std::int64_t plane = planes.begin(); plane < planes.end(); ++plane) {
              row[0] = {plane, plane + 1};
              const bool deep = domain.dims == 3;
              for (std::int64_t r = box[1].lo; r < (deep ? box[1].hi : box[1].lo + 1); ++r) {
                if (deep) row[1] = {r, r + 1};
                const Worst found = worst_of(condition, sensitivity, row);
                if (found.share < so_far.share) so_far = found;
              }
            }
            return so_far;
          },
          [](const Worst& a, const Worst& b) { return b.share < a.share ? b : a; });
    });
    const bool holds = condition.strict ? worst.share > 0 : worst.share >= -rounding;
    if (!holds) refuse(program, condition, domain, worst);
  }
}

}  // namespace ondula
