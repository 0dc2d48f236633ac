#include "search/program_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "core/analysis/queries.h"
#include "core/base/within.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "search/moves/distribution.h"
#include "search/moves/factor_blocks.h"
#include "search/moves/factors.h"
#include "search/moves/gathers.h"
#include "search/moves/loop_order.h"
#include "search/moves/panels.h"
#include "search/moves/parts.h"
#include "search/moves/recurrences.h"
#include "search/moves/separation.h"
#include "search/moves/transposition.h"
#include "search/moves/triangle_cuts.h"
#include "search/moves/triangles.h"
#include "search/nest_plans.h"
#include "search/outline/outline.h"
#include "search/part_assembly.h"
#include "search/part_pricing.h"
#include "search/solved_parts.h"
#include "search/structure_moves.h"

namespace exotune {

namespace {

constexpr int kMostDepth = 3;             // parts within parts
constexpr size_t kPlansOfPart = 8;        // kept of each part
constexpr size_t kPlansOfInnerPart = 2;   // tried of a part within a part
constexpr int64_t kVectorsOfACorner = 4;  // that its blocks of rows are high
constexpr int kProductLoops = 3;          // of rows, columns and a sum
constexpr double kSmallShare = 1.0 / 64;
constexpr double kNoShare = 1.0 / 400;  // of the whole: as it is
constexpr double kWayBehind = 1.5;      // times the cycles of the best of all parts

using Plan = PartPlan;
using Structure = PartPlans;

// Which alternatives a plan of the whole is made of.
// All parts as they are best, but part number `changed`, which takes its plan number
// `alternative`.
struct Choice {
  size_t structure = 0, changed = 0, alternative = 0;
};

}  // namespace

class ProgramSearch::Impl {
 public:
  explicit Impl(const ProgramSearchRequest& request)
      : request_(request),
        instructions_(request.context->instructions),
        pricing_(*request.context),
        nests_(*request.target, request_.levels, instructions_, pricing_, out_),
        solved_(pricing_),
        assembly_(pricing_, [this](const StepRefusal& r) { out_.refuse(r); }) {}

  ProgramSearchResult run(const BeamState& start, const ProgramDeadlines& until) {
    until_ = until;
    // Plans come in the order in which they are worth measuring; those that no code can be made of
    // are refused here and counted.
    start_ = start;
    (void)done_within(until_.whole, [&] {
      const std::vector<Plan> plans = solve(start.proc, 0);
      out_.cut_short = interrupted();
      for (const Plan& plan : plans) {
        if (out_.states.size() >= static_cast<size_t>(request_.keep)) break;
        if (plan.steps.empty()) continue;
        if (std::optional<BeamState> state = state_of(plan))
          out_.states.push_back(std::move(*state));
      }
    });
    return std::move(out_);
  }

  // `seconds`: what was measured, by the hash of a schedule's text. Parts run one after the other,
  // so that their times add up: what was best for each alone, together, is a schedule that nobody
  // measured.
  std::vector<BeamState> recombine(const std::map<std::string, double>& seconds,
                                   const Deadline& deadline) {
    until_ = {deadline, deadline};
    std::vector<BeamState> out;
    (void)done_within(deadline, [&] { recombine(seconds, out); });
    return out;
  }

 private:
  void recombine(const std::map<std::string, double>& seconds, std::vector<BeamState>& out) {
    for (size_t k = 0; k < structures_.size(); ++k) {
      const Structure& s = structures_[k];
      std::vector<size_t> best(s.nests.size(), 0);
      // 0 stands for "not measured" in `base` and `least`.
      std::vector<double> least(s.nests.size(), 0);
      double base = 0;
      for (const auto& [hash, choice] : choices_) {
        const auto time = seconds.find(hash);
        if (choice.structure != k || time == seconds.end()) continue;
        if (choice.alternative == 0) base = time->second;
        double& l = least[choice.changed];
        if (choice.alternative > 0 && (l == 0 || time->second < l))
          l = time->second, best[choice.changed] = choice.alternative;
      }
      for (size_t n = 0; n < best.size(); ++n)
        // No better than the best guess of the model: stays that.
        if (base > 0 && least[n] >= base) best[n] = 0;
      const Plan plan = assembly_.combine(s, best);
      // Known by its text: was measured already.
      if (choices_.count(plan.text_hash)) continue;
      if (std::optional<BeamState> state = state_of(plan)) out.push_back(std::move(*state));
    }
  }

  bool interrupted() const { return until_.structures.over(); }

  // Its steps were taken, and proved, one by one when the plan was made; only what every schedule
  // must keep is asked of each of them anew.
  std::optional<BeamState> state_of(const Plan& plan) {
    BeamState state = start_;
    if (!plan.proc || !request_.context->constraints.empty()) {
      if (const auto refusal = extend(state, plan.steps, *request_.context)) {
        out_.refuse({refusal->op, "the whole schedule", refusal->text()});
        return std::nullopt;
      }
      return state;
    }
    state.steps.insert(state.steps.end(), plan.steps.begin(), plan.steps.end());
    state.proc = without_provenance(plan.proc);
    state.reassociated |= plan.reassociated;
    state.cost = {plan.cycles, plan.features};
    state.text_hash = plan.text_hash;
    return state;
  }
  std::vector<Plan> solve(const ProcPtr& proc, int depth) {
    // Solved farther inside it was tried in fewer ways, and so it was as a part of a triangle.
    const std::string kind =
        std::string(in_triangle_ ? "of a triangle" : "") + (in_brief_ ? " in brief" : "");
    if (const std::vector<Plan>* known = solved_.find(proc, kind, depth)) return *known;
    // The plan "as written" is always one: a part that nothing improves keeps the whole possible.
    const Schedule start{proc, {}, false};
    std::vector<Plan> plans = {pricing_.plan_of(start, "as written")};
    // What was found when the time for it is over stands.
    (void)done_within(until_.structures, [&] { solve(start, plans, depth); });
    // So that a budget that ends early has seen each way of going about it, and not eight of one.
    plans = moves_in_turn(std::move(plans));
    if (depth > 0 && plans.size() > kPlansOfPart) plans.resize(kPlansOfPart);
    if (depth > 0)
      for (Plan& plan : plans) plan.proc = nullptr;
    solved_.add(proc, kind, depth, plans);
    return plans;
  }

  void solve(const Schedule& start, std::vector<Plan>& plans, int depth) {
    const std::vector<Cursor> parts = parts_of(start.proc);
    const bool whole = is_whole(start.proc, parts), deeper = depth < kMostDepth;
    // As it is written, nothing of a sum that goes to neighbours stays in a register.
    if (deeper) gather(start, plans, depth);
    std::set<std::string> seen = {part_text(*start.proc)};
    // What a guard tells of a triangle (`if i == j`) keeps vectors from each of its blocks.
    if (deeper && has_triangle(*start.proc))
      try_moves(start, moves_on_guards(), seen, plans, depth);
    // A triangle that was cut for the caches: of all that may be done to it otherwise a little.
    std::optional<Within<bool>> brief;
    if (deeper && in_panels(start, plans, depth)) brief.emplace(in_brief_, true);
    const std::optional<Schedule> ahead =
        whole && deeper ? with_factors_ahead(start) : std::nullopt;
    if (ahead) {
      // What else may be done to the nest is done to what is left of it.
      solve_nest(start, plans, kMostDepth);
      // A part that was left by distributing was tried with its factors ahead there.
      if (!factors_in_blocks(start, plans, depth) || depth == 0)
        add(ahead, "factors ahead", plans, depth);
    } else {
      if (whole) solve_nest(start, plans, depth);
      if (!whole && !parts.empty()) nests_.add_around(start, until_.structures, plans);
      if (!whole && deeper && !parts.empty()) put_together(start, "parts", plans, depth);
      if (!whole && depth == 0)
        add(transpose_constants(start, pricing_.sizes_of(*start.proc)), "transposed constants",
            plans, depth);
      if (!whole && deeper) cut_ordered_triangles(start, plans, depth);
      // Also of what was solved as a nest: distributed, it may have better parts.
      if (deeper) restructure(start, seen, plans, depth);
    }
  }

  // Is there such a form?
  bool factors_in_blocks(const Schedule& start, std::vector<Plan>& plans, int depth) {
    const Target& target = *request_.target;
    if (!target.vector_memory || interrupted()) return false;
    const VectorValues unit = unit_of(start);
    const int64_t widest = widest_tile(registers_of(target));
    bool some = false;
    for (int64_t vectors = std::max<int64_t>(1, widest - 1); vectors <= widest; ++vectors) {
      const auto blocks =
          with_factors_in_blocks(start, nearest_caches(request_.levels), unit, vectors);
      add(blocks, "factors ahead, block by block", plans, depth);
      some |= blocks && !interrupted();
    }
    return some;
  }

  // Scattered sums, element by element.
  void gather(const Schedule& start, std::vector<Plan>& plans, int depth) {
    for (const Schedule& sums : gathered_sums_of(start, pricing_.sizes_of(*start.proc)))
      add(sums, "gathered sums", plans, depth);
  }

  // What the caches cannot hold otherwise, in pieces: ahead of what is done to the whole, since all
  // of that is done to a piece as well.
  // Was a triangle cut so? Its rectangles and corners find panels of their own.
  bool in_panels(const Schedule& start, std::vector<Plan>& plans, int depth) {
    if (!request_.target->vector_memory) return false;
    const int64_t lanes = lanes_of(start);
    const NearestCaches caches = nearest_caches(request_.levels);
    const SizeBinding sizes = pricing_.sizes_of(*start.proc);
    const std::vector<Cursor> parts = parts_of(start.proc);
    if (const auto cut = is_whole(start.proc, parts)
                             ? triangle_in_panels(start, parts.front().path(), sizes, caches, lanes)
                             : std::nullopt) {
      const Within brief(in_brief_, true);
      add(cut, "a triangle in panels", plans, depth, true);
      return true;
    }
    add(sums_in_panels(start, sizes, caches, lanes), "panels of a sum", plans, depth, true);
    const VectorValues unit = unit_of(start);
    add(wide_blocks_of_recurrences(start, lanes, &unit), "wide blocks of a recurrence", plans,
        depth, true);
    in_strips(start, caches, lanes, plans, depth);
    return false;
  }

  // Recurrences in strips; in each strip they are recurrences still, whose rows come in blocks.
  void in_strips(const Schedule& start, const NearestCaches& caches, int64_t lanes,
                 std::vector<Plan>& plans, int depth) {
    const std::optional<Schedule> strips = recurrence_in_strips(start, caches, lanes);
    if (!strips) return;
    const VectorValues unit = unit_of(start);
    for (const Schedule& blocks : blocks_of_recurrences(*strips, lanes, &unit))
      add(blocks, "blocks of a recurrence in strips", plans, depth, true);
    add(wide_blocks_of_recurrences(*strips, lanes, &unit), "wide blocks of a recurrence in strips",
        plans, depth, true);
    add(strips, "a recurrence in strips", plans, depth, true);
  }

  // Is there a loop whose bounds move with another one?
  static bool has_triangle(const Proc& p) {
    std::set<Sym> iters;
    bool any = false;
    for_each_stmt(p.body, [&](const StmtPtr& s) {
      const For* f = s->as<For>();
      if (!f) return;
      any = any || std::ranges::any_of(
                       iters, [&](Sym i) { return mentions(f->lo, i) || mentions(f->hi, i); });
      iters.insert(f->iter);
    });
    return any;
  }

  // Other structures of the same program; `seen`: texts of those that were tried.
  void restructure(const Schedule& start, std::set<std::string>& seen, std::vector<Plan>& plans,
                   int depth) {
    try_moves(start, moves_before_distribution(), seen, plans, depth);
    // Scalars as arrays let loops be split that carry a value from statement to statement, at the
    // cost of memory.
    for (const bool expand : {false, true}) {
      if (interrupted()) return;
      const Schedule apart = distribute(start, expand);
      if (seen.insert(part_text(*apart.proc)).second)
        distributed(apart, expand ? "distribute, arrays for scalars" : "distribute", plans, depth);
      else if (!expand)
        add(with_factors_ahead(start), "factors ahead", plans, depth);
    }
    try_moves(start, moves_after_distribution(), seen, plans, depth);
  }

  void try_moves(const Schedule& start, std::span<const StructureMove> moves,
                 std::set<std::string>& seen, std::vector<Plan>& plans, int depth) {
    StructureContext context;
    context.sizes = pricing_.sizes_of(*start.proc);
    context.caches = nearest_caches(request_.levels);
    context.page = static_cast<int64_t>(request_.context->weights.machine.core.page);
    context.lanes = lanes_of(start);
    context.vectors = request_.target->vector_memory != nullptr;
    const std::optional<VectorValues> unit =
        context.vectors ? std::optional(unit_of(start)) : std::nullopt;
    context.unit = unit ? &*unit : nullptr;
    context.instructions = &instructions_;
    for (const StructureMove move : moves) {
      if (interrupted()) return;
      for (const NewStructure& found : move(start, context))
        if (seen.insert(part_text(*found.schedule.proc)).second)
          add(found.schedule, found.move, plans, depth, found.for_caches);
    }
  }

  // A structure that a move found, if it did.
  void add(const std::optional<Schedule>& s, const std::string& move, std::vector<Plan>& plans,
           int depth, bool for_caches = false) {
    if (!s || interrupted()) return;
    out_.accept(*s);
    put_together(*s, move, plans, depth, for_caches);
  }

  // Nests that stand apart, and what makes plain products of them. That comes first: what is found
  // of its parts is known when the nests as they are come to it one level farther in.
  void distributed(const Schedule& apart, const std::string& move, std::vector<Plan>& plans,
                   int depth) {
    const std::optional<Schedule> ahead = with_factors_ahead(apart);
    const std::optional<Schedule> terms = with_terms_apart(apart);
    const std::optional<Schedule> both = terms ? with_factors_ahead(*terms) : std::nullopt;
    add(both, move + ", terms apart, factors ahead", plans, depth);
    if (!both) add(terms, move + ", terms apart", plans, depth);
    add(ahead, move + ", factors ahead", plans, depth);
    add(apart, move, plans, depth);
    cut_ordered_triangles(apart, plans, depth);
  }

  // Of what is written last: sums and results, not the indices and masks read on the way.
  static ScalarType precision_of(const Proc& p) {
    ScalarType out = ScalarType::kF64;
    for (const OutlineAccess& a : outline_of(p).accesses)
      if (a.writes()) out = a.scalar;
    return out;
  }
  int64_t lanes_of(const Schedule& s) const {
    return std::max(1, request_.target->lanes_of(precision_of(*s.proc)));
  }

  // The target has vectors.
  VectorValues unit_of(const Schedule& s) const {
    return {*request_.target, precision_of(*s.proc), instructions_};
  }

  // Solves the parts of a schedule's procedure; the plans of the whole: the best of each part, then
  // with another one for each part in turn.
  // Parts that were solved become wholes also when the time for more structures is over.
  void put_together(const Schedule& s, const std::string& move, std::vector<Plan>& plans, int depth,
                    bool for_caches = false) {
    (void)done_within(until_.whole, [&] {
      Structure here = take_apart(s, move, depth, for_caches);
      // With parts that nobody had time for it has no turn before others.
      here.for_caches = for_caches && !interrupted();
      add_choices(here, plans, depth);
    });
  }

  void add_choices(const Structure& here, std::vector<Plan>& plans, int depth) {
    const size_t n_parts = here.nests.size();
    if (n_parts == 0) return;
    // Cycles of the whole if each part takes its best plan.
    double all = 0;
    for (const auto& c : here.choices) all += c.front().cycles;
    add_choice(here, assembly_.combine(here, std::vector<size_t>(n_parts, 0)), 0, 0, plans, depth);
    // The number of wholes is the sum over parts, not the product: one part is varied at a time.
    const size_t most = depth == 0 ? kPlansOfPart : kPlansOfInnerPart;
    // A part that takes a sixty-fourth of the time cannot make up for a measurement.
    std::vector<size_t> varied;
    Schedule others = here.schedule;
    for (size_t n = 0; n < n_parts; ++n)
      if (here.choices[n].size() > 1 && here.choices[n].front().cycles >= kSmallShare * all)
        varied.push_back(n);
      else
        assembly_.schedule_as(others, here, n, 0);
    std::stable_sort(varied.begin(), varied.end(),
                     [&](size_t a, size_t b) { return here.shares[a] > here.shares[b]; });
    vary(here, others, varied, most, plans, depth);
    put_together_alike(here, plans, depth);
    if (depth == 0) structures_.push_back(here);
  }

  // Each part solved by itself, those that take most of the time first: where the time for the
  // search ends, what is left as written is small. One that takes next to no time stays as it is.
  // `names` and `nests` belong together by place; a part that cannot be taken out is left as it
  // stands and is in neither.
  Structure take_apart(const Schedule& s, const std::string& move, int depth, bool for_caches) {
    // What is cut for the caches is the same nest again, no part within it.
    const int step = for_caches && depth > 0 ? 0 : 1;
    Structure here{move, false, s, {}, {}, {}, {}, {}};
    double whole = pricing_.plan_of(s, move).cycles;
    std::vector<ProcPtr> alone;
    for (const Cursor& nest : parts_of(s.proc)) {
      Part part;
      Schedule apart = s;
      if (const auto refusal = take_out(apart, nest, "part" + std::to_string(++names_), part)) {
        out_.refuse(*refusal);
        continue;
      }
      alone.push_back(with_names_apart(without_provenance(part.proc)));
      here.entries.push_back(pricing_.entries_of(*s.proc, nest));
      here.shares.push_back(pricing_.plan_of({alone.back(), {}, false}, move).cycles *
                            here.entries.back());
      here.nests.push_back(nest);
      here.names.push_back(part.name);
      here.choices.push_back({Plan{}});
    }
    std::vector<size_t> by_share(alone.size());
    std::iota(by_share.begin(), by_share.end(), size_t{0});
    std::stable_sort(by_share.begin(), by_share.end(),
                     [&](size_t a, size_t b) { return here.shares[a] > here.shares[b]; });
    // What a cut for the caches leaves beside its pieces is the same nest once more, smaller:
    // without time of its own it would stay as written, which takes as long as the pieces.
    const Deadline all = until_.structures;
    // Wholes of a part are put together while it is solved: not in the time in which wholes of the
    // program are.
    constexpr double kForParts = 1.0 / 3;  // of what is left to put together
    const double together = std::max(0.0, until_.whole.left() - all.left());
    const Within inner(until_.whole, until_.whole.within(all.left() + kForParts * together));
    // Shares are of loops as written. What takes nearly all of that is a product, most often, which
    // gains most: by the shares themselves the passes beside it would have no time at all.
    const auto turn = [&](size_t k) { return std::sqrt(here.shares[k]); };
    double left = 0;
    for (const size_t k : by_share) left += turn(k);
    for (const size_t k : by_share) {
      if (turn(k) < left) until_.structures = all.within(all.left() * turn(k) / left);
      left -= turn(k);
      // A copy beside a product is little while both are as written, and much once that is solved.
      if (!interrupted() && here.shares[k] >= kNoShare * whole) {
        here.choices[k] = solve(alone[k], depth + step);
        whole -= here.shares[k] - here.choices[k].front().cycles * here.entries[k];
      }
      until_.structures = all;
    }
    return here;
  }

  // Each of the parts in turn in its other ways, all else as it is best: `whole` is that already
  // but for these parts. What wholes have in common is made once, half of the parts at a time. What
  // was solved is put together when the time for more is over, too: the best by the cost may be the
  // parts as they are written.
  void vary(const Structure& here, const Schedule& whole, std::span<const size_t> parts,
            size_t most, std::vector<Plan>& plans, int depth) {
    if (parts.empty() || until_.whole.over()) return;
    if (parts.size() > 1) {
      const std::span<const size_t> first = parts.first((parts.size() + 1) / 2),
                                    second = parts.subspan(first.size());
      for (const auto& [mine, others] : {std::pair(first, second), std::pair(second, first)}) {
        Schedule with = whole;
        for (const size_t n : others) assembly_.schedule_as(with, here, n, 0);
        vary(here, with, mine, most, plans, depth);
      }
      return;
    }
    const size_t n = parts.front();
    for (size_t k = 1; k < std::min(here.choices[n].size(), most) && !until_.whole.over(); ++k) {
      Schedule with = whole;
      assembly_.schedule_as(with, here, n, k);
      add_choice(here, pricing_.plan_of(with, here.move), n, k, plans, depth);
    }
  }

  void add_choice(const Structure& here, Plan plan, size_t changed, size_t alternative,
                  std::vector<Plan>& plans, int depth) {
    // The place among all plans, before prices are compared across structures.
    plan.order = order_of(here, changed, alternative);
    plan.for_caches = here.for_caches;
    ++out_.made;
    if (depth == 0)
      choices_.emplace(plan.text_hash, Choice{structures_.size(), changed, alternative});
    plans.push_back(std::move(plan));
  }

  // Every part in the same way, for each way that several parts have.
  // Ten sweeps of one stencil want one answer: varied one at a time, none of them would show what
  // it gains. Of a part few plans are kept, and none that is far behind.
  void put_together_alike(const Structure& s, std::vector<Plan>& plans, int depth) {
    const double most = kWayBehind * cycles_of(s, std::vector<size_t>(s.nests.size(), 0));
    for (const auto& [way, which] : ways_alike(s)) {
      if (until_.whole.over()) return;
      if (depth > 0 && cycles_of(s, which) > most) continue;
      Plan plan = assembly_.combine(s, which);
      plan.move = "all " + way;
      ++out_.made;
      plans.push_back(std::move(plan));
    }
  }

  // One nest: loop orders, then what each form of it allows.
  void solve_nest(const Schedule& start, std::vector<Plan>& plans, int depth) {
    nests_.add(start, {until_.structures, depth > 0, in_brief_}, plans);
    if (depth >= kMostDepth) return;
    const Cursor nest = parts_of(start.proc).front();
    const SizeBinding sizes = pricing_.sizes_of(*start.proc);
    if (const auto inside = triangle_with_sum_inside(start, nest.path()))
      add(inside, "a triangle's sum inside", plans, depth);
    else
      cut_triangles(start, nest.path(), plans, depth);
    add(separate_operands(start, nest, sizes), "operands apart", plans, depth);
    add(transpose_operands(start, nest, sizes), "transposed operands", plans, depth);
    if (!request_.target->vector_memory) return;
    const int64_t lanes = lanes_of(start);
    // What is read of records is turned with what is written: at once, since parts of parts of
    // parts are not taken apart again.
    if (const auto results = transpose_results(start, nest, sizes, lanes)) {
      add(transpose_operands(*results, nest, sizes), "transposed results and operands", plans,
          depth);
      add(results, "transposed results", plans, depth);
    }
    add(transpose_for_sums(start, nest, sizes, lanes), "operands along the sum", plans, depth);
  }

  void cut_triangles(const Schedule& start, const Path& nest, std::vector<Plan>& plans, int depth) {
    const TriangleCuts cuts(*request_.target, precision_of(*start.proc), instructions_,
                            nearest_caches(request_.levels).second);
    cuts.each(start, nest, pricing_.sizes_of(*start.proc), in_triangle_,
              [&](const Schedule& cut, const std::string& how) {
                out_.accept(cut);
                const Within inside(in_triangle_, true);
                put_together(cut, how, plans, depth);
                return !interrupted() && !in_brief_;
              });
  }

  // Nests whose rows come in order are walked into, as one row after another; the rectangle of a
  // block of rows may be free of that order all the same: what it reads, no row of the block
  // writes.
  void cut_ordered_triangles(const Schedule& start, std::vector<Plan>& plans, int depth) {
    for (int k = 0; k < static_cast<int>(start.proc->body.size()); ++k)
      if (const Path nest = {{Child::kBody, k}}; band_depth(*start.proc, nest) >= kProductLoops &&
                                                 !iterations_commute(*start.proc, nest)) {
        ordered_in_panels(start, nest, plans, depth);
        cut_triangles(start, nest, plans, depth);
      }
  }

  // Corners that come in order, too, are cut at once: they are walked into, and no part of theirs
  // would be a triangle again.
  void ordered_in_panels(const Schedule& start, const Path& nest, std::vector<Plan>& plans,
                         int depth) {
    if (!request_.target->vector_memory || interrupted()) return;
    const int64_t lanes = lanes_of(start);
    const auto cut =
        triangle_in_panels(start, nest, pricing_.sizes_of(*start.proc),
                           nearest_caches(request_.levels), lanes, kVectorsOfACorner * lanes);
    const Within brief(in_brief_, true);
    add(cut, "an ordered triangle in panels", plans, depth, true);
  }

  const ProgramSearchRequest request_;
  ProgramDeadlines until_;  // of the run that is under way
  const ValueList instructions_;
  const PartPricing pricing_;
  ProgramSearchResult out_;
  const NestPlans nests_;
  SolvedParts solved_;
  PartAssembly assembly_;
  BeamState start_;
  std::vector<Structure> structures_;      // of the whole program
  std::map<std::string, Choice> choices_;  // by the text of the whole program
  int names_ = 0;
  bool in_triangle_ = false;  // parts of one that was cut are being solved
  // What is left of a triangle beside large rectangles is being solved: the first way to cut it is
  // enough, and products have tiles.
  bool in_brief_ = false;
};

ProgramSearch::ProgramSearch(const ProgramSearchRequest& request)
    : impl_(std::make_unique<Impl>(request)) {}
ProgramSearch::~ProgramSearch() = default;
ProgramDeadlines deadlines_within(const Deadline& whole) {
  constexpr double kForStructures = 0.7;  // of the time
  return {whole.within(kForStructures * whole.left()), whole};
}

ProgramSearchResult ProgramSearch::run(const BeamState& start, const ProgramDeadlines& until) {
  return impl_->run(start, until);
}
std::vector<BeamState> ProgramSearch::recombine(const std::map<std::string, double>& seconds,
                                                const Deadline& deadline) {
  return impl_->recombine(seconds, deadline);
}

bool is_one_nest(const ProcPtr& p) { return is_whole(p, parts_of(p)); }

}  // namespace exotune
