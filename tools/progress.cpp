// How far a run is.
// SPDX-License-Identifier: MIT
#include "tools/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/words.hpp"

namespace ondula::tools {
namespace {

constexpr auto redraw = std::chrono::milliseconds(100);
constexpr auto between_lines = std::chrono::seconds(10);

double seconds_of(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

int columns() {
  winsize size = {};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string bar(double done, int width) {
  const int full = std::clamp(static_cast<int>(done * width), 0, width);
  return "[" + std::string(static_cast<std::size_t>(full), '=') +
         std::string(static_cast<std::size_t>(width - full), ' ') + "]";
}

}  // namespace

ProgressLine::ProgressLine(std::int64_t points, bool quiet)
    : points_(points), quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const Progress& progress) {
  if (quiet_) return;
  const auto now = Clock::now();
  if (!first_) {
    // What precedes the first step is no measure of the others.
    first_ = progress;
    begin_ = last_ = now;
    left_out_ = {};
    return;
  }
  if (now - last_ < (terminal_ ? Clock::duration(redraw) : Clock::duration(between_lines))) return;
  last_ = now;
  const double done = share(progress);
  const std::string line = text(progress, seconds_of(now - begin_), seconds_of(now - begin_ - left_out_));
  if (!terminal_) {
    fmt::print(stderr, "{:3.0f} %  {}\n", 100 * done, line);
    return;
  }
  const int room = columns() - static_cast<int>(line.size()) - 11;
  const std::string shown =
      room >= 10 ? fmt::format("{} {:3.0f} %  {}", bar(done, std::min(room, 40)), 100 * done, line)
                 : fmt::format("{:3.0f} %  {}", 100 * done, line);
  fmt::print(stderr, "\r{}\x1b[K", shown.substr(0, static_cast<std::size_t>(columns() - 1)));
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressLine::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

double ProgressLine::share(const Progress& progress) {
  const double steps = static_cast<double>(std::max<std::int64_t>(progress.steps, 1));
  return (static_cast<double>(progress.shot) + static_cast<double>(progress.step) / steps) /
         static_cast<double>(std::max<std::int64_t>(progress.shots, 1));
}

std::string ProgressLine::text(const Progress& progress, double seconds, double stepping) const {
  const auto steps = [](const Progress& p) { return static_cast<double>(p.shot * p.steps + p.step); };
  const double rate =
      stepping > 0 ? static_cast<double>(points_) * (steps(progress) - steps(*first_)) / stepping / 1e9 : 0;
  const double gained = share(progress) - share(*first_);
  const double left = gained > 0 ? seconds * (1 - share(progress)) / gained : -1;
  return fmt::format("shot {} of {}, step {} of {}, {:.3g} Gpoints/s, {} left", progress.shot + 1,
                     progress.shots, progress.step, progress.steps, rate, seconds_text(left));
}

}  // namespace ondula::tools
