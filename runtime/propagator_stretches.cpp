// A shot's way through its schedule: stretches there, stretches back, and from checkpoints there again.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "compiler/error.hpp"
#include "runtime/propagator_adjoint.hpp"
#include "runtime/propagator_impl.hpp"
#include "runtime/state_data.hpp"

namespace ondula {
namespace {

using Kind = storage::Action::Kind;

/// Whether so many samples more make it time for a look at magnitudes.
bool due(std::int64_t& unwatched, std::int64_t samples, std::int64_t stride) {
  unwatched += samples;
  if (unwatched < (stride > 1 ? std::min(stride, guard_interval) : guard_interval)) return false;
  unwatched = 0;
  return true;
}

}  // namespace

std::int64_t Propagator::Impl::first_sample() const { return start_ ? start_->step : 0; }

std::function<void(std::int64_t, std::span<const double>)> Propagator::Impl::bounded(
    const GradientBatch& batch) const {
  return [this, first = batch.first](std::int64_t step, std::span<const double> sizes) {
    for (std::size_t s = 0; s < sizes.size(); ++s)
      require_bounded(first + static_cast<std::int64_t>(s), step, sizes[s]);
  };
}

void Propagator::Impl::go_ahead(GradientBatch& batch, const loop::Watch& ahead) {
  const storage::Schedule& schedule = adjoint_->schedule;
  for (; schedule[batch.next].kind != Kind::reverse; ++batch.next) act(batch, schedule[batch.next], ahead);
  batch.again = true;
}

void Propagator::Impl::go_back(GradientBatch& batch, const loop::Watch& back) {
  Adjoint& own = *adjoint_;
  loop::Watch ahead;  // records have been taken
  ahead.magnitude = bounded(batch);
  for (; batch.next < own.schedule.size(); ++batch.next) {
    const storage::Action& action = own.schedule[batch.next];
    if (action.kind == Kind::reverse)
      undo_stretch(batch, action, back);
    else
      act(batch, action, ahead);
  }
  own.keep->finish(ahead);
  own.back->finish(back);
}

void Propagator::Impl::act(GradientBatch& batch, const storage::Action& action, const loop::Watch& watch) {
  Adjoint& own = *adjoint_;
  switch (action.kind) {
    case Kind::keep:
      own.states->keep(action.slot);
      break;
    case Kind::restore:
      own.history->reset();
      own.keep->stand(*own.history, 0);
      own.states->restore(action.slot);
      break;
    case Kind::advance:
      run_stretch(batch, action, watch);
      own.history->rebase((action.to - action.from) * substeps_ % 2);
      break;
    case Kind::run:
      own.keep->keep(*own.history, 0);
      run_stretch(batch, action, watch);
      break;
    case Kind::reverse:
      throw InternalError("a stretch to be undone on the way there");
  }
}

void Propagator::Impl::run_stretch(GradientBatch& batch, const storage::Action& action,
                                   const loop::Watch& watch) {
  Adjoint& own = *adjoint_;
  const auto way = action.kind == Kind::run ? loop::Kept::Way::keep : loop::Kept::Way::pass;
  const std::int64_t first = first_sample(), stride = own.keep->stride();
  const std::size_t count = batch.shots.size();
  for (std::int64_t n = action.from; n < action.to;) {
    if (options_.cancel && options_.cancel())
      throw Cancelled(fmt::format("cancelled at step {} of {}{}", first + n, shots_text(batch.first, count),
                                  batch.again ? ", which ran again on the way back" : ""));
    const std::int64_t next = std::min(action.to, n + stride);
    own.keep->steps((first + n) * substeps_, (next - n) * substeps_, substeps_, watch,
                    {own.history.get(), way, (n - action.from) * substeps_});
    if (!batch.again) step_now_ = first + next;
    if (batch.again) timings_.steps_again += (next - n) * substeps_ * static_cast<std::int64_t>(count);
    batch.told += next - n;
    tell(batch.first, count, batch.told, own.cost.run + steps_, stride > 1);
    if (due(batch.unwatched, next - n, stride) || next == steps_)
      own.keep->watch_magnitude(first + next, watch);
    n = next;
  }
}

void Propagator::Impl::undo_stretch(GradientBatch& batch, const storage::Action& action,
                                    const loop::Watch& watch) {
  Adjoint& own = *adjoint_;
  // Steps back are counted from the run's last on.
  const std::int64_t begin = own.steps - action.to * substeps_, end = own.steps - action.from * substeps_;
  const std::int64_t stride = own.back->stride(), last = own.steps - 1;
  const std::size_t count = batch.shots.size();
  own.back->take_over(*own.keep, own.compilation.adjoint.handovers);
  if (batch.next + 1 < own.schedule.size()) own.states->expect(own.schedule[batch.next + 1].slot);
  for (std::int64_t j = begin; j < end;) {
    if (options_.cancel && j % substeps_ == 0 && options_.cancel())
      throw Cancelled(fmt::format("cancelled on the way back at step {} of {}", (last - j) / substeps_,
                                  shots_text(batch.first, count)));
    const std::int64_t next = std::min(end, j + (stride > 1 ? stride * substeps_ : 1));
    own.back->steps(j, next - j, 1, watch,
                    {own.history.get(), loop::Kept::Way::backward, j - begin, end - begin});
    const std::int64_t samples = next / substeps_ - j / substeps_;
    batch.told += samples;
    if (samples > 0) tell(batch.first, count, batch.told, own.cost.run + steps_, stride > 1);
    if (due(batch.unwatched_back, samples, stride) || next > last) own.back->watch_magnitude(next, watch);
    j = next;
  }
  for (std::size_t s = 0; s < batch.illumination.size(); ++s)
    own.add_illumination(domain_, batch.illumination[s], static_cast<std::int64_t>(s), end - begin);
}

}  // namespace ondula
