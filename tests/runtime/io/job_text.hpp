// Small jobs for tests, and what the parser says of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/io/job.hpp"
#include "runtime/io/job_resolve.hpp"
#include "tests/support/messages.hpp"

namespace ondula::job_test {

using Json = nlohmann::ordered_json;
using test::check_mentions;

/// A 2-D job of 41 x 61 nodes, 10 m apart, with one source and a line of 13 receivers.
inline Json small_job() {
  return Json::parse(R"({
    "equation": "acoustic",
    "grid": {"axes": ["z","x"], "shape": [41, 61], "spacing": [10, 10]},
    "time": {"dt": 0.001, "steps": 500},
    "models": {"vp": 1500},
    "wavelet": {"ricker": {"frequency": 20}},
    "sources": [{"field": "u", "at": {"z": 50, "x": 300}}],
    "receivers": [{"field": "u", "line": {"from": {"z": 100, "x": 0}, "to": {"z": 100, "x": 600}, "count": 13}}]
  })");
}

/// A job with every key that this version honours, none of them at its default.
inline Json full_job() {
  return Json::parse(R"({
    "equation": "acoustic",
    "grid": {"axes": ["z","y","x"], "shape": [31, 41, 51], "spacing": [10, 12.5, 10], "origin": [-100, 0, 0.5], "periodic": ["y"]},
    "time": {"dt": 0.001, "steps": 500, "substeps": 1, "t0": -0.1},
    "order": 4, "dtype": "float64", "backend": "reference", "threads": 2,
    "models": {"vp": {"npy": "vp.npy", "unit": "km/s", "floor": 1400, "ceiling": 5000},
               "rho": {"raw": "rho.bin", "dtype": "float64", "endian": "big", "shape": [51, 41, 31], "axes": ["x","y","z"]},
               "eta": {"value": 0.25}},
    "absorb": {"width": {"z+": 30, "x-": 0}, "frequency": 4.5, "velocity": 3000, "reflection": 1e-6, "kappa": 1.5},
    "free_surface": ["z-"],
    "initial": {"u": "u.npy", "u.previous": 0},
    "wavelet": {"ormsby": {"f1": 2, "f2": 5, "f3": 20, "f4": 30, "delay": 0.4}},
    "sources": [
      {"shot": 0, "kind": "point", "field": "u", "at": {"z": 20, "y": 100, "x": 200}, "wavelet": {"ricker": {"frequency": 15, "delay": 0.1}},
       "strength": -2, "scaling": "raw", "interpolation": "linear"},
      {"shot": 1, "field": "u", "at": {"cell": {"z": 3, "y": 4, "x": 5}}, "wavelet": {"gabor": {"frequency": 10, "delay": 0.3, "gamma": 3, "phase": 90}}},
      {"shot": 2, "field": "u", "at": {"z": 20, "y": 100, "x": 200}, "wavelet": {"gaussian": {"frequency": 10, "delay": 0.2, "order": 1}}},
      {"shot": 3, "field": "u", "at": {"z": 20, "y": 100, "x": 200}, "wavelet": {"samples": [0, 1, 0.5, 0]}},
      {"shot": 4, "field": "u", "at": {"z": 20, "y": 100, "x": 200}, "wavelet": {"file": "w.npy"}}],
    "receivers": [
      {"field": "u", "at": [{"z": 20, "y": 0, "x": 10}, {"cell": {"z": 0, "y": 1, "x": 2}}], "interpolation": "linear", "shots": [0, 2]},
      {"field": "u", "at": {"z": 20, "y": 0, "x": 10}, "shots": "all"},
      {"field": "v.z", "line": {"from": {"z": 20, "y": 0, "x": 10}, "to": {"cell": {"z": 2, "y": 3, "x": 4}}, "count": 5}},
      {"field": "u", "plane": {"axis": "z", "at": {"cell": 1}, "from": {"y": 0, "x": 10}, "to": {"y": 500, "x": 500}, "count": {"y": 3, "x": 4}}}],
    "memory": {"mode": "none", "limits": {"device": "8 GiB", "host": 1000000, "disk": "2 TB"}},
    "output": {"directory": "results", "records": "npy", "pictures": false, "snapshots": {"field": "u", "every": 100}},
    "mesh": {"z": 1, "y": 1, "x": 1, "shots": 1}
  })");
}

inline io::Job parse(const Json& json, const io::Overrides& overrides = {}) {
  return io::parse_job(json.dump(), "", overrides);
}

/// The UserError that parsing (and, if asked, resolving) a job throws; empty if none.
inline std::string complaint(const Json& json, bool resolve = false) {
  return test::message_of<UserError>([&] {
    const io::Job job = parse(json);
    std::vector<std::string> warnings;
    if (resolve) io::resolve_survey(job, warnings);
  });
}

/// Every warning of a job's resolution, one a line.
inline std::string warnings_of(const Json& json) {
  std::vector<std::string> warnings;
  io::resolve_survey(parse(json), warnings);
  std::string text;
  for (const std::string& warning : warnings) text += warning + "\n";
  return text;
}

}  // namespace ondula::job_test
