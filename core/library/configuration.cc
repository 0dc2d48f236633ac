#include "core/library/configuration.h"

#include <map>

#include "core/analysis/effects.h"
#include "core/cursor/provenance.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

namespace exotune {
// Instructions that need settings (accelerators): replace_configured writes what an instruction
// asserts in front of it and replaces; hoist_config moves settings out and merges them, so that
// each is written as seldom as possible. Both only call primitives; the checker proves that every
// assert holds where it stands.
namespace {

// A field's value that an instruction asserts, over its formals.
struct Setting {
  ConfigPtr config;
  std::string field;
  ExprPtr value;
};

std::optional<Setting> setting_of(const ExprPtr& assertion) {
  if (const ReadConfig* r = assertion->as<ReadConfig>())
    return Setting{r->config, r->field, bool_const(true)};
  if (const Not* n = assertion->as<Not>())
    if (const ReadConfig* r = n->arg->as<ReadConfig>())
      return Setting{r->config, r->field, bool_const(false)};
  const BinOp* o = assertion->as<BinOp>();
  if (!o || o->op != BinOpKind::kEq) return std::nullopt;
  for (const auto& [field, value] : {std::pair(o->lhs, o->rhs), std::pair(o->rhs, o->lhs)})
    if (const ReadConfig* r = field->as<ReadConfig>(); r && config_reads(value).empty())
      return Setting{r->config, r->field, value};
  return std::nullopt;
}

// Writes of configuration and nothing else, in order.
std::vector<const WriteConfig*> settings_written(const Proc& p) {
  std::vector<const WriteConfig*> out;
  for (const StmtPtr& s : p.body) {
    const WriteConfig* w = s->as<WriteConfig>();
    if (!w) return {};
    out.push_back(w);
  }
  return out;
}

// What the field is set to by every statement that writes it, or by every call of a procedure of
// nothing but settings; null when they differ, or none does.
ExprPtr only_value_of(const Proc& p, const WriteConfig& field) {
  ExprPtr out;
  bool same = true;
  const auto is_field = [&](const WriteConfig& w) {
    return w.config->name == field.config->name && w.field == field.field;
  };
  const auto note = [&](const ExprPtr& value) {
    same &= !out || equal(out, value);
    out = value;
  };
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    if (const WriteConfig* w = s->as<WriteConfig>(); w && is_field(*w)) note(w->rhs);
    const Call* call = s->as<Call>();
    if (!call) return;
    const CallSubstitution at_call(*call->callee, call->args);
    for (const WriteConfig* w : settings_written(*call->callee))
      if (is_field(*w)) note(at_call.apply_to_value(w->rhs));
  });
  return same ? out : nullptr;
}

struct Instruction {
  ProcPtr proc;
  std::vector<Setting> settings;
  ProcPtr plain;  // without them; null when there are none
};

Instruction instruction(const ProcPtr& proc) {
  Instruction out{proc, {}, nullptr};
  auto plain = std::make_shared<Proc>(*proc);
  plain->asserts.clear();
  for (const ExprPtr& a : proc->asserts) {
    if (auto s = setting_of(a))
      out.settings.push_back(*s);
    else
      plain->asserts.push_back(a);
  }
  if (!out.settings.empty()) out.plain = plain;
  return out;
}

class Configurer {
 public:
  explicit Configurer(const std::vector<ProcPtr>& instrs) {
    for (const ProcPtr& i : instrs) {
      if (!settings_written(*i).empty())
        setters_.push_back(i);
      else
        instrs_.push_back(instruction(i));
    }
  }

  // The number of statements that now stand where one stood at `path`; their insides are done.
  int run(ProcPtr& p, const Path& path) const {
    const StmtPtr s = stmt_at(*p, path);
    if (s->as<Call>() || s->as<Alloc>() || s->as<Pass>() || s->as<WindowStmt>()) return 1;
    for (const Instruction& i : instrs_) {
      if (auto done = try_replace(p, Cursor::stmt(p, path), i.proc)) {
        p = *done;
        return 1;
      }
      if (!i.plain) continue;
      if (const int made = configured(p, path, i)) return made;
    }
    for (Child child : {Child::kBody, Child::kOrelse}) {
      size_t left = (child == Child::kBody ? body_of(*s) : orelse_of(*s)).size();
      Path inner = path;
      inner.push_back({child, 0});
      for (; left > 0; --left) inner.back().index += run(p, inner);
    }
    return 1;
  }

 private:
  // 0 when the instruction does not fit, or its settings cannot be written here.
  // All or nothing: a setting that cannot be written here undoes the attempt.
  int configured(ProcPtr& p, const Path& path, const Instruction& i) const {
    const auto probe = try_replace(p, Cursor::stmt(p, path), i.plain);
    if (!probe) return 0;
    const CallSubstitution at_call(*i.plain, stmt_at(**probe, path)->as<Call>()->args);
    std::map<ConfigFieldName, Setting> wanted, held;
    for (const Setting& s : i.settings) {
      const ExprPtr value = at_call.apply(s.value);
      const ExprPtr read = make_expr(ReadConfig{s.config, s.field}, s.config->find(s.field)->type);
      const bool holds =
          static_cast<bool>(prove_on_arrival(*p, path, bin_op(BinOpKind::kEq, read, value)));
      (holds ? held : wanted)[{s.config->name, s.field}] = {s.config, s.field, value};
    }
    try {
      ProcPtr q = p;
      Path at = path;
      while (!wanted.empty()) {
        if (!set_by_instruction(q, at, wanted, held)) {
          const Setting s = wanted.begin()->second;
          q = write_config(q, Cursor::gap(q, at), s.config, s.field, s.value);
          wanted.erase(wanted.begin());
        }
        at = sibling(at, 1);
      }
      p = replace(q, Cursor::stmt(q, at), i.proc);
      return at.back().index - path.back().index + 1;
    } catch (const SchedulingError&) {
      return 0;
    }
  }

  // Settings that one instruction writes together come together; what already holds is not written
  // again.
  // Sets what it can of `wanted` by one instruction at `at`, which leaves what is `held`.
  bool set_by_instruction(ProcPtr& p, const Path& at, std::map<ConfigFieldName, Setting>& wanted,
                          const std::map<ConfigFieldName, Setting>& held) const {
    for (const ProcPtr& setter : setters_) {
      std::vector<Setting> values;
      bool fits = true, useful = false;
      for (const WriteConfig* w : settings_written(*setter)) {
        const auto want = wanted.find({w->config->name, w->field});
        useful |= want != wanted.end();
        const bool constant = w->rhs->as<Const>() != nullptr;
        ExprPtr value = w->rhs;
        if (want != wanted.end())
          value = want->second.value;
        else if (!constant)
          value = only_value_of(*p, *w);
        else if (const auto now = held.find({w->config->name, w->field}); now != held.end())
          fits &= equal(w->rhs, now->second.value);
        fits &= value && (!constant || want == wanted.end() || equal(w->rhs, value));
        values.push_back({w->config, w->field, value});
      }
      if (!fits || !useful) continue;
      ProcPtr q = p;
      // From the last, so that each is written before those that follow it.
      for (auto v = values.rbegin(); v != values.rend(); ++v)
        q = write_config(q, Cursor::gap(q, at), v->config, v->field, v->value);
      p = replace(q, Cursor::block(q, at, static_cast<int>(values.size())), setter);
      for (const Setting& v : values) wanted.erase({v.config->name, v.field});
      return true;
    }
    return false;
  }

  std::vector<Instruction> instrs_;
  std::vector<ProcPtr> setters_;
};

bool only_writes_config(const Stmt& s) {
  if (const Call* c = s.as<Call>()) return !settings_written(*c->callee).empty();
  return s.as<WriteConfig>() != nullptr;
}

// if c: { Cfg.f = e; s }  ->  Cfg.f = e; if c: s   where nobody minds that it is set without c.
ProcPtr set_before(ProcPtr p, const Path& at) {
  const StmtPtr s = stmt_at(*p, at);
  const Path guard = parent_stmt(at);
  const Call* call = s->as<Call>();
  std::vector<Setting> values;
  if (call) {
    const CallSubstitution at_call(*call->callee, call->args);
    for (const WriteConfig* w : settings_written(*call->callee))
      values.push_back({w->config, w->field, at_call.apply_to_value(w->rhs)});
  } else {
    const WriteConfig& w = *s->as<WriteConfig>();
    values.push_back({w.config, w.field, w.rhs});
  }
  for (auto v = values.rbegin(); v != values.rend(); ++v)
    p = write_config(p, Cursor::gap(p, guard), v->config, v->field, v->value);
  const int count = static_cast<int>(values.size());
  if (call) p = replace(p, Cursor::block(p, guard, count), call->callee);
  Path inside = sibling(guard, call ? 1 : count);
  inside.push_back(at.back());
  return delete_config(p, Cursor::stmt(p, inside));
}

// One step up or out; false when there is none.
bool raise(ProcPtr& p, Path& at) {
  try {
    if (at.back().index > 0) {
      p = reorder_stmts(p, Cursor::block(p, sibling(at, -1), 2));
      at = sibling(at, -1);
      return true;
    }
    const Path loop = parent_stmt(at);
    if (loop.empty()) return false;
    ProcPtr q = p;
    if (!stmt_at(*p, loop)->as<For>()) {
      p = set_before(p, at);
      at = loop;
      return true;
    }
    if (body_of(*stmt_at(*q, loop)).size() > 1) q = fission(q, Cursor::gap(q, sibling(at, 1)), 1);
    q = remove_loop(q, Cursor::stmt(q, loop));
    if (!only_writes_config(*stmt_at(*q, loop))) return false;  // it may run zero times: a guard
    p = q;
    at = loop;
    return true;
  } catch (const SchedulingError&) {
    return false;
  }
}

}  // namespace

ProcPtr replace_configured(ProcPtr p, const Where& block, const std::vector<ProcPtr>& instrs) {
  const Configurer configurer(instrs);
  const Cursor c = block.block(p);
  Path at = c.path();
  for (int left = c.length(); left > 0; --left) at.back().index += configurer.run(p, at);
  return p;
}

namespace {

ProcPtr hoist_once(ProcPtr p) {
  std::vector<Cursor> settings;
  for (const Path& at : all_stmt_paths(*p))
    if (only_writes_config(*stmt_at(*p, at))) settings.push_back(Cursor::stmt(p, at));
  for (const Cursor& setting : settings) {
    const Cursor now = forward(p, setting);
    if (!now.valid()) continue;
    Path at = now.path();
    do {
      try {
        // Only what sets nothing new goes: nothing is lost for who comes after.
        ProcPtr without = delete_config(p, Cursor::stmt(p, at));
        if (is_equivalent(p, without)) {
          p = without;
          break;
        }
      } catch (const SchedulingError&) {
        // It sets something that is read: it stays.
      }
    } while (raise(p, at));
  }
  return p;
}

}  // namespace

ProcPtr hoist_config(ProcPtr p) {
  // A setting that went away may have been in the way of another.
  for (int times = 0; times < 4; ++times) {
    const ProcPtr before = p;
    p = hoist_once(p);
    if (equal(p->body, before->body)) break;
  }
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> configuration_operators() {
  using namespace params;
  return {
      {"replace_configured",
       {proc(), procs("instrs"), place("block", Value())},
       "s  ->  config_f(...); f(...)   wherever an instruction fits but for the settings it "
       "asserts",
       [](const OperatorArgs& a) -> Value {
         return replace_configured(a.proc(), a.given(2) ? a.where(2) : Where(body_of(a.proc())),
                                   a.procs(1));
       }},
      {"hoist_config",
       {proc()},
       "for i: config_f(...); s  ->  config_f(...); for i: s   and settings that hold already "
       "disappear",
       [](const OperatorArgs& a) -> Value { return hoist_config(a.proc()); }},
  };
}

}  // namespace exotune
