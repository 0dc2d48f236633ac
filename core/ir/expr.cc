#include "core/ir/expr.h"

#include <bit>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/base/hashing.h"
#include "core/ir/memory.h"

namespace exotune {

const char* name_of(ScalarType t) {
  static const char* const names[] = {"R",   "f16",  "bf16", "f32",  "f64",   "i8",   "ui8",
                                      "i16", "ui16", "i32",  "size", "index", "bool", "stride"};
  return names[static_cast<int>(t)];
}

int bytes_of(ScalarType t) {
  static const int bytes[] = {4, 2, 2, 4, 8, 1, 1, 2, 2, 4};
  EXO_CHECK(is_data(t));
  return bytes[static_cast<int>(t)];
}

const char* c_name_of(ScalarType t) {
  static const char* const names[] = {"float",   "_Float16", "uint16_t", "float",    "double",
                                      "int8_t",  "uint8_t",  "int16_t",  "uint16_t", "int32_t",
                                      "int64_t", "int64_t",  "bool",     "int64_t"};
  return names[static_cast<int>(t)];
}

const char* name_of(BinOpKind op) {
  static const char* const names[] = {"+", "-", "*",  "/",  "%",  "and", "or",
                                      "<", ">", "<=", ">=", "==", "!="};
  return names[static_cast<int>(op)];
}

// Hash and bloom from the children's: O(1) a node whatever its depth. Symbols count by id, so two
// programs that differ in names only have different hashes; alpha_equal is for those.
namespace {

struct ExprHasher {
  uint64_t hash = 0, bloom = 0;
  void add(uint64_t v) { hash = hash_combine(hash, v); }
  void add(Sym s) {
    add(s.id());
    bloom |= s.bloom();
  }
  void add(const ExprPtr& e) {
    add(e ? e->hash : 0x51ull);
    if (e) bloom |= e->bloom;
  }
  void add(const std::vector<ExprPtr>& es) {
    add(es.size());
    for (const ExprPtr& e : es) add(e);
  }
  void operator()(const Read& n) { add(n.name), add(n.idx); }
  void operator()(const Const& n) {
    add(n.value.index());
    if (auto* i = std::get_if<int64_t>(&n.value)) add(static_cast<uint64_t>(*i));
    if (auto* d = std::get_if<double>(&n.value)) add(std::bit_cast<uint64_t>(*d));
    if (auto* b = std::get_if<bool>(&n.value)) add(static_cast<uint64_t>(*b));
  }
  void operator()(const USub& n) { add(n.arg); }
  void operator()(const Not& n) { add(n.arg); }
  void operator()(const BinOp& n) { add(static_cast<uint64_t>(n.op)), add(n.lhs), add(n.rhs); }
  void operator()(const Extern& n) { add(hash_bytes(n.fn)), add(n.args); }
  void operator()(const WindowExpr& n) {
    add(n.name), add(n.access.size());
    for (const WindowAccess& a : n.access) add(a.lo), add(a.hi);
  }
  void operator()(const StrideExpr& n) { add(n.name), add(static_cast<uint64_t>(n.dim)); }
  void operator()(const ReadConfig& n) {
    add(reinterpret_cast<uintptr_t>(n.config.get())), add(hash_bytes(n.field));
  }
  void operator()(const Cast& n) { add(n.arg); }
};

}  // namespace

// The type enters a Cast's hash and no other's: elsewhere it follows from the children, or, for
// constants, does not count.
ExprPtr make_expr(ExprNode node, ScalarType type, SourceLocation where) {
  ExprHasher h;
  h.add(node.index() + 1);
  std::visit(h, node);
  if (std::holds_alternative<Cast>(node)) h.add(static_cast<uint64_t>(type));
  auto e = std::make_shared<Expr>();
  e->node = std::move(node);
  e->type = type;
  e->where = std::move(where);
  e->hash = h.hash;
  e->bloom = h.bloom;
  return e;
}

ExprPtr int_const(int64_t v) { return make_expr(Const{v}, ScalarType::kIndex); }
ExprPtr bool_const(bool v) { return make_expr(Const{v}, ScalarType::kBool); }
ExprPtr data_const(double v, ScalarType t) { return make_expr(Const{v}, t); }
ExprPtr read_var(Sym name, ScalarType type) { return make_expr(Read{name, {}}, type); }
ExprPtr read_elem(Sym name, std::vector<ExprPtr> idx, ScalarType type) {
  return make_expr(Read{name, std::move(idx)}, type);
}

// Data wins over control, and a decided precision over R; comparisons and logic are booleans
// whatever they compare.
ExprPtr bin_op(BinOpKind op, ExprPtr lhs, ExprPtr rhs) {
  ScalarType type;
  if (is_comparison(op) || is_logical(op)) {
    type = ScalarType::kBool;
  } else if (is_data(lhs->type) || is_data(rhs->type)) {
    type = is_data(lhs->type) && lhs->type != ScalarType::kR ? lhs->type : rhs->type;
    if (!is_data(type)) type = lhs->type;
  } else {
    type = ScalarType::kIndex;
  }
  SourceLocation where = lhs->where;
  return make_expr(BinOp{op, std::move(lhs), std::move(rhs)}, type, std::move(where));
}

ExprPtr negate(ExprPtr e) {
  ScalarType t = is_data(e->type) ? e->type : ScalarType::kIndex;
  return make_expr(USub{std::move(e)}, t);
}
ExprPtr logical_not(ExprPtr e) { return make_expr(Not{std::move(e)}, ScalarType::kBool); }
ExprPtr cast_to(ScalarType data, ExprPtr control) {
  EXO_CHECK(is_data(data) && is_integer_control(control->type));
  SourceLocation where = control->where;
  return make_expr(Cast{std::move(control)}, data, std::move(where));
}

std::vector<ExprPtr> expr_children(const Expr& e) {
  struct Visitor {
    std::vector<ExprPtr> operator()(const Read& n) { return n.idx; }
    std::vector<ExprPtr> operator()(const Const&) { return {}; }
    std::vector<ExprPtr> operator()(const USub& n) { return {n.arg}; }
    std::vector<ExprPtr> operator()(const Not& n) { return {n.arg}; }
    std::vector<ExprPtr> operator()(const BinOp& n) { return {n.lhs, n.rhs}; }
    std::vector<ExprPtr> operator()(const Extern& n) { return n.args; }
    std::vector<ExprPtr> operator()(const WindowExpr& n) {
      std::vector<ExprPtr> out;
      for (const WindowAccess& a : n.access) {
        out.push_back(a.lo);
        if (a.hi) out.push_back(a.hi);
      }
      return out;
    }
    std::vector<ExprPtr> operator()(const StrideExpr&) { return {}; }
    std::vector<ExprPtr> operator()(const ReadConfig&) { return {}; }
    std::vector<ExprPtr> operator()(const Cast& n) { return {n.arg}; }
  };
  return std::visit(Visitor{}, e.node);
}

ExprPtr with_children(const ExprPtr& e, const std::vector<ExprPtr>& c) {
  struct Visitor {
    const std::vector<ExprPtr>& c;
    ExprNode operator()(const Read& n) { return Read{n.name, c}; }
    ExprNode operator()(const Const& n) { return n; }
    ExprNode operator()(const USub&) { return USub{c[0]}; }
    ExprNode operator()(const Not&) { return Not{c[0]}; }
    ExprNode operator()(const BinOp& n) { return BinOp{n.op, c[0], c[1]}; }
    ExprNode operator()(const Extern& n) { return Extern{n.fn, c}; }
    ExprNode operator()(const WindowExpr& n) {
      WindowExpr out{n.name, n.access};
      size_t k = 0;
      for (WindowAccess& a : out.access) {
        a.lo = c[k++];
        if (a.hi) a.hi = c[k++];
      }
      return out;
    }
    ExprNode operator()(const StrideExpr& n) { return n; }
    ExprNode operator()(const ReadConfig& n) { return n; }
    ExprNode operator()(const Cast&) { return Cast{c[0]}; }
  };
  return make_expr(std::visit(Visitor{c}, e->node), e->type, e->where);
}

namespace {

// The same tree of literals is a number of each type, rounded or cut there. A real number that is
// no floating-point type yet may be any; sizes, indices and strides are integers alike.
bool may_be_one_value(ScalarType a, ScalarType b) {
  if (a == b || (!is_data(a) && !is_data(b))) return true;
  const auto real = [](ScalarType t) { return t == ScalarType::kR || is_float(t); };
  return (a == ScalarType::kR && real(b)) || (b == ScalarType::kR && real(a));
}

}  // namespace

// Hashes decide nearly always; the walk is there because equal hashes are no proof, and this
// function's answer is one.
bool equal(const ExprPtr& a, const ExprPtr& b) {
  if (a == b) return true;
  if (!a || !b || a->hash != b->hash || a->node.index() != b->node.index()) return false;
  struct Visitor {
    const Expr& other;
    bool operator()(const Read& n) { return n.name == std::get<Read>(other.node).name; }
    bool operator()(const Const& n) { return n.value == std::get<Const>(other.node).value; }
    bool operator()(const USub&) { return true; }
    bool operator()(const Not&) { return true; }
    bool operator()(const BinOp& n) { return n.op == std::get<BinOp>(other.node).op; }
    bool operator()(const Extern& n) { return n.fn == std::get<Extern>(other.node).fn; }
    bool operator()(const WindowExpr& n) {
      const WindowExpr& o = std::get<WindowExpr>(other.node);
      if (n.name != o.name || n.access.size() != o.access.size()) return false;
      for (size_t k = 0; k < n.access.size(); ++k)
        if (n.access[k].is_point() != o.access[k].is_point()) return false;
      return true;
    }
    bool operator()(const StrideExpr& n) {
      const StrideExpr& o = std::get<StrideExpr>(other.node);
      return n.name == o.name && n.dim == o.dim;
    }
    bool operator()(const ReadConfig& n) {
      const ReadConfig& o = std::get<ReadConfig>(other.node);
      return n.config == o.config && n.field == o.field;
    }
    bool operator()(const Cast&) { return true; }
  };
  if (!may_be_one_value(a->type, b->type)) return false;
  if (!std::visit(Visitor{*b}, a->node)) return false;
  std::vector<ExprPtr> ca = expr_children(*a), cb = expr_children(*b);
  if (ca.size() != cb.size()) return false;
  for (size_t k = 0; k < ca.size(); ++k)
    if (!equal(ca[k], cb[k])) return false;
  return true;
}

// -4 counts as a literal in both of its spellings, Const{-4} and USub{Const{4}}; the smallest
// integer has only the first.
std::optional<int64_t> as_int(const ExprPtr& e) {
  if (!e) return std::nullopt;
  if (const Const* c = e->as<Const>())
    if (auto* v = std::get_if<int64_t>(&c->value)) return *v;
  if (const USub* u = e->as<USub>())
    if (auto v = as_int(u->arg); v && *v != INT64_MIN) return -*v;
  return std::nullopt;
}

std::optional<int64_t> whole_divisor(const BinOp& quotient) {
  const Const* c = quotient.rhs->as<Const>();
  const ScalarType type = quotient.rhs->type;
  if (!c || quotient.op != BinOpKind::kDiv || !is_data(type) || is_float(type)) return std::nullopt;
  const auto* whole = std::get_if<int64_t>(&c->value);
  const auto* real = std::get_if<double>(&c->value);
  const int64_t value = whole                                  ? *whole
                        : real && std::abs(*real) <= INT32_MAX ? std::llround(*real)
                                                               : 0;
  return value >= 1 && (!real || static_cast<double>(value) == *real) ? std::optional(value)
                                                                      : std::nullopt;
}

// The bloom first: 64 bits of which a symbol sets one, so that in a program of a few dozen names
// most questions end at the root.
bool mentions(const ExprPtr& e, Sym s) {
  if (!e || !(e->bloom & s.bloom())) return false;
  if (const Read* r = e->as<Read>(); r && r->name == s) return true;
  if (const WindowExpr* w = e->as<WindowExpr>(); w && w->name == s) return true;
  if (const StrideExpr* st = e->as<StrideExpr>(); st && st->name == s) return true;
  for (const ExprPtr& c : expr_children(*e))
    if (mentions(c, s)) return true;
  return false;
}

bool may_trap(const ExprPtr& e) {
  const BinOp* b = e->as<BinOp>();
  if (b && is_data(e->type) && !is_float(e->type) &&
      (b->op == BinOpKind::kDiv || b->op == BinOpKind::kMod)) {
    const Const* divisor = b->rhs->as<Const>();
    const double* value = divisor ? std::get_if<double>(&divisor->value) : nullptr;
    if (!value || *value == 0 || *value == -1) return true;
  }
  const std::vector<ExprPtr> children = expr_children(*e);
  return std::any_of(children.begin(), children.end(), may_trap);
}

void collect_symbols(const ExprPtr& e, std::set<Sym>& into) {
  if (!e || e->bloom == 0) return;
  if (const Read* r = e->as<Read>()) into.insert(r->name);
  if (const WindowExpr* w = e->as<WindowExpr>()) into.insert(w->name);
  if (const StrideExpr* st = e->as<StrideExpr>()) into.insert(st->name);
  for (const ExprPtr& c : expr_children(*e)) collect_symbols(c, into);
}

// Bottom-up, so that `f` sees children that are already rewritten; nodes whose children did not
// change are shared, not copied, which keeps unchanged parts of a program equal by pointer.
ExprPtr rewrite(const ExprPtr& e, const std::function<ExprPtr(const ExprPtr&)>& f) {
  std::vector<ExprPtr> children = expr_children(*e);
  bool changed = false;
  for (ExprPtr& c : children) {
    ExprPtr n = rewrite(c, f);
    changed |= n != c;
    c = std::move(n);
  }
  ExprPtr current = changed ? with_children(e, children) : e;
  ExprPtr replaced = f(current);
  return replaced ? replaced : current;
}

// Indexed reads stay: `s` stands for a control variable or a scalar here, and an element of a
// tensor of that name is neither.
ExprPtr substitute(const ExprPtr& e, Sym s, const ExprPtr& by) {
  if (!(e->bloom & s.bloom())) return e;
  if (const Read* r = e->as<Read>(); r && r->name == s && r->idx.empty()) return by;
  std::vector<ExprPtr> children = expr_children(*e);
  bool changed = false;
  for (ExprPtr& c : children) {
    ExprPtr n = substitute(c, s, by);
    changed |= n != c;
    c = std::move(n);
  }
  return changed ? with_children(e, children) : e;
}

ExprPtr rename(const ExprPtr& e, Sym from, Sym to) {
  if (!(e->bloom & from.bloom())) return e;
  std::vector<ExprPtr> children = expr_children(*e);
  bool changed = false;
  for (ExprPtr& c : children) {
    ExprPtr n = rename(c, from, to);
    changed |= n != c;
    c = std::move(n);
  }
  ExprPtr current = changed ? with_children(e, children) : e;
  if (const Read* r = current->as<Read>(); r && r->name == from)
    return make_expr(Read{to, r->idx}, e->type, e->where);
  if (const WindowExpr* w = current->as<WindowExpr>(); w && w->name == from)
    return make_expr(WindowExpr{to, w->access}, e->type, e->where);
  if (const StrideExpr* st = current->as<StrideExpr>(); st && st->name == from)
    return make_expr(StrideExpr{to, st->dim}, e->type, e->where);
  return current;
}

}  // namespace exotune
