#include "search/moves/scans.h"

#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"

namespace exotune {

namespace {

constexpr int kMostFactors = 2;  // of a chain that an instruction goes along

/// Statements that compute, of a loop from 0.
const For* plain_loop(const StmtPtr& s) {
  const For* f = s ? s->as<For>() : nullptr;
  if (!f || as_int(f->lo) != 0) return nullptr;
  const bool plain = std::all_of(f->body.begin(), f->body.end(), [](const StmtPtr& inner) {
    return inner->as<Assign>() || inner->as<Reduce>();
  });
  return plain ? f : nullptr;
}

bool reads_name(const ExprPtr& e, Sym name) {
  const std::vector<const Read*> all = data_reads(e);
  return std::any_of(all.begin(), all.end(), [&](const Read* r) { return r->name == name; });
}
/// a += e, a = .. a ..
bool goes_on(const Stmt& s) {
  const Assign* a = s.as<Assign>();
  return s.as<Reduce>() || (a && reads_name(a->rhs, a->name));
}

/// Does an iteration hand something on, which it keeps besides: in an element that stays and
/// another one, or from one element to the next? Sums alone are no such loops.
bool hands_on(const For& f) {
  if (f.body.size() == 2) return goes_on(*f.body[0]) != goes_on(*f.body[1]);
  const Assign* a = f.body.size() == 1 ? f.body[0]->as<Assign>() : nullptr;
  if (!a || a->idx.empty()) return false;
  const std::vector<const Read*> all = data_reads(a->rhs);
  return std::any_of(all.begin(), all.end(), [&](const Read* r) {
    return r->name == a->name && r->idx.size() == a->idx.size() &&
           !equal(r->idx.back(), a->idx.back());
  });
}

/// .. c * a + .. or c * (x - a) of a statement that goes on with a: the factor, where it is no
/// plain name.
std::optional<Cursor> unnamed_factor(const Cursor& place, Sym own, Sym iter) {
  const ExprPtr e = place.expr();
  const std::vector<ExprPtr> children = expr_children(*e);
  const BinOp* b = e->as<BinOp>();
  for (size_t k = 0; k < children.size(); ++k) {
    Path path = place.path();
    path.push_back({Child::kExpr, static_cast<int>(k)});
    const Cursor child = Cursor::expr(place.proc(), path);
    const bool factor =
        b && b->op == BinOpKind::kMul && is_data(e->type) && reads_name(children[1 - k], own);
    if (factor && !children[k]->as<Read>() && !mentions(children[k], iter) &&
        !reads_name(children[k], own))
      return child;
    if (auto found = unnamed_factor(child, own, iter)) return found;
  }
  return std::nullopt;
}

/// All such in front of the loop; its place then.
Path name_factors(Schedule& s, Path loop) {
  for (int names = 0; names < kMostFactors; ++names) {
    const For f = *stmt_at(*s.proc, loop)->as<For>();
    const Path before = loop;
    for (size_t k = 0; k < f.body.size() && loop == before; ++k) {
      const StmtPtr& own = f.body[k];
      if (!goes_on(*own)) continue;
      const Sym name = own->as<Reduce>() ? own->as<Reduce>()->name : own->as<Assign>()->name;
      Path stmt = loop;
      stmt.push_back({Child::kBody, static_cast<int>(k)});
      const auto factor = unnamed_factor(Cursor::stmt(s.proc, stmt).rhs(), name, f.iter);
      const std::string called = name.name() + "_decay" + (names > 0 ? "2" : "");
      if (factor && !apply(s, "bind_expr",
                           {Value(ValueList{Value(*factor)}), Value(called), Value(false),
                            Value(Cursor::stmt(s.proc, loop))}))
        loop = sibling(loop, 2);
    }
    if (loop == before) break;
  }
  return loop;
}

struct Scan {
  Value instruction;
  int64_t length = 0;
  size_t statements = 0;
};

// The longest first.
std::vector<Scan> scans_among(const ValueList& instructions) {
  std::vector<Scan> out;
  for (const Value& v : instructions) {
    const Proc& instr = **v.as<ProcPtr>();
    const For* f = instr.body.size() == 1 ? plain_loop(instr.body[0]) : nullptr;
    if (const auto length = f && hands_on(*f) ? as_int(f->hi) : std::nullopt)
      out.push_back({v, *length, f->body.size()});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Scan& a, const Scan& b) { return a.length > b.length; });
  return out;
}

}  // namespace

std::optional<Schedule> scans_in_vectors(const Schedule& s, const ValueList& instructions) {
  Schedule out = s;
  std::vector<Scan> scans;
  bool any = false;
  const std::vector<Path> paths = all_stmt_paths(*s.proc);
  // The last first: places in front of it stay.
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    const For* f = plain_loop(stmt_at(*s.proc, *path));
    if (!f || !hands_on(*f)) continue;
    if (scans.empty()) scans = scans_among(instructions);
    const std::string name = f->iter.name();
    const auto extent = as_int(f->hi);
    Schedule named = out;
    const Path loop = name_factors(named, *path);
    for (const Scan& scan : scans) {
      if (scan.statements != f->body.size() || extent.value_or(scan.length) < scan.length) continue;
      Schedule made = named;
      Path inner = loop;
      inner.push_back({Child::kBody, 0});
      if (apply(made, "divide_loop",
                {Value(Cursor::stmt(made.proc, loop)), Value(scan.length),
                 Value::strings({name + "o", name}), Value("cut")}) ||
          apply(made, "replace", {Value(Cursor::stmt(made.proc, inner)), scan.instruction}))
        continue;
      out = std::move(made);
      any = true;
      break;
    }
  }
  if (!any) return std::nullopt;
  return out;
}

}  // namespace exotune
