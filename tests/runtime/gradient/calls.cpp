// Gradients as calls: what is refused, what repeats, what one call leaves to the next.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "compiler/error.hpp"
#include "tests/runtime/gradient/objective.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/messages.hpp"

namespace ondula::test {
namespace {

/// Two shots of different sources and receivers.
Problem two_shots(const std::string& equation, DType dtype = DType::float64) {
  Setting s;
  s.equation = equation;
  s.dtype = dtype;
  s.faces = "flll";
  s.initial = true;
  Problem p = random_problem(s);
  Shot second = p.shots[0];
  std::swap(second.sources[0].position, second.sources[3].position);
  second.receivers.resize(second.receivers.size() / 2);
  p.shots.push_back(second);
  return p;
}

GradientOptions everything() {
  GradientOptions options;
  options.wavelets = options.initial = options.records = options.illumination = true;
  return options;
}

/// Bit for bit.
void check_same(const Gradient& a, const Gradient& b) {
  CHECK(a.models == b.models);
  CHECK(a.wavelets == b.wavelets);
  CHECK(a.initial == b.initial);
  CHECK(a.illumination == b.illumination);
  CHECK(a.misfit == b.misfit);
  CHECK(a.shot_misfits == b.shot_misfits);
  for (std::size_t s = 0; s < a.records.size(); ++s) {
    for (const auto& [field, traces] : a.records[s]) CHECK(traces.data == b.records[s].at(field).data);
  }
}

void check_records(const Records& a, const Records& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t s = 0; s < a.size(); ++s) {
    for (const auto& [field, traces] : a[s]) CHECK(traces.data == b[s].at(field).data);
  }
}

template <class F>
void each_equation(const F& f) {
  for (const EquationDefinition& equation : equations::all()) {
    CAPTURE(equation.name());
    for (const DType dtype : {DType::float64, DType::float32}) f(two_shots(equation.name(), dtype));
  }
}

}  // namespace

TEST_CASE("gradient: repeats, threads and poisoned memory give the same bits; records are forward's") {
  ONDULA_NEEDS_CLANG();
  each_equation([](Problem p) {
    const LeastSquares misfit(p);
    p.options.threads = 1;
    Propagator one = p.propagator();
    const Gradient first = one.gradient(p.shots, misfit.function(), everything());
    check_records(first.records, one.forward(p.shots));
    check_same(one.gradient(p.shots, misfit.function(), everything()), first);
    p.options.threads = 2;
    check_same(p.propagator().gradient(p.shots, misfit.function(), everything()), first);
    p.options.poison = true;
    Propagator poisoned = p.propagator();
    check_same(poisoned.gradient(p.shots, misfit.function(), everything()), first);
    check_same(poisoned.gradient(p.shots, misfit.function(), everything()), first);
  });
}

TEST_CASE("gradient: compiled kernels give what the reference gives, illumination too") {
  ONDULA_NEEDS_CLANG();
  double worst32 = 0, worst64 = 0;
  each_equation([&](Problem p) {
    const LeastSquares misfit(p);
    Propagator compiled = p.propagator();
    // One set of adjoint sources for both: residuals would differ by the rounding of whole records.
    std::vector<AdjointSources> adjoint;
    const Records records = compiled.forward(p.shots);
    for (std::size_t s = 0; s < records.size(); ++s)
      adjoint.push_back(misfit.adjoint(static_cast<std::int64_t>(s), records[s]));
    const Gradient host = compiled.gradient(p.shots, adjoint, everything());
    p.options.backend = Backend::reference;
    const Gradient reference = p.propagator().gradient(p.shots, adjoint, everything());
    double worst = relative_l2(host.illumination, reference.illumination);
    const auto add = [&](const Arrays& own, const Arrays& wanted) {
      for (const auto& [name, values] : wanted)
        worst = detail::worse(worst, relative_l2(own.at(name), values));
    };
    add(host.models, reference.models);
    add(host.initial, reference.initial);
    for (std::size_t i = 0; i < 4; ++i)
      worst = detail::worse(worst, relative_l2(host.wavelets[0][i], reference.wavelets[0][i]));
    const bool single = p.options.dtype == DType::float32;
    CHECK(worst < (single ? 1e-5 : 1e-13));
    (single ? worst32 : worst64) = detail::worse(single ? worst32 : worst64, worst);
  });
  MESSAGE(fmt::format("largest relative L2 {:.1e} (float32), {:.1e} (float64)", worst32, worst64));
}

TEST_CASE("gradient: several shots are the sum of single ones, of any order") {
  ONDULA_NEEDS_CLANG();
  each_equation([](const Problem& p) {
    const double bar = p.options.dtype == DType::float64 ? 1e-12 : 1e-5;
    const LeastSquares misfit(p);
    Propagator propagator = p.propagator();
    const Gradient both = propagator.gradient(p.shots, misfit.function(), everything());
    Gradient sum;
    for (const std::size_t s : {std::size_t{1}, std::size_t{0}}) {
      const Gradient one = propagator.gradient(
          {&p.shots[s], 1},
          [&](std::int64_t, const std::map<std::string, Traces>& records) {
            return Misfit{0, misfit.adjoint(static_cast<std::int64_t>(s), records)};
          },
          everything());
      CHECK(one.wavelets.at(0) == both.wavelets.at(s));
      const auto add = [](std::vector<double>& into, const std::vector<double>& values) {
        into.resize(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) into[i] += values[i];
      };
      for (const auto& [name, values] : one.models) add(sum.models[name], values);
      for (const auto& [name, values] : one.initial) add(sum.initial[name], values);
      add(sum.illumination, one.illumination);
    }
    CHECK(worst_difference(both.models, sum.models) < bar);
    CHECK(worst_difference(both.initial, sum.initial) < bar);
    CHECK(relative_l2(both.illumination, sum.illumination) < bar);
  });
}

TEST_CASE("gradient, forward and gradient again: each call gives what it gives alone; no shots give zeros") {
  ONDULA_NEEDS_CLANG();
  each_equation([](const Problem& p) {
    const LeastSquares misfit(p);
    const Records alone = p.propagator().forward(p.shots);
    Propagator propagator = p.propagator();
    const Gradient first = propagator.gradient(p.shots, misfit.function(), everything());
    check_records(propagator.forward(p.shots), alone);
    check_same(propagator.gradient(p.shots, misfit.function(), everything()), first);
    GradientOptions models;
    CHECK(worst_difference(propagator.gradient(p.shots, misfit.function(), models).models, first.models) <
          1e-5);
    const Gradient none = propagator.gradient({}, misfit.function(), everything());
    for (const auto& [name, values] : none.models) CHECK(max_abs(values) == 0);
    CHECK(none.wavelets.empty());
    check_same(propagator.gradient(p.shots, misfit.function(), everything()), first);
  });
}

TEST_CASE("gradient: changed models, initial states and wavelets are those of the call") {
  ONDULA_NEEDS_CLANG();
  each_equation([](const Problem& p) {
    const LeastSquares misfit(p);
    Propagator propagator = p.propagator();
    const Gradient first = propagator.gradient(p.shots, misfit.function(), everything());
    Problem other = p;
    Random random(6);
    for (auto& [name, values] : other.models) {
      for (double& v : values) v *= 0.98 + 0.04 * random.uniform();
    }
    for (auto& [name, values] : other.initial) values = noise(random, values.size(), max_abs(values));
    other.shots[0].sources[1].wavelet[3] += 2;
    other.give(propagator);
    const Gradient second = propagator.gradient(other.shots, misfit.function(), everything());
    CHECK(worst_difference(second.models, first.models) > 1e-3);
    check_same(second, other.propagator().gradient(other.shots, misfit.function(), everything()));
    p.give(propagator);
    check_same(propagator.gradient(p.shots, misfit.function(), everything()), first);
  });
}

TEST_CASE("gradient: only what is asked for is given") {
  ONDULA_NEEDS_CLANG();
  const Problem p = two_shots("elastic");
  const LeastSquares misfit(p);
  Propagator propagator = p.propagator();
  GradientOptions options;
  options.parameters = {"rho", "vs"};
  const Gradient some = propagator.gradient(p.shots, misfit.function(), options);
  CHECK(some.models.size() == 2);
  CHECK(some.wavelets.empty());
  CHECK(some.initial.empty());
  CHECK(some.illumination.empty());
  CHECK(some.records.empty());
  CHECK(some.shot_misfits.size() == 2);
  const Gradient all = propagator.gradient(p.shots, misfit.function());
  CHECK(all.models.size() == 3);
  for (const auto& [name, values] : some.models) CHECK(values == all.models.at(name));
}

TEST_CASE("gradient: the misfit is called once a shot, in order, and its values are handed back") {
  ONDULA_NEEDS_CLANG();
  const Problem p = two_shots("acoustic");
  Propagator propagator = p.propagator();
  const Records records = propagator.forward(p.shots);
  std::vector<std::int64_t> called;
  const Gradient zero = propagator.gradient(p.shots, [&](std::int64_t shot, const auto& own) {
    called.push_back(shot);
    CHECK(own.at("u").data == records[static_cast<std::size_t>(shot)].at("u").data);
    return Misfit{2.5 + static_cast<double>(shot), {}};  // fields that are left out count as zeros
  });
  CHECK(called == std::vector<std::int64_t>{0, 1});
  CHECK(zero.misfit == 6);
  CHECK(zero.shot_misfits == std::vector<double>{2.5, 3.5});
  CHECK(max_abs(zero.models.at("vp")) == 0);
  CHECK_THROWS_AS(propagator.gradient(p.shots, [](std::int64_t, const auto&) -> Misfit { throw 7; }), int);
  CHECK(propagator.gradient(p.shots, [](std::int64_t, const auto& r) { return Misfit{0, r}; }).shot_misfits ==
        std::vector<double>{0, 0});
}

TEST_CASE("gradient: what cannot be differentiated is refused by name") {
  ONDULA_NEEDS_CLANG();
  const Problem p = two_shots("acoustic");
  Propagator propagator = p.propagator();
  const Records records = propagator.forward(p.shots);
  const std::vector<AdjointSources> right = {records[0], records[1]};
  const auto refused = [&](std::vector<AdjointSources> adjoint, const GradientOptions& options,
                           const char* message) {
    CHECK_THROWS_WITH_AS(propagator.gradient(p.shots, adjoint, options), message, UserError);
    CHECK(propagator.gradient(p.shots, right).models.size() == 1);
  };
  GradientOptions unknown;
  unknown.parameters = {"vp", "rho"};
  refused(right, unknown, "equation acoustic has no parameter rho; it has: vp");
  refused({right[0]}, {}, "1 adjoint sources for 2 shots");
  std::vector<AdjointSources> wrong = right;
  wrong[1]["u"].samples = 39;
  refused(wrong, {},
          "adjoint source of shot 1, u: 1 traces of 39 samples (40 values); the record has 1 of 40");
  wrong = right;
  wrong[0]["u"].data.pop_back();
  refused(wrong, {},
          "adjoint source of shot 0, u: 3 traces of 40 samples (119 values); the record has 3 of 40");
  wrong = right;
  wrong[0]["v.z"] = wrong[0]["u"];
  refused(wrong, {}, "adjoint source of shot 0: no record of v.z; there are: u");
  wrong = right;
  wrong[0]["u"].data[47] = std::numeric_limits<double>::quiet_NaN();
  refused(wrong, {}, "adjoint source of shot 0, u: nan at trace 1, sample 7");
  wrong[0]["u"].data[47] = std::numeric_limits<double>::infinity();
  refused(wrong, {}, "adjoint source of shot 0, u: inf at trace 1, sample 7");
}

TEST_CASE("gradient: a bulk modulus of 0 is refused with its node") {
  ONDULA_NEEDS_CLANG();
  Setting s;
  s.equation = "elastic";
  Problem p = random_problem(s);
  const LeastSquares misfit(p);
  // In 2-D lambda + mu = rho (vp^2 - vs^2).
  p.models["vp"][p.at({3, 4})] = p.models["vs"][p.at({3, 4})] = 2000;
  p.models["rho"][p.at({3, 4})] = 1000;
  Propagator propagator = p.propagator();
  const std::string message = message_of<UserError>([&] { propagator.gradient(p.shots, misfit.function()); });
  CHECK(message.find("the model has no gradient: ") == 0);
  CHECK(message.find(" is 0 at node (3, 4)") != std::string::npos);
  MESSAGE(message);
  p.models["vp"][p.at({3, 4})] = 2100;
  p.give(propagator);
  CHECK(std::isfinite(max_abs(propagator.gradient(p.shots, misfit.function()).models.at("vp"))));
}

TEST_CASE("gradient: cancelled on the way there or back, the object serves on") {
  ONDULA_NEEDS_CLANG();
  Problem p = two_shots("elastic");
  const LeastSquares misfit(p);
  std::int64_t left = 1 << 30;
  p.options.cancel = [&] { return left-- == 0; };
  Propagator propagator = p.propagator();
  const Gradient whole = propagator.gradient(p.shots, misfit.function(), everything());
  // Each of the 2 shots polls 40 steps there and 40 back.
  for (const std::int64_t polls : {0, 17, 40, 65, 79, 80, 130, 159}) {
    left = polls;
    CHECK_THROWS_AS(propagator.gradient(p.shots, misfit.function(), everything()), Cancelled);
    left = 1 << 30;
    check_same(propagator.gradient(p.shots, misfit.function(), everything()), whole);
  }
  left = 160;
  CHECK_NOTHROW(propagator.gradient(p.shots, misfit.function()));
}

}  // namespace ondula::test
