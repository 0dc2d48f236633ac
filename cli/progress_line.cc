#include "cli/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/table.h"

namespace exotune::cli {
namespace {

std::string duration(double seconds) {
  const auto whole = static_cast<long long>(seconds + 0.5);
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
}

}  // namespace

std::string progress_text(const std::string& label, const Progress& progress,
                          const std::string& unit, double elapsed_seconds, double budget_seconds) {
  std::string text = fmt::format("[{}] {} {}/{} ok {} bad {}", label, progress.phase, progress.done,
                                 progress.planned, progress.ok, progress.bad);
  if (progress.best > 0) {
    text += fmt::format(" | best {} {}", number(progress.best), unit);
    if (progress.percent_of_peak > 0)
      text += fmt::format(" {:.0f}% peak", progress.percent_of_peak);
  }
  if (progress.done > 0 && progress.planned > progress.done) {
    const double rest = elapsed_seconds / progress.done * (progress.planned - progress.done);
    text += " | ETA " + duration(std::min(rest, std::max(0.0, budget_seconds - elapsed_seconds)));
  }
  return text;
}

ProgressLine::ProgressLine(std::string label, std::string unit, double budget_seconds, bool enabled)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      budget_seconds_(budget_seconds),
      enabled_(enabled) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::show(const Progress& progress) {
  const Clock::time_point now = Clock::now();
  if (!enabled_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  shown_ = true;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const std::string text = progress_text(label_, progress, unit_, elapsed, budget_seconds_);
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
}

}  // namespace exotune::cli
