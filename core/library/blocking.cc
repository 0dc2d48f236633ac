#include "core/library/blocking.h"

#include <set>
#include <span>

#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/rearranging.h"

namespace exotune {
// Blocking and unrolling of single loops. Boundaries stay separate loops over the same names, found
// by position: divide_loop leaves the main part first and the rest behind it.

namespace {

// The boundary that divide_loop left after the loop at `path`: a loop over `name`, perhaps guarded.
bool has_boundary(const Proc& p, const Path& path, const std::string& name) {
  StmtPtr next = stmt_at(p, sibling(path, 1));
  if (next && next->as<If>()) next = next->as<If>()->body.front();
  const For* f = next ? next->as<For>() : nullptr;
  return f && f->iter.name() == name;
}

ProcPtr block_one(ProcPtr p, const Path& loop, std::span<const int64_t> sizes,
                  const std::vector<std::string>& names, const std::string& outside) {
  Path path = loop;
  const int64_t size = sizes.front();
  auto extent = literal_extent(at(p, path).as<For>());
  if (extent && *extent > 0 && *extent <= size) {
    p = divide_loop(p, at(p, path), *extent, names, Tail::kPerfect);
    return unroll_loop(p, at(p, path));
  }
  // A boundary that may be empty stands under a guard, so that buffers inside have positive sizes.
  p = divide_loop(p, at(p, path), size, names, extent ? Tail::kCut : Tail::kCutAndGuard);
  const bool boundary = has_boundary(*p, path, names[1]);
  const int levels = outside.empty() ? 0 : levels_to(at(p, path), outside);
  if (!outside.empty() && levels == 0)
    throw InvalidCursorError("the loop over `" + names[0] + "` is not inside a loop over `" +
                             outside + "`");
  if (boundary && levels > 0) p = fission(p, at(p, path).after(), levels);
  for (int k = 0; k < levels; ++k) {
    p = lift_scope(p, at(p, path));
    path = parent_stmt(path);
  }
  if (!boundary) return p;
  // The boundary nest stands after the main one, its guard outermost; its own loop is as deep as it
  // was.
  Path rest = sibling(path, 1);
  Path deepest = rest;
  if (levels == 0 && at(p, rest).is<If>()) rest.push_back({Child::kBody, 0});
  for (int k = 0; k < levels; ++k) deepest.push_back({Child::kBody, 0});
  if (levels > 0) {
    if (at(p, deepest).is<If>()) {
      p = lift_scope_n(p, at(p, deepest), levels);
      rest.push_back({Child::kBody, 0});
    }
    for (int k = 0; k < levels; ++k) rest.push_back({Child::kBody, 0});
  }
  if (sizes.size() > 1 && !literal_extent(at(p, rest).as<For>()))
    p = block_one(p, rest, sizes.subspan(1), names, outside);
  return p;
}

}  // namespace

// All loops over the name that stand next to each other: a boundary from before is blocked too,
// with the sizes that still fit it.
ProcPtr block_loop(ProcPtr p, const Where& loop, const std::vector<int64_t>& sizes,
                   const std::vector<std::string>& names, const std::string& outside) {
  if (sizes.empty()) throw SchedulingError("block_loop: no sizes are given");
  const Value given = loop.value();
  const std::string* name = given.as<std::string>();
  const bool all = name && name->find_first_of(" #:(") == std::string::npos;
  const std::vector<Cursor> loops = all ? require_loops(p, *name) : std::vector{loop.loop(p)};
  // Last first: rewriting one loop's nest moves only what comes after it.
  for (auto c = loops.rbegin(); c != loops.rend(); ++c)
    p = block_one(p, c->path(), sizes, names, outside);
  return p;
}

ProcPtr lift_scope_n(ProcPtr p, const Where& scope, int n) {
  Path path = scope.scope(p).path();
  for (int k = 0; k < n; ++k) {
    p = lift_scope(p, at(p, path));
    path = parent_stmt(path);
  }
  return p;
}

ProcPtr fission_as_much_as_possible(ProcPtr p, const Where& loop) {
  Path path = loop.loop(p).path();
  int last = static_cast<int>(body_of(*stmt_at(*p, path)).size()) - 1;
  for (int k = last; k >= 1; --k) {
    Path gap = path;
    gap.push_back({Child::kBody, k});
    try {
      p = fission(p, Cursor::gap(p, gap), 1);
    } catch (const SchedulingError&) {
      // This split is not allowed: both halves stay together.
    }
  }
  return p;
}

ProcPtr round_loop(ProcPtr p, const Where& loop, int64_t q, const std::vector<std::string>& names) {
  return divide_loop(p, loop, q, names, Tail::kGuard);
}

namespace {

// The rest of fewer than `factor` iterations, a case for each number of them.
// A case for each number of iterations that may be left: each is then a block without a loop, that
// vectors and registers can be fitted to.
ProcPtr specialize_rest(ProcPtr p, const Path& rest, int64_t factor) {
  const For loop = at(p, rest).as<For>();
  const ExprPtr count = loop.hi - loop.lo;
  std::vector<ExprPtr> cases;
  for (int64_t k = 1; k < factor; ++k) cases.push_back(bin_op(BinOpKind::kEq, count, int_const(k)));
  p = specialize(p, at(p, rest), cases);
  Path branch = rest;
  for (int64_t k = 1; k < factor; ++k) {
    Path copy = branch;
    copy.push_back({Child::kBody, 0});
    Path hi = copy;
    hi.push_back({Child::kExpr, 1});
    p = rewrite_expr(p, Cursor::expr(p, hi), loop.lo + int_const(k));
    p = simplify(p, at(p, copy));
    p = unroll_loop(p, at(p, copy));
    branch.push_back({Child::kOrelse, 0});
  }
  return eliminate_dead_code(p, at(p, branch));
}

}  // namespace

ProcPtr interleave_loop(ProcPtr p, const Where& loop, int64_t factor, InterleaveTail tail) {
  Cursor c = loop.loop(p);
  Path path = c.path();
  std::string name = c.as<For>().iter.name();
  auto extent = literal_extent(c.as<For>());
  if (extent && *extent <= factor) return unroll_loop(p, c);
  p = divide_loop(p, c, factor, {name + "o", name + "i"},
                  tail == InterleaveTail::kPerfect ? Tail::kPerfect : Tail::kCut);
  if (has_boundary(*p, path, name + "i") && tail != InterleaveTail::kCut && factor > 1) {
    Path rest = sibling(path, 1);
    if (at(p, rest).is<If>()) rest.push_back({Child::kBody, 0});
    if (tail == InterleaveTail::kSpecialize)
      p = specialize_rest(p, rest, factor);
    else if (factor > 2)
      p = interleave_loop(p, at(p, rest), factor / 2, tail);
  }
  path.push_back({Child::kBody, 0});
  return unroll_loop(p, at(p, path));
}

// Jam without dependences proved pair by pair: fission and reordering prove what they need.
ProcPtr unroll_and_jam(ProcPtr p, const Where& outer, int64_t factor) {
  Cursor c = outer.loop(p);
  Path path = c.path();
  std::string name = c.as<For>().iter.name();
  p = divide_loop(p, c, factor, {name + "o", name + "i"}, Tail::kCut);
  // Sink the inner part below every loop it is perfectly nested in, then unroll it there.
  path.push_back({Child::kBody, 0});
  for (;;) {
    const Block& body = body_of(*stmt_at(*p, path));
    if (body.size() != 1 || !body[0]->as<For>()) break;
    p = reorder_loops(p, at(p, path));
    path.push_back({Child::kBody, 0});
  }
  return unroll_loop(p, at(p, path));
}

namespace {

// Does a call in the block pick its register by `iter`?
bool picks_register(const Proc& p, const Block& b, Sym iter, const std::set<Sym>& registers) {
  for (const StmtPtr& s : b) {
    if (const Call* c = s->as<Call>()) {
      for (const ExprPtr& e : c->args)
        if (const WindowExpr* w = e->as<WindowExpr>();
            w && registers.count(w->name) && mentions(e, iter))
          return true;
    }
    if (picks_register(p, body_of(*s), iter, registers) ||
        picks_register(p, orelse_of(*s), iter, registers))
      return true;
  }
  return false;
}

}  // namespace

// Registers cannot be indexed by a variable in C: loops that pick one are unrolled until every
// index is a literal.
ProcPtr unroll_registers(ProcPtr p, const MemoryPtr& memory) {
  std::set<Sym> registers;
  for_each_stmt(p->body, [&](const StmtPtr& s) {
    if (const Alloc* a = s->as<Alloc>(); a && a->mem == memory) registers.insert(a->name);
  });
  // Innermost and last first: unrolling a loop moves only what comes after it.
  std::vector<Path> paths = all_stmt_paths(*p);
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    StmtPtr s = stmt_at(*p, *path);
    const For* f = s ? s->as<For>() : nullptr;
    if (!f || !as_int(f->lo) || !as_int(f->hi)) continue;
    if (picks_register(*p, f->body, f->iter, registers)) p = unroll_loop(p, at(p, *path));
  }
  return unroll_buffers(simplify(p), memory);
}

ProcPtr unroll_buffers(ProcPtr p, const MemoryPtr& memory) {
  // An unrolled buffer becomes several: look again from there after each.
  std::set<Sym> kept;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Path& path : all_stmt_paths(*p)) {
      const Alloc* a = stmt_at(*p, path)->as<Alloc>();
      if (!a || a->mem != memory || a->type.rank() < 2 || !as_int(a->type.shape[0]) ||
          kept.count(a->name))
        continue;
      try {
        p = unroll_buffer(p, at(p, path), 0);
        changed = true;
        break;
      } catch (const SchedulingError&) {
        kept.insert(a->name);  // indexed by a variable
      }
    }
  }
  return p;
}

ProcPtr unroll_all(ProcPtr p, const std::string& loop) {
  std::vector<Cursor> loops = require_loops(p, loop);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) p = unroll_loop(p, at(p, c->path()));
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> blocking_operators() {
  using namespace params;
  return {
      {"block_loop",
       {proc(), place("loop"), integers("sizes"), new_names("new_iters"), string("outside", "")},
       "for ...: for x: s  ->  for xo: for ...: for xi: s   (and the rest of x after it)",
       [](const OperatorArgs& a) -> Value {
         return block_loop(a.proc(), a.where(1), a.integers(2), a.strings(3), a.string(4));
       }},
      {"lift_scope_n",
       {proc(), place("scope"), integer("n_lifts", 1)},
       "lift_scope n times",
       [](const OperatorArgs& a) -> Value {
         return lift_scope_n(a.proc(), a.where(1), a.small(2));
       }},
      {"fission_as_much_as_possible",
       {proc(), place("loop")},
       "for i: s1; s2; s3  ->  for i: s1; for i: s2; for i: s3",
       [](const OperatorArgs& a) -> Value {
         const Cursor c = a.where(1).stmt(a.proc());
         // Exo 2 gives the statement that is to have loops of its own.
         return c.is<For>() ? fission_as_much_as_possible(a.proc(), c) : isolate(a.proc(), c);
       }},
      {"round_loop",
       {proc(), place("loop"), integer("factor"), new_names("new_iters")},
       "for i in seq(0, n): s  ->  for io in seq(0, ceil(n / q)): for ii in seq(0, q): if q * io + "
       "ii < n: s",
       [](const OperatorArgs& a) -> Value {
         return round_loop(a.proc(), a.where(1), a.integer(2), a.strings(3));
       }},
      {"interleave_loop",
       {proc(), place("loop"), integer("factor")},
       "for i: s  ->  for io: s[ii -> 0]; s[ii -> 1]; ...",
       [](const OperatorArgs& a) -> Value {
         return interleave_loop(a.proc(), a.where(1), a.integer(2));
       }},
      {"unroll_and_jam",
       {proc(), place("outer"), integer("factor")},
       "for i: for j: s  ->  for io: for j: s[ii -> 0]; s[ii -> 1]; ...",
       [](const OperatorArgs& a) -> Value {
         return unroll_and_jam(a.proc(), a.where(1), a.integer(2));
       }},
      {"unroll_all",
       {proc(), string("loop")},
       "unroll_loop for every loop of that name",
       [](const OperatorArgs& a) -> Value { return unroll_all(a.proc(), a.string(1)); }},
      {"unroll_registers",
       {proc(), memory("memory")},
       "unroll every loop that picks a register of the memory, then its buffers",
       [](const OperatorArgs& a) -> Value { return unroll_registers(a.proc(), a.memory(1)); }},
      {"unroll_buffers",
       {proc(), memory("memory")},
       "unroll_buffer for every dimension but the vector one of all that lives in the memory",
       [](const OperatorArgs& a) -> Value { return unroll_buffers(a.proc(), a.memory(1)); }},
  };
}

}  // namespace exotune
