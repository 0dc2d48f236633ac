#include "search/moves/row_fusion.h"

#include <algorithm>

#include "core/analysis/queries.h"
#include "core/library/inspection.h"

namespace exotune {

namespace {

// Rows that a later sweep lags behind: stencils of radius 1 to 3, there and back.
constexpr int64_t kMostRowsBehind = 6;
constexpr int64_t kLeastRows = 8;  // that two sweeps have in common

struct Range {
  int64_t lo = 0, hi = 0;
};

// The rows of a sweep: a loop with literal bounds that holds loops.
std::optional<Range> rows_of(const StmtPtr& s) {
  const For* f = s->as<For>();
  if (!f || std::none_of(f->body.begin(), f->body.end(),
                         [](const StmtPtr& b) { return b->as<For>() != nullptr; }))
    return std::nullopt;
  const auto lo = as_int(f->lo), hi = as_int(f->hi);
  if (!lo || !hi || *hi - *lo < kLeastRows) return std::nullopt;
  return Range{*lo, *hi};
}

// One block of a procedure, whose statements are sweeps among others.
class Sweeps {
 public:
  Sweeps(const Schedule& s, Path block) : s_(s), block_(std::move(block)) {}

  Schedule run() {
    for (int first = 0; first < size(); ++first) {
      if (!rows_of(at(first))) continue;
      while (fuse_next(first)) {
      }
    }
    return std::move(s_);
  }

 private:
  const Block& body() const {
    return block_.empty() ? s_.proc->body : body_of(*stmt_at(*s_.proc, block_));
  }
  int size() const { return static_cast<int>(body().size()); }
  StmtPtr at(int k) const { return body()[static_cast<size_t>(k)]; }
  static Cursor cursor(const Schedule& s, const Path& block, int k) {
    return Cursor::stmt(s.proc, child(block, k));
  }

  // The next sweep behind `first` becomes part of it. `first` follows what is kept of it.
  bool fuse_next(int& first) {
    int second = first + 1;
    while (second < size() && !rows_of(at(second))) ++second;
    if (second == size()) return false;
    for (int64_t behind = 0; behind <= kMostRowsBehind; ++behind) {
      Schedule tried = s_;
      int fused = first;
      if (!fuse_behind(tried, fused, second, behind)) continue;
      s_ = std::move(tried);
      first = fused;
      return true;
    }
    return false;
  }

  bool fuse_behind(Schedule& s, int& first, int second, int64_t behind) const {
    const Range a = *rows_of(at(first));
    Range b = *rows_of(at(second));
    if (behind > 0) {
      if (apply(s, "shift_loop",
                {Value(cursor(s, block_, second)), Value(std::to_string(b.lo + behind))}))
        return false;
      b = {b.lo + behind, b.hi + behind};
    }
    const Range both{std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
    if (both.hi - both.lo < kLeastRows || 2 * (both.hi - both.lo) < a.hi - a.lo) return false;
    // The second first: places in front of it stay.
    if (both.hi < b.hi && !cut(s, second, both.hi)) return false;
    if (both.lo > b.lo) {
      if (!cut(s, second, both.lo)) return false;
      if (!move_up(s, second, first)) return false;  // its first rows come before all of the others
      ++first, ++second;
    }
    if (both.hi < a.hi) {
      if (!cut(s, first, both.hi)) return false;
      ++second;
    }
    if (both.lo > a.lo) {
      if (!cut(s, first, both.lo)) return false;
      ++first, ++second;
    }
    if (!move_up(s, second, first + 1)) return false;
    return !apply(s, "fuse",
                  {Value(cursor(s, block_, first)), Value(cursor(s, block_, first + 1))});
  }

  bool cut(Schedule& s, int k, int64_t row) const {
    return !apply(s, "cut_loop", {Value(cursor(s, block_, k)), Value(std::to_string(row))});
  }

  // Statement `from` to place `to`, past those between.
  bool move_up(Schedule& s, int from, int to) const {
    for (int k = from; k > to; --k)
      if (apply(s, "reorder_stmts", {Value(Cursor::block(s.proc, child(block_, k - 1), 2))}))
        return false;
    return true;
  }

  Schedule s_;
  const Path block_;
};

int sweeps_in(const Block& b) {
  return static_cast<int>(
      std::count_if(b.begin(), b.end(), [](const StmtPtr& s) { return rows_of(s).has_value(); }));
}

// The first loop, from the outside in, that repeats sweeps: it holds several, or its iterations
// may not change places.
std::optional<Path> loop_around_sweeps(const Proc& p) {
  for (int k = 0; k < static_cast<int>(p.body.size()); ++k) {
    Path path = {{Child::kBody, k}};
    for (StmtPtr s = stmt_at(p, path); s && s->as<For>(); s = stmt_at(p, path)) {
      const Block& body = body_of(*s);
      const int sweeps = sweeps_in(body);
      const bool literal = as_int(s->as<For>()->lo) && as_int(s->as<For>()->hi);
      if (literal && (sweeps > 1 || (sweeps == 1 && !iterations_commute(p, path)))) return path;
      if (body.size() != 1 || !body.front()->as<For>()) break;
      path = child(path, 0);
    }
  }
  return std::nullopt;
}

}  // namespace

bool has_repeated_sweeps(const Proc& p) { return loop_around_sweeps(p).has_value(); }

Schedule fuse_rows(const Schedule& s, int steps) {
  Schedule out = s;
  const std::optional<Path> around = loop_around_sweeps(*s.proc);
  if (steps > 1) {
    if (!around) return s;
    const For& f = *stmt_at(*s.proc, *around)->as<For>();
    const std::string name = f.iter.name();
    if (*as_int(f.hi) - *as_int(f.lo) < 2 * steps ||
        apply(out, "divide_loop",
              {Value(Cursor::stmt(out.proc, *around)), Value(steps),
               Value::strings({name + "o", name}), Value("cut")}) ||
        apply(out, "unroll_loop", {Value(Cursor::stmt(out.proc, child(*around, 0)))}))
      return s;
  }
  const size_t before = out.steps.size();
  if (around) out = Sweeps(out, *around).run();
  if (steps == 1) out = Sweeps(out, {}).run();
  return out.steps.size() > before ? out : s;
}

}  // namespace exotune
