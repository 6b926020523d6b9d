// Switching between fibers with Boost.Context.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/fibers.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "compiler/error.hpp"

namespace ondula::sim {

// The layer below boost::context::fiber, whose destructor would unwind a fiber that is left where it is:
// kernels have no tables to unwind by, and nothing to destroy.
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

Fibers::Fibers(std::size_t most_threads) : most_(most_threads) {
  const std::size_t each = stack_bytes + guard_bytes;
  void* mapped =
      mmap(nullptr, most_ * each, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    throw RuntimeError(
        fmt::format("no memory for the stacks of {} threads: {}", most_, std::strerror(errno)));
  stacks_ = static_cast<std::byte*>(mapped);
  for (std::size_t i = 0; i < most_; ++i) mprotect(stacks_ + i * each, guard_bytes, PROT_NONE);
}

Fibers::~Fibers() { munmap(stacks_, most_ * (stack_bytes + guard_bytes)); }

void Fibers::enter(void* transfer_context, void* data) {
  auto& self = *static_cast<Fibers*>(data);
  self.scheduler_ = transfer_context;
  Fiber& fiber = self.fibers_[self.running_];
  (*self.body_)(fiber.thread);
  fiber.ended = true;
  jump_fcontext(self.scheduler_, nullptr);
  std::abort();  // nobody resumes a fiber that ended
}

void Fibers::wait(unsigned line) {
  fibers_[running_].line = line;
  scheduler_ = jump_fcontext(scheduler_, nullptr).fctx;
}

void Fibers::abandon() {
  abandoned_ = true;
  jump_fcontext(scheduler_, nullptr);
  std::abort();
}

bool Fibers::disagree(bool strict, BlockEnd& end) const {
  if (!strict) return false;
  const Fiber *waiting = nullptr, *ended = nullptr;
  for (const Fiber& fiber : fibers_) {
    if (fiber.ended) {
      ended = &fiber;
    } else if (waiting == nullptr) {
      waiting = &fiber;
    } else if (fiber.line != waiting->line) {
      end = {BlockEnd::Kind::two_barriers, waiting->thread, fiber.thread, waiting->line, fiber.line};
      return true;
    }
  }
  if (waiting == nullptr || ended == nullptr) return false;
  end = {BlockEnd::Kind::exited_at_barrier, waiting->thread, ended->thread, waiting->line, 0};
  return true;
}

BlockEnd Fibers::run(std::span<const std::uint32_t> order, const std::function<void(std::uint32_t)>& body,
                     bool strict, const std::function<void()>& passed) {
  body_ = &body;
  abandoned_ = false;
  fibers_.assign(order.size(), {});
  for (std::size_t i = 0; i < order.size(); ++i) {
    fibers_[i].thread = order[i];
    fibers_[i].context = make_fcontext(reinterpret_cast<void*>(top(i)), stack_bytes,
                                       [](transfer_t transfer) { enter(transfer.fctx, transfer.data); });
  }
  BlockEnd end;
  for (bool first = true;; first = false) {
    bool any = false;
    for (running_ = 0; running_ < fibers_.size(); ++running_) {
      Fiber& fiber = fibers_[running_];
      if (fiber.ended) continue;
      // The first jump hands the fiber what it is part of.
      fiber.context = jump_fcontext(fiber.context, first ? this : nullptr).fctx;
      if (abandoned_) return {BlockEnd::Kind::abandoned};
      any = any || !fiber.ended;
    }
    if (!any) return end;
    if (disagree(strict, end)) return end;
    passed();
  }
}

}  // namespace ondula::sim
