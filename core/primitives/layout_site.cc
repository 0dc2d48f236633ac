#include "core/primitives/layout_site.h"

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"

namespace exotune::internal {

Site site_of(const ProcPtr& p, const Where& where) {
  Cursor c = where.alloc(p);
  return {c, &c.as<Alloc>()};
}

Path scope_of(const ProcPtr& p, const Where& buffer) {
  // An argument is declared before the first statement.
  const Cursor c = buffer.buffer(p);
  return c.kind() == CursorKind::kArg ? Path{{Child::kBody, 0}} : c.path();
}

void require_dim(const Site& s, int dim, const char* op) {
  if (dim < 0 || dim >= s.rank())
    refuse(op, "`" + s.alloc->name.name() + "` has " + std::to_string(s.rank()) +
                   " dimensions, there is no dimension " + std::to_string(dim));
}

StmtPtr reshaped(const Site& s, std::vector<ExprPtr> shape) {
  Type t = s.alloc->type;
  t.shape = std::move(shape);
  return make_stmt(Alloc{s.alloc->name, std::move(t), s.alloc->mem}, s.cursor.stmt()->where);
}

ProcPtr relayout(const ProcPtr& p, const Site& s, const StmtPtr& new_alloc, UseMap map,
                 std::vector<Value> args) {
  std::vector<ExprPtr> new_shape = new_alloc->as<Alloc>()->type.shape;
  map.buffer = s.alloc->name;
  map.shape = s.shape();
  if (!map.shape_of) map.shape_of = [new_shape](Sym) { return new_shape; };
  Rewrite rw(p);
  rw.map_in_place(map_scope(*p, s.path(), new_alloc, map));
  Block rest = rest_of_block(*p, s.path());
  if (!rest.empty())
    require_calls(rw.proc(), sibling(s.path(), 1), static_cast<int>(rest.size()),
                  aliases_in(rest, {s.alloc->name}), map.op);
  require_config_writes_fixed(rw.proc(), map.op);
  return rw.finish(map.op, std::move(args));
}

Value trace_value(const ExprPtr& e, const Proc& p, const Cursor& at) {
  if (auto k = as_int(e)) return Value(*k);
  return Value(str(e, scope_at(p, at.path())));
}

void require_size(const char* op, const Proc& p, const Site& s, const ExprPtr& size,
                  const ExprPtr& place) {
  for (const ExprPtr& e : {size, place}) {
    if (!is_integer_control(e->type))
      refuse(op, "`" + str(e) + "` is no integer control expression");
    if (!in_scope(p, s.path(), e))
      refuse(op, "`" + str(e) + "` uses a name that is not visible at the allocation");
    if (reads_config(e)) refuse(op, "`" + str(e) + "` reads configuration state, which may change");
    require_moderate(e, op);
  }
  require(prove(p, s.path(), bin_op(BinOpKind::kGt, size, int_const(0))), op,
          "`" + str(size) + "` is not proved positive");
}

}  // namespace exotune::internal
