#include "search/beam.h"

#include <tbb/parallel_for.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/base/hashing.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"

namespace exotune {

namespace {

// The operator that a line calls: "p = block_loop(p, ...)" -> "block_loop".
std::string operator_of(const std::string& line) {
  size_t equals = line.find("= "), paren = line.find('(');
  if (equals == std::string::npos || paren == std::string::npos || paren < equals + 2) return line;
  return line.substr(equals + 2, paren - equals - 2);
}

struct Attempt {
  size_t state = 0;
  const Move* move = nullptr;
  bool reached = false;
  std::optional<LineRefusal> refusal;
  BeamState result;
};

void apply(const BeamState& from, Attempt& a, const BeamContext& context) {
  a.reached = true;
  a.result = from;
  a.refusal = extend(a.result, a.move->lines, context);
  if (!a.refusal && !a.move->tag.empty()) a.result.tags.insert(a.move->tag);
}

LineRefusal refusal_of(const std::string& line, const Error& e) {
  LineRefusal out{operator_of(line), line + "\n" + e.diagnostic().message.str()};
  for (const LazyText& note : e.diagnostic().notes) {
    const std::string text = note.str();
    if (text.size() < 400) out.text += "\n  " + text;
  }
  return out;
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

std::optional<LineRefusal> extend(BeamState& state, const std::vector<std::string>& lines,
                                  const BeamContext& context) {
  ScriptEnvironment env = context.environment;
  env.constraints = context.constraints;
  env.enforce = false;
  for (const std::string& line : lines) {
    try {
      env.start = state.proc;
      ScriptResult result = run_script(line, "<search>", env);
      const ProcPtr made = result.proc;
      // A part that was taken out goes by its name until it is back.
      if (!line.starts_with("p = "))
        for (auto& [name, value] : result.bindings) env.names[name] = std::move(value);
      for (const ScriptConstraint& c : context.constraints)
        if (const std::string why = broken_by_result(c, made, false); !why.empty())
          return LineRefusal{c.kind, line + "\n" + why};
      state.reassociated |= reassociates(made);
      // Constraints look at the way a procedure came about.
      state.proc = context.constraints.empty() ? without_provenance(made) : made;
      state.lines.push_back(line);
    } catch (const Error& e) {
      if (e.exit_code() == ExitCode::kInternal) throw;
      return refusal_of(line, e);
    }
  }
  if (!lines.empty()) {
    state.cost = static_cost(*state.proc, context.sizes, context.weights);
    state.text_hash = content_hash(canonical_text(*state.proc));
  }
  return std::nullopt;
}

BeamResult beam_search(const ProcPtr& kernel, const SearchSpace& space, const BeamContext& context,
                       const BeamOptions& options) {
  BeamResult out;
  BeamState start = first_state(kernel, context);
  if (const auto refusal = extend(start, space.prologue, context)) {
    ++out.refused;
    ++out.refusals[refusal->op];
    out.first_refusal = refusal->text;
    out.states.push_back(std::move(start));
    return out;
  }

  std::vector<BeamState> beam = {start};
  for (size_t s = 0; s < space.stages.size(); ++s) {
    const Stage& stage = space.stages[s];
    std::vector<Attempt> attempts;
    for (size_t k = 0; k < beam.size(); ++k)
      for (const Move& m : stage.moves)
        if (m.needs.empty() || beam[k].tags.count(m.needs)) {
          Attempt a;
          a.state = k;
          a.move = &m;
          attempts.push_back(std::move(a));
        }
    // Slices, so that an interrupt is seen soon.
    const size_t slice = 32;
    for (size_t first = 0; first < attempts.size() && !out.interrupted; first += slice) {
      size_t last = std::min(attempts.size(), first + slice);
      tbb::parallel_for(first, last, [&](size_t k) {
        apply(beam[attempts[k].state], attempts[k], context);
      });
      if (options.progress)
        options.progress(out.made + static_cast<int>(last),
                         out.made + static_cast<int>(attempts.size()));
      out.interrupted = options.interrupted && options.interrupted();
    }
    out.made += static_cast<int>(attempts.size());

    std::vector<BeamState> next;
    std::set<std::string> seen;
    for (Attempt& a : attempts) {
      if (!a.reached) continue;  // interrupted
      if (a.refusal) {
        ++out.refused;
        ++out.refusals[a.refusal->op];
        if (out.first_refusal.empty()) out.first_refusal = a.refusal->text;
        continue;
      }
      std::string key = a.result.text_hash;
      for (const std::string& tag : a.result.tags) key += " " + tag;
      if (!seen.insert(key).second) {
        ++out.duplicates;
        continue;
      }
      next.push_back(std::move(a.result));
    }
    auto order = [&](const BeamState& x, const BeamState& y) {
      if (x.cost.cycles != y.cost.cycles) return x.cost.cycles < y.cost.cycles;
      auto tie = [&](const BeamState& b) {
        return hash_combine(options.seed, hash_bytes(b.text_hash));
      };
      return tie(x) < tie(y);
    };
    std::stable_sort(next.begin(), next.end(), order);
    // Each set of tags keeps its best: it decides how the schedule goes on, which the cost of an
    // unfinished schedule does not show.
    const bool last_stage = s + 1 == space.stages.size();
    std::map<std::set<std::string>, int> kept;
    std::vector<BeamState> pruned;
    for (BeamState& b : next) {
      if (!last_stage && kept[b.tags]++ >= options.width) continue;
      pruned.push_back(std::move(b));
    }
    if (last_stage && !space.in_turn.empty()) pruned = in_turn(std::move(pruned), space.in_turn);
    if (last_stage && pruned.size() > static_cast<size_t>(options.keep))
      pruned.resize(static_cast<size_t>(options.keep));
    if (pruned.empty()) break;  // every move was refused: what came before stands
    beam = std::move(pruned);
    if (out.interrupted) break;
  }
  out.states = std::move(beam);
  // The kernel as it was written is always a candidate: a search never ends empty.
  bool has_start = std::any_of(out.states.begin(), out.states.end(),
                               [&](const BeamState& b) { return b.text_hash == start.text_hash; });
  if (!has_start) out.states.push_back(std::move(start));
  return out;
}

}  // namespace exotune
