// Counts calls down to the planned faults.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/driver_faults.hpp"

#include <utility>

namespace ondula::sim::driver {

void Faults::plan(std::string name, std::uint64_t nth, cuda::Result result) {
  if (nth > 0) planned_.push_back({std::move(name), nth, result});
}

cuda::Result Faults::call(std::string_view name, bool counted) {
  if (counted) ++calls_;
  cuda::Result due = 0;
  for (Planned& fault : planned_) {
    if (fault.name != name && !(counted && fault.name == "*")) continue;
    if (--fault.left > 0 || due != 0) continue;
    due = fault.result;
    failed_ = name;
  }
  std::erase_if(planned_, [](const Planned& fault) { return fault.left == 0; });
  return due;
}

}  // namespace ondula::sim::driver
