#include "core/library/staging.h"

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/library/blocking.h"
#include "core/library/cursor_methods.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

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

ProcPtr distribute_loop(ProcPtr p, const Where& loop) {
  const Cursor c = loop.loop(p);
  const For f = c.as<For>();
  const std::optional<int64_t> extent = literal_extent(f);
  if (!extent || *extent < 1)
    throw SchedulingError("distribute_loop: the loop over `" + f.iter.name() +
                          "` has no literal bounds");
  const ExprPtr iteration = normalize(read_var(f.iter, ScalarType::kIndex) - f.lo);
  Path path = c.path();
  for (int k = 0; k < static_cast<int>(body_of(*stmt_at(*p, path)).size());) {
    if (!stmt_at(*p, child(path, k))->as<Alloc>()) {
      ++k;
      continue;
    }
    p = expand_dim(p, at(p, child(path, k)), int_const(*extent), iteration);
    p = lift_alloc(p, at(p, child(path, k)), 1);
    path = sibling(path, 1);
  }
  return fission_as_much_as_possible(p, at(p, path));
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

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> staging_operators() {
  using namespace params;
  return {
      {"auto_stage_mem",
       {proc(), place("block"), string("buf"), new_name("new_buf_name"), boolean("accum", false),
        boolean("rc", false)},
       "stage_mem with the smallest window; rc: returns p and cursors alloc, load, block, store",
       [](const OperatorArgs& a) -> Value {
         Staged s = auto_stage_mem(a.proc(), a.where(1), a.string(2), a.string(3), a.boolean(4));
         if (!a.boolean(5)) return s.proc;
         auto some = [](const Cursor& c) { return c.valid() ? Value(c) : Value(); };
         return ValueList{s.proc, record({{"alloc", some(s.alloc)},
                                          {"load", some(s.load)},
                                          {"block", some(s.block)},
                                          {"store", some(s.store)}})};
       }},
      {"distribute_loop",
       {proc(), place("loop")},
       "for i in seq(0, c): { x : T; x = a; s(x) }  ->  x : T[c]; for i: x[i] = a; for i: s(x[i])",
       [](const OperatorArgs& a) -> Value { return distribute_loop(a.proc(), a.where(1)); }},
      {"autolift_alloc",
       {proc(), place("alloc"), strings("dep_set", ValueList{}), integer("max_size", 0)},
       "for i in seq(0, c): x : T; s  ->  x : T[c]; for i: s[x -> x[i]]   as far out as it goes",
       [](const OperatorArgs& a) -> Value {
         std::vector<std::string> loops = a.strings(2);
         return autolift_alloc(a.proc(), a.where(1), {loops.begin(), loops.end()}, a.integer(3));
       }},
      {"autofission",
       {proc(), place("gap"), integer("n_lifts", 1)},
       "for i: s1; s2  ->  s1; for i: s2   (fission; a half that may leaves its loop)",
       [](const OperatorArgs& a) -> Value {
         return autofission(a.proc(), a.where(1).gap(a.proc()), a.small(2));
       }},
      {"hoist_stmt",
       {proc(), place("stmt")},
       "for i: s1; s; s2  ->  s; for i: s1; s2",
       [](const OperatorArgs& a) -> Value { return hoist_stmt(a.proc(), a.where(1)); }},
      {"remove_redundant_loops",
       {proc(), place("stmt"), integer("num", 1)},
       "takes a statement out of the `num` nearest loops that do not concern it",
       [](const OperatorArgs& a) -> Value {
         return remove_redundant_loops(a.proc(), a.where(1), a.small(2));
       }},
      {"gather_vectors",
       {proc()},
       "s(x)  ->  x_unit = x; s(x_unit); x = x_unit   for vector arguments of any stride",
       [](const OperatorArgs& a) -> Value { return gather_vectors(a.proc()); }},
  };
}

}  // namespace exotune
