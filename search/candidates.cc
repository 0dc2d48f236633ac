#include "search/candidates.h"

#include <algorithm>

#include "core/base/parallel.h"
#include "core/cursor/provenance.h"
#include "runners/other_compilers.h"
#include "search/tuning_context.h"

namespace exotune {

Candidates::Candidates(TuningState& run, const Proposals& proposals, const Bench& bench,
                       const std::vector<Trial>& measured)
    : run_(run), proposals_(proposals), bench_(bench), measured_(measured) {}

// Emitting may fail where scheduling did not (registers that no C can index): the candidate is then
// none, with the reason counted.
Candidates::Emission Candidates::emit(const BeamState& state) const {
  std::string op = run_.request.partial ? "whole script" : "emit";
  Emission out;
  try {
    const WholeSchedule made = proposals_.whole(state);
    op = "emit";
    Trial t;
    t.candidate = make_candidate(made.proc, *run_.request.target, run_.problem);
    t.script = made.script;
    t.as_written = proposals_.is_as_written(state);
    const bool moved = state.reassociated || reassociates(made.proc);
    t.proof = moved ? ProofLevel::kProvedModuloReassociation : ProofLevel::kProved;
    out.proc = made.proc;
    out.trial = std::move(t);
  } catch (const Error& e) {
    if (e.exit_code() == ExitCode::kInternal) op = kInternalError;
    out.refusal = {op, "", e.diagnostic().where.str() + ": " + e.diagnostic().message.str()};
  }
  return out;
}

// Nothing when it does not become a whole schedule or has no C.
std::optional<Trial> Candidates::keep(Emission made, size_t state) {
  if (made.refusal) run_.count(*made.refusal);
  if (!made.trial) return std::nullopt;
  // Of equal C the first schedule is the one whose lines a trial has.
  procs_.emplace(made.trial->candidate.id, made.proc);
  state_of_.emplace(made.trial->candidate.id, state);
  return std::move(made.trial);
}

std::optional<Trial> Candidates::as_written() { return keep(emit(proposals_.start()), 0); }

// In parallel: emitting C takes as long as several proofs. Equal texts are kept once, for the first
// state.
std::vector<Trial> Candidates::trials_of(const std::vector<size_t>& states) {
  std::vector<Emission> made(states.size());
  const auto one = [&](size_t k) {
    if (!run_.deadline.over()) made[k] = emit(proposals_.states()[states[k]]);
  };
  if (run_.request.partial)
    for (size_t k = 0; k < states.size(); ++k) one(k);
  else
    in_parallel(states.size(), one);
  std::vector<Trial> out;
  for (size_t k = 0; k < states.size(); ++k)
    if (std::optional<Trial> t = keep(std::move(made[k]), states[k]))
      if (!t->as_written || !written_ran_) out.push_back(std::move(*t));
  return out;
}

std::vector<Trial> Candidates::otherwise(const Trial& usual) {
  std::vector<Trial> out;
  const auto add = [&](const Trial& trial, bool plain_loops) {
    for (const Compilation& how : unusual_compilations(bench_.toolchain, has_narrow(trial))) {
      if (gave_up(how.compiler) || (is_for_plain_loops(how) && !plain_loops)) continue;
      Trial t = compiled(trial, how);
      if (std::none_of(measured_.begin(), measured_.end(), [&](const Trial& m) {
            return m.candidate.id == t.candidate.id && m.status != TrialStatus::kSkipped;
          }))
        out.push_back(std::move(t));
    }
  };
  add(usual, is_as_written(usual));
  // A compiler may make more of calls and products as the user wrote them.
  if (state_index(usual) == 0 && proposals_.untouched())
    if (const std::optional<Trial> untouched = keep(emit(*proposals_.untouched()), 1))
      add(*untouched, false);
  return out;
}

// Not one that gets a part of the time only: the schedule is one of many.
std::optional<Trial> Candidates::elsewhere(const Trial& uncompiled) {
  const auto whole = [](const OtherCompiler& c) { return c.share == 1 && c.is_plain(); };
  for (const Compilation& how : unusual_compilations(bench_.toolchain, false))
    for (const OtherCompiler& c : other_compilers())
      if (c.name == how.compiler && whole(c)) return compiled(uncompiled, how);
  return std::nullopt;
}

// Of no use to a schedule, whose vectors are as wide as they are and of its own instructions.
bool Candidates::is_for_plain_loops(const Compilation& how) {
  for (const OtherCompiler& c : other_compilers())
    if (c.name == how.compiler) return !c.is_plain();
  return false;
}

bool Candidates::has_narrow(const Trial& trial) const {
  const auto proc = procs_.find(trial.candidate.id);
  return proc != procs_.end() && std::ranges::any_of(proc->second->args, [](const Arg& a) {
           return is_data(a.type.scalar) && !is_float(a.type.scalar) &&
                  bytes_of(a.type.scalar) < bytes_of(ScalarType::kI32);
         });
}

// A compiler that gets a part of the time only, and came to nothing with another schedule: it would
// with this one.
bool Candidates::gave_up(const std::string& compiler) const {
  for (const OtherCompiler& c : other_compilers())
    if (c.name == compiler && c.share < 1)
      return std::any_of(measured_.begin(), measured_.end(), [&](const Trial& m) {
        return m.compilation.compiler == compiler &&
               (m.status == TrialStatus::kSkipped || m.status == TrialStatus::kCompileError);
      });
  return false;
}

// The same code, made machine code in another way.
Trial Candidates::compiled(const Trial& usual, const Compilation& how) {
  Trial t;
  t.candidate = compiled_as(usual.candidate, how);
  t.script = lines_of(how) + usual.script;
  t.proof = how.any_order ? ProofLevel::kProvedModuloReassociation : usual.proof;
  t.compilation = how;
  procs_[t.candidate.id] = procs_[usual.candidate.id];
  state_of_[t.candidate.id] = state_of_[usual.candidate.id];
  return t;
}

void Candidates::take(const Trial& t) {
  TuneResult& result = run_.result;
  result.winner = procedure(t);
  result.script = t.script;
  result.steps = state(t).steps;
  form_of_result_ = state(t).form;
  result.candidate_id = t.candidate.id;
  result.proof = t.proof;
  result.as_written = is_as_written(t);
  result.compilation = t.compilation;
}

void Candidates::take_cheapest() {
  std::set<size_t> wrong;
  for (const Trial& t : measured_)
    if (t.status != TrialStatus::kOk && t.status != TrialStatus::kSkipped &&
        t.status != TrialStatus::kTimeout && !t.late)
      wrong.insert(state_index(t));
  for (const size_t k : proposals_.cheapest_first()) {
    if (wrong.count(k)) continue;
    if (const std::optional<Trial> t = keep(emit(proposals_.states()[k]), k)) return take(*t);
  }
}

}  // namespace exotune
