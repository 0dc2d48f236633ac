// The rows of the operators that speak to the search: the hole it fills, and what it may do there.
#include "core/library/constraints.h"
#include "core/library/operators.h"

namespace exotune {
namespace {

using A = OperatorArgs;

Value instructions(const A& a) {
  std::vector<ProcPtr> procs = a.procs(1);
  if (procs.empty()) throw InputError({}, "no instruction is named", "name one: mm512_fmadd_ps");
  for (const ProcPtr& p : procs)
    if (!p->instr)
      throw InputError({}, "`" + p->name + "` is no instruction",
                       "`exo-tune list operators` shows what takes a procedure");
  return ValueList{a.proc(), a[1]};
}

Operator in_role(OperatorRole role, Operator row) {
  row.role = role;
  return row;
}

}  // namespace

std::vector<Operator> search_operators() {
  using namespace params;
  constexpr OperatorRole hole = OperatorRole::kHole, constraint = OperatorRole::kConstraint;
  return {
      in_role(hole,
              {"search",
               {proc(), place("where", Value()), keywords("options")},
               "a hole: the search completes this subtree (the whole procedure without a place)",
               [](const A&) -> Value {
                 throw InputError({}, "this script has a hole and needs a search to fill it",
                                  "run `exo-tune complete FILE.sched`");
               }}),
      in_role(constraint, {"use",
                           {proc(), procs("instrs")},
                           "the result calls each of these; they are tried first from here on",
                           instructions}),
      in_role(constraint, {"avoid",
                           {proc(), procs("instrs")},
                           "the result calls none of these; `instrs` is without them from here on",
                           instructions}),
      in_role(constraint,
              {"keep_order",
               {proc(), boolean("keep", true)},
               "the outermost part of each loop stays outside the loops that are inside it here",
               [](const A& a) -> Value {
                 return ValueList{a.proc(), a[1]};
               },
               {},
               {},
               "with what a partial schedule keeps"}),
      in_role(constraint, {"max_unroll",
                           {proc(), integer("iterations")},
                           "from here on no loop of more iterations is unrolled",
                           [](const A& a) -> Value {
                             if (a.integer(1) < 1)
                               throw InputError({}, "a loop is unrolled once at least",
                                                "write 1 or more");
                             return ValueList{a.proc(), a[1]};
                           }}),
      in_role(constraint, {"tiles",
                           {proc(), string("loop"), integers("sizes")},
                           "from here on the loop is blocked by one of these sizes, or not at all",
                           [](const A& a) -> Value {
                             for (const int64_t size : a.integers(2))
                               if (size < 1)
                                 throw InputError({}, "a tile has one iteration at least");
                             return ValueList{a.proc(), a[1], a[2]};
                           }}),
      in_role(constraint, {"pin",
                           {proc(), place("where")},
                           "this subtree stays as it stands, whatever happens around it",
                           [](const A& a) -> Value {
                             return ValueList{a.proc(), a.where(1).block(a.proc())};
                           },
                           {},
                           {},
                           "with what a partial schedule keeps"}),
  };
}

}  // namespace exotune
