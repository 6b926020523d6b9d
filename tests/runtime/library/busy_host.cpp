// A host program that is busy already: libgomp's threads, another LLVM for all to see, two Propagators at
// once. SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <omp.h>

#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

#include <ondula/ondula.hpp>

namespace {

/// Work for libgomp's own threads.
double busy() {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(4)
  for (int i = 1; i <= 200000; ++i) sum += 1.0 / (static_cast<double>(i) * i);
  return sum;
}

std::vector<double> record(int order) {
  ondula::Grid grid;
  grid.axes = {"z", "x"};
  grid.shape = {60, 70};
  grid.spacing = {10, 10};
  grid.origin = {0, 0};
  grid.faces.resize(2);
  ondula::PropagatorOptions options;
  options.dt = 1e-3;
  options.steps = 100;
  options.order = order;
  options.threads = 2;
  ondula::Propagator propagator(ondula::equations::acoustic(), grid, options);
  propagator.set_model("vp", 2000.0);
  ondula::Shot shot;
  ondula::Source source;
  source.field = "u";
  source.position = {100, 300};
  for (int n = 0; n < 60; ++n)
    source.wavelet.push_back(std::sin(0.2 * n) * std::exp(-0.01 * (n - 25) * (n - 25)));
  shot.sources.push_back(source);
  ondula::Receiver receiver;
  receiver.field = "u";
  receiver.position = {205, 407};
  shot.receivers.push_back(receiver);
  // The host's threads work between the steps too.
  propagator.on_step(10, [](const ondula::StepView&) { busy(); });
  return propagator.forward({&shot, 1}).at(0).at("u").data;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const double sum = busy();
    if (argc > 1 && dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    std::vector<double> together[2];
    std::thread other([&] { together[1] = record(8); });
    together[0] = record(4);
    other.join();
    double alone4 = 0;
    const std::vector<double> four = record(4), eight = record(8);
    for (const double sample : four) alone4 = std::fmax(alone4, std::fabs(sample));
    const bool good = together[0] == four && together[1] == eight && four != eight && alone4 > 0 &&
                      std::fabs(busy() - sum) < 1e-9 && omp_get_max_threads() > 0;
    std::puts(good ? "the records agree" : "the records differ");
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
