// Runs in chunks: the state taken out and put back gives the whole run, bit for bit.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "compiler/error.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/runtime/propagator/small.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

/// Layers, a free surface where there are two axes, 60 steps: waves are in the layers at the end.
Grid half_open_grid(int dims) {
  Grid grid = small_grid(dims);
  if (dims > 1) grid.faces[0][0] = {FaceKind::free_surface, 0};
  return grid;
}

/// The records of consecutive calls, each from the state the one before left, joined in time.
std::vector<double> in_chunks(Propagator& propagator, const Shot& shot,
                              const std::vector<std::int64_t>& chunks) {
  std::vector<std::vector<double>> rows(shot.receivers.size());
  propagator.set_state({});
  for (const std::int64_t steps : chunks) {
    const Records records = propagator.forward({&shot, 1}, steps);
    const Traces& traces = records.at(0).at("u");
    CHECK(traces.samples == steps);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const auto begin = traces.data.begin() + static_cast<std::ptrdiff_t>(r) * steps;
      rows[r].insert(rows[r].end(), begin, begin + steps);
    }
    propagator.set_state(propagator.state());
  }
  std::vector<double> joined;
  for (const std::vector<double>& row : rows) joined.insert(joined.end(), row.begin(), row.end());
  return joined;
}

}  // namespace

TEST_CASE("a run in chunks is bit for bit the whole run, layers included, on every backend and type") {
  ONDULA_NEEDS_CLANG();
  for (int dims = 1; dims <= 3; ++dims) {
    for (const Backend backend : {Backend::host, Backend::reference}) {
      for (const DType dtype : {DType::float32, DType::float64}) {
        if (backend == Backend::reference && dims == 3) continue;  // the same code, slower
        CAPTURE(dims);
        PropagatorOptions options = small_options();
        options.backend = backend;
        options.dtype = dtype;
        options.absorb.kappa = dims == 2 ? 2 : 1;
        Propagator propagator(equations::acoustic(), half_open_grid(dims), options);
        const std::vector<double> whole = small_record(propagator, dims);
        const auto last = propagator.state().fields();
        REQUIRE(max_abs(last.at("u")) > 0);
        const Shot shot = small_shot(dims);
        for (const auto& chunks : std::vector<std::vector<std::int64_t>>{{30, 30}, {1, 0, 46, 13}}) {
          CHECK(in_chunks(propagator, shot, chunks) == whole);
          CHECK(propagator.state().step() == 60);
          CHECK(propagator.state().fields() == last);
        }
      }
    }
  }
}

TEST_CASE("a run of every equation in chunks, with substeps and a free surface, is the whole run") {
  ONDULA_NEEDS_CLANG();
  for (const EquationDefinition& equation : equations::all()) {
    CAPTURE(equation.name());
    const EquationFacts known = facts(equation, {"z", "x"});
    PropagatorOptions options = small_options();
    options.substeps = 2;
    Propagator propagator(equation, half_open_grid(2), options);
    for (const std::string& name : known.parameters)
      propagator.set_model(name, name == "vs" ? 1100.0 : 2000.0);
    std::vector<double> bump(24 * 24);
    for (std::size_t i = 0; i < bump.size(); ++i) {
      const double z = static_cast<double>(i / 24) - 9, x = static_cast<double>(i % 24) - 13;
      bump[i] = std::exp(-0.1 * (z * z + x * x));
    }
    Shot shot;
    for (const std::string& field : known.fields) {
      propagator.set_initial(field, bump);
      shot.receivers.push_back({field, {100, 104}});
    }
    const Records whole = propagator.forward({&shot, 1});
    const auto last = propagator.state().fields();
    propagator.forward({&shot, 1}, 23);
    propagator.set_state(propagator.state());
    const Records rest = propagator.forward({&shot, 1}, 37);
    for (const std::string& field : known.fields) {
      CAPTURE(field);
      const std::vector<double>& samples = whole.at(0).at(field).data;
      CHECK(max_abs(samples) > 0);
      CHECK(std::equal(samples.begin() + 23, samples.end(), rest.at(0).at(field).data.begin()));
    }
    CHECK(propagator.state().fields() == last);
  }
}

TEST_CASE("a state is a value: it serves another Propagator, several shots, and again after other calls") {
  ONDULA_NEEDS_CLANG();
  PropagatorOptions options = small_options();
  Propagator first(equations::acoustic(), small_grid(2), options);
  CHECK(first.state().empty());
  CHECK(first.state().names().empty());
  const std::vector<double> whole = small_record(first, 2);
  first.set_model("vp", 2000);
  const Shot shot = small_shot(2);
  first.forward({&shot, 1}, 25);
  const State middle = first.state();
  CHECK(middle.step() == 25);
  CHECK(middle.names() == std::vector<std::string>{"u", "u.previous"});
  CHECK_THROWS_WITH_AS(middle.at("v"), "no field v in the state; there are: u, u.previous", UserError);
  first.forward({&shot, 1}, 35);  // from t0, since no state was set

  Propagator second(equations::acoustic(), small_grid(2), options);
  second.set_model("vp", 2000);
  second.set_state(middle);
  for (int round = 0; round < 2; ++round) {
    const std::vector<Shot> shots = {shot, shot};
    const Records records = second.forward(shots, 35);
    REQUIRE(records.size() == 2);
    CHECK(records[0].at("u").data == records[1].at("u").data);
    for (std::size_t r = 0; r < 2; ++r) {
      const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(r) * 60 + 25;
      const auto rest = records[0].at("u").data.begin() + static_cast<std::ptrdiff_t>(r) * 35;
      CHECK(std::vector<double>(begin, begin + 35) == std::vector<double>(rest, rest + 35));
    }
  }
  second.set_state({});
  CHECK(second.forward({&shot, 1}).at(0).at("u").data == whole);
}

TEST_CASE("a cancelled run goes on from where it stopped") {
  ONDULA_NEEDS_CLANG();
  PropagatorOptions options = small_options();
  std::int64_t left = 1000;
  options.cancel = [&] { return left-- == 0; };
  Propagator propagator(equations::acoustic(), small_grid(2), options);
  const std::vector<double> whole = small_record(propagator, 2);
  const Shot shot = small_shot(2);
  left = 20;
  CHECK_THROWS_AS(propagator.forward({&shot, 1}), Cancelled);
  CHECK(propagator.state().step() == 20);
  propagator.set_state(propagator.state());
  const std::vector<double> rest = propagator.forward({&shot, 1}, 40).at(0).at("u").data;
  CHECK(std::vector<double>(whole.begin() + 20, whole.begin() + 60) ==
        std::vector<double>(rest.begin(), rest.begin() + 40));
}

TEST_CASE("the state of another equation, grid, order, dt, type or backend is refused by name") {
  ONDULA_NEEDS_CLANG();
  Propagator source(equations::acoustic(), small_grid(2), small_options());
  small_record(source, 2);
  const State state = source.state();
  const auto refused = [&](const Grid& grid, const std::function<void(PropagatorOptions&)>& change,
                           const char* part) {
    PropagatorOptions options = small_options();
    options.compile_later = true;
    change(options);
    Propagator other(equations::acoustic(), grid, options);
    CHECK_THROWS_WITH_AS(other.set_state(state), doctest::Contains(part), UserError);
  };
  refused(small_grid(2, 25), [](PropagatorOptions&) {}, "another grid");
  refused(small_grid(2, 24, {FaceKind::absorbing, 6}), [](PropagatorOptions&) {}, "another grid");
  refused(small_grid(3), [](PropagatorOptions&) {}, "another grid");
  refused(small_grid(2), [](PropagatorOptions& o) { o.order = 6; }, "another order, 4,");
  refused(small_grid(2), [](PropagatorOptions& o) { o.dt = 5e-4; }, "another dt, 0.001 s,");
  refused(small_grid(2), [](PropagatorOptions& o) { o.dtype = DType::float64; }, "another working type");
  refused(small_grid(2), [](PropagatorOptions& o) { o.backend = Backend::reference; }, "another backend");
  refused(small_grid(2), [](PropagatorOptions& o) { o.absorb.kappa = 2; }, "absorb.kappa");
  CHECK_THROWS_WITH_AS(source.forward({}, -1), "steps = -1: it must be 0 or more", UserError);
}

}  // namespace ondula::test
