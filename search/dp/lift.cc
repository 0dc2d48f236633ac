#include "search/dp/lift.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/diagnostic.h"
#include "core/ir/printer.h"

namespace exotune {

namespace {

// What is read is a promise: the plan for the Spec becomes a schedule of this very nest, and its
// steps are proved one by one later, but a plan for something else would be time lost in thousands
// of Specs. So whatever is not exactly of the form is no Spec: no constant in a subscript, no
// negative coefficient, no loop that starts elsewhere than at 0.
struct Access {
  Sym buffer;
  std::vector<Subscript> subscripts;
  bool operator==(const Access&) const = default;
};

class Lifter {
 public:
  Lifter(const Proc& p, bool functions) : proc_(p), functions_(functions) {}

  std::optional<LiftedNest> run() {
    const Block* block = &proc_.body;
    StmtPtr statement;
    while (!statement) {
      if (block->empty() || !add_temporaries(*block)) return std::nullopt;
      const StmtPtr& s = block->back();
      if (const For* loop = s->as<For>()) {
        if (block->size() != 1 || !add_loop(*loop)) return std::nullopt;
        block = &loop->body;
      } else {
        statement = s;
      }
    }
    if (const Assign* a = statement->as<Assign>()) return finish(a->name, a->idx, a->rhs, "=");
    if (const Reduce* r = statement->as<Reduce>())
      return finish(r->name, r->idx, r->rhs, name_of(r->op));
    return std::nullopt;
  }

 private:
  // Conversions written as a scalar in front of the statement, as the frontend writes `f32(x[i])`.
  // `t : T; t = a[..]` before the statement: an operand that is converted to T where it is used.
  bool add_temporaries(const Block& block) {
    std::map<Sym, ScalarType> allocated;
    for (size_t k = 0; k + 1 < block.size(); ++k) {
      if (const Alloc* a = block[k]->as<Alloc>(); a && a->type.shape.empty()) {
        allocated[a->name] = a->type.scalar;
        continue;
      }
      const Assign* a = block[k]->as<Assign>();
      if (!a || !allocated.count(a->name) || temporaries_.count(a->name) || !a->rhs->as<Read>())
        return false;
      temporaries_[a->name] = {a->rhs, allocated[a->name]};
    }
    return temporaries_.size() == allocated.size();
  }

  // Loops from 0 to a literal, or to a size whose value the caller gave.
  bool add_loop(const For& loop) {
    if (as_int(loop.lo) != 0 || out_.loops.size() == kMaxDims) return false;
    const std::optional<int64_t> hi = as_int(loop.hi);
    const Read* size = loop.hi->as<Read>();
    if (!hi && !(size && size->idx.empty())) return false;
    if (hi && *hi < 1) return false;
    dims_[loop.iter] = static_cast<uint8_t>(out_.loops.size());
    out_.loops.push_back(loop.iter);
    out_.extents.push_back(hi.value_or(0));
    out_.symbolic.push_back(
        hi ? std::nullopt : std::optional(SymbolicExtent{size->name, multiple_of(size->name)}));
    return true;
  }

  int64_t multiple_of(Sym size) const {
    for (const ExprPtr& e : proc_.asserts) {
      const BinOp* eq = e->as<BinOp>();
      if (!eq || eq->op != BinOpKind::kEq || as_int(eq->rhs) != 0) continue;
      const BinOp* mod = eq->lhs->as<BinOp>();
      if (!mod || mod->op != BinOpKind::kMod) continue;
      const Read* read = mod->lhs->as<Read>();
      if (read && read->name == size && as_int(mod->rhs)) return *as_int(mod->rhs);
    }
    return 1;
  }

  // Sum of coefficient * iterator; false for anything else, constants other than 0 included.
  // Collects coefficients by loop; `factor` carries products through nested sums.
  bool add_terms(const ExprPtr& e, int64_t factor, std::map<uint8_t, int64_t>& terms) const {
    if (const std::optional<int64_t> c = as_int(e)) return *c == 0;
    if (const Read* r = e->as<Read>()) {
      const auto it = dims_.find(r->name);
      if (it == dims_.end() || !r->idx.empty()) return false;
      terms[it->second] += factor;
      return true;
    }
    const BinOp* o = e->as<BinOp>();
    if (!o) return false;
    if (o->op == BinOpKind::kAdd)
      return add_terms(o->lhs, factor, terms) && add_terms(o->rhs, factor, terms);
    if (o->op == BinOpKind::kMul) {
      if (const auto c = as_int(o->lhs)) return add_terms(o->rhs, factor * *c, terms);
      if (const auto c = as_int(o->rhs)) return add_terms(o->lhs, factor * *c, terms);
    }
    return false;
  }

  bool subscript_all(const std::vector<ExprPtr>& idx, std::vector<Subscript>& into) const {
    if (idx.size() > kMaxRank) return false;
    for (const ExprPtr& e : idx) {
      std::map<uint8_t, int64_t> terms;
      if (!add_terms(e, 1, terms)) return false;
      Subscript subscript;
      for (const auto& [dim, c] : terms) {
        if (c < 1 || c > 65535) return false;
        subscript.push_back({dim, static_cast<uint16_t>(c)});
      }
      into.push_back(std::move(subscript));
    }
    return true;
  }

  // The right side with reads replaced by operand numbers; false when it is more than that.
  // The statement as text with operands by number: what kinds are compared by, whatever the user
  // named things.
  bool spell(const ExprPtr& e, std::string& text) {
    if (const Read* r = e->as<Read>()) return spell_read(*r, is_data(e->type), text);
    if (const Const* c = e->as<Const>()) {
      const double* d = std::get_if<double>(&c->value);
      text += d && *d == 0 ? "0" : str(e);
      return true;
    }
    if (const BinOp* o = e->as<BinOp>(); o && !is_comparison(o->op) && !is_logical(o->op)) {
      text += "(";
      if (!spell(o->lhs, text)) return false;
      text += std::string(" ") + name_of(o->op) + " ";
      if (!spell(o->rhs, text)) return false;
      text += ")";
      return true;
    }
    if (const USub* u = e->as<USub>()) {
      text += "-";
      return spell(u->arg, text);
    }
    const Extern* f = e->as<Extern>();
    return f && functions_ && spell_function(*f, text);
  }

  // Reads of one element of one buffer are one operand, however often they stand there.
  bool spell_read(const Read& r, bool is_data, std::string& text) {
    if (!is_data) return false;
    if (const auto t = temporaries_.find(r.name); t != temporaries_.end()) {
      converted_.insert(t->second.type);
      return spell(t->second.value, text);
    }
    Access access{r.name, {}};
    if (!subscript_all(r.idx, access.subscripts)) return false;
    const auto it = std::find(inputs_.begin(), inputs_.end(), access);
    text += "$" + std::to_string(it - inputs_.begin());
    if (it == inputs_.end()) inputs_.push_back(std::move(access));
    return inputs_.size() < kMaxOperands;
  }

  bool spell_function(const Extern& f, std::string& text) {
    text += f.fn + "(";
    for (size_t k = 0; k < f.args.size(); ++k) {
      if (k > 0) text += ", ";
      if (!spell(f.args[k], text)) return false;
    }
    text += ")";
    return true;
  }

  std::optional<ScalarType> type_of(Sym buffer) const {
    const Arg* a = proc_.find_arg(buffer);
    if (!a || !is_data(a->type.scalar)) return std::nullopt;
    return a->type.scalar;
  }

  std::optional<LiftedNest> finish(Sym name, const std::vector<ExprPtr>& idx, const ExprPtr& rhs,
                                   const std::string& assignment) {
    Access output{name, {}};
    if (!subscript_all(idx, output.subscripts)) return std::nullopt;
    std::string text;
    if (!spell(rhs, text)) return std::nullopt;
    // Conversions to the result's type are what a Spec of operands of several types means.
    for (const ScalarType t : converted_)
      if (t != type_of(name)) return std::nullopt;
    SpecKind& kind = out_.kind;
    kind.accumulates = assignment != "=";
    kind.initial = assignment == "+=" ? "0" : "";
    if (text.size() > 2 && text.front() == '(' && text.back() == ')' &&
        text.find('(', 1) == std::string::npos)
      text = text.substr(1, text.size() - 2);
    kind.statement = assignment + " " + text;
    kind.reduction.assign(out_.loops.size(), true);
    for (const Subscript& s : output.subscripts)
      for (const SubscriptTerm& t : s) kind.reduction[t.dim] = false;
    // An assignment repeated by a loop that its target does not mention is not a Spec.
    if (!kind.accumulates && kind.sums()) return std::nullopt;
    for (const Access& in : inputs_)
      if (in.buffer == name) return std::nullopt;
    inputs_.push_back(output);
    for (const Access& a : inputs_) {
      const std::optional<ScalarType> type = type_of(a.buffer);
      if (!type) return std::nullopt;
      kind.operands.push_back({*type, a.subscripts});
      out_.buffers.push_back(a.buffer);
    }
    std::vector<int> order(inputs_.size() - 1);
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    kind.symmetries.push_back(order);
    if (kind.statement == assignment + " $0 * $1" || kind.statement == assignment + " $0 + $1")
      kind.symmetries.push_back({1, 0});
    return out_;
  }

  const Proc& proc_;
  bool functions_;
  LiftedNest out_;
  std::map<Sym, uint8_t> dims_;
  std::vector<Access> inputs_;
  struct Temporary {
    ExprPtr value;
    ScalarType type;
  };
  std::map<Sym, Temporary> temporaries_;
  std::set<ScalarType> converted_;
};

}  // namespace

std::optional<LiftedNest> lift_nest(const Proc& p, bool functions) {
  return Lifter(p, functions).run();
}

}  // namespace exotune
