// A host program: models one shot over two layers, then writes its records or prints what identifies them.
// SPDX-License-Identifier: MIT
//
//   one_shot               prints a line per receiver group and a digest of all samples
//   one_shot records.raw   writes them as float64, C-ordered (receiver, time), as well
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numbers>
#include <vector>

#include <ondula/ondula.hpp>

namespace {

constexpr double dt = 1e-3;  // s
constexpr std::int64_t steps = 600;
constexpr std::int64_t nz = 101, nx = 201;
constexpr double h = 10;  // m

/// A Ricker wavelet of peak frequency f, delayed so that it starts from nothing.
std::vector<double> ricker(double f) {
  std::vector<double> samples(steps);
  for (std::int64_t n = 0; n < steps; ++n) {
    const double a = std::numbers::pi * f * (static_cast<double>(n) * dt - 1.2 / f);
    samples[static_cast<std::size_t>(n)] = (1 - 2 * a * a) * std::exp(-a * a);
  }
  return samples;
}

/// 1500 m/s over 2500 m/s, on the grid's nodes, C order (z, x).
std::vector<double> two_layers() {
  std::vector<double> vp(nz * nx, 1500.0);
  for (std::size_t i = vp.size() / 2; i < vp.size(); ++i) vp[i] = 2500.0;
  return vp;
}

/// A source near the surface and a line of receivers below it. Positions are metres, in the grid's axis
/// order.
ondula::Shot experiment() {
  ondula::Shot shot;
  ondula::Source source;
  source.field = "u";
  source.position = {20, 1000};
  source.wavelet = ricker(12);
  shot.sources.push_back(source);
  for (int r = 0; r < 96; ++r) {
    ondula::Receiver receiver;
    receiver.field = "u";
    receiver.position = {10, 52.5 + 20.0 * r};
    shot.receivers.push_back(receiver);
  }
  return shot;
}

/// FNV-1a over the samples' bytes.
std::uint64_t digest(const std::vector<double>& samples) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const double sample : samples) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &sample, sizeof bits);
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ ((bits >> (8 * byte)) & 0xffU)) * 0x100000001b3U;
  }
  return hash;
}

int run(const char* output) {
  ondula::Grid grid;
  grid.axes = {"z", "x"};
  grid.shape = {nz, nx};
  grid.spacing = {h, h};
  grid.origin = {0, 0};
  const ondula::Face layer{ondula::FaceKind::absorbing, 20};
  const ondula::Face surface{ondula::FaceKind::free_surface, 0};
  grid.faces = {{surface, layer}, {layer, layer}};

  ondula::PropagatorOptions options;
  options.dt = dt;
  options.steps = steps;
  options.log = [](const std::string& warning) { std::fprintf(stderr, "warning: %s\n", warning.c_str()); };

  ondula::Propagator propagator(ondula::equations::acoustic(), grid, options);
  propagator.set_model("vp", two_layers());
  const std::vector<ondula::Shot> shots = {experiment()};
  const ondula::Records records = propagator.forward(shots);

  const ondula::Traces& traces = records.at(0).at("u");
  double largest = 0;
  for (const double sample : traces.data) largest = std::fmax(largest, std::fabs(sample));
  std::printf("Ondula %s: %lld traces of %lld samples, largest %.6g Pa, digest %016llx\n", ondula::version(),
              static_cast<long long>(traces.receivers), static_cast<long long>(traces.samples), largest,
              static_cast<unsigned long long>(digest(traces.data)));
  if (output == nullptr) return 0;
  std::ofstream file(output, std::ios::binary);
  file.write(reinterpret_cast<const char*>(traces.data.data()),
             static_cast<std::streamsize>(traces.data.size() * sizeof(double)));
  file.close();
  if (!file) std::fprintf(stderr, "%s could not be written\n", output);
  return file ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : nullptr);
  } catch (const ondula::CompileError& error) {
    std::fprintf(stderr, "%s\n%s\nThe source: %s\n", error.what(), error.log().c_str(),
                 error.source_path().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 1;
}
