#include "cli/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/table.h"

namespace exotune::cli {
namespace {

constexpr std::chrono::milliseconds kTerminalEvery{200};
constexpr std::chrono::seconds kLinesEvery{30};

std::string duration(double seconds) {
  const auto whole = static_cast<long long>(seconds + 0.5);
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
}

}  // namespace

std::string progress_text(const std::string& label, const Progress& progress,
                          const std::string& unit, double elapsed_seconds, double budget_seconds) {
  std::string text = fmt::format("[{}] {}", label, progress.phase);
  if (progress.planned > 0) text += fmt::format(" {}/{}", progress.done, progress.planned);
  if (progress.ok + progress.bad > 0)
    text += fmt::format(" ok {} bad {}", progress.ok, progress.bad);
  if (progress.best > 0) {
    text += fmt::format(" | best {} {}", number(progress.best), unit);
    if (progress.percent_of_peak > 0)
      text += fmt::format(" {:.0f}% peak", progress.percent_of_peak);
  }
  return text + " | " + duration(elapsed_seconds) + " of at most " + duration(budget_seconds);
}

ProgressLine::ProgressLine(std::string label, std::string unit, double budget_seconds,
                           ProgressStyle style)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      budget_seconds_(budget_seconds),
      style_(style) {
  if (style_ != ProgressStyle::kNone)
    thread_ = std::jthread([this](std::stop_token stop) { run(std::move(stop)); });
}

ProgressLine::~ProgressLine() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  if (shown_ && style_ == ProgressStyle::kTerminal) std::fputs("\r\033[K", stderr);
}

void ProgressLine::show(const Progress& progress) {
  const std::lock_guard held(mutex_);
  last_ = progress;
  told_ = true;
}

void ProgressLine::run(std::stop_token stop) {
  const std::chrono::milliseconds every =
      style_ == ProgressStyle::kTerminal ? kTerminalEvery : kLinesEvery;
  std::unique_lock held(mutex_);
  while (!stop.stop_requested()) {
    changed_.wait_for(held, stop, every, [] { return false; });
    if (stop.stop_requested()) return;
    if (!told_) continue;
    const Progress now = last_;
    held.unlock();
    print(now);
    held.lock();
  }
}

void ProgressLine::print(const Progress& progress) {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const std::string text = progress_text(label_, progress, unit_, elapsed, budget_seconds_);
  if (style_ == ProgressStyle::kTerminal)
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
  else
    std::fprintf(stderr, "%s\n", text.c_str());
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace exotune::cli
