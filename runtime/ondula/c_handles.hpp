// What the handles of the C interface hold, and what its calls share.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/error.hpp"
#include "runtime/ondula/ondula.h"
#include "runtime/propagator.hpp"

struct ondula_error {
  std::string message, log, source_path;
};

struct ondula_grid {
  ondula::Grid value;
};

struct ondula_options {
  ondula::PropagatorOptions value;
};

struct ondula_source {
  ondula::Source value;
};

struct ondula_shot {
  ondula::Shot value;
};

struct ondula_propagator {
  ondula::Propagator value;
};

struct ondula_records {
  ondula::Records value;
};

struct ondula_state {
  ondula::State value;
};

struct ondula_step {
  const ondula::StepView& value;
};

namespace ondula::c {

/// The status of the exception being handled, which `error` (where not null) then describes.
ondula_status status_of_exception(ondula_error** error) noexcept;

/// Runs `body`; no exception leaves.
template <class F>
ondula_status guarded(ondula_error** error, const F& body) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    body();
    return ONDULA_DONE;
  } catch (...) {
    return status_of_exception(error);
  }
}

/// The object of a pointer argument. Throws UserError naming the argument where it is null.
template <class T>
T& given(T* pointer, const char* what) {
  if (pointer == nullptr) throw UserError(std::string(what) + " is NULL");
  return *pointer;
}

/// `count` values from a pointer, which may be null only where there are none.
template <class T>
std::span<T> given(T* pointer, std::size_t count, const char* what) {
  if (count > 0) given(pointer, what);
  return {pointer, count};
}

/// Copies `from` to the caller's array. Throws UserError where it does not hold as many values.
void copy_out(const std::vector<double>& from, double* to, std::size_t count, const std::string& what);

/// The index of `name` among `known`. Throws UserError that suggests the nearest.
std::size_t index_of(const std::string& what, const char* name, const std::vector<std::string>& known);

}  // namespace ondula::c
