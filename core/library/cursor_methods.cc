#include "core/library/cursor_methods.h"

#include "core/cursor/provenance.h"
#include "core/ir/printer.h"

namespace exotune {
// The methods of cursors and procedures as scripts call them, after Exo 2: rows of a table, as
// operators are, so that binding, errors and the manual are the same for both.
namespace {

using A = OperatorArgs;

// Forwarded to the procedure at hand when the arguments were bound.
const Cursor& self(const A& a) { return *a[0].as<Cursor>(); }

ValueList listed(const std::vector<Cursor>& cursors) { return {cursors.begin(), cursors.end()}; }

// What a person would call it: the buffer that is written, the loop's iterator, the callee.
std::string name_of_target(const Cursor& c) {
  if (c.kind() == CursorKind::kArg) {
    return c.proc()->args[static_cast<size_t>(c.arg_index())].name.name();
  }
  if (c.kind() == CursorKind::kExpr) {
    if (const Read* r = c.expr()->as<Read>()) return r->name.name();
    if (const WindowExpr* w = c.expr()->as<WindowExpr>()) return w->name.name();
  } else {
    const Stmt& s = *c.stmt();
    if (const For* f = s.as<For>()) return f->iter.name();
    if (const Assign* n = s.as<Assign>()) return n->name.name();
    if (const Reduce* n = s.as<Reduce>()) return n->name.name();
    if (const Call* n = s.as<Call>()) return n->callee->name;
    if (Sym bound = bound_symbol(s); bound.valid()) return bound.name();
  }
  throw InvalidCursorError("`" + c.describe() + "` has no name");
}

// Of an allocation, argument or window.
const Type& declared_type(const Cursor& c) {
  if (c.kind() == CursorKind::kArg) return c.proc()->args[static_cast<size_t>(c.arg_index())].type;
  const StmtPtr s = c.stmt();
  if (const Alloc* a = s->as<Alloc>()) return a->type;
  if (const WindowStmt* w = s->as<WindowStmt>()) return w->type;
  throw InvalidCursorError("`" + c.describe() + "` declares nothing that has a type");
}

MemoryPtr declared_memory(const Cursor& c) {
  if (c.kind() == CursorKind::kArg) return c.proc()->args[static_cast<size_t>(c.arg_index())].mem;
  // A window has its source's memory, which its own statement does not say.
  return c.as<Alloc>().mem;
}

// All methods of cursors take the cursor before the dot as their first argument.
Param object() { return {"self", ParamKind::kCursor, {}}; }

}  // namespace

const std::vector<Method>& cursor_methods() {
  using namespace params;
  static const std::vector<Method> table = {
      {"find",
       {object(), string("pattern"), boolean("many", false)},
       "the first match below the cursor, or all of them",
       [](const A& a) -> Value {
         if (a.boolean(2)) return listed(self(a).find_all(a.string(1)));
         return self(a).find(a.string(1));
       }},
      {"body",
       {object()},
       "the block inside a for or if",
       [](const A& a) -> Value { return self(a).body(); }},
      {"orelse",
       {object()},
       "the else block of an if",
       [](const A& a) -> Value { return self(a).orelse(); }},
      {"parent",
       {object()},
       "the statement around",
       [](const A& a) -> Value {
         const Cursor up = self(a).parent();
         if (!up.valid())
           throw InvalidCursorError("`" + self(a).describe() + "` is at the top: it has no parent");
         return up;
       }},
      {"next",
       {object(), integer("distance", 1)},
       "the statement after",
       [](const A& a) -> Value { return self(a).next(a.small(1)); }},
      {"prev",
       {object(), integer("distance", 1)},
       "the statement before",
       [](const A& a) -> Value { return self(a).prev(a.small(1)); }},
      {"before",
       {object()},
       "the gap before a statement",
       [](const A& a) -> Value { return self(a).before(); }},
      {"after",
       {object()},
       "the gap after a statement",
       [](const A& a) -> Value { return self(a).after(); }},
      {"anchor",
       {object()},
       "the statement beside a gap",
       [](const A& a) -> Value { return self(a).anchor(); }},
      {"as_block",
       {object()},
       "a statement as a block of one",
       [](const A& a) -> Value { return self(a).as_block(); }},
      {"expand",
       {object(), integer("before", -1), integer("after", -1)},
       "a wider block; -1: as far as it goes",
       [](const A& a) -> Value { return self(a).expand(a.small(1), a.small(2)); }},
      {"lo",
       {object()},
       "the lower bound of a loop",
       [](const A& a) -> Value { return self(a).lo(); }},
      {"hi",
       {object()},
       "the upper bound of a loop",
       [](const A& a) -> Value { return self(a).hi(); }},
      {"cond",
       {object()},
       "the condition of an if",
       [](const A& a) -> Value { return self(a).cond(); }},
      {"rhs",
       {object()},
       "the right side of an assignment",
       [](const A& a) -> Value { return self(a).rhs(); }},
      {"lhs",
       {object()},
       "the left operand of an operator",
       [](const A& a) -> Value { return self(a).child_expr(0); }},
      {"idx",
       {object()},
       "the indices of an access, as a list",
       [](const A& a) -> Value { return listed(self(a).idx()); }},
      {"args",
       {object()},
       "the arguments of a call, as a list",
       [](const A& a) -> Value { return listed(self(a).args()); }},
      {"child_expr",
       {object(), integer("k")},
       "the k-th expression",
       [](const A& a) -> Value { return self(a).child_expr(a.small(1)); }},
      {"name",
       {object()},
       "the name of what stands there, as a string",
       [](const A& a) -> Value { return name_of_target(self(a)); }},
      {"type",
       {object()},
       "the element type of an allocation, argument or expression, as a string",
       [](const A& a) -> Value {
         const Cursor& c = self(a);
         return name_of(c.kind() == CursorKind::kExpr ? c.expr()->type : declared_type(c).scalar);
       }},
      {"mem",
       {object()},
       "the memory of an allocation or argument",
       [](const A& a) -> Value { return declared_memory(self(a)); }},
      {"shape",
       {object()},
       "the sizes of an allocation, argument or window, as a list of texts",
       [](const A& a) -> Value {
         ValueList out;
         for (const ExprPtr& e : declared_type(self(a)).shape) out.emplace_back(str(e));
         return out;
       }},
  };
  return table;
}

const std::vector<Method>& proc_methods() {
  using namespace params;
  static const std::vector<Method> table = {
      {"find",
       {proc(), string("pattern"), boolean("many", false)},
       "the first match, or all of them",
       [](const A& a) -> Value {
         if (a.boolean(2)) return listed(find_all(a.proc(), a.string(1)));
         return find(a.proc(), a.string(1));
       }},
      {"find_loop",
       {proc(), string("name"), boolean("many", false)},
       "the loop over a name",
       [](const A& a) -> Value {
         if (a.boolean(2)) return listed(find_all(a.proc(), "for " + a.string(1) + " in _: _"));
         return find_loop(a.proc(), a.string(1));
       }},
      {"find_alloc_or_arg",
       {proc(), string("name")},
       "the allocation or argument of a name",
       [](const A& a) -> Value { return find_alloc_or_arg(a.proc(), a.string(1)); }},
      {"find_all",
       {proc(), string("pattern")},
       "every match",
       [](const A& a) -> Value { return listed(find_all(a.proc(), a.string(1))); }},
      {"body", {proc()}, "the whole body", [](const A& a) -> Value { return body_of(a.proc()); }},
      {"args",
       {proc()},
       "the arguments, as a list",
       [](const A& a) -> Value {
         ValueList out;
         for (size_t k = 0; k < a.proc()->args.size(); ++k)
           out.push_back(Cursor::arg(a.proc(), static_cast<int>(k)));
         return out;
       }},
      {"forward",
       {proc(), cursor("cursor")},
       "the cursor as seen in this procedure",
       [](const A& a) -> Value { return a.cursor(1); }},
      {"is_eqv",
       {proc(), proc("other")},
       "do both descend from one by equivalences",
       [](const A& a) -> Value { return is_equivalent(a.proc(), a.proc(1)); }},
      {"name",
       {proc()},
       "the procedure's name, as a string",
       [](const A& a) -> Value { return a.proc()->name; }},
  };
  return table;
}

namespace {
// Records (loops by name) are dictionaries to users and tuples when unpacked: one hidden entry
// remembers the order.
const char* const kOrder = "";  // the entry that lists a record's names in order; no name is empty
}  // namespace

Value record(const std::vector<std::pair<std::string, Value>>& fields) {
  std::map<std::string, Value> out;
  ValueList names;
  for (const auto& [name, value] : fields) {
    out[name] = value;
    names.push_back(name);
  }
  out[kOrder] = names;
  return out;
}

ValueList fields_in_order(const Value& record) {
  const auto& fields = *record.as<std::map<std::string, Value>>();
  ValueList out;
  if (auto order = fields.find(kOrder); order != fields.end()) {
    for (const Value& name : *order->second.as<ValueList>())
      out.push_back(fields.at(*name.as<std::string>()));
  }
  return out;
}

const Value& attribute(const Value& record, const std::string& name) {
  const auto* fields = record.as<std::map<std::string, Value>>();
  if (!fields) throw InputError({}, "this value has no attributes");
  if (auto it = fields->find(name); it != fields->end()) return it->second;
  std::string all;
  for (const auto& [key, value] : *fields) {
    if (key != kOrder) all += (all.empty() ? "" : ", ") + key;
  }
  throw InputError({}, "there is no attribute `" + name + "`", "the attributes are: " + all);
}

}  // namespace exotune
