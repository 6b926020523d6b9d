// The state of a run between two steps, as a value.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/export.hpp"

namespace ondula {

/// Everything the next steps of a shot depend on: fields, their earlier levels, the memory of the absorbing
/// layers, bit for bit, and how far the shot has come. Copies share memory; nothing in one ever changes.
class ONDULA_API State {
 public:
  /// No state: a shot starts at t0 from rest, or from what Propagator::set_initial gave.
  State();
  ~State();
  State(const State&);
  State& operator=(const State&);
  State(State&&) noexcept;
  State& operator=(State&&) noexcept;

  bool empty() const noexcept;
  /// Samples of the record taken so far: fields are at t0 + step dt. 0 where empty.
  std::int64_t step() const noexcept;
  /// The names `at` takes, as Propagator::set_initial lists them: "u", "u.previous", "v.z".
  std::vector<std::string> names() const;
  /// Values of a field on the model's grid (layers cut off), C order. Throws UserError for another name.
  std::vector<double> at(const std::string& name) const;
  /// All of them.
  std::map<std::string, std::vector<double>> fields() const;

  /// What it holds; defined inside the library.
  class ONDULA_HIDDEN Data;

 private:
  friend class Propagator;
  explicit ONDULA_HIDDEN State(std::shared_ptr<const Data> data);
  std::shared_ptr<const Data> data_;
};

}  // namespace ondula
