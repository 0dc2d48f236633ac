// replace: a block becomes a call of a proc that means the same. Most attempts fail, so failing is
// made cheap: shapes are compared by cached hash before anything else.
#include <algorithm>

#include "core/primitives/calls.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/unify.h"

namespace exotune {

using namespace internal;

namespace {

struct Attempt {
  std::optional<std::vector<ExprPtr>> args;
  const char* why = "";
  std::optional<CallProblem> problem;
};

// The block that `path` points into, without copying shared pointers.
const Block* find_block(const Proc& p, const Path& path) {
  const Block* block = &p.body;
  for (size_t d = 0; d + 1 < path.size(); ++d) {
    if (static_cast<size_t>(path[d].index) >= block->size()) return nullptr;
    const Stmt& s = *(*block)[static_cast<size_t>(path[d].index)];
    block = path[d + 1].child == Child::kOrelse ? &orelse_of(s) : &body_of(s);
  }
  return block;
}

Attempt attempt(const ProcPtr& p, const Cursor& block, const ProcPtr& callee) {
  Attempt out;
  if (block.kind() != CursorKind::kStmt && block.kind() != CursorKind::kBlock) {
    out.why = "the place is no block of statements";
    return out;
  }
  const Path& first = block.path();
  const Block* all = find_block(*p, first);
  const size_t n = callee->body.size(), k = static_cast<size_t>(first.back().index);
  // A statement stands for as many statements as the callee has.
  const size_t given = static_cast<size_t>(block.length());
  if (!all || k + n > all->size() || (given != n && given != 1)) {
    out.why = "the numbers of statements differ";
    return out;
  }
  for (size_t j = 0; j < n; ++j)
    if (shape_hash((*all)[k + j]) != shape_hash(callee->body[j])) {
      out.why = "the bodies have different shapes";
      return out;
    }
  // A proc scheduled from the callee, or calling it, shares its symbols.
  bool shared = false;
  for (const Arg& a : callee->args) shared |= p->find_arg(a.name) != nullptr;
  Unification u = shared ? unify(*p, first, *refresh_all(*callee)) : unify(*p, first, *callee);
  if (!u.args) {
    out.why = u.why;
    return out;
  }
  out.problem = call_problem(*p, first, callee, *u.args);
  if (!out.problem) out.args = std::move(u.args);
  return out;
}

// Is there a read in the expression that `is_one` holds of?
template <class IsOne>
bool reads_one(const ExprPtr& e, const IsOne& is_one) {
  if (const Read* r = e->as<Read>(); r && is_one(*r)) return true;
  const std::vector<ExprPtr> children = expr_children(*e);
  return std::any_of(children.begin(), children.end(),
                     [&](const ExprPtr& c) { return reads_one(c, is_one); });
}

// Does the expression add something to what such a read gives?
template <class IsOne>
bool adds_to_one(const ExprPtr& e, const IsOne& is_one) {
  const BinOp* b = e->as<BinOp>();
  if (b && (b->op == BinOpKind::kAdd || b->op == BinOpKind::kSub) && reads_one(e, is_one))
    return true;
  const std::vector<ExprPtr> children = expr_children(*e);
  return std::any_of(children.begin(), children.end(),
                     [&](const ExprPtr& c) { return adds_to_one(c, is_one); });
}

// Does a loop of the block add several numbers up in one element, or each to the one before? An
// instruction that does so takes them in an order of its own.
bool adds_up(const Block& block, std::vector<Sym>& loops) {
  const auto stays = [&](const std::vector<ExprPtr>& idx) {
    return std::any_of(loops.begin(), loops.end(), [&](Sym iter) {
      return std::none_of(idx.begin(), idx.end(),
                          [&](const ExprPtr& e) { return mentions(e, iter); });
    });
  };
  for (const StmtPtr& s : block) {
    if (const For* f = s->as<For>()) {
      loops.push_back(f->iter);
      if (adds_up(f->body, loops)) return true;
      loops.pop_back();
    } else if (const If* i = s->as<If>()) {
      if (adds_up(i->body, loops) || adds_up(i->orelse, loops)) return true;
    } else if (const Reduce* r = s->as<Reduce>()) {
      if (r->op == ReduceOp::kAdd && is_float(r->rhs->type) && stays(r->idx)) return true;
    } else if (const Assign* a = s->as<Assign>()) {
      const bool same_place = stays(a->idx);
      const auto of_another = [&](const Read& read) {
        return read.name == a->name &&
               (same_place ||
                !std::equal(read.idx.begin(), read.idx.end(), a->idx.begin(), a->idx.end(),
                            [](const ExprPtr& x, const ExprPtr& y) { return equal(x, y); }));
      };
      if (!loops.empty() && is_float(a->rhs->type) && adds_to_one(a->rhs, of_another)) return true;
    }
  }
  return false;
}

ProcPtr replaced(const ProcPtr& p, const Cursor& block, const Value& where, const ProcPtr& callee,
                 std::vector<ExprPtr> args) {
  Rewrite rw(p);
  rw.replace(block.path(), static_cast<int>(callee->body.size()),
             {make_call(callee, std::move(args))});
  std::vector<Sym> loops;
  rw.flags.reassociates = callee->instr && adds_up(callee->body, loops);
  return rw.finish("replace", {where, callee});
}

}  // namespace

ProcPtr replace(ProcPtr p, const Where& where, const ProcPtr& callee) {
  Cursor block = where.block(p);
  Attempt a = attempt(p, block, callee);
  if (a.args) return replaced(p, block, place(where, block), callee, std::move(*a.args));
  std::vector<LazyText> notes;
  std::string why = a.problem ? a.problem->what.str() : a.why;
  if (a.problem && !a.problem->answer) notes = a.problem->answer.notes();
  throw SchedulingError("replace: the block is no call of `" + callee->name + "`: " + why,
                        std::move(notes));
}

std::optional<ProcPtr> try_replace(const ProcPtr& p, const Cursor& block, const ProcPtr& callee) {
  if (block.proc() != p) return try_replace(p, forward(p, block), callee);
  Attempt a = attempt(p, block, callee);
  if (!a.args) return std::nullopt;
  return replaced(p, block, block, callee, std::move(*a.args));
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> replace_operators() {
  using namespace params;
  return {
      {"replace",
       {proc(), place("block"), proc("subproc")},
       "s  ->  f(...)   (s is f's body for some arguments)",
       [](const OperatorArgs& a) -> Value { return replace(a.proc(), a.where(1), a.proc(2)); }},
  };
}

}  // namespace exotune
