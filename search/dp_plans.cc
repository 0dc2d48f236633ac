#include "search/dp_plans.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "core/base/hashing.h"
#include "search/dp/composition.h"
#include "search/dp/replay.h"
#include "search/dp/stored_memo.h"
#include "search/steps/builders.h"

namespace exotune {

const char* name_of(DpOutcome outcome) {
  static const char* const kNames[] = {"solved",      "not one affine nest", "no plan",
                                       "gave up",     "out of Specs",        "out of memory",
                                       "out of time", "interrupted"};
  return kNames[static_cast<int>(outcome)];
}

namespace {

using Clock = std::chrono::steady_clock;

// Between two of these a run that is killed loses what it solved since.
constexpr double kSecondsBetweenSaves = 5;
// More threads wait for each other more than they help.
constexpr int kMostSolvers = 8;

ValueList instructions_of(const DpRequest& request, const Target& target) {
  return request.instructions.empty() ? instruction_values(target) : request.instructions;
}

DpMachine machine_for(const Target& target, const DpRequest& request) {
  DpMachine machine = machine_of(target, request.figures, request.threads);
  for (const std::string& name : request.avoided) {
    std::erase_if(machine.kernels, [&](const DpKernel& k) {
      return k.name == name || (k.instruction && k.instruction->name == name);
    });
    machine.hash = content_hash(machine.hash + " without " + name);
  }
  return machine;
}

// A memo holds one set of instructions, one set of costs, one number of threads.
std::string file_of(const DpRequest& request) {
  if (request.memo_file.empty()) return "";
  std::string names = request.figures.identity();
  if (request.threads > 1) names += " threads " + std::to_string(request.threads);
  if (request.avoided.empty() && names.empty()) return request.memo_file;
  for (const std::string& name : request.avoided) names += " " + name;
  return request.memo_file + "-" + content_hash(names).substr(0, 8);
}

int64_t memory_limit(const DpRequest& request) {
  if (request.memory_bytes > 0) return request.memory_bytes;
  return int64_t{sysconf(_SC_PHYS_PAGES)} / 4 * sysconf(_SC_PAGESIZE);
}

// Machine, memo and solver, which refer to each other.
class Session {
 public:
  Session(const Target& target, const DpRequest& request)
      : machine_(machine_for(target, request)),
        target_(target),
        request_(request),
        instructions_(instructions_of(request, target)),
        budget_(request.specs, memory_limit(request)) {
    const DpRules rules = search_rules();
    if (!request.memo_file.empty()) {
      const std::string file = file_of(request);
      const std::filesystem::path folder = std::filesystem::path(file).parent_path();
      if (!folder.empty()) std::filesystem::create_directories(folder);
      stored_ = std::make_unique<StoredMemo>(file, memo_identity(machine_, rules, request.plans),
                                             kinds_, layouts_);
    }
    space_ = std::make_unique<ActionSpace>(machine_, rules, kinds_, layouts_);
    SolverOptions options;
    options.k = request.plans;
    options.threads = std::clamp(request.jobs, 1, kMostSolvers);
    // The best plan, and those that are found on the way to it, which need not be the next best:
    // eight of them take some 6 % more Specs than one. Deviations finds what differs from the best.
    options.near_plans = true;
    options.interrupted = [this] { return slice_.over(); };
    options.budget = &budget_;
    solver_ = std::make_unique<SpecSolver>(*space_, memo(), options);
  }

  SpecMemo& memo() { return stored_ ? static_cast<SpecMemo&>(*stored_) : fresh_; }
  ActionSpace& space() { return *space_; }
  SpecSolver& solver() { return *solver_; }
  const StoredMemo* stored() const { return stored_.get(); }
  static constexpr int kWanted = 1;  // plans that make an answer
  /// Why there is no answer.
  DpOutcome stopped_by() const {
    if (request_.deadline.interrupted()) return DpOutcome::kInterrupted;
    if (request_.deadline.expired()) return DpOutcome::kOutOfTime;
    if (budget_.out_of_memory()) return DpOutcome::kOutOfMemory;
    return budget_.gave_up() ? DpOutcome::kGaveUp : DpOutcome::kOutOfSpecs;
  }

  // In slices, each of which ends with what was solved on disk.
  std::optional<MemoValue> solve(const Spec& spec) {
    const auto spent = [&] { return budget_.out_of_specs() || budget_.out_of_memory(); };
    std::optional<MemoValue> value;
    while (!value && !request_.deadline.over() && !spent()) {
      slice_ = stored_ ? request_.deadline.within(kSecondsBetweenSaves) : request_.deadline;
      value = solver_->solve(spec);
      save();
    }
    // Plans are read out of what is known; they ask for little more.
    slice_ = Deadline();
    return value;
  }

  void save() {
    if (stored_) stored_->save();
  }

  Steps steps(const PlanNode& plan, const LiftedNest& nest) {
    return steps_of(plan, *space_, nest, target_, instructions_);
  }

 private:
  DpMachine machine_;
  const Target& target_;
  const DpRequest& request_;
  const ValueList instructions_;
  SpecKinds kinds_;
  LayoutPool layouts_;
  BoxMemo fresh_;
  std::unique_ptr<StoredMemo> stored_;
  std::unique_ptr<ActionSpace> space_;
  std::unique_ptr<SpecSolver> solver_;
  Deadline slice_;
  SolverBudget budget_;
};

// Other extents than these leave boundaries in every plan, and whoever cuts them evenly may win.
bool divides(const Spec& spec, const LiftedNest& nest, ActionSpace& space) {
  constexpr int64_t kWhole = 8;  // needs no tile
  for (size_t d = 0; d < nest.extents.size(); ++d) {
    const uint32_t extent = spec.extents[d];
    if (extent != nest.extents[d]) return false;  // planned for whole vectors
    if (extent <= kWhole) continue;
    const std::vector<uint32_t>& tiles =
        space.tile_sizes(space.kinds().at(spec.kind), static_cast<int>(d), extent);
    if (std::none_of(tiles.begin(), tiles.end(),
                     [&](uint32_t tile) { return tile > 1 && extent % tile == 0; }))
      return false;
  }
  return true;
}

std::optional<LiftedNest> literal_nest(const Proc& proc) {
  std::optional<LiftedNest> nest = lift_nest(proc);
  if (nest && std::count(nest->extents.begin(), nest->extents.end(), 0) > 0) return std::nullopt;
  return nest;
}

// --- plans that differ ---------------------------------------------------------------------------

// The k cheapest plans mostly differ in what comes to the same schedule. Another action at one node
// of the best plan's main path, and the best plan of everything else, are the cheapest ways to do
// something else.
class Deviations {
 public:
  Deviations(Session& session, int plans) : session_(session), plans_(plans) {}

  // Plans other than `best`, cheapest first, made one after the other until `take` says enough.
  void run(const PlanNode& best, const std::function<bool(const PlanNode&)>& take) {
    collect(best, 1, {});
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Found& a, const Found& b) { return a.more < b.more; });
    for (const Found& f : found_) {
      PlanNode plan = best;
      PlanNode* at = &plan;
      for (const int part : f.path) at = &at->parts[part];
      *at = f.node(*this);
      plan.cost.units = best.cost.units + f.more;
      if (!take(plan)) return;
    }
  }

 private:
  struct Found {
    std::vector<int> path;
    Spec spec;
    Limits limits;
    Expansion expansion;
    int64_t units = 0, more = 0;

    PlanNode node(Deviations& from) const {
      PlanNode out;
      out.spec = spec;
      out.limits = limits;
      out.action = expansion.action;
      out.cost.units = units;
      out.main = expansion.main;
      for (int i = 0; i < expansion.parts; ++i) {
        out.parts.push_back(
            from.session_.solver().plan(expansion.part[i].spec, expansion.part[i].limits, 0));
        out.times.push_back(expansion.part[i].times);
      }
      return out;
    }
  };

  // What the action costs when the memo knows all of it.
  std::optional<int64_t> cost(const Expansion& e) {
    int64_t units = e.own_cost;
    for (int i = 0; i < e.parts; ++i) {
      Spec spec = e.part[i].spec;
      Limits limits = e.part[i].limits;
      session_.space().canonicalise(spec);
      session_.space().canonicalise(spec, limits);
      const MemoValue* value = session_.memo().find(spec, limits, kNoCost, plans_);
      if (!value || value->best.empty()) return std::nullopt;
      units += e.part[i].times * value->best.front().cost.units;
    }
    return units;
  }

  void collect(const PlanNode& node, int64_t times, const std::vector<int>& path) {
    session_.space().expand(node.spec, node.limits, [&](const Expansion& e) {
      if (e.action == node.action) return;
      if (const std::optional<int64_t> units = cost(e))
        found_.push_back(
            {path, node.spec, node.limits, e, *units, times * (*units - node.cost.units)});
    });
    if (node.parts.empty()) return;
    std::vector<int> below = path;
    below.push_back(node.main);
    collect(node.parts[node.main], times * node.times[node.main], below);
  }

  Session& session_;
  int plans_;
  std::vector<Found> found_;
};

// --- the tree ---------------------------------------------------------------------------------

class Explainer {
 public:
  Explainer(Session& session, const LiftedNest& nest, int plans)
      : session_(session), nest_(nest), plans_(plans) {}

  std::string run(const PlanNode& plan) {
    print(plan, 0);
    return text_;
  }

 private:
  ActionSpace& space() { return session_.space(); }
  const DpMachine& machine() { return space().machine(); }

  std::string cycles(int64_t units) {
    const double value = static_cast<double>(units) / machine().units_per_cycle;
    char text[32];
    std::snprintf(text, sizeof text, value < 100 ? "%.3g" : "%.0f", value);
    return text;
  }

  std::string operand(const Spec& spec, int index) {
    const SpecKind& kind = space().kinds().at(spec.kind);
    // Copies have operands of their own.
    if (kind.operands.size() != nest_.buffers.size()) return index == 0 ? "source" : "target";
    return nest_.buffers[index].name();
  }

  std::string loop(const Spec& spec, int dim) {
    const SpecKind& kind = space().kinds().at(spec.kind);
    if (kind.operands.size() != nest_.buffers.size()) return "dimension " + std::to_string(dim);
    return nest_.loops[dim].name();
  }

  std::string action(const Spec& spec, const DpAction& a) {
    switch (a.kind) {
      case ActionKind::kSelect:
        return machine().kernels[a.index].name;
      case ActionKind::kInitialise:
        return "initialise";
      case ActionKind::kTile:
        return "tile " + loop(spec, a.index) + " by " + std::to_string(a.size);
      case ActionKind::kParallelTile:
        return "share out " + loop(spec, a.index) + " by " + std::to_string(a.size) + " to " +
               std::to_string(machine().threads) + " threads";
      case ActionKind::kMove: {
        const DpLevel& level = machine().levels[a.to.level];
        const OperandState& from = spec.operands[a.index];
        std::string text = (from.level == a.to.level ? "copy " : "move ") + operand(spec, a.index) +
                           " to " + level.name;
        if (level.layouts && a.to.layout != from.layout)
          text += " " + space().layouts().at(a.to.layout).str();
        return text;
      }
    }
    return "";
  }

  // What an action costs by the memo: exact, or what it costs at least when it was pruned.
  struct Known {
    int64_t units = 0;
    bool exact = true;
  };
  Known cost(const Expansion& e) {
    Known out{e.own_cost, true};
    for (int i = 0; i < e.parts; ++i) {
      Spec spec = e.part[i].spec;
      Limits limits = e.part[i].limits;
      space().canonicalise(spec);
      space().canonicalise(spec, limits);
      const MemoValue* value = session_.memo().find(spec, limits, 0, plans_);
      int64_t part = space().floor(spec);
      bool exact = false;
      if (value && !value->best.empty()) {
        part = value->best.front().cost.units;
        exact = true;
      } else if (value) {
        part = std::max(part, value->complete_to);
      }
      if (part >= kNoCost) return {kNoCost, true};
      out.units += e.part[i].times * part;
      out.exact = out.exact && exact;
    }
    return out;
  }

  // The best of each kind of action that was not taken, cheapest first; what was pruned can only
  // have cost more than what was.
  std::string siblings(const PlanNode& node) {
    struct Sibling {
      int64_t units;
      DpAction action;
    };
    std::map<ActionKind, Sibling> best;
    int others = 0, pruned = 0;
    space().expand(node.spec, node.limits, [&](const Expansion& e) {
      if (e.action == node.action) return;
      const Known known = cost(e);
      if (known.units >= kNoCost) return;
      ++others;
      pruned += !known.exact;
      const auto it = best.find(e.action.kind);
      if (known.exact && (it == best.end() || known.units < it->second.units))
        best[e.action.kind] = {known.units, e.action};
    });
    if (others == 0) return "";
    std::vector<Sibling> sorted;
    for (const auto& [kind, s] : best) sorted.push_back(s);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Sibling& a, const Sibling& b) { return a.units < b.units; });
    std::string text = "instead: ";
    for (const Sibling& s : sorted) {
      char percent[32];
      std::snprintf(
          percent, sizeof percent, "%+.1f %%",
          100.0 * (static_cast<double>(s.units) / static_cast<double>(node.cost.units) - 1));
      text += action(node.spec, s.action) + " " + cycles(s.units) + " (" + percent + "); ";
    }
    text += std::to_string(others) + " in all";
    if (pruned > 0) text += ", " + std::to_string(pruned) + " of them pruned as dearer";
    return text;
  }

  void print(const PlanNode& first, int indent) {
    // Tiles of tiles of one loop are one line.
    const PlanNode* node = &first;
    std::string what = action(node->spec, node->action);
    int64_t times = node->times.empty() ? 1 : node->times[0];
    while (node->action.kind == ActionKind::kTile && node->parts.size() == 1 &&
           node->parts[0].action.kind == ActionKind::kTile &&
           node->parts[0].action.index == node->action.index && node->parts[0].parts.size() == 1) {
      node = &node->parts[0];
      what += ", " + std::to_string(node->action.size);
      times *= node->times[0];
    }
    text_ += std::string(static_cast<size_t>(indent), ' ') + cycles(first.cost.units) + "  " +
             what + (times > 1 ? "  (" + std::to_string(times) + " times)" : "") + "\n";
    const std::string other = siblings(first);
    if (!other.empty()) text_ += std::string(static_cast<size_t>(indent) + 6, ' ') + other + "\n";
    for (const PlanNode& part : node->parts) print(part, indent + 2);
  }

  Session& session_;
  const LiftedNest& nest_;
  int plans_;
  std::string text_;
};

bool begins(const std::vector<std::string>& lines, const std::vector<std::string>& with) {
  if (lines.size() < with.size()) return false;
  for (size_t k = 0; k < with.size(); ++k)
    if (lines[k] != with[k]) return false;
  return true;
}

}  // namespace

bool lifts(const Proc& proc) { return literal_nest(proc).has_value(); }

DpPlans dp_plans(const Proc& proc, const Target& target, const DpRequest& request) {
  DpPlans out;
  const std::optional<LiftedNest> nest = literal_nest(proc);
  const auto start = Clock::now();
  if (!nest) {
    // A chain of nests has plans of its own.
    for (ChainPlan& plan :
         chain_plans(proc, target, instructions_of(request, target), request.figures))
      out.plans.push_back({std::move(plan.steps), plan.units, static_cast<int>(out.plans.size())});
    if (!out.plans.empty()) out.outcome = DpOutcome::kSolved;
    out.units_per_cycle = machine_of(target).units_per_cycle;
    out.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  if (!nest || !target.vector_memory) return out;
  Session session(target, request);
  const Spec spec = spec_of(*nest, proc, session.space());
  const std::optional<MemoValue> value = session.solve(spec);
  out.units_per_cycle = session.space().machine().units_per_cycle;
  out.dividing = divides(spec, *nest, session.space());
  if (value) {
    out.outcome = value->best.empty() ? DpOutcome::kNoPlan : DpOutcome::kSolved;
    std::set<std::string> seen;
    for (int rank = 0; rank < static_cast<int>(value->best.size()); ++rank) {
      const PlanNode plan = session.solver().plan(spec, session.space().codes().all(), rank);
      Steps steps = session.steps(plan, *nest);
      if (seen.insert(key_of(steps)).second)
        out.plans.push_back({std::move(steps), plan.cost.units, rank});
    }
    if (!value->best.empty()) {
      int rank = static_cast<int>(value->best.size());
      Deviations(session, request.plans)
          .run(session.solver().plan(spec, session.space().codes().all(), 0),
               [&](const PlanNode& plan) {
                 Steps steps = session.steps(plan, *nest);
                 if (seen.insert(key_of(steps)).second)
                   out.plans.push_back({std::move(steps), plan.cost.units, rank++});
                 return static_cast<int>(out.plans.size()) < request.plans;
               });
    }
    session.save();  // plans may have asked for more
  } else {
    out.outcome = session.stopped_by();
  }
  out.solved = session.solver().statistics().solved;
  out.expanded = session.solver().statistics().expanded;
  out.known = session.stored() ? session.stored()->loaded() : 0;
  out.memo = str(session.memo().statistics());
  out.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return out;
}

std::string explain_plan(const Proc& proc, const Target& target, const DpRequest& request,
                         const std::vector<std::string>& lines) {
  const std::optional<LiftedNest> nest = literal_nest(proc);
  if (!nest || !target.vector_memory || !std::filesystem::exists(file_of(request))) return "";
  Session session(target, request);
  Spec spec = spec_of(*nest, proc, session.space());
  session.space().canonicalise(spec);
  Limits limits = session.space().codes().all();
  session.space().canonicalise(spec, limits);
  const MemoValue* value = session.memo().find(spec, limits, kNoCost, Session::kWanted);
  if (!value || value->best.empty()) return "";
  const int plans = static_cast<int>(value->best.size());
  int chosen = -1;
  std::optional<PlanNode> plan;
  for (int rank = 0; rank < plans && chosen < 0; ++rank) {
    PlanNode candidate = session.solver().plan(spec, session.space().codes().all(), rank);
    if (begins(lines, lines_of(session.steps(candidate, *nest)))) chosen = rank;
    if (rank == 0 || chosen == rank) plan = std::move(candidate);
  }
  std::string text = chosen < 0 ? "the schedule is none of the " + std::to_string(plans) +
                                      " cheapest plans; the cheapest one\n"
                                : "plan " + std::to_string(chosen + 1) + " of the " +
                                      std::to_string(plans) + " cheapest\n";
  text += "cycles by the cost model, the action, and what else could have been done there\n";
  return text + Explainer(session, *nest, request.plans).run(*plan);
}

std::string memo_file_for(const std::string& database, const Target& target) {
  if (database.empty() || database == ":memory:") return "";
  const std::filesystem::path path(database);
  return (path.parent_path() / (path.stem().string() + "." + target.name + ".plans")).string();
}

}  // namespace exotune
