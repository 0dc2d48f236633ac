// Exo 2's own argument forms, where they differ from ours, and its library's names for operators
// that have others here. Exo 2 appendices A-D.
#include <algorithm>
#include <set>

#include "core/library/blocking.h"
#include "core/library/cursor_methods.h"
#include "core/library/hoisting.h"
#include "core/library/inspection.h"
#include "core/library/level1.h"
#include "core/library/level2.h"
#include "core/library/operator_values.h"
#include "core/library/operators.h"
#include "core/library/rearranging.h"
#include "core/library/skinny.h"
#include "core/library/statements.h"
#include "core/library/vector_loops.h"

namespace exotune {
namespace {

using A = OperatorArgs;

// Two statements that stand one after the other, as a block.
Cursor pair_of(const A& a, int first, int second) {
  const Cursor s1 = a.where(first).stmt(a.proc()), s2 = a.where(second).stmt(a.proc());
  if (s2.path() != sibling(s1.path(), 1))
    throw SchedulingError("`" + s2.describe() + "` does not stand right after `" + s1.describe() +
                          "`");
  return Cursor::block(a.proc(), s1.path(), 2);
}

// The unit of a machine (its registers): as many lanes as a register has elements.
VectorUnit unit_of(const A& a, int precision, int machine, int instrs) {
  const MemoryPtr memory = a.memory(machine);
  const int lanes = static_cast<int>(memory->bytes / bytes_of(a.precision(precision)));
  if (memory->kind != MemoryKind::kVector || lanes < 1)
    throw InputError({}, "`" + memory->name + "` is no vector unit",
                     "name the memory of its vector registers");
  return {lanes, memory, a.procs(instrs), {}};
}

// What Exo 2 takes and no script can have is refused; to be without it may be said.
void require_no_rules(const A& a, int rules) {
  const ValueList* list = a[rules].as<ValueList>();
  if (!list || !list->empty())
    throw InputError({}, "`rules` must be empty: they are functions, and a script has none",
                     "the instructions of the target say what goes to registers; rules of your own "
                     "are a matter of the C++ interface");
}
void require_not_rounded_up(const A& a, int round_up) {
  const bool* up = a[round_up].as<bool>();
  if (a.given(round_up) && (!up || *up))
    throw InputError({}, "`round_up` must be False: what no tile covers stays in loops of its own",
                     "round_loop rounds a loop up");
}

// Exo 2's vectorize: lanes, precision and registers must go together.
Value vectorized(const A& a) {
  require_no_rules(a, 6);
  const VectorUnit unit = unit_of(a, 3, 4, 5);
  if (a.integer(2) != unit.lanes)
    throw InputError({}, "`vw` must be " + std::to_string(unit.lanes) + ": a register of " +
                             unit.memory->name + " holds that many of " + name_of(a.precision(3)));
  return vectorize(a.proc(), a.where(1), unit, vector_tail(a.string(7)));
}

// What the copies of the loop's body allocate goes to the memory, if one is given.
Value interleaved(const A& a) {
  ProcPtr p = a.proc();
  const Cursor loop = a.where(1).loop(p);
  if (a.given(3))
    for (const Path& path : all_stmt_paths(*p))
      if (path.size() > loop.path().size() &&
          std::equal(loop.path().begin(), loop.path().end(), path.begin()) &&
          stmt_at(*p, path)->as<Alloc>())
        p = set_memory(p, Cursor::stmt(p, path), a.memory(3));
  return interleave_loop(p, Where(forward(p, loop)), a.integer(2), interleave_tail(a.string(4)));
}

// What the block computes twice, in scalars of the precision, if one is given.
Value shared(const A& a) {
  std::set<Sym> before;
  for_each_stmt(a.proc()->body, [&](const StmtPtr& s) {
    if (const Alloc* old = s->as<Alloc>()) before.insert(old->name);
  });
  ProcPtr p = cse(a.proc(), a.given(1) ? a.where(1) : Where(body_of(a.proc())), "shared");
  if (!a.given(2)) return p;
  for (const Path& path : all_stmt_paths(*p))
    if (const Alloc* made = stmt_at(*p, path)->as<Alloc>(); made && !before.contains(made->name))
      p = set_precision(p, Cursor::stmt(p, path), a.precision(2));
  return p;
}

std::string name_of_loop(const Cursor& loop) { return loop.as<For>().iter.name(); }

ValueList with_proc(const ProcPtr& p, const std::vector<Cursor>& cursors) {
  ValueList list(cursors.begin(), cursors.end());
  return {p, std::move(list)};
}

Value loop_rounded_up(const A& a) {
  const Cursor loop = a.where(1).loop(a.proc());
  const std::string name = name_of_loop(loop);
  ProcPtr p = divide_loop(a.proc(), loop, a.integer(2), {name + "o", name + "i"}, Tail::kGuard);
  p = mult_loops(p, Cursor::stmt(p, loop.path()), name);
  return simplify(p, Cursor::stmt(p, loop.path()));
}

// partial_eval(p, 6, 64): values for the control arguments in their order.
Value evaluated(const A& a) {
  std::vector<std::pair<std::string, int64_t>> values;
  int k = 1;
  for (const Arg& arg : a.proc()->args) {
    if (!is_control(arg.type.scalar) || k >= static_cast<int>(a.values().size()) || !a.given(k))
      continue;
    const bool* flag = a[k].as<bool>();
    const int64_t* number = a[k].as<int64_t>();
    if (!flag && !number) throw InputError({}, "`" + arg.name.name() + "` must be an integer");
    values.emplace_back(arg.name.name(), flag ? int64_t{*flag} : *number);
    ++k;
  }
  if (k < static_cast<int>(a.values().size()) && a.given(k))
    throw InputError({}, "`" + a.proc()->name + "` has fewer sizes than values are given");
  return partial_eval(a.proc(), values);
}

std::vector<Param> values_in_order() {
  std::vector<Param> out{params::proc()};
  for (int k = 0; k < 8; ++k)
    out.push_back(
        params::any("value" + std::to_string(k), k ? std::optional<Value>(Value()) : std::nullopt));
  return out;
}

Value level_1(const A& a) {
  const Cursor loop = a.where(1).loop(a.proc());
  const VectorUnit unit = unit_of(a, 2, 3, 5);
  ProcPtr p = optimize_level_1_loop(a.proc(), loop, unit, a.integer(4));
  return unroll_registers(unroll_named(p, name_of_loop(loop) + "u"), unit.memory);
}

Value skinny(const A& a) {
  const Cursor outer = a.where(1).loop(a.proc());
  const Cursor inner = get_inner_loop(a.proc(), outer);
  return opt_skinny(a.proc(), name_of_loop(outer), name_of_loop(inner),
                    {a.small(2), a.memory(3), a.procs(4), {}}, 0);
}

Value triangle(const A& a) {
  require_not_rounded_up(a, 4);
  const Cursor outer = a.where(1).loop(a.proc());
  const Cursor inner = get_inner_loop(a.proc(), outer);
  const ProcPtr p =
      split_triangle(a.proc(), name_of_loop(outer), name_of_loop(inner), a.integer(3));
  return with_proc(p, {forward(p, outer)});
}

}  // namespace

std::vector<Operator> exo2_forms() {
  using namespace params;
  return {
      {"reorder_stmts",
       {proc(), place("s1"), place("s2")},
       "",
       [](const A& a) -> Value { return reorder_stmts(a.proc(), pair_of(a, 1, 2)); }},
      {"merge_writes",
       {proc(), place("s1"), place("s2")},
       "",
       [](const A& a) -> Value { return merge_writes(a.proc(), pair_of(a, 1, 2)); }},
      {"call_eqv",
       {proc(), proc("foo"), proc("bar")},
       "",
       [](const A& a) -> Value {
         return call_eqv(a.proc(), Where(a.proc(1)->name + "(_)"), a.proc(2));
       }},
      {"partial_eval", values_in_order(), "", evaluated},
      {"round_loop",
       {proc(), place("loop"), integer("factor"), boolean("up", true)},
       "",
       loop_rounded_up},
      {"vectorize",
       {proc(), place("loop"), integer("vw"), precision("precision"), memory("mem_type"),
        procs("instructions"), any("rules", ValueList{}), string("tail", "cut_and_guard")},
       "",
       vectorized},
      {"optimize_level_1",
       {proc(), place("loop"), precision("precision"), memory("machine"),
        integer("interleave_factor", 4), procs("instructions")},
       "",
       level_1},
      {"optimize_level_2_general",
       {proc(), place("o_loop"), precision("precision"), memory("machine"), integer("r_fac", 4),
        integer("c_fac", 1), any("round_up", Value()), procs("instructions")},
       "",
       [](const A& a) -> Value {
         require_not_rounded_up(a, 6);
         return optimize_level_2_general(a.proc(), name_of_loop(a.where(1).loop(a.proc())),
                                         unit_of(a, 2, 3, 7), a.integer(4), a.integer(5));
       }},
      {"opt_skinny",
       {proc(), place("out_loop"), integer("vw"), memory("mem_type"), procs("instructions")},
       "",
       skinny},
      {"interleave_loop",
       {proc(), place("loop"), integer("factor"), memory("mem", Value()), string("tail", "cut")},
       "",
       interleaved},
      {"bind_and_lift",
       {proc(), place("expr"), integer("max_size"), new_name("new_name", "tmp")},
       "",
       [](const A& a) -> Value {
         BoundAndLifted b = bind_and_lift(a.proc(), a.where(1), a.string(3), a.integer(2));
         return ValueList{b.proc, b.load, b.alloc};
       }},
      {"unroll_all",
       {proc(), places("loops")},
       "",
       [](const A& a) -> Value {
         ProcPtr p = a.proc();
         std::vector<Where> loops = a.places(1);
         for (auto w = loops.rbegin(); w != loops.rend(); ++w) p = unroll_loop(p, *w);
         return p;
       }},
      in_cpp("split_triangle",
             {"adjust_triang",
              {proc(), place("o_loop"), any("machine"), integer("r_fac"), any("round_up", Value())},
              "split_triangle; returns p and a list of the outer loop",
              triangle}),
      in_cpp("cse", {"CSE",
                     {proc(), place("block", Value()), precision("precision", Value())},
                     "cse",
                     shared}),
      in_cpp("hoist_from_loop",
             {"LICM",
              {proc(), place("loop")},
              "hoist_from_loop",
              [](const A& a) -> Value { return hoist_from_loop(a.proc(), a.where(1)); }}),
  };
}

}  // namespace exotune
