#include "core/library/constraints.h"

#include <algorithm>
#include <functional>
#include <set>

#include "core/base/words.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/inspection.h"

namespace exotune {
// What a partial schedule may ask of its completion. Two kinds: some look at a call before it is
// made (tiles), some at what came of it (keep_order, pin, avoid); both answer with the reason in
// words, or nothing. They steer a search and prove nothing: soundness is the primitives' affair.

namespace {

std::vector<ProcPtr> procs_in(const Value& v) {
  std::vector<ProcPtr> out;
  if (const ProcPtr* p = v.as<ProcPtr>()) out.push_back(*p);
  if (const ValueList* list = v.as<ValueList>())
    for (const Value& e : *list)
      for (const ProcPtr& p : procs_in(e)) out.push_back(p);
  return out;
}

bool names(const ScriptConstraint& c, const ProcPtr& instruction) {
  for (const ProcPtr& p : procs_in(c.args.at(0)))
    if (p->name == instruction->name) return true;
  return false;
}

bool calls(const Block& body, const std::string& name) {
  bool found = false;
  for_each_stmt(body, [&](const StmtPtr& s) {
    const Call* call = s->as<Call>();
    if (!call) return;
    found = found || call->callee->name == name;
    if (!call->callee->instr) found = found || calls(call->callee->body, name);
  });
  return found;
}

// Which original loop each loop of `result` is a part of, by the names that divisions gave.
// Names are all there is to go by: a division gives the parts' names, and the first one stands for
// the loop from there on. Loops that a script renames beyond that are loops of their own here.
std::map<std::string, std::string> origins(const ProcPtr& from, const ProcPtr& result) {
  std::map<std::string, std::string> origin;
  for_each_stmt(from->body, [&](const StmtPtr& s) {
    if (const For* f = s->as<For>()) origin[f->iter.name()] = f->iter.name();
  });
  bool after = false;
  for (const TraceStep& step : trace_of(result)) {
    after = after || step.before == from;
    if (!after || step.how->op != "divide_loop" || step.how->args.size() < 3) continue;
    std::string loop;
    if (const Cursor* c = step.how->args[0].as<Cursor>()) {
      const Cursor here = forward(step.before, *c);
      if (here.valid() && here.is<For>()) loop = here.as<For>().iter.name();
    } else if (const std::string* pattern = step.how->args[0].as<std::string>()) {
      loop = Where(*pattern).loop(step.before).as<For>().iter.name();
    }
    const auto known = origin.find(loop);
    const ValueList* made = step.how->args[2].as<ValueList>();
    if (known == origin.end() || !made) continue;
    // The outer part stands for the loop from here on; inner parts may be anywhere below it.
    const std::string root = known->second;
    if (made->size() < 2 || !(*made)[0].as<std::string>() || !(*made)[1].as<std::string>())
      continue;
    origin.erase(loop);
    origin.erase(*(*made)[1].as<std::string>());
    origin[*(*made)[0].as<std::string>()] = root;
  }
  return origin;
}

// Pairs (outer, inner) of loops, of one statement at least, by the first part of each.
void nestings(const Block& block, const std::map<std::string, std::string>& origin,
              std::vector<std::string>& around,
              std::set<std::pair<std::string, std::string>>& pairs) {
  for (const StmtPtr& s : block) {
    bool entered = false;
    if (const For* f = s->as<For>()) {
      const auto it = origin.find(f->iter.name());
      if (it != origin.end() &&
          std::find(around.begin(), around.end(), it->second) == around.end()) {
        for (const std::string& outer : around) pairs.emplace(outer, it->second);
        around.push_back(it->second);
        entered = true;
      }
    }
    nestings(body_of(*s), origin, around, pairs);
    nestings(orelse_of(*s), origin, around, pairs);
    if (entered) around.pop_back();
  }
}

// Compared pair by pair: of two loops that were nested one in the other, and are still around one
// statement, the order must be as it was. Loops that were apart are free.
std::string order_broken(const ProcPtr& from, const ProcPtr& result) {
  std::set<std::pair<std::string, std::string>> before, after;
  std::vector<std::string> around;
  std::map<std::string, std::string> same;
  for_each_stmt(from->body, [&](const StmtPtr& s) {
    if (const For* f = s->as<For>()) same[f->iter.name()] = f->iter.name();
  });
  nestings(from->body, same, around, before);
  nestings(result->body, origins(from, result), around, after);
  for (const auto& [outer, inner] : after)
    if (before.count({inner, outer}) && !before.count({outer, inner}))
      return "the loop over " + quoted(outer) + " is now outside the one over " + quoted(inner);
  return "";
}

std::string unrolling_broken(const ScriptConstraint& c, const ProcPtr& result) {
  const int64_t most = *c.args.at(0).as<int64_t>();
  bool after = false;
  for (const TraceStep& step : trace_of(result)) {
    after = after || step.before == c.proc;
    if (!after || step.how->op != "unroll_loop" || step.how->args.empty()) continue;
    Cursor loop;
    if (const Cursor* at = step.how->args[0].as<Cursor>()) {
      loop = forward(step.before, *at);
    } else if (const std::string* pattern = step.how->args[0].as<std::string>()) {
      loop = Where(*pattern).loop(step.before);
    }
    if (!loop.valid() || !loop.is<For>()) continue;
    const std::optional<int64_t> extent = literal_extent(loop.as<For>());
    if (extent && *extent > most)
      return "the loop over " + quoted(loop.as<For>().iter.name()) + " is unrolled " +
             std::to_string(*extent) + " times";
  }
  return "";
}

std::string pin_broken(const ScriptConstraint& c, const ProcPtr& result) {
  const Cursor& pinned = *c.args.at(0).as<Cursor>();
  const Cursor now = forward(result, pinned);
  if (!now.valid()) return "the pinned subtree was rebuilt";
  if (skeleton(now.stmts()) != skeleton(pinned.stmts())) return "the pinned subtree was changed";
  return "";
}

void describe_stmt(const Stmt& s, std::string& text) {
  if (const For* f = s.as<For>()) {
    const std::optional<int64_t> extent = literal_extent(*f);
    text += "for " + f->iter.name() + (extent ? " " + std::to_string(*extent) : "");
  } else if (const Alloc* a = s.as<Alloc>()) {
    text += a->name.name() + ":" + name_of(a->type.scalar) + "@" + (a->mem ? a->mem->name : "");
    for (const ExprPtr& e : a->type.shape) text += "," + str(e);
  } else if (const Call* call = s.as<Call>()) {
    text += call->callee->name;
  } else {
    text += shape_of(s);
  }
  for (const Block* block : {&body_of(s), &orelse_of(s)}) text += "{" + skeleton(*block) + "}";
}

// Two constraints that contradict each other leave a search nothing to find: said at once, with the
// place of the first.
void refuse_conflict(const ScriptConstraint& made, const std::vector<ScriptConstraint>& earlier) {
  if (made.kind != "use" && made.kind != "avoid") return;
  const std::string opposite = made.kind == "use" ? "avoid" : "use";
  for (const ScriptConstraint& other : earlier) {
    if (other.kind != opposite) continue;
    for (const ProcPtr& p : procs_in(made.args[0]))
      if (names(other, p))
        throw InputError(Diagnostic{made.where,
                                    quoted(p->name) + " is to be used and avoided at once",
                                    {},
                                    "take one of the two back"});
  }
}

}  // namespace

std::vector<std::string> constraint_names() {
  std::vector<std::string> names;
  for (const Operator& op : operator_table())
    if (op.role == OperatorRole::kConstraint) names.push_back(op.name);
  return names;
}

bool is_constraint(const std::string& name) {
  const Operator* op = find_operator(name);
  return op && op->role == OperatorRole::kConstraint;
}

ScriptConstraint make_constraint(const std::string& op, const ProcPtr& p,
                                 const std::vector<Value>& positional,
                                 const std::vector<std::pair<std::string, Value>>& keyword,
                                 const SourceLocation& where,
                                 const std::vector<ScriptConstraint>& earlier) {
  // `avoid(f)` is short for `avoid(p, f)`.
  std::vector<Value> given = positional;
  const ProcPtr* first = given.empty() ? nullptr : given[0].as<ProcPtr>();
  const bool lone_procedure = given.size() == 1 && (op == "use" || op == "avoid");
  if (!first || lone_procedure || (*first)->instr) {
    if (!p) throw InputError(where, "no procedure is bound to `p` yet", "begin with `p = NAME`");
    given.insert(given.begin(), p);
  }
  const Value bound = call_operator(*find_operator(op), given, keyword, where);
  const ValueList& values = *bound.as<ValueList>();
  ScriptConstraint made{op, {values.begin() + 1, values.end()}, *values[0].as<ProcPtr>(), where};
  refuse_conflict(made, earlier);
  return made;
}

ValueList allowed_instructions(const ValueList& instrs,
                               const std::vector<ScriptConstraint>& constraints) {
  std::vector<ProcPtr> all = procs_in(Value(instrs));
  for (const ScriptConstraint& c : constraints) {
    if (c.kind == "avoid") std::erase_if(all, [&](const ProcPtr& p) { return names(c, p); });
    if (c.kind == "use")
      std::stable_partition(all.begin(), all.end(), [&](const ProcPtr& p) { return names(c, p); });
  }
  ValueList out;
  for (ProcPtr& p : all) out.emplace_back(std::move(p));
  return out;
}

std::optional<std::vector<int64_t>> allowed_tiles(
    const std::string& loop, const std::vector<ScriptConstraint>& constraints) {
  std::optional<std::vector<int64_t>> out;
  for (const ScriptConstraint& c : constraints) {
    if (c.kind != "tiles" || *c.args[0].as<std::string>() != loop) continue;
    std::vector<int64_t> sizes;
    for (const Value& v : *c.args[1].as<ValueList>())
      if (const int64_t size = *v.as<int64_t>();
          !out || std::find(out->begin(), out->end(), size) != out->end())
        sizes.push_back(size);
    out = std::move(sizes);
  }
  return out;
}

// Before the operator runs: the sizes it is given are compared with those allowed.
std::string broken_by_call(const std::string& op, const std::vector<Value>& positional,
                           const std::vector<std::pair<std::string, Value>>& keyword,
                           const std::vector<ScriptConstraint>& constraints) {
  if (op != "block_loop" && op != "divide_loop") return "";
  const auto argument = [&](size_t k, const char* name) -> const Value* {
    if (positional.size() > k) return &positional[k];
    for (const auto& [key, value] : keyword)
      if (key == name) return &value;
    return nullptr;
  };
  const Value* loop = argument(1, "loop");
  const Value* sizes = argument(2, op == "block_loop" ? "sizes" : "q");
  const std::string* name = loop ? loop->as<std::string>() : nullptr;
  if (!name || !sizes) return "";
  const std::optional<std::vector<int64_t>> allowed = allowed_tiles(*name, constraints);
  if (!allowed) return "";
  std::vector<Value> asked = {*sizes};
  if (const ValueList* list = sizes->as<ValueList>())
    asked = {list->begin(), list->begin() + !list->empty()};
  for (const Value& v : asked) {
    const int64_t* size = v.as<int64_t>();
    if (!size || std::find(allowed->begin(), allowed->end(), *size) != allowed->end()) continue;
    std::string list;
    for (const int64_t s : *allowed) list += (list.empty() ? "" : ", ") + std::to_string(s);
    return "the loop over " + quoted(*name) + " may be blocked by " +
           (list.empty() ? "nothing" : list) + ", not by " + std::to_string(*size);
  }
  return "";
}

// When a step is done, and (finished) when the script is: some things need only hold in the end.
std::string broken_by_result(const ScriptConstraint& c, const ProcPtr& result, bool finished) {
  if (c.kind == "avoid" || c.kind == "use") {
    for (const ProcPtr& p : procs_in(c.args[0])) {
      const bool called = calls(result->body, p->name);
      if (c.kind == "avoid" && called) return "the result calls " + quoted(p->name);
      if (c.kind == "use" && finished && !called)
        return "the result does not call " + quoted(p->name);
    }
    return "";
  }
  if (c.kind == "keep_order" && *c.args[0].as<bool>()) return order_broken(c.proc, result);
  if (c.kind == "max_unroll") return unrolling_broken(c, result);
  if (c.kind == "pin") return pin_broken(c, result);
  return "";
}

// The loops of a block without their statements, for messages.
std::string skeleton(const Block& block) {
  std::string text;
  for (const StmtPtr& s : block) {
    describe_stmt(*s, text);
    text += ";";
  }
  return text;
}

std::optional<std::string> line_of(const ScriptConstraint& c) {
  if (c.kind == "pin") return std::nullopt;
  std::string text = "p = " + c.kind + "(p";
  for (const Value& v : c.args) {
    const std::vector<ProcPtr> procs = procs_in(v);
    if (procs.empty()) {
      text += ", " + v.str();
      continue;
    }
    text += procs.size() > 1 ? ", [" : ", ";
    for (size_t k = 0; k < procs.size(); ++k) text += (k ? ", " : "") + procs[k]->name;
    text += procs.size() > 1 ? "]" : "";
  }
  return text + ")";
}

}  // namespace exotune
