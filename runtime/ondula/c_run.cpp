// The C interface: propagators, records and states.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "runtime/equation_file.hpp"
#include "runtime/ondula/c_handles.hpp"

using namespace ondula;
using c::copy_out;
using c::given;
using c::guarded;

namespace {

std::string text(const char* argument, const char* what) { return &given(argument, what); }

std::vector<Shot> shots_of(const ondula_shot* const* shots, std::size_t count) {
  std::vector<Shot> result;
  for (const ondula_shot* shot : given(shots, count, "shots")) result.push_back(given(shot, "a shot").value);
  return result;
}

const Traces& traces_of(const ondula_records* records, std::size_t shot, const char* field) {
  const Records& all = given(records, "records").value;
  if (shot >= all.size())
    throw UserError(fmt::format("records: shot {} of {}; the first is 0", shot, all.size()));
  std::vector<std::string> known;
  for (const auto& [name, traces] : all[shot]) known.push_back(name);
  c::index_of("field of the records", field, known);
  return all[shot].at(field);
}

}  // namespace

extern "C" {

ondula_status ondula_propagator_create(const char* equation, const ondula_grid* grid,
                                       const ondula_options* options, ondula_propagator** propagator,
                                       ondula_error** error) {
  return guarded(error, [&] {
    given(propagator, "propagator") = nullptr;
    const EquationDefinition definition = find_equation(text(equation, "equation"));
    Propagator made(definition, given(grid, "grid").value, given(options, "options").value);
    *propagator = std::make_unique<ondula_propagator>(ondula_propagator{std::move(made)}).release();
  });
}

ondula_status ondula_propagator_set_model(ondula_propagator* propagator, const char* name,
                                          const double* values, size_t count, ondula_error** error) {
  return guarded(error, [&] {
    given(propagator, "propagator").value.set_model(text(name, "name"), given(values, count, "values"));
  });
}

ondula_status ondula_propagator_set_model_constant(ondula_propagator* propagator, const char* name,
                                                   double value, ondula_error** error) {
  return guarded(error, [&] { given(propagator, "propagator").value.set_model(text(name, "name"), value); });
}

ondula_status ondula_propagator_set_initial(ondula_propagator* propagator, const char* name,
                                            const double* values, size_t count, ondula_error** error) {
  return guarded(error, [&] {
    given(propagator, "propagator").value.set_initial(text(name, "name"), given(values, count, "values"));
  });
}

ondula_status ondula_propagator_forward(ondula_propagator* propagator, const ondula_shot* const* shots,
                                        size_t count, int64_t steps, ondula_records** records,
                                        ondula_error** error) {
  return guarded(error, [&] {
    given(records, "records") = nullptr;
    Propagator& p = given(propagator, "propagator").value;
    const std::vector<Shot> all = shots_of(shots, count);
    auto made = std::make_unique<ondula_records>();
    made->value = steps < 0 ? p.forward(all) : p.forward(all, steps);
    *records = made.release();
  });
}

ondula_status ondula_propagator_state(const ondula_propagator* propagator, ondula_state** state,
                                      ondula_error** error) {
  return guarded(error, [&] {
    given(state, "state") = nullptr;
    auto made = std::make_unique<ondula_state>();
    made->value = given(propagator, "propagator").value.state();
    *state = made.release();
  });
}

ondula_status ondula_propagator_set_state(ondula_propagator* propagator, const ondula_state* state,
                                          ondula_error** error) {
  return guarded(error, [&] {
    given(propagator, "propagator").value.set_state(state != nullptr ? state->value : State());
  });
}

ondula_status ondula_propagator_on_step(ondula_propagator* propagator, int64_t every,
                                        ondula_step_callback callback, void* user, ondula_error** error) {
  return guarded(error, [&] {
    std::function<void(const StepView&)> called;
    if (callback != nullptr) {
      called = [callback, user](const StepView& view) {
        const ondula_step step{view};
        callback(user, &step);
      };
    }
    given(propagator, "propagator").value.on_step(every, std::move(called));
  });
}

ondula_status ondula_propagator_time_offset(const ondula_propagator* propagator, const char* field,
                                            double* seconds, ondula_error** error) {
  return guarded(error, [&] {
    given(seconds, "seconds") = given(propagator, "propagator").value.time_offset(text(field, "field"));
  });
}

ondula_status ondula_propagator_estimate(const ondula_propagator* propagator, const ondula_shot* const* shots,
                                         size_t count, ondula_estimate* estimate, ondula_error** error) {
  return guarded(error, [&] {
    const std::vector<Shot> all = shots_of(shots, count);
    const Estimate e = given(propagator, "propagator").value.estimate(all);
    given(estimate, "estimate") = {
        e.cfl_limit,     e.dt,           e.fastest,    e.slowest,  e.points_per_wavelength,  e.points,
        e.padded_points, e.device_bytes, e.host_bytes, e.substeps, e.refusal.empty() ? 0 : 1};
  });
}

void ondula_propagator_free(ondula_propagator* propagator) { delete propagator; }

int64_t ondula_step_shot(const ondula_step* step) { return step->value.shot; }
int64_t ondula_step_number(const ondula_step* step) { return step->value.step; }
double ondula_step_time(const ondula_step* step) { return step->value.time; }

ondula_status ondula_step_field(const ondula_step* step, const char* name, double* values, size_t count,
                                ondula_error** error) {
  return guarded(error, [&] {
    const std::string field = text(name, "name");
    copy_out(given(step, "step").value.field(field), values, count, "field " + field);
  });
}

size_t ondula_records_shots(const ondula_records* records) {
  return records != nullptr ? records->value.size() : 0;
}

ondula_status ondula_records_size(const ondula_records* records, size_t shot, const char* field,
                                  int64_t* receivers, int64_t* samples, ondula_error** error) {
  return guarded(error, [&] {
    const Traces& traces = traces_of(records, shot, field);
    given(receivers, "receivers") = traces.receivers;
    given(samples, "samples") = traces.samples;
  });
}

ondula_status ondula_records_copy(const ondula_records* records, size_t shot, const char* field,
                                  double* values, size_t count, ondula_error** error) {
  return guarded(error, [&] {
    copy_out(traces_of(records, shot, field).data, values, count, fmt::format("records of shot {}", shot));
  });
}

void ondula_records_free(ondula_records* records) { delete records; }

int64_t ondula_state_step(const ondula_state* state) { return state != nullptr ? state->value.step() : 0; }

ondula_status ondula_state_field(const ondula_state* state, const char* name, double* values, size_t count,
                                 ondula_error** error) {
  return guarded(error, [&] {
    const std::string field = text(name, "name");
    copy_out(given(state, "state").value.at(field), values, count, "field " + field);
  });
}

void ondula_state_free(ondula_state* state) { delete state; }

}  // extern "C"
