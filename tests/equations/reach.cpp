// Fields whose stencils reach differently far, in one equation.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "equations/equations.hpp"
#include "tests/equations/engines.hpp"
#include "tests/equations/guarded_device.hpp"
#include "tests/runtime/jit/support.hpp"

namespace ondula::test {

EQUATION(two_reaches, "a plain Laplacian beside a nested one, coupled") {
  auto b = parameter("b", "m^2/s^2", positive);
  auto k = parameter("k", "1/s^2");
  auto p = scalar("p", "Pa"), q = scalar("q", "Pa");
  evolve(dtt(p) = b * laplacian(p) + k * q + source(p));
  evolve(dtt(q) = div(b * grad(q)) - k * p + source(q));
}

EQUATION(one_sided,
         "a field that follows another with a derivative in time to one side, and loses of itself") {
  auto k = parameter("k", "m^2/s", positive);
  auto a = parameter("a", "1/s", nonnegative);
  auto vp = parameter("vp", "m/s", positive);
  auto u = scalar("u", "Pa"), m = scalar("m", "Pa");
  evolve(dtt(u) = sq(vp) * (laplacian(u) + source(u)));
  evolve(dt(m) = k * laplacian(u) - a * m);
}

namespace {

/// How far any piece reads slot 0 of `field` along `axis`, in cells.
int reach(const ir::KernelSet& set, const std::string& field, std::size_t axis) {
  int furthest = 0;
  const auto walk = [&](auto&& self, ir::Expr e) -> void {
    if (e->kind == ir::Kind::field && e->name == field)
      furthest = std::max(furthest, std::abs(e->offset[axis]));
    for (const ir::Expr arg : e->args) self(self, arg);
  };
  for (const ir::Kernel& kernel : set.kernels) {
    for (const ir::Piece& piece : kernel.pieces) {
      for (const ir::Let& let : piece.lets) walk(walk, let.value);
      for (const ir::Store& store : piece.stores) walk(walk, store.value);
    }
  }
  return furthest;
}

EngineCase case_of(int order, const std::array<FaceKind, 2>& faces) {
  EngineCase c;
  c.domain = layered({23, 61}, faces[0] == FaceKind::absorbing ? 5 : 0);
  for (std::size_t a = 0; a < 2; ++a) {
    c.domain.faces[a] = faces;
    if (faces[1] != FaceKind::absorbing) c.domain.pad[a][1] = 0;
  }
  c.order = order;
  c.models["b"] = scattered(c.domain, 1e6, 9e6, 1);
  c.models["k"] = {100};
  c.sources["p"] = c.sources["q"] = 1;
  return c;
}

/// Variable density from noise, on a grid hardly wider than the stencil.
EngineCase nested_case(const std::vector<std::int64_t>& shape, int order, FaceKind face) {
  EngineCase c = density_case(layered(shape, face == FaceKind::absorbing ? 3 : 0), order);
  for (std::size_t a = 0; a < shape.size(); ++a) c.domain.faces[a] = {face, face};
  c.sources.clear();
  c.noise = true;
  return c;
}

}  // namespace

TEST_CASE("F7: two fields of different reach: each is read as far as its own stencil goes") {
  for (const int order : {2, 4, 8, 16}) {
    const ir::KernelSet set = compiled(two_reaches(), case_of(order, {})).kernels;
    for (const std::size_t axis : {0, 1}) {
      CHECK(reach(set, "p", axis) == order / 2);
      CHECK(reach(set, "q", axis) == order - 1);
    }
  }
}

TEST_CASE("F7: two fields of different reach: kernels equal the reference at every kind of face") {
  ONDULA_NEEDS_CLANG();
  using enum FaceKind;
  double worst = 0;
  for (const auto& faces : {std::array{absorbing, absorbing},
                            {free_surface, absorbing},
                            {rigid, rigid},
                            {periodic, periodic},
                            {antisymmetric, antisymmetric}}) {
    for (const int order : {2, 8}) {
      CAPTURE(static_cast<int>(faces[0]));
      CAPTURE(order);
      const double error = host_error(two_reaches(), case_of(order, faces));
      CHECK(error < 1e-13);
      worst = std::max(worst, error);
    }
  }
  MESSAGE("host - reference at most ", worst);
}

TEST_CASE("F4: div(b grad p), orders 2 to 16: kernels stay within the halo computed for them") {
  ONDULA_NEEDS_CLANG();
  double worst = 0;
  for (int order = 2; order <= 16; order += 2) {
    CAPTURE(order);
    for (const FaceKind face : {FaceKind::free_surface, FaceKind::absorbing, FaceKind::periodic}) {
      const EngineCase c = nested_case({order == 2 ? 9 : order + 5}, order, face);
      for (const ir::Kernel& kernel : compiled(equations::acoustic_density(), c).kernels.kernels)
        CHECK(kernel.halo[0] <= order - 1);
      worst = std::max(worst, host_error(equations::acoustic_density(), c));
    }
  }
  CHECK(worst < 1e-13);
  MESSAGE("host - reference at most ", worst);
}

// Arrays end at pages that may not be touched, which sees the compiled kernels themselves.
TEST_CASE("F4: div(b grad p), orders 2 to 16, 1-D to 3-D: no kernel leaves an array, at either end") {
  ONDULA_NEEDS_CLANG();
  const auto clean = [](const std::vector<std::int64_t>& shape, int order, FaceKind face, DType dtype) {
    return in_child([&] {
      EngineCase c = nested_case(shape, order, face);
      c.dtype = dtype;
      c.steps = 4;
      const auto usual = host_fields(equations::acoustic_density(), c);
      for (const Guard guard : {Guard::before, Guard::after}) {
        c.device = [guard](int threads) { return std::make_unique<GuardedDevice>(guard, threads); };
        if (host_fields(equations::acoustic_density(), c) != usual) return false;
      }
      return true;
    });
  };
  for (int order = 2; order <= 16; order += 2) {
    CAPTURE(order);
    for (const FaceKind face : {FaceKind::free_surface, FaceKind::absorbing, FaceKind::periodic}) {
      CAPTURE(static_cast<int>(face));
      CHECK(clean({order + 7}, order, face, DType::float64));
      CHECK(clean({order + 3, order + 6}, order, face, DType::float32));
    }
  }
  for (const int order : {2, 8, 16})
    CHECK(clean({order + 1, order + 2, order + 5}, order, FaceKind::absorbing, DType::float32));
}

// `dt` is one-sided: m steps from its one level to the next. What was never allocated would be a fault at a
// guard page, what was allocated and not written a NaN.
TEST_CASE(
    "A16: a one-sided time derivative beside a second-order field, order 8: only what is kept is read") {
  ONDULA_NEEDS_CLANG();
  for (int dims = 1; dims <= 3; ++dims) {
    CAPTURE(dims);
    EngineCase c;
    c.domain = layered(std::vector<std::int64_t>(static_cast<std::size_t>(dims), 17), 5);
    c.order = 8;
    c.models = {{"vp", {2000}}, {"k", {100}}, {"a", {3}}};
    c.sources["u"] = 1;
    c.noise = true;
    const passes::Compilation made = compiled(one_sided(), c);
    CHECK(made.physical.field("u").time_order == 2);
    CHECK(made.physical.field("m").time_order == 1);
    std::set<int> slots;
    for (const ir::Kernel& kernel : made.kernels.kernels) {
      for (const ir::ArrayArgument& array : kernel.arrays)
        if (array.kind == ir::ArrayKind::field && array.name == "m") slots.insert(array.slot);
    }
    CHECK(slots == std::set<int>{0});
    CHECK(host_error(one_sided(), c) < 1e-13);
    const bool kept = in_child([&] {
      const auto usual = host_fields(one_sided(), c);
      for (const Guard guard : {Guard::before, Guard::after}) {
        c.device = [guard](int threads) { return std::make_unique<GuardedDevice>(guard, threads); };
        if (host_fields(one_sided(), c) != usual) return false;
      }
      return true;
    });
    CHECK(kept);
  }
}

TEST_CASE("F4: an array's guard stops a kernel that leaves it") {
  for (const Guard guard : {Guard::before, Guard::after}) {
    for (const std::int64_t element : {0, 99}) {
      CHECK(in_child([&] {
        GuardedDevice device(guard, 1);
        device::Buffer buffer = device.allocate(100 * sizeof(double));
        device.fill_zero(buffer);
        return device.gather(buffer, DType::float64, std::vector<device::Weighted>{{element, 1.0}}) == 0;
      }));
    }
    const std::int64_t outside = guard == Guard::before ? -1 : 100;
    CHECK_FALSE(in_child([&] {
      GuardedDevice device(guard, 1);
      device::Buffer buffer = device.allocate(100 * sizeof(double));
      return device.gather(buffer, DType::float64, std::vector<device::Weighted>{{outside, 1.0}}) == 0;
    }));
  }
}

}  // namespace ondula::test
