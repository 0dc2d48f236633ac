// The statement half of the Elaborator: allocations, assignments, loops, conditions, calls.
#include <map>
#include <set>

#include "core/frontend/declarations.h"
#include "core/frontend/elaborate.h"
#include "core/frontend/foreign_functions.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

using Kind = SyntaxExpr::Kind;

// With an interval a subscript is a window.
bool has_range(const SyntaxExpr& e) {
  for (const SyntaxExpr::Access& a : e.access)
    if (a.range) return true;
  return false;
}

// What a type of another language is called here, as a hint; "": no language has it. `alone`: of an
// argument without dimensions, which may be a size.
std::string type_elsewhere(const std::string& name, bool alone) {
  if (alone && (name == "int" || name == "long"))
    return "what sizes and loops are made of is a `size`, or an `index`; a number of data is an "
           "`i32`";
  static const std::map<std::string, std::string> kNames = {
      {"float", "f32"},   {"double", "f64"},  {"half", "f16"},      {"bfloat16", "bf16"},
      {"float16", "f16"}, {"float32", "f32"}, {"float64", "f64"},   {"int", "i32"},
      {"char", "i8"},     {"short", "i16"},   {"u8", "ui8"},        {"u16", "ui16"},
      {"byte", "ui8"},    {"int8", "i8"},     {"int16", "i16"},     {"int32", "i32"},
      {"uint8", "ui8"},   {"uint16", "ui16"}, {"int8_t", "i8"},     {"int16_t", "i16"},
      {"int32_t", "i32"}, {"uint8_t", "ui8"}, {"uint16_t", "ui16"}, {"size_t", "size"}};
  static const std::set<std::string> kWide = {"i64",    "int64",    "int64_t",  "long", "u64",
                                              "ui64",   "uint64",   "uint64_t", "u32",  "ui32",
                                              "uint32", "uint32_t", "unsigned"};
  static const std::map<std::string, std::string> kComplex = {
      {"c32", "f32"},       {"c64", "f32"},     {"c128", "f64"},
      {"complex64", "f32"}, {"complex", "f64"}, {"complex128", "f64"}};
  if (const auto it = kComplex.find(name); it != kComplex.end())
    return "a complex number is two real ones: a last dimension of 2, " +
           quoted("x: " + it->second + "[4, 2]");
  if (const auto it = kNames.find(name); it != kNames.end())
    return "did you mean " + quoted(it->second) + "?";
  return kWide.contains(name)
             ? "data is i8, ui8, i16, ui16, i32, f16, bf16, f32 or f64: the widest "
               "integers are `i32`"
             : "";
}

// For `m: bool[N]` and `at: index[N]`.
std::string instead_of_control_tensor(SyntaxType type) {
  if (type.scalar != "bool") {
    type.scalar = "i32";
    return "numbers of data are " + quoted(written(type)) + "; they decide no sizes and no indices";
  }
  type.scalar = "ui8";
  return "write " + quoted(written(type)) +
         " of 0 and 1: `select(0, f32(m), c, d)` is `c` where such an element `m` is 1, else `d`";
}

std::string list(const std::vector<Arg>& args) {
  std::string out;
  for (const Arg& a : args) out += (out.empty() ? "" : ", ") + a.name.name();
  return out;
}

}  // namespace

Type Elaborator::type(const SyntaxType& t, bool is_argument) {
  std::optional<ScalarType> scalar = scalar_type(t.scalar);
  if (!scalar) {
    std::vector<std::string> names;
    for (int k = 0; k <= static_cast<int>(ScalarType::kStride); ++k)
      names.push_back(name_of(static_cast<ScalarType>(k)));
    const std::string hint = type_elsewhere(t.scalar, is_argument && !t.has_brackets);
    throw InputError(t.where, "there is no type " + quoted(t.scalar),
                     hint.empty() ? did_you_mean(t.scalar, names) : hint);
  }
  Type type;
  type.scalar = *scalar;
  type.window = t.window;
  if (is_control(*scalar)) {
    if (!is_argument) {
      throw InputError(t.where,
                       "only data is allocated; " + quoted(t.scalar) + " is a type of arguments",
                       "write the expression where it is used");
    }
    if (t.has_brackets) {
      throw InputError(t.where, "there are no tensors of " + quoted(t.scalar),
                       instead_of_control_tensor(t));
    }
    if (!t.memory.empty()) {
      throw InputError(t.memory_where, "a control argument lives in no memory");
    }
  }
  if (t.window && !is_argument) {
    throw InputError(t.where, "an allocation is dense", "write `" + t.scalar + "[...]`");
  }
  // Extents may name sizes that are in scope, in allocations iterators as well.
  for (const SyntaxExpr& e : t.shape) type.shape.push_back(integer(e, Place::kShape));
  return type;
}

// A memory's name, declared in the file or imported; DRAM where none is written.
MemoryPtr Elaborator::memory(const SyntaxType& t) {
  if (t.memory.empty()) return dram();
  std::vector<std::string> names;
  if (globals_.memories) {
    if (auto it = globals_.memories->find(t.memory); it != globals_.memories->end())
      return it->second;
    for (const auto& [name, m] : *globals_.memories) names.push_back(name);
  }
  std::string hint = did_you_mean(t.memory, names);
  throw InputError(t.memory_where, "there is no memory " + quoted(t.memory),
                   hint.empty() ? "import its target: `from TARGET import *`" : hint);
}

// Scopes end with their block: what an allocation or window binds is taken off again.
Block Elaborator::block(const std::vector<SyntaxStmt>& stmts) {
  size_t mark = scope_.size();
  Block out;
  for (const SyntaxStmt& s : stmts) {
    const size_t visible = scope_.size();
    try {
      statement(s, out);
    } catch (const InputError& refused) {
      if (!refusals_ || s.kind == SyntaxStmt::Kind::kAlloc) throw;
      const UnknownName* unknown = dynamic_cast<const UnknownName*>(&refused);
      if (!unknown || unknown_.insert(unknown->name).second) refusals_->add(refused.diagnostic());
      scope_.resize(visible);
    }
  }
  for (size_t k = mark; k < scope_.size(); ++k)
    if (scope_[k].allocated)
      ended_.insert_or_assign(scope_[k].name, Ended{scope_[k].type.scalar, scope_[k].where});
  scope_.resize(mark);
  return out;
}

Block Elaborator::body(const std::vector<SyntaxStmt>& stmts) {
  Refusals found;
  const Within<Refusals*> reading(refusals_, &found);
  Block out;
  try {
    out = block(stmts);
  } catch (const InputError& refused) {
    found.add(refused.diagnostic());
  }
  if (!found.empty()) throw found.all();
  return out;
}

void Elaborator::statement(const SyntaxStmt& s, Block& into) {
  switch (s.kind) {
    case SyntaxStmt::Kind::kPass:
      into.push_back(make_stmt(Pass{}, s.where));
      return;
    case SyntaxStmt::Kind::kAssign:
    case SyntaxStmt::Kind::kReduce:
      into.push_back(assignment(s, into));
      return;
    case SyntaxStmt::Kind::kAlloc:
      allocation(s, into);
      return;
    case SyntaxStmt::Kind::kExpr:
      into.push_back(call(s));
      return;
    case SyntaxStmt::Kind::kFor:
      into.push_back(loop(s));
      return;
    // Each branch is a scope of its own.
    case SyntaxStmt::Kind::kIf: {
      ExprPtr cond = condition(s);
      Block body = block(s.body);
      into.push_back(make_stmt(If{cond, std::move(body), block(s.orelse)}, s.where));
      return;
    }
    case SyntaxStmt::Kind::kAssert:
      throw InputError(s.where, "an `assert` stands only at the top of a procedure's body");
  }
}

ExprPtr Elaborator::condition(const SyntaxStmt& s) {
  const Within branch(branch_, &s);
  return boolean(*s.value);
}

// Seen from the next statement to the block's end. `x : f32 = e` is an allocation and an
// assignment; e does not see the new name.
void Elaborator::allocation(const SyntaxStmt& s, Block& into) {
  if (s.target->is_hole()) unknown(*s.target);
  Type t = type(s.type, /*is_argument=*/false);
  MemoryPtr mem = memory(s.type);
  ExprPtr value;
  if (s.value) {
    const Within casts(in_front_, &into);
    const Within declared(declares_, &s);
    value = data(*s.value, t.scalar);
  }
  const Sym name = Sym::fresh(s.target->name);
  bind(name, t, mem);
  scope_.back().allocated = true;
  scope_.back().where = s.where;
  into.push_back(make_stmt(Alloc{name, std::move(t), std::move(mem)}, s.where));
  if (value) into.push_back(make_stmt(Assign{name, {}, std::move(value)}, s.where));
}

// `r = x[i]` of two dimensions names a row, which is a window: with `:` for what is left out.
void Elaborator::unknown_target(const SyntaxStmt& s) {
  const std::string& name = s.target->name;
  std::string hint = instead_of_variable(s);
  if (hint.empty()) hint = instead_of_unknown(name);
  if (hint.empty()) hint = allocated_first(s);
  const bool of_name = s.value->kind == Kind::kName || s.value->kind == Kind::kSubscript;
  const Entry* of = of_name && s.target->kind == Kind::kName ? lookup(s.value->name) : nullptr;
  if (of && of->type.shape.size() > s.value->access.size()) {
    std::vector<std::string> access;
    for (const SyntaxExpr::Access& a : s.value->access)
      access.push_back(str(integer(a.lo[0], Place::kSubscript)));
    access.resize(of->type.shape.size(), ":");
    hint = "a part of " + quoted(of->name) + " is a window: `" + name + " = " + of->name + "[" +
           joined(access) + "]`";
  }
  throw UnknownName(s.target->where, name, hint);
}

// Also windows (`w = x[..]`) and configuration writes, which look alike until the left side's name
// is known.
StmtPtr Elaborator::assignment(const SyntaxStmt& s, Block& in_front) {
  const Within casts(in_front_, &in_front);
  const SyntaxExpr& target = *s.target;
  bool assigns = s.kind == SyntaxStmt::Kind::kAssign;
  if (target.kind == Kind::kAttribute) {
    if (!assigns) throw InputError(s.where, "a configuration field is assigned with `=` only");
    auto [config, field] = config_field(target);
    // A field's type says how its value is read.
    ExprPtr rhs = is_data(field->type)               ? data(*s.value, field->type)
                  : field->type == ScalarType::kBool ? boolean(*s.value)
                                                     : integer(*s.value);
    return make_stmt(WriteConfig{config, field->name, std::move(rhs)}, s.where);
  }
  if (assigns && s.value->kind == Kind::kSubscript && has_range(*s.value)) {
    if (target.kind != Kind::kName) {
      throw InputError(s.where, "a window is given a name, not stored in an element",
                       "copy elements with a loop");
    }
    if (target.is_hole()) unknown(target);
    ExprPtr rhs = window(*s.value);
    MemoryPtr mem = lookup(s.value->name)->mem;
    Sym name = Sym::fresh(target.name);
    Type empty{rhs->type, {}, /*window=*/true};
    // with_exprs derives the window's shape from its expression.
    StmtPtr stmt = with_exprs(make_stmt(WindowStmt{name, rhs, empty}, s.where), {rhs});
    bind(name, stmt->as<WindowStmt>()->type, mem);
    return stmt;
  }
  if (!lookup(target.name) && !target.is_hole()) unknown_target(s);
  // Subscripts before the right side, as they stand, so that the first error in the text is
  // reported.
  const Entry& entry = data_entry(target, "assigned");
  if (target.kind == Kind::kName) refuse_whole_tensor(s, entry);
  if (has_range(target)) refuse_part_of_tensor(s, entry);
  std::vector<ExprPtr> idx = indices(target, entry);
  Sym name = entry.sym;
  if (assigns) refuse_running_extreme(s);
  ExprPtr rhs = data(*s.value, entry.type.scalar);
  if (assigns) return make_stmt(Assign{name, std::move(idx), std::move(rhs)}, s.where);
  return make_stmt(Reduce{name, std::move(idx), std::move(rhs), s.op}, s.where);
}

void Elaborator::refuse_whole_tensor(const SyntaxStmt& s, const Entry& entry) const {
  const std::vector<ExprPtr>& shape = entry.type.shape;
  constexpr size_t kMost = 4;  // dimensions with a letter each
  if (shape.empty() || shape.size() > kMost) return;
  const SyntaxExpr& value = *s.value;
  const Entry* from = value.kind == Kind::kName ? lookup(value.name) : nullptr;
  const bool of_tensor = from && from->type.is_tensor();
  if (of_tensor && from->type.shape.size() != shape.size()) return;
  std::string loops;
  std::vector<std::string> index;
  for (size_t k = 0; k < shape.size(); ++k) {
    index.push_back(unused_name(std::string(1, "ijkl"[k])));
    loops += quoted("for " + index.back() + " in seq(0, " + str(shape[k]) + "):") + ", and in it ";
  }
  const std::string at = "[" + joined(index) + "]";
  const bool assigns = s.kind == SyntaxStmt::Kind::kAssign;
  const std::string op = assigns ? "=" : name_of(s.op);
  throw InputError(
      s.target->where,
      quoted(entry.name) + " has " + counted(shape.size(), "dimension") + ", but no index is given",
      "a statement assigns one element: write " + loops +
          quoted(entry.name + at + " " + op + " " + written(value) + (of_tensor ? at : "")));
}

// `c[p, :] = 0`
void Elaborator::refuse_part_of_tensor(const SyntaxStmt& s, const Entry& entry) {
  const std::vector<SyntaxExpr::Access>& access = s.target->access;
  const std::vector<ExprPtr>& shape = entry.type.shape;
  if (access.size() != shape.size()) return;
  std::string loops;
  std::vector<std::string> index;
  for (size_t k = 0; k < access.size(); ++k) {
    const SyntaxExpr::Access& a = access[k];
    if (!a.range) {
      index.push_back(str(integer(a.lo[0], Place::kSubscript)));
      continue;
    }
    index.push_back(unused_name("k" + std::string(loops.empty() ? "" : std::to_string(k))));
    loops += quoted("for " + index.back() + " in seq(" +
                    (a.lo.empty() ? "0" : str(integer(a.lo[0], Place::kSubscript))) + ", " +
                    str(a.hi.empty() ? shape[k] : integer(a.hi[0], Place::kSubscript)) + "):") +
             ", and in it ";
  }
  const std::string op = s.kind == SyntaxStmt::Kind::kAssign ? "=" : name_of(s.op);
  throw InputError(
      s.target->where, "a statement assigns one element, not a part of " + quoted(entry.name),
      "write " + loops +
          quoted(entry.name + "[" + joined(index) + "] " + op + " " + written(*s.value)));
}

std::string Elaborator::instead_of_reversed(const SyntaxExpr& iter, const SyntaxExpr& range) {
  if (range.name != "reversed" || range.children.size() != 1) return "";
  const SyntaxExpr& of = range.children[0];
  const bool counts = of.kind == Kind::kCall &&
                      (of.name == "seq" || of.name == "par" || of.name == "range") &&
                      of.children.size() == 2;
  if (!counts) return "write a loop that counts up, and `n - 1 - i` where `i` is meant";
  const ExprPtr from = integer(of.children[0]), to = integer(of.children[1]);
  const ExprPtr i = read_var(Sym::fresh(iter.name), ScalarType::kIndex);
  return "loops count up: write `for " + iter.name + " in " + (of.name == "par" ? "par" : "seq") +
         "(" + str(normalize(from)) + ", " + str(normalize(to)) + "):`, and " +
         quoted(str(normalize(from + to - int_const(1) - i))) + " where " + quoted(iter.name) +
         " is meant";
}

// A loop that counts down, or by more than one: says how it is written instead.
void Elaborator::stepped(const SyntaxExpr& iter, const SyntaxExpr& range) {
  const ExprPtr from = integer(range.children[0]), to = integer(range.children[1]);
  const ExprPtr i = read_var(Sym::fresh(iter.name), ScalarType::kIndex);
  // 0: none that can be told, and no loop can be suggested.
  const ExprPtr by = integer(range.children[2]);
  const int64_t step = literal_value(by).value_or(0);
  std::string hint = "loops count up by one";
  if (!literal_value(by)) {
    constexpr int64_t kUsual = 16;
    const ExprPtr trips =
        bin_op(BinOpKind::kDiv, to - from + int_const(kUsual - 1), int_const(kUsual));
    hint += ", and steps are numbers: with " + std::to_string(kUsual) + " for " +
            quoted(written(range.children[2])) + ", `for " + iter.name + " in " + range.name +
            "(0, " + str(normalize(trips)) + "):`, and " +
            quoted(str(normalize(from + int_const(kUsual) * i))) + " where " + quoted(iter.name) +
            " is meant";
  }
  if (step == -1 || step > 1) {
    const ExprPtr trips =
        step == -1 ? from - to
                   : bin_op(BinOpKind::kDiv, to - from + int_const(step - 1), int_const(step));
    // `6 - t`, not `-1 * t + 6`.
    const bool mirrored = step == -1 && as_int(from);
    const ExprPtr at = mirrored ? from - i : normalize(from + int_const(step) * i);
    hint += ": write `for " + iter.name + " in " + range.name + "(0, " + str(normalize(trips)) +
            "):`, and " + quoted(str(at)) + " where " + quoted(iter.name) + " is meant";
  }
  throw InputError(range.children[2].where, quoted(range.name) + " takes no step", hint);
}

namespace {

// `range(n)` and `seq(n)` begin at 0.
SyntaxExpr with_two_bounds(SyntaxExpr range) {
  SyntaxExpr zero, n;
  zero.kind = Kind::kInt;
  n.name = "n";
  if (range.name == "range") range.name = "seq";
  if (range.children.size() == 1) range.children.insert(range.children.begin(), zero);
  if (range.children.size() != 2) range.children = {zero, n};
  return range;
}

}  // namespace

// What stands in it may be refused as well; what is refused then has the words of `seq`.
std::string Elaborator::instead_of_range(const SyntaxExpr& iter, const SyntaxExpr& range) {
  SyntaxExpr seq = range;
  seq.name = "seq";
  if (range.children.size() == 3) stepped(iter, seq);
  seq = with_two_bounds(seq);
  refuse_band(iter, seq);
  return "write " + quoted(written(seq));
}

std::string Elaborator::unused_name(const std::string& wanted) const {
  std::string name = wanted;
  for (int k = 1; lookup(name) || (globals_.constants && globals_.constants->contains(name)); ++k)
    name = wanted + std::to_string(k);
  return name;
}

namespace {

// Does it change from one iteration of some loop to the next?
bool moves(const ExprPtr& e) {
  bool found = false;
  (void)rewrite(e, [&](const ExprPtr& n) -> ExprPtr {
    found = found || (n->as<Read>() && n->type == ScalarType::kIndex);
    return nullptr;
  });
  return found;
}

// Of the two arguments of a bound, the one that the loop takes: a size rather than an iterator.
size_t loop_end(const std::vector<ExprPtr>& ends) {
  return ends.size() == 2 && moves(ends[0]) && !moves(ends[1]) ? 1 : 0;
}

}  // namespace

// Of a band of constant width the offset within it is the better loop: it has no more iterations
// than the band has places.
void Elaborator::refuse_band(const SyntaxExpr& iter, const SyntaxExpr& range) {
  const SyntaxExpr &lower = range.children[0], &upper = range.children[1];
  const bool below = is_maximum(lower) && lower.children.size() == 2;
  const bool above = is_minimum(upper) && upper.children.size() == 2;
  if (!below && !above) return;
  std::vector<ExprPtr> from, to;
  if (below)
    for (const SyntaxExpr& c : lower.children) from.push_back(integer(c, Place::kLower));
  else
    from.push_back(integer(lower, Place::kLower));
  if (above)
    for (const SyntaxExpr& c : upper.children) to.push_back(integer(c, Place::kUpper));
  else
    to.push_back(integer(upper, Place::kUpper));

  const std::string what = "the bounds of a loop take no " + quoted((below ? lower : upper).name);
  const SourceLocation& where = (below ? lower : upper).where;
  const auto conditions = [&](size_t without_from, size_t without_to, const std::string& at) {
    std::vector<std::string> all;
    for (size_t k = 0; k < from.size(); ++k)
      if (k != without_from) all.push_back(str(normalize(from[k])) + " <= " + at);
    for (size_t k = 0; k < to.size(); ++k)
      if (k != without_to) all.push_back(at + " < " + str(normalize(to[k])));
    return "`if " + joined(all, " and ") + ":`";
  };
  constexpr int64_t kWidest = 4096;
  for (size_t a = 0; a < from.size(); ++a)
    for (size_t b = 0; b < to.size(); ++b) {
      const ExprPtr width = normalize(to[b] - from[a]);
      const std::optional<int64_t> known = literal_value(width);
      // A band as wide as a size has that many places, too, where it moves along.
      if (known ? *known <= 0 || *known > kWidest : !moves(from[a]) || moves(width)) continue;
      const std::string w = unused_name("w");
      const std::string at = str(normalize(from[a] + read_var(Sym::fresh(w), ScalarType::kIndex)));
      throw InputError(where, what,
                       "write `for " + w + " in " + range.name + "(0, " + str(width) +
                           "):`, in it " + conditions(a, b, at) + ", and " + quoted(at) +
                           " where " + quoted(iter.name) + " is meant");
    }
  const size_t a = loop_end(from), b = loop_end(to);
  throw InputError(where, what,
                   "write `for " + iter.name + " in " + range.name + "(" + str(normalize(from[a])) +
                       ", " + str(normalize(to[b])) + "):`, and in it " +
                       conditions(a, b, iter.name));
}

// The iterator is in scope in the body only, and shadows what has its name.
StmtPtr Elaborator::loop(const SyntaxStmt& s) {
  const SyntaxExpr& range = *s.value;
  if (s.target->is_hole()) unknown(*s.target);
  if (range.kind != Kind::kCall || (range.name != "seq" && range.name != "par")) {
    throw InputError(range.where, "a loop runs over `seq(lo, hi)` or `par(lo, hi)`",
                     range.kind == Kind::kCall && range.name == "range"
                         ? instead_of_range(*s.target, range)
                         : instead_of_reversed(*s.target, range));
  }
  if (range.children.size() == 3) stepped(*s.target, range);
  if (range.children.size() != 2) {
    throw InputError(
        range.where,
        quoted(range.name) + " takes two bounds, not " + std::to_string(range.children.size()),
        "write " + quoted(written(with_two_bounds(range))));
  }
  refuse_band(*s.target, range);
  // Bounds are outside of the iterator's scope.
  ExprPtr lo = integer(range.children[0], Place::kLower);
  ExprPtr hi = integer(range.children[1], Place::kUpper);
  Sym iter = Sym::fresh(s.target->name);
  size_t mark = scope_.size();
  bind(iter, Type{ScalarType::kIndex, {}, false}, nullptr);
  scope_.back().iterates = true;
  scope_.back().end = hi;
  Block body = block(s.body);
  scope_.resize(mark);
  LoopMode mode = range.name == "par" ? LoopMode::kPar : LoopMode::kSeq;
  return make_stmt(For{iter, lo, hi, std::move(body), mode}, s.where);
}

// By position: the language has no keyword arguments and no defaults. Procedures are known by the
// file's order.
StmtPtr Elaborator::call(const SyntaxStmt& s) {
  const SyntaxExpr& e = *s.value;
  if (e.kind == Kind::kName && (e.name == "break" || e.name == "continue")) {
    throw InputError(
        e.where, "the language has no " + quoted(e.name),
        "a loop runs through: an `if` in it says by sizes and indices which iterations "
        "count, and `select` by data");
  }
  if (e.kind != Kind::kCall) {
    throw InputError(e.where, "this is an expression, not a statement",
                     e.kind == Kind::kCompare ? "an assignment is written with one `=`" : "");
  }
  auto it = globals_.procs.find(e.name);
  if (it == globals_.procs.end()) {
    if (const auto bad = globals_.refused.find(e.name); bad != globals_.refused.end()) {
      Diagnostic why = bad->second;
      why.notes.push_back("in " + e.name + ", which is called at " + e.where.str());
      throw InputError(std::move(why));
    }
    std::vector<std::string> names;
    for (const auto& [name, p] : globals_.procs) names.push_back(name);
    throw InputError(e.where, "there is no procedure " + quoted(e.name) + " above this line",
                     did_you_mean(e.name, names));
  }
  // The latest of that name above this line.
  const ProcPtr& callee = it->second;
  if (e.children.size() != callee->args.size()) {
    throw InputError(Diagnostic{e.where,
                                quoted(e.name) + " takes " + std::to_string(callee->args.size()) +
                                    " arguments, not " + std::to_string(e.children.size()),
                                {"its arguments are: " + list(callee->args)},
                                {}});
  }
  std::vector<ExprPtr> args;
  for (size_t k = 0; k < e.children.size(); ++k)
    args.push_back(argument(e.children[k], callee->args[k], *callee));
  return make_stmt(Call{callee, std::move(args)}, s.where);
}

// Control formals take control expressions; data formals take places, and scalars that are only
// read take values too.
ExprPtr Elaborator::argument(const SyntaxExpr& e, const Arg& formal, const Proc& callee) {
  const Type& want = formal.type;
  std::string which = "argument " + quoted(formal.name.name()) + " of " + quoted(callee.name);
  if (want.scalar == ScalarType::kBool) return boolean(e);
  if (is_control(want.scalar)) return integer(e);
  if (!want.is_tensor()) {
    // A configuration field is a value without a place; code generation makes one.
    if (e.kind == Kind::kAttribute) return data(e);
    bool place = e.kind == Kind::kName || (e.kind == Kind::kSubscript && !has_range(e));
    if (!place) {
      throw InputError(e.where, which + " is a scalar in memory: pass a variable or an element",
                       "assign the value to a variable first");
    }
    const Entry& entry = data_entry(e, "passed as data");
    return make_expr(Read{entry.sym, indices(e, entry)}, entry.type.scalar, e.where);
  }
  if (e.kind != Kind::kName && e.kind != Kind::kSubscript) {
    throw InputError(e.where, which + " is a tensor: pass a tensor or a window");
  }
  const Entry& entry = data_entry(e, "passed as data");
  auto wrong_rank = [&](int rank) {
    throw InputError(e.where, which + " has " + std::to_string(want.rank()) + " dimensions, not " +
                                  std::to_string(rank));
  };
  // The whole tensor, by its name.
  if (e.kind == Kind::kName) {
    if (entry.type.rank() != want.rank()) wrong_rank(entry.type.rank());
    // A dense tensor has no strides to pass; a window's rows may lie apart.
    if (entry.type.window && !want.window) {
      throw InputError(e.where,
                       which + " is a dense tensor, and " + quoted(e.name) + " is a window",
                       "declare the argument as a window: `[f32][...]`");
    }
    return make_expr(Read{entry.sym, {}}, entry.type.scalar, e.where);
  }
  ExprPtr w = whole_or_window(e, entry);
  int rank = 0;
  for (const WindowAccess& a : w->as<WindowExpr>()->access) rank += !a.is_point();
  if (rank != want.rank()) wrong_rank(rank);
  if (!want.window) {
    throw InputError(e.where, which + " is a dense tensor and takes no window",
                     "declare the argument as a window: `[f32][...]`");
  }
  return w;
}

}  // namespace exotune
