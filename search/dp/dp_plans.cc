#include "search/dp/dp_plans.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <filesystem>
#include <set>

#include "search/dp/composition.h"
#include "search/dp/deviations.h"
#include "search/dp/explainer.h"
#include "search/dp/replay.h"
#include "search/dp/session.h"

namespace exotune {

const char* name_of(DpOutcome outcome) {
  static const char* const kNames[] = {"solved",      "not one affine nest", "no plan",
                                       "gave up",     "out of Specs",        "out of memory",
                                       "out of time", "interrupted"};
  return kNames[static_cast<int>(outcome)];
}

namespace {

using Clock = std::chrono::steady_clock;

// Does some tile that is tried divide every loop? Other extents leave boundaries in every plan, and
// whoever cuts them evenly may win.
bool divides(const Spec& spec, const LiftedNest& nest, ActionSpace& space) {
  constexpr int64_t kWhole = 8;  // needs no tile
  for (size_t d = 0; d < nest.extents.size(); ++d) {
    const uint32_t extent = spec.extents[d];
    if (extent != nest.extents[d]) return false;  // planned for whole vectors, or as a power of two
    if (extent <= kWhole) continue;
    const std::vector<uint32_t>& tiles =
        space.tile_sizes(space.kinds().at(spec.kind), static_cast<int>(d), extent);
    if (std::none_of(tiles.begin(), tiles.end(),
                     [&](uint32_t tile) { return tile > 1 && extent % tile == 0; }))
      return false;
  }
  return true;
}

// Tiles that divide no such extent leave boundaries, each of another size: products of 1000 or 1500
// take millions of Specs, of 1024 a hundred thousand. Beyond the caches a plan depends on what
// tiles fill, not on how many there are, so large extents are planned for as a power of two near
// them; three times one leaves few boundaries as well. The steps cut what there is, rests included.
constexpr int64_t kPlannedExactly = 256, kThreefold = 768;
constexpr int64_t kLargestOfThree = 1024;  // 2048 of three loops each take five times as many

int64_t planned_extent(int64_t extent, size_t loops) {
  const int64_t power = std::bit_floor(static_cast<uint64_t>(extent)), half_more = power / 2 * 3;
  const bool exact =
      extent <= kPlannedExactly || extent == power || (extent == half_more && extent <= kThreefold);
  const int64_t near = exact ? extent : extent <= half_more ? power : 2 * power;
  return loops < 3 ? near : std::min(near, kLargestOfThree);
}

Spec planned_spec(LiftedNest nest, const Proc& proc, ActionSpace& space) {
  for (int64_t& extent : nest.extents) extent = planned_extent(extent, nest.extents.size());
  return spec_of(nest, proc, space);
}

// Plans are for fixed sizes: a loop of unknown extent has no tile that fits a cache.
std::optional<LiftedNest> literal_nest(const Proc& proc) {
  std::optional<LiftedNest> nest = lift_nest(proc);
  if (nest && std::count(nest->extents.begin(), nest->extents.end(), 0) > 0) return std::nullopt;
  return nest;
}

bool begins(const std::vector<std::string>& lines, const std::vector<std::string>& with) {
  if (lines.size() < with.size()) return false;
  for (size_t k = 0; k < with.size(); ++k)
    if (lines[k] != with[k]) return false;
  return true;
}

// A chain of nests has plans of its own.
DpPlans plans_of_chain(const Proc& proc, const Target& target, const DpRequest& request) {
  DpPlans out;
  for (ChainPlan& plan :
       chain_plans(proc, target, instructions_of(request, target), request.figures))
    out.plans.push_back({std::move(plan.steps), plan.units, static_cast<int>(out.plans.size())});
  if (!out.plans.empty()) out.outcome = DpOutcome::kSolved;
  out.units_per_cycle = machine_of(target, request.figures).units_per_cycle;
  return out;
}

// The plans of a solved Spec and, while fewer are known than were asked for, what deviates from the
// best one; equal schedules count once.
std::vector<DpPlan> different_plans(DpSession& session, const Spec& spec, const LiftedNest& nest,
                                    size_t ranks, int wanted) {
  std::vector<DpPlan> plans;
  std::set<std::string> seen;
  int rank = 0;
  const auto add = [&](const PlanNode& plan) {
    Steps steps = session.steps(plan, nest);
    if (!seen.insert(key_of(steps)).second) return false;
    plans.push_back({std::move(steps), plan.cost.units, rank});
    return true;
  };
  const Limits all = session.space().codes().all();
  for (; rank < static_cast<int>(ranks); ++rank) add(session.solver().plan(spec, all, rank));
  if (ranks == 0) return plans;
  for_each_deviation(session, wanted, session.solver().plan(spec, all, 0),
                     [&](const PlanNode& plan) {
                       if (add(plan)) ++rank;
                       return static_cast<int>(plans.size()) < wanted;
                     });
  return plans;
}

DpPlans plans_of_nest(const Proc& proc, const LiftedNest& nest, const Target& target,
                      const DpRequest& request) {
  DpPlans out;
  DpSession session(target, request);
  const Spec spec = planned_spec(nest, proc, session.space());
  const std::optional<MemoValue> value = session.solve(spec);
  out.units_per_cycle = session.space().machine().units_per_cycle;
  out.dividing = divides(spec, nest, session.space());
  if (value) {
    out.outcome = value->best.empty() ? DpOutcome::kNoPlan : DpOutcome::kSolved;
    out.plans = different_plans(session, spec, nest, value->best.size(), request.plans);
    session.save();  // plans may have asked for more
  } else {
    out.outcome = session.stopped_by();
  }
  out.solved = session.solver().statistics().solved;
  out.expanded = session.solver().statistics().expanded;
  out.known = session.stored() ? session.stored()->loaded() : 0;
  out.memo = str(session.memo().statistics());
  return out;
}

}  // namespace

bool lifts(const Proc& proc) { return literal_nest(proc).has_value(); }

DpPlans dp_plans(const Proc& proc, const Target& target, const DpRequest& request) {
  const auto start = Clock::now();
  const std::optional<LiftedNest> nest = literal_nest(proc);
  DpPlans out;
  if (!nest)
    out = plans_of_chain(proc, target, request);
  else if (target.vector_memory)
    out = plans_of_nest(proc, *nest, target, request);
  if (!nest || target.vector_memory)
    out.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return out;
}

std::string explain_plan(const Proc& proc, const Target& target, const DpRequest& request,
                         const std::vector<std::string>& lines) {
  const std::optional<LiftedNest> nest = literal_nest(proc);
  if (!nest || !target.vector_memory || !std::filesystem::exists(file_of(request))) return "";
  DpSession session(target, request);
  Spec spec = planned_spec(*nest, proc, session.space());
  session.space().canonicalise(spec);
  Limits limits = session.space().codes().all();
  session.space().canonicalise(spec, limits);
  const MemoValue* value = session.memo().find(spec, limits, kNoCost, DpSession::kWanted);
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
  return text + explained(session, *nest, request.plans, *plan);
}

std::string memo_file_for(const std::string& database, const Target& target) {
  if (database.empty() || database == ":memory:") return "";
  const std::filesystem::path path(database);
  return (path.parent_path() / (path.stem().string() + "." + target.name + ".plans")).string();
}

}  // namespace exotune
