// What is written instead of an `if`, a `break` or a `continue` that data decides: `select`, in the
// user's own words.
#include <algorithm>
#include <functional>

#include "core/frontend/declarations.h"
#include "core/frontend/elaborate.h"
#include "core/frontend/foreign_functions.h"

namespace exotune {
namespace {

using Kind = SyntaxExpr::Kind;

}  // namespace

// An integer that is a scalar argument may be an `index`, and decides then.
bool Elaborator::reads_arguments_only(const SyntaxExpr& e, std::vector<const Entry*>& names) const {
  if (e.kind == Kind::kCall || e.kind == Kind::kAttribute || e.kind == Kind::kFloat) return false;
  if (e.kind == Kind::kName || e.kind == Kind::kSubscript) {
    const Entry* entry = lookup(e.name);
    if (!entry || is_control(entry->type.scalar)) return e.kind == Kind::kName;
    if (entry->allocated || entry->type.is_tensor() || is_float(entry->type.scalar)) return false;
    if (std::find(names.begin(), names.end(), entry) == names.end()) names.push_back(entry);
  }
  for (const SyntaxExpr& c : e.children)
    if (!reads_arguments_only(c, names)) return false;
  return true;
}

std::string Elaborator::deciding_arguments(const SyntaxExpr& condition) const {
  std::vector<const Entry*> names;
  if (!reads_arguments_only(condition, names) || names.empty()) return "";
  std::vector<std::string> declared;
  for (const Entry* entry : names) declared.push_back(quoted(entry->name + ": index"));
  return "declare " + joined(declared) +
         ": an argument that is an `index`, or a `bool`, decides, and data is made of it by `f32(" +
         names[0]->name + ")`";
}

std::string Elaborator::instead_of_break(const SyntaxExpr& condition) const {
  const ScalarType type = decided_by(condition);
  const bool real = is_float(type);
  const std::string on = unused_name("on"), zero = real ? "0.0" : "0", one = real ? "1.0" : "1";
  const std::string stays = choice(condition, zero, on);
  if (stays.empty()) return "";
  const std::string name = name_of(type);
  return "loops run to their end: keep whether this one goes on, `" + on + ": " + name + " = " +
         one + "` in front of it, `" + on + " = " + in_one_type(stays) +
         "` where the `if` stands, and below it `select(0, " + on +
         ", c, d)`, which is `c` as long as it does, else `d`";
}

// Where a branch assigns nothing, the target keeps what it is.
std::string Elaborator::chosen_value(const SyntaxStmt& s, const SyntaxStmt& first) const {
  const bool same = s.kind == first.kind && s.op == first.op && s.target && first.target &&
                    written(*s.target) == written(*first.target);
  if (s.kind != SyntaxStmt::Kind::kIf) return same ? select_of(*s.value) : "";
  if (s.body.size() != 1 || s.orelse.size() > 1) return "";
  const bool sums = first.kind == SyntaxStmt::Kind::kReduce && first.op == ReduceOp::kAdd;
  const std::string stays = sums ? "0" : written(*first.target);
  return choice(*s.value, chosen_value(s.body[0], first),
                s.orelse.empty() ? stays : chosen_value(s.orelse[0], first));
}

namespace {

bool reads(const SyntaxExpr& e, const std::string& name) {
  const auto inside = [&](const SyntaxExpr& c) { return reads(c, name); };
  if ((e.kind == Kind::kName || e.kind == Kind::kSubscript) && e.name == name) return true;
  return std::ranges::any_of(e.children, inside) ||
         std::ranges::any_of(e.access, [&](const SyntaxExpr::Access& a) {
           return std::ranges::any_of(a.lo, inside) || std::ranges::any_of(a.hi, inside);
         });
}

}  // namespace

// `if x[i] > best: best = x[i]; arg = i`: what the condition reads is written last.
std::string Elaborator::instead_of_several(const SyntaxStmt& s) const {
  std::vector<const SyntaxStmt*> order;
  for (const SyntaxStmt& b : s.body) {
    if (b.kind != SyntaxStmt::Kind::kAssign && b.kind != SyntaxStmt::Kind::kReduce) return "";
    order.push_back(&b);
  }
  std::stable_partition(order.begin(), order.end(),
                        [&](const SyntaxStmt* b) { return !reads(*s.value, b->target->name); });
  std::string out;
  for (size_t k = 0; k < order.size(); ++k) {
    const SyntaxStmt& b = *order[k];
    // Each is told what it was told where it stood, and the condition what it was.
    for (size_t before = 0; before < k; ++before)
      if (reads(*s.value, order[before]->target->name)) return "";
    for (const SyntaxStmt& other : s.body)
      if (&other != &b && reads(*b.value, other.target->name)) return "";
    SyntaxStmt alone = s;
    alone.body = {b};
    const std::string value = chosen_value(alone, b);
    if (value.empty()) return "";
    const std::string op = b.kind == SyntaxStmt::Kind::kAssign ? "=" : name_of(b.op);
    out += (out.empty() ? "" : ", then ") +
           quoted(written(*b.target) + " " + op + " " + in_one_type(value));
  }
  const bool counts = std::ranges::any_of(
      s.body, [&](const SyntaxStmt& b) { return !looks_like_data(*b.value).value_or(true); });
  const bool floats = out.find("f32(") != std::string::npos;
  return std::string(kSelectIs) + ": write " + out +
         (counts && floats
              ? "; an `f32` holds whole numbers up to 16777216, an `f64` all of an `i32`"
              : "");
}

namespace {

void collect_conjuncts(const SyntaxExpr& e, std::vector<SyntaxExpr>& out) {
  if (e.kind != Kind::kBinary || e.op != BinOpKind::kAnd) return out.push_back(e);
  for (const SyntaxExpr& c : e.children) collect_conjuncts(c, out);
}

SyntaxExpr conjunction(const std::vector<SyntaxExpr>& parts) {
  SyntaxExpr all = parts.front();
  for (size_t k = 1; k < parts.size(); ++k) {
    SyntaxExpr both;
    both.kind = Kind::kBinary;
    both.op = BinOpKind::kAnd;
    both.where = all.where;
    both.children = {std::move(all), parts[k]};
    all = std::move(both);
  }
  return all;
}

}  // namespace

// `if i > 2 and x[i] > 0.5: s`: sizes and indices decide around what data does.
std::string Elaborator::beside_control(const SyntaxStmt& s) const {
  if (!s.orelse.empty()) return "";
  std::vector<SyntaxExpr> all, control, data;
  collect_conjuncts(*s.value, all);
  for (const SyntaxExpr& c : all) (common_type_of(c) ? data : control).push_back(c);
  if (control.empty() || data.empty()) return "";
  SyntaxStmt inside = s;
  inside.value = conjunction(data);
  const std::string hint = instead_of_branch(inside);
  return hint.empty() ? ""
                      : "write `if " + written(conjunction(control)) + ":`, and in it: " + hint;
}

// What of the loop's body stands below the `if` is done for some of the iterations.
std::string Elaborator::instead_of_continue(const SyntaxExpr& condition) const {
  const ScalarType type = decided_by(condition);
  const std::string goes = unused_name("goes"), decides = choice(condition, "0", "1");
  if (decides.empty()) return "";
  return "each iteration runs to its end: write " +
         quoted(goes + ": " + name_of(type) + " = " + in_one_type(decides)) +
         " where the `if` stands, and below it `select(0, " + goes +
         ", c, d)`, which is `c` where it goes on, else `d`";
}

// The type of a flag that such a condition decides.
ScalarType Elaborator::decided_by(const SyntaxExpr& condition) const {
  const ScalarType type = common_type_of(condition).value_or(ScalarType::kF32);
  return type == ScalarType::kR ? ScalarType::kF32 : type;
}

namespace {

// The statements of one side, and the text that is `yes` where it is taken.
struct Arm {
  const std::vector<SyntaxStmt>* body;
  std::function<std::string(const std::string& yes, const std::string& no)> taken;
};

}  // namespace

// Any branch of assignments: which side is taken is kept in front, since what they write may decide
// it; then each statement stands as it stood, and leaves what there is where its side is not taken.
std::string Elaborator::instead_of_sides(const SyntaxStmt& s) const {
  constexpr size_t kLongest = 500;  // characters that still are a hint
  using Taken = std::function<std::string(const std::string&, const std::string&)>;
  std::vector<Arm> arms;
  Taken reached = [](const std::string& yes, const std::string&) { return yes; };
  const SyntaxStmt* side = &s;
  for (bool ends = false; !ends;) {
    const SyntaxExpr& condition = *side->value;
    const auto joined_with = [this, reached, &condition](bool holds) -> Taken {
      return [=, this, &condition](const std::string& yes, const std::string& no) {
        return reached(choice(condition, holds ? yes : no, holds ? no : yes), no);
      };
    };
    arms.push_back({&side->body, joined_with(true)});
    reached = joined_with(false);
    const std::vector<SyntaxStmt>& other = side->orelse;
    ends = other.size() != 1 || other[0].kind != SyntaxStmt::Kind::kIf;
    if (ends && !other.empty()) arms.push_back({&other, reached});
    if (!ends) side = &other[0];
  }
  const std::string type = name_of(decided_by(*s.value));
  std::vector<std::string> flags, statements;
  for (const Arm& arm : arms) {
    const std::string flag =
        unused_name(arms.size() == 1 ? "takes" : "takes_" + std::to_string(flags.size()));
    const std::string decides = arm.taken("1", "0");
    if (decides.empty()) return "";
    flags.push_back(quoted(flag + ": " + type + " = " + in_one_type(decides)));
    for (const SyntaxStmt& b : *arm.body) {
      if (b.kind == SyntaxStmt::Kind::kPass) continue;
      const bool declares = b.kind == SyntaxStmt::Kind::kAlloc && b.value;
      const bool sums = b.kind == SyntaxStmt::Kind::kReduce && b.op == ReduceOp::kAdd;
      if (!declares && !sums && b.kind != SyntaxStmt::Kind::kAssign) return "";
      if (declares) {
        statements.push_back(
            quoted(b.target->name + ": " + written(b.type) + " = " + written(*b.value)));
        continue;
      }
      const std::string target = written(*b.target), stays = sums ? "0" : target;
      const std::optional<ScalarType> held = common_type_of(*b.target);
      const std::string asked =
          held && name_of(*held) != type ? name_of(*held) + ("(" + flag + ")") : flag;
      statements.push_back(quoted(
          target + (sums ? " += " : " = ") +
          in_one_type("select(0, " + asked + ", " + select_of(*b.value) + ", " + stays + ")")));
    }
  }
  const std::string out = std::string(kSelectIs) + ": write " + joined(flags, ", ") + ", then " +
                          joined(statements, ", then ");
  return out.size() > kLongest ? "" : out;
}

std::string Elaborator::instead_of_branch(const SyntaxStmt& s) const {
  if (const std::string hint = deciding_arguments(*s.value); !hint.empty()) return hint;
  if (const std::string hint = beside_control(s); !hint.empty()) return hint;
  const std::string hint =
      s.body.size() > 1 && s.orelse.empty() ? instead_of_several(s) : instead_of_one(s);
  return hint.empty() ? instead_of_sides(s) : hint;
}

// One place that each side writes.
std::string Elaborator::instead_of_one(const SyntaxStmt& s) const {
  const SyntaxStmt* first = &s;
  while (first->kind == SyntaxStmt::Kind::kIf && first->body.size() == 1) first = &first->body[0];
  const bool leaves =
      first->kind == SyntaxStmt::Kind::kExpr && first == &s.body[0] && s.orelse.empty();
  if (leaves && first->value->name == "break") return instead_of_break(*s.value);
  if (leaves && first->value->name == "continue") return instead_of_continue(*s.value);
  if (first->kind != SyntaxStmt::Kind::kAssign && first->kind != SyntaxStmt::Kind::kReduce)
    return "";
  const std::string value = chosen_value(s, *first);
  if (value.empty()) return "";
  const std::string op = first->kind == SyntaxStmt::Kind::kAssign ? "=" : name_of(first->op);
  return std::string(kSelectIs) + ": write " +
         quoted(written(*first->target) + " " + op + " " + in_one_type(value));
}

}  // namespace exotune
