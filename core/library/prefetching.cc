#include "core/library/prefetching.h"

#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

namespace exotune {
// Hints to the caches: they change no value. What matters is that a hint costs as much as a load:
// one a line, none twice.

namespace {

// What the body of the loop uses of the buffer.
std::optional<Rectangle> used_in(const ProcPtr& p, const Cursor& loop, const ScopeEntry& buffer,
                                 Touch how) {
  Path first = loop.path();
  first.push_back({Child::kBody, 0});
  const int length = static_cast<int>(loop.as<For>().body.size());
  return touched(p, Cursor::block(p, first, length), buffer.name, how);
}

// That of `distance` iterations later, as a window; "" when that is no rectangle, the same one
// always, or a single element.
std::string later_window(const ProcPtr& p, const Cursor& loop, const ScopeEntry& buffer,
                         int64_t distance, Touch how = Touch::kAny) {
  const For& nest = loop.as<For>();
  Path first = loop.path();
  first.push_back({Child::kBody, 0});
  std::optional<Rectangle> window = used_in(p, loop, buffer, how);
  if (!window) return "";
  const ExprPtr later = read_var(nest.iter, ScalarType::kIndex) + int_const(distance);
  bool moves = false;
  for (std::vector<ExprPtr>* ends : {&window->lo, &window->hi})
    for (ExprPtr& e : *ends) {
      moves = moves || mentions(e, nest.iter);
      e = normalize(substitute(e, nest.iter, later));
    }
  const std::string text = window->text(buffer.name.name(), scope_at(*p, first));
  return moves && text.find(':') != std::string::npos ? text : "";
}

}  // namespace

// A whole rectangle `distance` iterations ahead, at the beginning of each iteration.
ProcPtr prefetch_ahead(ProcPtr p, const std::string& loop, const std::string& buffer,
                       int64_t distance) {
  if (distance < 1) throw SchedulingError("the distance is at least 1 iteration");
  const std::vector<std::string> names = buffers_asked(p, buffer);
  bool found = false;
  std::vector<Cursor> loops = require_loops(p, loop);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    const Path path = c->path();
    Path first = path;
    first.push_back({Child::kBody, 0});
    std::vector<std::string> windows;
    for (const std::string& name : names)
      if (const auto entry = visible(p, path, name))
        if (std::string w = later_window(p, Cursor::stmt(p, path), *entry, distance); !w.empty())
          windows.push_back(std::move(w));
    for (const std::string& w : windows) p = add_prefetch(p, Cursor::stmt(p, first).before(), w);
    found = found || !windows.empty();
  }
  if (!found)
    throw SchedulingError("no loop over `" + loop + "` goes through rectangles of " +
                          (buffer.empty() ? "any argument" : "`" + buffer + "`"));
  return p;
}

// The same rows, further on, at the beginning of each iteration.
ProcPtr prefetch_beside(ProcPtr p, const std::string& loop, const std::string& buffer,
                        int64_t distance) {
  if (distance < 1) throw SchedulingError("prefetch_beside: the distance is at least 1 element");
  bool found = false;
  std::vector<Cursor> loops = require_loops(p, loop);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    const Path path = c->path();
    const auto entry = visible(p, path, buffer);
    if (!entry || entry->type.rank() < 2) continue;
    std::optional<Rectangle> window = used_in(p, Cursor::stmt(p, path), *entry, Touch::kReads);
    if (!window) continue;
    for (std::vector<ExprPtr>* ends : {&window->lo, &window->hi})
      ends->back() = normalize(ends->back() + int_const(distance));
    Path first = path;
    first.push_back({Child::kBody, 0});
    p = add_prefetch(p, Cursor::stmt(p, first).before(),
                     window->text(entry->name.name(), scope_at(*p, first), true));
    found = true;
  }
  if (!found)
    throw SchedulingError("prefetch_beside: no loop over `" + loop + "` reads rows of `" + buffer +
                          "`");
  return p;
}

namespace {

// Has it, of a literal number, two rows or more?
bool has_rows(const Rectangle& r) {
  for (size_t d = 0; d + 1 < r.lo.size(); ++d)
    if (const auto rows = as_int(normalize(r.hi[d] - r.lo[d])); rows && *rows > 1) return true;
  return false;
}

}  // namespace

ProcPtr prefetch_results(ProcPtr p, int64_t distance) {
  if (distance < 1) throw SchedulingError("prefetch_results: the distance is at least 1 iteration");
  bool found = false;
  const std::vector<Path> paths = all_stmt_paths(*p);
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    const For* f = stmt_at(*p, *path)->as<For>();
    if (!f || has_loops(*f)) continue;
    const Cursor loop = Cursor::stmt(p, *path);
    std::vector<std::string> windows;
    for (const std::string& name : buffers_asked(p, "", /*dimensions=*/2)) {
      const auto entry = visible(p, *path, name);
      if (!entry) continue;
      if (const auto now = used_in(p, loop, *entry, Touch::kWrites); !now || !has_rows(*now))
        continue;
      if (std::string w = later_window(p, loop, *entry, distance, Touch::kWrites); !w.empty())
        windows.push_back(std::move(w));
    }
    Path first = *path;
    first.push_back({Child::kBody, 0});
    for (const std::string& w : windows) p = add_prefetch(p, Cursor::stmt(p, first).before(), w);
    found = found || !windows.empty();
  }
  if (!found)
    throw SchedulingError("prefetch_results: no innermost loop writes several rows of an argument");
  return p;
}

namespace {

// The loop over `loop` around `inner`, and the product of the trips of the loops in between, with
// the number of the present iteration among them.
struct Between {
  Cursor outer;
  int64_t trips = 1;
  ExprPtr now = int_const(0);
};

std::optional<Between> between(const Cursor& inner, const std::string& loop) {
  Between b;
  std::vector<Cursor> around = enclosing_loops(inner);
  for (auto c = around.rbegin(); c != around.rend(); ++c) {
    const For& f = c->as<For>();
    if (f.iter.name() == loop) {
      b.outer = *c;
      return b;
    }
    const auto extent = literal_extent(f);
    if (!extent || as_int(f.lo) != 0) return std::nullopt;
    b.now = int_const(b.trips) * read_var(f.iter, ScalarType::kIndex) + b.now;
    b.trips *= *extent;
  }
  return std::nullopt;
}

// The lines of a rectangle that has an extent in its last two dimensions alone.
struct Lines {
  std::vector<ExprPtr> lo;
  int64_t rows = 0, per_row = 0, step = 0;  // step: elements of a line

  int64_t count() const { return rows * per_row; }
  /// The one of number `now`, along the rows.
  Rectangle line(const ExprPtr& now) const {
    const bool one = rows == 1;  // then none of its lines is in another one
    Rectangle out{lo, lo};
    ExprPtr& row = out.lo[lo.size() - 2];
    row = one ? row : row + bin_op(BinOpKind::kDiv, now, int_const(per_row));
    const ExprPtr in_row = one ? now : bin_op(BinOpKind::kMod, now, int_const(per_row));
    out.lo.back() = out.lo.back() + int_const(step) * in_row;
    for (size_t d = 0; d < lo.size(); ++d) out.hi[d] = out.lo[d] + int_const(1);
    return out;
  }
};

std::optional<Lines> lines_of(const std::optional<Rectangle>& window, ScalarType type) {
  constexpr int64_t kLineBytes = 64;
  if (!window || window->lo.size() < 2) return std::nullopt;
  const auto extent = [&](size_t d) { return as_int(normalize(window->hi[d] - window->lo[d])); };
  const size_t rank = window->lo.size();
  for (size_t d = 0; d + 2 < rank; ++d)
    if (extent(d) != 1) return std::nullopt;
  const auto rows = extent(rank - 2), columns = extent(rank - 1);
  if (!rows || !columns || *rows < 1 || *columns < 1) return std::nullopt;
  Lines out{window->lo};
  out.step = std::max<int64_t>(1, kLineBytes / bytes_of(type));
  out.rows = *rows;
  out.per_row = (*columns + out.step - 1) / out.step;
  return out;
}

// The rectangle of the next iteration of `outer`, in the scope of its body.
std::optional<Lines> lines_of_next(const ProcPtr& p, const Cursor& outer,
                                   const ScopeEntry& buffer) {
  const For& f = outer.as<For>();
  Path first = outer.path();
  first.push_back({Child::kBody, 0});
  auto lines =
      lines_of(touched(p, Cursor::block(p, first, static_cast<int>(f.body.size())), buffer.name),
               buffer.type.scalar);
  if (!lines) return std::nullopt;
  const ExprPtr next = read_var(f.iter, ScalarType::kIndex) + int_const(1);
  bool moves = false;
  for (ExprPtr& e : lines->lo) {
    moves = moves || mentions(e, f.iter);
    e = normalize(substitute(e, f.iter, next));
  }
  return moves ? lines : std::nullopt;
}

// Asks in each of `trips` rounds, this one being `round`, for as many lines as are its share, in
// front of the statement at `first`.
// Spread evenly over the rounds of an inner loop: the memory is asked at the rate at which it
// delivers, instead of in one burst that fills its queue.
ProcPtr ask_evenly(ProcPtr p, const Path& first, const std::string& buffer, const Lines& lines,
                   const ExprPtr& round, int64_t trips, int locality) {
  const int64_t per = (lines.count() - 1) / trips + 1,
                repeats = per > 1 ? 1 : trips / lines.count();
  for (int64_t q = per; q-- > 0;) {
    const ExprPtr now =
        bin_op(BinOpKind::kDiv, int_const(per) * round + int_const(q), int_const(repeats));
    p = add_prefetch(p, Cursor::stmt(p, first).before(),
                     lines.line(now).text(buffer, scope_at(*p, first), true), locality);
  }
  return p;
}

Path body_of(Path loop) {
  loop.push_back({Child::kBody, 0});
  return loop;
}

// What the outer loop of a loop k in rounds is called.
std::string rounds_name(const std::string& k) { return k + "l"; }

// At one loop; whether there was something to ask for, and time for it.
// Not more than two lines in one round: beyond that the loop is too short for the data, and the
// hints would delay what they serve.
bool meanwhile_one(ProcPtr& p, Cursor inner, const std::string& loop, const std::string& buffer,
                   int locality) {
  constexpr int64_t kMostInOneRound = 2;
  const std::string within = inner.as<For>().iter.name();
  // Rounds that another request made serve this one too.
  bool rounds = false;
  if (const auto around = enclosing_loops(inner);
      !around.empty() && around.back().as<For>().iter.name() == rounds_name(within)) {
    inner = around.back();
    rounds = true;
  }
  const Path path = inner.path();
  const auto extent = literal_extent(inner.as<For>());
  const auto around = between(inner, loop);
  const auto entry = visible(p, path, buffer);
  if (!extent || !around || !entry) return false;
  const auto lines = lines_of_next(p, around->outer, *entry);
  if (!lines) return false;
  if (!rounds && lines->count() <= around->trips) {  // not even one in each run of the loop
    p = ask_evenly(p, path, buffer, *lines, around->now, around->trips, locality);
    return true;
  }
  const int64_t each = rounds ? 1 : std::max<int64_t>(1, *extent * around->trips / lines->count());
  const int64_t trips = *extent / each;
  if (lines->count() > kMostInOneRound * trips * around->trips) return false;
  if (each > 1) p = divide_loop(p, inner, each, {rounds_name(within), within}, Tail::kCut);
  const ExprPtr round = int_const(trips) * around->now +
                        read_var(Cursor::stmt(p, path).as<For>().iter, ScalarType::kIndex);
  p = ask_evenly(p, body_of(path), buffer, *lines, round, trips * around->trips, locality);
  return true;
}

}  // namespace

ProcPtr prefetch_meanwhile(ProcPtr p, const std::string& loop, const std::string& within,
                           const std::string& buffer, int locality) {
  std::vector<std::string> names = buffers_asked(p, buffer);
  if (buffer.empty())
    std::erase_if(names, [&](const std::string& name) { return !writes_of(p, name).empty(); });
  bool found = false;
  std::vector<Cursor> loops = require_loops(p, within);
  for (const std::string& name : names)
    for (auto c = loops.rbegin(); c != loops.rend(); ++c)
      if (const Cursor inner = forward(p, *c); inner.valid())
        found = meanwhile_one(p, inner, loop, name, locality) || found;
  if (!found)
    throw SchedulingError("no loop over `" + within + "` under one over `" + loop +
                          "` has time to ask for what the next iteration uses of " +
                          (buffer.empty() ? "any argument" : "`" + buffer + "`"));
  return p;
}

namespace {

// How many iterations make a round, each of which asks for one line: few, as rounds of many are
// unrolled by C compilers, and where possible a divisor.
int64_t iterations_of_a_round(int64_t extent, int64_t lines) {
  constexpr int64_t kMost = 4;
  const int64_t most = std::min(kMost, extent / lines);
  int64_t best = most;
  for (int64_t each = most; each > most / 2; --each)
    if (extent % each < extent % best) best = each;
  return best;
}

}  // namespace

ProcPtr prefetch_during(ProcPtr p, const Cursor& loop, const Cursor& use, Sym buffer) {
  const Path path = loop.path();
  const auto entry = visible(p, path, buffer.name());
  const auto window = touched(p, use, buffer);
  if (!entry || !window) return p;
  const auto lines = lines_of(window, entry->type.scalar);
  const auto extent = literal_extent(loop.as<For>());
  if (!lines || !extent || *extent < lines->count())
    return add_prefetch(p, loop.before(),
                        window->text(buffer.name(), scope_at(*p, use.path()), true));
  const std::string name = loop.as<For>().iter.name();
  const int64_t each = iterations_of_a_round(*extent, lines->count());
  p = divide_loop(p, loop, each, {rounds_name(name), name}, Tail::kCut);
  const ExprPtr round = read_var(Cursor::stmt(p, path).as<For>().iter, ScalarType::kIndex);
  return ask_evenly(p, body_of(path), buffer.name(), *lines, round, *extent / each, 3);
}

namespace {

// In front of the loop: the last element of each row of what `use` touches.
ProcPtr ask_for_ends(ProcPtr p, const Cursor& loop, const Cursor& use, Sym buffer) {
  std::optional<Rectangle> ends = touched(p, use, buffer);
  if (!ends) return p;
  ends->lo.back() = normalize(ends->hi.back() - int_const(1));
  return add_prefetch(p, loop.before(), ends->text(buffer.name(), scope_at(*p, use.path()), true));
}

}  // namespace

ProcPtr prefetch_behind(ProcPtr p, const std::string& loop, const std::string& buffer, bool ends) {
  bool found = false;
  std::vector<Cursor> loops = require_loops(p, loop);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    Path path = c->path();
    const auto entry = visible(p, path, buffer);
    const int own = path.back().index;
    const int statements = static_cast<int>(block_at(*p, path).size());
    for (int k = own + 1; entry && k < statements; ++k) {
      path.back().index = k;
      const Cursor use = Cursor::stmt(p, path);
      if (!use.is<For>() || !touched(p, use, entry->name)) continue;
      path.back().index = own;
      const Cursor sums = Cursor::stmt(p, path);
      if (ends) p = ask_for_ends(p, sums, use, entry->name);
      p = prefetch_during(p, forward(p, sums), forward(p, use), entry->name);
      found = true;
      break;
    }
  }
  if (!found)
    throw SchedulingError("no loop over `" + loop + "` has one behind it that touches `" + buffer +
                          "`");
  return p;
}

namespace {

// The passes of one loop behind its first one over the buffer: loops of literal extents in its own
// body that touch it.
std::vector<Cursor> later_passes(const ProcPtr& p, const Cursor& loop, Sym buffer) {
  std::vector<Cursor> out;
  const int n = static_cast<int>(loop.as<For>().body.size());
  for (int k = 0; k < n; ++k) {
    const Cursor pass = at(p, child(loop.path(), k));
    if (pass.is<For>() && as_int(pass.as<For>().lo) == 0 && literal_extent(pass.as<For>()) &&
        touched(p, pass, buffer))
      out.push_back(pass);
  }
  if (!out.empty()) out.erase(out.begin());
  return out;
}

// The lines that the next iteration reads, shared among the passes by their lengths.
bool next_rows_of(ProcPtr& p, const Cursor& loop, const std::string& buffer) {
  constexpr int64_t kMostInOneRound =
      4;  // a vector loop of four loads: beyond, hints outnumber them
  const auto entry = visible(p, loop.path(), buffer);
  const auto lines = entry ? lines_of_next(p, loop, *entry) : std::nullopt;
  if (!lines) return false;
  const std::vector<Cursor> passes = later_passes(p, loop, entry->name);
  int64_t trips = 0, before = 0;
  for (const Cursor& pass : passes) trips += *literal_extent(pass.as<For>());
  if (trips == 0 || lines->count() > kMostInOneRound * trips) return false;
  for (const Cursor& pass : passes) {
    const int64_t own = *literal_extent(pass.as<For>());
    const int64_t first = lines->count() * before / trips;
    before += own;
    const int64_t share = lines->count() * before / trips - first;
    if (share == 0) continue;
    const int64_t per = (share - 1) / own + 1, repeats = per > 1 ? 1 : own / share;
    const Path body = child(forward(p, pass).path());
    const ExprPtr round = read_var(pass.as<For>().iter, ScalarType::kIndex);
    for (int64_t q = per; q-- > 0;) {
      const ExprPtr now =
          int_const(first) +
          bin_op(BinOpKind::kDiv, int_const(per) * round + int_const(q), int_const(repeats));
      p = add_prefetch(p, Cursor::stmt(p, body).before(),
                       lines->line(now).text(buffer, scope_at(*p, body), true));
    }
  }
  return true;
}

}  // namespace

ProcPtr prefetch_next_rows(ProcPtr p, const std::string& buffer) {
  const std::vector<std::string> names = buffers_asked(p, buffer, /*dimensions=*/2);
  bool found = false;
  for (const std::string& name : names) {
    std::vector<Path> paths = all_stmt_paths(*p);
    // The last first: places in front of it stay. What is asked for in a loop is not asked for
    // again in one around it, whose passes are that loop itself.
    for (auto path = paths.rbegin(); path != paths.rend(); ++path)
      if (stmt_at(*p, *path)->as<For>())
        found = next_rows_of(p, Cursor::stmt(p, *path), name) || found;
  }
  const std::vector<Path> places = all_stmt_paths(*p);
  const auto is_there = [&](const Path& path) { return visible(p, path, buffer).has_value(); };
  if (!buffer.empty() && std::none_of(places.begin(), places.end(), is_there))
    throw SchedulingError("prefetch_next_rows: there is no buffer `" + buffer + "`");
  if (!found)
    throw SchedulingError("prefetch_next_rows: no loop has a second pass over rows of " +
                          (buffer.empty() ? "any argument" : "`" + buffer + "`"));
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> prefetching_operators() {
  using namespace params;
  return {
      {"prefetch_ahead",
       {proc(), string("loop"), string("buffer", ""), integer("distance", 1)},
       "for r: s(x[r])  ->  for r: prefetch(x[r + distance]); s(x[r])",
       [](const OperatorArgs& a) -> Value {
         return prefetch_ahead(a.proc(), a.string(1), a.string(2), a.integer(3));
       }},
      {"prefetch_beside",
       {proc(), string("loop"), string("buffer"), integer("distance")},
       "for k: s(x[k, a:b])  ->  for k: prefetch(x[k, a + distance:b + distance]); s(x[k, a:b])",
       [](const OperatorArgs& a) -> Value {
         return prefetch_beside(a.proc(), a.string(1), a.string(2), a.integer(3));
       }},
      {"prefetch_results",
       {proc(), integer("distance", 1)},
       "for r: f(y[a:b, r])  ->  for r: prefetch(y[a:b, r + distance]); f(y[a:b, r])",
       [](const OperatorArgs& a) -> Value { return prefetch_results(a.proc(), a.integer(1)); }},
      {"prefetch_meanwhile",
       {proc(), string("loop"), string("within"), string("buffer", ""), integer("locality", 3)},
       "for r: for ..: for k: s(x[r])  ->  for r: for ..: for kl: prefetch(a line of x[r + 1]); "
       "for k: s(x[r])",
       [](const OperatorArgs& a) -> Value {
         return prefetch_meanwhile(a.proc(), a.string(1), a.string(2), a.string(3),
                                   static_cast<int>(a.integer(4)));
       }},
      {"prefetch_next_rows",
       {proc(), string("buffer", "")},
       "for r: { for k: s(x[r, k]) ; for k: t(x[r, k]) }  ->  for r: { for k: s ; for k: { "
       "prefetch(a line of x[r + 1]) ; t } }",
       [](const OperatorArgs& a) -> Value { return prefetch_next_rows(a.proc(), a.string(1)); }},
      {"prefetch_behind",
       {proc(), string("loop"), string("buffer"), boolean("ends", Value(false))},
       "for k: s; for j: t(x)  ->  prefetch(x); for k: s; for j: t(x)",
       [](const OperatorArgs& a) -> Value {
         return prefetch_behind(a.proc(), a.string(1), a.string(2), a.boolean(3));
       }},
  };
}

}  // namespace exotune
