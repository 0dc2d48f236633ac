#include "core/library/inspection.h"

#include <algorithm>
#include <set>

#include "core/base/diagnostic.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/library/operator_rows.h"

namespace exotune {
// Questions that several operators ask of a program. None changes it; places are given as paths
// where a caller rewrites while it looks, as cursors where users do.

Path child(Path path, int k) {
  path.push_back({Child::kBody, k});
  return path;
}

Cursor at(const ProcPtr& p, const Path& path) { return Cursor::stmt(p, path); }

int size_of_block(const ProcPtr& p, const Path& path) {
  return static_cast<int>(block_at(*p, path).size());
}

// Down the first statements of single-statement bodies to what is no loop.
Path innermost(const ProcPtr& p, Path path) {
  if (!stmt_at(*p, path)) throw SchedulingError("there is no loop where one was expected");
  for (;;) {
    const Block& body = body_of(*stmt_at(*p, path));
    if (body.size() != 1 || !body[0]->as<For>()) return path;
    path = child(path);
  }
}

namespace {
template <class F>
void visit_loops(const Block& b, Path& prefix, Child child, const F& f) {
  for (size_t k = 0; k < b.size(); ++k) {
    prefix.push_back({child, static_cast<int>(k)});
    if (const For* loop = b[k]->as<For>()) f(*loop, prefix);
    visit_loops(body_of(*b[k]), prefix, Child::kBody, f);
    visit_loops(orelse_of(*b[k]), prefix, Child::kOrelse, f);
    prefix.pop_back();
  }
}
}  // namespace

// In the order of the text; the names are what the user sees, so two loops over `i` are both found.
std::vector<Cursor> loops_named(const ProcPtr& p, const std::string& name) {
  std::vector<Cursor> out;
  Path prefix;
  visit_loops(p->body, prefix, Child::kBody, [&](const For& loop, const Path& path) {
    if (loop.iter.name() == name) out.push_back(Cursor::stmt(p, path));
  });
  return out;
}

std::vector<Cursor> require_loops(const ProcPtr& p, const std::string& name) {
  std::vector<Cursor> out = loops_named(p, name);
  if (!out.empty()) return out;
  std::set<std::string> names;
  Path prefix;
  visit_loops(p->body, prefix, Child::kBody,
              [&](const For& loop, const Path&) { names.insert(loop.iter.name()); });
  std::string near = nearest(name, {names.begin(), names.end()});
  throw InvalidCursorError("there is no loop over `" + name + "` in `" + p->name + "`",
                           near.empty() ? "" : "did you mean `" + near + "`?");
}

std::optional<int64_t> literal_extent(const For& loop) {
  auto lo = as_int(loop.lo), hi = as_int(loop.hi);
  if (!lo || !hi) return std::nullopt;
  return *hi - *lo;
}

ExprPtr greatest_bound(const ProcPtr& p, const ExprPtr& bound, const Path& at) {
  std::optional<Affine> form = affine(bound);
  if (!form) return bound;
  for (Path around = at; !around.empty(); around.pop_back()) {
    if (around.size() == at.size()) continue;  // what stands there itself
    const For* f = stmt_at(*p, around)->as<For>();
    const int64_t step = f ? form->coeff_of(f->iter) : 0;
    if (step == 0) continue;
    const std::optional<Affine> end = affine(step > 0 ? f->hi - int_const(1) : f->lo);
    const std::optional<Affine> iter = affine(read_var(f->iter, ScalarType::kIndex));
    if (!end || !iter) return bound;
    form = *form - iter->scaled(step) + end->scaled(step);
  }
  return form->is_constant() ? to_expr(*form) : bound;
}

std::vector<Cursor> enclosing_loops(const Cursor& stmt) {
  std::vector<Cursor> out;
  Path path = stmt.path();
  for (size_t n = 1; n < stmt_part(path).size(); ++n) {
    Cursor c = Cursor::stmt(stmt.proc(), Path(path.begin(), path.begin() + static_cast<long>(n)));
    if (c.is<For>()) out.push_back(c);
  }
  return out;
}

int levels_to(const Cursor& inner, const std::string& outer_name) {
  int levels = 0;
  for (Cursor c = inner.parent(); c.valid(); c = c.parent()) {
    ++levels;
    if (c.is<For>() && c.as<For>().iter.name() == outer_name) return levels;
  }
  return 0;
}

namespace {

// Bounds are replaced loop by loop, from the inside out, always by the end at which the index is
// largest (or smallest): affine indices are monotonic in each variable.
// One end of an affine index over the block's own loops; nothing when it is not affine in them.
ExprPtr extreme(const ExprPtr& index, const std::vector<RangedVar>& vars, bool want_max) {
  auto a = affine(index);
  if (!a) return nullptr;
  ExprPtr out = index;
  // Innermost first: a loop's bounds may mention the loops around it.
  for (auto v = vars.rbegin(); v != vars.rend(); ++v) {
    if (!mentions(out, v->var)) continue;
    auto form = affine(out);
    if (!form) return nullptr;
    int64_t coeff = form->coeff_of(v->var);
    Affine without = *form;
    std::erase_if(without.terms, [&](const Affine::Term& t) {
      const Read* r = t.atom->as<Read>();
      return r && r->name == v->var;
    });
    for (const Affine::Term& t : without.terms)
      if (mentions(t.atom, v->var)) return nullptr;
    bool take_hi = (coeff > 0) == want_max;
    auto end = affine(take_hi ? v->hi - int_const(1) : v->lo);
    if (!end) return nullptr;
    out = to_expr(without + end->scaled(coeff));
  }
  return normalize(out);
}

}  // namespace

std::string Rectangle::text(const std::string& buffer, const std::vector<ScopeEntry>& scope,
                            bool keep_last) const {
  if (lo.empty()) return buffer;
  std::string out = buffer + "[";
  for (size_t k = 0; k < lo.size(); ++k) {
    out += (k ? ", " : "") + str(lo[k], scope);
    // One element wide: a point, which drops the dimension.
    if ((keep_last && k + 1 == lo.size()) || !affine_equal(hi[k], lo[k] + int_const(1)))
      out += ":" + str(hi[k], scope);
  }
  return out + "]";
}

// The smallest rectangle that holds all accesses, as far as affine bounds tell: too large is safe
// for a copy of inputs, which is why `touched` says which accesses it was asked about.
std::optional<Rectangle> touched(const ProcPtr& p, const Cursor& block, Sym buffer, Touch how,
                                 const std::function<bool(const Access&)>& which) {
  std::optional<Rectangle> out;
  int n = block.length();
  for (const Access& a : accesses_of(*p, block.path(), n, buffer)) {
    if (which && !which(a)) continue;
    if (how == Touch::kReads && a.kind == Access::Kind::kWrite) continue;
    if (how == Touch::kWrites && a.kind == Access::Kind::kRead) continue;
    Rectangle here;
    for (const ExprPtr& index : a.idx) {
      ExprPtr lo = extreme(index, a.vars, false), last = extreme(index, a.vars, true);
      if (!lo || !last) return std::nullopt;
      here.lo.push_back(lo);
      here.hi.push_back(normalize(last + int_const(1)));
    }
    if (!out) {
      out = here;
      continue;
    }
    // The union, where the ends compare by a constant difference or by proof.
    for (size_t k = 0; k < here.lo.size(); ++k) {
      auto smaller = [&](const ExprPtr& x, const ExprPtr& y) {
        return static_cast<bool>(prove(*p, block.path(), bin_op(BinOpKind::kLe, x, y)));
      };
      if (smaller(here.lo[k], out->lo[k]))
        out->lo[k] = here.lo[k];
      else if (!smaller(out->lo[k], here.lo[k]))
        return std::nullopt;
      if (smaller(out->hi[k], here.hi[k]))
        out->hi[k] = here.hi[k];
      else if (!smaller(here.hi[k], out->hi[k]))
        return std::nullopt;
    }
  }
  return out;
}

namespace {
void collect_data_reads(const ExprPtr& e, std::vector<const Read*>& out) {
  if (const Read* r = e->as<Read>(); r && is_data(e->type)) out.push_back(r);
  for (const ExprPtr& c : expr_children(*e)) collect_data_reads(c, out);
}
}  // namespace

std::vector<const Read*> data_reads(const ExprPtr& e) {
  std::vector<const Read*> out;
  collect_data_reads(e, out);
  return out;
}

std::optional<ScopeEntry> visible(const ProcPtr& p, const Path& at, const std::string& name) {
  std::optional<ScopeEntry> found;
  for (ScopeEntry& e : scope_at(*p, at))
    if (e.name.name() == name) found = std::move(e);
  return found;
}

bool has_loops(const For& loop) {
  return std::any_of(loop.body.begin(), loop.body.end(),
                     [](const StmtPtr& s) { return s->as<For>() != nullptr; });
}

std::vector<std::string> buffers_asked(const ProcPtr& p, const std::string& asked,
                                       size_t dimensions) {
  if (!asked.empty()) return {asked};
  std::vector<std::string> names;
  for (const Arg& a : p->args)
    if (is_data(a.type.scalar) && a.type.shape.size() >= dimensions) names.push_back(a.name.name());
  return names;
}

namespace {

bool writes(const Proc& p, const Path& at, const std::string& name) {
  const StmtPtr s = stmt_at(p, at);
  if (const Assign* a = s->as<Assign>()) return a->name.name() == name;
  if (const Reduce* r = s->as<Reduce>()) return r->name.name() == name;
  if (!s->as<Call>()) return false;
  for (const Access& a : accesses_of(p, at, 1))
    if (a.kind != Access::Kind::kRead && a.buffer.name() == name) return true;
  return false;
}

}  // namespace

std::vector<Cursor> writes_of(const ProcPtr& p, const std::string& name) {
  std::vector<Cursor> out;
  for (const Path& at : all_stmt_paths(*p))
    if (writes(*p, at, name)) out.push_back(Cursor::stmt(p, at));
  return out;
}

std::vector<Cursor> stage_loops(const ProcPtr& p, const std::string& buffer,
                                const std::string& iter) {
  std::vector<Cursor> out, writers = writes_of(p, buffer);
  if (writers.empty())
    throw InvalidCursorError("nothing in `" + p->name + "` writes a buffer called `" + buffer +
                             "`");
  std::set<std::string> names;
  for (const Cursor& w : writers) {
    for (Cursor& loop : enclosing_loops(w)) {
      names.insert(loop.as<For>().iter.name());
      if (loop.as<For>().iter.name() != iter) continue;
      if (out.empty() || out.back().path() != loop.path()) out.push_back(std::move(loop));
    }
  }
  if (!out.empty()) return out;
  const std::string near = nearest(iter, {names.begin(), names.end()});
  throw InvalidCursorError("`" + buffer + "` is not written in a loop over `" + iter + "`",
                           near.empty() ? "" : "did you mean `" + near + "`?");
}

namespace {

// A shape forgets names and places: two statements of one shape may be one instruction; those of
// different shapes never are. What it keeps, operations and literals, is what instructions differ
// by.
std::string shape_of(const ExprPtr& e) {
  if (e->as<Read>()) return "x";
  if (const Const* c = e->as<Const>()) {
    auto* d = std::get_if<double>(&c->value);
    return std::to_string(d ? *d : static_cast<double>(as_int(e).value_or(0)));
  }
  if (const USub* u = e->as<USub>()) return "-(" + shape_of(u->arg) + ")";
  if (const BinOp* o = e->as<BinOp>()) {
    std::string a = shape_of(o->lhs), b = shape_of(o->rhs);
    if (whole_divisor(*o)) b = "?";
    if ((o->op == BinOpKind::kAdd || o->op == BinOpKind::kMul) && b < a) std::swap(a, b);
    return std::string(name_of(o->op)) + "(" + a + "," + b + ")";
  }
  if (const Extern* x = e->as<Extern>()) {
    std::string out = x->fn + "(";
    for (const ExprPtr& a : x->args) out += shape_of(a) + ",";
    return out + ")";
  }
  return "?";
}

}  // namespace

std::string shape_of(const Stmt& s) {
  if (const Assign* a = s.as<Assign>()) return "=(" + shape_of(a->rhs) + ")";
  if (const Reduce* r = s.as<Reduce>())
    return std::string(name_of(r->op)) + "(" + shape_of(r->rhs) + ")";
  return "";
}

// The shapes that a target has instructions for, by the type that they write: vectorize looks here
// before it tries unification, which costs far more. A schedule asks for those of one target again
// and again: the last ones asked for are kept, by thread.
std::shared_ptr<const Shapes> shapes_of(const std::vector<ProcPtr>& instrs) {
  static thread_local std::vector<ProcPtr> known;
  static thread_local std::shared_ptr<const Shapes> last;
  if (last && known == instrs) return last;
  Shapes out;
  for (const ProcPtr& p : instrs) {
    const Block* b = &p->body;
    while (b->size() == 1 && !body_of(*b->front()).empty() && orelse_of(*b->front()).empty())
      b = &body_of(*b->front());
    if (b->size() != 1) continue;
    const Assign* assign = b->front()->as<Assign>();
    const Reduce* reduce = b->front()->as<Reduce>();
    if (!assign && !reduce) continue;
    const Sym written = assign ? assign->name : reduce->name;
    for (const Arg& a : p->args)
      if (a.name == written) out[a.type.scalar].insert(shape_of(*b->front()));
  }
  known = instrs;
  return last = std::make_shared<const Shapes>(std::move(out));
}

// --- rows of the operator table ----------------------------------------------------------------

namespace {

Touch touch_of(const std::string& t) {
  if (t == "RW") return Touch::kAny;
  if (t == "R") return Touch::kReads;
  if (t == "W") return Touch::kWrites;
  throw InputError({}, "there is no access '" + t + "'", "accesses are 'R', 'W' and 'RW'");
}

Value inferred(const OperatorArgs& a) {
  const Cursor block = a.where(1).block(a.proc());
  const std::optional<ScopeEntry> entry = visible(a.proc(), block.path(), a.string(2));
  if (!entry) throw InvalidCursorError("no buffer `" + a.string(2) + "` is visible there");
  const std::optional<Rectangle> r = touched(a.proc(), block, entry->name, touch_of(a.string(3)));
  if (!r)
    throw SchedulingError("bounds_inference: what the block touches of `" + a.string(2) +
                          "` is no rectangle that can be inferred");
  return ValueList{a.proc(), r->text(a.string(2), scope_at(*a.proc(), block.path()))};
}

}  // namespace

std::vector<Operator> inspection_operators() {
  using namespace params;
  return {
      in_cpp("touched",
             {"bounds_inference",
              {proc(), place("block"), string("buf"), string("include", "RW")},
              "returns p and what the block touches of buf, as text: 'A[32 * y:32 * y + 34, 0:W]'",
              inferred}),
  };
}

}  // namespace exotune
