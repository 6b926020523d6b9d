// The table of functions and slopes.
// SPDX-License-Identifier: MIT
#include "compiler/ir/real_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/error.hpp"

namespace ondula::ir {
namespace {

double inverse(double x) { return x == 0 ? 0.0 : 1 / x; }
double sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }

/// y x^(y-1), 0 where it is infinite.
double power_slope_of_base(double x, double y) {
  return y == 0 || (x == 0 && y < 1) ? 0 : y * std::pow(x, y - 1);
}

/// x^y log(x), whose limit at x = 0 is 0 for y > 0.
double power_slope_of_exponent(double x, double y) {
  return x == 0 && y > 0 ? 0 : std::pow(x, y) * std::log(x);
}

using One = double (*)(double, double);

constexpr RealFunction one(const char* name, One value, One slope) {
  return {name, 1, value, {slope, nullptr}};
}

constexpr One zero = [](double, double) { return 0.0; };

constexpr std::array<RealFunction, 14> functions = {{
    one(
        "sqrt", [](double x, double) { return std::sqrt(x); },
        [](double x, double) { return x == 0 ? 0.0 : 0.5 / std::sqrt(x); }),
    one(
        "exp", [](double x, double) { return std::exp(x); }, [](double x, double) { return std::exp(x); }),
    one(
        "log", [](double x, double) { return std::log(x); }, [](double x, double) { return 1 / x; }),
    one(
        "sin", [](double x, double) { return std::sin(x); }, [](double x, double) { return std::cos(x); }),
    one(
        "cos", [](double x, double) { return std::cos(x); }, [](double x, double) { return -std::sin(x); }),
    one(
        "tan", [](double x, double) { return std::tan(x); },
        [](double x, double) { return 1 + std::tan(x) * std::tan(x); }),
    one(
        "tanh", [](double x, double) { return std::tanh(x); },
        [](double x, double) { return 1 - std::tanh(x) * std::tanh(x); }),
    one(
        "abs", [](double x, double) { return std::fabs(x); }, [](double x, double) { return sign(x); }),
    one(
        "inverse_or_zero", [](double x, double) { return inverse(x); },
        [](double x, double) { return x == 0 ? 0.0 : -1 / x / x; }),
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
    {"less", 2, [](double x, double y) { return x < y ? 1.0 : 0.0; }, {zero, zero}},
    {"less_equal", 2, [](double x, double y) { return x <= y ? 1.0 : 0.0; }, {zero, zero}},
}};

}  // namespace

const RealFunction& real_function(const std::string& name, std::size_t arguments) {
  for (const RealFunction& function : functions) {
    if (name == function.name && arguments == function.arguments) return function;
  }
  throw InternalError(fmt::format("no function {} of {} arguments can be evaluated", name, arguments));
}

}  // namespace ondula::ir
