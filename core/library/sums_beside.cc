#include "core/library/sums_beside.h"

#include <algorithm>
#include <vector>

#include "core/ir/normal_form.h"
#include "core/library/blocking.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"
#include "core/library/reduction.h"
#include "core/library/vector_loops.h"

namespace exotune {

namespace {

// One sum on its way: its accumulator, and the nests that begin and end it.
struct Running {
  Sym accumulator;
  std::vector<Cursor> nests;
};

// An accumulator a lane of the innermost of `lanes`, in front of the loop at `main`, which goes on
// to stand behind it.
Running begin(ProcPtr& p, Path& main, const std::vector<Cursor>& lanes, const Reduce& sum,
              const std::string& name, const VectorUnit& unit) {
  p = accumulate(p, at(p, main), lanes, sum, name, unit.memory);
  Running out{at(p, main).as<Alloc>().name, {}};
  out.nests.push_back(at(p, sibling(main, 1)));
  out.nests.push_back(at(p, sibling(main, 3)));
  main = sibling(main, 2);
  return out;
}

}  // namespace

bool has_sums_beside(const ProcPtr& p, const Path& top) {
  const For* loop = find_loop(p, top);
  return loop && !sums_beside(*loop).empty();
}

ProcPtr optimize_sums_beside(ProcPtr p, const Path& top, const VectorUnit& unit,
                             int64_t interleave) {
  const For& loop = *find_loop(p, top);
  const std::string name = loop.iter.name();
  const auto extent = literal_extent(loop);
  if (extent && *extent < unit.lanes)
    throw SchedulingError("optimize_level_1: there is no whole vector of sums");
  const ProcPtr before = p;
  const std::vector<const Reduce*> sums = sums_beside(loop);
  p = divide_loop(p, at(p, top), unit.lanes, {name + "v", name + "l"},
                  extent && *extent % unit.lanes == 0 ? Tail::kPerfect : Tail::kCut);
  Path main = top;
  std::vector<Running> running;
  for (size_t k = 0; k < sums.size(); ++k)
    running.push_back(begin(p, main, {at(p, child(main))}, *sums[k],
                            sums[k]->name.name() + "_acc" + std::to_string(k), unit));
  std::vector<Cursor> nests, passes;
  for (const Running& r : running) nests.insert(nests.end(), r.nests.begin(), r.nests.end());
  if (interleave > 1) {
    p = divide_loop(p, at(p, main), interleave, {name + "o", name + "u"}, Tail::kCut);
    if (const Path left = boundary_after(p, main, name + "u"); !left.empty())
      passes.push_back(at(p, left));
    for (const Running& r : running) {
      const std::vector<Cursor> lanes = {at(p, child(main)), at(p, child(child(main)))};
      const ProcPtr now = p;
      for (const StmtPtr& s : body_of(*stmt_at(*now, child(child(main)))))
        if (const Reduce* sum = s->as<Reduce>(); sum && sum->name == r.accumulator) {
          const Running more = begin(p, main, lanes, *sum, r.accumulator.name() + "s", unit);
          nests.insert(nests.end(), more.nests.begin(), more.nests.end());
          break;
        }
    }
  }
  passes.push_back(at(p, main));
  for (const Cursor& nest : nests)
    p = vectorize_lanes(p, at(p, innermost(p, forward(p, nest).path())), unit);
  for (const Cursor& pass : passes) p = finish_elements(p, forward(p, pass).path(), unit);
  return p;
}

namespace {

ProcPtr sum_block_at(ProcPtr p, const Path& top, const std::string& inner, int64_t extent,
                     const VectorUnit& unit) {
  constexpr int64_t kMostAccumulators = 4;  // more chains of additions hide nothing
  const bool whole = extent % unit.lanes == 0;
  p = divide_loop(p, at(p, child(top)), unit.lanes, {inner + "v", inner + "l"},
                  whole ? Tail::kPerfect : Tail::kCut);
  if (!whole) p = fission(p, Cursor::gap(p, child(top, 1)), 1);
  const Path vectors = child(top), lanes = child(vectors);
  const ProcPtr before = p;
  const std::vector<const Reduce*> sums = sums_beside(at(p, lanes).as<For>());
  const Sym row = at(p, top).as<For>().iter;
  const auto moves = [&](const Reduce* r) {
    return std::any_of(r->idx.begin(), r->idx.end(),
                       [&](const ExprPtr& e) { return mentions(e, row); });
  };
  if (sums.empty() || std::any_of(sums.begin(), sums.end(), moves))
    throw SchedulingError("optimize_block_sums: the loops add to no element that stays");
  Path main = top;
  std::vector<Cursor> nests;
  for (size_t k = 0; k < sums.size(); ++k) {
    std::vector<Cursor> copies;
    if (extent / unit.lanes <= kMostAccumulators) copies.push_back(at(p, child(main)));
    copies.push_back(at(p, child(child(main))));
    const Running r =
        begin(p, main, copies, *sums[k], sums[k]->name.name() + "_acc" + std::to_string(k), unit);
    nests.insert(nests.end(), r.nests.begin(), r.nests.end());
  }
  const Cursor rows = at(p, main);
  for (const Cursor& nest : nests)
    p = vectorize_lanes(p, at(p, innermost(p, forward(p, nest).path())), unit);
  return finish_elements(p, forward(p, rows).path(), unit);
}

}  // namespace

ProcPtr optimize_block_sums(ProcPtr p, const std::string& outer, const std::string& inner,
                            const VectorUnit& unit) {
  std::vector<Cursor> loops = require_loops(p, outer);
  bool found = false;
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    const For& rows = c->as<For>();
    const For* row = rows.body.size() == 1 ? rows.body.front()->as<For>() : nullptr;
    const auto extent = row ? literal_extent(*row) : std::nullopt;
    if (!extent || row->iter.name() != inner || *extent < unit.lanes) continue;
    p = sum_block_at(p, c->path(), inner, *extent, unit);
    found = true;
  }
  if (!found)
    throw SchedulingError("optimize_block_sums: no loop over `" + outer + "` is around one over `" +
                          inner + "` alone, a vector long or more");
  p = unroll_named(p, inner + "v");
  return unroll_registers(p, unit.memory);
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> sums_beside_operators() {
  using namespace params;
  return {
      {"optimize_block_sums",
       {proc(), string("outer"), string("inner"), integer("vw"), memory("mem_type"),
        procs("instructions")},
       "for r: for c: s += e  ->  acc = 0; for r: for cv: acc[cv] += e; s += lanes of acc",
       [](const OperatorArgs& a) -> Value {
         return optimize_block_sums(a.proc(), a.string(1), a.string(2), vector_unit(a, 3, 4, 5));
       }},
  };
}

}  // namespace exotune
