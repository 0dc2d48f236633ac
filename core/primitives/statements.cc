// Statements: swapping neighbours, passes, and the algebra of writes.
#include "core/ir/printer.h"
#include "core/primitives/internal.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

namespace {

// An assignment or reduction: `name[idx] = rhs` or `name[idx] op= rhs`.
struct Write {
  Sym name;
  const std::vector<ExprPtr>* idx;
  ExprPtr rhs;
  std::optional<ReduceOp> op;
};

// Null for every other statement.
std::optional<Write> as_write(const Stmt& s) {
  if (const Assign* a = s.as<Assign>()) return Write{a->name, &a->idx, a->rhs, {}};
  if (const Reduce* r = s.as<Reduce>()) return Write{r->name, &r->idx, r->rhs, r->op};
  return std::nullopt;
}

Write require_write(const StmtPtr& s, const char* op) {
  auto w = as_write(*s);
  if (!w) refuse(op, "expected an assignment or reduction");
  return *w;
}

// The pair of neighbouring statements a cursor or pattern names.
Cursor require_pair(const Where& where, const ProcPtr& p, const char* op) {
  Cursor c = where.block(p);
  if (c.length() != 2) refuse(op, "expected two neighbouring statements");
  return c;
}

// Subscripts may be written differently: `i + 1` and `1 + i` are one element.
Answer same_element(const Proc& p, const Path& at, const Write& a, const Write& b) {
  Answer no;
  no.why = "they write to different buffers";
  if (a.name != b.name) return no;
  Answer yes;
  yes.verdict = Verdict::kProved;
  for (size_t k = 0; k < a.idx->size(); ++k)
    if (Answer each = equal_in_context(p, at, (*a.idx)[k], (*b.idx)[k]); !each) return each;
  return yes;
}

// fmax for max=, fmin for min=.
const char* function_of(ReduceOp op) { return op == ReduceOp::kMax ? "fmax" : "fmin"; }

ExprPtr combine(ReduceOp op, const ExprPtr& a, const ExprPtr& b) {
  if (op == ReduceOp::kAdd) return a + b;
  // R, the type that a user left open, gives way to a precision.
  return make_expr(Extern{function_of(op), {a, b}}, a->type == ScalarType::kR ? b->type : a->type);
}

StmtPtr write_of(const Write& w, const ExprPtr& rhs, std::optional<ReduceOp> op) {
  return op ? make_reduce(w.name, *w.idx, rhs, *op) : make_assign(w.name, *w.idx, rhs);
}

bool is_zero(const ExprPtr& e) {
  const Const* c = e->as<Const>();
  if (!c) return false;
  if (const double* d = std::get_if<double>(&c->value)) return *d == 0;
  if (const int64_t* v = std::get_if<int64_t>(&c->value)) return *v == 0;
  return false;
}

}  // namespace

ProcPtr reorder_stmts(ProcPtr p, const Where& pair) {
  static const char op[] = "reorder_stmts";
  Cursor c = require_pair(pair, p, op);
  // No data and no configuration goes from one to the other in either order.
  const LoopAnswer commute = blocks_commute(*p, c.path(), 1, 1);
  require(commute, op, "the two statements do not commute");
  Rewrite rw(p);
  rw.flags.reassociates |= commute.reassociates;
  rw.move(sibling(c.path(), 1), 1, c.path());
  return rw.finish(op, {place(pair, c)});
}

ProcPtr reorder_blocks(ProcPtr p, const Where& block, int first) {
  static const char op[] = "reorder_blocks";
  Cursor c = block.block(p);
  const int others = c.length() - first;
  if (first < 1 || others < 1) refuse(op, "there must be statements on both sides");
  const LoopAnswer commute = blocks_commute(*p, c.path(), first, others);
  require(commute, op, "the two blocks do not commute");
  Rewrite rw(p);
  rw.flags.reassociates |= commute.reassociates;
  rw.move(sibling(c.path(), first), others, c.path());
  return rw.finish(op, {place(block, c), first});
}

ProcPtr insert_pass(ProcPtr p, const Cursor& gap) {
  Cursor c = here(p, gap);
  if (c.kind() != CursorKind::kGap) throw InvalidCursorError("insert_pass: expected a gap");
  Rewrite rw(p);
  rw.insert(c.path(), {make_pass()});
  return rw.finish("insert_pass", {Value(c)});
}

namespace {
bool is_empty_statement(const StmtPtr& s) {
  if (s->as<Pass>()) return true;
  if (!s->as<For>() && !s->as<If>()) return false;
  // Loops and ifs over nothing do nothing: bounds and conditions have no effect.
  for (const Block* b : {&body_of(*s), &orelse_of(*s)})
    for (const StmtPtr& k : *b)
      if (!is_empty_statement(k)) return false;
  return true;
}

// Deletes, last to first, what does nothing in the block that starts at `first`.
void delete_idle(Rewrite& rw, const Path& first) {
  const Block block = block_at(rw.proc(), first);
  // A block keeps one statement; an else branch may go altogether.
  size_t left = block.size();
  for (size_t k = block.size(); k-- > 0;) {
    const Path at = sibling(first, static_cast<int>(k));
    if (is_empty_statement(block[k])) {
      if (left > 1 || first.back().child == Child::kOrelse) {
        rw.erase(at, 1);
        --left;
      } else if (!block[k]->as<Pass>()) {
        rw.replace(at, 1, {make_pass()});
      }
      continue;
    }
    // From the last to the first, so that the paths of those before stay.
    if (!body_of(*block[k]).empty()) delete_idle(rw, body_path(at));
    if (!orelse_of(*block[k]).empty()) delete_idle(rw, child_path(at, Child::kOrelse));
  }
}
}  // namespace

ProcPtr delete_pass(ProcPtr p) {
  Rewrite rw(p);
  delete_idle(rw, {{Child::kBody, 0}});
  return rw.finish("delete_pass", {});
}

ProcPtr merge_writes(ProcPtr p, const Where& pair) {
  static const char op[] = "merge_writes";
  Cursor c = require_pair(pair, p, op);
  const Path at = c.path(), next = sibling(at, 1);
  const Write a = require_write(stmt_at(*p, at), op), b = require_write(stmt_at(*p, next), op);
  require(same_element(*p, at, a, b), op, "cannot prove that both write to the same element");
  require(value_unchanged_by(*p, at, 1, b.rhs), op,
          "the second right side reads what the first writes");
  Rewrite rw(p);
  // An assignment in second place simply overwrites the first.
  if (b.op) {
    if (a.op && *a.op != *b.op)
      refuse(op, std::string("`") + name_of(*a.op) + "` and `" + name_of(*b.op) + "` do not merge");
    const ScalarType type = element_type(*p, at, a.name);
    require_no_cast(a.rhs, type, op);
    require_no_cast(b.rhs, type, op);
    // x += a; x += b becomes x += a + b: another order of sums. After x = a it is the same order.
    rw.flags.reassociates |= a.op && *b.op == ReduceOp::kAdd && is_float(type);
    rw.replace_keep(next, write_of(b, combine(*b.op, a.rhs, b.rhs), a.op));
  }
  rw.erase(at, 1);
  return rw.finish(op, {place(pair, c)});
}

ProcPtr bind_converted(ProcPtr p, const Where& where, const std::string& name) {
  static const char op[] = "bind_converted";
  Cursor c = where.stmt(p);
  require_name(op, name);
  const Path at = c.path();
  const Write w = require_write(c.stmt(), op);
  const ScalarType type = element_type(*p, at, w.name);
  if (!w.op) refuse(op, "an assignment is a name's already", "a reduction, as x += e");
  // A sum of floating-point numbers may be made in the precision of what is added.
  if (is_float(type) || type == ScalarType::kR)
    refuse(op, "'" + w.name.name() + "' holds no integers");
  if (w.rhs->type == type) refuse(op, "'" + str(w.rhs) + "' is not converted");
  const Sym converted = Sym::fresh(name);
  Rewrite rw(p);
  rw.replace_keep(at, write_of(w, read_var(converted, type), w.op));
  rw.insert(at, {make_alloc(converted, Type{type, {}, false}, dram()),
                 make_assign(converted, {}, w.rhs)});
  return rw.finish(op, {place(where, c), name});
}

ProcPtr split_write(ProcPtr p, const Where& where) {
  static const char op[] = "split_write";
  Cursor c = where.stmt(p);
  const Path at = c.path();
  const Write w = require_write(c.stmt(), op);
  const BinOp* sum = w.rhs->as<BinOp>();
  const bool minus = sum && sum->op == BinOpKind::kSub;
  if (!sum || (!minus && sum->op != BinOpKind::kAdd) || (w.op && *w.op != ReduceOp::kAdd))
    refuse(op, "expected a sum on the right side of = or +=");
  // It is evaluated after the first write now.
  require(value_unchanged_by(*p, at, 1, sum->rhs), op, "the second summand reads what is written");
  const ScalarType type = element_type(*p, at, w.name);
  for (const ExprPtr& e : {w.rhs, sum->lhs, sum->rhs}) require_no_cast(e, type, op);
  if (minus && !is_float(type))
    refuse(op, "a difference of integers: the least of them has no negative");
  Rewrite rw(p);
  rw.flags.reassociates |= w.op && is_float(type);
  rw.replace_keep(at, write_of(w, sum->lhs, w.op));
  rw.insert(sibling(at, 1), {write_of(w, minus ? negate(sum->rhs) : sum->rhs, ReduceOp::kAdd)});
  return rw.finish(op, {place(where, c)});
}

namespace {

// `e` without one summand (or argument of fmax or fmin) equal to the element that `w` writes, or
// null. The summand may stand anywhere in a tree of additions; `moved`: it was not the leftmost.
ExprPtr without_target(const Proc& p, const Path& at, const Write& w, const ExprPtr& e, ReduceOp op,
                       bool may_negate, bool* moved) {
  // The two operands, where the node is the operation that is looked for.
  const ExprPtr *l = nullptr, *r = nullptr;
  const bool add = op == ReduceOp::kAdd;
  const BinOp* b = add ? e->as<BinOp>() : nullptr;
  const bool minus = may_negate && b && b->op == BinOpKind::kSub;
  if (b && (minus || b->op == BinOpKind::kAdd)) l = &b->lhs, r = &b->rhs;
  if (const Extern* x = e->as<Extern>(); x && !add && x->fn == function_of(op))
    l = &x->args[0], r = &x->args[1];
  if (!l) return nullptr;
  auto is_target = [&](const ExprPtr& x) {
    const Read* read = x->as<Read>();
    if (!read || read->name != w.name || read->idx.size() != w.idx->size()) return false;
    for (size_t k = 0; k < w.idx->size(); ++k)
      if (!equal_in_context(p, at, read->idx[k], (*w.idx)[k])) return false;
    return true;
  };
  // x - e is x += -e.
  if (is_target(*l)) return minus ? negate(*r) : *r;
  if (!minus && is_target(*r)) return *l;
  // From here on another operand comes before the target in the sum.
  *moved = true;
  if (ExprPtr rest = without_target(p, at, w, *l, op, may_negate, moved))
    return minus ? rest - *r : combine(op, rest, *r);
  if (minus) return nullptr;  // e - x takes away what is written
  if (ExprPtr rest = without_target(p, at, w, *r, op, may_negate, moved))
    return combine(op, *l, rest);
  return nullptr;
}

}  // namespace

ProcPtr fold_into_reduce(ProcPtr p, const Where& where) {
  static const char op[] = "fold_into_reduce";
  Cursor c = where.stmt(p);
  const Path at = c.path();
  if (!c.is<Assign>()) refuse(op, "expected an assignment");
  const Write w = *as_write(*c.stmt());
  const ScalarType type = element_type(*p, at, w.name);
  require_no_cast(w.rhs, type, op);
  ExprPtr rest;
  ReduceOp reduce = ReduceOp::kAdd;
  bool moved = false;
  for (ReduceOp each : {ReduceOp::kAdd, ReduceOp::kMax, ReduceOp::kMin}) {
    if (rest) break;
    reduce = each;
    moved = false;
    // The negative of the least integer is none.
    rest = without_target(*p, at, w, w.rhs, each, is_float(type), &moved);
  }
  if (!rest)
    refuse(op,
           "the right side is no sum (or fmax, or fmin) with the element written as an operand");
  require_no_cast(rest, type, op);
  Rewrite rw(p);
  rw.flags.reassociates |= moved && reduce == ReduceOp::kAdd && is_float(type);
  rw.replace_keep(at, make_reduce(w.name, *w.idx, rest, reduce));
  return rw.finish(op, {place(where, c)});
}

namespace {

// { a : T ; a = e ; s }: all but the last statement make names of the block's own.
bool ends_in_one(const Block& body) {
  std::set<Sym> own;
  for (size_t k = 0; k + 1 < body.size(); ++k) {
    if (const Alloc* a = body[k]->as<Alloc>()) {
      own.insert(a->name);
      continue;
    }
    const Assign* a = body[k]->as<Assign>();
    if (!a || !own.count(a->name)) return false;
  }
  return !body.empty();
}

}  // namespace

ProcPtr lift_reduce_constant(ProcPtr p, const Where& pair) {
  static const char op[] = "lift_reduce_constant";
  Cursor c = require_pair(pair, p, op);
  const Path at = c.path(), loop = sibling(at, 1);
  const Assign* zero = stmt_at(*p, at)->as<Assign>();
  if (!zero || !is_zero(zero->rhs)) refuse(op, "expected `x = 0` before the loop");
  if (!stmt_at(*p, loop)->as<For>()) refuse(op, "expected a loop after `x = 0`");
  // Down to the one statement in all the loops and guards.
  Path inner = loop;
  std::set<Sym> changing;  // iterators, and names made on the way
  StmtPtr s = stmt_at(*p, inner);
  while (s->as<For>() || s->as<If>()) {
    if (const For* f = s->as<For>()) changing.insert(f->iter);
    const Block& body = body_of(*s);
    if (!ends_in_one(body) || !orelse_of(*s).empty())
      refuse(op, "the loop must hold just one reduction, behind names of its own");
    for (size_t k = 0; k + 1 < body.size(); ++k) {
      if (const Alloc* a = body[k]->as<Alloc>()) changing.insert(a->name);
      for (const ExprPtr& e : stmt_exprs(*body[k]))
        if (reads_buffer(*p, body_path(inner, static_cast<int>(k)), e, zero->name))
          refuse(op, "a value in the loop reads what the loop writes");
    }
    inner = body_path(inner, static_cast<int>(body.size()) - 1);
    s = stmt_at(*p, inner);
  }
  const Reduce* r = s->as<Reduce>();
  if (!r || r->op != ReduceOp::kAdd) refuse(op, "the loop must hold just one `x += c * e`");
  const Write w{zero->name, &zero->idx, zero->rhs, {}}, sum{r->name, &r->idx, r->rhs, r->op};
  require(same_element(*p, inner, w, sum), op,
          "cannot prove that the loop reduces into the element set to 0");
  const BinOp* product = r->rhs->as<BinOp>();
  if (!product || product->op != BinOpKind::kMul) refuse(op, "the reduction must add a product");
  // The same in every iteration, and readable behind the loop, even where it never ran.
  auto is_constant = [&](const ExprPtr& e) {
    for (Sym i : changing)
      if (mentions(e, i)) return false;
    return bool(value_unchanged_by(*p, loop, 1, e)) && bool(reads_in_bounds(*p, loop, e));
  };
  const bool left = is_constant(product->lhs);
  if (!left && !is_constant(product->rhs)) refuse(op, "neither factor is constant in the loop");
  const ExprPtr factor = left ? product->lhs : product->rhs,
                rest = left ? product->rhs : product->lhs;
  if (reads_buffer(*p, inner, rest, zero->name))
    refuse(op, "the other factor reads what the loop writes");
  const ScalarType type = element_type(*p, at, zero->name);
  for (const ExprPtr& e : {r->rhs, factor, rest}) require_no_cast(e, type, op);
  Rewrite rw(p);
  // c * a + c * b and c * (a + b) round differently; integers wrap around either way.
  rw.flags.reassociates = is_float(type);
  rw.replace_keep(inner, make_reduce(r->name, r->idx, rest));
  rw.insert(sibling(loop, 1),
            {make_assign(zero->name, zero->idx, factor * read_elem(zero->name, zero->idx, type))});
  // Behind a loop that may never run the factor was not read at all.
  require_parallel_loops(rw.proc(), loop, op);
  return rw.finish(op, {place(pair, c)});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> statements_operators() {
  using namespace params;
  return {
      {"reorder_stmts",
       {proc(), place("block")},
       "s1; s2  ->  s2; s1",
       [](const OperatorArgs& a) -> Value { return reorder_stmts(a.proc(), a.where(1)); }},
      {"reorder_blocks",
       {proc(), place("block"), integer("first")},
       "s1; s2  ->  s2; s1   (s1: so many statements of the block)",
       [](const OperatorArgs& a) -> Value {
         return reorder_blocks(a.proc(), a.where(1), a.small(2));
       }},
      {"insert_pass",
       {proc(), place("gap")},
       "s1; s2  ->  s1; pass; s2",
       [](const OperatorArgs& a) -> Value {
         return insert_pass(a.proc(), a.where(1).gap(a.proc()));
       }},
      {"delete_pass",
       {proc()},
       "pass; s  ->  s   (everywhere)",
       [](const OperatorArgs& a) -> Value { return delete_pass(a.proc()); }},
      {"merge_writes",
       {proc(), place("block")},
       "x = e1; x += e2  ->  x = e1 + e2",
       [](const OperatorArgs& a) -> Value { return merge_writes(a.proc(), a.where(1)); }},
      {"bind_converted",
       {proc(), place("stmt"), new_name("new_name")},
       "x += e  ->  t : _; t = e; x += t   (t of x's integer type, e of another)",
       [](const OperatorArgs& a) -> Value {
         return bind_converted(a.proc(), a.where(1), a.string(2));
       }},
      {"split_write",
       {proc(), place("stmt")},
       "x = e1 + e2  ->  x = e1; x += e2   (e1 - e2: x += -e2)",
       [](const OperatorArgs& a) -> Value { return split_write(a.proc(), a.where(1)); }},
      {"fold_into_reduce",
       {proc(), place("assign")},
       "x = x + e  ->  x += e",
       [](const OperatorArgs& a) -> Value { return fold_into_reduce(a.proc(), a.where(1)); }},
      {"lift_reduce_constant",
       {proc(), place("block")},
       "x = 0.0; for i: x += c * y[i]  ->  x = 0.0; for i: x += y[i]; x = c * x",
       [](const OperatorArgs& a) -> Value { return lift_reduce_constant(a.proc(), a.where(1)); }},
  };
}

}  // namespace exotune
