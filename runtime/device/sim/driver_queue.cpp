// Picks among the operations that can run.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/driver_queue.hpp"

#include <algorithm>

namespace ondula::sim::driver {

void Queue::set_mode(Mode mode, std::uint64_t seed) {
  mode_ = mode;
  random_.seed(seed);
}

void Queue::submit(Operation operation) {
  if (mode_ == Mode::fast) {
    execute_(operation);
    return;
  }
  std::erase_if(operation.waits, [&](std::uint64_t id) { return !pending(id); });
  const std::uint64_t id = operation.id;
  for (const std::uint64_t earlier : operation.waits) pending_.at(earlier).followers.push_back(id);
  if (operation.waits.empty()) ready_.insert(id);
  pending_.emplace(id, Entry{std::move(operation), {}});
  if (pending_.size() <= capacity) return;
  while (pending_.size() > capacity / 2) run_one({ready_.begin(), ready_.end()});
}

bool Queue::pending(const std::vector<std::uint64_t>& ids) const {
  return std::any_of(ids.begin(), ids.end(), [&](std::uint64_t id) { return pending(id); });
}

/// In check mode: the targets and all that they wait for; else it is not asked for.
std::set<std::uint64_t> Queue::awaited(const std::vector<std::uint64_t>& targets) const {
  std::set<std::uint64_t> seen;
  if (mode_ != Mode::check) return seen;
  std::vector<std::uint64_t> stack;
  const auto visit = [&](std::uint64_t id) {
    if (pending(id) && seen.insert(id).second) stack.push_back(id);
  };
  for (const std::uint64_t id : targets) visit(id);
  while (!stack.empty()) {
    const std::uint64_t id = stack.back();
    stack.pop_back();
    for (const std::uint64_t earlier : pending_.at(id).operation.waits) visit(earlier);
  }
  return seen;
}

void Queue::finish(const std::vector<std::uint64_t>& ids) {
  const std::set<std::uint64_t> wanted = awaited(ids);
  while (pending(ids)) advance(ids, wanted);
}

void Queue::advance(const std::vector<std::uint64_t>& ids) { advance(ids, awaited(ids)); }

void Queue::advance(const std::vector<std::uint64_t>& ids, const std::set<std::uint64_t>& awaited) {
  if (!pending(ids)) return;
  std::vector<std::uint64_t> among(ready_.begin(), ready_.end());
  if (mode_ == Mode::check) std::erase_if(among, [&](std::uint64_t id) { return !awaited.contains(id); });
  run_one(among);
}

void Queue::finish_all() {
  while (!ready_.empty()) run_one({ready_.begin(), ready_.end()});
}

void Queue::run_one(const std::vector<std::uint64_t>& among) {
  const std::uint64_t id = among[random_() % among.size()];
  ready_.erase(id);
  const auto taken = pending_.extract(id);
  execute_(taken.mapped().operation);
  release(id, taken.mapped().followers);
}

void Queue::release(std::uint64_t id, const std::vector<std::uint64_t>& followers) {
  for (const std::uint64_t follower : followers) {
    const auto at = pending_.find(follower);
    if (at == pending_.end()) continue;
    std::erase(at->second.operation.waits, id);
    if (at->second.operation.waits.empty()) ready_.insert(follower);
  }
}

void Queue::drop(const ContextObject* context) {
  std::vector<std::uint64_t> gone;
  for (const auto& [id, entry] : pending_) {
    if (entry.operation.context == context) gone.push_back(id);
  }
  for (const std::uint64_t id : gone) {
    ready_.erase(id);
    const auto taken = pending_.extract(id);
    release(id, taken.mapped().followers);
  }
}

}  // namespace ondula::sim::driver
