// One line above a loop that moves data or fills registers: what a reader would have to work out.
#include <algorithm>
#include <variant>

#include "core/codegen/function_emitter.h"
#include "core/ir/normal_form.h"

namespace exotune::codegen {
namespace {

/// Where the data of a nest goes to and comes from, by the names that are visible in front of it.
struct Flow {
  std::set<Sym> to, from, inside;  // inside: allocated in the nest
  bool copies = true;              // each store is of an element as it is
  bool clears = true;              // each store is of 0
  std::set<ReduceOp> reduces;
};

using Names = std::map<Sym, Sym>;  // formals and windows to what they show

Sym shown(const Names& names, Sym s) {
  const auto it = names.find(s);
  return it == names.end() ? s : it->second;
}

Sym buffer_of(const ExprPtr& e) {
  if (const auto* r = e->as<Read>()) return r->name;
  if (const auto* w = e->as<WindowExpr>()) return w->name;
  return {};
}

bool is_zero_literal(const ExprPtr& e) {
  const auto* c = e->as<Const>();
  const auto* integer = c ? std::get_if<int64_t>(&c->value) : nullptr;
  const auto* real = c ? std::get_if<double>(&c->value) : nullptr;
  return (integer && *integer == 0) || (real && *real == 0);
}

// What a nest leaves of what it reads, by its one kind of reduction; "" for several.
std::string reduced(const std::set<ReduceOp>& ops) {
  if (ops.size() != 1) return "";
  switch (*ops.begin()) {
    case ReduceOp::kAdd:
      return "sums of ";
    case ReduceOp::kMax:
      return "the greatest of ";
    case ReduceOp::kMin:
      return "the least of ";
  }
  EXO_CHECK(false);
}

void reads_of(const ExprPtr& e, const Names& names, Flow& flow) {
  if (is_data(e->type))
    if (const Sym s = buffer_of(e); s.valid()) flow.from.insert(shown(names, s));
  for (const ExprPtr& child : expr_children(*e)) reads_of(child, names, flow);
}

void flow_of(const Block& block, Names names, Flow& flow) {
  for (const StmtPtr& s : block) {
    if (const auto* a = s->as<Assign>()) {
      flow.to.insert(shown(names, a->name));
      flow.copies &= a->rhs->as<Read>() != nullptr;
      flow.clears &= is_zero_literal(a->rhs);
      reads_of(a->rhs, names, flow);
    } else if (const auto* r = s->as<Reduce>()) {
      flow.to.insert(shown(names, r->name));
      flow.reduces.insert(r->op);
      flow.copies = flow.clears = false;
      reads_of(r->rhs, names, flow);
    } else if (const auto* w = s->as<WindowStmt>()) {
      names[w->name] = shown(names, buffer_of(w->rhs));
    } else if (const auto* t = s->as<Alloc>()) {
      flow.inside.insert(t->name);
    } else if (const auto* c = s->as<Call>()) {
      Names formals;
      for (size_t k = 0; k < c->args.size(); ++k)
        if (const Sym actual = buffer_of(c->args[k]); actual.valid())
          formals[c->callee->args[k].name] = shown(names, actual);
      flow_of(c->callee->body, std::move(formals), flow);
    } else if (s->as<WriteConfig>()) {
      flow.copies = flow.clears = false;
      flow.reduces.clear();
    }
    flow_of(body_of(*s), names, flow);
    flow_of(orelse_of(*s), names, flow);
  }
}

}  // namespace

/// "acc", "acc (4 x 16)" with its size, "16 registers" for many of them; "" for other groups.
std::string FunctionEmitter::described(const std::set<Sym>& names, bool with_shape) const {
  for (Sym s : names)
    if (!storage_.contains(s)) return "";
  if (names.size() == 1) {
    const Storage& s = storage_.at(*names.begin());
    std::string shape;
    for (const ExprPtr& e : s.shape)
      if (const auto n = affine(e); n && n->is_constant())
        shape += (shape.empty() ? "" : " x ") + std::to_string(n->constant);
      else
        with_shape = false;
    return with_shape && !shape.empty() ? s.name + " (" + shape + ")" : s.name;
  }
  return in_registers(names) ? std::to_string(names.size()) + " registers" : "";
}

bool FunctionEmitter::in_registers(const std::set<Sym>& names) const {
  return std::all_of(names.begin(), names.end(), [&](Sym s) {
    const auto it = storage_.find(s);
    return it != storage_.end() && it->second.mem && it->second.mem->kind == MemoryKind::kVector;
  });
}

std::string FunctionEmitter::loop_comment(const For& f) const {
  Flow flow;
  flow_of(f.body, {}, flow);
  for (Sym s : flow.inside) {
    flow.to.erase(s);
    flow.from.erase(s);
  }
  // Windows show what is elsewhere.
  const bool local = std::none_of(flow.to.begin(), flow.to.end(), [&](Sym s) {
    const auto it = storage_.find(s);
    return proc_.find_arg(s) != nullptr ||
           (it != storage_.end() && it->second.form == Storage::Form::kWindow);
  });
  const std::string to = described(flow.to, local);
  if (flow.to.empty() || to.empty()) return "";
  if (flow.clears && flow.from.empty()) return "clear " + to;
  if (flow.copies) {
    const std::string from = described(flow.from, false);
    if (from.empty()) return "";
    if (in_registers(flow.to)) return "load " + from + " into " + to;
    if (in_registers(flow.from)) return "store " + from + " to " + to;
    return (local ? "pack " : "copy ") + from + (local ? " into " : " to ") + to;
  }
  const std::string what = reduced(flow.reduces);
  if (what.empty() || !local) return "";
  std::string from;
  for (Sym s : flow.from) {
    if (flow.to.contains(s)) continue;
    if (!storage_.contains(s)) return "";
    from += (from.empty() ? "" : ", ") + storage_.at(s).name;
  }
  return from.empty() ? "" : what + from + " in " + to;
}

}  // namespace exotune::codegen
