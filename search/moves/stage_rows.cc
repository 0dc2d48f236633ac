#include "search/moves/stage_rows.h"

#include <algorithm>
#include <set>

#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"
#include "core/library/inspection.h"
#include "search/moves/loop_order.h"
#include "search/outline/outline.h"

namespace exotune {

namespace {

// Rings of rows that are tried, the smallest first: powers of two, whose remainders are a mask.
constexpr int64_t kMostRowsOfRing = 16;
// Iterations of a loop inside the vectors' that are written out: planes of an image.
constexpr int64_t kMostPlanes = 4;

struct MadeArray {
  std::string buffer;
  bool argument = false;
  size_t dims = 0;
};

// A nest at the top and what is made for it.
struct RowStages {
  int nest = -1;
  std::string result;             // what the consumer writes
  std::vector<MadeArray> makers;  // the last one first
};

bool is_loop(const Proc& p, int k) { return p.body[static_cast<size_t>(k)]->as<For>() != nullptr; }

// The consumer is the last statement, if it is a nest that writes an argument which no other
// writes.
RowStages stages_of(const Proc& p) {
  RowStages out;
  if (p.body.size() < 2 || !p.body.back()->as<For>()) return out;
  out.nest = static_cast<int>(p.body.size()) - 1;
  const Outline o = outline_of(p);
  std::vector<std::pair<int, MadeArray>> makers;
  for (const OutlineBuffer& b : o.buffers) {
    std::set<int> writers;
    size_t dims = 0;
    for (const OutlineAccess& a : o.accesses)
      if (a.what.buffer == b.name && a.writes()) {
        writers.insert(a.what.stmt.front().index);
        dims = a.what.idx.size();
      }
    if (writers.size() != 1 || dims == 0) continue;
    const int writer = *writers.begin();
    if (writer == out.nest && b.argument) out.result = b.name.name();
    if (writer < out.nest && is_loop(p, writer))
      makers.push_back({writer, {b.name.name(), b.argument, dims}});
  }
  std::sort(makers.begin(), makers.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [writer, stage] : makers) out.makers.push_back(std::move(stage));
  return out;
}

// As little memory as an iteration needs, else a ring of rows; false: all of it, as before.
bool shrink(Schedule& s, const MadeArray& made, const std::string& result,
            const std::string& loop) {
  if (!apply(s, "store_at", {made.buffer, result, loop})) return true;
  for (size_t dim = 0; dim < made.dims; ++dim)
    for (int64_t rows = 2; rows <= kMostRowsOfRing; rows *= 2)
      if (!apply(s, "resize_dim", {made.buffer, static_cast<int64_t>(dim), rows, 0, true}))
        return true;
  return false;
}

// Does what an iteration of the last nest's outermost loop reads of the array move with it? Else
// each iteration would make all of it anew.
bool moves_along(const Proc& p, const std::string& buffer) {
  const For* around = p.body.back()->as<For>();
  const Path nest = {{Child::kBody, static_cast<int>(p.body.size()) - 1}};
  const Outline o = outline_of(p);
  bool moves = false;
  for (const OutlineAccess& a : o.accesses) {
    if (a.what.buffer.name() != buffer || a.writes() || !is_prefix(nest, a.what.stmt)) continue;
    const auto steps = [&](const ExprPtr& index) {
      const std::optional<Affine> form = affine(index);
      return form && form->coeff_of(around->iter) != 0;
    };
    if (std::none_of(a.what.idx.begin(), a.what.idx.end(), steps)) return false;
    moves = true;
  }
  return moves;
}

std::string loop_name(const Proc& p, const Path& band, int level) {
  return stmt_at(p, down(band, level))->as<For>()->iter.name();
}

// The nest with this loop of its band outermost; nothing: a swap is refused.
std::optional<Schedule> with_outermost(const Schedule& s, const Path& band, int loop) {
  if (loop == 0) return s;
  LoopOrder order{s, {}};
  std::vector<std::string> others;
  for (int k = 0; k < band_depth(*s.proc, band); ++k) {
    order.order.push_back(k);
    if (k != loop) others.push_back(loop_name(*s.proc, band, k));
  }
  std::optional<LoopOrder> ordered = with_innermost(order, band, others);
  if (!ordered) return std::nullopt;
  return std::move(ordered->schedule);
}

// Does the last nest read one element of the array in an iteration, another one in each of `loop`?
bool one_element(const Proc& p, const std::string& buffer, Sym loop) {
  const Path nest = {{Child::kBody, static_cast<int>(p.body.size()) - 1}};
  const Outline o = outline_of(p);
  const OutlineAccess* first = nullptr;
  for (const OutlineAccess& a : o.accesses) {
    if (a.what.buffer.name() != buffer || a.writes() || !is_prefix(nest, a.what.stmt)) continue;
    if (!first) first = &a;
    if (!std::equal(a.what.idx.begin(), a.what.idx.end(), first->what.idx.begin(),
                    first->what.idx.end(), affine_equal))
      return false;
  }
  return first &&
         std::any_of(first->what.idx.begin(), first->what.idx.end(), [&](const ExprPtr& e) {
           const std::optional<Affine> form = affine(e);
           return form && form->coeff_of(loop) != 0;
         });
}

// What is made for the last nest comes to its outermost loop, or with `element` to that loop of it
// where it reads one element at a time; nothing: nothing came.
std::optional<Schedule> made_inside(Schedule s, const RowStages& stages,
                                    const std::string& outermost, const For* element) {
  bool rows = false, elements = false;  // made so, and not all of it for the first iteration
  for (const MadeArray& made : stages.makers) {
    const bool here = element && !made.argument && one_element(*s.proc, made.buffer, element->iter);
    const std::string& loop = here ? element->iter.name() : outermost;
    if (!moves_along(*s.proc, made.buffer) ||
        apply(s, "compute_at", {made.buffer, stages.result, loop, true}))
      continue;
    if (made.argument || shrink(s, made, stages.result, loop)) (here ? elements : rows) = true;
  }
  if (element ? !elements : !rows) return std::nullopt;
  return s;
}

// The nest's innermost loop, along which vectors run, directly inside the outermost one, the others
// written out in it; nothing: they are not short, or a swap is refused.
std::optional<Schedule> with_vectors_outside(const Schedule& s, const Path& band) {
  LoopOrder order{s, {}};
  std::vector<std::string> planes;
  const int depth = band_depth(*s.proc, band);
  for (int k = 0; k < depth; ++k) {
    order.order.push_back(k);
    if (k == 0 || k == depth - 1) continue;
    const For& loop = *stmt_at(*s.proc, down(band, k))->as<For>();
    const std::optional<int64_t> extent = literal_extent(loop);
    if (!extent || *extent > kMostPlanes) return std::nullopt;
    planes.push_back(loop.iter.name());
  }
  if (planes.empty()) return s;
  std::optional<LoopOrder> ordered = with_innermost(order, band, planes);
  if (!ordered) return std::nullopt;
  return std::move(ordered->schedule);
}

// made_inside with elements where only one iteration of the vectors' loop reads them.
std::optional<Schedule> made_by_elements(const Schedule& s, const RowStages& stages,
                                         const Path& band) {
  const std::optional<Schedule> ordered = with_vectors_outside(s, band);
  if (!ordered) return std::nullopt;
  const Proc& p = *ordered->proc;
  const int depth = band_depth(p, band);
  const For* const vectors = stmt_at(p, down(band, 1))->as<For>();
  std::vector<std::string> planes;
  for (int k = 2; k < depth; ++k) planes.push_back(loop_name(p, band, k));
  std::optional<Schedule> made = made_inside(*ordered, stages, loop_name(p, band, 0), vectors);
  for (const std::string& plane : planes)
    if (made && apply(*made, "unroll_loop", {plane})) return std::nullopt;
  return made;
}

}  // namespace

std::vector<Schedule> stages_by_rows(const Schedule& s) {
  const RowStages stages = stages_of(*s.proc);
  std::vector<Schedule> out;
  if (stages.result.empty() || stages.makers.empty()) return out;
  const Path band = {{Child::kBody, stages.nest}};
  // The innermost loop is left to the vectors.
  for (int loop = 0; loop + 1 < band_depth(*s.proc, band); ++loop) {
    std::optional<Schedule> tried = with_outermost(s, band, loop);
    if (!tried) continue;
    const std::string outermost = loop_name(*tried->proc, band, 0);
    if (auto made = made_by_elements(*tried, stages, band)) out.push_back(std::move(*made));
    if (auto made = made_inside(std::move(*tried), stages, outermost, nullptr))
      out.push_back(std::move(*made));
  }
  return out;
}

}  // namespace exotune
