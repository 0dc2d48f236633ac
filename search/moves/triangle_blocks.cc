#include "search/moves/triangle_blocks.h"

#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "search/moves.h"
#include "search/moves/following_loop.h"
#include "search/moves/loop_order.h"
#include "search/moves/triangles.h"
#include "search/outline/outline.h"

namespace exotune {

namespace {

constexpr int64_t kFewestBlocks = 4;  // of fewer the corners are a third of the triangle
constexpr int kLoopsOfProduct = 3;    // rows, columns and a sum

const For& loop_in(const Schedule& s, const Path& path) {
  return *stmt_at(*s.proc, path)->as<For>();
}

// Equal parts of about `most`, of which register tiles of any usual height leave no rest.
int64_t parts_for_tiles(int64_t extent, int64_t most) {
  constexpr int64_t kHeights = 24;  // of 2, 3, 4, 6, 8, 12 rows
  return ceil_div(ceil_div(extent, ceil_div(extent, most)), kHeights) * kHeights;
}

// Is all that the loops at `band` hold one product that is added to something?
bool is_product(const Schedule& s, const Path& band, int depth) {
  const Block& inside = loop_in(s, down(band, depth - 1)).body;
  const Reduce* sum = inside.size() == 1 ? inside.front()->as<Reduce>() : nullptr;
  if (!sum || sum->op != ReduceOp::kAdd) return false;
  const USub* negated = sum->rhs->as<USub>();
  const BinOp* value = (negated ? negated->arg : sum->rhs)->as<BinOp>();
  return value && value->op == BinOpKind::kMul;
}

// Is the loop one of rows: of what is written, and not along its last dimension?
bool is_of_rows(const Schedule& s, const Path& band, Sym iter) {
  const Outline o = outline_of(*s.proc);
  return std::all_of(o.accesses.begin(), o.accesses.end(), [&](const OutlineAccess& a) {
    if (!a.writes() || !is_prefix(band, a.what.stmt)) return true;
    const auto moves = [&](const ExprPtr& e) { return mentions(e, iter); };
    return std::any_of(a.what.idx.begin(), a.what.idx.end(), moves) && !moves(a.what.idx.back());
  });
}

class Blocks {
 public:
  Blocks(const Schedule& s, const Path& band, const FollowingLoop& pair)
      : s_(s), band_(band), blocks_(down(band, pair.outer)), written_(pair), pair_(pair) {}

  bool run(int64_t block, int64_t corner_block) {
    return rows_inside() && cut(block) && corners(corner_block) && first_block();
  }
  Schedule take() { return std::move(s_); }

 private:
  Value at(const Path& path) const { return Value(Cursor::stmt(s_.proc, path)); }
  bool step(const std::string& op, ValueList args) { return !apply(s_, op, std::move(args)); }

  // for i: for k in seq(0, i)  ->  for k: for i in seq(k + 1, M)   where i are rows
  bool rows_inside() {
    if (!is_of_rows(s_, band_, loop_in(s_, blocks_).iter)) return true;
    for (int level = pair_.inner; level > pair_.outer; --level)
      if (!step("reorder_loops", {at(down(band_, level - 1))})) return false;
    pair_ = {pair_.outer, pair_.outer + 1, !pair_.upper};
    turned_ = true;
    return true;
  }

  bool cut(int64_t block) {
    const For& blocked = loop_in(s_, blocks_);
    const auto lo = as_int(blocked.lo), hi = as_int(blocked.hi);
    if (!lo || !hi || *hi <= *lo) return false;
    width_ = parts_for_tiles(*hi - *lo, block);
    if (*hi - *lo <= (kFewestBlocks - 1) * width_) return false;
    left_over_ = (*hi - *lo) % width_ != 0;
    auto done = rectangle_and_corner(s_, band_, width_, Corners::kTriangles);
    if (!done) return false;
    s_ = std::move(*done);
    // What still follows another loop is no product: the steps of an elimination.
    Path rectangle = down(blocks_, 1);
    if (!pair_.upper) ++rectangle.back().index;
    return !following_loop(*s_.proc, rectangle, band_depth(*s_.proc, rectangle));
  }

  // The corner is the first or the second nest of each block; what is left over is all corner where
  // the rows go on to the end. The last first: a cut moves what stands behind it.
  bool corners(int64_t corner_block) {
    Path in_block = down(blocks_, 1), behind = blocks_;
    ++behind.back().index;
    if (pair_.upper) ++in_block.back().index;
    if (left_over_ && pair_.upper) {
      if (!common_rows_apart(behind)) return false;
      ++behind.back().index;
    }
    return (!left_over_ || corner(behind, corner_block)) && corner(in_block, corner_block);
  }

  // for k in seq(0, R): for i in seq(0, N + k): s
  //   ->  for k in seq(0, R): for i in seq(0, N): s ; for k in seq(0, R): for i in seq(N, N + k): s
  bool common_rows_apart(const Path& columns) {
    const int lifts = pair_.inner - pair_.outer;
    const Path rows = down(columns, lifts);
    const ExprPtr end = common_bound(loop_in(s_, rows), loop_in(s_, columns).iter, true, width_);
    const std::string point = str(normalize(end), scope_at(*s_.proc, rows));
    return step("cut_loop", {at(rows), Value(point)}) && step("fission", {at(rows), Value(lifts)});
  }

  // The loops in their order again: what a row sums stays in registers.
  bool corner(const Path& path, int64_t block) {
    for (int level = 0; turned_ && level < written_.inner - written_.outer; ++level)
      if (!step("reorder_loops", {at(down(path, level))})) return false;
    if (block == 0) return true;
    if (auto smaller = rectangle_and_corner(s_, path, block, Corners::kTriangles))
      s_ = std::move(*smaller);
    return true;
  }

  // Where rectangles begin at the first row the first one is empty, and a copy of it has no size.
  bool first_block() {
    return !pair_.upper ||
           (step("cut_loop", {at(blocks_), Value("1")}) && step("unroll_loop", {at(blocks_)}) &&
            step("simplify", {}) && step("delete_pass", {}));
  }

  Schedule s_;
  const Path band_, blocks_;
  const FollowingLoop written_;
  FollowingLoop pair_;      // as the loops stand now
  bool turned_ = false;     // rows go inside
  int64_t width_ = 0;       // of a block
  bool left_over_ = false;  // what makes no block
};

}  // namespace

std::optional<Schedule> triangle_in_blocks(const Schedule& s, const Path& band, int64_t block,
                                           int64_t corner_block) {
  const int depth = band_depth(*s.proc, band);
  const auto pair = following_loop(*s.proc, band, depth);
  if (!pair || depth < kLoopsOfProduct || !is_product(s, band, depth)) return std::nullopt;
  Blocks blocks(s, band, *pair);
  if (!blocks.run(block, corner_block)) return std::nullopt;
  return blocks.take();
}

}  // namespace exotune
