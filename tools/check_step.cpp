// The limit of the step and the order of accuracy in space of any equation.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compiler/error.hpp"
#include "tools/check_case.hpp"

namespace ondula::tools {
namespace {

/// The largest magnitude of samples [first, last) of every trace of a field.
double largest(const Traces& traces, std::int64_t first, std::int64_t last) {
  double size = 0;
  for (std::int64_t r = 0; r < traces.receivers; ++r) {
    for (std::int64_t k = first; k < last; ++k)
      size = std::max(size, std::abs(traces.data[static_cast<std::size_t>(r * traces.samples + k)]));
  }
  return size;
}

/// Sources fall silent after 40 steps; what is heard late must not be louder than what was heard early.
CheckLine bounded(const CheckCase& test) {
  constexpr std::int64_t quiet = 40, early = 140, steps = 800;
  PropagatorOptions options = test.options(test.settings().dtype);
  options.dt = 0.99 * test.limit();
  options.steps = steps;
  std::vector<Shot> shots = test.shots();
  for (Shot& shot : shots) {
    for (Source& source : shot.sources) source.wavelet.resize(static_cast<std::size_t>(quiet));
  }
  CheckLine line{test.dims(), "bounded at 0.99 of the limit", "", "<= 1", false, ""};
  try {
    Propagator propagator = test.propagator(options, test.grid(), test.models());
    double growth = 0;
    for (const auto& shot : propagator.forward(shots)) {
      for (const auto& [field, traces] : shot) {
        const double before = largest(traces, quiet, early);
        if (before > 0) growth = std::max(growth, largest(traces, steps - 100, steps) / before);
      }
    }
    line.figure = fmt::format("{:.2g}", growth);
    line.passed = growth <= 1;
  } catch (const Error& error) {
    line.note = error.what();
  }
  return line;
}

CheckLine refused(const CheckCase& test) {
  PropagatorOptions options = test.options(test.settings().dtype);
  options.dt = 1.05 * test.limit();
  CheckLine line{test.dims(), "refused at 1.05 of the limit", "ran", "refused", false, ""};
  try {
    Propagator propagator = test.propagator(options, test.grid(), test.models());
    static_cast<void>(propagator.forward(test.shots()));
  } catch (const UserError&) {
    line.figure = "refused";
    line.passed = true;
  } catch (const RuntimeError& error) {
    line.note = error.what();
  }
  return line;
}

/// A plane wave along the diagonal of a periodic box, `times` finer than `nodes` a side.
struct Box {
  const CheckCase& test;
  const ir::Field& field;
  std::int64_t nodes;
  double waves;  ///< wavelengths in the box

  Grid grid(std::int64_t times) const {
    Grid grid = test.grid();
    for (std::size_t a = 0; a < grid.axes.size(); ++a) {
      grid.shape[a] = nodes * times;
      grid.spacing[a] = 10.0 / static_cast<double>(times);
      grid.faces[a] = {Face{FaceKind::periodic, 0}, Face{FaceKind::periodic, 0}};
    }
    return grid;
  }
  Models models(const Grid& grid) const {
    std::size_t count = 1;
    for (const std::int64_t n : grid.shape) count *= static_cast<std::size_t>(n);
    Models result;
    for (const auto& [name, unused] : test.models()) result[name].assign(count, test.typical(name));
    return result;
  }
  std::vector<double> wave(const Grid& grid) const {
    std::vector<double> values(1, 0.0);  // phases, axis by axis
    for (const std::int64_t n : grid.shape) {
      std::vector<double> next;
      for (const double phase : values) {
        for (std::int64_t i = 0; i < n; ++i)
          next.push_back(phase +
                         2 * waves * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
      }
      values = std::move(next);
    }
    for (double& value : values) value = std::cos(value);
    return values;
  }
  /// Receivers on nodes of the coarsest grid.
  Shot shot() const {
    Shot shot;
    for (std::int64_t k = 0; k < 3; ++k) {
      Receiver receiver;
      receiver.field = field.name;
      for (std::size_t a = 0; a < test.grid().axes.size(); ++a)
        receiver.position.push_back(10.0 *
                                    static_cast<double>((k * 3 + static_cast<std::int64_t>(a)) % nodes));
      shot.receivers.push_back(receiver);
    }
    return shot;
  }
  Propagator propagator(std::int64_t times, double dt, std::int64_t steps) const {
    PropagatorOptions options = test.options(DType::float64);
    options.dt = dt;
    options.steps = steps;
    return test.propagator(options, grid(times), models(grid(times)));
  }
  std::vector<double> record(std::int64_t times, double dt, std::int64_t steps) const {
    Propagator made = propagator(times, dt, steps);
    made.set_initial(field.name, wave(grid(times)));
    if (field.time_order == 2) made.set_initial(field.name + ".previous", wave(grid(times)));
    const std::vector<Shot> shots{shot()};
    return made.forward(shots).front().at(field.name).data;
  }
};

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

/// With one step for all grids the error of time is theirs alike, so that differences show that of space.
CheckLine convergence(const CheckCase& test) {
  const int order = test.settings().order;
  CheckLine line{test.dims(), "order of accuracy in space", "", fmt::format("{} +- 0.5", order), false, ""};
  const auto& fields = test.fields();
  const auto on_nodes = std::find_if(fields.begin(), fields.end(), [](const ir::Field& field) {
    return std::all_of(field.stagger.begin(), field.stagger.end(), [](int half) { return half == 0; });
  });
  if (on_nodes == fields.end()) {
    line.passed = true;
    line.note = "not checked: no field lives on the nodes";
    return line;
  }
  try {
    // At the highest orders longer waves would leave rounding alone.
    const bool high = order > 12;
    const Box box{test, *on_nodes, high ? 16 : test.dims() == 3 ? 10 : 12, high ? 2.0 : 1.0};
    const std::vector<Shot> shots{box.shot()};
    const Estimate estimate = box.propagator(4, 1e-6, 1).estimate(shots);
    const double dt = 0.5 * estimate.cfl_limit;
    const double wavelength = 10.0 * static_cast<double>(box.nodes);
    const auto steps = static_cast<std::int64_t>(0.5 * wavelength / (estimate.fastest * dt));
    const std::vector<double> fine = box.record(2, dt, steps);
    const double coarse = distance(box.record(1, dt, steps), fine);
    const double rest = distance(fine, box.record(4, dt, steps));
    const double slope = std::log2(coarse / rest);
    line.figure = fmt::format("{:.2f}", slope);
    line.passed = std::abs(slope - order) <= 0.5;
  } catch (const Error& error) {
    line.note = error.what();
  }
  return line;
}

}  // namespace

std::vector<CheckLine> check_step(const CheckCase& test) {
  return {bounded(test), refused(test), convergence(test)};
}

}  // namespace ondula::tools
