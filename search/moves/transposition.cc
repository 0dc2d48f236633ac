#include "search/moves/transposition.h"

#include <algorithm>
#include <functional>
#include <set>

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "search/moves/touched_range.h"

namespace exotune {

namespace {

// The dimension of the access that runs along the loop with step one, and no other does; -1: none.
int dimension_along(const OutlineAccess& a, Sym iter) {
  int found = -1;
  for (size_t d = 0; d < a.what.idx.size(); ++d) {
    if (!mentions(a.what.idx[d], iter)) continue;
    const std::optional<Affine> form = affine(a.what.idx[d]);
    if (found >= 0 || !form || form->coeff_of(iter) != 1) return -1;
    found = static_cast<int>(d);
  }
  return found;
}

double elements_of(const Outline& o, Sym buffer) {
  for (const OutlineBuffer& b : o.buffers)
    if (b.name == buffer) return b.elements;
  return 0;
}

bool is_written(const Outline& o, Sym buffer, const Path& nest) {
  return std::any_of(o.accesses.begin(), o.accesses.end(), [&](const OutlineAccess& a) {
    return a.writes() && a.what.buffer == buffer && is_prefix(nest, a.what.stmt);
  });
}

// Does the range begin before the dimension, or end behind it, as far as both are literal?
bool goes_beyond(const TouchedRange& range, const ExprPtr& extent) {
  const std::optional<int64_t> over = as_int(normalize(range.hi - extent));
  return as_int(range.lo).value_or(0) < 0 || over.value_or(0) > 0;
}

// What the access touches of each dimension; the whole of those that cannot be told, and of those
// beyond which only a condition keeps it.
std::vector<TouchedRange> window_of(const Outline& o, const OutlineAccess& a, const Type& type) {
  std::vector<TouchedRange> out;
  for (size_t d = 0; d < a.what.idx.size(); ++d) {
    const std::optional<TouchedRange> range = range_of(o, a, a.what.idx[d]);
    const bool inside = range && !goes_beyond(*range, type.shape[d]);
    out.push_back(inside ? *range : TouchedRange{int_const(0), type.shape[d]});
  }
  return out;
}

// The range that holds both; nothing where it cannot be told which bound is the further one.
std::optional<TouchedRange> joined(const TouchedRange& a, const TouchedRange& b) {
  const std::optional<int64_t> below = as_int(normalize(b.lo - a.lo)),
                               above = as_int(normalize(b.hi - a.hi));
  if (!below || !above) return std::nullopt;
  return TouchedRange{*below < 0 ? b.lo : a.lo, *above > 0 ? b.hi : a.hi};
}

// Does some loop run along dimension d of it, and none along the last?
bool runs_across(const Outline& o, const OutlineAccess& a, int d) {
  const auto along = [&](int dimension) {
    return std::any_of(a.loops.begin(), a.loops.end(), [&](int l) {
      return dimension_along(a, o.loops[static_cast<size_t>(l)].iter) == dimension;
    });
  };
  return along(d) && !along(static_cast<int>(a.what.idx.size()) - 1);
}

// What all accesses to the buffer touch that run across it in dimension d, and this one: one copy
// serves them, whichever part of a record each reads.
std::vector<TouchedRange> window_of_all(const Outline& o, const Path& nest,
                                        const OutlineAccess& access, int d, const Type& type) {
  std::vector<TouchedRange> out = window_of(o, access, type);
  for (const OutlineAccess& a : o.accesses) {
    if (a.what.buffer != access.what.buffer || !is_prefix(nest, a.what.stmt) ||
        !runs_across(o, a, d))
      continue;
    const std::vector<TouchedRange> window = window_of(o, a, type);
    for (size_t k = 0; k < window.size(); ++k)
      out[k] = joined(out[k], window[k]).value_or(TouchedRange{int_const(0), type.shape[k]});
  }
  return out;
}

// How many elements the windows hold, at most those of the buffer.
double elements_of(const Outline& o, Sym buffer, const std::vector<TouchedRange>& window) {
  double elements = 1;
  for (const TouchedRange& r : window) {
    const std::optional<int64_t> extent = as_int(normalize(r.hi - r.lo));
    if (!extent) return elements_of(o, buffer);
    elements *= static_cast<double>(*extent);
  }
  return std::min(elements, elements_of(o, buffer));
}

// How often an element is read, by the loops of known length that it does not move along.
double rereads(const Outline& o, const OutlineAccess& a) {
  double times = 1;
  for (const int l : a.loops) {
    const OutlineLoop& loop = o.loops[static_cast<size_t>(l)];
    if (std::any_of(a.what.idx.begin(), a.what.idx.end(),
                    [&](const ExprPtr& index) { return mentions(index, loop.iter); }))
      continue;
    const std::optional<int64_t> extent = as_int(normalize(loop.hi - loop.lo));
    if (extent && *extent > 1) times *= static_cast<double>(*extent);
  }
  return times;
}

// stage_view's arguments: the dimension `last` behind the others.
ValueList view_of(const Schedule& s, const Cursor& nest, Sym buffer, int last,
                  const std::vector<TouchedRange>& window) {
  const Cursor here = forward(s.proc, nest);
  const std::vector<ScopeEntry> scope = scope_at(*s.proc, here.path());
  const std::optional<ScopeEntry> entry = lookup(*s.proc, here.path(), buffer);
  EXO_CHECK(entry.has_value());
  const int rank = entry->type.rank();
  const std::string name = str(read_elem(buffer, {}, entry->type.scalar), scope);
  std::vector<int> order;
  for (int d = 0; d < rank; ++d)
    if (d != last) order.push_back(d);
  order.push_back(last);
  ValueList axes;
  std::vector<std::string> index(static_cast<size_t>(rank));
  for (const int d : order) {
    const std::string axis = "t" + std::to_string(d);
    const TouchedRange& r = window[static_cast<size_t>(d)];
    const bool from_zero = as_int(r.lo) == 0;
    index[static_cast<size_t>(d)] = from_zero ? axis : axis + " + " + str(r.lo, scope);
    axes.push_back(ValueList{Value(axis), Value(str(normalize(r.hi - r.lo), scope))});
  }
  std::string element = name + "[";
  for (size_t d = 0; d < index.size(); ++d) element += (d ? ", " : "") + index[d];
  return {Value(here), Value(name + "_t"), Value(axes), Value(element + "]")};
}

}  // namespace

int contiguous_loop(const Outline& o, const Path& nest) {
  // What is allocated inside the nest lies as it likes: it counts where nothing else is written.
  for (const bool own : {false, true}) {
    int best = -1;
    double most = 0;
    for (const OutlineAccess& a : o.accesses) {
      if (!a.writes() || !is_prefix(nest, a.what.stmt)) continue;
      if (!own && !lookup(*o.proc, nest, a.what.buffer)) continue;
      for (const int l : a.loops)
        if (o.stride(a, l) == 1 && o.trips(a) > most) best = l, most = o.trips(a);
    }
    if (best >= 0) return best;
  }
  return -1;
}

namespace {

// Operands of the nest at `top` turned in front of it, of those that `takes` takes: the loop that
// each should run along is `along` of it, -1 where there is none.
std::optional<Schedule> turned_operands(const Schedule& s, const Cursor& nest, const Outline& o,
                                        double least_reuse,
                                        const std::function<int(const OutlineAccess&)>& along) {
  const Path top = forward(s.proc, nest).path();
  Schedule out = s;
  std::set<Sym> done;
  for (const OutlineAccess& a : o.accesses) {
    if (a.writes() || !is_prefix(top, a.what.stmt) || a.what.idx.size() < 2) continue;
    const int loop = along(a);
    if (loop < 0) continue;
    const int d = dimension_along(a, o.loops[static_cast<size_t>(loop)].iter);
    if (d < 0 || d + 1 == static_cast<int>(a.what.idx.size())) continue;
    if (done.count(a.what.buffer) || is_written(o, a.what.buffer, top)) continue;
    const std::optional<ScopeEntry> entry = lookup(*s.proc, top, a.what.buffer);
    if (!entry || entry->type.rank() != static_cast<int>(a.what.idx.size())) continue;
    const std::vector<TouchedRange> window = window_of_all(o, top, a, d, entry->type);
    if (rereads(o, a) < least_reuse &&
        o.trips(a) < least_reuse * elements_of(o, a.what.buffer, window))
      continue;
    done.insert(a.what.buffer);
    (void)!apply(out, "stage_view", view_of(out, nest, a.what.buffer, d, window));
  }
  if (out.steps.size() == s.steps.size()) return std::nullopt;
  return out;
}

}  // namespace

std::optional<Schedule> transpose_operands(const Schedule& s, const Cursor& nest,
                                           const std::map<std::string, int64_t>& sizes,
                                           double least_reuse) {
  const Outline o = outline_of(*s.proc, sizes);
  const int along = contiguous_loop(o, forward(s.proc, nest).path());
  return turned_operands(s, nest, o, least_reuse, [&](const OutlineAccess&) { return along; });
}

namespace {

// The longest loop of the nest that sums along what some operand has side by side; -1: none.
int sum_along_rows(const Outline& o, const Path& nest) {
  int best = -1;
  for (int l = 0; l < static_cast<int>(o.loops.size()); ++l) {
    bool sums = false, along = false;
    for (const OutlineAccess& a : o.accesses) {
      if (!is_prefix(nest, a.what.stmt) ||
          std::find(a.loops.begin(), a.loops.end(), l) == a.loops.end())
        continue;
      if (a.writes() && o.stride(a, l) != 0) {
        sums = false;
        break;
      }
      sums = sums || a.writes();
      along = along || (!a.writes() && o.stride(a, l) == 1);
    }
    const auto trips = [&](int loop) { return o.loops[static_cast<size_t>(loop)].trips; };
    if (sums && along && (best < 0 || trips(l) > trips(best))) best = l;
  }
  return best;
}

}  // namespace

std::optional<Schedule> transpose_for_sums(const Schedule& s, const Cursor& nest,
                                           const std::map<std::string, int64_t>& sizes,
                                           int64_t lanes, double least_reuse) {
  constexpr double kLeastVectors = 2;  // of a sum, beside the addition of its lanes
  const Outline o = outline_of(*s.proc, sizes);
  const Path top = forward(s.proc, nest).path();
  const int results = contiguous_loop(o, top), sum = sum_along_rows(o, top);
  const auto vectors = [&](int loop) {
    return o.loops[static_cast<size_t>(loop)].trips / static_cast<double>(lanes);
  };
  if (results < 0 || sum < 0 || 2 * vectors(results) > 1 || vectors(sum) < kLeastVectors)
    return std::nullopt;
  return turned_operands(s, nest, o, least_reuse, [&](const OutlineAccess&) { return sum; });
}

std::optional<Schedule> transpose_constants(const Schedule& s,
                                            const std::map<std::string, int64_t>& sizes,
                                            double least_reuse) {
  std::vector<Cursor> tops;
  for (int k = 0; k < static_cast<int>(s.proc->body.size()); ++k)
    if (s.proc->body[static_cast<size_t>(k)]->as<For>())
      tops.push_back(Cursor::stmt(s.proc, {{Child::kBody, k}}));
  Schedule out = s;
  for (const Cursor& top : tops) {
    const Outline o = outline_of(*out.proc, sizes);
    const int around = o.loop_at(forward(out.proc, top).path());
    if (around < 0) continue;
    const Sym iter = o.loops[static_cast<size_t>(around)].iter;
    const auto along = [&](const OutlineAccess& a) {
      const bool moves = std::any_of(a.what.idx.begin(), a.what.idx.end(),
                                     [&](const ExprPtr& index) { return mentions(index, iter); });
      return moves ? -1 : contiguous_loop(o, a.what.stmt);
    };
    if (std::optional<Schedule> turned = turned_operands(out, top, o, least_reuse, along))
      out = std::move(*turned);
  }
  if (out.steps.size() == s.steps.size()) return std::nullopt;
  return out;
}

namespace {

// Of the buffer's dimensions but the last the one along which the longest loop runs in every
// access; nothing where a long one runs along the last already, or none does.
struct RunsAlong {
  size_t dimension;
  double trips;
};
std::optional<RunsAlong> longest_run(const Outline& o, const Path& nest, const OutlineAccess& write,
                                     int64_t lanes) {
  std::optional<RunsAlong> best;
  for (const int l : write.loops) {
    const OutlineLoop& loop = o.loops[static_cast<size_t>(l)];
    if (!is_prefix(nest, loop.path) || loop.trips < static_cast<double>(lanes)) continue;
    if (o.stride(write, l) == 1) return std::nullopt;
    const int d = dimension_along(write, loop.iter);
    const bool everywhere =
        std::all_of(o.accesses.begin(), o.accesses.end(), [&](const OutlineAccess& a) {
          return a.what.buffer != write.what.buffer || !is_prefix(nest, a.what.stmt) ||
                 dimension_along(a, loop.iter) == d;
        });
    if (d < 0 || d + 1 == static_cast<int>(write.what.idx.size()) || !everywhere) continue;
    if (!best || loop.trips > best->trips) best = {static_cast<size_t>(d), loop.trips};
  }
  return best;
}

}  // namespace

std::optional<Schedule> transpose_results(const Schedule& s, const Cursor& nest,
                                          const std::map<std::string, int64_t>& sizes,
                                          int64_t lanes, double least_reuse) {
  const Outline o = outline_of(*s.proc, sizes);
  const Path top = forward(s.proc, nest).path();
  for (const OutlineAccess& a : o.accesses) {
    if (!a.writes() || !is_prefix(top, a.what.stmt) || a.what.buffer != a.what.through) continue;
    const std::optional<RunsAlong> along = longest_run(o, top, a, lanes);
    const std::optional<std::string> window = window_text(o, a, scope_at(*s.proc, top));
    if (!along || !window || o.trips(a) < least_reuse * elements_of(o, a.what.buffer)) continue;
    std::vector<int64_t> order;
    for (size_t d = 0; d < a.what.idx.size(); ++d)
      if (d != along->dimension) order.push_back(static_cast<int64_t>(d));
    order.push_back(static_cast<int64_t>(along->dimension));
    const std::string name = window->substr(0, window->find('[')) + "_t";
    Schedule out = s;
    if (apply(out, "stage_mem", {Value(nest), Value(*window), Value(name)})) continue;
    if (apply(out, "rearrange_dim", {Value(name + ": _"), Value::ints(order)})) continue;
    return out;
  }
  return std::nullopt;
}

}  // namespace exotune
