#include "search/device/processor_loops.h"

#include <algorithm>

#include "core/library/inspection.h"

namespace exotune {

namespace {

constexpr int64_t kIterationsInOne[] = {4, 8, 16};  // iterations in one

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

}  // namespace

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
