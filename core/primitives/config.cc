// Configuration state: writing, reading and deleting fields of device state. Each step is an
// equivalence modulo the field it touches (thesis 4.3.2), which the trace records.
#include "core/ir/printer.h"
#include "core/primitives/internal.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

namespace {

bool reads_field(const ExprPtr& e, const Config& c, const std::string& field) {
  if (const ReadConfig* r = e->as<ReadConfig>();
      r && r->config->name == c.name && r->field == field)
    return true;
  for (const ExprPtr& child : expr_children(*e))
    if (reads_field(child, c, field)) return true;
  return false;
}

bool reads_field(const Block& b, const Config& c, const std::string& field);

bool reads_field(const StmtPtr& s, const Config& c, const std::string& field) {
  for (const ExprPtr& e : stmt_exprs(*s))
    if (reads_field(e, c, field)) return true;
  if (const Call* call = s->as<Call>(); call && reads_field(call->callee->body, c, field))
    return true;
  return reads_field(body_of(*s), c, field) || reads_field(orelse_of(*s), c, field);
}

bool reads_field(const Block& b, const Config& c, const std::string& field) {
  for (const StmtPtr& s : b)
    if (reads_field(s, c, field)) return true;
  return false;
}

const ConfigField& field_of(const ConfigPtr& c, const std::string& field, const char* op) {
  const ConfigField* f = c ? c->find(field) : nullptr;
  if (!f) refuse(op, "there is no such configuration field as `" + field + "`");
  return *f;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Nothing that may run after the statement `skip` statements long at `at` reads the field: not the
// rest of the blocks around it, nor, for loops around it, their next iterations.
void require_unread_after(const Proc& p, const Path& at, int skip, const Config& c,
                          const std::string& field, const char* op) {
  for (Path here = at; !here.empty(); here = parent_stmt(here)) {
    const Block& b = block_at(p, here);
    size_t from =
        static_cast<size_t>(here.back().index) + (here == at ? static_cast<size_t>(skip) : 1);
    for (size_t k = from; k < b.size(); ++k)
      if (reads_field(b[k], c, field))
        refuse(op, "`" + c.name + "." + field + "` is read afterwards by `" +
                       first_line(str(b[k])) + "`");
    Path outer = parent_stmt(here);
    if (outer.empty()) break;
    StmtPtr around = stmt_at(p, outer);
    if (around->as<For>() && reads_field(body_of(*around), c, field))
      refuse(op, "`" + c.name + "." + field +
                     "` is read in a later iteration of a loop around the place");
  }
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

void check_stays(const Proc& p, const char* op) {
  try {
    check(p);
  } catch (const InputError& e) {
    throw SchedulingError(std::string(op) + ": the result would be no valid program",
                          {e.diagnostic().message.str()});
  }
}

}  // namespace

// s1 ; s2   ->   s1 ; config.field = e ; s2
// Obligation: nothing that runs afterwards reads the field; e has the field's type and does not
// depend on a loop around. Equivalent modulo the field. Cursors stay.
ProcPtr write_config(ProcPtr p, const Cursor& where, const ConfigPtr& config,
                     const std::string& field, const ExprPtr& e) {
  const char* op = "write_config";
  Cursor gap = here(p, where);
  if (gap.kind() != CursorKind::kGap) refuse(op, "the place is no gap");
  const ConfigField& f = field_of(config, field, op);
  require_value(*p, gap.path(), e, f, op);
  require_unread_after(*p, gap.path(), 0, *config, field, op);
  const bool is_constant = e->as<Const>() && is_data(f.type);  // a number has the field's type
  Rewrite rw(p);
  rw.insert(gap.path(),
            {make_stmt(WriteConfig{config, field, is_constant ? make_expr(e->node, f.type) : e})});
  check_stays(rw.proc(), op);
  rw.flags.modulo_config.insert(config->name + "." + field);
  return rw.finish(op, {gap, config, field, str(e, scope_at(*p, gap.path()))});
}

// s(e)   ->   config.field = e ; s(config.field)
// Obligation: nothing that runs afterwards reads the field, and s does not write it; a data field
// holds every value of e.
// Equivalent modulo the field. Cursors to s stay, those into e die.
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
  require_unread_after(*p, at, 0, *config, field, op);
  ExprPtr read = make_expr(ReadConfig{config, field}, f.type);
  require(value_unchanged_by(*p, at, 1, read), op, "the statement writes the field itself");
  Rewrite rw(p);
  rw.replace_expr(c.path(), read);
  rw.insert(at, {make_stmt(WriteConfig{config, field, e})});
  check_stays(rw.proc(), op);
  rw.flags.modulo_config.insert(config->name + "." + field);
  return rw.finish(op, {place(where, c), config, field});
}

// config.field = e ; s   ->   s
// Obligation: nothing that runs afterwards reads the field. Equivalent modulo the field.
ProcPtr delete_config(ProcPtr p, const Where& where) {
  const char* op = "delete_config";
  Cursor c = where.stmt(p);
  const WriteConfig* w = c.stmt()->as<WriteConfig>();
  if (!w) refuse(op, "the statement writes no configuration field");
  require_unread_after(*p, c.path(), 1, *w->config, w->field, op);
  Rewrite rw(p);
  rw.erase(c.path(), 1);
  rw.flags.modulo_config.insert(w->config->name + "." + w->field);
  return rw.finish(op, {place(where, c)});
}

}  // namespace exotune
