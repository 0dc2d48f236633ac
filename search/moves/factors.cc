#include "search/moves/factors.h"

#include "search/moves/loop_order.h"

namespace exotune {

namespace {

// An element is used once for each iteration of a loop that does not change it: under two loops
// the array would be stored and read for next to nothing.
constexpr int kLeastDepth = 3;

// A statement `x += a + b`, the only one under a band of loops.
bool sums_terms(const Proc& p, const Path& stmt) {
  const StmtPtr s = stmt_at(p, stmt);
  const Reduce* r = s ? s->as<Reduce>() : nullptr;
  const BinOp* sum = r ? r->rhs->as<BinOp>() : nullptr;
  return sum && sum->op == BinOpKind::kAdd;
}

// The first term stays in the nest, the others follow in one of their own.
bool part_terms(Schedule& s, const Path& nest, int depth) {
  Schedule out = s;
  const Path stmt = down(nest, depth);
  if (apply(out, "split_write", {Value(Cursor::stmt(out.proc, stmt))}) ||
      apply(out, "fission", {Value(Cursor::stmt(out.proc, stmt)), Value(int64_t{depth})}))
    return false;
  s = std::move(out);
  return true;
}

}  // namespace

std::optional<Schedule> with_factors_ahead(const Schedule& s) {
  Schedule out = s;
  // The last first: places in front of it stay.
  for (int k = static_cast<int>(s.proc->body.size()) - 1; k >= 0; --k) {
    const Path nest = {{Child::kBody, k}};
    if (band_depth(*s.proc, nest) >= kLeastDepth)
      (void)!apply(out, "factors_ahead", {Value(Cursor::stmt(out.proc, nest))});
  }
  if (out.steps.size() == s.steps.size()) return std::nullopt;
  return out;
}

std::optional<Schedule> with_factors_inside(const Schedule& s) {
  Schedule out = s;
  std::vector<Path> sums;
  for (const Path& path : all_stmt_paths(*s.proc))
    // `t = 0.0 ; for .. ; y += .. t ..`, repeated by a loop: else each term would pay for y.
    if (path.size() > 1 && path.back().index >= 2 && stmt_at(*s.proc, path)->as<Reduce>() &&
        stmt_at(*s.proc, sibling(path, -1))->as<For>() &&
        stmt_at(*s.proc, sibling(path, -2))->as<Assign>())
      sums.push_back(path);
  // The last first: places in front of it stay.
  for (auto path = sums.rbegin(); path != sums.rend(); ++path) {
    const Sym t = stmt_at(*s.proc, sibling(*path, -2))->as<Assign>()->name;
    Schedule made = out;
    if (apply(made, "distribute_factor", {Value(Cursor::stmt(made.proc, *path))})) continue;
    (void)!apply(made, "delete_buffer", {Value(t.name() + " : _")});
    out = std::move(made);
  }
  if (out.steps.size() == s.steps.size()) return std::nullopt;
  return out;
}

std::optional<Schedule> with_terms_apart(const Schedule& s) {
  Schedule out = s;
  for (size_t k = 0; k < out.proc->body.size(); ++k) {
    const Path nest = {{Child::kBody, static_cast<int>(k)}};
    const int depth = band_depth(*out.proc, nest);
    if (depth < kLeastDepth || !sums_terms(*out.proc, down(nest, depth))) continue;
    // From the right: a + b + c is (a + b) + c.
    while (sums_terms(*out.proc, down(nest, depth)) && part_terms(out, nest, depth)) {
    }
  }
  if (out.steps.size() == s.steps.size()) return std::nullopt;
  return out;
}

}  // namespace exotune
