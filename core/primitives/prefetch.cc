// Statements that mean nothing: hints to the machine, and calls of procs that do nothing.
#include <algorithm>

#include "core/frontend/parser.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/calls.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

namespace {

// An instruction with an empty meaning that asks for the cache line of one element.
ProcPtr prefetch_instruction(ScalarType type, const MemoryPtr& mem, int locality) {
  auto p = std::make_shared<Proc>();
  p->name = "prefetch_" + std::to_string(locality) + "_" + name_of(type);
  p->args = {{Sym::fresh("x"), Type{type, {}, false}, mem}};
  p->body = {make_pass()};
  p->instr =
      InstrInfo{"__builtin_prefetch(&{x_data}, 0, " + std::to_string(locality) + ");", "", 0.5};
  return p;
}

bool does_nothing(const Block& b) {
  return std::all_of(b.begin(), b.end(), [](const StmtPtr& s) {
    if (s->as<Pass>() || s->as<Alloc>() || s->as<WindowStmt>()) return true;
    if (const Call* c = s->as<Call>()) return does_nothing(c->callee->body);
    return (s->as<For>() || s->as<If>()) && does_nothing(body_of(*s)) &&
           does_nothing(orelse_of(*s));
  });
}

// The tensor that `text` names as a whole: "x", or "x[0:N]" of an x of N elements. Null: no such.
ExprPtr whole_tensor(const std::string& text, const std::vector<ScopeEntry>& scope) {
  for (const ScopeEntry& e : scope) {
    if (!e.type.is_tensor()) continue;
    const ExprPtr whole = read_var(e.name, e.type.scalar);
    const std::string name = str(whole, scope);
    if (text == name) return whole;
    if (text.rfind(name + "[", 0) != 0) continue;
    const ExprPtr parsed = parse_window(text, scope);
    const WindowExpr* w = parsed->as<WindowExpr>();
    if (!w || w->name != e.name) continue;
    bool all = true;
    for (size_t d = 0; d < w->access.size(); ++d)
      all = all && !w->access[d].is_point() && is_literal(w->access[d].lo, 0) &&
            affine_equal(w->access[d].hi, e.type.shape[d]);
    if (all) return whole;
  }
  return nullptr;
}

ExprPtr actual_of(const Type& formal, const std::string& text,
                  const std::vector<ScopeEntry>& scope) {
  if (is_control(formal.scalar)) return parse_control_expr(text, scope);
  if (formal.window) return parse_window(text, scope);
  if (formal.is_tensor())
    if (ExprPtr whole = whole_tensor(text, scope)) return whole;
  return parse_expr(text, scope);
}

}  // namespace

ProcPtr add_prefetch(ProcPtr p, const Cursor& where, const std::string& window, int locality) {
  const char* op = "add_prefetch";
  constexpr int kLineBytes = 64;
  if (locality < 0 || locality > 3) refuse(op, "the locality is one of 0, 1, 2, 3");
  Cursor gap = here(p, where);
  if (gap.kind() != CursorKind::kGap) refuse(op, "the place is no gap");
  const Path& at = gap.path();
  ExprPtr parsed = parse_window_at(*p, at, window);
  const WindowExpr* w = parsed->as<WindowExpr>();
  if (!w) refuse(op, "`" + window + "` is no window");
  auto entry = lookup(*p, at, w->name);
  const MemoryPtr mem = entry->mem ? entry->mem : dram();
  if (!mem->addressable || mem->kind == MemoryKind::kVector ||
      mem->kind == MemoryKind::kRegisterFile)
    refuse(op, "`" + w->name.name() + "` does not live in cached memory");
  const int per_line = std::max(1, kLineBytes / bytes_of(entry->type.scalar));
  struct Loop {
    Sym iter;
    ExprPtr trips;
  };
  std::vector<Loop> loops;
  std::vector<ExprPtr> idx, guards;
  for (size_t d = 0; d < w->access.size(); ++d) {
    const WindowAccess& a = w->access[d];
    ExprPtr i = a.lo, last = a.lo;
    if (!a.is_point()) {
      // Along the last dimension one element per line is enough.
      const int step = d + 1 == w->access.size() ? per_line : 1;
      ExprPtr length = extent(a);
      ExprPtr trips =
          step == 1 ? length
                    : fold(bin_op(BinOpKind::kDiv, length + int_const(step - 1), int_const(step)));
      if (is_literal(trips, 1)) {
        i = last = a.lo;
      } else {
        Sym iter = Sym::fresh("i" + std::to_string(loops.size()));
        loops.push_back({iter, trips});
        i = fold(a.lo + int_const(step) * read_var(iter, ScalarType::kIndex));
        last = fold(a.hi - int_const(1));
      }
    }
    const ExprPtr& n = entry->type.shape[d];
    if (!prove(*p, at, bin_op(BinOpKind::kLe, int_const(0), a.lo)))
      guards.push_back(bin_op(BinOpKind::kLe, int_const(0), i));
    if (!prove(*p, at, bin_op(BinOpKind::kLt, last, n)))
      guards.push_back(bin_op(BinOpKind::kLt, i, n));
    idx.push_back(i);
  }
  ProcPtr instr = prefetch_instruction(entry->type.scalar, mem, locality);
  StmtPtr s = make_call(instr, {read_elem(w->name, idx, entry->type.scalar)});
  if (!guards.empty()) s = make_if(conjunction(guards), {s});
  for (size_t k = loops.size(); k-- > 0;)
    s = make_for(loops[k].iter, int_const(0), loops[k].trips, {s});
  Rewrite rw(p);
  rw.insert(at, {s});
  return rw.finish(op, {gap, window, std::map<std::string, Value>{{"locality", Value(locality)}}});
}

ProcPtr insert_noop_call(ProcPtr p, const Cursor& where, const ProcPtr& callee,
                         const std::vector<std::string>& args) {
  const char* op = "insert_noop_call";
  Cursor gap = here(p, where);
  if (gap.kind() != CursorKind::kGap) refuse(op, "the place is no gap");
  if (!does_nothing(callee->body)) refuse(op, "`" + callee->name + "` does something");
  if (args.size() != callee->args.size())
    refuse(op,
           "`" + callee->name + "` takes " + std::to_string(callee->args.size()) + " arguments");
  std::vector<ScopeEntry> scope = scope_at(*p, gap.path());
  std::vector<ExprPtr> actuals;
  for (size_t k = 0; k < args.size(); ++k)
    actuals.push_back(actual_of(callee->args[k].type, args[k], scope));
  Rewrite rw(p);
  rw.insert(gap.path(), {make_call(callee, actuals)});
  require_call(rw.proc(), gap.path(), op);
  return rw.finish(op, {gap, callee, Value::strings(args)});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> prefetch_operators() {
  using namespace params;
  return {
      {"add_prefetch",
       {proc(), place("gap"), string("window"), integer("locality", Value(3))},
       "s  ->  prefetch(x[i + 8, 0:16]); s",
       [](const OperatorArgs& a) -> Value {
         return add_prefetch(a.proc(), a.where(1).gap(a.proc()), a.string(2), a.small(3));
       }},
      {"insert_noop_call",
       {proc(), place("gap"), proc("subproc"), strings("args")},
       "s  ->  f(...); s   (f does nothing)",
       [](const OperatorArgs& a) -> Value {
         return insert_noop_call(a.proc(), a.where(1).gap(a.proc()), a.proc(2), a.strings(3));
       }},
  };
}

}  // namespace exotune
