#include "search/moves/guards.h"

#include "core/analysis/queries.h"

namespace exotune {

namespace {

bool holds_guard(const StmtPtr& s) {
  bool any = false;
  for_each_stmt({s}, [&](const StmtPtr& inner) { any |= inner->as<If>() != nullptr; });
  return any;
}

}  // namespace

std::optional<Schedule> without_guards(const Schedule& s) {
  Schedule out = s;
  // The last first: places in front of it stay.
  for (int k = static_cast<int>(s.proc->body.size()) - 1; k >= 0; --k) {
    const StmtPtr& stmt = s.proc->body[static_cast<size_t>(k)];
    if (stmt->as<For>() && holds_guard(stmt))
      (void)!apply(out, "cut_at_guards", {Value(Cursor::stmt(out.proc, {{Child::kBody, k}}))});
  }
  if (out.steps.size() == s.steps.size()) return std::nullopt;
  return out;
}

}  // namespace exotune
