// The C interface: the same records as from C++, errors as codes with words, handles that stay usable.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/moment.hpp"
#include "runtime/ondula/ondula.h"
#include "tests/runtime/jit/support.hpp"
#include "tests/runtime/propagator/small.hpp"
#include "tests/support/compare.hpp"

namespace ondula::test {
namespace {

/// Frees a handle at the end of its scope.
template <auto release>
struct Release {
  template <class T>
  void operator()(T* handle) const {
    release(handle);
  }
};
using GridHandle = std::unique_ptr<ondula_grid, Release<ondula_grid_free>>;
using OptionsHandle = std::unique_ptr<ondula_options, Release<ondula_options_free>>;
using ShotHandle = std::unique_ptr<ondula_shot, Release<ondula_shot_free>>;
using SourceHandle = std::unique_ptr<ondula_source, Release<ondula_source_free>>;
using PropagatorHandle = std::unique_ptr<ondula_propagator, Release<ondula_propagator_free>>;
using RecordsHandle = std::unique_ptr<ondula_records, Release<ondula_records_free>>;
using StateHandle = std::unique_ptr<ondula_state, Release<ondula_state_free>>;

/// The status of call(&error); what the error says.
template <class F>
std::pair<ondula_status, std::string> outcome(const F& call) {
  ondula_error* error = nullptr;
  const ondula_status status = call(&error);
  const std::string message = ondula_error_message(error);
  CHECK((error == nullptr) == (status == ONDULA_DONE));
  ondula_error_free(error);
  return {status, message};
}

template <class F>
void done(const F& call) {
  const auto [status, message] = outcome(call);
  INFO(message);
  REQUIRE(status == ONDULA_DONE);
}

/// small_grid(2), small_options() and small_shot(2) of the C++ tests, as handles.
struct Handles {
  GridHandle grid;
  OptionsHandle options;
  ShotHandle shot;

  Handles() {
    const Grid g = small_grid(2);
    ondula_grid* made = nullptr;
    done([&](auto e) {
      return ondula_grid_create("zx", g.shape.data(), g.spacing.data(), nullptr, &made, e);
    });
    grid.reset(made);
    for (const char* face : {"z-", "z+", "x-", "x+"})
      done([&](auto e) { return ondula_grid_set_face(made, face, ONDULA_FACE_ABSORBING, 5, e); });
    ondula_options* o = nullptr;
    done([&](auto e) { return ondula_options_create(1e-3, 60, &o, e); });
    options.reset(o);
    done([&](auto e) { return ondula_options_set_integer(o, "order", 4, e); });
    ondula_shot* s = nullptr;
    done([&](auto e) { return ondula_shot_create(&s, e); });
    shot.reset(s);
    const Shot from = small_shot(2);
    for (const Source& source : from.sources) {
      ondula_source* c = nullptr;
      done([&](auto e) {
        return ondula_source_create(source.field.c_str(), source.position.data(), source.position.size(),
                                    source.wavelet.data(), source.wavelet.size(), &c, e);
      });
      const SourceHandle owner(c);
      done([&](auto e) { return ondula_source_set_number(c, "strength", source.strength, e); });
      done([&](auto e) { return ondula_source_set_text(c, "scaling", "physical", e); });
      done([&](auto e) { return ondula_source_set_text(c, "interpolation", "sinc", e); });
      done([&](auto e) { return ondula_shot_add_source(s, c, e); });
    }
    for (const Receiver& receiver : from.receivers) {
      done([&](auto e) {
        return ondula_shot_add_receiver(s, receiver.field.c_str(), receiver.position.data(),
                                        receiver.position.size(), nullptr, e);
      });
    }
  }

  PropagatorHandle propagator() const {
    ondula_propagator* made = nullptr;
    done([&](auto e) { return ondula_propagator_create("acoustic", grid.get(), options.get(), &made, e); });
    PropagatorHandle owner(made);
    done([&](auto e) { return ondula_propagator_set_model_constant(made, "vp", 2000, e); });
    return owner;
  }

  std::vector<double> record(ondula_propagator* p, std::int64_t steps = -1) const {
    const ondula_shot* shots[] = {shot.get()};
    ondula_records* records = nullptr;
    done([&](auto e) { return ondula_propagator_forward(p, shots, 1, steps, &records, e); });
    const RecordsHandle owner(records);
    CHECK(ondula_records_shots(records) == 1);
    std::int64_t receivers = 0, samples = 0;
    done([&](auto e) { return ondula_records_size(records, 0, "u", &receivers, &samples, e); });
    std::vector<double> values(static_cast<std::size_t>(receivers * samples));
    done([&](auto e) { return ondula_records_copy(records, 0, "u", values.data(), values.size(), e); });
    const auto [status, message] = outcome(
        [&](auto e) { return ondula_records_copy(records, 0, "v", values.data(), values.size(), e); });
    CHECK(status == ONDULA_USER_ERROR);
    CHECK(message.find("Allowed: u") != std::string::npos);
    return values;
  }
};

}  // namespace

TEST_CASE("C: records are those of C++, bit for bit, whole and in chunks") {
  ONDULA_NEEDS_CLANG();
  CHECK(std::string(ondula_version()).starts_with("0."));
  const Handles handles;
  const PropagatorHandle p = handles.propagator();
  const std::vector<double> expected = small_record(2, small_options());
  CHECK(handles.record(p.get()) == expected);

  const std::vector<double> begin = handles.record(p.get(), 20);
  ondula_state* state = nullptr;
  done([&](auto e) { return ondula_propagator_state(p.get(), &state, e); });
  const StateHandle owner(state);
  CHECK(ondula_state_step(state) == 20);
  std::vector<double> field(24 * 24);
  done([&](auto e) { return ondula_state_field(state, "u.previous", field.data(), field.size(), e); });
  done([&](auto e) { return ondula_propagator_set_state(p.get(), state, e); });
  const std::vector<double> rest = handles.record(p.get(), 40);
  std::vector<double> joined;
  for (std::ptrdiff_t r = 0; r < 2; ++r) {
    joined.insert(joined.end(), begin.begin() + 20 * r, begin.begin() + 20 * (r + 1));
    joined.insert(joined.end(), rest.begin() + 40 * r, rest.begin() + 40 * (r + 1));
  }
  CHECK(joined == expected);
  done([&](auto e) { return ondula_propagator_set_state(p.get(), nullptr, e); });
  CHECK(handles.record(p.get()) == expected);

  const std::vector<double> model(24 * 24, 2000.0), zero(24 * 24, 0.0);
  done([&](auto e) { return ondula_propagator_set_model(p.get(), "vp", model.data(), model.size(), e); });
  done([&](auto e) { return ondula_propagator_set_initial(p.get(), "u", zero.data(), zero.size(), e); });
  CHECK(handles.record(p.get()) == expected);
}

TEST_CASE("C: options, faces and estimate have their effect") {
  ONDULA_NEEDS_CLANG();
  const Handles handles;
  ondula_options* o = handles.options.get();
  done([&](auto e) { return ondula_options_set_text(o, "dtype", "float64", e); });
  done([&](auto e) { return ondula_options_set_text(o, "backend", "reference", e); });
  done([&](auto e) { return ondula_options_set_number(o, "absorb.kappa", 2, e); });
  done([&](auto e) { return ondula_options_set_number(o, "absorb.frequency", 20, e); });
  done([&](auto e) { return ondula_options_set_integer(o, "substeps", 1, e); });
  done(
      [&](auto e) { return ondula_grid_set_face(handles.grid.get(), "z-", ONDULA_FACE_FREE_SURFACE, 0, e); });
  const PropagatorHandle p = handles.propagator();
  PropagatorOptions options = small_options();
  options.dtype = DType::float64;
  options.backend = Backend::reference;
  options.absorb.kappa = 2;
  options.absorb.frequency = 20;
  options.substeps = 1;
  Grid grid = small_grid(2);
  grid.faces[0][0] = {FaceKind::free_surface, 0};
  Propagator expected(equations::acoustic(), grid, options);
  CHECK(handles.record(p.get()) == small_record(expected, 2));

  const ondula_shot* shots[] = {handles.shot.get()};
  ondula_estimate found = {};
  done([&](auto e) { return ondula_propagator_estimate(p.get(), shots, 1, &found, e); });
  const Shot shot = small_shot(2);
  const Estimate e = expected.estimate({&shot, 1});
  CHECK(found.cfl_limit == e.cfl_limit);
  CHECK(found.fastest == 2000);
  CHECK(found.points == 576);
  CHECK(found.padded_points == e.padded_points);
  CHECK(found.host_bytes == e.host_bytes);
  CHECK(found.substeps == 1);
  CHECK(found.refused == 0);
}

TEST_CASE("C: callbacks are called with their pointer; cancel ends a call with its own status") {
  ONDULA_NEEDS_CLANG();
  struct Seen {
    int polls = 0, limit = 1000, steps = 0;
    std::int64_t progress = 0;
    bool field = false;
  } seen;
  const Handles handles;
  ondula_options* o = handles.options.get();
  const auto cancel = [](void* user) -> int {
    auto* s = static_cast<Seen*>(user);
    return ++s->polls > s->limit ? 1 : 0;
  };
  const auto progress = [](void* user, int64_t, int64_t, int64_t step, int64_t) {
    static_cast<Seen*>(user)->progress = step;
  };
  const auto each = [](void* user, const ondula_step* step) {
    auto* s = static_cast<Seen*>(user);
    ++s->steps;
    std::vector<double> values(24 * 24);
    s->field = ondula_step_field(step, "u", values.data(), values.size(), nullptr) == ONDULA_DONE &&
               ondula_step_field(step, "u", values.data(), 5, nullptr) == ONDULA_USER_ERROR &&
               ondula_step_shot(step) == 0 &&
               ondula_step_time(step) == 1e-3 * static_cast<double>(ondula_step_number(step));
  };
  done([&](auto e) { return ondula_options_set_cancel(o, cancel, &seen, e); });
  done([&](auto e) { return ondula_options_set_progress(o, progress, &seen, e); });
  const PropagatorHandle p = handles.propagator();
  done([&](auto e) { return ondula_propagator_on_step(p.get(), 20, each, &seen, e); });
  const std::vector<double> expected = handles.record(p.get());
  CHECK(seen.polls == 60);
  CHECK(seen.progress == 60);
  CHECK(seen.steps == 3);
  CHECK(seen.field);
  seen.limit = 70;
  const ondula_shot* shots[] = {handles.shot.get()};
  ondula_records* records = nullptr;
  const auto [status, message] =
      outcome([&](auto e) { return ondula_propagator_forward(p.get(), shots, 1, -1, &records, e); });
  CHECK(status == ONDULA_CANCELLED);
  CHECK(records == nullptr);
  CHECK(message == "cancelled at step 10 of shot 0");
  seen.limit = 1000;
  CHECK(handles.record(p.get()) == expected);
}

TEST_CASE("C: forces, moment rates, fibres and pressure of an elastic shot are those of C++") {
  ONDULA_NEEDS_CLANG();
  Handles handles;
  const std::vector<double> wavelet = small_shot(2).sources[0].wavelet, at = {100, 110}, force = {0, 2e3},
                            slip = double_couple_2d(30), along = {1, 0.5};
  Shot shot;
  Source source;
  source.position = at;
  source.wavelet = wavelet;
  source.kind = SourceKind::force;
  source.field = "v";
  source.components = force;
  shot.sources.push_back(source);
  source.kind = SourceKind::moment_rate;
  source.field.clear();
  source.components = slip;
  shot.sources.push_back(source);
  shot.receivers.push_back({"fibre", at, Interpolation::linear, along});
  shot.receivers.push_back({"pressure", {60, 60}, Interpolation::sinc, {}});
  Propagator expected(equations::elastic(), small_grid(2), small_options());

  ondula_shot* s = nullptr;
  done([&](auto e) { return ondula_shot_create(&s, e); });
  handles.shot.reset(s);
  for (const Source& from : shot.sources) {
    ondula_source* c = nullptr;
    const char* field = from.field.empty() ? nullptr : from.field.c_str();
    done([&](auto e) {
      return ondula_source_create(field, at.data(), 2, wavelet.data(), wavelet.size(), &c, e);
    });
    const SourceHandle owner(c);
    const char* kind = from.kind == SourceKind::force ? "force" : "moment_rate";
    done([&](auto e) { return ondula_source_set_text(c, "kind", kind, e); });
    done([&](auto e) {
      return ondula_source_set_vector(c, "components", from.components.data(), from.components.size(), e);
    });
    done([&](auto e) { return ondula_shot_add_source(s, c, e); });
  }
  done([&](auto e) { return ondula_shot_add_fibre(s, at.data(), along.data(), 2, "linear", e); });
  const std::vector<double> second = {60, 60};
  done([&](auto e) { return ondula_shot_add_receiver(s, "pressure", second.data(), 2, nullptr, e); });
  ondula_propagator* p = nullptr;
  done([&](auto e) {
    return ondula_propagator_create("elastic", handles.grid.get(), handles.options.get(), &p, e);
  });
  const PropagatorHandle owner(p);
  for (const auto& [name, value] : {std::pair{"vp", 2000.0}, {"vs", 1100.0}, {"rho", 2200.0}}) {
    expected.set_model(name, value);
    done([&, &n = name, &v = value](auto e) { return ondula_propagator_set_model_constant(p, n, v, e); });
  }
  const ondula_shot* shots[] = {s};
  ondula_records* records = nullptr;
  done([&](auto e) { return ondula_propagator_forward(p, shots, 1, -1, &records, e); });
  const RecordsHandle kept(records);
  const Records wanted = expected.forward({&shot, 1});
  for (const char* field : {"fibre", "pressure"}) {
    const std::vector<double>& traces = wanted.at(0).at(field).data;
    CHECK(max_abs(traces) > 0);
    std::vector<double> found(traces.size());
    done([&](auto e) { return ondula_records_copy(records, 0, field, found.data(), found.size(), e); });
    CHECK(found == traces);
    double offset = 1;
    done([&](auto e) { return ondula_propagator_time_offset(p, field, &offset, e); });
    CHECK(offset == expected.time_offset(field));
  }
  double offset = 0;
  const auto [status, message] =
      outcome([&](auto e) { return ondula_propagator_time_offset(p, "preasure", &offset, e); });
  CHECK(status == ONDULA_USER_ERROR);
  CHECK(message.find("no field preasure to record; there are: ") == 0);
}

TEST_CASE("C: wrong input is a status with words, a null pointer too, and nothing is made") {
  const auto refused = [](const auto& call, const char* part) {
    const auto [status, message] = outcome(call);
    INFO(message);
    CHECK(status == ONDULA_USER_ERROR);
    CHECK(message.find(part) != std::string::npos);
  };
  const Handles handles;
  ondula_options* o = handles.options.get();
  refused([&](auto e) { return ondula_options_set_integer(o, "ordre", 4, e); }, "Did you mean \"order\"?");
  done([&](auto e) { return ondula_options_set_integer(o, "tune", 1, e); });
  done([&](auto e) { return ondula_options_set_integer(o, "tune", 0, e); });
  refused([&](auto e) { return ondula_options_set_text(o, "dtype", "float16", e); },
          "Allowed: float32, float64");
  refused([&](auto e) { return ondula_options_set_text(o, "dtype", nullptr, e); }, "dtype is NULL");
  refused([&](auto e) { return ondula_options_set_integer(o, "threads", std::int64_t{1} << 40, e); },
          "option threads: found 1099511627776");
  refused([&](auto e) { return ondula_grid_set_face(handles.grid.get(), "y-", ONDULA_FACE_RIGID, 0, e); },
          "Allowed: z-, z+, x-, x+");
  refused([&](auto e) { return ondula_grid_set_face(nullptr, "z-", ONDULA_FACE_RIGID, 0, e); },
          "grid is NULL");
  ondula_propagator* p = nullptr;
  refused([&](auto e) { return ondula_propagator_create("acustic", handles.grid.get(), o, &p, e); },
          "\"acustic\"");
  CHECK(p == nullptr);
  refused([&](auto e) { return ondula_shot_add_source(handles.shot.get(), nullptr, e); }, "source is NULL");
  refused([&](auto e) { return ondula_propagator_set_model_constant(nullptr, "vp", 1, e); },
          "propagator is NULL");
  CHECK(ondula_shot_add_source(nullptr, nullptr, nullptr) == ONDULA_USER_ERROR);
  CHECK(ondula_records_shots(nullptr) == 0);
  ondula_grid_free(nullptr);
  ondula_error_free(nullptr);
  CHECK(std::string(ondula_error_log(nullptr)).empty());
}

}  // namespace ondula::test
