#include "core/library/sum_block.h"

#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/library/hoisting.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"
#include "core/library/staging.h"
#include "core/library/tiles.h"
#include "core/library/window_rows.h"

namespace exotune {
// Register tiles for sums that are no plain products, or run over several loops (convolutions,
// distances, contractions of tensors): the sum is given a scalar of its own, whose tile lives in
// registers while the loops of the sum run; how it begins and ends are loops of their own.

namespace {

// The sums under loops only, one behind the other in the innermost; none where anything else
// stands there.
std::vector<const Reduce*> innermost_sums(const StmtPtr& loop) {
  const Block* body = nullptr;
  for (const StmtPtr* s = &loop; const For* f = (*s)->as<For>(); s = &body->front()) {
    body = &f->body;
    if (body->size() != 1) break;
  }
  std::vector<const Reduce*> out;
  if (!body) return out;
  for (const StmtPtr& s : *body) {
    out.push_back(s->as<Reduce>());
    if (!out.back()) return {};
  }
  return out;
}

// What they add to, each once.
std::vector<Sym> summed_into(const StmtPtr& loop) {
  std::vector<Sym> out;
  for (const Reduce* sum : innermost_sums(loop))
    if (std::find(out.begin(), out.end(), sum->name) == out.end()) out.push_back(sum->name);
  return out;
}

// The one statement of the block that is loops around sums.
std::optional<int> sums_of(const Block& block) {
  std::optional<int> found;  // its place
  for (int k = 0; k < static_cast<int>(block.size()); ++k) {
    if (!block[k]->as<For>()) continue;
    if (found || innermost_sums(block[k]).empty()) return std::nullopt;
    found = k;
  }
  return found;
}

bool allocates(const StmtPtr& s, Sym scalar) {
  const Alloc* a = s->as<Alloc>();
  return a && a->name == scalar && a->type.shape.empty();
}

struct SumNest {
  Path top;  // for i
  Path body(int k) const { return child(child(top), k); }
};

// Each of the sums in a scalar of its own: what was in `out[..]` comes in, and goes out again.
ProcPtr with_scalars(ProcPtr p, const SumNest& nest) {
  const Block before = block_at(*p, nest.body(0));
  for (const Sym& sum : summed_into(before[*sums_of(before)])) {
    const Block body = block_at(*p, nest.body(0));
    if (std::any_of(body.begin(), body.end(), [&](const StmtPtr& s) { return allocates(s, sum); }))
      continue;
    p = auto_stage_mem(p, Cursor::block(p, nest.body(0), static_cast<int>(body.size())), sum.name(),
                       sum.name() + "_sum")
            .proc;
  }
  return p;
}

// The array that the one assignment or sum under the loops at `path` writes, where it reads it,
// too.
std::optional<Sym> updated_by(const ProcPtr& p, const Path& path) {
  const Path place = child(innermost(p, path));
  if (size_of_block(p, place) > 1) return std::nullopt;
  const StmtPtr s = stmt_at(*p, place);
  if (const Reduce* reduce = s->as<Reduce>()) return reduce->name;
  const Assign* assign = s->as<Assign>();
  if (!assign) return std::nullopt;
  const std::vector<const Read*> reads = data_reads(assign->rhs);
  const bool read = std::any_of(reads.begin(), reads.end(),
                                [&](const Read* r) { return r->name == assign->name; });
  return read ? std::optional<Sym>(assign->name) : std::nullopt;
}

// The loops that end the sums, along vectors. Where all is read first the tile of what they update
// comes into registers in loops of its own, and leaves them in others.
ProcPtr end_in_vectors(ProcPtr p, const Path& end, const VectorUnit& unit, bool reads_first) {
  const auto in_vectors = [&](const Path& loops) {
    p = vectorize(p, at(p, innermost(p, loops)), unit, VectorTail::kCutAndPredicate);
  };
  const std::optional<Sym> out = reads_first ? updated_by(p, end) : std::nullopt;
  if (!out) {
    in_vectors(end);
    return p;
  }
  p = stage_around(p, end, *out, out->name() + "_tile");
  p = split_last_dim(p, end, unit.lanes);
  p = set_memory(p, at(p, end), unit.memory);
  for (int k = 3; k >= 1; --k) in_vectors(sibling(end, k));  // loads, the end, stores: last first
  return p;
}

// One scalar of each sum for each element of the tile, in front of its loops. `nest` moves with
// them.
ProcPtr with_tiles_of_sums(ProcPtr p, SumNest& nest) {
  const Block before = block_at(*p, nest.body(0));
  for (const Sym& sum : summed_into(before[*sums_of(before)])) {
    const Block body = block_at(*p, nest.body(0));
    const auto alloc =
        std::find_if(body.begin(), body.end(), [&](const StmtPtr& s) { return allocates(s, sum); });
    if (alloc == body.end())
      throw SchedulingError("sum_block: `" + sum.name() + "` is not allocated beside its loops");
    const Path place = nest.body(static_cast<int>(alloc - body.begin()));
    for (const Path& loop : {child(nest.top), nest.top}) {
      const For& f = loop_at(p, loop);
      const ExprPtr index = read_var(f.iter, ScalarType::kIndex);
      const bool from_zero = as_int(f.lo) == 0;
      p = expand_dim(p, at(p, place), from_zero ? f.hi : f.hi - f.lo,
                     from_zero ? index : index - f.lo);
    }
    p = lift_alloc(p, at(p, place), 2);
    nest.top = sibling(nest.top, 1);
  }
  return p;
}

// Where the parts of the program stand once the sums have tiles: the nest that begins the sums (if
// any), the nest that adds, the one that ends them (if any).
struct TileParts {
  ProcPtr proc;
  Path begin, sums, end;
  Path inner;  // in `sums`, the (next) loop over i: the loops of the sum are in front
  std::vector<Path> columns;  // the loops over j in `sums`
  bool begins = false, ends = false;
};

// The body apart by fission, and the loops of the sum out in front of i and j, in the order they
// have.
TileParts apart(ProcPtr p, const SumNest& nest) {
  TileParts parts{nullptr, nest.top, nest.top, {}, {}};
  const Block body = block_at(*p, nest.body(0));
  const int place = *sums_of(body);
  parts.begins = place > 0;
  parts.ends = place + 1 < static_cast<int>(body.size());
  if (parts.ends) p = fission(p, Cursor::gap(p, nest.body(place + 1)), 2);
  if (parts.begins) {
    p = fission(p, Cursor::gap(p, nest.body(place)), 2);
    parts.sums = sibling(nest.top, 1);
  }
  parts.end = sibling(parts.sums, 1);
  parts.inner = parts.sums;
  while (at(p, child(child(parts.inner))).is<For>()) {
    p = lift_scope(p, at(p, child(child(parts.inner))));
    p = lift_scope(p, at(p, child(parts.inner)));
    parts.inner = child(parts.inner);
  }
  parts.columns = {child(parts.inner)};
  // From the last to the first, so that the places of those before stay.
  for (int k = size_of_block(p, child(child(parts.inner))); k-- > 0;)
    p = products_apart(p, child(child(parts.inner), k));
  parts.proc = std::move(p);
  return parts;
}

// The rows that windows share in turn, read once each: the loop over the window's rows comes inside
// the other loops of the sum first.
void share_rows(TileParts& parts, const std::string& window) {
  Path loop = parts.sums;
  while (loop != parts.inner && loop_at(parts.proc, loop).iter.name() != window) loop = child(loop);
  if (loop == parts.inner)
    throw SchedulingError("sum_block: `" + window + "` is no loop of the sum");
  for (; child(loop) != parts.inner; loop = child(loop))
    parts.proc = reorder_loops(parts.proc, at(parts.proc, loop));
  WindowRows shared = window_rows(parts.proc, loop);
  parts.proc = std::move(shared.proc);
  parts.columns = std::move(shared.rows);
  // No other loop around them: what ends the sums stands behind all of the rows.
  if (loop == parts.sums) parts.end = sibling(parts.sums, static_cast<int>(parts.columns.size()));
}

// The loop at `path` along vectors, and what is the same for all of them in front of what it
// became.
ProcPtr in_vectors_hoisted(ProcPtr p, const Path& path, const VectorUnit& unit) {
  const int before = size_of_block(p, path);
  p = vectorize(p, at(p, path), unit, VectorTail::kCutAndPredicate);
  for (int more = size_of_block(p, path) - before; more >= 0; --more)
    if (Cursor loop = at(p, sibling(path, more)); loop.is<For>()) p = hoist_from_loop(p, loop);
  return p;
}

// Vectors for everything, what comes last in the program first, so that earlier paths stay.
ProcPtr tile_in_vectors(ProcPtr p, const TileParts& parts, const std::vector<Path>& loads,
                        const VectorUnit& unit, bool reads_first) {
  // What begins the sums first: then only sums of these lanes read what it writes there. Both
  // before the end is in vectors, which compute with all lanes.
  if (parts.begins) p = run_to_whole_vectors(p, innermost(p, parts.begin), unit.lanes);
  for (const Path& columns : parts.columns) p = run_to_whole_vectors(p, columns, unit.lanes);
  if (parts.ends) p = end_in_vectors(p, parts.end, unit, reads_first);
  for (auto columns = parts.columns.rbegin(); columns != parts.columns.rend(); ++columns)
    p = in_vectors_hoisted(p, *columns, unit);
  for (auto load = loads.rbegin(); load != loads.rend(); ++load)
    p = vectorize(p, at(p, innermost(p, *load)), unit, VectorTail::kCutAndPredicate);
  if (parts.begins)
    p = vectorize(p, at(p, innermost(p, parts.begin)), unit, VectorTail::kCutAndPredicate);
  return p;
}

// The order of the rewrites matters only for paths: each works on the last part of the program
// first.
ProcPtr sum_block_one(ProcPtr p, SumNest nest, const VectorUnit& unit, bool reads_first,
                      const std::string& window) {
  const Path first_tile = nest.top;
  p = with_scalars(std::move(p), nest);
  if (!sums_of(block_at(*p, nest.body(0))))
    throw SchedulingError("sum_block: the sums are no longer one nest of loops");
  p = with_tiles_of_sums(std::move(p), nest);
  TileParts parts = apart(std::move(p), nest);
  p = simplify(parts.proc, at(parts.proc, parts.sums));  // packed operands: (48*jo + j) / 48 -> jo
  for (Path tile = first_tile; tile != nest.top; tile = sibling(tile, 1)) {
    p = split_last_dim(p, tile, unit.lanes);
    p = set_memory(p, at(p, tile), unit.memory);
  }
  if (!window.empty()) {
    parts.proc = std::move(p);
    share_rows(parts, window);
    return tile_in_vectors(parts.proc, parts, {}, unit, reads_first);
  }
  const int terms = terms_apart(p, parts.inner);
  std::vector<Path> loads;
  parts.columns.clear();
  for (int k = 0; k < terms; ++k) {
    SharedTiles shared = stage_shared(std::move(p), parts.inner, unit.lanes, unit.memory);
    p = std::move(shared.proc);
    loads.insert(loads.end(), shared.loads.begin(), shared.loads.end());
    parts.columns.push_back(child(shared.rows));
    parts.inner = sibling(shared.rows, 1);
  }
  return tile_in_vectors(std::move(p), parts, loads, unit, reads_first);
}

}  // namespace

ProcPtr sum_block(ProcPtr p, const std::string& i, const std::string& j, const VectorUnit& unit,
                  bool reads_first, const std::string& window) {
  std::vector<Cursor> loops = require_loops(p, i);
  bool found = false;
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    const SumNest nest{c->path()};
    const Block& below = body_of(*stmt_at(*p, nest.top));
    const For* inner = below.size() == 1 ? below.front()->as<For>() : nullptr;
    if (!inner || inner->iter.name() != j || !literal_extent(loop_at(p, nest.top)) ||
        !sums_of(inner->body))
      continue;
    p = sum_block_one(p, nest, unit, reads_first, window);
    found = true;
  }
  if (!found)
    throw InvalidCursorError("there is no `for " + i + ": for " + j + ":`, " + i +
                             " of known extent, around loops that add up");
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> sum_block_operators() {
  using namespace params;
  return {
      {"sum_block",
       {proc(), string("i"), string("j"), integer("vw"), memory("mem_type"), procs("instructions"),
        boolean("reads_first", false), string("window", "")},
       "for i: for j: s = b; for r..: s += x * y; out = f(s)  ->  for r..: for i: for j:, s[i, j] "
       "in registers",
       [](const OperatorArgs& a) -> Value {
         return sum_block(a.proc(), a.string(1), a.string(2), vector_unit(a, 3, 4, 5), a.boolean(6),
                          a.string(7));
       }},
  };
}

}  // namespace exotune
