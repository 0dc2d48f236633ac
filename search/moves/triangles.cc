#include "search/moves/triangles.h"

#include <algorithm>
#include <functional>
#include <set>

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "search/moves/following_loop.h"
#include "search/moves/loop_order.h"
#include "search/moves/parts.h"
#include "search/moves/transposition.h"
#include "search/nest.h"

namespace exotune {

namespace {

const For& loop(const Proc& p, const Path& path) { return *stmt_at(p, path)->as<For>(); }

// The first loop of that name; nothing: there is none.
std::optional<Path> loop_named(const Proc& p, const std::string& name) {
  for (const OutlineLoop& l : outline_of(p).loops)
    if (l.iter.name() == name) return l.path;
  return std::nullopt;
}

// The operand along the vectors that all rows read; null: none.
const Operand* shared_by_rows(const Nest& nest) {
  for (const Operand& o : nest.operands)
    if (o.along_vector && o.one_way && !o.halo && o.strip == 0 &&
        std::find(o.loops.begin(), o.loops.end(), nest.row_loop) == o.loops.end())
      return &o;
  return nullptr;
}

}  // namespace

std::optional<StripOfTriangle> triangle_in_strips(const Schedule& s, const Path& band,
                                                  int64_t width, const VectorValues& unit) {
  const std::optional<FollowingLoop> pair =
      following_loop(*s.proc, band, band_depth(*s.proc, band));
  const Nest nest = inspect_nest(*s.proc);
  const Operand* shared = pair ? shared_by_rows(nest) : nullptr;
  if (!shared) return std::nullopt;
  const auto name = [&](int level) { return loop(*s.proc, down(band, level)).iter.name(); };
  const std::string &rows = nest.row_loop, &columns = nest.vector_loop;
  const std::optional<int64_t> extent = nest.find(columns)->extent;
  if (name(pair->outer) != rows || name(pair->inner) == columns || !extent || *extent <= width)
    return std::nullopt;
  StripOfTriangle out{s, {}};
  if (apply(out.schedule, block_step(columns, width, columns + "s", name(0))) ||
      apply(out.schedule, pack_step(shared->buffer, rows, width, unit, shared->turned)))
    return std::nullopt;
  const std::optional<Path> inside = loop_named(*out.schedule.proc, rows);
  if (!inside) return std::nullopt;
  out.band = *inside;
  return out;
}

namespace {

// A read along the columns that the rows do not move, and its dimension that the columns move.
struct SharedRead {
  Sym buffer;
  size_t dimension = 0;
  bool contiguous = false;  // it is the last one
  double bytes = 0;         // of the buffer
};

std::vector<SharedRead> shared_reads(const Outline& o, Sym rows, Sym columns, double least_reuse) {
  std::vector<SharedRead> out;
  const auto elements = [&](Sym buffer) {
    for (const OutlineBuffer& b : o.buffers)
      if (b.name == buffer) return b.elements;
    return 0.0;
  };
  const auto written = [&](Sym buffer) {
    return std::any_of(o.accesses.begin(), o.accesses.end(), [&](const OutlineAccess& a) {
      return a.writes() && a.what.buffer == buffer;
    });
  };
  for (const OutlineAccess& a : o.accesses) {
    if (a.writes() || a.what.idx.size() < 2 || a.what.buffer != a.what.through) continue;
    std::optional<size_t> moved;
    bool one = true;
    for (size_t d = 0; d < a.what.idx.size(); ++d) {
      if (mentions(a.what.idx[d], rows)) one = false;
      if (!mentions(a.what.idx[d], columns)) continue;
      if (moved || !equal(a.what.idx[d], read_var(columns, ScalarType::kIndex))) one = false;
      moved = d;
    }
    const bool known = std::any_of(out.begin(), out.end(),
                                   [&](const SharedRead& r) { return r.buffer == a.what.buffer; });
    if (one && moved && !known && !written(a.what.buffer) &&
        o.trips(a) >= least_reuse * elements(a.what.buffer))
      out.push_back({a.what.buffer, *moved, *moved + 1 == a.what.idx.size(),
                     elements(a.what.buffer) * bytes_of(a.scalar)});
  }
  return out;
}

// stage_view's arguments for strips of the dimension, in front of the nest at `top`.
ValueList strips_of(const Schedule& s, const Path& top, const SharedRead& read, int64_t width) {
  const std::vector<ScopeEntry> scope = scope_at(*s.proc, top);
  const std::optional<ScopeEntry> entry = lookup(*s.proc, top, read.buffer);
  EXO_CHECK(entry.has_value());
  const Type& type = entry->type;
  const ExprPtr &extent = type.shape[read.dimension], size = int_const(width);
  const std::string name = str(read_elem(read.buffer, {}, type.scalar), scope);
  const auto axis = [](const std::string& of, const std::string& to) {
    return Value(ValueList{Value(of), Value(to)});
  };
  ValueList axes = {axis(
      "s", str(normalize(bin_op(BinOpKind::kDiv, extent + int_const(width - 1), size)), scope))};
  std::string element = name + "[";
  const std::string along = std::to_string(width) + " * s + t";
  for (size_t d = 0; d < type.shape.size(); ++d) {
    const std::string other = "t" + std::to_string(d);
    element += (d ? ", " : "") + (d == read.dimension ? along : other);
    if (d != read.dimension) axes.push_back(axis(other, str(type.shape[d], scope)));
  }
  axes.push_back(axis("t", std::to_string(width)));
  ValueList out = {Value(Cursor::stmt(s.proc, top)), Value(name + "_s"), Value(axes),
                   Value(element + "]")};
  if (as_int(extent).value_or(1) % width != 0) out.push_back(along + " < " + str(extent, scope));
  return out;
}

// The loop in strips, from zero on, where it is a whole number of them; with `rest` also where it
// is none, what is left over as a nest of its own.
void divide_into_strips(Schedule& s, const Path& path, int64_t width, bool rest) {
  const For& f = loop(*s.proc, path);
  const std::string name = f.iter.name();
  const bool from_zero = as_int(f.lo) == 0;
  if (from_zero && as_int(f.hi) == width) return;
  Schedule divided = s;
  if (!from_zero &&
      apply(divided, "shift_loop", {Value(Cursor::stmt(divided.proc, path)), Value("0")}))
    return;
  for (const std::string tail : {"perfect", "cut"}) {
    Schedule out = divided;
    if (apply(out, "divide_loop",
              {Value(Cursor::stmt(out.proc, path)), Value(width),
               Value::strings({name + "o", name}), Value(tail)}))
      continue;
    if (tail == "cut" &&
        (!rest || apply(out, "fission", {Value(Cursor::stmt(out.proc, path)), Value(int64_t{1})})))
      return;
    s = std::move(out);
    return;
  }
}

// for i: for jo: for j in seq(0, width): s
//   ->  for jb: for i: for j in seq(0, count * width): s ; for i: for jo: for j in seq(0, width): s
// for every loop over strips, of that name, right below one of rows; false: there is none.
bool several_at_once(Schedule& s, const std::string& strips, int64_t count) {
  bool any = false;
  const Outline o = outline_of(*s.proc);
  // The last first: a cut moves what stands behind it.
  for (auto l = o.loops.rbegin(); l != o.loops.rend(); ++l) {
    if (l->iter.name() != strips || l->parent < 0) continue;
    const For* columns = only_loop_in(loop(*s.proc, l->path));
    const Path rows = o.loops[static_cast<size_t>(l->parent)].path;
    if (!columns || down(rows, 1) != l->path) continue;
    Schedule out = s;
    const auto at = [&](const Path& path) { return Value(Cursor::stmt(out.proc, path)); };
    const std::string name = columns->iter.name();
    if (apply(out, "divide_loop",
              {at(l->path), Value(count), Value::strings({name + "b", strips}), Value("cut")}) ||
        apply(out, "fission", {at(l->path), Value(int64_t{1})}) ||
        apply(out, "reorder_loops", {at(rows)}) ||
        apply(out, "mult_loops", {at(down(rows, 2)), Value(name)}) || apply(out, "simplify", {}))
      continue;
    s = std::move(out);
    any = true;
  }
  return any;
}

}  // namespace

std::optional<Schedule> triangle_of_strips(const Schedule& s, const Path& band,
                                           const std::map<std::string, int64_t>& sizes,
                                           const StripShape& strips, int64_t near_bytes,
                                           double least_reuse) {
  const std::optional<FollowingLoop> pair =
      following_loop(*s.proc, band, band_depth(*s.proc, band));
  if (!pair) return std::nullopt;
  const Path top = down(band, pair->outer);
  const Sym rows = loop(*s.proc, top).iter, columns = loop(*s.proc, down(band, pair->inner)).iter;
  const Outline written = outline_of(*s.proc, sizes);
  const int along = contiguous_loop(written, band);
  if (along < 0 || written.loops[static_cast<size_t>(along)].iter != columns) return std::nullopt;
  const std::vector<SharedRead> shared = shared_reads(written, rows, columns, least_reuse);
  if (shared.empty()) return std::nullopt;
  std::optional<Schedule> out =
      rectangle_and_corner(s, band, strips.block, Corners::kSquaresOfOneOperand);
  if (!out) return std::nullopt;
  const Outline o = outline_of(*out->proc);
  std::set<int, std::greater<>> of_sums;  // the last first: a cut moves what stands behind it
  for (const OutlineAccess& a : o.accesses)
    for (const int l : a.loops)
      if (o.loops[static_cast<size_t>(l)].iter.name() == columns.name() &&
          a.what.buffer == shared.front().buffer)
        of_sums.insert(l);
  // What is no whole number of strips, in the rows left over, stays as it is.
  for (const int l : of_sums)
    divide_into_strips(*out, o.loops[static_cast<size_t>(l)].path, strips.width,
                       strips.per_tile > 1);
  // (224 - 16 * ib) / 16 is 14 - ib: what is asked about it later costs no solver.
  if (apply(*out, "simplify", {})) return std::nullopt;
  double bytes = 0;
  for (const SharedRead& read : shared) bytes += read.bytes;
  const bool lies_well = std::all_of(shared.begin(), shared.end(),
                                     [](const SharedRead& read) { return read.contiguous; });
  // In front of all loops: what stands outside the rows reads the same strips again.
  Path place = band;
  for (const SharedRead& read : shared) {
    if (lies_well && bytes <= static_cast<double>(near_bytes)) break;
    if (apply(*out, "stage_view", strips_of(*out, place, read, strips.width))) return std::nullopt;
    place.back().index += 2;  // its allocation and its loops
  }
  if (strips.per_tile > 1 && !several_at_once(*out, columns.name() + "o", strips.per_tile))
    return std::nullopt;
  return out;
}

bool triangle_is_summed(const Proc& p, const Path& band) {
  const std::optional<FollowingLoop> pair = following_loop(p, band, band_depth(p, band));
  if (!pair) return false;
  const Sym follower = loop(p, down(band, pair->inner)).iter;
  const Outline o = outline_of(p);
  return std::none_of(o.accesses.begin(), o.accesses.end(), [&](const OutlineAccess& a) {
    return a.writes() && is_prefix(band, a.what.stmt) &&
           std::any_of(a.what.idx.begin(), a.what.idx.end(),
                       [&](const ExprPtr& index) { return mentions(index, follower); });
  });
}

std::optional<Schedule> rectangle_and_corner(const Schedule& s, const Path& band, int64_t block,
                                             Corners corners) {
  const int depth = band_depth(*s.proc, band);
  const std::optional<FollowingLoop> pair = following_loop(*s.proc, band, depth);
  if (!pair) return std::nullopt;
  Schedule out = s;
  const Path top = down(band, pair->outer);
  const For& blocked = loop(*s.proc, top);
  // Where the rows end with another loop, that one's greatest number of them counts.
  const auto lo = bounds_of(*s.proc, top, blocked.lo).lo,
             hi = bounds_of(*s.proc, top, blocked.hi).hi;
  if (lo && hi && *hi - *lo < 2 * block) return std::nullopt;  // all corner
  const std::string name = blocked.iter.name();
  if (apply(out, "divide_loop",
            {Value(Cursor::stmt(out.proc, top)), Value(block), Value::strings({name + "b", name}),
             Value("cut")}))
    return std::nullopt;
  // The band below the blocks: one level deeper than before.
  const Path rows = down(top, 1), cut = down(rows, pair->inner - pair->outer);
  const StmtPtr inner = stmt_at(*out.proc, cut);
  if (!inner || !inner->as<For>()) return std::nullopt;
  const Sym row = loop(*out.proc, rows).iter;
  const ExprPtr at = common_bound(*inner->as<For>(), row, pair->upper, block);
  const std::string point = str(normalize(at), scope_at(*out.proc, cut));
  if (apply(out, "cut_loop", {Value(Cursor::stmt(out.proc, cut)), Value(point)}))
    return std::nullopt;
  const std::string column = loop(*out.proc, cut).iter.name();
  const int lifts = pair->inner - pair->outer;
  if (apply(out, "fission", {Value(Cursor::stmt(out.proc, cut)), Value(lifts)}))
    return std::nullopt;
  if (corners == Corners::kTriangles) return out;
  ScheduleStep square{"square_corner", {Value(name), Value(column)}, {}};
  if (corners == Corners::kSquaresOfOneOperand) square.named = {{"apart", Value(false)}};
  if (apply(out, std::move(square))) return std::nullopt;
  return out;
}

std::optional<Schedule> triangle_with_sum_inside(const Schedule& s, const Path& band) {
  const For* n = stmt_at(*s.proc, band)->as<For>();
  const For* i = n ? only_loop_in(*n) : nullptr;
  const For* j = i ? only_loop_in(*i) : nullptr;
  if (!j || j->body.size() != 1) return std::nullopt;
  const Reduce* sum = j->body.front()->as<Reduce>();
  const bool follows = mentions(j->lo, i->iter) || mentions(j->hi, i->iter);
  const bool summed = sum && std::none_of(sum->idx.begin(), sum->idx.end(),
                                          [&](const ExprPtr& e) { return mentions(e, n->iter); });
  if (!follows || !summed) return std::nullopt;
  Schedule out = s;
  Path at = band;
  for (int d = 0; d < 2; ++d) {
    if (apply(out, "reorder_loops", {Value(Cursor::stmt(out.proc, at))})) return std::nullopt;
    at.push_back({Child::kBody, 0});
  }
  return out;
}

}  // namespace exotune
