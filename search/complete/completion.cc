#include "search/complete/completion.h"

#include <algorithm>

#include "core/cursor/provenance.h"
#include "search/complete/open_nests.h"
#include "search/complete/script_text.h"

namespace exotune {

namespace {

class Completing {
 public:
  Completing(const CompletionRequest& request, Store& store, const TuneHooks& hooks)
      : request_(request),
        store_(store),
        hooks_(hooks),
        text_(request.script, request.file),
        deadline_(Deadline::after(request.tune.time_budget_seconds)) {}

  Completion run() {
    // With holes that change nothing: the script's own errors are found before any search.
    const ProcPtr whole = run_text(text_.filled({}), false).proc;
    const std::vector<TraceStep> trace = trace_of(whole);
    // The procedure that the first step was applied to.
    kernel_ = trace.empty() ? whole : trace.front().before;
    read_sizes(trace);
    // The budget is shared out by these.
    searches_left_ = text_.holes().size() + (request_.baseline ? 1 : 0);
    if (request_.baseline && !stopped()) find_baseline();
    for (size_t hole = 0; hole < text_.holes().size(); ++hole)
      if (!fill(hole)) return std::move(out_);
    out_.script = text_.filled(fills_);
    // Once more from the text, constraints enforced: what is written is what was run.
    out_.proc = run_text(out_.script, true).proc;
    return std::move(out_);
  }

 private:
  bool stopped() const { return hooks_.interrupted && hooks_.interrupted(); }

  // The script as it stands; holes that are left change nothing.
  ScriptResult run_text(const std::string& script, bool enforce,
                        const std::function<ProcPtr(const ScriptHole&)>& search = {}) const {
    ScriptEnvironment env = request_.environment;
    env.enforce = enforce;
    // What a hole gives back is what the script goes on with.
    env.search = search ? search : [](const ScriptHole& hole) { return hole.proc; };
    return run_script(script, request_.file, env);
  }

  // Sizes that partial_eval fixed on the way.
  void read_sizes(const std::vector<TraceStep>& trace) {
    for (const TraceStep& step : trace)
      for (const Value& value : step.how->op == "partial_eval" ? step.how->args : ValueList{})
        if (const auto* named = value.as<std::map<std::string, Value>>())
          for (const auto& [name, number] : *named)
            if (const auto* integer = number.as<int64_t>()) sizes_[name] = *integer;
  }

  TuneRequest base_request() const {
    TuneRequest r = request_.tune;
    r.proc = kernel_;
    r.sizes = sizes_;
    for (const auto& [name, value] : sizes_) r.representative[name] = value;
    if (r.kernel.name.empty()) r.kernel.name = kernel_->name;
    return r;
  }

  void find_baseline() {
    TuneRequest r = base_request();
    // The baseline is a rival of the winner, and meets the peers in its shoot-out.
    r.with_peers = false;
    const TuneResult found = tune_in_time(r);
    add(found.statistics);
    if (found.winner) rivals_.push_back({"the winner without your lines", found.winner});
  }

  void add(const TuneStatistics& s) {
    TuneStatistics& all = out_.statistics;
    // Sums over all searches; of each refusal the first example.
    all.states += s.states;
    all.refused += s.refused;
    all.duplicates += s.duplicates;
    all.measured += s.measured;
    all.reused += s.reused;
    all.neighbours += s.neighbours;
    all.plans_refused += s.plans_refused;
    for (const auto& [op, n] : s.refusals) all.refusals[op] += n;
    all.reasons.insert(s.reasons.begin(), s.reasons.end());
    for (const auto& [cause, n] : s.causes) all.causes[cause] += n;
    all.prepare_seconds += s.prepare_seconds;
    all.search_seconds += s.search_seconds;
    all.measure_seconds += s.measure_seconds;
    all.shootout_seconds += s.shootout_seconds;
    if (all.first_refusal.empty()) all.first_refusal = s.first_refusal;
    if (!s.dp) return;
    if (!all.dp) {
      all.dp = s.dp;
      return;
    }
    all.dp->solved += s.dp->solved;
    all.dp->known += s.dp->known;
    all.dp->expanded += s.dp->expanded;
    all.dp->seconds += s.dp->seconds;
    if (s.dp->outcome == DpOutcome::kSolved) all.dp->outcome = DpOutcome::kSolved;
    all.dp->plans.insert(all.dp->plans.end(), s.dp->plans.begin(), s.dp->plans.end());
  }

  // The hole as the evaluator reaches it, with everything before it filled.
  ScriptHole reach(size_t index) {
    if (!text_.has_hole()) {
      const ScriptResult whole = run_text(text_.filled({}), false);
      ScriptHole hole;
      hole.proc = whole.proc;
      hole.constraints = whole.constraints;
      return hole;
    }
    std::optional<ScriptHole> reached;
    run_text(text_.filled(fills_), false, [&](const ScriptHole& hole) {
      // The first hole that is still one: those before it are filled.
      if (!reached) reached = hole;
      return hole.proc;
    });
    EXO_CHECK(reached.has_value() && fills_.size() == index);
    for (const auto& [name, value] : reached->options) refuse_option(*reached, name);
    return std::move(*reached);
  }

  [[noreturn]] static void refuse_option(const ScriptHole& hole, const std::string& name) {
    const std::string near = nearest(name, constraint_names());
    throw InputError(hole.location, "a search has no option `" + name + "`",
                     near.empty() ? "its options: avoid, keep_order, max_unroll, pin, tiles, use"
                                  : "did you mean `" + near + "`?");
  }

  // Searches everything that is open in the hole. False: there is no result.
  bool fill(size_t index) {
    const ScriptHole hole = reach(index);
    const HoleText& where = text_.holes()[index];
    // `q = search(p)` begins with q = p; then the hole's own constraints as lines, so that they
    // hold when the script is run again.
    std::vector<std::string> lines;
    if (where.target != where.source) lines.push_back(where.target + " = " + where.source);
    for (size_t k = hole.constraints.size() - hole.own_constraints; k < hole.constraints.size();
         ++k)
      lines.push_back(with_variable(constraint_line(hole.constraints[k]), where.target));
    fills_.push_back(std::move(lines));

    std::vector<Cursor> pins;
    for (const ScriptConstraint& c : hole.constraints)
      if (c.kind == "pin")
        if (const Cursor pin = forward(hole.proc, *c.args[0].as<Cursor>()); pin.valid())
          pins.push_back(pin);
    const Cursor everything = body_of(hole.proc);
    const Cursor region = hole.where ? *hole.where : everything;
    std::vector<Cursor> open = open_nests(region, pins);
    const bool in_place = !hole.where && pins.empty() &&
                          (open.empty() || request_.together || is_only_nest(hole.proc, open));
    // Nothing to take out: the search may change the whole procedure.
    if (in_place || open.empty()) return search_in_place(index, hole, open.empty() && hole.where);
    std::stable_sort(open.begin(), open.end(),
                     [](const Cursor& a, const Cursor& b) { return work_at(a) > work_at(b); });
    if (open.size() > kMostParts) open.resize(kMostParts);
    double all = 0;
    for (const Cursor& nest : open) all += work_at(nest);
    // Small parts first: they are not measured, and done when the others are.
    std::stable_partition(open.begin(), open.end(),
                          [&](const Cursor& nest) { return work_at(nest) < kSmallShare * all; });
    ProcPtr now = hole.proc;
    for (const Cursor& nest : open) {
      // Parts before it may have moved it, or taken it away.
      const Cursor here = forward(now, nest);
      if (!here.valid()) continue;
      const bool small = work_at(nest) < kSmallShare * all;
      now = search_part(index, hole, now, here, small);
      if (!now) return false;
    }
    return true;
  }

  // The rest of the kernel may be anything that is not a loop (a sum set to zero).
  static bool is_only_nest(const ProcPtr& p, const std::vector<Cursor>& open) {
    return open.size() == 1 && open[0].path().size() == 1 &&
           std::count_if(p->body.begin(), p->body.end(),
                         [](const StmtPtr& s) { return s->as<For>() || s->as<If>(); }) == 1;
  }

  static std::string constraint_line(const ScriptConstraint& c) {
    if (const auto line = line_of(c)) return *line;
    return "p = pin(p, " + Value(pattern_of(*c.args[0].as<Cursor>())).str() + ")";
  }

  // A schedule of what is searched, as a whole script.
  WholeSchedule whole(const Steps& found) const {
    std::vector<std::vector<std::string>> fills = fills_;
    for (std::string& line : lines_of(found, text_.holes()[fills.size() - 1].target))
      fills.back().push_back(std::move(line));
    WholeSchedule out;
    out.script = text_.filled(fills);
    // Constraints can only be judged when no hole is left.
    const bool last = fills.size() == text_.holes().size();
    out.proc = run_text(out.script, last).proc;
    return out;
  }

  bool search_in_place(size_t index, const ScriptHole& hole, bool nothing_open) {
    if (nothing_open)
      throw InputError(hole.location, "nothing is open in the place of this search",
                       "instructions and pinned subtrees stay as they are; name a loop nest "
                       "that is still plain");
    TuneRequest r = base_request();
    r.partial = PartialSchedule{hole.proc, [&](const Steps& steps) { return whole(steps); },
                                hole.constraints};
    const TuneResult found = search(r, index + 1 == text_.holes().size());
    if (!found.winner) return false;
    keep(index, found.steps);
    return true;
  }

  // What was found is part of the script from here on.
  void keep(size_t index, const Steps& steps) {
    for (std::string& line : lines_of(steps, text_.holes()[index].target))
      fills_.back().push_back(std::move(line));
  }

  // One nest as a procedure of its own; the cost model decides on a small one. Returns the whole
  // procedure with the nest scheduled; null when nothing was found.
  ProcPtr search_part(size_t index, const ScriptHole& hole, const ProcPtr& now, const Cursor& nest,
                      bool small) {
    const std::string name = part_name();
    const ScheduleStep apart{"extract_subproc", {pattern_of(nest), name}};
    const Extracted extracted = extract_subproc(now, nest, name);
    const auto around = [&](const Steps& steps) {
      ScheduleStep out = apart;
      out.inside = steps;
      return Steps{std::move(out)};
    };
    TuneRequest r = base_request();
    const ProcPtr part = without_provenance(extracted.subproc);
    r.partial = PartialSchedule{part, [&](const Steps& steps) { return whole(around(steps)); },
                                constraints_of(hole, part)};
    if (small) {
      r.effort = Effort::kEstimate;
      // Sizes that are not multiples of everything, or boundaries would seem to cost nothing.
      for (auto& [size, value] : r.representative)
        if (!r.sizes.count(size) && value > 1) --value;
    }
    const TuneResult found = search(r, index + 1 == text_.holes().size());
    if (!found.winner) return nullptr;
    keep(index, around(found.steps));
    if (found.steps.empty()) return now;
    // What the next part is found in.
    Stepped next = run_steps(now, around(found.steps));
    if (next.refusal) throw SchedulingError(next.refusal->text());
    return next.proc;
  }

  // A part keeps its own order; `use` and pins are for the whole.
  static std::vector<ScriptConstraint> constraints_of(const ScriptHole& hole, const ProcPtr& part) {
    std::vector<ScriptConstraint> out;
    for (ScriptConstraint c : hole.constraints) {
      if (c.kind == "pin") continue;
      c.proc = part;
      out.push_back(std::move(c));
    }
    return out;
  }

  // One budget for all searches, each with its share of what is left.
  TuneResult tune_in_time(TuneRequest& r) {
    r.time_budget_seconds =
        deadline_.left() / static_cast<double>(std::max<size_t>(1, searches_left_));
    if (searches_left_ > 0) --searches_left_;
    return tune(r, store_, hooks_);
  }

  TuneResult search(TuneRequest r, bool last) {
    // Only the last search ends with the script that is written.
    if (last) r.rivals = rivals_;
    if (!last) r.with_peers = false;
    TuneResult found = tune_in_time(r);
    add(found.statistics);
    ++out_.parts;
    out_.interrupted = out_.interrupted || found.stop == StopReason::kInterrupted;
    out_.result = found;
    r.partial.reset();  // it refers to this object
    out_.request = std::move(r);
    return found;
  }

  std::string part_name() {
    std::string name;
    do {
      name = kernel_->name + "_part" + std::to_string(++names_);
      // A name that the user's lines do not use.
    } while (text_.mentions(name));
    return name;
  }

  // Searched of one hole, the heaviest: the others together take little of the time.
  static constexpr size_t kMostParts = 16;
  static constexpr double kSmallShare = 1.0 / 64;  // of all iterations
  const CompletionRequest& request_;
  Store& store_;
  const TuneHooks& hooks_;
  ScriptText text_;
  const Deadline deadline_;  // of all searches together
  size_t searches_left_ = 0;
  ProcPtr kernel_;
  SizeBinding sizes_;
  std::vector<Rival> rivals_;
  std::vector<std::vector<std::string>> fills_;
  int names_ = 0;
  Completion out_;
};

}  // namespace

bool has_hole(const std::string& script, const std::string& file) {
  return ScriptText(script, file).has_hole();
}

Completion complete(const CompletionRequest& request, Store& store, const TuneHooks& hooks) {
  return Completing(request, store, hooks).run();
}

}  // namespace exotune
