#include "core/library/sums_beside.h"

#include <algorithm>
#include <vector>

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"
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

}  // namespace exotune
