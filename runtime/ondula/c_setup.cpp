// The C interface: grids, options, sources and shots.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <array>
#include <limits>
#include <memory>

#include "runtime/ondula/c_handles.hpp"

using namespace ondula;
using c::given;
using c::guarded;
using c::index_of;

namespace {

int to_int(const char* name, std::int64_t value) {
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
    throw UserError(fmt::format("option {}: found {}", name, value));
  return static_cast<int>(value);
}

std::size_t to_size(const char* name, std::int64_t value) {
  if (value < 0) throw UserError(fmt::format("option {}: found {}; it must be 0 or more", name, value));
  return static_cast<std::size_t>(value);
}

Interpolation interpolation_of(const char* name) {
  return index_of("interpolation", name, {"sinc", "linear"}) == 0 ? Interpolation::sinc
                                                                  : Interpolation::linear;
}

std::string text(const char* argument, const char* what) { return &given(argument, what); }

}  // namespace

extern "C" {

ondula_status ondula_grid_create(const char* axes, const int64_t* shape, const double* spacing,
                                 const double* origin, ondula_grid** grid, ondula_error** error) {
  return guarded(error, [&] {
    given(grid, "grid") = nullptr;
    auto made = std::make_unique<ondula_grid>();
    for (const char letter : text(axes, "axes")) made->value.axes.emplace_back(1, letter);
    const std::size_t dims = made->value.axes.size();
    const auto extents = given(shape, dims, "shape");
    const auto spacings = given(spacing, dims, "spacing");
    made->value.shape.assign(extents.begin(), extents.end());
    made->value.spacing.assign(spacings.begin(), spacings.end());
    made->value.origin.assign(dims, 0.0);
    if (origin != nullptr) made->value.origin.assign(origin, origin + dims);
    made->value.faces.resize(dims);
    *grid = made.release();
  });
}

ondula_status ondula_grid_set_face(ondula_grid* grid, const char* name, ondula_face kind, int width,
                                   ondula_error** error) {
  return guarded(error, [&] {
    Grid& g = given(grid, "grid").value;
    std::vector<std::string> known;
    for (const std::string& axis : g.axes) {
      known.push_back(axis + "-");
      known.push_back(axis + "+");
    }
    const std::size_t face = index_of("face", name, known);
    static constexpr std::array kinds = {FaceKind::absorbing, FaceKind::free_surface, FaceKind::rigid,
                                         FaceKind::periodic};
    const auto number = static_cast<std::size_t>(kind);
    if (number >= kinds.size())
      throw UserError(fmt::format("face {}: kind {}; allowed are 0 to {}", name, number, kinds.size() - 1));
    g.faces[face / 2][face % 2] = {kinds[number], kinds[number] == FaceKind::absorbing ? width : 0};
  });
}

void ondula_grid_free(ondula_grid* grid) { delete grid; }

ondula_status ondula_options_create(double dt, int64_t steps, ondula_options** options,
                                    ondula_error** error) {
  return guarded(error, [&] {
    given(options, "options") = nullptr;
    auto made = std::make_unique<ondula_options>();
    made->value.dt = dt;
    made->value.steps = steps;
    *options = made.release();
  });
}

ondula_status ondula_options_set_integer(ondula_options* options, const char* name, int64_t value,
                                         ondula_error** error) {
  return guarded(error, [&] {
    PropagatorOptions& o = given(options, "options").value;
    switch (index_of("option", name,
                     {"order", "substeps", "threads", "device_bytes_limit", "cache_limit", "device", "tune",
                      "shot_batch"})) {
      case 0:
        o.order = to_int(name, value);
        break;
      case 1:
        o.substeps.reset();
        if (value != 0) o.substeps = to_int(name, value);
        break;
      case 2:
        o.threads = to_int(name, value);
        break;
      case 3:
        o.device_bytes_limit = to_size(name, value);
        break;
      case 4:
        o.cache.limit_bytes = to_size(name, value);
        break;
      case 5:
        o.device = to_int(name, value);
        break;
      case 6:
        o.tune = value != 0;
        break;
      default:
        o.shot_batch = to_int(name, value);
    }
  });
}

ondula_status ondula_options_set_number(ondula_options* options, const char* name, double value,
                                        ondula_error** error) {
  return guarded(error, [&] {
    PropagatorOptions& o = given(options, "options").value;
    switch (index_of("option", name,
                     {"t0", "absorb.frequency", "absorb.velocity", "absorb.reflection", "absorb.kappa"})) {
      case 0:
        o.t0 = value;
        break;
      case 1:
        o.absorb.frequency = value;
        break;
      case 2:
        o.absorb.velocity = value;
        break;
      case 3:
        o.absorb.reflection = value;
        break;
      default:
        o.absorb.kappa = value;
    }
  });
}

ondula_status ondula_options_set_text(ondula_options* options, const char* name, const char* value,
                                      ondula_error** error) {
  return guarded(error, [&] {
    PropagatorOptions& o = given(options, "options").value;
    switch (index_of("option", name, {"dtype", "backend", "cache"})) {
      case 0:
        o.dtype = index_of("dtype", value, {"float32", "float64"}) == 0 ? DType::float32 : DType::float64;
        break;
      case 1:
        o.backend =
            static_cast<Backend>(index_of("backend", value, {"host", "reference", "cuda", "cuda-sim"}));
        break;
      default:
        o.cache.directory = text(value, "cache");
    }
  });
}

ondula_status ondula_options_set_log(ondula_options* options, ondula_log log, void* user,
                                     ondula_error** error) {
  return guarded(error, [&] {
    auto& sink = given(options, "options").value.log;
    sink = nullptr;
    if (log != nullptr) sink = [log, user](const std::string& message) { log(user, message.c_str()); };
  });
}

ondula_status ondula_options_set_cancel(ondula_options* options, ondula_cancel cancel, void* user,
                                        ondula_error** error) {
  return guarded(error, [&] {
    auto& asked = given(options, "options").value.cancel;
    asked = nullptr;
    if (cancel != nullptr) asked = [cancel, user] { return cancel(user) != 0; };
  });
}

ondula_status ondula_options_set_progress(ondula_options* options, ondula_progress progress, void* user,
                                          ondula_error** error) {
  return guarded(error, [&] {
    auto& told = given(options, "options").value.progress;
    told = nullptr;
    if (progress != nullptr)
      told = [progress, user](const Progress& p) { progress(user, p.shot, p.shots, p.step, p.steps); };
  });
}

void ondula_options_free(ondula_options* options) { delete options; }

ondula_status ondula_source_create(const char* field, const double* position, size_t coordinates,
                                   const double* wavelet, size_t samples, ondula_source** source,
                                   ondula_error** error) {
  return guarded(error, [&] {
    given(source, "source") = nullptr;
    auto made = std::make_unique<ondula_source>();
    if (field != nullptr) made->value.field = field;
    const auto at = given(position, coordinates, "position");
    made->value.position.assign(at.begin(), at.end());
    const auto series = given(wavelet, samples, "wavelet");
    made->value.wavelet.assign(series.begin(), series.end());
    *source = made.release();
  });
}

ondula_status ondula_source_set_number(ondula_source* source, const char* name, double value,
                                       ondula_error** error) {
  return guarded(error, [&] {
    Source& s = given(source, "source").value;
    index_of("property of a source", name, {"strength"});
    s.strength = value;
  });
}

ondula_status ondula_source_set_text(ondula_source* source, const char* name, const char* value,
                                     ondula_error** error) {
  return guarded(error, [&] {
    Source& s = given(source, "source").value;
    switch (index_of("property of a source", name, {"kind", "scaling", "interpolation"})) {
      case 0: {
        static constexpr std::array kinds = {SourceKind::point, SourceKind::force, SourceKind::moment_rate};
        s.kind = kinds[index_of("kind", value, {"point", "force", "moment_rate"})];
        break;
      }
      case 1:
        s.scaling = index_of("scaling", value, {"physical", "raw"}) == 0 ? Scaling::physical : Scaling::raw;
        break;
      default:
        s.interpolation = interpolation_of(value);
    }
  });
}

ondula_status ondula_source_set_vector(ondula_source* source, const char* name, const double* values,
                                       size_t count, ondula_error** error) {
  return guarded(error, [&] {
    Source& s = given(source, "source").value;
    index_of("property of a source", name, {"components"});
    const auto components = given(values, count, "values");
    s.components.assign(components.begin(), components.end());
  });
}

void ondula_source_free(ondula_source* source) { delete source; }

ondula_status ondula_shot_create(ondula_shot** shot, ondula_error** error) {
  return guarded(error, [&] {
    given(shot, "shot") = nullptr;
    *shot = std::make_unique<ondula_shot>().release();
  });
}

ondula_status ondula_shot_add_source(ondula_shot* shot, const ondula_source* source, ondula_error** error) {
  return guarded(error, [&] { given(shot, "shot").value.sources.push_back(given(source, "source").value); });
}

ondula_status ondula_shot_add_receiver(ondula_shot* shot, const char* field, const double* position,
                                       size_t coordinates, const char* interpolation, ondula_error** error) {
  return guarded(error, [&] {
    Receiver receiver;
    receiver.field = text(field, "field");
    const auto at = given(position, coordinates, "position");
    receiver.position.assign(at.begin(), at.end());
    if (interpolation != nullptr) receiver.interpolation = interpolation_of(interpolation);
    given(shot, "shot").value.receivers.push_back(std::move(receiver));
  });
}

ondula_status ondula_shot_add_fibre(ondula_shot* shot, const double* position, const double* direction,
                                    size_t coordinates, const char* interpolation, ondula_error** error) {
  return guarded(error, [&] {
    Receiver receiver;
    receiver.field = "fibre";
    const auto at = given(position, coordinates, "position");
    receiver.position.assign(at.begin(), at.end());
    const auto along = given(direction, coordinates, "direction");
    receiver.direction.assign(along.begin(), along.end());
    if (interpolation != nullptr) receiver.interpolation = interpolation_of(interpolation);
    given(shot, "shot").value.receivers.push_back(std::move(receiver));
  });
}

void ondula_shot_free(ondula_shot* shot) { delete shot; }

}  // extern "C"
