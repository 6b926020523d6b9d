// Arrays in the caller's memory, in and out.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/error.hpp"
#include "runtime/array_places.hpp"
#include "runtime/propagator_impl.hpp"

namespace ondula {
namespace {

template <class Real>
std::vector<double> gathered(const ConstArrayView& view, const ArrayPlaces& places) {
  const auto* const from = static_cast<const Real*>(view.data);
  std::vector<double> values(static_cast<std::size_t>(places.count()));
  places.each([&](std::int64_t number, std::int64_t place) {
    values[static_cast<std::size_t>(number)] = static_cast<double>(from[place]);
  });
  return values;
}

template <class Real>
void scattered(std::span<const double> values, const ArrayView& view, const ArrayPlaces& places) {
  auto* const to = static_cast<Real*>(view.data);
  places.each([&](std::int64_t number, std::int64_t place) {
    to[place] = static_cast<Real>(values[static_cast<std::size_t>(number)]);
  });
}

}  // namespace

/// One that an error has left in doubt stays: a callback may ask in the middle of a call that uses it.
device::Device* Propagator::Impl::sound_device() const {
  return device_ && device_->sound() ? device_.get() : nullptr;
}

std::vector<double> Propagator::Impl::read_nodes(const std::string& what, const ConstArrayView& from) {
  if (from.shape != grid_.shape) {
    throw UserError(fmt::format("{}: shape ({}); allowed: the grid's, ({})", what,
                                fmt::join(from.shape, ", "), fmt::join(grid_.shape, ", ")));
  }
  return read(what, from);
}

std::vector<double> Propagator::Impl::read(const std::string& what, const ConstArrayView& from) {
  const ArrayPlaces places(what, from);
  if (from.memory == MemoryKind::device) return machine_.read(sound_device(), what, from);
  machine_.require_host(sound_device(), what, from);
  return from.dtype == DType::float32 ? gathered<float>(from, places) : gathered<double>(from, places);
}

void Propagator::Impl::write(const std::string& what, std::span<const double> values, const ArrayView& to) {
  const ArrayPlaces places(what, to);
  if (places.count() != static_cast<std::int64_t>(values.size())) {
    throw UserError(
        fmt::format("{}: {} values for shape ({})", what, values.size(), fmt::join(to.shape, ", ")));
  }
  places.require_distinct(what);
  if (to.memory == MemoryKind::device) return machine_.write(sound_device(), what, values, to);
  machine_.require_host(sound_device(), what, to);
  if (to.dtype == DType::float32)
    scattered<float>(values, to, places);
  else
    scattered<double>(values, to, places);
}

}  // namespace ondula
