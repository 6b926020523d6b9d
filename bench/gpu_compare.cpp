// A GPU's records and gradients against the reference executor's.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/gpu_parts.hpp"
#include "compiler/error.hpp"
#include "equations/equations.hpp"

namespace ondula::bench {
namespace {

using Arrays = std::map<std::string, std::vector<double>>;

/// max|a - b| / max|b|; NaN where anything is not finite or b is zero all over.
double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0, size = 0;
  if (a.size() != b.size()) return std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return std::numeric_limits<double>::quiet_NaN();
    most = std::max(most, std::abs(a[i] - b[i]));
    size = std::max(size, std::abs(b[i]));
  }
  return most / size;
}

/// Of the worst array.
double difference(const Arrays& a, const Arrays& b) {
  double worst = a.size() == b.size() && !b.empty() ? 0 : std::numeric_limits<double>::quiet_NaN();
  for (const auto& [name, values] : b) {
    const double one = difference(a.at(name), values);
    if (!(one <= worst)) worst = one;
    if (std::isnan(worst)) return worst;
  }
  return worst;
}

Arrays arrays_of(const Records& records) {
  Arrays result;
  for (const auto& shot : records)
    for (const auto& [field, traces] : shot)
      result[field].insert(result[field].end(), traces.data.begin(), traces.data.end());
  return result;
}

struct Answer {
  Arrays records, gradient;
};

Answer answer(Setup setup, Backend backend, const GpuCase& gpu) {
  setup.options.backend = backend;
  setup.options.device = gpu.number();
  if (backend != Backend::reference) setup.options.cuda_compiler = gpu.compiler();
  Propagator propagator = setup.propagator();
  Answer result;
  result.records = arrays_of(propagator.forward(setup.shots));
  result.gradient =
      propagator.gradient(setup.shots, [](std::int64_t, const auto& r) { return sum_of_squares(r); }).models;
  return result;
}

/// Two shots in a medium with 5 % of scatter, layers all around but for a free surface on top.
Setup small_setup(const std::string& equation, int dims, int order, DType dtype, bool quick) {
  Case c;
  c.equation = equation;
  c.dims = dims;
  c.n = dims == 2 ? 46 : quick ? 16 : 21;
  c.shots = 2;
  c.steps = quick ? 40 : 200;
  c.width = 6;
  c.order = order;
  Setup setup = set_up(c);
  setup.options.dtype = dtype;
  setup.grid.faces[0][0] = {FaceKind::free_surface, 0};
  std::uint32_t state = 1;
  for (auto& [name, values] : setup.models)
    for (double& value : values) {
      state = state * 1664525U + 1013904223U;
      value *= 1 + 0.05 * (static_cast<double>(state >> 8U) / (1 << 24) - 0.5);
    }
  return setup;
}

Json line_of(const std::string& equation, int dims, int order, DType dtype) {
  return {{"part", "compare"},
          {"equation", equation},
          {"dims", dims},
          {"order", order},
          {"dtype", dtype == DType::float32 ? "float32" : "float64"}};
}

bool compare(const GpuCase& gpu, const Setup& setup, Json line) {
  // docs/numerics.md, Tolerances: a compiled run against the reference.
  const double bound = setup.options.dtype == DType::float32 ? 2e-5 : 1e-13;
  line["bound"] = bound;
  try {
    const Answer expected = answer(setup, Backend::reference, gpu);
    const Answer found = answer(setup, gpu.backend(), gpu);
    const double forward = difference(found.records, expected.records);
    const double gradient = difference(found.gradient, expected.gradient);
    const bool met = forward <= bound && gradient <= bound;
    line["forward"] = forward;
    line["gradient"] = gradient;
    line["met"] = met;
  } catch (const Error& error) {
    line["met"] = false;
    line["problem"] = error.what();
  }
  print_line(line);
  return line["met"];
}

}  // namespace

bool compare_with_reference(const GpuCase& gpu, bool quick) {
  bool met = true;
  double longest = 0;
  for (const int order : quick ? std::vector{4} : std::vector{4, 8, 2, 12}) {
    for (const DType dtype : {DType::float32, DType::float64}) {
      for (const int dims : {2, 3}) {
        // Quick: 3-D in float32 alone.
        if (quick && dims == 3 && dtype == DType::float64) continue;
        for (const EquationDefinition& equation : equations::all()) {
          Json line = line_of(equation.name(), dims, order, dtype);
          if (gpu.left() < longest) {
            line["skipped"] = "no time left";
            print_line(line);
            continue;
          }
          const auto begin = std::chrono::steady_clock::now();
          met = compare(gpu, small_setup(equation.name(), dims, order, dtype, quick), line) && met;
          longest = std::max(longest, seconds_since(begin));
        }
      }
    }
  }
  return met;
}

}  // namespace ondula::bench
