// The one list of backends.
// SPDX-License-Identifier: MIT
#include "runtime/backend.hpp"

#include <algorithm>

#include "compiler/error.hpp"

namespace ondula {

const std::vector<std::string>& backend_names() {
  static const std::vector<std::string> names = {"host", "reference", "cuda",
                                                 "cuda-sim"};  // as Backend counts
  return names;
}

std::string backend_name(Backend backend) { return backend_names().at(static_cast<std::size_t>(backend)); }

Backend backend_of(const std::string& name) {
  const auto& names = backend_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw InternalError("no backend " + name);
  return static_cast<Backend>(found - names.begin());
}

}  // namespace ondula
