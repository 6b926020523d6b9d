// Every kind of source with every kind of receiver, one pair at a time, against central differences of
// forward runs alone. SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "runtime/moment.hpp"
#include "tests/runtime/gradient/problem.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"

namespace ondula::test {
namespace {

/// Where a source and its co-located receivers stand.
struct Place {
  std::string name;
  bool on_node = true;
  bool at_surface = false;
  Interpolation interpolation = Interpolation::sinc;
};

const std::vector<Place> places = {
    {"off nodes, sinc", false, false, Interpolation::sinc},
    {"under the surface, off nodes, sinc", false, true, Interpolation::sinc},
    {"on a node", true, false, Interpolation::sinc},
    {"on the surface, on a node", true, true, Interpolation::sinc},
    {"off nodes, linear", false, false, Interpolation::linear},
    {"under the surface, off nodes, linear", false, true, Interpolation::linear},
};

/// A point inside, or just under the first face; `cells` further along every axis but that of a surface.
std::vector<double> position(const Problem& p, const Place& place, double cells) {
  std::vector<double> x;
  for (std::size_t a = 0; a < p.grid.shape.size(); ++a) {
    const double middle = static_cast<double>(p.grid.shape[a] / 2) - 1;
    double node = middle + cells + (place.on_node ? 0.0 : 0.3 + 0.1 * static_cast<double>(a));
    // A scalar is 0 on the surface itself: its first row below serves.
    const bool scalar = p.equation.name() != "elastic";
    if (a == 0 && place.at_surface) node = place.on_node ? (scalar ? 1 : 0) : 0.4;
    x.push_back(p.grid.origin[a] + p.grid.spacing[a] * node);
  }
  return x;
}

struct NamedSource {
  std::string name;
  Source source;
};

std::vector<NamedSource> sources_of(const Problem& p) {
  const std::size_t dims = p.grid.shape.size();
  std::vector<NamedSource> all;
  for (const std::string& field : facts(p.equation, p.grid.axes).sources) {
    for (const Scaling scaling : {Scaling::physical, Scaling::raw}) {
      Source s;
      s.field = field;
      s.scaling = scaling;
      all.push_back({field + (scaling == Scaling::raw ? ", raw" : ""), s});
    }
  }
  if (p.equation.name() != "elastic") return all;
  const auto add = [&](const std::string& name, SourceKind kind, const std::vector<double>& components) {
    Source s;
    s.kind = kind;
    s.components = components;
    all.push_back({name, s});
  };
  std::vector<double> oblique;
  for (std::size_t a = 0; a < dims; ++a) {
    std::vector<double> along(dims, 0.0);
    along[a] = 1;
    add("force along " + p.grid.axes[a], SourceKind::force, along);
    oblique.push_back(0.5 + 0.4 * static_cast<double>(a));
    for (std::size_t b = 0; b <= a; ++b) {
      std::vector<double> tensor(dims * dims, 0.0);
      tensor[a * dims + b] = tensor[b * dims + a] = 1;
      add("moment rate " + p.grid.axes[b] + p.grid.axes[a], SourceKind::moment_rate, tensor);
    }
  }
  if (dims > 1) add("oblique force", SourceKind::force, oblique);
  add("explosion", SourceKind::moment_rate, explosion(dims));
  if (dims == 2) add("double couple", SourceKind::moment_rate, double_couple_2d(35));
  if (dims == 3) add("double couple", SourceKind::moment_rate, double_couple(40, 35, 70));
  return all;
}

std::vector<Receiver> receivers_of(const Problem& p, const Place& place) {
  const EquationFacts known = facts(p.equation, p.grid.axes);
  std::vector<std::string> fields = known.fields;
  fields.insert(fields.end(), known.derived.begin(), known.derived.end());
  std::vector<Receiver> all;
  for (const std::string& field : fields) {
    for (const double cells : {0.0, 2.0}) {
      Receiver r{field, position(p, place, cells), place.interpolation};
      if (field == "fibre") {
        for (std::size_t a = 0; a < p.grid.shape.size(); ++a)
          r.direction.push_back(1 - 0.6 * static_cast<double>(a));
      }
      all.push_back(r);
    }
  }
  return all;
}

/// The nodes around source and receivers, and above them on the first row.
std::set<std::size_t> nodes_around(const Problem& p, const Place& place) {
  std::set<std::size_t> nodes;
  for (const double cells : {0.0, 2.0}) {
    const std::vector<double> x = position(p, place, cells);
    std::vector<std::int64_t> node;
    for (std::size_t a = 0; a < x.size(); ++a) {
      const double index = std::floor((x[a] - p.grid.origin[a]) / p.grid.spacing[a] + 1e-9);
      node.push_back(std::min(static_cast<std::int64_t>(index), p.grid.shape[a] - 2));
    }
    nodes.insert(p.at(node));
    for (std::size_t a = 0; a < x.size(); ++a) {
      node[a] += 1;
      nodes.insert(p.at(node));
      node[a] -= 1;
    }
    node[0] = 0;
    nodes.insert(p.at(node));
  }
  return nodes;
}

/// One shot for each source, all with the same receivers, and a functional y of each receiver's trace.
struct Pairs {
  Problem p;
  std::vector<std::string> names;
  std::vector<std::vector<double>> y;

  /// <y_r, trace r> of every shot s: [s][r].
  std::vector<std::vector<double>> losses(const Records& records) const {
    std::vector<std::vector<double>> all;
    for (std::size_t s = 0; s < records.size(); ++s) {
      std::map<std::string, std::size_t> next;
      all.emplace_back();
      for (std::size_t r = 0; r < p.shots[s].receivers.size(); ++r) {
        const std::string& field = p.shots[s].receivers[r].field;
        const auto trace = rows(records[s].at(field))[next[field]++];
        double sum = 0;
        for (std::size_t n = 0; n < trace.size(); ++n) sum += y[r][n] * trace[n];
        all.back().push_back(sum);
      }
    }
    return all;
  }

  AdjointSources adjoint(std::size_t receiver) const {
    const std::string& field = p.shots[0].receivers[receiver].field;
    Traces traces;
    std::size_t row = 0;
    for (std::size_t r = 0; r < p.shots[0].receivers.size(); ++r) {
      if (p.shots[0].receivers[r].field != field) continue;
      if (r < receiver) ++row;
      ++traces.receivers;
    }
    traces.samples = p.options.steps;
    const auto samples = static_cast<std::size_t>(traces.samples);
    traces.data.assign(static_cast<std::size_t>(traces.receivers) * samples, 0.0);
    for (std::size_t n = 0; n < samples; ++n) traces.data[row * samples + n] = y[receiver][n];
    return {{field, traces}};
  }
};

/// Every source of which `taken` holds the number.
Pairs pairs_at(const Setting& setting, const Place& place, const std::function<bool(std::size_t)>& taken) {
  Pairs pairs{random_medium(setting), {}, {}};
  Random random(21);
  const auto samples = static_cast<std::size_t>(setting.steps);
  const std::vector<NamedSource> sources = sources_of(pairs.p);
  const std::vector<Receiver> receivers = receivers_of(pairs.p, place);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!taken(i)) continue;
    Shot shot{{sources[i].source}, receivers};
    shot.sources[0].position = position(pairs.p, place, 0);
    shot.sources[0].interpolation = place.interpolation;
    shot.sources[0].wavelet = noise(random, samples);
    pairs.p.shots.push_back(shot);
    pairs.names.push_back(sources[i].name);
  }
  for (std::size_t r = 0; r < receivers.size(); ++r) pairs.y.push_back(noise(random, samples));
  return pairs;
}

using Losses = std::vector<std::vector<double>>;

/// Central differences of every pair's loss: by parameter, node, then [shot][receiver]; and by sample of the
/// wavelets.
struct Differences {
  std::map<std::string, std::map<std::size_t, Losses>> models;
  std::map<std::size_t, Losses> wavelets;
};

Losses half_difference(Losses above, const Losses& below, double h) {
  for (std::size_t s = 0; s < above.size(); ++s) {
    for (std::size_t r = 0; r < above[s].size(); ++r) above[s][r] = (above[s][r] - below[s][r]) / (2 * h);
  }
  return above;
}

Differences differences_of(const Pairs& pairs, Propagator& propagator, const std::set<std::size_t>& nodes) {
  Differences found;
  for (const auto& [name, values] : pairs.p.models) {
    if (name == "vs" && pairs.p.grid.shape.size() == 1) continue;  // without effect in 1-D
    std::vector<double> changed = values;
    for (const std::size_t node : nodes) {
      const double h = 2e-5 * values[node];
      Losses sides[2];
      for (const int side : {0, 1}) {
        changed[node] = values[node] + (side == 0 ? h : -h);
        propagator.set_model(name, changed);
        sides[side] = pairs.losses(propagator.forward(pairs.p.shots));
      }
      changed[node] = values[node];
      found.models[name][node] = half_difference(sides[0], sides[1], h);
    }
    propagator.set_model(name, values);
  }
  for (const std::size_t sample :
       {std::size_t{0}, std::size_t{7}, static_cast<std::size_t>(pairs.p.options.steps) - 2}) {
    Losses sides[2];
    for (const int side : {0, 1}) {
      std::vector<Shot> shots = pairs.p.shots;
      for (Shot& shot : shots) shot.sources[0].wavelet[sample] += side == 0 ? 1 : -1;
      sides[side] = pairs.losses(propagator.forward(shots));
    }
    found.wavelets[sample] = half_difference(sides[0], sides[1], 1);
  }
  return found;
}

/// The largest difference of a pair's gradient from `differences`, over its largest entry.
double compare(const Gradient& gradient, const Differences& differences, std::size_t s, std::size_t r) {
  double worst = 0;
  const auto add = [&](double own, double difference, double largest) {
    const double error = std::fabs(own - difference);
    worst = detail::worse(worst, largest == 0 ? (error == 0 ? 0 : 1) : error / largest);
  };
  for (const auto& [name, by_node] : differences.models) {
    const std::vector<double>& own = gradient.models.at(name);
    const double largest = max_abs(own);
    for (const auto& [node, losses] : by_node) add(own[node], losses[s][r], largest);
  }
  const std::vector<double>& wavelet = gradient.wavelets[0][0];
  for (const auto& [sample, losses] : differences.wavelets)
    add(wavelet[sample], losses[s][r], max_abs(wavelet));
  return worst;
}

struct Found {
  double worst = 0;
  int pairs = 0;
};

Found check_pairs(const Setting& setting, const Place& place, const std::function<bool(std::size_t)>& taken) {
  const Pairs pairs = pairs_at(setting, place, taken);
  Found found;
  if (pairs.p.shots.empty()) return found;
  Propagator propagator = pairs.p.propagator();
  const Differences differences = differences_of(pairs, propagator, nodes_around(pairs.p, place));
  const Losses losses = pairs.losses(propagator.forward(pairs.p.shots));
  for (std::size_t s = 0; s < pairs.p.shots.size(); ++s) {
    for (std::size_t r = 0; r < pairs.y.size(); ++r) {
      const Receiver& receiver = pairs.p.shots[s].receivers[r];
      CAPTURE(place.name);
      CAPTURE(pairs.names[s]);
      CAPTURE(receiver.field);
      CAPTURE(r % 2);
      if (losses[s][r] == 0) continue;  // silent for good: on a surface, say
      GradientOptions options;
      options.wavelets = true;
      const Gradient gradient = propagator.gradient({&pairs.p.shots[s], 1}, {pairs.adjoint(r)}, options);
      CHECK(gradient.misfit == doctest::Approx(losses[s][r]).epsilon(1e-9));
      const double error = compare(gradient, differences, s, r);
      CHECK(error < 1e-6);
      found.worst = detail::worse(found.worst, error);
      ++found.pairs;
    }
  }
  return found;
}

Setting setting_of(const std::string& equation, int dims) {
  Setting s;
  s.equation = equation;
  s.dims = dims;
  s.faces = dims == 1 ? "fl" : dims == 2 ? "flll" : "flllll";
  s.steps = dims == 3 ? 14 : 24;
  return s;
}

/// Sources take turns over the places, all with every receiver; with `turns` 1 or --full every source stands
/// everywhere.
void all_pairs(const std::string& equation, int dims, std::size_t turns) {
  Found all;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto taken = [&](std::size_t i) { return full_matrices() || turns == 1 || i % turns == k; };
    const Found found = check_pairs(setting_of(equation, dims), places[k], taken);
    all.worst = detail::worse(all.worst, found.worst);
    all.pairs += found.pairs;
  }
  CHECK(all.pairs > 0);
  MESSAGE(fmt::format("{} {}-D: {} pairs, largest difference {:.1e}", equation, dims, all.pairs, all.worst));
}

}  // namespace

TEST_CASE(
    "A7: every source kind with every receiver kind, co-located too, equals differences of forward runs") {
  ONDULA_NEEDS_CLANG();
  all_pairs("acoustic", 2, 1);
  all_pairs("acoustic_density", 2, 1);
  all_pairs("elastic", 2, places.size());
}

TEST_CASE("A7: likewise in 1-D and 3-D") {
  ONDULA_NEEDS_CLANG();
  for (const EquationDefinition& equation : equations::all())
    all_pairs(equation.name(), 1, equation.name() == "elastic" ? 3 : 1);
  if (full_matrices()) {
    all_pairs("acoustic", 3, 1);
    all_pairs("acoustic_density", 3, 1);
  }
  // 3-D has 28 sources: a few of them at a time.
  all_pairs("elastic", 3, 40);
}

TEST_CASE("A8: dJ/drho at a force's own cell and dJ/dvp at a pressure source's equal finite differences") {
  ONDULA_NEEDS_CLANG();
  const auto at_source = [](const std::string& equation, const std::string& parameter, std::size_t number) {
    Setting s = setting_of(equation, 2);
    s.faces = "l";
    const Pairs pairs = pairs_at(s, places[2], [&](std::size_t i) { return i == number; });
    CAPTURE(pairs.names[0]);
    Propagator propagator = pairs.p.propagator();
    // The node the source stands on.
    const std::size_t node = pairs.p.at({pairs.p.grid.shape[0] / 2 - 1, pairs.p.grid.shape[1] / 2 - 1});
    const Differences differences = differences_of(pairs, propagator, {node});
    for (std::size_t r = 0; r < pairs.y.size(); ++r) {
      const Gradient gradient = propagator.gradient({&pairs.p.shots[0], 1}, {pairs.adjoint(r)});
      const double slope = gradient.models.at(parameter)[node];
      const double expected = differences.models.at(parameter).at(node)[0][r];
      const double largest = max_abs(gradient.models.at(parameter));
      CHECK(std::fabs(slope) > 1e-5 * largest);
      CHECK(std::fabs(slope - expected) < 1e-6 * largest);
    }
  };
  at_source("acoustic", "vp", 0);
  at_source("acoustic_density", "vp", 0);
  at_source("acoustic_density", "rho", 0);
  at_source("elastic", "vp", 4);
  at_source("elastic", "rho", 10);
}

}  // namespace ondula::test
