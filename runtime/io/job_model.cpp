// Loading a job's models onto the grid: units, floors, shapes, and what their values may be.
// SPDX-License-Identifier: MIT
#include "runtime/io/job_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"
#include "runtime/io/diagnose.hpp"
#include "runtime/io/npy.hpp"
#include "runtime/io/suggest.hpp"

namespace ondula::io {

namespace {

/// A stored unit: value in `base` = factor · stored^power (power −1 slowness, −½ squared slowness).
struct Unit {
  std::string name;
  std::string base;
  double factor;
  double power;
};

const std::vector<Unit>& unit_table() {
  static const std::vector<Unit> table = {{"m/s", "m/s", 1, 1},
                                          {"km/s", "m/s", 1000, 1},
                                          {"ft/s", "m/s", 0.3048, 1},
                                          {"s/m", "m/s", 1, -1},
                                          {"s/km", "m/s", 1000, -1},
                                          {"s^2/m^2", "m/s", 1, -0.5},
                                          {"s^2/km^2", "m/s", 1000, -0.5},
                                          {"kg/m^3", "kg/m^3", 1, 1},
                                          {"g/cm^3", "kg/m^3", 1000, 1},
                                          {"Pa", "Pa", 1, 1},
                                          {"MPa", "Pa", 1e6, 1},
                                          {"GPa", "Pa", 1e9, 1},
                                          {"m", "m", 1, 1},
                                          {"1", "1", 1, 1}};
  return table;
}

/// "z = 3, x = 10": where a flat index lies; nothing for a single number.
std::string cell_text(const std::vector<std::int64_t>& shape, const Grid& grid, std::size_t flat) {
  std::string text;
  auto rest = static_cast<std::int64_t>(flat);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    text = fmt::format("{} = {}{}{}", axis < grid.axes.size() ? grid.axes[axis] : "?", rest % shape[axis],
                       text.empty() ? "" : ", ", text);
    rest /= shape[axis];
  }
  return text.empty() ? "" : fmt::format(" in the cell {}", text);
}

std::string source_text(const ModelSpec& spec) {
  if (spec.kind == ModelSpec::Kind::npy) return spec.file;
  if (spec.kind == ModelSpec::Kind::raw) return spec.raw.path;
  if (spec.kind == ModelSpec::Kind::segy) return spec.segy.path;
  return "the number";
}

void check_shape(const std::string& where, const ModelSpec& spec, const Array& array, const Grid& grid) {
  const std::string file = source_text(spec);
  const std::string ours = fmt::format("shape {} ({})", shape_text(grid.shape), list_of(grid.axes));
  if (array.shape.size() != grid.shape.size()) {
    throw UserError(fmt::format("{}: the array in {} has {} axes, shape {}; the grid has {}, {}", where, file,
                                array.shape.size(), shape_text(array.shape), grid.shape.size(), ours));
  }
  if (array.shape == grid.shape) return;
  std::vector<std::int64_t> theirs = array.shape;
  std::vector<std::int64_t> wanted = grid.shape;
  std::sort(theirs.begin(), theirs.end());
  std::sort(wanted.begin(), wanted.end());
  const std::string hint =
      theirs == wanted
          ? "; its axes seem swapped: transpose the array, or give grid.shape in the array's order"
          : "";
  throw UserError(fmt::format("{}: the array in {} has shape {}; the grid has {}{}", where, file,
                              shape_text(array.shape), ours, hint));
}

void convert(const std::string& where, const ModelSpec& spec, const Grid& grid, const std::string& unit,
             Array& array) {
  if (spec.unit.empty() || spec.unit == unit) return;
  const auto& table = unit_table();
  const auto stored =
      std::find_if(table.begin(), table.end(), [&](const Unit& entry) { return entry.name == spec.unit; });
  if (stored == table.end() || stored->base != unit) {
    std::vector<std::string> allowed;
    for (const Unit& entry : table) {
      if (entry.base == unit) allowed.push_back(entry.name);
    }
    if (allowed.empty()) allowed.push_back(unit.empty() ? "none: the parameter has no unit" : unit);
    throw UserError(fmt::format("{}.unit: found \"{}\", but the parameter is in {}; allowed: {}", where,
                                spec.unit, unit.empty() ? "no unit" : unit, list_of(allowed)));
  }
  for (std::size_t i = 0; i < array.data.size(); ++i) {
    double& value = array.data[i];
    if (stored->power == 1) {
      value *= stored->factor;
      continue;
    }
    if (!(value > 0)) {
      throw UserError(fmt::format("{}: found a slowness of {:g} {}{}; allowed: > 0", where, value, spec.unit,
                                  cell_text(array.shape, grid, i)));
    }
    value = stored->factor * std::pow(value, stored->power);
  }
}

void clamp(const std::string& where, const ModelSpec& spec, const std::string& unit, Array& array,
           std::vector<std::string>& warnings) {
  std::size_t raised = 0;
  std::size_t lowered = 0;
  for (double& value : array.data) {
    if (spec.floor && value < *spec.floor) {
      value = *spec.floor;
      ++raised;
    }
    if (spec.ceiling && value > *spec.ceiling) {
      value = *spec.ceiling;
      ++lowered;
    }
  }
  const auto report = [&](const char* key, std::size_t count, const char* done, double bound) {
    if (count == 0) return;
    warnings.push_back(fmt::format("{}.{}: {} of {} values {} to {:g}{}{}", where, key, count,
                                   array.data.size(), done, bound, unit.empty() ? "" : " ", unit));
  };
  report("floor", raised, "raised", spec.floor.value_or(0));
  report("ceiling", lowered, "lowered", spec.ceiling.value_or(0));
}

bool fits(double value, ValueDomain domain) {
  if (!std::isfinite(value)) return false;
  if (domain == ValueDomain::positive) return value > 0;
  return domain == ValueDomain::any || value >= 0;
}

Array load_values(const std::string& where, const ModelSpec& spec, const Grid& grid, const std::string& unit,
                  std::vector<std::string>& warnings) {
  Array array;
  switch (spec.kind) {
    case ModelSpec::Kind::number:
      array.data = {spec.number};
      break;
    case ModelSpec::Kind::npy:
      array = read_npy(spec.file);
      check_shape(where, spec, array, grid);
      break;
    case ModelSpec::Kind::raw: {
      RawArray raw = read_raw(spec.raw, grid.axes);
      for (const std::string& warning : raw.warnings)
        warnings.push_back(fmt::format("{}: {}", where, warning));
      array = std::move(raw.array);
      check_shape(where, spec, array, grid);
      break;
    }
    case ModelSpec::Kind::segy: {
      std::vector<std::string> notes;
      array = read_segy_model(spec.segy, grid, notes);
      for (const std::string& note : notes) warnings.push_back(fmt::format("{}: {}", where, note));
      break;
    }
  }
  convert(where, spec, grid, unit, array);
  clamp(where, spec, unit, array, warnings);
  return array;
}

}  // namespace

const std::vector<std::string>& known_units() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Unit& unit : unit_table()) list.push_back(unit.name);
    return list;
  }();
  return names;
}

Array load_model(const std::string& where, const ModelSpec& spec, const Grid& grid, const std::string& unit,
                 std::vector<std::string>& warnings) {
  Array array = load_values(where, spec, grid, unit, warnings);
  if (auto guess = diagnose_values(where, unit, array)) warnings.push_back(*guess);
  return array;
}

Array load_perturbation(const std::string& where, const ModelSpec& spec, const Grid& grid,
                        const std::string& unit, std::vector<std::string>& warnings) {
  const auto& table = unit_table();
  const auto stored =
      std::find_if(table.begin(), table.end(), [&](const Unit& entry) { return entry.name == spec.unit; });
  if (stored != table.end() && stored->power != 1) {
    throw UserError(
        fmt::format("{}.unit: found \"{}\"; a perturbation is a change of the parameter itself: "
                    "give it in {}, or a multiple",
                    where, spec.unit, unit));
  }
  Array array = load_values(where, spec, grid, unit, warnings);
  if (array.shape.empty()) {
    array = {grid.shape,
             std::vector<double>(static_cast<std::size_t>(element_count(grid.shape)), array.data.front())};
  }
  check_model(where, array, grid, unit, ValueDomain::any);
  return array;
}

void check_model(const std::string& where, const Array& array, const Grid& grid, const std::string& unit,
                 ValueDomain domain) {
  std::size_t first = array.data.size();
  std::size_t count = 0;
  for (std::size_t i = 0; i < array.data.size(); ++i) {
    if (fits(array.data[i], domain)) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return;
  const std::string bound = domain == ValueDomain::positive      ? "a finite number > 0"
                            : domain == ValueDomain::nonnegative ? "a finite number >= 0"
                                                                 : "a finite number";
  const std::string in_all =
      array.data.size() == 1 ? "" : fmt::format("; {} of {} values are wrong", count, array.data.size());
  const auto guess = diagnose_values(where, unit, array);
  throw UserError(fmt::format("{}: found {:g}{}; allowed: {}{}{}{}{}", where, array.data[first],
                              cell_text(array.shape, grid, first), bound, unit.empty() ? "" : ", in ", unit,
                              in_all, guess ? ". " + *guess : ""));
}

}  // namespace ondula::io
