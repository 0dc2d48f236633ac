// What is read comes first in the body, as scalars; the loop over vectors is then distributed over
// its statements.
#include "core/library/reads_first.h"

#include <algorithm>
#include <set>

#include "core/ir/printer.h"
#include "core/library/blocking.h"
#include "core/library/hoisting.h"
#include "core/library/inspection.h"
#include "core/library/level1.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"
#include "core/library/staging.h"
#include "core/library/statements.h"
#include "core/library/vector_loops.h"

namespace exotune {
namespace {

constexpr int64_t kMostVectorsAhead = 64;  // more than any machine has registers

struct ElementRead {
  std::string text, array;
  std::vector<Path> places;
};

// Reads of elements that the loop moves to, by element; `into` in the order in which they stand.
void collect_element_reads(const ExprPtr& e, const Path& path, Sym iter,
                           std::vector<ElementRead>& into) {
  if (const Read* read = e->as<Read>()) {
    const bool moves = std::any_of(read->idx.begin(), read->idx.end(),
                                   [&](const ExprPtr& index) { return mentions(index, iter); });
    if (!moves || !is_data(e->type)) return;
    const std::string text = str(e);
    auto known = std::find_if(into.begin(), into.end(),
                              [&](const ElementRead& r) { return r.text == text; });
    if (known == into.end()) known = into.insert(into.end(), {text, read->name.name(), {}});
    known->places.push_back(path);
    return;
  }
  const std::vector<ExprPtr> children = expr_children(*e);
  for (size_t k = 0; k < children.size(); ++k) {
    Path child = path;
    child.push_back({Child::kExpr, static_cast<int>(k)});
    collect_element_reads(children[k], child, iter, into);
  }
}

// But for statements that do nothing but read an element into a scalar.
std::vector<ElementRead> element_reads_in(const ProcPtr& p, const Path& loop) {
  std::vector<ElementRead> out;
  const Sym iter = find_loop(p, loop)->iter;
  const int count = static_cast<int>(body_of(*stmt_at(*p, loop)).size());
  for (int k = 0; k < count; ++k) {
    const Cursor s = at(p, child(loop, k));
    if (!s.is<Assign>() && !s.is<Reduce>()) continue;
    const Cursor value = s.rhs();
    const bool plain = s.is<Assign>() && s.as<Assign>().idx.empty() && value.expr()->as<Read>();
    if (!plain) collect_element_reads(value.expr(), value.path(), iter, out);
  }
  return out;
}

ProcPtr reads_in_front(ProcPtr p, const Path& loop) {
  std::set<std::string> stay;
  for (;;) {
    const std::vector<ElementRead> reads = element_reads_in(p, loop);
    const auto next = std::find_if(reads.begin(), reads.end(),
                                   [&](const ElementRead& r) { return stay.count(r.text) == 0; });
    if (next == reads.end()) return p;
    std::vector<Cursor> places;
    for (const Path& path : next->places) places.push_back(Cursor::expr(p, path));
    try {
      p = bind_expr(p, places, next->array + "_r", at(p, child(loop)));
    } catch (const SchedulingError&) {
      stay.insert(next->text);  // the body has written it when it reads it
    }
  }
}

ProcPtr one_loop(ProcPtr p, const Path& path, const VectorUnit& unit, int64_t vectors) {
  const std::string name = find_loop(p, path)->iter.name();
  const std::optional<int64_t> extent = literal_extent(*find_loop(p, path));
  const int64_t together = vectors * unit.lanes;
  if (extent && *extent < together)
    throw SchedulingError("read_then_write: the loop over `" + name + "`, of " +
                          std::to_string(*extent) + " iterations, is shorter than " +
                          std::to_string(vectors) + " vectors");
  p = reads_in_front(p, path);
  p = divide_loop(p, at(p, path), together, {name + "o", name + "u"},
                  extent && *extent % together == 0 ? Tail::kPerfect : Tail::kCut);
  if (const Path rest = boundary_after(p, path, name + "u"); !rest.empty())
    p = optimize_level_1_loop(p, at(p, rest), unit, 1);
  p = vectorize(p, at(p, child(path)), unit, VectorTail::kPerfect);
  p = distribute_loop(p, at(p, child(path)));
  for (int k = size_of_block(p, child(path)) - 1; k >= 0; --k)
    if (find_loop(p, child(path, k))) p = unroll_loop(p, at(p, child(path, k)));
  return hoist_from_loop(p, at(p, path));
}

}  // namespace

ProcPtr read_then_write(ProcPtr p, const std::string& loop, const VectorUnit& unit,
                        int64_t vectors) {
  if (vectors < 2 || vectors > kMostVectorsAhead)
    throw SchedulingError("read_then_write: at least two vectors at a time, and at most " +
                          std::to_string(kMostVectorsAhead));
  p = keep_scalars(p, loop);
  std::vector<Cursor> loops = require_loops(p, loop);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c)
    p = one_loop(take_reciprocals(p, at(p, c->path())), c->path(), unit, vectors);
  return unroll_registers(p, unit.memory);
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> reads_first_operators() {
  using namespace params;
  return {
      {"read_then_write",
       {proc(), string("loop"), integer("vw"), memory("mem_type"), procs("instructions"),
        integer("vectors", 4)},
       "for i: { a[i] = f(x[i]); b[i] = g(y[i]) }  ->  for io: vectors of x and y, then of a and b",
       [](const OperatorArgs& a) -> Value {
         return read_then_write(a.proc(), a.string(1), vector_unit(a, 2, 3, 4), a.integer(5));
       }},
  };
}

}  // namespace exotune
