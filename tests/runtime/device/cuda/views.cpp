// A host program's own context, and its arrays on the device: models in, records and gradients out.
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "compiler/error.hpp"
#include "tests/runtime/device/cuda/on_sim.hpp"
#include "tests/support/messages.hpp"

namespace ondula::test {
namespace {

Problem small() {
  Setting s;
  s.dims = 2;
  s.dtype = DType::float32;
  s.steps = 20;
  return random_problem(s);
}

MisfitFunction squares() {
  return [](std::int64_t, const std::map<std::string, Traces>& records) { return Misfit{0, records}; };
}

/// Device memory of a host program that fills and reads it on a stream of its own.
class Foreign {
 public:
  Foreign(const SimDriver& driver, std::size_t bytes, cuda::Stream stream)
      : driver_(driver), bytes_(bytes), stream_(stream), address_(driver.allocate_bytes(bytes)) {
    pinned_ = driver.pinned(bytes / sizeof(float) + 1);
  }
  ~Foreign() {
    driver_.stream_synchronize(stream_);
    driver_.free(address_);
    driver_.host_free(pinned_);
  }
  template <class Real>
  void* put(const std::vector<Real>& values) {
    REQUIRE(values.size() * sizeof(Real) <= bytes_);
    REQUIRE(driver_.stream_synchronize(stream_) == 0);
    std::memcpy(pinned_, values.data(), values.size() * sizeof(Real));
    REQUIRE(driver_.copy_to_device(address_, pinned_, values.size() * sizeof(Real), stream_) == 0);
    return data();
  }
  template <class Real>
  std::vector<Real> get(std::size_t count) {
    REQUIRE(driver_.copy_to_host(pinned_, address_, count * sizeof(Real), stream_) == 0);
    REQUIRE(driver_.stream_synchronize(stream_) == 0);
    std::vector<Real> values(count);
    std::memcpy(values.data(), pinned_, count * sizeof(Real));
    return values;
  }
  void* data() const { return reinterpret_cast<void*>(address_); }

 private:
  const SimDriver& driver_;
  std::size_t bytes_;
  cuda::Stream stream_;
  cuda::DevicePointer address_;
  float* pinned_;
};

/// `values` of a shape of two axes laid out with `strides`, the first at `origin`.
template <class Real>
std::vector<Real> laid_out(const std::vector<double>& values, const std::vector<std::int64_t>& shape,
                           const std::vector<std::int64_t>& strides, std::int64_t origin, std::size_t size) {
  std::vector<Real> memory(size, Real(-7));
  for (std::int64_t z = 0; z < shape[0]; ++z) {
    for (std::int64_t x = 0; x < shape[1]; ++x)
      memory[static_cast<std::size_t>(origin + z * strides[0] + x * strides[1])] =
          static_cast<Real>(values[static_cast<std::size_t>(z * shape[1] + x)]);
  }
  return memory;
}

std::vector<double> rounded(std::vector<double> values) {
  for (double& v : values) v = static_cast<double>(static_cast<float>(v));
  return values;
}

}  // namespace

TEST_CASE("a context of the caller's: all is in it, it stays current and alive, and none else is retained") {
  ONDULA_NEEDS_STAND_IN();
  DriverSetup setup = untouched();
  setup.devices = 2;
  const SimDriver driver(setup);
  REQUIRE(driver.init(0) == 0);
  Problem problem = on(small(), Backend::cuda_sim, sim_compiler());
  const Everything host = everything(on(problem, Backend::host));
  cuda::Context own = nullptr, other = nullptr, now = nullptr;
  REQUIRE(driver.context_create(&other, 0, 1) == 0);
  REQUIRE(driver.context_create(&own, 0, 0) == 0);
  const cuda::Stream stream = driver.stream();
  REQUIRE(driver.context_set(other) == 0);
  problem.options.context = own;
  for (cuda::Stream used : {cuda::Stream{}, stream}) {
    problem.options.stream = used;
    Propagator propagator = problem.propagator();
    CHECK(fmt::format("{}", fmt::join(differences(everything(propagator, problem), host), "; ")) == "");
    CHECK(driver.live().contexts == 2);
    REQUIRE(driver.context_current(&now) == 0);
    CHECK(now == other);
  }
  CHECK(driver.live().allocations == 0);
  CHECK(driver.live().contexts == 2);
  REQUIRE(driver.context_set(own) == 0);
  const cuda::Stream again = driver.stream();
  CHECK(driver.stream_destroy(again) == 0);
  CHECK(driver.stream_destroy(stream) == 0);
  CHECK(driver.report() == "");
}

TEST_CASE("a context of another device, one that is gone, and a stream of another context are refused") {
  ONDULA_NEEDS_STAND_IN();
  DriverSetup setup = untouched();
  setup.devices = 2;
  const SimDriver driver(setup);
  REQUIRE(driver.init(0) == 0);
  Problem problem = on(small(), Backend::cuda_sim, sim_compiler());
  cuda::Context own = nullptr, other = nullptr;
  REQUIRE(driver.context_create(&other, 0, 1) == 0);
  const cuda::Stream stream = driver.stream();
  REQUIRE(driver.context_create(&own, 0, 0) == 0);
  const auto said = [&] {
    return message_of<UserError>([&] { static_cast<void>(problem.propagator().forward(problem.shots)); });
  };
  problem.options.context = other;
  CHECK(holds(said(), "none of CUDA device 0"));
  CHECK(holds(said(), "it is of device 1"));
  problem.options.context = own;
  problem.options.stream = stream;
  CHECK(holds(said(), "the stream that was given"));
  problem.options.stream = nullptr;
  REQUIRE(driver.context_destroy(own) == 0);
  CHECK(holds(said(), "none of CUDA device 0"));
  CHECK(driver.live().allocations == 0);
}

TEST_CASE("an error that loses the caller's context says so; a run in another one is right again") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver(untouched());
  REQUIRE(driver.init(0) == 0);
  Problem problem = on(small(), Backend::cuda_sim, sim_compiler());
  const Records expected = on(problem, Backend::host).propagator().forward(problem.shots);
  cuda::Context own = nullptr;
  REQUIRE(driver.context_create(&own, 0, 0) == 0);
  problem.options.context = own;
  {
    Propagator propagator = problem.propagator();
    propagator.compile();
    driver.fail("cuLaunchKernel", 3, cuda::result::launch_failed);
    CHECK(holds(message_of<RuntimeError>([&] { static_cast<void>(propagator.forward(problem.shots)); }),
                "give another one"));
    CHECK_THROWS_AS(static_cast<void>(propagator.forward(problem.shots)), RuntimeError);
  }
  REQUIRE(driver.context_destroy(own) == 0);
  REQUIRE(driver.context_create(&own, 0, 0) == 0);
  problem.options.context = own;
  CHECK(differences(problem.propagator().forward(problem.shots), expected).empty());
}

TEST_CASE("device pointers: a model in any layout gives the bits of the same values from the host") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver({.mode = ONDULA_SIM_SHUFFLE, .seed = 4});
  Problem problem = on(small(), Backend::cuda_sim, sim_compiler());
  const std::vector<std::int64_t> shape = problem.grid.shape;
  const std::vector<double> vp = rounded(problem.models["vp"]);
  problem.models["vp"] = vp;
  const Records expected = on(problem, Backend::host).propagator().forward(problem.shots);
  const cuda::Stream stream = driver.stream();
  const std::int64_t rows = shape[0], columns = shape[1], pitch = columns + 5;
  struct Layout {
    std::vector<std::int64_t> strides;
    std::int64_t origin = 0;
  };
  const std::vector<Layout> layouts = {{{columns, 1}, 0},
                                       {{pitch, 1}, 2},
                                       {{1, rows}, 0},
                                       {{-pitch, 1}, (rows - 1) * pitch},
                                       {{2 * columns, 2}, 1}};
  for (const bool given : {true, false}) {
    problem.options.stream = given ? stream : nullptr;
    for (const Layout& layout : layouts) {
      CAPTURE(layout.strides);
      const std::size_t size = static_cast<std::size_t>(2 * rows * pitch);
      for (const DType dtype : {DType::float32, DType::float64}) {
        const std::int64_t real = dtype == DType::float32 ? sizeof(float) : sizeof(double);
        Foreign memory(driver, size * static_cast<std::size_t>(real), stream);
        Propagator propagator = problem.propagator();
        propagator.set_model("vp", 1500.0);
        // On its way still when the Propagator is given it.
        void* const data = dtype == DType::float32
                               ? memory.put(laid_out<float>(vp, shape, layout.strides, layout.origin, size))
                               : memory.put(laid_out<double>(vp, shape, layout.strides, layout.origin, size));
        propagator.set_model("vp", ConstArrayView{static_cast<char*>(data) + layout.origin * real, shape,
                                                  dtype, MemoryKind::device, layout.strides});
        CHECK(differences(propagator.forward(problem.shots), expected).empty());
      }
    }
  }
  CHECK(driver.report() == "");
}

TEST_CASE("device pointers: records and gradients go where the caller wants them, and nowhere else") {
  ONDULA_NEEDS_STAND_IN();
  for (const bool given : {true, false}) {
    const SimDriver driver({.mode = ONDULA_SIM_SHUFFLE, .seed = 9});
    const cuda::Stream stream = driver.stream();
    Problem problem = on(small(), Backend::cuda_sim, sim_compiler());
    problem.options.stream = given ? stream : nullptr;
    Propagator propagator = problem.propagator();
    const Records records = propagator.forward(problem.shots);
    const Traces& u = records[0].at("u");
    const Gradient gradient = propagator.gradient(problem.shots, squares());
    {
      Foreign memory(driver, u.data.size() * sizeof(double), stream);
      propagator.write(u.data, {memory.data(), {u.receivers, u.samples}, DType::float64, MemoryKind::device});
      CHECK(memory.get<double>(u.data.size()) == u.data);
      const std::vector<double> back = propagator.read(
          ConstArrayView{memory.data(), {u.receivers, u.samples}, DType::float64, MemoryKind::device});
      CHECK(back == u.data);
    }
    const std::vector<std::int64_t>& shape = problem.grid.shape;
    const std::vector<double>& vp = gradient.models.at("vp");
    for (const std::vector<std::int64_t>& strides :
         {std::vector<std::int64_t>{shape[1] + 3, 1}, std::vector<std::int64_t>{1, shape[0] + 2}}) {
      const std::size_t size = static_cast<std::size_t>((shape[0] + 3) * (shape[1] + 3));
      Foreign memory(driver, size * sizeof(float), stream);
      memory.put(std::vector<float>(size, -7));
      propagator.write(vp, {memory.data(), shape, DType::float32, MemoryKind::device, strides});
      CHECK(memory.get<float>(size) == laid_out<float>(vp, shape, strides, 0, size));
    }
    CHECK(driver.report() == "");
  }
}

TEST_CASE("device pointers: a misfit reads and writes them in the middle of a gradient, errors and all") {
  ONDULA_NEEDS_STAND_IN();
  const SimDriver driver({.mode = ONDULA_SIM_SHUFFLE, .seed = 2});
  const cuda::Stream stream = driver.stream();
  Problem problem = on(small(), Backend::cuda_sim, sim_compiler());
  problem.shots.resize(3, problem.shots[0]);
  const Gradient expected = on(problem, Backend::host).propagator().gradient(problem.shots, squares());
  Propagator propagator = problem.propagator();
  Foreign memory(driver, 1 << 16, stream);
  bool fails = false;
  const MisfitFunction through_device = [&](std::int64_t, const std::map<std::string, Traces>& records) {
    AdjointSources adjoint = records;
    for (auto& [field, traces] : adjoint) {
      const ArrayView view{
          memory.data(), {traces.receivers, traces.samples}, DType::float64, MemoryKind::device};
      propagator.write(traces.data, view);
      if (fails) {
        driver.fail("cuMemcpyDtoHAsync_v2", 1, cuda::result::invalid_value);
        CHECK_THROWS_AS(static_cast<void>(propagator.read(view)), RuntimeError);
      }
      traces.data = propagator.read(view);
    }
    return Misfit{0, adjoint};
  };
  for (const bool failing : {false, true, false}) {
    fails = failing;
    CHECK(propagator.gradient(problem.shots, through_device).models == expected.models);
  }
}

TEST_CASE("host arrays with strides, of either type, on any backend") {
  for (const Backend backend : {Backend::host, Backend::reference}) {
    Problem problem = on(small(), backend);
    const std::vector<std::int64_t>& shape = problem.grid.shape;
    const std::vector<double> vp = rounded(problem.models["vp"]);
    problem.models["vp"] = vp;
    const Records expected = problem.propagator().forward(problem.shots);
    Propagator propagator = problem.propagator();
    const std::size_t size = static_cast<std::size_t>(2 * shape[0] * shape[1]);
    const std::vector<float> memory = laid_out<float>(vp, shape, {2, 2 * shape[0]}, 0, size);
    propagator.set_model("vp", 1500.0);
    propagator.set_model(
        "vp", ConstArrayView{memory.data(), shape, DType::float32, MemoryKind::host, {2, 2 * shape[0]}});
    CHECK(differences(propagator.forward(problem.shots), expected).empty());
    std::vector<double> copy(vp.size());
    propagator.write(vp, {copy.data(), shape, DType::float64});
    CHECK(copy == vp);
    CHECK(holds(message_of<UserError>([&] {
                  propagator.set_model(
                      "vp", ConstArrayView{memory.data(), shape, DType::float32, MemoryKind::device});
                }),
                "device memory belongs to the backends cuda and cuda-sim"));
  }
}

TEST_CASE("what is no array: null, another shape, strides that meet, a host address for a device's") {
  ONDULA_NEEDS_STAND_IN();
  DriverSetup setup;
  setup.devices = 2;
  const SimDriver driver(setup);
  Problem problem = on(small(), Backend::cuda_sim, sim_compiler());
  const std::vector<std::int64_t>& shape = problem.grid.shape;
  const std::int64_t count = shape[0] * shape[1];
  Propagator propagator = problem.propagator();
  const auto said = [&](const ConstArrayView& view) {
    return message_of<UserError>([&] { propagator.set_model("vp", view); });
  };
  std::vector<float> host(static_cast<std::size_t>(count), 2000);
  const cuda::DevicePointer here = driver.allocate_bytes(static_cast<std::size_t>(count) * sizeof(float));
  void* const data = reinterpret_cast<void*>(here);
  const auto device = [&](const void* at, std::vector<std::int64_t> strides = {}) {
    return ConstArrayView{at, shape, DType::float32, MemoryKind::device, std::move(strides)};
  };
  CHECK(holds(said(device(nullptr)), "model vp: a null pointer"));
  CHECK(holds(said({data, {count}, DType::float32, MemoryKind::device}), "allowed: the grid's"));
  CHECK(holds(said(device(data, {1})), "1 strides for 2 axes"));
  CHECK(holds(said(device(host.data())), "is no address of device memory; allowed: memory of CUDA device 0"));
  CHECK(holds(said(device(data, {2 * shape[1], 1})), "leaves the memory"));
  CHECK(holds(said(device(data, {-shape[1], 1})), "leaves the memory"));
  CHECK(holds(said(device(static_cast<char*>(data) + 4)), "leaves the memory"));
  CHECK(holds(said(device(static_cast<char*>(data) + 2)), "is no multiple of the 4 bytes"));
  // From one allocation into another: each end lies in one.
  const cuda::DevicePointer next = driver.allocate_bytes(64);
  const auto away = static_cast<std::int64_t>(next - here) / static_cast<std::int64_t>(sizeof(float));
  const ArrayView across{data, {2}, DType::float32, MemoryKind::device, {away}};
  CHECK(
      holds(message_of<UserError>([&] { static_cast<void>(propagator.read(across)); }), "leaves the memory"));
  const ArrayView planes{data, {2, 2}, DType::float32, MemoryKind::device, {away, 1}};
  CHECK(holds(message_of<UserError>([&] { propagator.write(std::vector<double>(4, 1), planes); }),
              "leaves the memory"));
  REQUIRE(driver.free(next) == 0);
  cuda::Context second = nullptr;
  REQUIRE(driver.context_create(&second, 0, 1) == 0);
  const cuda::DevicePointer there = driver.allocate_bytes(static_cast<std::size_t>(count) * sizeof(float));
  CHECK(holds(said(device(reinterpret_cast<void*>(there))),
              "is memory of CUDA device 1; the run is on device 0"));
  REQUIRE(driver.free(there) == 0);
  REQUIRE(driver.context_destroy(second) == 0);
  const std::vector<double> values(static_cast<std::size_t>(count), 1);
  const auto written = [&](const ArrayView& view) {
    return message_of<UserError>([&] { propagator.write(values, view); });
  };
  CHECK(holds(written({data, shape, DType::float32, MemoryKind::device, {0, 1}}), "elements share places"));
  CHECK(
      holds(written({data, {count / 2, 1}, DType::float32, MemoryKind::device, {2, 1}}), "values for shape"));
  std::vector<double> half(static_cast<std::size_t>(count / 2), 1);
  CHECK(holds(message_of<UserError>([&] {
                propagator.write(half, {data, {count / 2}, DType::float32, MemoryKind::device, {2}});
              }),
              "allowed: one axis with stride 1"));
  // Where the device is open, an address of it that is said to lie on the host is found out.
  static_cast<void>(propagator.forward(problem.shots));
  CHECK(holds(said({data, shape}), "is an address on CUDA device 0"));
  CHECK(said({host.data(), shape}) == "");
  REQUIRE(driver.free(here) == 0);
}

}  // namespace ondula::test
