#include "core/cursor/provenance.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace exotune {

namespace {

// What holds procedures, of steps that nobody needs any more.
struct LetGo {
  std::vector<ProcPtr> parents;
  std::vector<std::vector<Value>> args;
};
// Of the outermost destructor on this thread, while it runs; those inside it add to it.
thread_local LetGo* let_go = nullptr;

}  // namespace

Provenance::~Provenance() {
  LetGo mine;
  const bool outermost = let_go == nullptr;
  if (outermost) let_go = &mine;
  let_go->parents.push_back(std::move(parent));
  let_go->args.push_back(std::move(args));
  while (outermost && !mine.parents.empty()) {
    const ProcPtr last = std::move(mine.parents.back());
    const std::vector<Value> held = std::move(mine.args.back());
    mine.parents.pop_back();
    mine.args.pop_back();
  }
  if (outermost) let_go = nullptr;
}

const Provenance* provenance_of(const Proc& p) {
  return static_cast<const Provenance*>(p.provenance.get());
}

ProcPtr Rewrite::finish(std::string op, std::vector<Value> args) {
  auto how = std::make_shared<Provenance>();
  how->parent = original_;
  how->op = std::move(op);
  how->args = std::move(args);
  how->edits = std::move(edits_);
  how->flags = std::move(flags);
  current_->provenance = std::move(how);
  return std::move(current_);
}

std::vector<TraceStep> trace_of(const ProcPtr& p) {
  std::vector<TraceStep> out;
  for (ProcPtr at = p; const Provenance* how = provenance_of(*at); at = how->parent)
    out.push_back({how->parent, at, how});
  std::reverse(out.begin(), out.end());
  return out;
}

namespace {

// Steps as lines of a script, those to procedures that a step is given in front of it.
class TraceText {
 public:
  explicit TraceText(const ProcPtr& p) { collect_names(p); }

  // `name` = what p came from, and every step to p.
  void add_steps(const ProcPtr& p, const std::string& name) {
    const std::vector<TraceStep> steps = trace_of(p);
    text_ += name + " = " + (steps.empty() ? p : steps[0].before)->name + "\n";
    for (const TraceStep& s : steps) {
      // The extracted procedure goes by its name from here on.
      const bool makes_two = s.how->op == "extract_subproc" && s.how->args.size() > 1;
      const std::string* second = makes_two ? s.how->args[1].as<std::string>() : nullptr;
      std::string line = name + (second ? ", " + *second : "") + " = " + s.how->op + "(" + name;
      for (const Value& v : s.how->args) line += argument(v, s.before);
      text_ += line + ")\n";
    }
  }
  const std::string& text() const { return text_; }

 private:
  std::string argument(const Value& v, const ProcPtr& before) {
    // Cursors may belong to an older version: what the script names must be the current one.
    if (const Cursor* c = v.as<Cursor>()) return ", " + Value(forward(before, *c)).str();
    if (const ProcPtr* given = v.as<ProcPtr>(); given && *given && provenance_of(**given))
      return ", " + name_of(*given);
    const auto* keywords = v.as<std::map<std::string, Value>>();
    if (!keywords) return ", " + v.str();
    std::string out;
    for (const auto& [key, value] : *keywords) out += ", " + key + "=" + value.str();
    return out;
  }

  // What a procedure that has steps of its own is called here.
  std::string name_of(const ProcPtr& derived) {
    const auto known = names_.find(derived.get());
    if (known != names_.end()) return known->second;
    std::string name = derived->name;
    for (int n = 1; taken_.count(name); ++n) name = derived->name + "_" + std::to_string(n);
    taken_.insert(name);
    names_.emplace(derived.get(), name);
    add_steps(derived, name);
    return name;
  }

  void collect_names(const ProcPtr& p) {
    taken_.insert({"p", p->name});
    for (const TraceStep& s : trace_of(p)) {
      taken_.insert(s.before->name);
      for (const Value& v : s.how->args)
        if (const ProcPtr* given = v.as<ProcPtr>(); given && *given) collect_names(*given);
    }
  }

  std::set<std::string> taken_;               // by procedures that the script does not make
  std::map<const Proc*, std::string> names_;  // of those it does
  std::string text_;
};

}  // namespace

std::string trace_script(const ProcPtr& p) {
  TraceText script(p);
  script.add_steps(p, "p");
  return script.text();
}

ProcPtr without_provenance(const ProcPtr& p) {
  auto copy = std::make_shared<Proc>(*p);
  copy->provenance = nullptr;
  return copy;
}

namespace {

// `p` and what it came from by steps that keep the meaning, nearest first, each with the config
// fields that the steps up to it differ in.
struct Ancestor {
  const Proc* proc;
  std::set<std::string> modulo;
};
std::vector<Ancestor> ancestors(const ProcPtr& p, bool through_asserts) {
  std::vector<Ancestor> out;
  std::set<std::string> fields;
  for (const Proc* at = p.get(); at;) {
    out.push_back({at, fields});
    const Provenance* how = provenance_of(*at);
    if (!how) break;
    if (how->flags.specializes && !(through_asserts && how->op == "add_assertion")) break;
    fields.insert(how->flags.modulo_config.begin(), how->flags.modulo_config.end());
    at = how->parent.get();
  }
  return out;
}

std::optional<std::set<std::string>> modulo(const ProcPtr& a, const ProcPtr& b,
                                            bool through_asserts) {
  const std::vector<Ancestor> of_a = ancestors(a, through_asserts);
  std::unordered_map<const Proc*, const Ancestor*> known;
  for (const Ancestor& x : of_a) known.emplace(x.proc, &x);
  for (const Ancestor& y : ancestors(b, through_asserts)) {
    const auto x = known.find(y.proc);
    if (x == known.end()) continue;
    std::set<std::string> all = x->second->modulo;
    all.insert(y.modulo.begin(), y.modulo.end());
    return all;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::set<std::string>> equivalent_modulo(const ProcPtr& a, const ProcPtr& b) {
  return modulo(a, b, true);
}

bool is_equivalent(const ProcPtr& a, const ProcPtr& b) {
  const std::optional<std::set<std::string>> fields = modulo(a, b, false);
  return fields && fields->empty();
}

bool reassociates(const ProcPtr& p) {
  for (const Proc* at = p.get(); at;) {
    const Provenance* how = provenance_of(*at);
    if (!how) return false;
    if (how->flags.reassociates) return true;
    at = how->parent.get();
  }
  return false;
}

namespace {

// `c` after one step, whose result is `p`.
Cursor forward_step(const ProcPtr& p, const Provenance& how, const Cursor& c) {
  const bool gap = c.kind() == CursorKind::kGap, block = c.kind() == CursorKind::kBlock;
  Path first = c.path();
  Path last = block ? sibling(first, c.length() - 1) : first;
  for (const Edit& e : how.edits) {
    auto a = forward(e, first, gap);
    auto b = block ? forward(e, last, gap) : a;
    if (!a || !b) return Cursor::invalid(p);
    first = std::move(*a);
    last = std::move(*b);
  }
  switch (c.kind()) {
    case CursorKind::kGap: {
      Cursor at = Cursor::gap(p, first);
      return at.anchor().valid() ? at : Cursor::invalid(p);
    }
    case CursorKind::kExpr:
      return expr_at(*p, first) ? Cursor::expr(p, first) : Cursor::invalid(p);
    case CursorKind::kStmt:
      return stmt_at(*p, first) ? Cursor::stmt(p, first) : Cursor::invalid(p);
    default:
      break;
  }
  // A block stays one as long as its ends are still siblings in order.
  bool siblings = first.size() == last.size() && parent_stmt(first) == parent_stmt(last) &&
                  first.back().child == last.back().child &&
                  first.back().index <= last.back().index;
  if (!siblings || !stmt_at(*p, last)) return Cursor::invalid(p);
  return Cursor::block(p, first, last.back().index - first.back().index + 1);
}

}  // namespace

Cursor forward(const ProcPtr& p, const Cursor& c) {
  if (!c.valid() || c.proc() == p) return c;
  // The chain of steps from c's proc to p, the last first.
  std::vector<const ProcPtr*> chain;
  for (const ProcPtr* at = &p; *at != c.proc();) {
    const Provenance* how = provenance_of(**at);
    if (!how)
      throw InvalidCursorError("the cursor belongs to another proc than `" + p->name + "`",
                               "make the cursor from this proc, or from one it was scheduled from");
    chain.push_back(at);
    at = &how->parent;
  }
  if (c.kind() == CursorKind::kArg) {
    Sym name = c.proc()->args[static_cast<size_t>(c.arg_index())].name;
    for (size_t k = 0; k < p->args.size(); ++k)
      if (p->args[k].name == name) return Cursor::arg(p, static_cast<int>(k));
    return Cursor::invalid(p);
  }
  Cursor now = c;
  for (auto at = chain.rbegin(); at != chain.rend() && now.valid(); ++at)
    now = forward_step(**at, *provenance_of(***at), now);
  return now.valid() ? now : Cursor::invalid(p);
}

}  // namespace exotune
