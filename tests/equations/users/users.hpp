// Equations as users write them: docs/examples/equations, loaded from their files, and runs in periodic
// boxes. SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/equation_file.hpp"
#include "runtime/propagator.hpp"
#include "tests/runtime/gradient/problem.hpp"

namespace ondula::test {

using Complex = std::complex<double>;

/// docs/examples/equations/NAME.cpp.
EquationDefinition user_equation(const std::string& name);

/// A wave of amplitude P exp(i(k z + omega t)) along the first axis of a periodic box, its fields' complex
/// amplitudes relative to P; omega is complex where it fades.
struct Mode {
  Complex omega;
  std::map<std::string, Complex> amplitudes;
};

/// Where to find it.
struct Box {
  EquationDefinition equation;
  int dims = 1;
  std::int64_t nodes = 64;  ///< along the first axis, one wavelength; along others few
  double spacing = 5;
  std::map<std::string, double> models;
  std::vector<std::string> half;  ///< fields half a cell along the first axis
  std::string recorded;           ///< one that is not
  int order = 8;
  Backend backend = Backend::host;
};

double wavenumber(const Box& box);

/// The complex frequency that a run of `steps` steps of length `share` times the limit shows, from the mode
/// itself as its start; the record's largest distance from the mode, over the amplitude, in `distance`.
Complex measured(const Box& box, const Mode& mode, double share, std::int64_t steps,
                 double* distance = nullptr);

/// A small random problem of a user's equation: models within 15 % of usual values, layers, where the
/// equation has them a wall and a free surface, sources and receivers on every field that takes one, off the
/// nodes, a step of 0.8 of the limit.
Problem user_problem(const std::string& name, int dims, std::int64_t steps = 40);

/// A root of `f` beside `near`, by Newton's method with numerical derivatives.
Complex root(const std::function<Complex(Complex)>& f, Complex near);

/// Relative modulus at an angular frequency of a standard linear solid's mechanisms.
Complex modulus(Complex omega, const std::vector<double>& tau, const std::vector<double>& t);

}  // namespace ondula::test
