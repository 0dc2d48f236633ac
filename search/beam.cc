#include "search/beam.h"

#include <algorithm>
#include <deque>

#include "core/base/diagnostic.h"
#include "core/base/hashing.h"
#include "core/base/parallel.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"

namespace exotune {
// The beam: stages of moves, each on the best states of the stage before. States are schedules
// whose every step was proved, so what the beam holds at any moment is correct; the cost model only
// decides what is looked at first.

namespace {

// One move on one state. Kept over the passes of a search: a later pass looks it up.
struct Attempt {
  const BeamState* from = nullptr;
  const Move* move = nullptr;
  bool reached = false;
  std::optional<StepRefusal> refusal;
  BeamState result;
};

// A refusal is a result like any other: it is counted, and the move is out.
void apply(Attempt& a, const BeamContext& context, const Deadline& deadline) {
  if (deadline.over()) return;
  a.result = *a.from;
  const bool done =
      done_within(deadline, [&] { a.refusal = extend(a.result, a.move->steps, context); });
  if (!done) return;
  a.reached = !a.refusal || !deadline.over();  // else the refusal may be the deadline's
  if (!a.refusal && !a.move->tag.empty()) a.result.tags.insert(a.move->tag);
}

// Equal states: the same procedure, which may go on in the same ways.
std::string key_of(const BeamState& state) {
  std::string key = state.text_hash;
  for (const std::string& tag : state.tags) key += " " + tag;
  return key;
}

// Those of each set of the tags take turns, each set in the order it has.
std::vector<BeamState> in_turn(std::vector<BeamState> states, const std::set<std::string>& tags) {
  std::map<std::set<std::string>, std::vector<BeamState>> groups;
  std::vector<std::vector<BeamState>*> order;
  for (BeamState& state : states) {
    std::set<std::string> own;
    for (const std::string& tag : state.tags)
      if (tags.count(tag)) own.insert(tag);
    std::vector<BeamState>& group = groups[own];
    if (group.empty()) order.push_back(&group);
    group.push_back(std::move(state));
  }
  const size_t all = states.size();
  states.clear();
  for (size_t turn = 0; states.size() < all; ++turn)
    for (std::vector<BeamState>* group : order)
      if (turn < group->size()) states.push_back(std::move((*group)[turn]));
  return states;
}

}  // namespace

BeamState first_state(const ProcPtr& kernel, const BeamContext& context) {
  BeamState start;
  start.proc = kernel;
  start.text_hash = content_hash(canonical_text(*kernel));
  start.cost = static_cost(*kernel, context.sizes, context.weights);
  return start;
}

namespace {

// One step, without what is known of the result as a whole.
std::optional<StepRefusal> apply_step(BeamState& state, const ScheduleStep& step,
                                      const BeamContext& context) {
  Stepped made = run_step(state.proc, step, context.constraints);
  if (made.refusal) return std::move(made.refusal);
  state.reassociated |= reassociates(made.proc);
  // Constraints look at the way a procedure came about.
  state.proc = context.constraints.empty() ? without_provenance(made.proc) : made.proc;
  state.steps.push_back(step);
  return std::nullopt;
}

void describe(BeamState& state, const BeamContext& context) {
  state.cost = static_cost(*state.proc, context.sizes, context.weights);
  state.text_hash = content_hash(canonical_text(*state.proc));
}

// Lists of steps by what they begin with.
// Many lists begin alike (the same blocks, then different tiles): a tree of them makes each common
// beginning once, which is most of the proving.
struct StepTree {
  struct Branch;
  std::map<std::string, Branch> next;  // by the step as text
  std::vector<size_t> ends;            // lists that end here

  void add(const Steps& steps, size_t list);
  template <class F>
  void for_each_end(const F& f) const;
};
struct StepTree::Branch {
  ScheduleStep step;
  StepTree below;
};

void StepTree::add(const Steps& steps, size_t list) {
  StepTree* at = this;
  for (const ScheduleStep& step : steps)
    at = &at->next.try_emplace(line_of(step), Branch{step, {}}).first->second.below;
  at->ends.push_back(list);
}

template <class F>
void StepTree::for_each_end(const F& f) const {
  for (const size_t list : ends) f(list);
  for (const auto& [text, branch] : next) branch.below.for_each_end(f);
}

// Depth first: a state is made from its parent's, which is kept no longer than its branches need
// it.
class TreeReplay {
 public:
  TreeReplay(const BeamContext& context, const Deadline& deadline, std::vector<Extended>& out)
      : context_(context), deadline_(deadline), out_(out) {}

  void run(const StepTree& tree, const BeamState& state) {
    if (deadline_.over()) return;
    if (!tree.ends.empty()) {
      BeamState whole = state;
      if (!done_within(deadline_, [&] { describe(whole, context_); })) return;
      for (const size_t list : tree.ends) {
        out_[list].state = whole;
        out_[list].reached = true;
      }
    }
    std::vector<const StepTree::Branch*> branches;
    for (const auto& [text, branch] : tree.next) branches.push_back(&branch);
    in_parallel(branches.size(), [&](size_t k) { step(*branches[k], state); });
  }

 private:
  void step(const StepTree::Branch& branch, BeamState state) {
    std::optional<StepRefusal> refusal;
    if (!done_within(deadline_, [&] { refusal = apply_step(state, branch.step, context_); }))
      return;
    if (!refusal) return run(branch.below, state);
    if (deadline_.over()) return;  // the refusal may be the deadline's
    branch.below.for_each_end([&](size_t list) {
      out_[list].refusal = refusal;
      out_[list].reached = true;
    });
  }

  const BeamContext& context_;
  const Deadline& deadline_;
  std::vector<Extended>& out_;
};

}  // namespace

// All steps or none: the state is unchanged when one of them is refused.
std::optional<StepRefusal> extend(BeamState& state, const Steps& steps,
                                  const BeamContext& context) {
  for (const ScheduleStep& step : steps)
    if (auto refusal = apply_step(state, step, context)) return refusal;
  if (!steps.empty()) describe(state, context);
  return std::nullopt;
}

std::vector<Extended> extend_all(const BeamState& start, const std::vector<Steps>& lists,
                                 const BeamContext& context, const Deadline& deadline) {
  std::vector<Extended> out(lists.size());
  StepTree tree;
  for (size_t k = 0; k < lists.size(); ++k) tree.add(lists[k], k);
  TreeReplay(context, deadline, out).run(tree, start);
  return out;
}

namespace {

// The passes of one search over the same stages.
class Beam {
 public:
  Beam(const SearchSpace& space, const BeamContext& context, const BeamOptions& options,
       BeamResult& out)
      : space_(space),
        context_(context),
        options_(options),
        out_(out),
        stages_(space.stages.size()) {}

  /// All stages, each but the last keeping `width` states of each set of tags. Whole schedules, or
  /// none when the deadline was over too soon.
  // A pass that the deadline cuts before its last stage gives nothing: an unfinished schedule is
  // none.
  std::vector<const BeamState*> pass(const BeamState& start, int width) {
    std::vector<const BeamState*> beam = {&start};
    for (size_t s = 0; s < space_.stages.size(); ++s) {
      const bool last = s + 1 == space_.stages.size();
      std::vector<const BeamState*> next = stage(s, beam);
      if (out_.cut_short && !last) return {};
      if (!last) keep_best(next, width);
      if (next.empty()) break;  // every move was refused: what came before stands
      beam = std::move(next);
    }
    return beam;
  }

 private:
  struct Made {
    std::map<std::pair<const BeamState*, const Move*>, Attempt*> known;
    std::deque<Attempt> attempts;  // whose results are pointed at
    std::set<const Attempt*> twice;
  };

  // The results of a stage on the states of the beam, best first; of equal ones the first.
  std::vector<const BeamState*> stage(size_t s, const std::vector<const BeamState*>& beam) {
    Made& made = stages_[s];
    std::vector<Attempt*> wanted, fresh;
    for (const BeamState* state : beam)
      for (const Move& m : space_.stages[s].moves) {
        if (!m.needs.empty() && !state->tags.count(m.needs)) continue;
        Attempt*& attempt = made.known[{state, &m}];
        if (attempt == nullptr) {
          attempt = &made.attempts.emplace_back();
          attempt->from = state;
          attempt->move = &m;
          fresh.push_back(attempt);
        }
        wanted.push_back(attempt);
      }
    run(fresh);
    std::vector<const BeamState*> next;
    std::set<std::string> seen;
    for (const Attempt* a : wanted) {
      if (!a->reached || a->refusal) continue;
      if (seen.insert(key_of(a->result)).second)
        next.push_back(&a->result);
      else
        out_.duplicates += made.twice.insert(a).second;
    }
    const auto tie = [&](const BeamState& b) {
      return hash_combine(options_.seed, hash_bytes(b.text_hash));
    };
    std::stable_sort(next.begin(), next.end(), [&](const BeamState* x, const BeamState* y) {
      if (x->cost.cycles != y->cost.cycles) return x->cost.cycles < y->cost.cycles;
      return tie(*x) < tie(*y);
    });
    return next;
  }

  // In parallel over attempts, whose results go into places of their own: the outcome does not
  // depend on who was first.
  void run(const std::vector<Attempt*>& fresh) {
    const size_t slice = 32;  // so that progress is seen
    for (size_t first = 0; first < fresh.size() && !out_.cut_short; first += slice) {
      const size_t last = std::min(fresh.size(), first + slice);
      in_parallel(last - first,
                  [&](size_t k) { apply(*fresh[first + k], context_, options_.deadline); });
      if (options_.progress)
        options_.progress(out_.made + static_cast<int>(last),
                          out_.made + static_cast<int>(fresh.size()));
      out_.cut_short = options_.deadline.over();
    }
    for (const Attempt* a : fresh) {
      out_.made += a->reached;
      if (!a->refusal || !a->reached) continue;
      ++out_.refused;
      if (++out_.refusals[a->refusal->op] == 1) out_.reasons[a->refusal->op] = a->refusal->text();
      if (out_.first_refusal.empty()) out_.first_refusal = a->refusal->text();
    }
  }

  // Each set of tags keeps its best: it decides how the schedule goes on, which the cost of an
  // unfinished schedule does not show.
  static void keep_best(std::vector<const BeamState*>& states, int width) {
    std::map<std::set<std::string>, int> kept;
    std::erase_if(states, [&](const BeamState* b) { return kept[b->tags]++ >= width; });
  }

  const SearchSpace& space_;
  const BeamContext& context_;
  const BeamOptions& options_;
  BeamResult& out_;
  std::vector<Made> stages_;
};

void add(std::vector<BeamState>& states, const std::vector<const BeamState*>& more) {
  std::set<std::string> seen;
  for (const BeamState& s : states) seen.insert(key_of(s));
  for (const BeamState* s : more)
    if (seen.insert(key_of(*s)).second) states.push_back(*s);
}

}  // namespace

BeamResult beam_search(const ProcPtr& kernel, const SearchSpace& space, const BeamContext& context,
                       const BeamOptions& options) {
  BeamResult out;
  BeamState start = first_state(kernel, context);
  if (const auto refusal = extend(start, space.prologue, context)) {
    ++out.refused;
    ++out.refusals[refusal->op];
    out.reasons[refusal->op] = refusal->text();
    out.first_refusal = refusal->text();
    out.states.push_back(std::move(start));
    return out;
  }
  Beam beam(space, context, options, out);
  // A narrow pass keeps the first of what a wide one keeps, so none is in vain.
  std::vector<const BeamState*> whole;
  for (const int width : {1, 4, options.width}) {
    if (width > options.width) continue;
    std::vector<const BeamState*> found = beam.pass(start, width);
    if (out.cut_short) add(out.states, found);
    if (out.cut_short) break;
    whole = std::move(found);
    if (options.enough > 0 && whole.size() >= static_cast<size_t>(options.enough)) break;
  }
  add(out.states, whole);
  if (!space.in_turn.empty()) out.states = in_turn(std::move(out.states), space.in_turn);
  if (out.states.size() > static_cast<size_t>(options.keep))
    out.states.resize(static_cast<size_t>(options.keep));
  // The kernel as it was written is always a candidate: a search never ends empty.
  bool has_start = std::any_of(out.states.begin(), out.states.end(),
                               [&](const BeamState& b) { return b.text_hash == start.text_hash; });
  if (!has_start) out.states.push_back(std::move(start));
  return out;
}

}  // namespace exotune
