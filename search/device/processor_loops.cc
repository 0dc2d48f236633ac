#include "search/device/processor_loops.h"

#include <algorithm>

#include "core/library/inspection.h"

namespace exotune {

namespace {

constexpr int64_t kIterationsInOne[] = {4, 8, 16};  // iterations in one
constexpr size_t kMostCuts = 4;                     // each writes a loop's body twice

bool holds(const Block& block, bool (*is)(const Stmt&)) {
  return std::any_of(block.begin(), block.end(), [&](const StmtPtr& s) {
    return is(*s) || holds(body_of(*s), is) || holds(orelse_of(*s), is);
  });
}

// Long enough to be worth it; a short one the compiler writes out itself.
std::vector<Cursor> innermost_loops(const ProcPtr& p, int64_t copies) {
  std::vector<Cursor> out;
  for (const Path& path : all_stmt_paths(*p)) {
    const For* f = stmt_at(*p, path)->as<For>();
    const auto is_busy = [](const Stmt& s) { return s.as<For>() || s.as<Call>(); };
    if (f && literal_extent(*f).value_or(0) >= 2 * copies && !holds(f->body, is_busy))
      out.push_back(Cursor::stmt(p, path));
  }
  return out;
}

// What the loop's own iterator is divided by in `e`, where the quotient becomes 1 in the loop.
void read_quotients(const ExprPtr& e, const For& loop, std::optional<int64_t>& at) {
  const BinOp* b = e->as<BinOp>();
  const Read* r = b && b->op == BinOpKind::kDiv ? b->lhs->as<Read>() : nullptr;
  const std::optional<int64_t> q = r && r->name == loop.iter ? as_int(b->rhs) : std::nullopt;
  if (q && *as_int(loop.lo) < *q && *q < *as_int(loop.hi)) at = q;
  for (const ExprPtr& inside : expr_children(*e)) read_quotients(inside, loop, at);
}

// Nothing: no tile in the body is shorter in the last iterations.
std::optional<int64_t> short_tile(const For& loop) {
  std::optional<int64_t> at;
  if (as_int(loop.lo) && as_int(loop.hi))
    for_each_expr(loop.body, [&](const ExprPtr& e) { read_quotients(e, loop, at); });
  return at;
}

}  // namespace

void cut_at_short_tiles(Schedule& s) {
  for (size_t cuts = 0; cuts < kMostCuts; ++cuts) {
    std::optional<Cursor> deepest;
    for (const Path& path : all_stmt_paths(*s.proc)) {
      const For* f = stmt_at(*s.proc, path)->as<For>();
      const bool deeper = !deepest || path.size() > deepest->path().size();
      if (f && deeper && short_tile(*f)) deepest = Cursor::stmt(s.proc, path);
    }
    if (!deepest) return;
    const int64_t at = *short_tile(deepest->as<For>());
    if (apply(s, "cut_loop", {Value(*deepest), Value(at)}) || apply(s, "simplify", {})) return;
  }
}

std::vector<Schedule> unrolled_loops(const ProcPtr& p) {
  std::vector<Schedule> out;
  for (const int64_t copies : kIterationsInOne) {
    Schedule s{p, {}, false};
    for (const Cursor& loop : innermost_loops(p, copies))
      (void)!apply(s, "interleave_loop", {Value(loop), Value(copies)});
    if (!s.steps.empty()) out.push_back(std::move(s));
  }
  return out;
}

}  // namespace exotune
