// stage_panel: what a blocked recurrence writes is held in a buffer turned so that its rows are
// contiguous. The rectangle is what the loop touches of the one array it writes; where the core
// refuses that, what it reads beside it in the same column belongs to it too. Statements behind the
// loop may read the buffer before it leaves.
#include <vector>

#include "core/ir/normal_form.h"
#include "core/library/attempted.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/recurrences.h"
#include "core/library/staging.h"

namespace exotune {

namespace {

// The one array that the statements write.
Sym written_array(const StmtPtr& s) {
  std::vector<Sym> names;
  for_each_stmt({s}, [&](const StmtPtr& at) {
    if (const Assign* a = at->as<Assign>()) names.push_back(a->name);
    if (const Reduce* r = at->as<Reduce>()) names.push_back(r->name);
    if (at->as<Call>() || at->as<WindowStmt>())
      throw SchedulingError("stage_panel: the loop does more than write one array");
  });
  if (names.empty() ||
      std::any_of(names.begin(), names.end(), [&](Sym name) { return name != names.front(); }))
    throw SchedulingError("stage_panel: the loop does more than write one array");
  return names.front();
}

// An element that the loop writes, and which of its dimensions moves along `rows`.
struct Written {
  std::vector<ExprPtr> idx;
  int along = -1;
};
Written written_along(const StmtPtr& s, const std::string& rows) {
  Written out;
  const auto named = [&](const ExprPtr& e) {
    const std::optional<Affine> a = affine(e);
    return a && std::any_of(a->terms.begin(), a->terms.end(), [&](const Affine::Term& t) {
             const Read* r = t.atom->as<Read>();
             return r && r->name.name() == rows;
           });
  };
  const auto look = [&](const std::vector<ExprPtr>& idx) {
    for (size_t d = 0; d < idx.size(); ++d)
      if (named(idx[d])) out = {idx, static_cast<int>(d)};
  };
  for_each_stmt({s}, [&](const StmtPtr& at) {
    if (const Assign* a = at->as<Assign>()) look(a->idx);
    if (const Reduce* r = at->as<Reduce>()) look(r->idx);
  });
  return out;
}

// What is written; or with it what is read beside it, in the same column.
std::optional<Rectangle> panel_of(const ProcPtr& p, const Cursor& loop, Sym array,
                                  const Written& written, bool beside) {
  if (!beside) return touched(p, loop, array, Touch::kWrites);
  return touched(p, loop, array, Touch::kAny, [&](const Access& a) {
    for (size_t d = 0; d < a.idx.size(); ++d)
      if (static_cast<int>(d) != written.along && !affine_equal(a.idx[d], written.idx[d]))
        return false;
    return true;
  });
}

// A nest one of whose loops never runs.
void drop_dead_nest(ProcPtr& p, Path loop) {
  while (at(p, loop).is<For>() &&
         !attempted(p, [&](ProcPtr q) { return eliminate_dead_code(q, at(q, loop)); }))
    loop = child(loop);
}

ProcPtr stage_one_panel(ProcPtr p, const Cursor& block, const Rectangle& window, Sym array,
                        const std::string& name, int along) {
  const Path path = block.path();
  p = stage_mem_if_any(p, block, window.text(array.name(), scope_at(*p, path)), name);
  const bool guarded = stmt_at(*p, path)->as<If>();
  const Path alloc = guarded ? child(path) : path;
  // Where nothing is staged there is nothing to do.
  if (guarded) {
    for (int k = static_cast<int>(orelse_of(*stmt_at(*p, path)).size()) - 1; k >= 0; --k) {
      Path otherwise = path;
      otherwise.push_back({Child::kOrelse, k});
      drop_dead_nest(p, otherwise);
    }
    attempted(p, [](ProcPtr q) { return delete_pass(q); });
  }
  // One element along a dimension is a point of the window, and no dimension of the buffer.
  std::vector<int> order;
  int last = -1, kept = 0;
  for (size_t d = 0; d < window.lo.size(); ++d) {
    if (as_int(normalize(window.hi[d] - window.lo[d])) == 1) continue;
    if (static_cast<int>(d) == along)
      last = kept;
    else
      order.push_back(kept);
    ++kept;
  }
  if (last < 0 || last == kept - 1) return p;
  order.push_back(last);
  return rearrange_dim(p, at(p, alloc), order);
}

}  // namespace

ProcPtr stage_panel(ProcPtr p, const Where& where, const std::string& rows, const std::string& name,
                    int64_t behind) {
  const Cursor loop = where.loop(p);
  const int64_t left = size_of_block(p, loop.path()) - 1 - loop.path().back().index;
  if (behind < 0 || behind > left)
    throw SchedulingError("stage_panel: there are " + std::to_string(left) +
                          " statements behind the loop, not " + std::to_string(behind));
  const Cursor block = Cursor::block(p, loop.path(), static_cast<int>(behind) + 1);
  const StmtPtr stmt = stmt_at(*p, loop.path());
  const Sym array = written_array(stmt);
  const Written written = written_along(stmt, rows);
  const auto only = panel_of(p, loop, array, written, false);
  if (written.along < 0 || !only)
    throw SchedulingError("stage_panel: what the loop writes of `" + array.name() +
                          "` is no rectangle with a dimension along `" + rows + "`");
  ProcPtr out = p;
  const auto stage = [&](const Rectangle& window) {
    return [&](ProcPtr q) { return stage_one_panel(q, block, window, array, name, written.along); };
  };
  if (attempted(out, stage(*only))) return out;
  const auto beside = panel_of(p, loop, array, written, true);
  return stage_one_panel(p, block, beside ? *beside : *only, array, name, written.along);
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> panels_operators() {
  using namespace params;
  return {
      {"stage_panel",
       {proc(), place("loop"), string("rows"), new_name("new_name"), integer("behind", 0)},
       "for j: for i: s(A[r + i, j])  ->  P[j, i] = A[r + i, j]; for j: for i: s(P[j, i]); A[r + "
       "i, j] = P[j, i]   (behind: so many statements behind the loop use P, too)",
       [](const OperatorArgs& a) -> Value {
         return stage_panel(a.proc(), a.where(1), a.string(2), a.string(3), a.integer(4));
       }},
  };
}

}  // namespace exotune
