// The job's wavelets.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "runtime/io/job_sections.hpp"

namespace ondula::io {

namespace {

void parse_ormsby(const Node& node, WaveletSpec& spec) {
  node.only({"f1", "f2", "f3", "f4", "delay"});
  const std::vector<std::string> names = {"f1", "f2", "f3", "f4"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Node corner = node.at(names[i], "a corner of the trapezoid's spectrum, in Hz: f1 < f2 <= f3 < f4");
    Range range = nonnegative_number("Hz");
    if (i > 0) {
      range.low = spec.corners[i - 1];
      range.low_open = i != 2;  // f2 may equal f3: a triangle
    }
    spec.corners[i] = corner.number(range);
  }
}

void parse_gabor(const Node& node, WaveletSpec& spec) {
  node.only({"frequency", "delay", "gamma", "phase"});
  if (const auto gamma = node.find("gamma")) spec.gamma = gamma->number(positive_number());
  if (const auto phase = node.find("phase")) spec.phase = phase->number(any_number("degrees"));
}

void parse_gaussian(const Node& node, WaveletSpec& spec) {
  node.only({"frequency", "delay", "order"});
  if (const auto order = node.find("order")) spec.derivative = static_cast<int>(order->integer(1, 8));
}

WaveletSpec parse_formula(const Node& node, WaveletKind kind) {
  WaveletSpec spec;
  spec.kind = kind;
  if (kind == WaveletKind::ricker) node.only({"frequency", "delay"});
  if (kind == WaveletKind::gabor) parse_gabor(node, spec);
  if (kind == WaveletKind::gaussian) parse_gaussian(node, spec);
  if (kind == WaveletKind::ormsby) {
    parse_ormsby(node, spec);
  } else {
    spec.frequency = node.at("frequency", "the wavelet's frequency, in Hz").number(positive_number("Hz"));
  }
  const auto delay = node.find("delay");
  spec.delay = delay ? delay->number(any_number("s")) : default_delay(spec);
  return spec;
}

}  // namespace

WaveletSpec parse_wavelet(const Node& node, const ParseContext& context) {
  const std::vector<std::string> kinds = {"ricker", "gabor", "ormsby", "gaussian", "file", "samples"};
  const std::string kind = node.one_of(kinds, kinds);
  const Node value = node.at(kind, "the wavelet");
  if (kind == "ricker") return parse_formula(value, WaveletKind::ricker);
  if (kind == "gabor") return parse_formula(value, WaveletKind::gabor);
  if (kind == "ormsby") return parse_formula(value, WaveletKind::ormsby);
  if (kind == "gaussian") return parse_formula(value, WaveletKind::gaussian);
  WaveletSpec spec;
  if (kind == "file") {
    spec.kind = WaveletKind::file;
    spec.file = context.path(value);
    return spec;
  }
  spec.kind = WaveletKind::samples;
  if (!value.value().is_array() || value.value().empty()) value.fail("a list of at least one number");
  for (const Node& sample : value.items()) spec.samples.push_back(sample.number(any_number()));
  return spec;
}

}  // namespace ondula::io
