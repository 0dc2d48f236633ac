// Configuration state: writing, reading and deleting fields of device state. Each step is an
// equivalence modulo the field it touches (thesis 4.3.2), which the trace records.
#include <algorithm>

#include "core/analysis/config_values.h"
#include "core/ir/printer.h"
#include "core/primitives/internal.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

bool reads_field(const ExprPtr& e, const std::string& config, const std::string& field) {
  return config_reads(e).count({config, field}) > 0;
}

// What happens to a field's value on the way through statements. That a callee asserts something of
// it counts as a read.
enum class Fate : uint8_t { kPasses, kRead, kOverwritten };

class FieldFlow {
 public:
  FieldFlow(const std::string& config, const std::string& field) : config_(config), field_(field) {}

  Fate fate(const Stmt& s) const {
    for (const ExprPtr& e : stmt_exprs(s))
      if (reads(e)) return Fate::kRead;
    if (const Call* call = s.as<Call>()) {
      for (const ExprPtr& e : call->callee->asserts)
        if (reads(e)) return Fate::kRead;
      return fate(call->callee->body, 0);
    }
    if (const WriteConfig* w = s.as<WriteConfig>())
      return w->config->name == config_ && w->field == field_ ? Fate::kOverwritten : Fate::kPasses;
    const Fate body = fate(body_of(s), 0), orelse = fate(orelse_of(s), 0);
    if (body == Fate::kRead || orelse == Fate::kRead) return Fate::kRead;
    if (const For* f = s.as<For>()) {
      const auto trip = literal(trip_count(*f));
      return trip && *trip > 0 ? body : Fate::kPasses;
    }
    return body == orelse ? body : Fate::kPasses;
  }
  Fate fate(const Block& b, size_t from) const {
    for (size_t k = from; k < b.size(); ++k) {
      const Fate f = fate(*b[k]);
      if (f == Fate::kRead) reader_ = b[k];
      if (f != Fate::kPasses) return f;
    }
    return Fate::kPasses;
  }
  /// The statement that the last kRead of a block is about.
  const StmtPtr& reader() const { return reader_; }

 private:
  bool reads(const ExprPtr& e) const { return reads_field(e, config_, field_); }

  const std::string &config_, &field_;
  mutable StmtPtr reader_;
};

}  // namespace

bool internal::require_unread_after(const Proc& p, const Path& gap, const std::string& config,
                                    const std::string& field, const char* op) {
  const FieldFlow flow(config, field);
  const std::string name = "`" + config + "." + field + "`";
  for (Path here = gap;;) {
    const Fate rest = flow.fate(block_at(p, here), static_cast<size_t>(here.back().index));
    if (rest == Fate::kRead)
      refuse(op, name + " is read afterwards by `" + first_line(str(flow.reader())) + "`");
    if (rest == Fate::kOverwritten) return true;
    const Path outer = parent_stmt(here);
    if (outer.empty()) return false;
    if (const StmtPtr around = stmt_at(p, outer);
        around->as<For>() && flow.fate(body_of(*around), 0) == Fate::kRead)
      refuse(op, name + " is read in a later iteration of a loop around the place");
    here = sibling(outer, 1);
  }
}

namespace {

const ConfigField& field_of(const ConfigPtr& c, const std::string& field, const char* op) {
  const ConfigField* f = c ? c->find(field) : nullptr;
  if (!f) refuse(op, "there is no such configuration field as `" + field + "`");
  return *f;
}

void require_value(const Proc& p, const Path& at, const ExprPtr& e, const ConfigField& f,
                   const char* op) {
  bool fits = is_data(f.type)               ? is_data(e->type)
              : f.type == ScalarType::kBool ? e->type == ScalarType::kBool
                                            : is_integer_control(e->type);
  if (!fits)
    refuse(op, "`" + str(e) + "` is no value of the field's type `" + std::string(name_of(f.type)) +
                   "`");
  require_visible(p, at, e, op);
  if (f.type == ScalarType::kSize)
    require(prove(p, at, bin_op(BinOpKind::kGt, e, int_const(0))), op,
            "`" + str(e) + "` is not proved positive");
  for (const Path& loop : enclosing_loops(p, at)) {
    const For* around = stmt_at(p, loop)->as<For>();
    if (mentions(e, around->iter))
      refuse(op, "the value depends on the loop over `" + around->iter.name() + "`");
    if (around->mode == LoopMode::kPar)
      refuse(op, "iterations of the parallel loop `" + around->iter.name() +
                     "` would all write the field");
  }
}

// Neither memory nor anything else that a caller sees.
bool only_writes_config(const Block& b) {
  return std::all_of(b.begin(), b.end(), [](const StmtPtr& s) {
    if (const Call* c = s->as<Call>()) return only_writes_config(c->callee->body);
    if (s->as<For>() || s->as<If>())
      return only_writes_config(body_of(*s)) && only_writes_config(orelse_of(*s));
    return s->as<WriteConfig>() || s->as<Pass>();
  });
}

void check_stays(const Proc& p, const char* op) {
  try {
    check(p);
  } catch (const InputError& e) {
    throw SchedulingError(std::string(op) + ": the result would be no valid program",
                          {e.diagnostic().message.str()});
  }
}

}  // namespace

ProcPtr write_config(ProcPtr p, const Cursor& where, const ConfigPtr& config,
                     const std::string& field, const ExprPtr& e) {
  const char* op = "write_config";
  Cursor gap = here(p, where);
  if (gap.kind() != CursorKind::kGap) refuse(op, "the place is no gap");
  const ConfigField& f = field_of(config, field, op);
  require_value(*p, gap.path(), e, f, op);
  if (may_trap(e)) refuse(op, "'" + str(e) + "' divides by what may be zero");
  const bool is_constant = e->as<Const>() && is_data(f.type);  // a number has the field's type
  Rewrite rw(p);
  rw.insert(gap.path(),
            {make_stmt(WriteConfig{config, field, is_constant ? make_expr(e->node, f.type) : e})});
  if (!keeps_field(rw.proc(), gap.path(), config->name, field) &&
      !require_unread_after(*p, gap.path(), config->name, field, op))
    rw.flags.modulo_config.insert(config->name + "." + field);
  check_stays(rw.proc(), op);
  return rw.finish(op, {gap, config, field, str(e, scope_at(*p, gap.path()))});
}

ProcPtr bind_config(ProcPtr p, const Where& where, const ConfigPtr& config,
                    const std::string& field) {
  const char* op = "bind_config";
  Cursor c = where.expr(p);
  const ConfigField& f = field_of(config, field, op);
  ExprPtr e = c.expr();
  Path at = stmt_part(c.path());
  if (!config->readable)
    refuse(op, "`" + config->name + "` lives in hardware only and cannot be read");
  require_value(*p, at, e, f, op);
  if (is_data(e->type)) require_no_cast(e, f.type, op);
  const bool restored = require_unread_after(*p, at, config->name, field, op);
  ExprPtr read = make_expr(ReadConfig{config, field}, f.type);
  require(value_unchanged_by(*p, at, 1, read), op, "the statement writes the field itself");
  Rewrite rw(p);
  rw.replace_expr(c.path(), read);
  rw.insert(at, {make_stmt(WriteConfig{config, field, e})});
  check_stays(rw.proc(), op);
  if (!restored) rw.flags.modulo_config.insert(config->name + "." + field);
  return rw.finish(op, {place(where, c), config, field});
}

ProcPtr delete_config(ProcPtr p, const Where& where) {
  const char* op = "delete_config";
  Cursor c = where.stmt(p);
  const Path at = c.path();
  const Call* call = c.is<Call>() ? &c.as<Call>() : nullptr;
  if (!c.stmt()->writes_config ||
      !(c.is<WriteConfig>() || (call && only_writes_config(call->callee->body))))
    refuse(op, "the statement does more or less than write configuration");
  Rewrite rw(p);
  rw.erase(at, 1);
  for (const auto& [config, field] : config_writes(*c.stmt()))
    if (!keeps_field(*p, at, config, field) &&
        !require_unread_after(rw.proc(), at, config, field, op))
      rw.flags.modulo_config.insert(config + "." + field);
  check_stays(rw.proc(), op);
  return rw.finish(op, {place(where, c)});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> config_operators() {
  using namespace params;
  return {
      {"write_config",
       {proc(), place("gap"), config("config"), string("field"), expression("value")},
       "s  ->  Cfg.f = e; s",
       [](const OperatorArgs& a) -> Value {
         Cursor gap = a.where(1).gap(a.proc());
         return write_config(a.proc(), gap, a.config(2), a.string(3), a.any_expr(4, gap.path()));
       }},
      {"bind_config",
       {proc(), place("expr"), config("config"), string("field")},
       "s(e)  ->  Cfg.f = e; s(Cfg.f)",
       [](const OperatorArgs& a) -> Value {
         return bind_config(a.proc(), a.where(1), a.config(2), a.string(3));
       }},
      {"delete_config",
       {proc(), place("stmt")},
       "Cfg.f = e; s  ->  s",
       [](const OperatorArgs& a) -> Value { return delete_config(a.proc(), a.where(1)); }},
  };
}

}  // namespace exotune
