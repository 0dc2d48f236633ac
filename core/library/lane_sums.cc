#include "core/library/lane_sums.h"

#include <algorithm>
#include <functional>

#include "core/library/attempted.h"
#include "core/library/blocking.h"
#include "core/library/hoisting.h"
#include "core/library/inspection.h"
#include "core/library/level1.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"
#include "core/library/reduction.h"
#include "core/library/replacement.h"
#include "core/library/vector_loops.h"

namespace exotune {

namespace {

// An instruction `for l: for r: { a = x[..] ; b = w[..] ; dst[l] += a * b }`, or with anything else
// of such elements, whose operands, other than the sums, are rows in memory. The form is read off
// the body; none is known by its name.
int64_t group_of(const Proc& instr) {
  const For* lanes = instr.body.size() == 1 ? instr.body[0]->as<For>() : nullptr;
  const For* group = lanes && lanes->body.size() == 1 ? lanes->body[0]->as<For>() : nullptr;
  if (!group || !literal_extent(*lanes) || !literal_extent(*group)) return 0;
  const Reduce* sum = group->body.back()->as<Reduce>();
  const bool rows = std::all_of(instr.args.begin(), instr.args.end(),
                                [](const Arg& a) { return a.type.shape.size() == 1; });
  if (!sum || sum->op != ReduceOp::kAdd || !rows) return 0;
  for (const Arg& a : instr.args)
    if (a.name != sum->name && literal_extent(*lanes) == as_int(a.type.shape[0])) return 0;
  return *literal_extent(*group);
}

std::vector<ProcPtr> instructions_of(const VectorUnit& unit, int64_t group) {
  std::vector<ProcPtr> out;
  for (const ProcPtr& instr : unit.instrs)
    if (group_of(*instr) == group) out.push_back(instr);
  return out;
}

// The one sum that the innermost of the loops at `path` ends in, into an element that they do not
// choose; null: they hold something else.
const Reduce* only_sum(const ProcPtr& p, const Path& path) {
  const For* loop = find_loop(p, path);
  while (loop && loop->body.size() == 1 && loop->body[0]->as<For>())
    loop = loop->body[0]->as<For>();
  if (!loop || loop->body.empty()) return nullptr;
  const Reduce* sum = loop->body.back()->as<Reduce>();
  const auto of = sums_beside(*loop);
  return sum && sum->op == ReduceOp::kAdd && of.size() == 1 && of[0] == sum ? sum : nullptr;
}

// for k: t += e  ->  for kv: for kl: [for kg:] t += e; lanes x group elements of k in a round.
ProcPtr in_rounds(ProcPtr p, const Path& top, int64_t lanes, int64_t group, Tail tail) {
  const std::string name = find_loop(p, top)->iter.name();
  p = divide_loop(p, at(p, top), lanes * group, {name + "v", name + "l"}, tail);
  if (group > 1)
    p = divide_loop(p, at(p, child(top)), group, {name + "l", name + "g"}, Tail::kPerfect);
  return simplify(p, at(p, top));
}

// Accumulators of the sum in the loops at `main`, a copy for each of its loops at `lanes`; the
// nests that begin and end them. `main` goes on to stand between them.
std::vector<Cursor> in_lanes(ProcPtr& p, Path& main, const std::vector<Path>& lanes,
                             const Reduce& sum, const std::string& name, const VectorUnit& unit) {
  std::vector<Cursor> loops;
  for (const Path& lane : lanes) loops.push_back(at(p, lane));
  p = accumulate(p, at(p, main), loops, sum, name, unit.memory);
  std::vector<Cursor> nests = {at(p, sibling(main, 1)), at(p, sibling(main, 3))};
  main = sibling(main, 2);
  return nests;
}

// Nests that begin and end sums, by turns, as instructions; those that add up lanes by the widest.
ProcPtr sums_in_vectors(ProcPtr p, const std::vector<Cursor>& nests, const VectorUnit& unit) {
  for (size_t k = 0; k < nests.size(); ++k) {
    const Path path = forward(p, nests[k]).path();
    p = k % 2 == 0 ? vectorize_lanes(p, at(p, innermost(p, path)), unit)
                   : add_up_lanes(p, path, unit);
  }
  return p;
}

// The lane loop at `path` by an instruction for groups; SchedulingError when none fits.
ProcPtr by_groups(const ProcPtr& p, const Path& path, int64_t group, const VectorUnit& unit) {
  if (auto done = try_replace_any(p, at(p, path), instructions_of(unit, group))) return *done;
  throw SchedulingError("no instruction sums groups of " + std::to_string(group) + " of these");
}

// Where a sum stands in its nest: alone, or inside a loop over rows that share what it reads.
struct SumSite {
  Path sum;           // its innermost loop
  bool rows = false;  // the loop around it is over rows, of literal extent
};

ProcPtr dots_at(ProcPtr p, const SumSite& site, int64_t group, const VectorUnit& unit,
                int64_t interleave) {
  const Path top = site.sum;
  const std::string name = find_loop(p, top)->iter.name();
  const std::string acc = only_sum(p, top)->name.name() + "_acc";
  const auto extent = literal_extent(*find_loop(p, top));
  const int64_t round = unit.lanes * group;
  if (extent && *extent < round)
    throw SchedulingError("`" + name + "` has not " + std::to_string(round) + " iterations");
  while (interleave > 1 && extent && *extent < interleave * round) interleave /= 2;
  p = in_rounds(p, top, unit.lanes, group,
                extent && *extent % round == 0 ? Tail::kPerfect : Tail::kCut);
  Path behind = boundary_after(p, top, name + "l"), main = top;
  if (site.rows) {
    if (!behind.empty()) p = fission(p, Cursor::gap(p, sibling(top, 1)), 1);
    main = parent_stmt(top);
    if (!behind.empty()) behind = child(sibling(main, 1));
    p = reorder_loops(p, at(p, main));
  }
  std::optional<Cursor> rest;
  if (!behind.empty()) rest = at(p, behind);
  // The loops over rows and lanes inside the rounds at a path.
  const auto copies = [&](const Path& rounds) {
    std::vector<Path> out = {child(rounds)};
    if (site.rows) out.push_back(child(out.back()));
    return out;
  };
  std::vector<Cursor> nests = in_lanes(p, main, copies(main), *only_sum(p, main), acc, unit);
  std::vector<Path> rounds = {main};
  if (interleave > 1) {
    p = divide_loop(p, at(p, main), interleave, {name + "o", name + "u"}, Tail::kCut);
    const Path left = boundary_after(p, main, name + "u");
    std::optional<Cursor> last;
    if (!left.empty()) last = at(p, left);
    std::vector<Path> lanes = copies(child(main));
    lanes.insert(lanes.begin(), child(main));
    const auto more = in_lanes(p, main, lanes, *only_sum(p, main), acc + "s", unit);
    nests.insert(nests.end(), more.begin(), more.end());
    rounds = {child(main)};
    if (last) rounds.push_back(forward(p, *last).path());
  }
  std::vector<Cursor> groups;
  for (const Path& r : rounds) groups.push_back(at(p, copies(r).back()));
  for (const Cursor& lanes : groups) p = by_groups(p, forward(p, lanes).path(), group, unit);
  p = sums_in_vectors(p, nests, unit);
  if (rest) {
    const Cursor left = forward(p, *rest);
    const auto elements = literal_extent(left.as<For>());
    if (!elements || *elements >= unit.lanes)
      attempted(p, [&](ProcPtr q) { return optimize_level_1_loop(q, left, unit, 1); });
  }
  return p;
}

// `attempt` with each of the groups until one is accepted; false: none was, and `why` the last.
bool with_groups(ProcPtr& p, const std::vector<int64_t>& groups,
                 const std::function<ProcPtr(ProcPtr, int64_t)>& attempt, std::string& why) {
  for (const int64_t group : groups) try {
      p = attempt(p, group);
      return true;
    } catch (const SchedulingError& error) {
      why = error.diagnostic().message.str();
    }
  return false;
}

// for r: { s1 ; for i: .. }  ->  for ro: { for ri: s1 ; for ri: for i: .. }, and the rows left
// over; scalars of a row get a place for each. Every loop over `outer` with one over `inner` in its
// body.
ProcPtr in_row_blocks(ProcPtr p, const std::string& outer, const std::string& inner, int64_t rows) {
  std::vector<Cursor> loops = require_loops(p, outer);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    const Block& body = c->as<For>().body;
    const bool around = std::any_of(body.begin(), body.end(), [&](const StmtPtr& s) {
      const For* f = s->as<For>();
      return f && f->iter.name() == inner;
    });
    const Path top = c->path();
    if (!around) continue;
    p = divide_loop(p, at(p, top), rows, {outer + "o", outer + "i"}, Tail::kCut);
    Path block = child(top);
    if (literal_extent(*find_loop(p, block)) == rows) p = separate_rows(p, block, rows);
  }
  return p;
}

// The loop around the one at `path`, where that is all that it holds and its extent is literal.
bool is_row_block(const ProcPtr& p, const Path& path, const std::string& outer) {
  const Path around = parent_stmt(path);
  const For* f = around.empty() ? nullptr : find_loop(p, around);
  return f && f->iter.name() == outer + "i" && f->body.size() == 1 && literal_extent(*f);
}

}  // namespace

std::vector<int64_t> lane_groups(const VectorUnit& unit) {
  std::vector<int64_t> out;
  for (const ProcPtr& instr : unit.instrs)
    if (const int64_t group = group_of(*instr);
        group > 1 && std::find(out.begin(), out.end(), group) == out.end())
      out.push_back(group);
  std::sort(out.rbegin(), out.rend());
  return out;
}

ProcPtr optimize_dots(ProcPtr p, const std::string& loop, const VectorUnit& unit,
                      int64_t interleave, const std::string& outer, int64_t rows) {
  if (interleave < 1 || rows < 1)
    throw SchedulingError("optimize_dots: at least one accumulator and one row");
  const std::vector<int64_t> groups = lane_groups(unit);
  if (groups.empty())
    throw SchedulingError("optimize_dots: no instruction takes groups of neighbours");
  std::vector<Cursor> sums = require_loops(p, loop);
  for (auto c = sums.rbegin(); c != sums.rend(); ++c)
    if (sums_beside(c->as<For>()).size() > 1) p = fission_as_much_as_possible(p, at(p, c->path()));
  if (rows > 1) p = in_row_blocks(p, outer, loop, rows);
  std::vector<Cursor> loops = require_loops(p, loop);
  bool found = false;
  std::string why = "no loop over `" + loop + "` is one sum alone";
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    const SumSite site = {c->path(), rows > 1 && is_row_block(p, c->path(), outer)};
    if (has_loops(c->as<For>()) || !only_sum(p, site.sum)) continue;
    const bool done = with_groups(
        p, groups,
        [&](ProcPtr q, int64_t group) { return dots_at(q, site, group, unit, interleave); }, why);
    found = found || done;
  }
  if (!found) throw SchedulingError("optimize_dots: " + why);
  if (rows > 1) p = unroll_named(p, outer + "i");
  p = unroll_named(p, loop + "u");
  return unroll_registers(p, unit.memory);
}

namespace {

// The sum of a block at `site` in the body of the loop `outer`, or of rows inside it, and what is
// added of it behind.
ProcPtr sums_of_sums_at(ProcPtr p, const Cursor& outer, const SumSite& site, int64_t group,
                        const VectorUnit& unit) {
  const Path top = site.sum;
  const For& loop = *find_loop(p, top);
  const auto extent = literal_extent(loop);
  if (!extent || *extent < unit.lanes * group || *extent % (unit.lanes * group) != 0)
    throw SchedulingError("`" + loop.iter.name() + "` is no multiple of " +
                          std::to_string(unit.lanes * group));
  const Sym sum = only_sum(p, top)->name;
  // t = 0, in front of the loop: it goes behind it.
  int begun = -1;
  for (int k = 0; k < top.back().index; ++k) {
    const Assign* a = block_at(*p, top)[static_cast<size_t>(k)]->as<Assign>();
    if (a && a->name == sum) begun = k;
  }
  if (begun < 0) throw SchedulingError("`" + sum.name() + "` does not begin in front of its loop");
  p = in_rounds(p, top, unit.lanes, group, Tail::kPerfect);
  Path main = top;
  const std::vector<Cursor> block =
      in_lanes(p, main, {child(main)}, *only_sum(p, main), sum.name() + "_acc", unit);
  const Cursor rounds = at(p, main);
  for (int k = begun; k < main.back().index; ++k)
    p = reorder_stmts(p, Cursor::block(p, sibling(main, k - main.back().index), 2));
  // t = 0 ; for kl: t += acc[kl] ; [u = t ;] y += c * u
  Path added = sibling(forward(p, block[1]).path(), 1);
  while (stmt_at(*p, added) && !stmt_at(*p, added)->as<Reduce>()) added = sibling(added, 1);
  if (!stmt_at(*p, added)) throw SchedulingError("nothing is added up of `" + sum.name() + "`");
  p = distribute_factor(p, at(p, added));
  for (const Path& path : all_stmt_paths(*p))
    if (const Alloc* a = stmt_at(*p, path)->as<Alloc>(); a && a->name == sum) {
      p = delete_buffer(p, at(p, path));
      break;
    }
  const Cursor ends = forward(p, block[1]);
  const Reduce* total = only_sum(p, ends.path());
  if (!total) throw SchedulingError("what is added up moves with the lanes");
  std::vector<Path> copies = {ends.path()};
  if (site.rows) copies.insert(copies.begin(), parent_stmt(ends.path()));
  Path blocks = forward(p, outer).path();
  const std::vector<Cursor> all =
      in_lanes(p, blocks, copies, *total, total->name.name() + "_acc", unit);
  const Path main_rounds = forward(p, rounds).path();
  p = group > 1 ? by_groups(p, child(main_rounds), group, unit)
                : finish_elements(p, main_rounds, unit);
  p = sums_in_vectors(p, all, unit);
  p = vectorize_lanes(p, at(p, innermost(p, forward(p, block[0]).path())), unit);
  p = vectorize_lanes(p, at(p, forward(p, ends).path()), unit);
  return hoist_from_loop(p, at(p, forward(p, outer).path()));
}

}  // namespace

ProcPtr optimize_sums_of_sums(ProcPtr p, const std::string& outer, const std::string& inner,
                              const VectorUnit& unit, const std::string& row, int64_t rows) {
  if (rows < 1) throw SchedulingError("optimize_sums_of_sums: at least one row");
  std::vector<int64_t> groups = lane_groups(unit);
  groups.push_back(1);
  if (rows > 1) {
    p = in_row_blocks(p, row, outer, rows);
    std::vector<Cursor> blocks = require_loops(p, outer);
    for (auto c = blocks.rbegin(); c != blocks.rend(); ++c)
      if (is_row_block(p, c->path(), row)) p = reorder_loops(p, at(p, parent_stmt(c->path())));
  }
  std::vector<Cursor> loops = require_loops(p, outer);
  bool found = false;
  std::string why = "no loop over `" + outer + "` adds up sums over `" + inner + "`";
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    const Cursor blocks = at(p, c->path());
    const Path first = child(blocks.path());
    const bool in_rows = rows > 1 && blocks.as<For>().body.size() == 1 && find_loop(p, first) &&
                         find_loop(p, first)->iter.name() == row + "i";
    const Path block = in_rows ? first : blocks.path();
    for (int k = 0; k < static_cast<int>(body_of(*stmt_at(*p, block)).size()); ++k) {
      const SumSite site = {child(block, k), in_rows};
      const For* f = find_loop(p, site.sum);
      if (!f || f->iter.name() != inner || !only_sum(p, site.sum)) continue;
      const bool done = with_groups(
          p, groups,
          [&](ProcPtr q, int64_t group) { return sums_of_sums_at(q, blocks, site, group, unit); },
          why);
      found = found || done;
      break;
    }
  }
  if (!found) throw SchedulingError("optimize_sums_of_sums: " + why);
  if (rows > 1) p = unroll_named(p, row + "i");
  return unroll_registers(p, unit.memory);
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> lane_sums_operators() {
  using namespace params;
  return {
      {"optimize_dots",
       {proc(), string("loop"), integer("vw"), memory("mem_type"), procs("instructions"),
        integer("interleave", 1), string("outer", ""), integer("rows", 1)},
       "for k: t += x[k] * w[k]  ->  for kv: for kl: for kg: acc[kl] += x * w; t += lanes of acc",
       [](const OperatorArgs& a) -> Value {
         return optimize_dots(a.proc(), a.string(1), vector_unit(a, 2, 3, 4), a.small(5),
                              a.string(6), a.small(7));
       }},
      {"optimize_sums_of_sums",
       {proc(), string("outer"), string("inner"), integer("vw"), memory("mem_type"),
        procs("instructions"), string("row", ""), integer("rows", 1)},
       "for b: { t = 0; for k: t += e; y += c * t }  ->  lanes of y, added up behind b",
       [](const OperatorArgs& a) -> Value {
         return optimize_sums_of_sums(a.proc(), a.string(1), a.string(2), vector_unit(a, 3, 4, 5),
                                      a.string(6), a.small(7));
       }},
  };
}

}  // namespace exotune
