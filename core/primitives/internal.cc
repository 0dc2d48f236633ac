#include "core/primitives/internal.h"

#include <cctype>
#include <functional>

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/calls.h"
// What primitives share: their refusals (each names the operator first, so that a search can count
// reasons), small arithmetic on control expressions that folds constants, and questions that
// several of them ask of a place.

namespace exotune::internal {

std::string quoted(const StmtPtr& s) {
  const std::string text = str(s);
  return "`" + text.substr(0, text.find('\n')) + "`";
}

void refuse(const char* op, const std::string& message, LazyText hint) {
  throw SchedulingError(std::string(op) + ": " + message, {}, std::move(hint));
}

// Unknown refuses like refuted does; the notes carry the counter-example where there is one.
void require(const Answer& answer, const char* op, const std::string& message) {
  if (answer) return;
  throw SchedulingError(std::string(op) + ": " + message, answer.notes());
}

void require_name(const char* op, const std::string& name) {
  bool ok = !name.empty() && name != "_" && !std::isdigit(static_cast<unsigned char>(name[0]));
  for (char ch : name) ok = ok && (std::isalnum(static_cast<unsigned char>(ch)) || ch == '_');
  if (!ok) refuse(op, "'" + name + "' is not a name");
}

// An expression that is moved or copied must mean there what it meant before: by symbol, not by
// spelling, so a shadowed name does not pass.
void require_visible(const Proc& p, const Path& at, const ExprPtr& e, const char* op) {
  if (e->bloom == 0) return;
  std::set<Sym> used;
  collect_symbols(e, used);
  for (const ScopeEntry& s : scope_at(p, at)) used.erase(s.name);
  if (used.empty()) return;
  throw SchedulingError(std::string(op) + ": '" + used.begin()->name() + "' is not visible here");
}

// Wrapping statements in a loop or branch ends the scopes of what they bind.
void require_no_escape(const Proc& p, const Path& first, int n, const char* op) {
  const Block& block = block_at(p, first);
  size_t begin = static_cast<size_t>(first.back().index), end = begin + static_cast<size_t>(n);
  for (size_t k = begin; k < end; ++k) {
    Sym bound = bound_symbol(*block[k]);
    if (!bound.valid()) continue;
    for (size_t after = end; after < block.size(); ++after)
      if (mentions(block[after], bound))
        refuse(op, "'" + bound.name() + "' is made here and used after these statements",
               "move its allocation up first (lift_alloc, reorder_stmts)");
  }
}

// Evaluating an expression a second time is fine unless the statements in between change
// configuration that it reads.
void require_stable(const Proc& p, const Path& first, int n, const ExprPtr& e, const char* op) {
  if (!reads_config(e)) return;
  require(value_unchanged_by(p, first, n, e), op,
          "the statements may change '" + str(e) + "', which is evaluated again");
}

// Configuration is checked as a whole: moving a write may leave a call's assert unproved far away.
// Only programs that write configuration pay for it.
void require_still_checks(const Proc& result, const Block& moved, const char* op) {
  if (!writes_config(moved)) return;
  try {
    check(result);
  } catch (const InputError& e) {
    throw SchedulingError(std::string(op) + ": what configuration holds would no longer be known",
                          {e.diagnostic().message});
  }
}

void require_config_may_stand(const Proc& result, const std::vector<ExprPtr>& exprs,
                              const char* op) {
  for (const ExprPtr& e : exprs) {
    if (!reads_config(e)) continue;
    try {
      check(result);
    } catch (const InputError& error) {
      throw SchedulingError(
          std::string(op) + ": '" + str(e) + "' may not stand where it comes to stand",
          {error.diagnostic().message});
    }
  }
}

// A configuration field is set once for a loop, never per iteration: that is a rule of the language
// (the checker's), and rewrites must not break it.
void require_config_writes_fixed(const Proc& result, const char* op) {
  std::vector<Sym> around;
  std::function<void(const Block&)> walk = [&](const Block& b) {
    for (const StmtPtr& s : b) {
      if (const WriteConfig* w = s->as<WriteConfig>())
        for (Sym i : around)
          if (mentions(w->rhs, i))
            refuse(op, "the value of '" + w->config->name + "." + w->field +
                           "' would depend on the loop over '" + i.name() + "'");
      const For* f = s->as<For>();
      if (f) around.push_back(f->iter);
      walk(body_of(*s));
      walk(orelse_of(*s));
      if (f) around.pop_back();
    }
  };
  walk(result.body);
}

// Indices are computed in 64 bits and sizes may be large: literals beyond 2^31 could overflow in
// products that no proof looks at.
void require_moderate(const ExprPtr& e, const char* op) {
  constexpr int64_t kLargest = int64_t{1} << 31;
  if (auto v = as_int(e); v && (*v > kLargest || *v < -kLargest))
    refuse(op, "with a number such as " + std::to_string(*v) + " indices may not fit 64 bits");
  for (const ExprPtr& child : expr_children(*e)) require_moderate(child, op);
}

Path child_path(const Path& stmt, Child child, int index) {
  Path out = stmt;
  out.push_back({child, index});
  return out;
}

int body_size(const Proc& p, const Path& stmt) {
  return static_cast<int>(body_of(*stmt_at(p, stmt)).size());
}

Value place(const Where& where, const Cursor& resolved) {
  Value v = where.value();
  if (v.as<std::string>()) return v;
  return Value(resolved);
}

// Cursors that users hold are forwarded; one whose target a rewrite removed refuses the step
// instead of pointing at something else.
Cursor here(const ProcPtr& p, const Cursor& c) {
  if (!c.valid()) throw InvalidCursorError("this cursor points nowhere");
  if (c.proc() == p) return c;
  Cursor f = forward(p, c);
  if (!f.valid())
    throw InvalidCursorError("what this cursor pointed at is gone",
                             "find it again in the current procedure");
  return f;
}

// Also what folds to a literal, such as 4 * 2 + 1.
std::optional<int64_t> literal(const ExprPtr& e) {
  if (auto v = as_int(e)) return v;
  if (e->bloom != 0) return std::nullopt;
  if (auto a = affine(e); a && a->is_constant()) return a->constant;
  return std::nullopt;
}

// These keep what users read small: x + 0 is x, and constants are added at once; overflow leaves
// the expression as it is.
ExprPtr plus(const ExprPtr& a, const ExprPtr& b) {
  auto x = as_int(a), y = as_int(b);
  int64_t sum;
  if (x && y && !__builtin_add_overflow(*x, *y, &sum)) return int_const(sum);
  if (x && *x == 0) return b;
  if (y && *y == 0) return a;
  if (y && *y < 0 && *y != INT64_MIN) return a - int_const(-*y);
  return a + b;
}

ExprPtr minus(const ExprPtr& a, const ExprPtr& b) {
  auto x = as_int(a), y = as_int(b);
  int64_t difference;
  if (x && y && !__builtin_sub_overflow(*x, *y, &difference)) return int_const(difference);
  if (y && *y == 0) return a;
  return a - b;
}

ExprPtr times(int64_t k, const ExprPtr& e) {
  auto x = as_int(e);
  int64_t product;
  if (x && !__builtin_mul_overflow(k, *x, &product)) return int_const(product);
  return k == 1 ? e : int_const(k) * e;
}

// Rounds down for either sign, as the language does: -((-x + k - 1) / k) is C's way to say it.
ExprPtr floor_div(const ExprPtr& e, int64_t k) {
  if (auto x = as_int(e)) return int_const(*x >= 0 ? *x / k : -((-*x + k - 1) / k));
  return k == 1 ? e : bin_op(BinOpKind::kDiv, e, int_const(k));
}

ExprPtr modulo(const ExprPtr& e, int64_t k) {
  if (auto x = as_int(e)) return int_const(((*x % k) + k) % k);
  return k == 1 ? int_const(0) : bin_op(BinOpKind::kMod, e, int_const(k));
}

ExprPtr less(const ExprPtr& a, const ExprPtr& b) { return bin_op(BinOpKind::kLt, a, b); }
ExprPtr less_equal(const ExprPtr& a, const ExprPtr& b) { return bin_op(BinOpKind::kLe, a, b); }
ExprPtr equals(const ExprPtr& a, const ExprPtr& b) { return bin_op(BinOpKind::kEq, a, b); }
ExprPtr both(const ExprPtr& a, const ExprPtr& b) { return bin_op(BinOpKind::kAnd, a, b); }

ExprPtr trip_count(const For& f) {
  if (as_int(f.lo) == int64_t{0}) return f.hi;
  return normalize(minus(f.hi, f.lo));
}

bool reads_config(const ExprPtr& e) {
  if (e->as<ReadConfig>()) return true;
  for (const ExprPtr& c : expr_children(*e))
    if (reads_config(c)) return true;
  return false;
}

namespace {
void collect_data(const ExprPtr& e, std::set<Sym>& into) {
  if (const Read* r = e->as<Read>()) {
    if (is_data(e->type)) into.insert(r->name);
  } else if (const WindowExpr* w = e->as<WindowExpr>()) {
    into.insert(w->name);
  }
  for (const ExprPtr& c : expr_children(*e)) collect_data(c, into);
}
}  // namespace

std::set<Sym> data_read(const ExprPtr& e) {
  std::set<Sym> out;
  collect_data(e, out);
  return out;
}

Sym root_of(const Proc& p, const Path& at, Sym s) {
  for (auto entry = lookup(p, at, s); entry && entry->window; entry = lookup(p, at, s))
    s = entry->window->rhs->as<WindowExpr>()->name;
  return s;
}

bool reads_buffer(const Proc& p, const Path& at, const ExprPtr& e, Sym s) {
  const Sym root = root_of(p, at, s);
  for (Sym r : data_read(e))
    if (root_of(p, at, r) == root) return true;
  return false;
}

// Storing changes a value unless types agree, or one of them is still undecided and the other
// floating. A small integral constant is exact everywhere (0 to 127).
bool keeps_value(const ExprPtr& e, ScalarType target) {
  if (e->type == target) return true;
  if (const Const* c = e->as<Const>()) {
    if (is_float(target)) return true;
    const double* d = std::get_if<double>(&c->value);
    return d && *d == static_cast<double>(static_cast<int8_t>(*d)) && *d >= 0;
  }
  return is_float(e->type) && is_float(target) &&
         (e->type == ScalarType::kR || target == ScalarType::kR);
}

void require_no_cast(const ExprPtr& e, ScalarType target, const char* op) {
  if (!keeps_value(e, target))
    refuse(op, std::string("the value is converted from ") + name_of(e->type) + " to " +
                   name_of(target) + " when it is stored");
}

// Reading an element that was not read before is only allowed where it exists, dividing integers
// only by what is not zero: needed wherever a rewrite evaluates an expression more often than the
// program did.
Answer reads_in_bounds(const Proc& p, const Path& at, const ExprPtr& e) {
  Answer ok;
  if (may_trap(e)) {
    ok.why = "an integer is divided by what may be zero";
    return ok;
  }
  ok.verdict = Verdict::kProved;
  if (const Read* r = e->as<Read>(); r && !r->idx.empty()) {
    auto entry = lookup(p, at, r->name);
    EXO_CHECK(entry && entry->type.shape.size() == r->idx.size());
    for (size_t k = 0; k < r->idx.size(); ++k) {
      Answer a = prove(
          p, at, both(less_equal(int_const(0), r->idx[k]), less(r->idx[k], entry->type.shape[k])));
      if (!a) return a;
    }
  }
  for (const ExprPtr& c : expr_children(*e))
    if (Answer a = reads_in_bounds(p, at, c); !a) return a;
  return ok;
}

ScalarType element_type(const Proc& p, const Path& at, Sym s) {
  auto entry = lookup(p, at, s);
  EXO_CHECK(entry);
  return entry->type.scalar;
}

// Two data expressions are equal if they have the same form and their control parts are proved
// equal one by one: no arithmetic over data is used.
Answer equal_in_context(const Proc& p, const Path& at, const ExprPtr& a, const ExprPtr& b) {
  Answer yes, no;
  yes.verdict = Verdict::kProved;
  if (equal(a, b)) return yes;
  if (is_integer_control(a->type) && is_integer_control(b->type)) return prove_equal(p, at, a, b);
  if (a->type == ScalarType::kBool && b->type == ScalarType::kBool)
    return prove(p, at, bin_op(BinOpKind::kOr, both(a, b), both(logical_not(a), logical_not(b))));
  no.why = "the two expressions differ in form";
  if (a->node.index() != b->node.index() || a->type != b->type) return no;
  std::vector<ExprPtr> ca = expr_children(*a), cb = expr_children(*b);
  if (ca.empty() || ca.size() != cb.size() || !equal(with_children(a, cb), b)) return no;
  for (size_t k = 0; k < ca.size(); ++k)
    if (Answer each = equal_in_context(p, at, ca[k], cb[k]); !each) return each;
  return yes;
}

}  // namespace exotune::internal
