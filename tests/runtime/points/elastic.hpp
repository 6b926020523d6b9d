// A small elastic run stated in a few lines: what the tests of forces, moment rates and receivers start from.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "tests/verification/setup.hpp"

namespace ondula::test {

constexpr double elastic_vp = 3000, elastic_vs = 1700, elastic_rho = 2200;
constexpr double elastic_dt = 1e-3;
constexpr std::int64_t elastic_steps = 120;

inline Source elastic_source(SourceKind kind, const std::vector<double>& components,
                             const std::vector<double>& position) {
  Source s;
  s.kind = kind;
  s.components = components;
  s.position = position;
  s.wavelet = ricker_wavelet(25, 0.04, elastic_dt, elastic_steps);
  return s;
}

inline Receiver elastic_receiver(const std::string& field, const std::vector<double>& position,
                                 const std::vector<double>& direction = {}) {
  Receiver r;
  r.field = field;
  r.position = position;
  r.direction = direction;
  return r;
}

/// One trace for each receiver, in their order, whatever their fields.
inline std::vector<std::vector<double>> elastic_traces(const Grid& grid, const Shot& shot, int substeps = 1) {
  PropagatorOptions o = options(elastic_dt, elastic_steps, 4);
  o.substeps = substeps;
  Propagator propagator(equations::elastic(), grid, o);
  propagator.set_model("vp", elastic_vp);
  propagator.set_model("vs", elastic_vs);
  propagator.set_model("rho", elastic_rho);
  const Records records = propagator.forward({&shot, 1});
  std::map<std::string, std::size_t> next;
  std::vector<std::vector<double>> traces;
  for (const Receiver& r : shot.receivers) traces.push_back(rows(records[0].at(r.field))[next[r.field]++]);
  return traces;
}

}  // namespace ondula::test
