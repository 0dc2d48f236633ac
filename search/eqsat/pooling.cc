#include "search/eqsat/pooling.h"

#include <algorithm>
#include <set>

#include "core/base/diagnostic.h"
#include "core/cursor/cursor.h"
#include "core/primitives/primitives.h"
#include "core/primitives/reduce_ahead.h"

namespace exotune::eqsat {
namespace {

using KnownSizes = std::map<std::string, int64_t>;

std::optional<double> value_at(const ExprPtr& e, const KnownSizes& sizes) {
  if (const auto number = as_int(e)) return static_cast<double>(*number);
  if (const Read* r = e->as<Read>()) {
    const auto it = sizes.find(r->name.name());
    return it == sizes.end() ? std::nullopt : std::optional<double>(it->second);
  }
  const BinOp* b = e->as<BinOp>();
  if (!b) return std::nullopt;
  const auto left = value_at(b->lhs, sizes), right = value_at(b->rhs, sizes);
  if (!left || !right) return std::nullopt;
  switch (b->op) {
    case BinOpKind::kAdd:
      return *left + *right;
    case BinOpKind::kSub:
      return *left - *right;
    case BinOpKind::kMul:
      return *left * *right;
    default:
      return std::nullopt;
  }
}

Path prefix(const Path& path, size_t n) {
  return Path(path.begin(), path.begin() + static_cast<long>(n));
}

std::vector<Path> loops_above(const Proc& p, const Path& path) {
  std::vector<Path> loops;
  for (size_t n = 1; n < path.size(); ++n)
    if (stmt_at(p, prefix(path, n))->as<For>()) loops.push_back(prefix(path, n));
  return loops;
}

const For& for_at(const Proc& p, const Path& path) { return *stmt_at(p, path)->as<For>(); }

void factors_in(const ExprPtr& e, bool of_a_sum, std::vector<ExprPtr>& factors) {
  const BinOp* b = e->as<BinOp>();
  if (!of_a_sum || !b || b->op != BinOpKind::kMul) return factors.push_back(e);
  factors_in(b->lhs, true, factors);
  factors_in(b->rhs, true, factors);
}

// The one factor that mentions the iterator, and of its subscripts the one; nothing for more.
const ExprPtr* only_subscript(const std::vector<ExprPtr>& factors, Sym iter, const Read*& of) {
  const ExprPtr* found = nullptr;
  for (const ExprPtr& e : factors) {
    if (!mentions(e, iter)) continue;
    const Read* r = e->as<Read>();
    if (!r || found) return nullptr;
    for (const ExprPtr& index : r->idx) {
      if (!mentions(index, iter)) continue;
      if (found) return nullptr;
      found = &index;
    }
    of = r;
  }
  return found;
}

bool mentions_any(const std::vector<ExprPtr>& in, Sym iter) {
  return std::any_of(in.begin(), in.end(), [&](const ExprPtr& e) { return mentions(e, iter); });
}

// The taps of one buffer, the first that has two.
std::optional<WindowReduction> windows_at(const Proc& p, const Path& path,
                                          const KnownSizes& sizes) {
  const Reduce* reduce = stmt_at(p, path)->as<Reduce>();
  if (!reduce) return std::nullopt;
  WindowReduction w{.reduce = path, .sums = reduce->op == ReduceOp::kAdd};
  std::vector<ExprPtr> factors;
  factors_in(reduce->rhs, w.sums, factors);
  const std::vector<Path> loops = loops_above(p, path);
  const Read* windowed = nullptr;
  for (const Path& tap : loops) {
    const For& f = for_at(p, tap);
    const Read* of = nullptr;
    const ExprPtr* index = only_subscript(factors, f.iter, of);
    const auto extent = value_at(f.hi, sizes);
    if (mentions_any(reduce->idx, f.iter) || !index || !extent || *extent < 2) continue;
    // Where the windows are is up to loops of the output in the same subscript.
    const auto places = [&](const Path& loop) {
      const Sym iter = for_at(p, loop).iter;
      return mentions_any(reduce->idx, iter) && mentions(*index, iter);
    };
    const auto first = std::find_if(loops.begin(), loops.end(), places);
    if (first == loops.end() || (windowed && windowed != of)) continue;
    if (!windowed || first->size() < w.outermost.size()) w.outermost = *first;
    windowed = of;
    w.taps.push_back(tap);
  }
  if (w.taps.size() < 2) return std::nullopt;
  w.buffer = windowed->name.name();
  return w;
}

std::string name_ahead(const Proc& p, const WindowReduction& w, const Path& tap) {
  return w.buffer + "_" + for_at(p, tap).iter.name();
}

}  // namespace

std::vector<WindowReduction> lift_windows(const Proc& p, const KnownSizes& sizes) {
  std::vector<WindowReduction> all;
  for (const Path& path : all_stmt_paths(p))
    if (auto w = windows_at(p, path, sizes)) all.push_back(*std::move(w));
  return all;
}

ProcPtr one_direction_ahead(const ProcPtr& p, const WindowReduction& w, const Path& tap) {
  // Further out other statements may write what the windows are of.
  for (size_t n = 1;; ++n) {
    const Path nest = prefix(w.outermost, n);
    if (!stmt_at(*p, nest)->as<For>()) continue;
    try {
      return reduce_ahead(p, Cursor::stmt(p, nest), Cursor::stmt(p, tap), name_ahead(*p, w, tap));
    } catch (const SchedulingError&) {
      if (n == w.outermost.size()) throw;
    }
  }
}

std::string text_of(const Proc& p, const WindowReduction& w, const Path& tap) {
  const ReduceOp op = stmt_at(p, w.reduce)->as<Reduce>()->op;
  const std::string what = w.sums ? "sum" : op == ReduceOp::kMax ? "maximum" : "minimum";
  return name_ahead(p, w, tap) + " = " + what + " of " + w.buffer + " over " +
         for_at(p, tap).iter.name();
}

namespace {

// The product of the loops' extents.
std::optional<double> times_run(const Proc& p, const Path& path, const KnownSizes& sizes) {
  double times = 1;
  for (const Path& loop : loops_above(p, path)) {
    const auto extent = value_at(for_at(p, loop).hi, sizes);
    if (!extent) return std::nullopt;
    times *= *extent;
  }
  return times;
}

// Elements of what `made` allocates and `p` does not, all its lives together.
std::optional<double> stored_between(const Proc& p, const Proc& made, const KnownSizes& sizes) {
  std::set<Sym> known;
  for (const Path& path : all_stmt_paths(p))
    if (const Alloc* a = stmt_at(p, path)->as<Alloc>()) known.insert(a->name);
  for (const Path& path : all_stmt_paths(made)) {
    const Alloc* a = stmt_at(made, path)->as<Alloc>();
    if (!a || known.contains(a->name)) continue;
    std::optional<double> elements = times_run(made, path, sizes);
    for (const ExprPtr& e : a->type.shape) {
      const auto extent = value_at(e, sizes);
      if (!extent || !elements) return std::nullopt;
      *elements *= *extent;
    }
    return elements;
  }
  return std::nullopt;
}

}  // namespace

std::optional<WindowFigures> figures_of(const Proc& p, const WindowReduction& w, const Path& tap,
                                        const Proc& made, const KnownSizes& sizes) {
  const auto written = times_run(p, w.reduce, sizes);
  const auto stored = stored_between(p, made, sizes);
  if (!written || !stored) return std::nullopt;
  WindowFigures out{.written = *written, .stored = *stored};
  const Reduce* reduce = stmt_at(p, w.reduce)->as<Reduce>();
  for (const Path& loop : loops_above(p, w.reduce)) {
    const For& f = for_at(p, loop);
    if (!reduce->idx.empty() && mentions(reduce->idx.back(), f.iter))
      out.along = *value_at(f.hi, sizes);
  }
  const double taps = *value_at(for_at(p, tap).hi, sizes);
  out.steps = out.written / taps + out.stored * (w.sums ? taps : taps - 1);
  return out;
}

}  // namespace exotune::eqsat
