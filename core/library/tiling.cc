// Tiles of loop nests: tile_loops, tile_loops_bottom_up, tile_to_instr, split_triangle.
#include <algorithm>
#include <set>

#include "core/ir/normal_form.h"
#include "core/library/blocking.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

namespace exotune {

namespace {

std::vector<std::string> parts_of(const For& f) {
  return {f.iter.name() + "o", f.iter.name() + "i"};
}

// Splits the loop at `path` so that each statement of its body has one of its own; the number of
// loops that stand there then.
int split_body(ProcPtr& p, const Path& path) {
  const int n = size_of_block(p, child(path));
  for (int k = n - 1; k >= 1; --k) p = fission(p, Cursor::gap(p, child(path, k)), 1);
  return n;
}

// Moves the loop at `path` below the loops over `outer` names inside it, each branch by itself.
void sink(ProcPtr& p, const Path& path, const std::set<std::string>& outer) {
  for (int copy = split_body(p, path) - 1; copy >= 0; --copy) {
    const Path here = sibling(path, copy);
    const StmtPtr only = stmt_at(*p, child(here));
    const For* f = only->as<For>();
    if (only->as<If>()) {  // the guard of what is left over
      p = lift_scope(p, at(p, child(here)));
    } else if (f && outer.count(f->iter.name())) {
      p = reorder_loops(p, at(p, here));
    } else {
      continue;
    }
    sink(p, child(here), outer);
  }
}

// The loop nest from `top` down, as far as `count` loops go.
std::vector<Cursor> nest_of(const ProcPtr& p, const Path& top, size_t count, const char* op) {
  std::vector<Cursor> loops;
  for (Path path = top; loops.size() < count; path = child(path)) {
    const bool alone = loops.empty() || size_of_block(p, path) == 1;
    if (!alone || !at(p, path).is<For>())
      throw SchedulingError(std::string(op) + ": there are fewer nested loops than sizes");
    loops.push_back(at(p, path));
  }
  return loops;
}

}  // namespace

ProcPtr lift_alone(ProcPtr p, const Where& scope) {
  Cursor c = scope.scope(p);
  const int k = c.path().back().index;
  if (k + 1 < size_of_block(p, c.path())) p = fission(p, at(p, c.path()).after(), 1);
  if (k > 0) p = fission(p, at(p, c.path()).before(), 1);
  return lift_scope(p, forward(p, c));
}

// Divides all loops, then brings the outer parts together outside, one exchange at a time.
Tiled tile_loops(ProcPtr p, const std::vector<std::pair<Where, int64_t>>& loops, Tail tail) {
  std::vector<Cursor> outer;
  for (const auto& [where, size] : loops) outer.push_back(where.loop(p));
  Tiled out;
  for (size_t k = 0; k < loops.size(); ++k) {
    const Cursor loop = forward(p, outer[k]);
    p = divide_loop(p, loop, loops[k].second, parts_of(loop.as<For>()), tail);
    out.inner.push_back(forward(p, outer[k]).body()[0]);
  }
  // Each outer loop moves out to the one before it, past the inner loops of those before it.
  for (size_t k = 1; k < loops.size(); ++k) {
    const Path around = forward(p, outer[k - 1]).path();
    if (!is_prefix(around, forward(p, outer[k]).path())) continue;  // not nested: nothing to pass
    while (parent_stmt(forward(p, outer[k]).path()) != forward(p, outer[k - 1]).path())
      p = lift_alone(p, forward(p, outer[k]));
  }
  for (Cursor& c : out.inner) c = forward(p, c);
  out.proc = p;
  return out;
}

ProcPtr tile_loops_bottom_up(ProcPtr p, const Where& outermost, const std::vector<int64_t>& sizes,
                             Tail tail) {
  const Path top = outermost.loop(p).path();
  const std::vector<Cursor> nest = nest_of(p, top, sizes.size(), "tile_loops_bottom_up");
  std::set<std::string> outer;
  // The innermost first: then each outer part finds all inner parts below it.
  for (size_t k = sizes.size(); k-- > 0;) {
    const Path path = nest[k].path();
    const For f = nest[k].as<For>();
    const int before = size_of_block(p, path);
    p = divide_loop(p, at(p, path), sizes[k], parts_of(f), tail);
    if (size_of_block(p, path) > before) {  // what is left over: an inner part, perhaps guarded
      const Path rest = sibling(path, 1);
      sink(p, at(p, rest).is<If>() ? child(rest) : rest, outer);
    }
    sink(p, child(path), outer);
    outer.insert(parts_of(f)[0]);
  }
  return p;
}

namespace {

// The extents of the loops that the instruction is.
std::vector<int64_t> shape_of_calls(const ProcPtr& instr) {
  std::vector<int64_t> sizes;
  for (const Block* b = &instr->body; b->size() == 1; b = &body_of(*b->front())) {
    const For* f = b->front()->as<For>();
    if (!f) break;
    const std::optional<int64_t> extent = literal_extent(*f);
    if (!extent || *extent < 1)
      throw SchedulingError("tile_to_instr: a loop of `" + instr->name + "` has no fixed extent");
    sizes.push_back(*extent);
  }
  if (sizes.empty()) throw SchedulingError("tile_to_instr: `" + instr->name + "` is no loop");
  return sizes;
}

// The nest from `path` in has as many loops as `sizes`, none shorter than its size.
bool holds_calls(const ProcPtr& p, const Path& path, const std::vector<int64_t>& sizes) {
  StmtPtr s = stmt_at(*p, path);
  for (size_t k = 0; k < sizes.size(); ++k) {
    const For* f = s->as<For>();
    const std::optional<int64_t> extent = f ? literal_extent(*f) : std::nullopt;
    if (!extent || *extent < sizes[k] || f->body.size() != 1) return false;
    s = f->body.front();
  }
  return true;
}

// The sizes are the instruction's own extents: what is inside is then one call of it.
ProcPtr in_calls(ProcPtr p, Path tile, const std::vector<int64_t>& sizes, const ProcPtr& instr) {
  p = tile_loops_bottom_up(p, at(p, tile), sizes, Tail::kCut);
  for (size_t k = 0; k < sizes.size(); ++k) tile = child(tile);
  p = simplify(p, at(p, tile));
  return replace(p, at(p, tile), instr);
}

}  // namespace

ProcPtr tile_to_instr(ProcPtr p, const Where& outermost, const ProcPtr& instr, int64_t block) {
  const std::vector<int64_t> sizes = shape_of_calls(instr);
  const Path top = outermost.loop(p).path();
  constexpr int64_t kMost = 1 << 20;  // of calls in a dimension: extents are below 2^40
  if (block < 1 || block > kMost)
    throw SchedulingError("tile_to_instr: a block is of one call at least, and at most " +
                          std::to_string(kMost));
  if (block == 1) return in_calls(p, top, sizes, instr);
  std::vector<int64_t> blocks = sizes;
  for (int64_t& b : blocks) b *= block;
  const std::string inner = parts_of(at(p, top).as<For>())[1];
  const int before = size_of_block(p, top);
  p = tile_loops_bottom_up(p, at(p, top), blocks, Tail::kCut);
  const int last = top.back().index + size_of_block(p, top) - before;
  std::vector<Cursor> tiles = loops_named(p, inner);
  bool any = false;
  for (auto t = tiles.rbegin(); t != tiles.rend(); ++t) {
    Path around = t->path();
    around.resize(top.size());
    if (parent_stmt(around) != parent_stmt(top) || around.back().index < top.back().index ||
        around.back().index > last || !holds_calls(p, t->path(), sizes))
      continue;
    p = in_calls(p, t->path(), sizes, instr);
    any = true;
  }
  if (!any)
    throw SchedulingError("tile_to_instr: the loops are shorter than `" + instr->name + "`");
  return p;
}

namespace {

// The value of `bound`, affine in `row` of [0, count), at the end where it is largest or least.
std::optional<ExprPtr> at_end(const ExprPtr& bound, Sym row, int64_t count, bool largest) {
  const std::optional<Affine> a = affine(bound);
  if (!a) return std::nullopt;
  const bool last = (a->coeff_of(row) > 0) == largest;
  return normalize(substitute(bound, row, int_const(last ? count - 1 : 0)));
}

// Cuts the loop at `path` where all rows of the block have their part in common; is it the first
// of the two? Nothing when its bounds are the same for all rows.
std::optional<bool> cut_common(ProcPtr& p, const Path& path, Sym row, int64_t count) {
  const For f = at(p, path).as<For>();
  const bool low = mentions(f.lo, row), high = mentions(f.hi, row);
  if (low == high) return std::nullopt;
  const std::optional<ExprPtr> cut = at_end(low ? f.lo : f.hi, row, count, low);
  if (!cut) return std::nullopt;
  p = cut_loop(p, at(p, path), *cut);
  return high;
}

}  // namespace

// Blocks of rows of a triangle have a common rectangle and corners; the rectangle is what register
// tiles are for.
ProcPtr split_triangle(ProcPtr p, const std::string& outer, const std::string& inner,
                       int64_t size) {
  bool any = false;
  std::vector<Cursor> loops = require_loops(p, outer);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    const Path top = c->path();
    bool depends = false;
    for_each_stmt(c->as<For>().body, [&](const StmtPtr& s) {
      const For* f = s->as<For>();
      depends =
          depends || (f && f->iter.name() == inner &&
                      (mentions(f->lo, c->as<For>().iter) || mentions(f->hi, c->as<For>().iter)));
    });
    if (!depends) continue;
    p = divide_loop(p, at(p, top), size, parts_of(c->as<For>()), Tail::kCut);
    const Path rows = child(top);
    const Sym row = at(p, rows).as<For>().iter;
    for (int k = size_of_block(p, child(rows)) - 1; k >= 0; --k) {
      const Path path = child(rows, k);
      if (!at(p, path).is<For>() || at(p, path).as<For>().iter.name() != inner) continue;
      if (!cut_common(p, path, row, size)) continue;
      any = true;
      p = fission(p, Cursor::gap(p, sibling(path, 1)), 1);
      if (k > 0) p = fission(p, Cursor::gap(p, path), 1);
    }
  }
  if (!any)
    throw SchedulingError("split_triangle: no loop over `" + inner + "` right inside `" + outer +
                          "` has one bound that depends on `" + outer + "`");
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

namespace {

// tile_loops: the pairs name loops or are cursors to them.
Value tiled(const OperatorArgs& a) {
  std::vector<std::pair<Where, int64_t>> loops;
  const ValueList* list = a[1].as<ValueList>();
  for (const Value& v : list ? *list : ValueList{Value()}) {
    const ValueList* pair = v.as<ValueList>();
    const bool two = pair && pair->size() == 2 && (*pair)[1].as<int64_t>();
    const std::string* name = two ? (*pair)[0].as<std::string>() : nullptr;
    const Cursor* cursor = two ? (*pair)[0].as<Cursor>() : nullptr;
    if (!name && !cursor)
      throw InputError({}, "the tiles are a list of loops and sizes",
                       "write [('i', 4), ('j', 16)]");
    loops.emplace_back(name ? Where(*name) : Where(*cursor), *(*pair)[1].as<int64_t>());
  }
  const Tiled t =
      tile_loops(a.proc(), loops, a.boolean(3) ? Tail::kPerfect : loop_tail(a.string(2)));
  ValueList inner(t.inner.begin(), t.inner.end());
  return ValueList{t.proc, std::move(inner)};
}

}  // namespace

std::vector<Operator> tiling_operators() {
  using namespace params;
  return {
      {"tile_loops",
       {proc(), any("loop_tile_pairs"), string("tail", "cut"), boolean("perfect", false)},
       "for i: for j: s  ->  for io: for jo: for ii: for ji: s   with [('i', 4), ('j', 16)]; "
       "returns "
       "p and the list of the inner loops",
       tiled},
      {"lift_alone",
       {proc(), place("scope")},
       "for i: s1; for j: s  ->  for i: s1; for j: for i: s",
       [](const OperatorArgs& a) -> Value { return lift_alone(a.proc(), a.where(1)); }},
      {"tile_to_instr",
       {proc(), place("outermost_loop"), proc("instr"), integer("block", 1)},
       "for i: for j: s  ->  for io: for jo: f(...)   (and the rest of each loop after it), blocks "
       "of so many calls together",
       [](const OperatorArgs& a) -> Value {
         return tile_to_instr(a.proc(), a.where(1), a.proc(2), a.integer(3));
       }},
      {"split_triangle",
       {proc(), string("outer"), string("inner"), integer("size")},
       "for i: for j in seq(0, i + 1): s  ->  for io: (for ii: for j in seq(0, q * io + 1): s; for "
       "ii: for j in seq(q * io + 1, q * io + ii + 1): s)",
       [](const OperatorArgs& a) -> Value {
         return split_triangle(a.proc(), a.string(1), a.string(2), a.integer(3));
       }},
      {"tile_loops_bottom_up",
       {proc(), place("outermost_loop"), integers("tiles"), string("tail", "cut")},
       "for i: for j: s  ->  for io: for jo: for ii: for ji: s   with [4, 16]; "
       "each combination of whole and left-over tiles is a nest",
       [](const OperatorArgs& a) -> Value {
         return tile_loops_bottom_up(a.proc(), a.where(1), a.integers(2), loop_tail(a.string(3)));
       }},
  };
}

}  // namespace exotune
