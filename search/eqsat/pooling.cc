#include "search/eqsat/pooling.h"

#include <algorithm>
#include <set>

#include "core/base/diagnostic.h"
#include "core/cursor/cursor.h"
#include "core/primitives/primitives.h"
#include "core/primitives/reduce_ahead.h"
#include "search/eqsat/operand_index.h"

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

// Whether each iteration of the loop has an output of its own: subscripted by it, or made in it.
bool has_own_output(const Proc& p, const Path& loop, const Reduce& reduce, const Path& at) {
  if (mentions_any(reduce.idx, for_at(p, loop).iter)) return true;
  for (size_t n = loop.size() + 1; n <= at.size(); ++n)
    for (const StmtPtr& s : block_at(p, prefix(at, n)))
      if (const Alloc* a = s->as<Alloc>(); a && a->name == reduce.name) return true;
  return false;
}

// The taps of one buffer, the first that has two.
std::optional<WindowReduction> windows_at(const Proc& p, const Path& path,
                                          const KnownSizes& sizes) {
  const Reduce* reduce = stmt_at(p, path)->as<Reduce>();
  if (!reduce) return std::nullopt;
  WindowReduction w{.reduce = path, .element = nullptr, .sums = reduce->op == ReduceOp::kAdd};
  std::vector<ExprPtr> factors;
  factors_in(reduce->rhs, w.sums, factors);
  const std::vector<Path> loops = loops_above(p, path);
  const Read* windowed = nullptr;
  for (const Path& tap : loops) {
    const For& f = for_at(p, tap);
    const Read* of = nullptr;
    const ExprPtr* index = only_subscript(factors, f.iter, of);
    const auto extent = value_at(f.hi, sizes);
    if (has_own_output(p, tap, *reduce, path) || !index || !extent || *extent < 2) continue;
    // Where the windows are is up to loops of the output in the same subscript.
    const auto places = [&](const Path& loop) {
      const Sym iter = for_at(p, loop).iter;
      return has_own_output(p, loop, *reduce, path) && mentions(*index, iter);
    };
    const auto first = std::find_if(loops.begin(), loops.end(), places);
    if (first == loops.end() || (windowed && windowed != of)) continue;
    if (!windowed || first->size() < w.outermost.size()) w.outermost = *first;
    windowed = of;
    w.taps.push_back(tap);
  }
  if (w.taps.size() < 2) return std::nullopt;
  w.buffer = windowed->name.name();
  w.element = windowed;
  return w;
}

}  // namespace

std::vector<WindowReduction> lift_windows(const Proc& p, const KnownSizes& sizes) {
  std::vector<WindowReduction> all;
  for (const Path& path : all_stmt_paths(p))
    if (auto w = windows_at(p, path, sizes)) all.push_back(*std::move(w));
  return all;
}

namespace {

AccessOp reduction_of(const Proc& p, const WindowReduction& w) {
  const ReduceOp op = stmt_at(p, w.reduce)->as<Reduce>()->op;
  return w.sums                 ? AccessOp::kReduceSum
         : op == ReduceOp::kMax ? AccessOp::kReduceMax
                                : AccessOp::kReduceMin;
}

// Whether the statement has other factors that depend on the loop.
bool has_another_factor(const Proc& p, const WindowReduction& w, Sym iter) {
  std::vector<ExprPtr> factors;
  factors_in(stmt_at(p, w.reduce)->as<Reduce>()->rhs, w.sums, factors);
  return std::any_of(factors.begin(), factors.end(), [&](const ExprPtr& e) {
    return e->as<Read>() != w.element && mentions(e, iter);
  });
}

}  // namespace

std::optional<WindowTerm> window_term(const Proc& p, const WindowReduction& w,
                                      AccessLanguage& language) {
  std::optional<Product> product = lift_reduction(p, w.reduce, *w.element, language.sizes());
  if (!product) return std::nullopt;
  std::vector<int> loops, summed;
  for (size_t k = 0; k < product->loops.size(); ++k) {
    const ProductLoop& loop = product->loops[k];
    const bool read =
        std::any_of(product->left.subscripts.begin(), product->left.subscripts.end(),
                    [&](const auto& terms) { return terms.contains(static_cast<int>(k)); });
    if (!read) continue;
    const bool items = loop.summed && !has_another_factor(p, w, loop.iter);
    (items ? summed : loops).push_back(static_cast<int>(k));
  }
  const size_t border = loops.size();
  loops.insert(loops.end(), summed.begin(), summed.end());
  WindowTerm out{*std::move(product), {}};
  const auto view = view_of(out.product, out.product.left, loops, border, language, out.term);
  if (!view || summed.empty()) return std::nullopt;
  out.term.share(language.op(reduction_of(p, w)), {*view});
  return out;
}

std::variant<std::vector<Path>, std::string> steps_of(const Proc& p, const WindowReduction& w,
                                                      const WindowTerm& window, const Term& term,
                                                      const AccessLanguage& language) {
  const AccessOp reduction = reduction_of(p, w);
  const OperandIndex index(window.product, window.product.left, term, language);
  std::vector<Path> steps, last;
  // Children come first, so the reduction that is done last is the last one here.
  for (const Term::Node& node : term.nodes) {
    if (language.kind(node.op) != reduction) continue;
    steps.insert(steps.end(), last.begin(), last.end());
    last.clear();
    try {
      const std::vector<AxisValue> axes = index.values(node.children[0]);
      const size_t border = type_of(term, node.children[0], language)->access.size();
      for (size_t x = axes.size(); x-- > border;) {
        const auto& loops = window.product.loops;
        const auto loop = std::find_if(loops.begin(), loops.end(), [&](const ProductLoop& l) {
          return l.iter.name() == axes[x].text;
        });
        if (loop == loops.end()) return "a step is over no loop of the program";
        last.push_back(prefix(w.reduce, static_cast<size_t>(loop - loops.begin()) + 1));
      }
    } catch (const NoLoops& no) {
      return no.reason;
    }
  }
  return steps;
}

std::vector<ProcPtr> in_steps(const ProcPtr& p, const WindowReduction& w,
                              const std::vector<Path>& ahead) {
  std::vector<ProcPtr> made;
  std::string name = w.buffer;
  for (const Path& loop : ahead) {
    const ProcPtr& now = made.empty() ? p : made.back();
    name += "_" + for_at(*p, loop).iter.name();
    // Further out other statements may write what the windows are of.
    for (size_t n = 1;; ++n) {
      const Path nest = prefix(w.outermost, n);
      if (!stmt_at(*p, nest)->as<For>()) continue;
      try {
        made.push_back(reduce_ahead(now, forward(now, Cursor::stmt(p, nest)),
                                    forward(now, Cursor::stmt(p, loop)), name));
        break;
      } catch (const SchedulingError&) {
        if (n == w.outermost.size()) throw;
      }
    }
  }
  return made;
}

std::string text_of(const Proc& p, const WindowReduction& w, const std::vector<Path>& ahead) {
  const ReduceOp op = stmt_at(p, w.reduce)->as<Reduce>()->op;
  const std::string what = w.sums ? "sum" : op == ReduceOp::kMax ? "maximum" : "minimum";
  std::string text, of = w.buffer;
  for (const Path& loop : ahead) {
    const std::string over = for_at(p, loop).iter.name();
    text +=
        (text.empty() ? "" : ", ") + of + "_" + over + " = " + what + " of " + of + " over " + over;
    of += "_" + over;
  }
  return text;
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

std::optional<WindowFigures> figures_of(const Proc& p, const WindowReduction& w,
                                        const std::vector<Path>& ahead,
                                        const std::vector<ProcPtr>& made, const KnownSizes& sizes) {
  const auto written = times_run(p, w.reduce, sizes);
  if (!written) return std::nullopt;
  WindowFigures out{.written = *written};
  const Reduce* reduce = stmt_at(p, w.reduce)->as<Reduce>();
  for (const Path& loop : loops_above(p, w.reduce)) {
    const For& f = for_at(p, loop);
    if (!reduce->idx.empty() && mentions(reduce->idx.back(), f.iter))
      out.along = *value_at(f.hi, sizes);
  }
  double last = *written;
  for (size_t k = 0; k < ahead.size(); ++k) {
    const auto stored = stored_between(k == 0 ? p : *made[k - 1], *made[k], sizes);
    const auto taps = value_at(for_at(p, ahead[k]).hi, sizes);
    if (!stored || !taps) return std::nullopt;
    last /= *taps;
    out.stored += *stored;
    out.steps += *stored * (w.sums ? *taps : *taps - 1);
  }
  out.steps += last;
  return out;
}

}  // namespace exotune::eqsat
