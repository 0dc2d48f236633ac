#include "search/tuning_state.h"

#include <algorithm>

#include "search/moves/dot_tiles.h"
#include "search/steps/builders.h"

namespace exotune {

StopReason stop_of(const Deadline& d) {
  return d.interrupted() ? StopReason::kInterrupted : StopReason::kTimeBudget;
}

namespace {

SizeBinding all_sizes(const TuneRequest& request) {
  SizeBinding out = request.representative;
  for (const auto& [name, value] : request.sizes) out[name] = value;
  return out;
}

}  // namespace

TuningState::TuningState(const TuneRequest& asked, Store& where, const TuneHooks& told,
                         const TimeSource& time)
    : request(asked),
      store(where),
      hooks(told),
      clock(time),
      deadline(Deadline::after(until_written(asked.time_budget_seconds), time)
                   .or_when(told.interrupted)),
      budget(deadline, asked.time_budget_seconds),
      sizes(all_sizes(asked)) {}

void TuningState::report(const std::string& phase, int done, int planned) {
  if (!hooks.progress) return;
  Progress p;
  p.phase = phase;
  p.done = done;
  p.planned = planned;
  p.ok = ok;
  p.bad = bad;
  p.best = per_second(request.kernel.flops, best_seconds);
  if (p.best == 0) p.best = per_second(request.kernel.bytes, best_seconds);
  if (result.peak_gflops > 0) p.percent_of_peak = 100 * p.best / result.peak_gflops;
  hooks.progress(p);
}

void TuningState::count(const StepRefusal& refusal) {
  TuneStatistics& s = result.statistics;
  ++s.refused;
  if (++s.refusals[refusal.op] == 1) s.reasons[refusal.op] = refusal.text();
  if (s.first_refusal.empty()) s.first_refusal = refusal.text();
}

double TuningState::per_second(const SizeFormula& formula, double seconds) const {
  return formula.text().empty() || seconds <= 0 ? 0 : formula.evaluate(sizes) / seconds * 1e-9;
}

void TuningState::note_speed(double seconds) {
  result.seconds = seconds;
  result.gflops = per_second(request.kernel.flops, seconds);
  result.gbytes = per_second(request.kernel.bytes, seconds);
}

std::vector<SizeBinding> TuningState::listed_sizes() const {
  std::vector<SizeBinding> out;
  for (const SizeBinding& listed : request.kernel.sizes) {
    SizeBinding other = sizes;
    for (auto& [name, value] : other)
      if (auto it = listed.find(name); it != listed.end() && !request.sizes.count(name))
        value = it->second;
    if (other != sizes) out.push_back(std::move(other));
  }
  return out;
}

std::optional<SizeBinding> TuningState::large_sizes() const {
  // Of the operations; half as many rows, columns and terms again fill no other level of a cache.
  constexpr double kAnotherMatter = 4;
  const SizeFormula& operations = request.kernel.flops;
  if (operations.text().empty()) return std::nullopt;
  double most = kAnotherMatter * operations.evaluate(sizes);
  std::optional<SizeBinding> out;
  for (SizeBinding& listed : listed_sizes())
    if (const double n = operations.evaluate(listed); n >= most) {
      most = n;
      out = std::move(listed);
    }
  return out;
}

std::optional<ElementType> TuningState::peak_type() const {
  const ScalarType precision = request.kernel.precision;
  ScalarType narrowest = precision;
  for (const Arg& a : request.proc->args)
    if (is_data(a.type.scalar) && bytes_of(a.type.scalar) < bytes_of(narrowest))
      narrowest = a.type.scalar;
  const Target& target = *request.target;
  if (narrowest != precision && has_dot_instruction(precision, instruction_values(target)))
    return target.peak_of(narrowest) > 0 ? std::optional(element_from_name(name_of(narrowest)))
                                         : std::nullopt;
  if (!is_float(precision)) return std::nullopt;
  return precision == ScalarType::kF64 ? ElementType::kF64 : ElementType::kF32;
}

bool TuningState::has_own_peak() const {
  const ScalarType precision = request.kernel.precision;
  const ElementType own = precision == ScalarType::kF64 ? ElementType::kF64 : ElementType::kF32;
  return is_float(precision) && peak_type() == own;
}

}  // namespace exotune
