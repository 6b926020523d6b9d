// Dot products, Taylor tests and linearised modelling of any equation.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "compiler/error.hpp"
#include "tools/check_case.hpp"

namespace ondula::tools {
namespace {

using ShotRecords = std::map<std::string, Traces>;

/// The size of each field of a shot's records: their root mean square, by which unlike units compare.
std::map<std::string, double> sizes_of(const ShotRecords& records) {
  std::map<std::string, double> sizes;
  for (const auto& [field, traces] : records) {
    double sum = 0;
    for (const double v : traces.data) sum += v * v;
    const double size = std::sqrt(sum / std::max<double>(1, static_cast<double>(traces.data.size())));
    sizes[field] = size > 0 ? size : 1;
  }
  return sizes;
}

/// Random covectors of records, one part of each field as large as another.
AdjointSources covector(const CheckCase& test, const ShotRecords& records, unsigned seed) {
  const auto sizes = sizes_of(records);
  AdjointSources result;
  for (const auto& [field, traces] : records) {
    Traces y{traces.receivers, traces.samples, test.noise(traces.data.size(), seed++)};
    for (double& v : y.data) v /= sizes.at(field);
    result.emplace(field, std::move(y));
  }
  return result;
}

/// <y, r> and the norms of both, each field divided (y: multiplied) by its size.
struct Product {
  double value = 0, records = 0, covector = 0;

  void add(const ShotRecords& r, const AdjointSources& y, const std::map<std::string, double>& sizes) {
    for (const auto& [field, traces] : r) {
      const double size = sizes.at(field);
      const std::vector<double>& other = y.at(field).data;
      for (std::size_t i = 0; i < other.size(); ++i) {
        value += traces.data[i] * other[i];
        records += traces.data[i] * traces.data[i] / (size * size);
        covector += other[i] * other[i] * size * size;
      }
    }
  }
  double error(double transposed) const {
    return std::abs(value - transposed) / std::sqrt(records * covector);
  }
};

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double dot_bar(DType dtype) { return dtype == DType::float64 ? 1e-13 : 1e-5; }

/// `found` as NaN fails too.
CheckLine dot_line(const CheckCase& test, const std::string& name, double found, DType dtype) {
  const double bar = dot_bar(dtype);
  return {test.dims(), name, fmt::format("{:.1e}", found), fmt::format("<= {:.0e}", bar), found <= bar, ""};
}

CheckLine slope_line(const CheckCase& test, const std::string& name, double slope, bool linear) {
  if (linear)
    return {test.dims(), name, "exact", "2 +- 0.05", true, "nothing is left beyond the linear part"};
  return {test.dims(), name, fmt::format("{:.3f}", slope), "2 +- 0.05", std::abs(slope - 2) <= 0.05, ""};
}

CheckLine dot_of_wavelets(const CheckCase& test) {
  const DType dtype = test.settings().dtype;
  Propagator propagator = test.propagator(dtype);
  const Records records = propagator.forward(test.shots());
  std::vector<AdjointSources> y;
  for (std::size_t s = 0; s < records.size(); ++s)
    y.push_back(covector(test, records[s], static_cast<unsigned>(100 + 20 * s)));
  GradientOptions asked;
  asked.wavelets = true;
  const Gradient gradient = propagator.gradient(test.shots(), y, asked);
  double worst = 0;
  for (std::size_t s = 0; s < records.size(); ++s) {
    Product forward;
    forward.add(records[s], y[s], sizes_of(records[s]));
    double back = 0;
    for (std::size_t k = 0; k < test.shots()[s].sources.size(); ++k)
      back += product(gradient.wavelets[s][k], test.shots()[s].sources[k].wavelet);
    const double error = forward.error(back);
    if (!(error <= worst)) worst = error;
  }
  return dot_line(test, "dot product, wavelets", worst, dtype);
}

/// The adjoint does not depend on the state it starts from: one backward run serves every field.
CheckLine dot_of_initial(const CheckCase& test) {
  const DType dtype = test.settings().dtype;
  Shot silent = test.shots().front();
  silent.sources.clear();
  const std::vector<Shot> shots{silent};
  std::map<std::string, double> sizes;
  std::vector<AdjointSources> y;
  Gradient gradient;
  double worst = 0;
  unsigned seed = 300;
  Propagator propagator = test.propagator(dtype);
  for (const std::string& name : test.facts().initial) {
    const std::vector<double> state = test.noise(test.nodes(), seed++);
    propagator.set_initial(name, state);
    const ShotRecords records = propagator.forward(shots).front();
    if (y.empty()) {
      sizes = sizes_of(records);
      y.push_back(covector(test, records, 400));
      GradientOptions asked;
      asked.initial = true;
      gradient = propagator.gradient(shots, y, asked);
    }
    Product forward;
    forward.add(records, y.front(), sizes);
    const double error = forward.error(product(gradient.initial.at(name), state));
    if (!(error <= worst)) worst = error;
    propagator.set_initial(name, std::vector<double>(test.nodes(), 0.0));
  }
  return dot_line(test, "dot product, initial states", worst, dtype);
}

/// Records of models that go from the case's along one direction, in float64.
struct Walk {
  static constexpr std::array<double, 4> lengths = {0.5, 0.25, 0.125, 0.0625};

  std::string parameter;
  std::vector<double> direction;  ///< 0.1 % of the model
  std::vector<Records> records;   ///< of each length

  Walk(const CheckCase& test, Propagator& propagator, const std::string& name, unsigned seed)
      : parameter(name) {
    const std::vector<double>& model = test.models().at(name);
    direction = test.noise(model.size(), seed);
    for (std::size_t i = 0; i < direction.size(); ++i) direction[i] *= 1e-3 * model[i];
    for (const double length : lengths) {
      std::vector<double> moved = model;
      for (std::size_t i = 0; i < direction.size(); ++i) moved[i] += length * direction[i];
      propagator.set_model(name, moved);
      records.push_back(propagator.forward(test.shots()));
    }
    propagator.set_model(name, model);
  }
};

/// What a linear prediction misses, at every length of a walk: slope 2 where the prediction is right.
CheckLine slope_of(const CheckCase& test, const std::string& name,
                   const std::array<double, Walk::lengths.size()>& missed, double size) {
  const double last = missed.back(), before = missed[missed.size() - 2];
  return slope_line(test, name, std::log2(before / last), missed.front() <= 1e-12 * size);
}

/// A linear functional of one shot's records, and its gradient.
struct Functional {
  std::size_t shot = 0;
  AdjointSources y;
  Gradient gradient;
  double value = 0;
};

/// The case at its own models: records, and several functionals, of every shot. One alone could meet a
/// direction in which its curvature is small by chance, and no slope would show.
struct Centre {
  static constexpr std::size_t several = 4;

  Records records;
  std::vector<std::map<std::string, double>> sizes;
  std::vector<Functional> functionals;
  double norm = 0;  ///< of the records, each field divided by its size

  Centre(const CheckCase& test, Propagator& propagator) {
    records = propagator.forward(test.shots());
    for (std::size_t s = 0; s < records.size(); ++s) {
      sizes.push_back(sizes_of(records[s]));
      norm = std::hypot(norm, std::sqrt(with(records[s], covector(test, records[s], 1), s).records));
    }
    for (std::size_t k = 0; k < std::max(several, records.size()); ++k) {
      Functional f;
      f.shot = k % records.size();
      f.y = covector(test, records[f.shot], static_cast<unsigned>(1000 * (k + 1)));
      f.value = with(records[f.shot], f.y, f.shot).value;
      f.gradient = propagator.gradient(std::span(test.shots()).subspan(f.shot, 1), {f.y});
      functionals.push_back(std::move(f));
    }
  }

  Product with(const ShotRecords& other, const AdjointSources& y, std::size_t shot) const {
    Product sum;
    sum.add(other, y, sizes[shot]);
    return sum;
  }
};

CheckLine taylor(const CheckCase& test, const Centre& centre, const Walk& walk) {
  std::array<double, Walk::lengths.size()> missed{};
  double size = 0;
  for (const Functional& f : centre.functionals) {
    const double slope = product(f.gradient.models.at(walk.parameter), walk.direction);
    size = std::hypot(size, f.value);
    for (std::size_t n = 0; n < missed.size(); ++n) {
      const double change = centre.with(walk.records[n][f.shot], f.y, f.shot).value - f.value;
      missed[n] = std::hypot(missed[n], change - Walk::lengths[n] * slope);
    }
  }
  return slope_of(test, "Taylor, gradient in " + walk.parameter, missed, size);
}

CheckLine born_taylor(const CheckCase& test, const Centre& centre, const Walk& walk, const Records& born) {
  std::array<double, Walk::lengths.size()> missed{};
  for (std::size_t k = 0; k < missed.size(); ++k) {
    double sum = 0;
    for (std::size_t s = 0; s < born.size(); ++s) {
      for (const auto& [field, traces] : born[s]) {
        const std::vector<double>& here = centre.records[s].at(field).data;
        const std::vector<double>& there = walk.records[k][s].at(field).data;
        for (std::size_t i = 0; i < here.size(); ++i) {
          const double miss =
              (there[i] - here[i] - Walk::lengths[k] * traces.data[i]) / centre.sizes[s].at(field);
          sum += miss * miss;
        }
      }
    }
    missed[k] = std::sqrt(sum);
  }
  return slope_of(test, "Taylor, Born of " + walk.parameter, missed, centre.norm);
}

/// <Born m, y> = <m, gradient y> in the command's own type.
CheckLine born_dot(const CheckCase& test, Propagator& propagator, const Centre& centre, const Walk& walk) {
  constexpr double nothing = 1e-7;  // of the records: rounding alone
  const DType dtype = test.settings().dtype;
  const std::string name = "dot product, Born of " + walk.parameter;
  const Records born = propagator.born(test.shots(), {{walk.parameter, walk.direction}});
  double size = 0;
  for (std::size_t s = 0; s < born.size(); ++s)
    size = std::hypot(size, std::sqrt(centre.with(born[s], centre.functionals[s].y, s).records));
  std::vector<AdjointSources> y;
  Product forward;
  for (std::size_t s = 0; s < born.size(); ++s) {
    const bool alone = size > nothing * centre.norm;
    const ShotRecords& like = alone ? born[s] : centre.records[s];
    y.push_back(covector(test, like, static_cast<unsigned>(700 + 20 * s)));
    forward.add(born[s], y[s], sizes_of(like));
  }
  const Gradient gradient = propagator.gradient(test.shots(), y);
  const double back = product(gradient.models.at(walk.parameter), walk.direction);
  if (size > nothing * centre.norm) return dot_line(test, name, forward.error(back), dtype);
  const bool passed = std::abs(back) <= nothing * centre.norm * std::sqrt(forward.covector);
  return {test.dims(),
          name,
          "none",
          "none",
          passed,
          passed ? "records do not depend on it" : "records do not depend on it, yet it has a gradient"};
}

/// A check that cannot be made is one that fails, with the reason. Whether it could be made.
template <class F>
bool attempt(const CheckCase& test, const std::string& name, std::vector<CheckLine>& lines, const F& check) {
  std::string problem;
  try {
    check();
    return true;
  } catch (const UserError& error) {
    problem = error.what();
  } catch (const RuntimeError& error) {
    problem = error.what();
  }
  lines.push_back({test.dims(), name, "", "", false, problem});
  return false;
}

}  // namespace

std::vector<CheckLine> check_derivatives(const CheckCase& test) {
  std::vector<CheckLine> lines;
  const auto add = [&](const std::string& name, const auto& check) {
    attempt(test, name, lines, [&] { lines.push_back(check()); });
  };
  add("dot product, wavelets", [&] { return dot_of_wavelets(test); });
  add("dot product, initial states", [&] { return dot_of_initial(test); });
  // Taylor tests need the digits of float64.
  Propagator fine = test.propagator(DType::float64), own = test.propagator(test.settings().dtype);
  std::optional<Centre> centre;
  if (!attempt(test, "gradients", lines, [&] { centre.emplace(test, fine); })) return lines;
  unsigned seed = 600;
  for (const std::string& name : test.facts().parameters) {
    std::optional<Walk> walk;
    if (!attempt(test, "Taylor, " + name, lines, [&] { walk.emplace(test, fine, name, seed++); })) continue;
    add("Taylor, gradient in " + name, [&] { return taylor(test, *centre, *walk); });
    add("Taylor, Born of " + name, [&] {
      return born_taylor(test, *centre, *walk, fine.born(test.shots(), {{name, walk->direction}}));
    });
    add("dot product, Born of " + name, [&] { return born_dot(test, own, *centre, *walk); });
  }
  return lines;
}

}  // namespace ondula::tools
