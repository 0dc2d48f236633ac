#include "core/library/prefetching.h"

#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"

namespace exotune {

namespace {

// What the body of the loop uses of the buffer `distance` iterations later, as a window; "" when
// that is no rectangle, the same one always, or a single element.
std::string later_window(const ProcPtr& p, const Cursor& loop, const ScopeEntry& buffer,
                         int64_t distance) {
  const For& nest = loop.as<For>();
  Path first = loop.path();
  first.push_back({Child::kBody, 0});
  const Cursor body = Cursor::block(p, first, static_cast<int>(nest.body.size()));
  std::optional<Rectangle> window = touched(p, body, buffer.name);
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

ProcPtr prefetch_ahead(ProcPtr p, const std::string& loop, const std::string& buffer,
                       int64_t distance) {
  if (distance < 1) throw SchedulingError("the distance is at least 1 iteration");
  std::vector<std::string> names{buffer};
  if (buffer.empty()) {
    names.clear();
    for (const Arg& a : p->args)
      if (is_data(a.type.scalar) && !a.type.shape.empty()) names.push_back(a.name.name());
  }
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

// The rectangle of the next iteration of `outer`, in the scope of its body.
struct Lines {
  std::vector<ExprPtr> lo;
  int64_t rows = 0, per_row = 0, step = 0;  // step: elements of a line
};

std::optional<Lines> lines_of_next(const ProcPtr& p, const Cursor& outer,
                                   const ScopeEntry& buffer) {
  constexpr int64_t kLineBytes = 64;
  const For& f = outer.as<For>();
  Path first = outer.path();
  first.push_back({Child::kBody, 0});
  auto window = touched(p, Cursor::block(p, first, static_cast<int>(f.body.size())), buffer.name);
  if (!window || window->lo.size() != 2) return std::nullopt;
  Lines out;
  const ExprPtr next = read_var(f.iter, ScalarType::kIndex) + int_const(1);
  int64_t extents[2];
  bool moves = false;
  for (size_t d = 0; d < 2; ++d) {
    const auto n = as_int(normalize(window->hi[d] - window->lo[d]));
    if (!n || *n < 1) return std::nullopt;
    extents[d] = *n;
    moves = moves || mentions(window->lo[d], f.iter);
    out.lo.push_back(normalize(substitute(window->lo[d], f.iter, next)));
  }
  if (!moves) return std::nullopt;
  out.step = std::max<int64_t>(1, kLineBytes / bytes_of(buffer.type.scalar));
  out.rows = extents[0];
  out.per_row = (extents[1] + out.step - 1) / out.step;
  return out;
}

// At one loop; whether there was something to ask for.
bool meanwhile_one(ProcPtr& p, const Cursor& inner, const std::string& loop,
                   const std::string& buffer) {
  const Path path = inner.path();
  const For& sum = inner.as<For>();
  const auto extent = literal_extent(sum);
  const auto around = between(inner, loop);
  const auto entry = visible(p, path, buffer);
  if (!extent || !around || !entry) return false;
  const auto lines = lines_of_next(p, around->outer, *entry);
  if (!lines) return false;
  const int64_t each = std::min(*extent, *extent * around->trips / (lines->rows * lines->per_row));
  if (each < 1) return false;
  const std::string within = sum.iter.name();
  p = divide_loop(p, inner, each, {within + "p", within}, Tail::kCut);
  const ExprPtr now = int_const(*extent / each) * around->now +
                      read_var(Cursor::stmt(p, path).as<For>().iter, ScalarType::kIndex);
  const ExprPtr row = lines->lo[0] + bin_op(BinOpKind::kMod, now, int_const(lines->rows));
  const ExprPtr column =
      lines->lo[1] + int_const(lines->step) * bin_op(BinOpKind::kDiv, now, int_const(lines->rows));
  Path first = path;
  first.push_back({Child::kBody, 0});
  const Rectangle line{{row, column}, {row + int_const(1), column + int_const(1)}};
  p = add_prefetch(p, Cursor::stmt(p, first).before(),
                   line.text(buffer, scope_at(*p, first), true));
  return true;
}

}  // namespace

ProcPtr prefetch_meanwhile(ProcPtr p, const std::string& loop, const std::string& within,
                           const std::string& buffer) {
  std::vector<std::string> names{buffer};
  if (buffer.empty()) {
    names.clear();
    for (const Arg& a : p->args)
      if (is_data(a.type.scalar) && !a.type.shape.empty() && writes_of(p, a.name.name()).empty())
        names.push_back(a.name.name());
  }
  bool found = false;
  std::vector<Cursor> loops = require_loops(p, within);
  for (const std::string& name : names)
    for (auto c = loops.rbegin(); c != loops.rend(); ++c)
      if (const Cursor inner = forward(p, *c); inner.valid())
        found = meanwhile_one(p, inner, loop, name) || found;
  if (!found)
    throw SchedulingError("no loop over `" + within + "` under one over `" + loop +
                          "` has time to ask for what the next iteration uses of " +
                          (buffer.empty() ? "any argument" : "`" + buffer + "`"));
  return p;
}

}  // namespace exotune
