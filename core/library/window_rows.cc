#include "core/library/window_rows.h"

#include <utility>

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"
#include "core/library/statements.h"
#include "core/library/tiles.h"

namespace exotune {

namespace {

constexpr int64_t kMostSums = 1024;  // that are written out: their order takes its square of proofs
constexpr int64_t kFarthestStep = int64_t{1} << 40;  // that a step moves: keys are products with it

// What a step of either loop moves in the one index that both move.
struct Moves {
  int64_t i = 0, r = 0;
  std::string array;
};

std::optional<Moves> moves_of(const ProcPtr& p, const Path& columns, Sym i, Sym r) {
  const Path body = child(columns);
  for (int k = 0; k < size_of_block(p, body); ++k)
    for (const Read* read : data_reads(at(p, sibling(body, k)).rhs().expr()))
      for (const ExprPtr& index : read->idx) {
        const std::optional<Affine> a = affine(index);
        const auto moves = [&](Sym loop) {
          const int64_t by = a ? a->coeff_of(loop) : 0;
          return by != 0 && by < kFarthestStep && by > -kFarthestStep;
        };
        if (moves(i) && moves(r)) return Moves{a->coeff_of(i), a->coeff_of(r), read->name.name()};
      }
  return std::nullopt;
}

// The statements from `first` on in the order of their keys, those of one key as they were.
ProcPtr sorted(ProcPtr p, const Path& first, std::vector<int64_t>& keys) {
  for (size_t n = 1; n < keys.size(); ++n)
    for (size_t k = n; k > 0 && keys[k - 1] > keys[k]; --k) {
      p = reorder_stmts(p, Cursor::block(p, sibling(first, static_cast<int>(k) - 1), 2));
      std::swap(keys[k - 1], keys[k]);
    }
  return p;
}

// The loops from `first` on whose keys are the same, fused.
ProcPtr fused(ProcPtr p, const Path& first, std::vector<int64_t>& keys) {
  for (size_t n = 0; n + 1 < keys.size();) {
    if (keys[n] != keys[n + 1]) {
      ++n;
      continue;
    }
    const int place = static_cast<int>(n);
    p = fuse(p, at(p, sibling(first, place)), at(p, sibling(first, place + 1)));
    keys.erase(keys.begin() + place + 1);
  }
  return p;
}

}  // namespace

WindowRows window_rows(ProcPtr p, const Path& window) {
  const For r = loop_at(p, window), i = loop_at(p, child(window));
  const std::optional<int64_t> taps = literal_extent(r), height = literal_extent(i);
  const auto moves = moves_of(p, child(child(window)), i.iter, r.iter);
  if (!taps || !height || !moves)
    throw SchedulingError("window_rows: `" + r.iter.name() + "` and `" + i.iter.name() +
                          "` are no loops of known length that move what is read together");
  if (*taps < 1 || *height < 1 || *taps > kMostSums || *height > kMostSums / *taps)
    throw SchedulingError("window_rows: `" + r.iter.name() + "` and `" + i.iter.name() +
                          "` make no sums, or more than " + std::to_string(kMostSums) +
                          " that would be written out");
  p = unroll_loop(p, at(p, window));
  // Rows in the direction in which the window goes, so that each sum keeps its order.
  const int64_t forward = moves->r > 0 ? 1 : -1;
  std::vector<int64_t> keys;
  for (int64_t k = 0; k < *taps; ++k)
    for (int64_t row = 0; row < *height; ++row)
      keys.push_back(forward * (moves->i * row + moves->r * k));
  for (int k = static_cast<int>(*taps); k-- > 0;) p = unroll_loop(p, at(p, sibling(window, k)));
  p = fused(sorted(std::move(p), window, keys), window, keys);
  WindowRows out;
  for (int n = 0; n < static_cast<int>(keys.size()); ++n) {
    const Path columns = sibling(window, n);
    p = simplify(p, at(p, columns));
    if (const int sums = size_of_block(p, child(columns)); sums > 1)
      p = cse(p, Cursor::block(p, child(columns), sums), moves->array + "_row");
    out.rows.push_back(columns);
  }
  out.proc = std::move(p);
  return out;
}

}  // namespace exotune
