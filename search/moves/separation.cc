#include "search/moves/separation.h"

#include <algorithm>

#include "core/ir/normal_form.h"
#include "search/moves/touched_range.h"
#include "search/moves/transposition.h"

namespace exotune {

namespace {

// So many elements from one another in all iterations: points of a stencil, parts of an element.
bool neighbours(const OutlineAccess& a, const OutlineAccess& b) {
  return std::equal(
      a.what.idx.begin(), a.what.idx.end(), b.what.idx.begin(), b.what.idx.end(),
      [](const ExprPtr& x, const ExprPtr& y) { return as_int(normalize(x - y)).has_value(); });
}

// What a window that may be empty left in an else branch often does nothing: some loop of it never
// runs there.
void drop_dead_branch(Schedule& s, const Path& at) {
  const StmtPtr branch = stmt_at(*s.proc, at);
  if (!branch || orelse_of(*branch).size() != 1) return;
  Path loop = at;
  loop.push_back({Child::kOrelse, 0});
  while (stmt_at(*s.proc, loop)->as<For>()) {
    if (!apply(s, "eliminate_dead_code", {Value(Cursor::stmt(s.proc, loop))})) {
      (void)!apply(s, "delete_pass", {});
      return;
    }
    if (body_of(*stmt_at(*s.proc, loop)).size() != 1) return;
    loop.push_back({Child::kBody, 0});
  }
}

}  // namespace

std::optional<Schedule> separate_operands(const Schedule& s, const Cursor& nest,
                                          const std::map<std::string, int64_t>& sizes) {
  const Outline o = outline_of(*s.proc, sizes);
  const Path top = forward(s.proc, nest).path();
  const int along = contiguous_loop(o, top);
  if (along < 0) return std::nullopt;
  Schedule out = s;
  for (const OutlineAccess& a : o.accesses) {
    if (a.writes() || a.what.idx.empty() || !is_prefix(top, a.what.stmt)) continue;
    if (a.what.buffer != a.what.through || o.stride(a, along) != 0) continue;
    const bool twice =
        std::any_of(o.accesses.begin(), o.accesses.end(), [&](const OutlineAccess& b) {
          return !b.writes() && b.what.buffer == a.what.buffer && is_prefix(top, b.what.stmt) &&
                 !neighbours(a, b);
        });
    const auto window = window_text(o, a, scope_at(*s.proc, top));
    if (!twice || !window) continue;
    const std::string name = window->substr(0, window->find('[')) + "_own";
    if (apply(out, "stage_mem", {Value(forward(out.proc, nest)), Value(*window), Value(name)}))
      continue;
    drop_dead_branch(out, top);
  }
  if (out.steps.size() == s.steps.size()) return std::nullopt;
  return out;
}

}  // namespace exotune
