// The table of functions and slopes.
// SPDX-License-Identifier: MIT
#include "runtime/loop/real_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"

namespace ondula::loop {
namespace {

double power_slope_of_base(double x, double y) { return y == 0 ? 0 : y * std::pow(x, y - 1); }

/// x^y log(x), whose limit at x = 0 is 0 for y > 0.
double power_slope_of_exponent(double x, double y) {
  return x == 0 && y > 0 ? 0 : std::pow(x, y) * std::log(x);
}

constexpr std::array<RealFunction, 10> functions = {{
    {"sqrt",
     1,
     [](double x, double) { return std::sqrt(x); },
     {[](double x, double) { return 0.5 / std::sqrt(x); }, nullptr}},
    {"exp",
     1,
     [](double x, double) { return std::exp(x); },
     {[](double x, double) { return std::exp(x); }, nullptr}},
    {"log",
     1,
     [](double x, double) { return std::log(x); },
     {[](double x, double) { return 1 / x; }, nullptr}},
    {"sin",
     1,
     [](double x, double) { return std::sin(x); },
     {[](double x, double) { return std::cos(x); }, nullptr}},
    {"cos",
     1,
     [](double x, double) { return std::cos(x); },
     {[](double x, double) { return -std::sin(x); }, nullptr}},
    {"abs",
     1,
     [](double x, double) { return std::fabs(x); },
     {[](double x, double) { return x > 0   ? 1.0
                                    : x < 0 ? -1.0
                                            : 0.0; }, nullptr}},
    {"inverse_or_zero",
     1,
     [](double x, double) { return x == 0 ? 0.0 : 1 / x; },
     {[](double x, double) { return x == 0 ? 0.0 : -1 / x / x; }, nullptr}},
    {"pow",
     2,
     [](double x, double y) { return std::pow(x, y); },
     {power_slope_of_base, power_slope_of_exponent}},
    {"min",
     2,
     [](double x, double y) { return std::min(x, y); },
     {[](double x, double y) { return y < x ? 0.0 : 1.0; },
      [](double x, double y) { return y < x ? 1.0 : 0.0; }}},
    {"max",
     2,
     [](double x, double y) { return std::max(x, y); },
     {[](double x, double y) { return x < y ? 0.0 : 1.0; },
      [](double x, double y) { return x < y ? 1.0 : 0.0; }}},
}};

}  // namespace

const RealFunction& real_function(const std::string& name, std::size_t arguments) {
  for (const RealFunction& function : functions) {
    if (name == function.name && arguments == function.arguments) return function;
  }
  throw InternalError(fmt::format("no function {} of {} arguments can be evaluated", name, arguments));
}

}  // namespace ondula::loop
