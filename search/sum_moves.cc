#include <algorithm>
#include <iterator>

#include "search/contraction_moves.h"

namespace exotune {

namespace {

// Loops change places until the sums are innermost and the rows, then the vectors, in front of
// them. `steps` says how; the result is the loops' order after it.
std::vector<std::string> bring_together(const Contraction& c, Steps& steps) {
  std::vector<std::string> order, wanted;
  for (const NestLoop& l : c.nest.loops) order.push_back(l.name);
  for (const NestLoop& l : c.nest.loops)
    if (l.in_output && l.name != c.i && l.name != c.j) wanted.push_back(l.name);
  wanted.push_back(c.i);
  wanted.push_back(c.j);
  for (const NestLoop& l : c.nest.loops)
    if (!l.in_output) wanted.push_back(l.name);
  for (size_t k = 0; k < wanted.size(); ++k)
    for (size_t at =
             static_cast<size_t>(std::find(order.begin(), order.end(), wanted[k]) - order.begin());
         at > k; --at) {
      steps.push_back(swap_step(order[at - 1], order[at]));
      std::swap(order[at - 1], order[at]);
    }
  return order;
}

// The first of the loops around the rows whose neighbouring iterations read the same elements, as
// those of y do in image[y + r, ..]; "": there is none.
std::string shared_around_rows(const Contraction& c, const std::vector<std::string>& order) {
  for (const std::string& loop : order) {
    if (loop == c.i) break;
    for (const Operand& o : c.nest.operands)
      if (o.is_shared_along(loop)) return loop;
  }
  return "";
}

// A tile's rows may go down a column of tiles: what the next ones read again is still near, where
// whole rows would have driven it out of the nearest cache. Their strips stand inside the rows.
const char kDownColumns[] = "down columns";

// Or rows of tiles come first and their strips stand inside: rows that are read again by the next
// ones, windows of an image, are then passed through once, where columns of tiles would take a line
// of every row for each strip.
const char kAcrossRows[] = "across rows";

// Rows that the windows of a tile's results share may come in turn, each read once for all of them.
const char kSharedRows[] = "shared rows";
const char kOwnRows[] = "rows of their own";
// Steps of such a tile, all of which are written out, at most.
constexpr int64_t kMostWritten = 64;

std::string tag_of(const char* order, const std::string& vectors) {
  return order + (", " + vectors);
}

// Strips that leave none narrower: nothing stands beside them in the loops around.
bool whole_strips(const Contraction& c, int64_t width) {
  const std::optional<int64_t> extent = c.extent(c.j);
  return extent && (*extent % width == 0 || *extent <= width);
}

// Vectors of the tile, and the loop in front of which its strips are counted: beside the rows, one
// further out, or all the way, as the operand that runs along them is then read less or more often.
Stage sum_strips(const Contraction& c, const std::vector<std::string>& order) {
  Stage stage{"strips", {}};
  const std::optional<int64_t> extent = c.extent(c.j);
  const size_t row =
      static_cast<size_t>(std::find(order.begin(), order.end(), c.i) - order.begin());
  std::vector<std::string> outside = {c.i};
  if (row > 0) outside.push_back(order[row - 1]);
  if (row > 1) outside.push_back(order[0]);
  const bool down = !shared_around_rows(c, order).empty();
  const auto add = [&](const Move& move, int64_t width, const std::string& place) {
    stage.moves.push_back(move);
    if (place != c.i || !whole_strips(c, width)) return;
    for (const char* way : {kDownColumns, kAcrossRows}) {
      const bool across = c.nest.rows_overlap() && c.extent(c.j) > width;  // of several strips
      if (!(way == kDownColumns ? down : across)) continue;
      stage.moves.push_back(move);
      stage.moves.back().tag = tag_of(way, move.tag);
    }
  };
  std::vector<int64_t> widths;
  for (int64_t vectors = c.most_vectors; vectors >= 1; --vectors)
    if (!extent || vectors == 1 || *extent >= (vectors - 1) * c.lanes + 1)
      widths.push_back(vectors * c.lanes);
  for (const int64_t width : c.sizes(c.j, widths)) {
    if (width > c.most_vectors * c.lanes) continue;
    const Value sizes = extent ? Value(width) : halving(width, c.lanes);
    for (const std::string& place : outside) {
      Move move{{block_step(c.j, sizes, c.outer_of(c.j), place)},
                vectors_tag(ceil_div(width, c.lanes)),
                ""};
      if (c.turned < 0) add(move, width, place);
      if (c.vectored.empty()) continue;
      // The operands in strips of their own, once for everything.
      Steps ahead = {pack_step(c.vectored, order.front(), width, c.unit, c.turned)};
      for (const std::string& o : c.beside)
        ahead.push_back(pack_step(o, order.front(), width, c.unit));
      move.steps.insert(move.steps.begin(), ahead.begin(), ahead.end());
      add(move, width, place);
    }
  }
  return stage;
}

// How many rows the tiles of a move have; 0: not known.
int64_t height_of(const Contraction& c, const Move& move) {
  const ScheduleStep& rows = move.steps.front();
  if (rows.op != "block_loop") return c.extent(c.i).value_or(0);
  const Value* sizes = value_of(rows, "sizes");
  const Value* first = sizes && sizes->as<ValueList>() ? &sizes->as<ValueList>()->front() : sizes;
  return first && first->as<int64_t>() ? *first->as<int64_t>() : 0;
}

// Every tile with a window also so that its rows share what they read.
void share_rows(const Contraction& c, Stage& stage) {
  const size_t plain = stage.moves.size();
  if (!c.nest.windows().empty())
    for (Move& move : stage.moves)
      if (move.tag.empty()) move.tag = kOwnRows;
  for (const std::string& window : c.nest.windows())
    for (size_t k = 0; k < plain; ++k) {
      const int64_t height = height_of(c, stage.moves[k]);
      if (height < 2 || height * *c.extent(window) > kMostWritten) continue;
      Move move = stage.moves[k];
      for (ScheduleStep& step : move.steps)
        if (step.op == "sum_block") step = sum_block_step(c.i, c.j, c.unit, window);
      move.tag = kSharedRows;
      stage.moves.push_back(std::move(move));
    }
}

// The tiles, each also down a column, and across the rows; and with what their rows share.
Stage sum_tiles(const Contraction& c, const std::vector<std::string>& order) {
  Stage stage =
      register_tiles(c, {sum_block_step(c.i, c.j, c.unit), unroll_registers_step(c.unit)});
  const std::string outside = shared_around_rows(c, order);
  const size_t plain = stage.moves.size();
  for (size_t k = 0; k < plain; ++k) {
    const auto with_rows = [&](const std::string& place, const char* tag) {
      Move move = stage.moves[k];
      ScheduleStep& rows = move.steps.front();
      if (rows.op != "block_loop") return;
      rows = block_step(c.i, *value_of(rows, "sizes"), c.outer_of(c.i), place);
      move.needs = tag_of(tag, move.needs);
      move.tag = tag;
      stage.moves.push_back(std::move(move));
    };
    if (!outside.empty()) with_rows(outside, kDownColumns);
    if (c.nest.rows_overlap()) with_rows(c.outer_of(c.j), kAcrossRows);
  }
  share_rows(c, stage);
  return stage;
}

// What a tile may have of terms in a row, of all its results: a filter of 5 x 5, not 32 channels of
// one. Compilers take seconds for much more.
constexpr int64_t kMostTerms = 27;

// The innermost sums, all their terms written out. A filter's weights then stay in registers, and
// rows that neighbours read as well are loaded once.
std::vector<Steps> short_sums(const Contraction& c) {
  std::vector<Steps> out;
  Steps steps;
  int64_t terms = 1;
  for (auto loop = c.nest.loops.rbegin(); loop != c.nest.loops.rend(); ++loop) {
    if (loop->in_output) continue;
    if (!loop->extent || terms * *loop->extent * c.nest.results > kMostTerms) break;
    terms *= *loop->extent;
    steps.push_back({"unroll_all", {loop->name}});
    out.push_back(steps);
  }
  return out;
}

// Steps for loops of the sum, after the tiles. A window whose rows were shared is no loop any more:
// what names one is for the other tiles, and without it for these.
void add_steps(const Contraction& c, const Steps& all, Stage& stage) {
  const std::vector<std::string> windows = c.nest.windows();
  const auto is_left = [&](const ScheduleStep& step) {
    const std::string* loop = step.args.front().as<std::string>();
    return !loop || std::find(windows.begin(), windows.end(), *loop) == windows.end();
  };
  Steps left;
  std::copy_if(all.begin(), all.end(), std::back_inserter(left), is_left);
  if (left.size() == all.size()) {
    stage.moves.push_back({all, "", ""});
    return;
  }
  for (const char* tiles : {kOwnRows, kDownColumns, kAcrossRows})
    stage.moves.push_back({all, "", tiles});
  const bool known = std::any_of(stage.moves.begin(), stage.moves.end(),
                                 [&](const Move& m) { return key_of(m.steps) == key_of(left); });
  if (!known) stage.moves.push_back({left, "", kSharedRows});
}

}  // namespace

SearchSpace sums_space(const Contraction& c) {
  if (keeps_order(c.constraints)) return {};
  SearchSpace space;
  const std::vector<std::string> order = bring_together(c, space.prologue);
  space.stages.push_back(sum_strips(c, order));
  space.stages.push_back(sum_tiles(c, order));
  space.in_turn = {kDownColumns, kAcrossRows, kSharedRows};
  Stage steps{"interleave", {{{}, "", ""}}};
  // The tiles' sums are chains already: this saves branches and lets loads go ahead.
  for (const int64_t factor : {2, 4}) add_steps(c, {interleave_step(c.k, factor)}, steps);
  for (const Steps& all : short_sums(c)) add_steps(c, all, steps);
  space.stages.push_back(std::move(steps));
  return space;
}

}  // namespace exotune
