// Which loops are recurrences is asked of the core (iterations_commute); the sizes of blocks are
// vectors, because the rows of a block are what vectors will run along.
#include "search/moves/recurrences.h"

#include <algorithm>

#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"
#include "core/library/inspection.h"
#include "search/moves/distribution.h"
#include "search/moves/parts.h"

namespace exotune {

namespace {

constexpr size_t kMostSizes = 3;      // of blocks: each is a program to search
constexpr int64_t kInnerRows = 8;     // of blocks in blocks, at least
constexpr int64_t kBlocksInside = 4;  // vectors of a block that is blocked again, at least
constexpr int64_t kInnerOfWide = 16;  // rows that wide blocks are multiples of, at least
constexpr int64_t kManyWide = 8;      // wide blocks of a recurrence that is worth them, at least
constexpr int kMostBehind = 3;        // statements that use a panel before it leaves its buffer
constexpr int64_t kOperands = 4;      // registers beside the rows of a panel: a column, factors
constexpr int64_t kSmallSystem = 16;  // rows of one that is written out in lanes, at most
constexpr size_t kWrittenOut = 1000;  // statements of it, at most: compilers must come to an end
constexpr int64_t kFewBlocks = 12;    // of a vector's rows: small problems are mostly their corners

bool bound_follows(const Block& body, Sym iter) {
  bool any = false;
  for_each_stmt(body, [&](const StmtPtr& s) {
    if (const For* f = s->as<For>()) any |= mentions(f->lo, iter) || mentions(f->hi, iter);
  });
  return any;
}

// The loops that `take` takes, in program order; inside one that it took is not looked.
template <class Take>
void find_loops(const Block& body, const Path& around, Child branch, const Take& take,
                std::vector<Path>& out) {
  for (int k = 0; k < static_cast<int>(body.size()); ++k) {
    Path path = around;
    path.push_back({branch, k});
    const StmtPtr& s = body[static_cast<size_t>(k)];
    const For* f = s->as<For>();
    if (f && take(*f, path)) {
      out.push_back(path);
      continue;
    }
    find_loops(body_of(*s), path, Child::kBody, take, out);
    find_loops(orelse_of(*s), path, Child::kOrelse, take, out);
  }
}
template <class Take>
std::vector<Path> find_loops(const Proc& p, const Take& take) {
  std::vector<Path> out;
  find_loops(p.body, {}, Child::kBody, take, out);
  return out;
}

// Loops or guards among its statements.
bool holds_body(const For& f) {
  return std::any_of(f.body.begin(), f.body.end(),
                     [](const StmtPtr& s) { return !body_of(*s).empty(); });
}

// A loop among whose statements is one with loops or guards of its own.
bool holds_nest(const For& f) {
  return std::any_of(f.body.begin(), f.body.end(), [](const StmtPtr& s) {
    const For* inner = s->as<For>();
    return inner && holds_body(*inner);
  });
}

// The outermost loops that block_recurrence is for.
std::vector<Path> recurrences_of(const ProcPtr& p) {
  return find_loops(*p, [&](const For& f, const Path& path) {
    return bound_follows(f.body, f.iter) && !iterations_commute(*p, path);
  });
}

// for j: for i: { several statements }, i of literal extent: what block_recurrence leaves of a
// recurrence over columns.
std::vector<Path> panels_of(const ProcPtr& p) {
  return find_loops(*p, [](const For& j, const Path&) {
    const For* i = only_loop_in(j);
    return i && i->body.size() > 1 && as_int(i->lo) == 0 && as_int(i->hi) &&
           bound_follows(i->body, j.iter);
  });
}

// for i: for j: { .. loops .. }, of which i may not change its order.
std::vector<Path> imperfect_pairs_of(const ProcPtr& p) {
  return find_loops(*p, [&](const For& i, const Path& path) {
    const For* j = only_loop_in(i);
    return j && j->body.size() > 1 &&
           std::any_of(j->body.begin(), j->body.end(),
                       [](const StmtPtr& s) { return s->as<For>(); }) &&
           !iterations_commute(*p, path);
  });
}

// for i: for j: s, neither of which may run in another order.
std::vector<Path> chains_of(const ProcPtr& p) {
  return find_loops(*p, [&](const For& i, const Path& path) {
    const For* j = only_loop_in(i);
    if (!j || holds_body(*j)) return false;
    Path inner = path;
    inner.push_back({Child::kBody, 0});
    return !iterations_commute(*p, path) && !iterations_commute(*p, inner);
  });
}

// for i: { .. for j: s .. }: rows in any order, of which each is a chain of operations.
std::vector<Path> independent_chains_of(const ProcPtr& p) {
  return find_loops(*p, [&](const For& i, const Path& path) {
    bool any = false;
    for (int k = 0; k < static_cast<int>(i.body.size()) && !any; ++k) {
      const For* j = i.body[static_cast<size_t>(k)]->as<For>();
      if (!j || mentions(j->lo, i.iter) || mentions(j->hi, i.iter)) continue;
      Path inner = path;
      inner.push_back({Child::kBody, k});
      any = !iterations_commute(*p, inner);
    }
    return any && iterations_commute(*p, path);
  });
}

// What the statements of a panel write: its copy is called after it.
std::string name_written(const For& loop) {
  std::string out;
  for_each_stmt(loop.body, [&](const StmtPtr& s) {
    if (const Assign* a = s->as<Assign>()) out = a->name.name();
    if (const Reduce* r = s->as<Reduce>()) out = r->name.name();
  });
  return out;
}

// The sums of a diagonal, which a factorization writes apart, as the last column of the triangle
// that a block's rows take from the rows before it.
void join_diagonals(Schedule& s) {
  const auto is_triangle = [](const For& i, const Path& /*path*/) {
    const For* j = only_loop_in(i);
    return j && mentions(j->hi, i.iter) && only_loop_in(*j);
  };
  std::vector<Cursor> at;
  for (const Path& path : find_loops(*s.proc, is_triangle))
    at.push_back(Cursor::stmt(s.proc, path));
  for (const Cursor& loop : at) (void)!apply(s, "join_diagonal", {Value(loop)});
}

bool reads(const StmtPtr& s, const std::string& buffer) {
  bool any = false;
  for_each_expr({s}, [&](const ExprPtr& e) {
    for (const Read* r : data_reads(e)) any |= r->name.name() == buffer;
  });
  return any;
}

// The panel in its buffer, with as many of the statements behind it as read it there: what a block
// of rows does to its own corner is a product of the panel with itself.
bool stage_panel_and_readers(Schedule& s, const Cursor& panel, const std::string& rows,
                             const std::string& name) {
  const Path loop = forward(s.proc, panel).path();
  const int left = size_of_block(s.proc, loop) - 1 - loop.back().index;
  for (int behind = std::min(left, kMostBehind); behind >= 0; --behind) {
    Schedule tried = s;
    ValueList args = {Value(panel), Value(rows), Value(name)};
    if (behind > 0) args.emplace_back(int64_t{behind});
    if (apply(tried, "stage_panel", std::move(args))) continue;
    Path last = forward(tried.proc, panel).path();
    last.back().index += behind;
    if (behind > 0 && !reads(stmt_at(*tried.proc, last), name)) continue;
    s = std::move(tried);
    return true;
  }
  return false;
}

// How many columns of a panel are solved at a time: in registers they leave room for operands. A
// panel has some times as many columns as the block rows, so that what divides these leaves none
// over.
int64_t columns_at_once(const For& rows, int64_t lanes, const VectorValues* unit) {
  const std::optional<int64_t> height = as_int(rows.hi);
  if (!unit || !height) return lanes;
  int64_t columns = std::min(*height, kInnerRows);
  while (columns > 2 && (*height % columns != 0 || columns > unit->registers() - kOperands))
    --columns;
  return columns;
}

bool has_extent(const For& f, int64_t extent) { return as_int(normalize(f.hi - f.lo)) == extent; }

// The columns of a panel in blocks of so many: of `wide` ones first, where its rows are so many.
void block_columns(Schedule& s, const Cursor& loop, int64_t wide, int64_t columns) {
  if (wide == 0) {
    (void)!apply(s, "block_recurrence", {Value(loop), Value(columns)});
    return;
  }
  if (apply(s, "block_recurrence", {Value(loop), Value(wide)})) return;
  std::vector<Cursor> inside;
  for (const Path& path : panels_of(s.proc))
    if (has_extent(*stmt_at(*s.proc, path)->as<For>(), wide))
      inside.push_back(Cursor::stmt(s.proc, path));
  for (const Cursor& left : inside)
    (void)!apply(s, "block_recurrence", {Value(left), Value(columns)});
}

// `wide`: blocks of so many rows were made, whose panels are blocked twice; 0: none. True: there
// was a panel.
bool block_panels(Schedule& s, int64_t lanes, const VectorValues* unit, int64_t wide = 0) {
  std::vector<Cursor> at;
  bool any = false;
  for (const Path& path : panels_of(s.proc)) at.push_back(Cursor::stmt(s.proc, path));
  for (const Cursor& loop : at) {
    const Cursor now = forward(s.proc, loop);
    if (!now.valid()) continue;
    const For& j = now.as<For>();
    const For& rows = *j.body.front()->as<For>();
    const int64_t columns = columns_at_once(rows, lanes, unit);
    Schedule tried = s;
    if (!stage_panel_and_readers(tried, loop, rows.iter.name(), name_written(j) + "_panel"))
      continue;
    block_columns(tried, loop, has_extent(rows, wide) ? wide : 0, columns);
    s = std::move(tried);
    any = true;
  }
  return any;
}

// for i: for j: for k in seq(0, W * b): sum  ->  for kb: for i: for j: for k in seq(0, W): sum
//
// What wide blocks take from all before them, W terms at a time: what the terms need stays in a
// cache for all of the block.
void sums_in_pieces(Schedule& s, int64_t wide) {
  const auto is_long = [](const For& i, const Path& /*path*/) {
    const For* j = only_loop_in(i);
    const For* k = j ? only_loop_in(*j) : nullptr;
    return k && k->body.size() == 1 && k->body.front()->as<Reduce>() && as_int(k->lo) == 0 &&
           !as_int(k->hi) && !bound_follows(j->body, i.iter) && !bound_follows(j->body, j->iter);
  };
  std::vector<Cursor> nests;
  for (const Path& path : find_loops(*s.proc, is_long)) nests.push_back(Cursor::stmt(s.proc, path));
  for (const Cursor& nest : nests) {
    Path inner = forward(s.proc, nest).path();
    for (int d = 0; d < 2; ++d) inner.push_back({Child::kBody, 0});
    const std::string k = stmt_at(*s.proc, inner)->as<For>()->iter.name();
    (void)!apply(s, "block_loop",
                 {Value(Cursor::stmt(s.proc, inner)), Value::ints({wide}),
                  Value::strings({k + "b", k}), Value(nest.as<For>().iter.name())});
  }
}

// The least extent of the loops that is known, and whether `block` divides all of them.
struct Extents {
  std::optional<int64_t> least;
  bool divided = true;
};
Extents extents_of(const Proc& p, const std::vector<Path>& loops, int64_t block) {
  Extents out;
  for (const Path& path : loops) {
    const For& f = *stmt_at(p, path)->as<For>();
    const auto lo = as_int(f.lo), hi = as_int(f.hi);
    out.divided &= lo && hi && (*hi - *lo) % block == 0;
    if (lo && hi) out.least = std::min(out.least.value_or(*hi - *lo), *hi - *lo);
  }
  return out;
}

// Blocks of a few vectors: those that divide the extent, the largest first, then the largest that
// does not. Of single vectors only where there is no room for two blocks of more.
// `short_ones`: blocks of so many rows, too, where there are few of them.
std::vector<int64_t> sizes_of_blocks(const Proc& p, const std::vector<Path>& loops, int64_t lanes,
                                     std::optional<int64_t> short_ones) {
  std::vector<int64_t> out;
  std::optional<int64_t> other;
  // The part within a block stays as it was written: large blocks leave too much of it.
  for (const int64_t vectors : {6, 5, 4, 3, 2}) {
    const int64_t block = vectors * lanes;
    const Extents extents = extents_of(p, loops, block);
    if (extents.least && *extents.least < 2 * block) continue;
    if (extents.divided)
      out.push_back(block);
    else if (!other && vectors <= 4)
      other = block;
  }
  if (other) out.push_back(*other);
  const std::optional<int64_t> least = extents_of(p, loops, lanes).least;
  if (out.empty() && lanes > 1 && least && *least >= 2 * lanes) out.push_back(lanes);
  if (out.size() > kMostSizes) out.resize(kMostSizes);
  if (short_ones && least && *least >= 2 * *short_ones && *least <= kFewBlocks * *short_ones &&
      std::find(out.begin(), out.end(), *short_ones) == out.end())
    out.push_back(*short_ones);
  return out;
}

// A wide block of blocks of `inner` rows, for recurrences over arrays much larger than one: what is
// behind a block is then visited a few times less often. Nothing: they are too short.
std::optional<int64_t> wide_block(const Proc& p, const std::vector<Path>& loops, int64_t inner) {
  std::optional<int64_t> other;
  for (const int64_t blocks : {6, 5, 4}) {
    const Extents extents = extents_of(p, loops, blocks * inner);
    if (extents.least.value_or(0) < kManyWide * blocks * inner) continue;
    if (extents.divided) return blocks * inner;
    if (!other) other = blocks * inner;
  }
  return other;
}

// Each of the loops in blocks of so many rows; nothing where the core refused all.
std::optional<Schedule> in_blocks(const Schedule& s, const std::vector<Path>& loops,
                                  int64_t block) {
  Schedule made = s;
  bool any = false;
  for (const Path& path : loops)
    any |= !apply(made, "block_recurrence", {Value(Cursor::stmt(s.proc, path)), Value(block)});
  return any ? std::optional(std::move(made)) : std::nullopt;
}

// What is left inside a block of rows is a recurrence like the whole: smaller blocks leave less of
// it to one row after the other. True: some of it was blocked.
bool block_again(Schedule& s, int64_t block, int64_t inner) {
  if (block < 2 * inner) return false;
  const auto is_left = [&](const For& i, const Path& path) {
    return as_int(i.lo) == 0 && as_int(i.hi) == block && bound_follows(i.body, i.iter) &&
           !iterations_commute(*s.proc, path);
  };
  std::vector<Cursor> at;
  for (const Path& path : find_loops(*s.proc, is_left)) at.push_back(Cursor::stmt(s.proc, path));
  bool any = false;
  for (const Cursor& loop : at) any |= !apply(s, "block_recurrence", {Value(loop), Value(inner)});
  return any;
}

// Every loop in it follows those around it: a corner, none of whose loops runs along all of an
// array.
bool is_corner(const Block& body, std::vector<Sym>& around) {
  return std::all_of(body.begin(), body.end(), [&](const StmtPtr& s) {
    const For* f = s->as<For>();
    if (!f) return body_of(*s).empty();
    const bool follows = std::any_of(around.begin(), around.end(), [&](Sym iter) {
      return mentions(f->lo, iter) || mentions(f->hi, iter);
    });
    around.push_back(f->iter);
    const bool all = follows && is_corner(f->body, around);
    around.pop_back();
    return all;
  });
}

// A panel's columns in registers, for as many vectors of rows at a time as fit beside operands.
void solve_panel(Schedule& s, const Cursor& loop, const VectorValues& unit) {
  const For& j = loop.as<For>();
  const For& i = *j.body.front()->as<For>();
  const std::string rows = i.iter.name();
  const auto lo = as_int(j.lo), hi = as_int(j.hi), height = as_int(i.hi);
  if (!lo || !hi || !height || *height % unit.lanes() != 0 || *hi == *lo) return;
  const int64_t whole = *height / unit.lanes();
  int64_t vectors = std::min(whole, (unit.registers() - kOperands) / (*hi - *lo));
  while (vectors > 0 && whole % vectors != 0) --vectors;
  if (vectors == 0) return;
  Schedule tried = s;
  if (vectors < whole) {
    Path inner = forward(s.proc, loop).path();
    inner.push_back({Child::kBody, 0});
    if (apply(tried, "divide_loop",
              {Value(Cursor::stmt(s.proc, inner)), Value(vectors * unit.lanes()),
               Value::strings({rows + "o", rows}), Value("perfect")}) ||
        apply(tried, "reorder_loops", {Value(loop)}))
      return;
  }
  if (!apply(tried, unit.step("solve_in_registers", {Value(loop), Value(rows)})))
    s = std::move(tried);
}

// What a blocked recurrence leaves to one row after the other, written out; panels in registers.
void write_out(Schedule& s, const VectorValues* unit) {
  if (!unit) return;
  const int64_t most = std::max(unit->lanes(), kInnerRows);
  std::vector<Cursor> corners, panels;
  const auto is_left = [&](const For& i, const Path& path) {
    std::vector<Sym> around = {i.iter};
    const auto lo = as_int(i.lo), hi = as_int(i.hi);
    return lo && hi && *hi - *lo <= most && bound_follows(i.body, i.iter) &&
           is_corner(i.body, around) && !iterations_commute(*s.proc, path);
  };
  for (const Path& path : find_loops(*s.proc, is_left))
    corners.push_back(Cursor::stmt(s.proc, path));
  for (const Path& path : panels_of(s.proc)) panels.push_back(Cursor::stmt(s.proc, path));
  for (const Cursor& loop : panels) solve_panel(s, loop, *unit);
  for (const Cursor& loop : corners) (void)!apply(s, "unroll_nest", {Value(loop)});
}

// Small systems, one in each lane: all their steps written out, their elements registers.
void systems_in_registers(Schedule& s, const std::string& rows, const VectorValues& unit) {
  const auto is_system = [&](const For& f, const Path& path) {
    const auto lo = as_int(f.lo), hi = as_int(f.hi);
    bool lanes = false;
    for_each_stmt(f.body, [&](const StmtPtr& inner) {
      const For* l = inner->as<For>();
      lanes |= l && l->iter.name() == rows;
    });
    return lanes && lo && hi && *hi - *lo <= kSmallSystem && f.iter.name() != rows &&
           !iterations_commute(*s.proc, path);
  };
  std::vector<Cursor> systems;
  for (const Path& path : find_loops(*s.proc, is_system))
    systems.push_back(Cursor::stmt(s.proc, path));
  for (const Cursor& system : systems) {
    Schedule tried = s;
    if (apply(tried, unit.step("solve_in_registers", {Value(system), Value(rows)}))) continue;
    if (all_stmt_paths(*tried.proc).size() <= kWrittenOut) s = std::move(tried);
  }
}

// Scalars that hold an element meanwhile tie the halves of a loop together.
Schedule sums_in_place(Schedule s) {
  std::vector<Cursor> scalars;
  for (const Path& path : all_stmt_paths(*s.proc)) {
    const Alloc* a = stmt_at(*s.proc, path)->as<Alloc>();
    if (a && !a->type.is_tensor()) scalars.push_back(Cursor::stmt(s.proc, path));
  }
  for (const Cursor& scalar : scalars) (void)!apply(s, "unstage", {Value(scalar)});
  return s;
}

}  // namespace

std::optional<Schedule> recurrences_by_columns(const Schedule& s) {
  Schedule out = s;
  for (const Path& path : imperfect_pairs_of(s.proc)) {
    const For& i = *stmt_at(*s.proc, path)->as<For>();
    const std::string rows = i.iter.name(), array = name_written(i);
    Schedule tried = out;
    if (apply(tried, "reorder_loops", {Value(Cursor::stmt(s.proc, path))})) continue;
    Path inner = path;  // the loop over rows stands inside now
    inner.push_back({Child::kBody, 0});
    if (apply(tried, "stage_panel",
              {Value(Cursor::stmt(tried.proc, inner)), Value(rows), Value(array + "_column")}))
      continue;
    out = std::move(tried);
  }
  if (out.steps.size() == s.steps.size()) return std::nullopt;
  (void)!apply(out, "simplify", {});
  return out;
}

std::vector<Schedule> wavefronts(const Schedule& whole) {
  // What stands beside the loop over a row, its first element say, goes before all rows.
  const Schedule s = chains_of(whole.proc).empty() ? distribute(whole, false) : whole;
  const std::vector<Path> chains = chains_of(s.proc);
  std::vector<Schedule> out;
  if (chains.empty()) return out;
  // Rows in flight hide the latency of the one before; each is skewed by as many elements as its
  // order needs, one for a stencil of three points, two where a corner is read as well.
  for (const int64_t rows : {4, 8, 2}) {
    Schedule made = s;
    for (const Path& path : chains)
      for (const int64_t shift : {1, 2})
        if (!apply(made, "jam_skewed",
                   {Value(Cursor::stmt(s.proc, path)), Value(rows), Value(shift)}))
          break;
    if (made.steps.size() > s.steps.size()) out.push_back(std::move(made));
  }
  return out;
}

namespace {

// v : T[N] ; for o: { .. v .. }  ->  for o: { v : T[N] ; .. v .. }: what only one loop uses, and
// makes anew in each iteration, is its own; its iterations then know nothing of each other.
Schedule with_scratch_inside(const Schedule& s) {
  Schedule out = s;
  for (bool again = true; again;) {
    again = false;
    for (const Path& path : all_stmt_paths(*out.proc)) {
      const Alloc* a = stmt_at(*out.proc, path)->as<Alloc>();
      if (!a) continue;
      const StmtPtr* user = nullptr;
      int users = 0;
      const Block& block = block_at(*out.proc, path);
      for (size_t k = static_cast<size_t>(path.back().index) + 1; k < block.size(); ++k)
        if (mentions(block[k], a->name)) user = &block[k], ++users;
      if (users == 1 && (*user)->as<For>() &&
          !apply(out, "sink_alloc", {Value(Cursor::stmt(out.proc, path))})) {
        again = true;
        break;
      }
    }
  }
  return out;
}

}  // namespace

std::vector<Schedule> rows_in_lanes(const Schedule& whole, int64_t lanes,
                                    const VectorValues* unit) {
  Schedule s = with_scratch_inside(whole);
  if (s.steps.size() > whole.steps.size() &&
      independent_chains_of(s.proc).size() == independent_chains_of(whole.proc).size())
    s = whole;
  const std::vector<Path> loops = independent_chains_of(s.proc);
  std::vector<Schedule> out;
  if (loops.empty()) return out;
  for (const int64_t vectors : {2, 3, 1, 4}) {
    if (vectors == 3 && !extents_of(*s.proc, loops, vectors * lanes).divided) continue;
    Schedule made = s;
    for (const Path& path : loops) {
      const For& f = *stmt_at(*s.proc, path)->as<For>();
      const auto lo = as_int(f.lo), hi = as_int(f.hi);
      int64_t rows = vectors * lanes;
      // Fewer rows than lanes are a half vector, or one that is masked.
      if (lo && hi && vectors == 1 && 2 * (*hi - *lo) >= lanes) rows = std::min(rows, *hi - *lo);
      if (lo && hi && *hi - *lo < rows) continue;
      (void)!apply(made, "rows_to_lanes", {Value(Cursor::stmt(s.proc, path)), Value(rows)});
    }
    if (made.steps.size() == s.steps.size()) continue;
    if (unit && vectors == 1) {
      Schedule small = made;
      for (const Path& path : loops)
        systems_in_registers(small, stmt_at(*s.proc, path)->as<For>()->iter.name(), *unit);
      if (small.steps.size() > made.steps.size()) out.insert(out.begin(), std::move(small));
    }
    out.push_back(std::move(made));
  }
  Schedule sunk = s;
  for (const Path& path : loops)
    if (holds_nest(*stmt_at(*s.proc, path)->as<For>()))
      (void)!apply(sunk, "sink_loop", {Value(Cursor::stmt(s.proc, path))});
  if (sunk.steps.size() > s.steps.size()) out.push_back(std::move(sunk));
  return out;
}

std::vector<Schedule> blocks_of_recurrences(const Schedule& start, int64_t lanes,
                                            const VectorValues* unit) {
  std::vector<Schedule> out;
  const int64_t inner = std::max(lanes, kInnerRows);
  if (recurrences_of(start.proc).empty()) return out;
  const Schedule s = sums_in_place(start);
  const std::vector<Path> loops = recurrences_of(s.proc);
  for (const int64_t block :
       sizes_of_blocks(*s.proc, loops, lanes, unit ? std::optional(inner) : std::nullopt)) {
    const std::optional<Schedule> made = in_blocks(s, loops, block);
    if (!made) return out;
    Schedule once = *made;
    join_diagonals(once);
    if (block_panels(once, lanes, unit)) {
      // The rows of a block need one another as all rows do.
      Schedule twice = *made;
      if ((unit || block >= kBlocksInside * lanes) && block_again(twice, block, inner)) {
        join_diagonals(twice);
        (void)block_panels(twice, lanes, unit);
        once = std::move(twice);
      }
    }
    (void)!apply(once, "simplify", {});
    write_out(once, unit);
    out.push_back(std::move(once));
  }
  return out;
}

std::optional<Schedule> wide_blocks_of_recurrences(const Schedule& start, int64_t lanes,
                                                   const VectorValues* unit) {
  const int64_t part = std::max(lanes, kInnerOfWide);
  if (!wide_block(*start.proc, recurrences_of(start.proc), part)) return std::nullopt;
  const Schedule s = sums_in_place(start);
  const std::vector<Path> loops = recurrences_of(s.proc);
  const std::optional<int64_t> wide = wide_block(*s.proc, loops, part);
  std::optional<Schedule> made = wide ? in_blocks(s, loops, *wide) : std::nullopt;
  const int64_t inner = unit ? std::max(lanes, kInnerRows) : part;
  if (!made || !block_again(*made, *wide, inner)) return std::nullopt;
  join_diagonals(*made);
  if (block_panels(*made, lanes, unit, unit ? *wide : 0)) sums_in_pieces(*made, *wide);
  (void)!apply(*made, "simplify", {});
  write_out(*made, unit);
  return made;
}

std::vector<Schedule> blocks_of_lanes(const Schedule& s) {
  std::vector<Schedule> out;
  const std::vector<Path> loops = recurrences_of(s.proc);
  // Within a block rows follow one another: low ones leave little of that, high ones a sum in the
  // registers for longer.
  for (const int64_t block : {8, 16}) {
    if (extents_of(*s.proc, loops, block).least.value_or(2 * block) < 2 * block) continue;
    std::optional<Schedule> made = in_blocks(s, loops, block);
    if (!made) return out;
    (void)!apply(*made, "simplify", {});
    out.push_back(std::move(*made));
  }
  return out;
}

}  // namespace exotune
