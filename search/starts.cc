#include "search/starts.h"

#include "core/cursor/provenance.h"

namespace exotune {

Starts::Starts(const std::vector<WholeSchedule>& forms, const BeamContext& context)
    : forms_(forms), context_(context), programs_(forms.size()) {
  for (const WholeSchedule& form : forms) {
    first_.push_back(first_state(form.proc, context));
    first_.back().reassociated = reassociates(form.proc);
    first_.back().proc = without_provenance(form.proc);
    first_.back().form = first_.size();
  }
}

std::vector<BeamState> Starts::search(size_t k, const ProgramSearchRequest& ask,
                                      const Deadline& deadline, TuneStatistics& statistics) {
  programs_[k] = std::make_unique<ProgramSearch>(ask);
  ProgramSearchResult found = programs_[k]->run(first_[k], deadlines_within(deadline));
  count(found, statistics);
  found.states.push_back(first_[k]);
  return std::move(found.states);
}

WholeSchedule Starts::whole(const BeamState& state) const {
  return {state.proc, forms_[state.form - 1].script + key_of(state.steps)};
}

std::vector<BeamState> Starts::recombine(const std::map<std::string, double>& seconds,
                                         const Deadline& deadline) {
  std::vector<BeamState> out;
  for (const std::unique_ptr<ProgramSearch>& program : programs_)
    if (program)
      for (BeamState& state : program->recombine(seconds, deadline))
        out.push_back(std::move(state));
  return out;
}

Surroundings Starts::around(size_t k, const std::vector<BeamState>& good, size_t most,
                            const Neighbourhood& where, const std::set<std::string>& seen,
                            const Deadline& deadline) {
  return surroundings_of(good, most, first_[k], where, context_, seen, deadline);
}

void count(const ProgramSearchResult& found, TuneStatistics& statistics) {
  statistics.states += found.made;
  statistics.cut_short |= found.cut_short;
  for (const StepRefusal& r : found.refusals)
    if (statistics.reasons.emplace(r.op, r.text()).second && statistics.first_refusal.empty())
      statistics.first_refusal = r.text();
  for (const auto& [op, n] : found.refused) {
    statistics.refusals[op] += n;
    statistics.refused += n;
  }
}

}  // namespace exotune
