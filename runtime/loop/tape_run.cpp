// Row operations of tapes.
// SPDX-License-Identifier: MIT
#include "runtime/loop/tape_run.hpp"

#include <algorithm>

#include "compiler/error.hpp"

namespace ondula::loop {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// An infinite slope times nothing is nothing.
double guarded(double factor, double slope) { return factor == 0 ? 0 : factor * slope; }

}  // namespace

BoxNodes::BoxNodes(const ir::Domain& domain, const ir::Box& box, const Tape& tape) : domain_(domain) {
  std::int64_t stride = 1;
  for (int axis = domain.dims - 1; axis >= 0; --axis) {
    const std::size_t a = at(axis);
    first_[a] = box[a].lo - tape.below[a];
    for (std::int64_t i = first_[a]; i < box[a].hi + tape.above[a]; ++i) {
      maps_[a].push_back(model_node(domain, axis, i) * stride);
      const std::int64_t inside = i - domain.pad[a][0];
      layered_[a].push_back((inside < 0 && domain.pad[a][0] > 0) ||
                            (inside >= domain.shape[a] && domain.pad[a][1] > 0));
    }
    stride *= domain.shape[a];
  }
}

const std::int64_t* BoxNodes::node(int axis, const ir::Extents& index, const ir::Extents& shift) const {
  const std::size_t a = at(axis);
  return maps_[a].data() + (index[a] + shift[a] - first_[a]);
}

std::int64_t BoxNodes::base(const ir::Extents& index, const ir::Extents& shift) const {
  std::int64_t base = 0;
  for (int axis = 0; axis < domain_.dims - 1; ++axis) base += *node(axis, index, shift);
  return base;
}

const std::int64_t* BoxNodes::along(const ir::Extents& index, const ir::Extents& shift) const {
  return node(domain_.dims - 1, index, shift);
}

bool BoxNodes::layers(const ir::Extents& index, const ir::Extents& shift, std::span<int> kept) const {
  const auto place = [&](int axis) { return at(index[at(axis)] + shift[at(axis)] - first_[at(axis)]); };
  const int row_axis = domain_.dims - 1;
  bool all = false;
  for (int axis = 0; axis < row_axis; ++axis) all = all || layered_[at(axis)][place(axis)];
  bool any = all;
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const bool layered = all || layered_[at(row_axis)][place(row_axis) + k];
    kept[k] = layered ? 0 : 1;
    any = any || layered;
  }
  return any;
}

bool BoxNodes::surfaces(const ir::Extents& index, const ir::Extents& shift, std::span<int> met) const {
  const int row_axis = domain_.dims - 1;
  int common = 0;
  for (int axis = 0; axis < row_axis; ++axis)
    common += domain_.surfaces(axis, index[at(axis)] + shift[at(axis)]);
  std::fill(met.begin(), met.end(), common);
  bool any = common != 0;
  const std::int64_t first = index[at(row_axis)] + shift[at(row_axis)];
  for (const std::int64_t end : {std::int64_t{0}, domain_.total(row_axis) - 1}) {
    const std::int64_t k = end - first;
    if (k < 0 || k >= static_cast<std::int64_t>(met.size()) || domain_.surfaces(row_axis, end) == 0) continue;
    met[at(k)] = common + 1;
    any = true;
  }
  return any;
}

TapeRun::TapeRun(const Tape& tape, const Models& models, const BoxNodes& nodes, std::size_t width)
    : tape_(tape),
      models_(models),
      nodes_(nodes),
      width_(width),
      values_(tape.steps.size() * width),
      met_(width) {
  for (const std::string& name : tape.parameters) {
    const auto found = models.find(name);
    if (found == models.end()) throw InternalError("no model " + name);
    parameters_.push_back(&found->second);
  }
  count_ = width;
  for (std::size_t s = 0; s < tape.steps.size(); ++s) {
    if (tape.steps[s].uniform) forward(tape.steps[s], row(values_, s).data());
  }
}

void TapeRun::find_active(const std::vector<bool>& wanted) {
  active_.assign(tape_.steps.size(), false);
  for (std::size_t s = 0; s < active_.size(); ++s) {
    const TapeStep& step = tape_.steps[s];
    active_[s] = step.op == TapeOp::parameter ? wanted[step.parameter]
                                              : std::any_of(step.args.begin(), step.args.end(),
                                                            [&](std::size_t i) { return active_[i]; });
  }
  derivatives_.assign(values_.size(), 0.0);
  slope_.resize(width_);
}

void TapeRun::differentiate(std::vector<const double*> directions) {
  directions_ = std::move(directions);
  find_active({directions_.begin(), directions_.end()});
}

void TapeRun::differentiate(std::vector<double*> gradients, bool interior) {
  gradients_ = std::move(gradients);
  interior_ = interior;
  find_active({gradients_.begin(), gradients_.end()});
}

std::span<const double> TapeRun::values(const ir::Extents& index, std::size_t count) {
  index_ = index;
  count_ = count;
  for (std::size_t s = 0; s < tape_.steps.size(); ++s) {
    if (!tape_.steps[s].uniform) forward(tape_.steps[s], row(values_, s).data());
  }
  return row(values_, tape_.value);
}

void TapeRun::forward(const TapeStep& step, double* out) {
  switch (step.op) {
    case TapeOp::constant:
      std::fill(out, out + count_, step.number);
      return;
    case TapeOp::parameter: {
      const ModelArray& model = *parameters_[step.parameter];
      const std::int64_t base = nodes_.base(index_, step.shift);
      const std::int64_t* along = nodes_.along(index_, step.shift);
      for (std::size_t k = 0; k < count_; ++k) out[k] = model[base + along[k]];
      return;
    }
    case TapeOp::select:
      select(step, out);
      return;
    default:
      combine(step, out);
  }
}

void TapeRun::combine(const TapeStep& step, double* out) const {
  const double* x = value(step.args[0]);
  const double* y = value(step.args.back());
  switch (step.op) {
    case TapeOp::add:
      for (std::size_t k = 0; k < count_; ++k) out[k] = x[k] + y[k];
      return;
    case TapeOp::multiply:
      for (std::size_t k = 0; k < count_; ++k) out[k] = x[k] * y[k];
      return;
    case TapeOp::divide:
      for (std::size_t k = 0; k < count_; ++k) out[k] = x[k] / y[k];
      return;
    case TapeOp::function:
      for (std::size_t k = 0; k < count_; ++k) out[k] = step.function->value(x[k], y[k]);
      return;
    case TapeOp::choose: {
      const double* otherwise = value(step.args[2]);
      y = value(step.args[1]);
      for (std::size_t k = 0; k < count_; ++k) out[k] = x[k] != 0 ? y[k] : otherwise[k];
      return;
    }
    case TapeOp::mean: {
      std::fill(out, out + count_, 0.0);
      for (const std::size_t arg : step.args) {
        const double* e = value(arg);
        for (std::size_t k = 0; k < count_; ++k) out[k] += 1 / e[k];
      }
      const auto nodes = static_cast<double>(step.args.size());
      for (std::size_t k = 0; k < count_; ++k) out[k] = nodes / out[k];
      return;
    }
    case TapeOp::parallel:
      std::fill(out, out + count_, 0.0);
      for (std::size_t i = 0; i < step.args.size(); i += 2) {
        const double* c = value(step.args[i]);
        const double* e = value(step.args[i + 1]);
        for (std::size_t k = 0; k < count_; ++k) out[k] += c[k] / e[k];
      }
      for (std::size_t k = 0; k < count_; ++k) out[k] = 1 / out[k];
      return;
    default:
      throw InternalError("a step of a tape that combines nothing");
  }
}

void TapeRun::select(const TapeStep& step, double* out) {
  if (!nodes_.surfaces(index_, step.shift, std::span(met_).first(count_))) {
    std::copy_n(value(step.args[0]), count_, out);
    return;
  }
  const auto last = static_cast<int>(step.args.size()) - 1;
  for (std::size_t k = 0; k < count_; ++k) out[k] = value(step.args[at(std::min(met_[k], last))])[k];
}

void TapeRun::select_slopes(const TapeStep& step, std::size_t j) {
  nodes_.surfaces(index_, step.shift, std::span(met_).first(count_));
  const auto last = static_cast<int>(step.args.size()) - 1;
  for (std::size_t k = 0; k < count_; ++k) slope_[k] = at(std::min(met_[k], last)) == j ? 1 : 0;
}

const double* TapeRun::slopes(std::size_t s, std::size_t j) {
  const TapeStep& step = tape_.steps[s];
  if (step.op == TapeOp::add) return nullptr;
  if (step.op == TapeOp::multiply) return value(step.args[1 - j]);
  put_slopes(step, value(s), j);
  return slope_.data();
}

void TapeRun::put_slopes(const TapeStep& step, const double* out, std::size_t j) {
  const double* x = value(step.args[0]);
  const double* y = value(step.args.back());
  const double* e = value(step.args[j]);
  switch (step.op) {
    case TapeOp::divide:
      for (std::size_t k = 0; k < count_; ++k) slope_[k] = (j == 0 ? 1 : -out[k]) / y[k];
      return;
    case TapeOp::function:
      for (std::size_t k = 0; k < count_; ++k) slope_[k] = step.function->slopes[j](x[k], y[k]);
      return;
    case TapeOp::select:
      select_slopes(step, j);
      return;
    case TapeOp::choose:
      for (std::size_t k = 0; k < count_; ++k) slope_[k] = j == 0 ? 0 : (x[k] != 0) == (j == 1) ? 1 : 0;
      return;
    case TapeOp::mean: {
      const auto nodes = static_cast<double>(step.args.size());
      for (std::size_t k = 0; k < count_; ++k) {
        const double part = out[k] / e[k];
        slope_[k] = e[k] == 0 ? 0 : part * part / nodes;
      }
      return;
    }
    case TapeOp::parallel:
      // Where e alone is 0 the whole is e/c; where another one is, it stays 0 whatever e does.
      for (std::size_t k = 0; k < count_; ++k) {
        const double c = value(step.args[j - 1])[k], part = out[k] / e[k];
        if (e[k] != 0) {
          slope_[k] = c * part * part;
          continue;
        }
        int zeros = 0;
        for (std::size_t i = 1; i < step.args.size(); i += 2) zeros += value(step.args[i])[k] == 0 ? 1 : 0;
        slope_[k] = zeros > 1 ? 0 : 1 / c;
      }
      return;
    default:
      throw InternalError("a step of a tape that has no slopes");
  }
}

std::span<const double> TapeRun::tangents() {
  for (std::size_t s = 0; s < tape_.steps.size(); ++s) {
    if (!active_[s]) continue;
    const TapeStep& step = tape_.steps[s];
    double* out = row(derivatives_, s).data();
    if (step.op == TapeOp::parameter) {
      const double* direction = directions_[step.parameter] + nodes_.base(index_, step.shift);
      const std::int64_t* along = nodes_.along(index_, step.shift);
      for (std::size_t k = 0; k < count_; ++k) out[k] = direction[along[k]];
      continue;
    }
    std::fill(out, out + count_, 0.0);
    for (std::size_t j = 0; j < step.args.size(); ++j) {
      if (!active_[step.args[j]]) continue;
      const double* slope = slopes(s, j);
      const double* in = row(derivatives_, step.args[j]).data();
      for (std::size_t k = 0; k < count_; ++k) out[k] += slope == nullptr ? in[k] : guarded(in[k], slope[k]);
    }
  }
  return row(derivatives_, tape_.value);
}

void TapeRun::transpose(std::span<const double> cotangents) {
  for (std::size_t s = 0; s < tape_.steps.size(); ++s) {
    const std::span<double> adjoint = row(derivatives_, s);
    if (active_[s]) std::fill(adjoint.begin(), adjoint.end(), 0.0);
  }
  if (!active_[tape_.value]) return;
  std::copy_n(cotangents.begin(), count_, row(derivatives_, tape_.value).begin());
  for (std::size_t s = tape_.steps.size(); s-- > 0;) {
    if (!active_[s]) continue;
    const TapeStep& step = tape_.steps[s];
    const double* in = row(derivatives_, s).data();
    if (step.op == TapeOp::parameter) {
      double* gradient = gradients_[step.parameter] + nodes_.base(index_, step.shift);
      const std::int64_t* along = nodes_.along(index_, step.shift);
      const std::span<int> kept = std::span(met_).first(count_);
      const bool part = interior_ && nodes_.layers(index_, step.shift, kept);
      for (std::size_t k = 0; k < count_; ++k) {
        if (!part || kept[k] != 0) gradient[along[k]] += in[k];
      }
      continue;
    }
    for (std::size_t j = 0; j < step.args.size(); ++j) {
      if (!active_[step.args[j]]) continue;
      const double* slope = slopes(s, j);
      double* out = row(derivatives_, step.args[j]).data();
      for (std::size_t k = 0; k < count_; ++k) out[k] += slope == nullptr ? in[k] : guarded(in[k], slope[k]);
    }
  }
}

}  // namespace ondula::loop
