#include "core/library/reduction.h"

#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

namespace exotune {
// Sums in several chains: the latency of an addition is hidden by as many independent accumulators.
// Adding them up in the end changes the order of additions: exact over the reals, and the proof is
// of that kind.

namespace {

// The place of the first index of the sum's element that mentions the iterator; -1: none does.
int choice_of(const Reduce& sum, Sym iter) {
  for (size_t k = 0; k < sum.idx.size(); ++k)
    if (mentions(sum.idx[k], iter)) return static_cast<int>(k);
  return -1;
}

// The dimensions of the buffer at `top`, and the loops that begin and end its sums, in the order of
// the loops they belong to.
ProcPtr as_nested(ProcPtr p, const Path& top, std::vector<int> order) {
  std::vector<int> permutation;
  for (size_t k = 0; k < order.size(); ++k) permutation.push_back(static_cast<int>(k));
  std::stable_sort(permutation.begin(), permutation.end(), [&](int a, int b) {
    return order[static_cast<size_t>(a)] < order[static_cast<size_t>(b)];
  });
  if (std::is_sorted(order.begin(), order.end())) return p;
  p = rearrange_dim(p, at(p, top), permutation);
  for (size_t done = 0; done + 1 < order.size(); ++done) {
    Path path;
    for (size_t k = 0; k + 1 < order.size() - done; ++k) {
      path = path.empty() ? Path{{Child::kBody, 0}} : child(path);
      if (order[k] <= order[k + 1]) continue;
      std::swap(order[k], order[k + 1]);
      for (const int nest : {1, 3}) {
        Path loop = sibling(top, nest);
        loop.insert(loop.end(), path.begin() + 1, path.end());
        p = reorder_loops(p, at(p, loop));
      }
    }
  }
  return p;
}

}  // namespace

std::string accumulator_of(const ProcPtr& p, const Path& top) {
  const StmtPtr nest = stmt_at(*p, top);
  StmtPtr sum = nest;
  while (body_of(*sum).size() == 1) sum = body_of(*sum)[0];
  std::string name = sum->as<Reduce>()->name.name() + "_acc";
  const std::vector<ScopeEntry> scope = scope_at(*p, top);
  const auto alike = [&](const ScopeEntry& e) {
    return e.name.name().rfind(name, 0) == 0 && mentions(nest, e.name);
  };
  while (std::any_of(scope.begin(), scope.end(), alike)) name += "_";
  return name;
}

ProcPtr accumulate(ProcPtr p, const Cursor& outer, const std::vector<Cursor>& lanes,
                   const Reduce& sum, const std::string& name, MemoryPtr memory) {
  const Path top = outer.path();
  // Loops that choose the element are dimensions of the window; the others get copies.
  std::vector<Where> copies;
  std::vector<int> depths;  // of the copies' loops in the nest
  for (size_t k = 0; k < lanes.size(); ++k) {
    if (choice_of(sum, lanes[k].as<For>().iter) >= 0) continue;
    copies.emplace_back(lanes[k]);
    depths.push_back(static_cast<int>(k));
  }
  const auto is_of_sum = [&](const Access& a) {
    return std::equal(a.idx.begin(), a.idx.end(), sum.idx.begin(), sum.idx.end(),
                      [](const ExprPtr& x, const ExprPtr& y) { return affine_equal(x, y); });
  };
  const std::optional<Rectangle> window = touched(p, outer, sum.name, Touch::kWrites, is_of_sum);
  if (!window || copies.empty())
    throw SchedulingError("parallelize_reduction: the lanes do not share elements of `" +
                          sum.name.name() + "`");
  std::vector<int> order;  // of the dimensions: of the window, then of the copies, as they nest
  for (size_t d = 0; d < window->lo.size(); ++d) {
    if (as_int(normalize(window->hi[d] - window->lo[d])) == 1) continue;
    int depth = -1;
    for (size_t k = 0; k < lanes.size(); ++k)
      if (choice_of(sum, lanes[k].as<For>().iter) == static_cast<int>(d))
        depth = static_cast<int>(k);
    order.push_back(depth);
  }
  order.insert(order.end(), depths.begin(), depths.end());
  p = stage_mem(p, outer, window->text(sum.name.name(), scope_at(*p, top)), name, /*accum=*/true,
                copies);
  p = as_nested(p, top, order);
  return set_memory(p, at(p, top), memory);
}

std::vector<const Reduce*> sums_beside(const For& loop) {
  std::vector<const Reduce*> out;
  std::vector<Sym> inside;
  for (const StmtPtr& s : loop.body) {
    if (const Alloc* a = s->as<Alloc>()) inside.push_back(a->name);
    if (s->as<For>() || s->as<If>()) return {};
    const Reduce* r = s->as<Reduce>();
    if (!r || choice_of(*r, loop.iter) >= 0 ||
        std::find(inside.begin(), inside.end(), r->name) != inside.end())
      continue;
    const auto is_same = [&](const Reduce* other) {
      return r->name == other->name &&
             std::equal(r->idx.begin(), r->idx.end(), other->idx.begin(), other->idx.end(),
                        [](const ExprPtr& x, const ExprPtr& y) { return affine_equal(x, y); });
    };
    if (std::none_of(out.begin(), out.end(), is_same)) out.push_back(r);
  }
  return out;
}

namespace {

// Each of the sums beside one another in the innermost of `lanes`, with accumulators of its own.
ProcPtr accumulate_all(ProcPtr p, const Cursor& outer, const std::vector<Cursor>& lanes,
                       const std::string& name, const MemoryPtr& memory) {
  const ProcPtr before = p;
  const std::vector<const Reduce*> sums = sums_beside(lanes.back().as<For>());
  if (sums.empty()) throw SchedulingError("parallelize_reduction: the lanes share no sum");
  for (size_t k = 0; k < sums.size(); ++k) {
    std::vector<Cursor> now;
    for (const Cursor& lane : lanes) now.push_back(forward(p, lane));
    p = accumulate(p, forward(p, outer), now, *sums[k],
                   k == 0 ? name : name + "_" + std::to_string(k), memory);
  }
  return p;
}

}  // namespace

ProcPtr parallelize_reduction(ProcPtr p, const Where& outer, const std::string& name,
                              MemoryPtr memory) {
  Cursor o = outer.loop(p);

  // The lane loops under `outer`, and the reduction under them (perhaps guarded).
  std::vector<Cursor> lanes;
  Path path = o.path();
  StmtPtr s = o.stmt();
  bool guarded = false;
  for (;;) {
    const Block& body = body_of(*s);
    if (body.size() > 1 && s->as<For>() && !lanes.empty())
      return accumulate_all(p, o, lanes, name, memory);
    if (body.size() != 1 || !orelse_of(*s).empty())
      throw SchedulingError("parallelize_reduction: the loops are not perfectly nested");
    s = body[0];
    path = child(path);
    if (const For* f = s->as<For>()) {
      if (!literal_extent(*f) || as_int(f->lo) != 0 || guarded)
        throw SchedulingError("parallelize_reduction: the loop over `" + f->iter.name() +
                              "` has no literal extent");
      lanes.push_back(at(p, path));
    } else if (s->as<If>() && !guarded) {
      guarded = true;
    } else {
      break;
    }
  }
  const Reduce* reduce = s->as<Reduce>();
  if (!reduce || lanes.empty())
    throw SchedulingError(
        "parallelize_reduction: there is no reduction inside lane loops of literal extent");
  return accumulate(p, o, lanes, *reduce, name, memory);
}

ProcPtr interleave_reduction(ProcPtr p, const Where& loop, int64_t factor,
                             const std::string& name) {
  const Cursor c = loop.loop(p);
  StmtPtr sum = c.stmt();
  while (body_of(*sum).size() == 1) sum = body_of(*sum)[0];
  if (!sum->as<Reduce>())
    throw SchedulingError("interleave_reduction: the loop is not one sum alone", {},
                          "parallelize_reduction takes several sums beside one another");
  const Path top = c.path();
  const std::string iter = c.as<For>().iter.name();
  p = divide_loop(p, c, factor, {iter + "o", iter + "i"}, Tail::kCut);
  const StmtPtr rest = stmt_at(*p, sibling(top, 1));
  const For* left_over = rest ? rest->as<For>() : nullptr;
  if (left_over && left_over->iter.name() == iter + "i" && left_over->body.size() == 1)
    if (const Reduce* r = left_over->body[0]->as<Reduce>()) {
      const ExprPtr element = read_elem(r->name, r->idx, r->rhs->type);
      p = stage_mem(p, at(p, sibling(top, 1)), str(element, scope_at(*p, sibling(top, 1))),
                    name + "_rest",
                    /*accum=*/true);
    }
  p = parallelize_reduction(p, at(p, top), name, dram_stack());
  // acc : _[factor]; for i: acc[i] = 0; for o: for i: acc[i] += e; for i: r += acc[i]
  p = unroll_loop(p, at(p, sibling(top, 3)));
  p = unroll_loop(p, at(p, child(sibling(top, 2))));
  p = unroll_loop(p, at(p, sibling(top, 1)));
  return unroll_buffer(p, at(p, top), 0);
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> reduction_operators() {
  using namespace params;
  return {
      {"parallelize_reduction",
       {proc(), place("outer"), new_name("acc_name"), memory("memory")},
       "for o: for i in seq(0, c): r += e  ->  acc = 0; for o: for i: acc[i] += e; for i: r += "
       "acc[i]",
       [](const OperatorArgs& a) -> Value {
         return parallelize_reduction(a.proc(), a.where(1), a.string(2), a.memory(3));
       }},
      {"interleave_reduction",
       {proc(), place("loop"), integer("factor"), new_name("acc_name")},
       "for i: r += e  ->  for io: acc_0 += e[ii -> 0]; acc_1 += e[ii -> 1]; ...; r += acc_0; r += "
       "acc_1; ...",
       [](const OperatorArgs& a) -> Value {
         return interleave_reduction(a.proc(), a.where(1), a.integer(2), a.string(3));
       }},
  };
}

}  // namespace exotune
