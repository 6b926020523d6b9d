// Reading a State.
// SPDX-License-Identifier: MIT
#include "runtime/state.hpp"

#include <fmt/format.h>

#include <utility>

#include "compiler/error.hpp"
#include "runtime/state_data.hpp"

namespace ondula {
namespace {

constexpr const char* previous = ".previous";

}  // namespace

State::State() = default;
State::~State() = default;
State::State(const State&) = default;
State& State::operator=(const State&) = default;
State::State(State&&) noexcept = default;
State& State::operator=(State&&) noexcept = default;
State::State(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

bool State::empty() const noexcept { return data_ == nullptr; }

std::int64_t State::step() const noexcept { return data_ ? data_->step : 0; }

std::vector<std::string> State::names() const {
  std::vector<std::string> result;
  if (!data_) return result;
  for (const ir::Field& field : data_->fields) {
    result.push_back(field.name);
    if (field.time_order == 2) result.push_back(field.name + previous);
  }
  return result;
}

std::vector<double> State::at(const std::string& name) const {
  for (std::size_t f = 0; data_ && f < data_->fields.size(); ++f) {
    const ir::Field& field = data_->fields[f];
    const bool earlier = field.time_order == 2 && name == field.name + previous;
    if (!earlier && name != field.name) continue;
    for (const loop::SavedArray& array : data_->arrays) {
      if (array.name == field.name && array.level == (earlier ? -1 : 0))
        return loop::values_on_grid(array, field, data_->domain);
    }
  }
  if (!data_) throw UserError(fmt::format("no field {} in an empty state: nothing has run", name));
  throw UserError(fmt::format("no field {} in the state; there are: {}", name, fmt::join(names(), ", ")));
}

std::map<std::string, std::vector<double>> State::fields() const {
  std::map<std::string, std::vector<double>> result;
  for (const std::string& name : names()) result[name] = at(name);
  return result;
}

}  // namespace ondula
