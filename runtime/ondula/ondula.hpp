// Ondula for C++ programs: everything a host program includes.
// SPDX-License-Identifier: MIT
//
//   auto propagator = ondula::Propagator(ondula::equations::acoustic(), grid, options);
//   propagator.set_model("vp", vp);
//   ondula::Records records = propagator.forward(shots);
//
// Errors are exceptions (error.hpp). Nothing is written to stdout or stderr: warnings go to `options.log`.
// Two Propagators may run in two threads. The caller's floating-point state is left as found.
#pragma once

#include "compiler/dsl/definition.hpp"
#include "compiler/error.hpp"
#include "equations/equations.hpp"
#include "runtime/array_view.hpp"
#include "runtime/equation_file.hpp"
#include "runtime/gradient.hpp"
#include "runtime/misfit.hpp"
#include "runtime/moment.hpp"
#include "runtime/ondula/version.hpp"
#include "runtime/propagator.hpp"
#include "runtime/types.hpp"
