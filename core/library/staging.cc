#include "core/library/staging.h"

#include "core/frontend/parser.h"
#include "core/ir/printer.h"
#include "core/library/inspection.h"

namespace exotune {
// Copies of parts of a buffer, and moving allocations and statements out of loops, as far as
// primitives let them: each refusal ends the walk where it stands.
namespace {

Path child_of(const Path& scope, int k) {
  Path out = scope;
  out.push_back({Child::kBody, k});
  return out;
}

// Splits the loop at `loop` so that the statement at its body's place k stands in it alone; returns
// the path of that loop.
Path isolate(ProcPtr& p, const Path& loop, int k) {
  int size = static_cast<int>(body_of(*stmt_at(*p, loop)).size());
  if (k + 1 < size) p = fission(p, Cursor::gap(p, child_of(loop, k + 1)), 1);
  if (k == 0) return loop;
  p = fission(p, Cursor::gap(p, child_of(loop, k)), 1);
  return sibling(loop, 1);
}

}  // namespace

ProcPtr stage_mem_if_any(ProcPtr p, const Where& where, const std::string& window,
                         const std::string& name, bool accum, const std::vector<Where>& per) {
  const Cursor block = where.block(p);
  const ExprPtr parsed = parse_window_at(*p, block.path(), window);
  ExprPtr any;
  if (const WindowExpr* w = parsed->as<WindowExpr>())
    for (const WindowAccess& a : w->access) {
      if (a.is_point()) continue;
      const ExprPtr some = bin_op(BinOpKind::kLt, a.lo, a.hi);
      if (prove(*p, block.path(), some)) continue;
      any = any ? bin_op(BinOpKind::kAnd, any, some) : some;
    }
  if (!any) return stage_mem(p, where, window, name, accum, per);
  p = specialize(p, block, {any});
  Path first = block.path();
  first.push_back({Child::kBody, 0});
  return stage_mem(p, Cursor::block(p, first, block.length()), window, name, accum, per);
}

// The window is worked out from what the block touches; the copy in is left out where everything is
// written before it is read.
Staged auto_stage_mem(ProcPtr p, const Where& where, const std::string& buffer,
                      const std::string& name, bool accum) {
  Cursor block = where.block(p);
  std::optional<ScopeEntry> entry = visible(p, block.path(), buffer);
  if (!entry || is_control(entry->type.scalar)) {
    throw SchedulingError("auto_stage_mem: no buffer `" + buffer + "` is visible at `" +
                          block.describe() + "`");
  }
  std::optional<Rectangle> window = touched(p, block, entry->name);
  if (!window) {
    throw SchedulingError(
        "auto_stage_mem: what `" + block.describe() + "` touches of `" + buffer +
            "` is no rectangle that can be inferred",
        {}, "give the window: stage_mem(p, block, '" + buffer + "[lo:hi, ...]', name)");
  }
  Staged out;
  out.proc = stage_mem(p, block, window->text(buffer, scope_at(*p, block.path())), name, accum);
  const ProcPtr& q = out.proc;
  out.alloc = Cursor::stmt(q, block.path());
  out.load = out.store = Cursor::invalid(q);
  out.block = forward(q, block.as_block());
  if (!out.block.valid()) return out;
  if (out.block.path().back().index - block.path().back().index > 1) {
    out.load = Cursor::stmt(q, sibling(block.path(), 1));
  }
  size_t grown = block_at(*q, block.path()).size() - block_at(*p, block.path()).size();
  if (grown > (out.load.valid() ? 2u : 1u)) {
    out.store = Cursor::stmt(q, sibling(out.block.path(), out.block.length()));
  }
  return out;
}

ProcPtr autolift_alloc(ProcPtr p, const Where& alloc, const std::set<std::string>& loops,
                       int64_t max_size) {
  Cursor c = alloc.alloc(p);
  int64_t size = 1;
  for (const ExprPtr& e : c.as<Alloc>().type.shape) {
    std::optional<int64_t> extent = as_int(e);
    bool fits = extent && !__builtin_mul_overflow(size, *extent, &size);
    if (!fits) size = max_size;  // of unknown size: no room for more
  }
  bool moved = false;
  for (Cursor around = c.parent(); around.valid(); around = c.parent()) {
    if (around.is<For>()) {
      const For& f = around.as<For>();
      std::optional<int64_t> extent = literal_extent(f);
      int64_t grown = 0;
      bool wanted = loops.empty() || loops.count(f.iter.name());
      if (wanted && extent && *extent > 0 && !__builtin_mul_overflow(size, *extent, &grown) &&
          grown <= max_size) {
        ExprPtr index = read_var(f.iter, ScalarType::kIndex);
        if (as_int(f.lo) != 0) index = index - f.lo;
        p = expand_dim(p, c, int_const(*extent), index);
        size = grown;
        c = forward(p, c);
      }
    }
    try {
      p = lift_alloc(p, c, 1);
    } catch (const SchedulingError&) {
      if (!moved) throw;
      break;
    }
    moved = true;
    c = forward(p, c);
  }
  return p;
}

// Splits loop by loop outwards; a half that does not depend on the loop leaves it.
ProcPtr autofission(ProcPtr p, const Cursor& gap, int n_lifts) {
  Cursor at = forward(p, gap);
  for (int k = 0; k < n_lifts; ++k) {
    if (at.kind() != CursorKind::kGap) throw InvalidCursorError("autofission takes a gap");
    Path loop = parent_stmt(at.path());
    p = fission(p, at, 1);
    bool is_loop = stmt_at(*p, loop)->as<For>() != nullptr;
    int first = 1;  // statements that the first half is now
    if (is_loop) {
      for (int half : {1, 0}) {  // from the back, so that places stay
        Path where = sibling(loop, half);
        int body = static_cast<int>(body_of(*stmt_at(*p, where)).size());
        try {
          p = remove_loop(p, Cursor::stmt(p, where));
          // A guard may be all that is left of the loop.
          if (half == 0) first = stmt_at(*p, where)->as<If>() ? 1 : body;
        } catch (const SchedulingError&) {
          // This half depends on the iteration and stays in its loop.
        }
      }
    }
    at = Cursor::gap(p, sibling(loop, first));
  }
  return p;
}

ProcPtr hoist_stmt(ProcPtr p, const Where& stmt) {
  Cursor c = stmt.stmt(p);
  Cursor loop = c.parent();
  if (!loop.valid() || !loop.is<For>()) {
    throw SchedulingError("hoist_stmt: no loop stands right around `" + c.describe() + "`");
  }
  if (c.is<Alloc>()) return lift_alloc(p, c, 1);
  for (int k = c.path().back().index; k > 0; --k) {
    p = reorder_stmts(p, Cursor::block(p, child_of(loop.path(), k - 1), 2));
  }
  Path alone = isolate(p, loop.path(), 0);
  return remove_loop(p, Cursor::stmt(p, alone));
}

// Loops that repeat an idempotent statement: `remove_loop` proves that it is one.
ProcPtr remove_redundant_loops(ProcPtr p, const Where& stmt, int num) {
  Cursor c = stmt.stmt(p);
  Path at = c.path();
  for (int removed = 0; removed < num && at.size() > 1;) {
    Path around = parent_stmt(at);
    const For* f = stmt_at(*p, around)->as<For>();
    if (!f) {
      at = around;
      continue;
    }
    bool concerned = mentions(stmt_at(*p, at), f->iter);
    around = isolate(p, around, at.back().index);
    if (!concerned) {
      p = remove_loop(p, Cursor::stmt(p, around));
      ++removed;
    }
    at = around;
  }
  return p;
}

namespace {

bool has_unit_stride(const Proc& p, const Arg& a) {
  return static_cast<bool>(prove_equal(
      p, {{Child::kBody, 0}}, make_expr(StrideExpr{a.name, a.type.rank() - 1}, ScalarType::kStride),
      int_const(1)));
}

}  // namespace

ProcPtr gather_vectors(ProcPtr p) {
  bool any = false;
  for (const Arg& a : std::vector<Arg>(p->args)) {
    if (!a.type.window || a.type.rank() != 1 || has_unit_stride(*p, a)) continue;
    const Cursor whole = Cursor::block(p, {{Child::kBody, 0}}, static_cast<int>(p->body.size()));
    const std::string name = a.name.name();
    p = stage_mem(p, whole, name + "[0:" + str(a.type.shape[0]) + "]", name + "_unit");
    any = true;
  }
  if (!any) throw SchedulingError("gather_vectors: every vector argument has unit stride");
  return p;
}

}  // namespace exotune
