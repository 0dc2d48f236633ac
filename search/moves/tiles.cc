#include "search/moves/tiles.h"

#include <algorithm>

#include "search/moves.h"
#include "search/moves/panels.h"
#include "search/steps/builders.h"

namespace exotune {

namespace {

// The extent in equal parts of at most `most`.
int64_t balanced(std::optional<int64_t> extent, int64_t most) {
  if (!extent || *extent <= 0) return most;
  return ceil_div(*extent, ceil_div(*extent, std::max<int64_t>(1, most)));
}

// Rows of a tile: equal parts; of an extent that moves with outer loops what leaves the same rest
// each time, since registers have no sizes that move.
int64_t tile_rows(const NestLoop& loop, int64_t most) {
  if (loop.extent || loop.period == 0) return balanced(loop.extent, most);
  int64_t rows = most;
  while (loop.period % rows != 0) --rows;
  return rows;
}

// Iterations at most, of an extent that moves with outer loops about as many; 0: nobody knows.
int64_t most_of(const NestLoop& loop) { return loop.most.value_or(2 * loop.period); }

// Rows of a block that stays in a cache, of at most `held`: whole tiles, and of an extent that
// moves with outer loops what leaves the same rest each time. 0: there are not even two blocks.
int64_t block_rows(const NestLoop& loop, int64_t rows, int64_t held) {
  if (most_of(loop) <= 2 * held) return 0;
  int64_t block = held / rows * rows;
  if (!loop.extent)
    while (block > 0 && loop.period % block != 0) block -= rows;
  return block;
}

// Rows a multiple of so many lines apart share few sets of a nearest cache: four of 64.
constexpr int64_t kCrowdedLines = 16;

class Tiles {
 public:
  Tiles(const Nest& nest, const Target& target, const std::vector<TargetLevel>& levels,
        const ValueList& instructions)
      : nest_(nest),
        target_(target),
        lanes_(target.lanes_of(nest.precision)),
        unit_({Value(lanes_), Value(target.vector_memory), Value(instructions)}) {
    const NearestCaches caches = nearest_caches(levels);
    nearest_ = caches.first;
    line_ = caches.line;
    second_ = caches.second;
    if (const std::vector<TargetLevel> all = caches_of(levels); !all.empty())
      crowded_ = kCrowdedLines * all.front().line_bytes;
  }

  std::vector<Finish> run() {
    const int64_t registers = target_.vector_memory->count;
    // Of one result the terms stand one after the other (terms_apart): one operand's vectors are
    // there at a time.
    const int64_t shared = nest_.results > 1 ? nest_.shared : 1;
    // As high as the registers allow, in each width: which is best depends on which operand is the
    // cheaper to load.
    for (const int64_t vectors : {4, 3, 2, 1}) {
      const int64_t rows = (registers - 1 - shared * vectors) / (vectors * nest_.results);
      const std::optional<int64_t> columns = nest_.find(nest_.vector_loop)->extent;
      if (rows < 2 || vectors > widest_tile(registers)) continue;
      if (columns && (vectors - 1) * lanes_ >= *columns) continue;
      if (nest_.find(nest_.vector_loop)->period % (vectors * lanes_) != 0) continue;
      tile(rows, vectors);
    }
    return std::move(out_);
  }

 private:
  const NestLoop& loop(const std::string& name) const { return *nest_.find(name); }
  ValueList with_unit(ValueList args) const {
    args.insert(args.end(), unit_.begin(), unit_.end());
    return args;
  }
  ScheduleStep block(const std::string& name, int64_t size, const std::string& outer,
                     const std::string& outside) const {
    return {"block_loop",
            {Value(name), Value::ints({size}), Value::strings({outer, name}), Value(outside)},
            {}};
  }

  void tile(int64_t most_rows, int64_t vectors) {
    const std::string &i = nest_.row_loop, &j = nest_.vector_loop, &k = nest_.reduction_loop;
    const int64_t rows = tile_rows(loop(i), most_rows), columns = vectors * lanes_;
    const bool sums = nest_.kind == NestKind::kSums;
    Steps strips = {block(j, columns, j + "o", i)}, cut;
    // One vector's strip in half of the nearest cache: wider ones stream out of the next, which
    // costs less than to visit the result more often.
    const int64_t operands = nest_.results > 1 ? nest_.shared : 1,
                  depth = nearest_ / 2 / (operands * lanes_ * bytes_of(nest_.precision));
    const std::optional<int64_t> extent = loop(k).extent;
    const bool one_sum_loop = !sums || nest_.results > 1;
    if (one_sum_loop && depth > 0 && extent && *extent > 2 * depth)
      cut.push_back(block(k, balanced(extent, depth), k + "o", nest_.loops.front().name));
    const ScheduleStep by_rows = block(i, rows, i + "o", "");
    const ScheduleStep unroll = {"unroll_registers", {Value(target_.vector_memory)}, {}};
    ScheduleStep product = {"register_block", with_unit({Value(i), Value(j), Value(k)}), {}};
    if (nest_.adds && lasts_for_asking(loop(k).most)) product.named = {{"apart", true}};
    const ScheduleStep any = {"sum_block", with_unit({Value(i), Value(j)}), {}};
    const std::string name = "tile " + std::to_string(rows) + "x" + std::to_string(vectors);
    const auto add = [&](const std::string& how, std::vector<Steps> groups,
                         bool for_caches = false) {
      Finish f{name + how, {}, true, for_caches};
      for (const Steps& g : groups) f.steps.insert(f.steps.end(), g.begin(), g.end());
      out_.push_back(std::move(f));
    };
    const Operand* packed = vectored();
    const bool turns = packed && packed->turned >= 0;  // vectors of it are there once it is packed
    const auto pack = [&](const std::string& before) {
      return pack_columns(*packed, before, columns);
    };
    if (sums) {
      const std::string& outermost = nest_.loops.front().name;
      Steps ahead;
      if (turns) ahead.push_back(pack(outermost));
      add(turns ? ", packed" : "", {ahead, strips, {by_rows, any, unroll}});
      // Rows that the next ones read again are passed through once where the strips stand inside.
      if (nest_.rows_overlap()) add(", across rows", {ahead, {by_rows}, strips, {any, unroll}});
      // The operands in strips of their own, once for everything; four terms at a time save
      // branches.
      const ScheduleStep terms = interleave_step(k, 4);
      for (const Operand& o : nest_.operands)
        if (runs_along_columns(o) && !(turns && &o == packed))
          ahead.push_back(pack_columns(o, outermost, columns));
      if (packed) add(", packed, by four", {ahead, strips, {by_rows, any, unroll, terms}});
      // In panels, where the results may be added to again: what begins or ends the sums refuses.
      if (packed && !cut.empty() && outermost != k)
        add(", packed in panels", {cut, ahead, strips, {by_rows, any, unroll, terms}});
      return;
    }
    if (packed) add(", packed", {cut, strips, {pack(i), by_rows, product, unroll}});
    // Rows that do not fit the second cache would come through it again for each strip: a block of
    // them stays there while all strips of the panel, packed once, go by.
    const int64_t terms = std::min(extent.value_or(0), cut.empty() ? INT64_MAX : depth),
                  held = second_ / 2 / std::max<int64_t>(1, terms * bytes_of(nest_.precision));
    const int64_t block_of_rows = terms > 0 ? block_rows(loop(i), rows, held) : 0;
    if (packed && block_of_rows > 0) {
      const Steps blocks = {pack(i), block(i, block_of_rows, i + "b", "")},
                  tiles = {by_rows, product, unroll};
      add(", packed, blocks of rows", {cut, blocks, strips, tiles}, true);
      if (const Steps copies = copied_rows(i); !copies.empty())
        add(", packed, blocks of rows copied", {cut, blocks, copies, strips, tiles}, true);
    }
    if (packed) pack_both(name, rows, columns, pack(i), strips, {by_rows}, {product, unroll});
    if (turns) return;
    if (packed && stands_far(*packed)) {
      const ScheduleStep asks =
          asks_beside_step(k, packed->buffer, columns, line_ / bytes_of(nest_.precision));
      const auto deep = [&](int64_t share) {
        const int64_t most = nearest_ / share / (columns * bytes_of(nest_.precision));
        return block(k, balanced(extent, std::max<int64_t>(1, most)), k + "o", i);
      };
      for (const int64_t share : {2, 4})
        add(", as it stands", {{deep(share)}, strips, {by_rows, product, asks, unroll}}, true);
      add(", any sum as it stands", {{deep(2)}, strips, {by_rows, any, asks, unroll}}, true);
    }
    add("", {strips, {by_rows, product, unroll}});
    add(", any sum", {strips, {by_rows, any, unroll}});
  }

  // Rows that step over the array with each term take a line, and a page, for each of them: in
  // strips of the tile's rows they lie as they are read, for all panels of columns. The columns'
  // strip has half of the nearest cache to itself, a panel of them half of the second.
  void pack_both(const std::string& name, int64_t rows, int64_t columns,
                 const ScheduleStep& pack_columns, const Steps& strips, const Steps& by_rows,
                 const Steps& product) {
    const std::string &outermost = nest_.loops.front().name, &j = nest_.vector_loop,
                      &k = nest_.reduction_loop;
    const Steps pack = pack_rows(rows, j + "c");
    const int64_t bytes = bytes_of(nest_.precision), depth = nearest_ / 2 / (columns * bytes);
    const std::optional<int64_t> terms = loop(k).extent, extent = loop(j).extent;
    if (pack.empty() || depth == 0 || !terms || !extent) return;
    const bool deep = *terms > 2 * depth;
    const int64_t panel = second_ / 2 / ((deep ? depth : *terms) * bytes) / columns * columns;
    if (panel == 0 || *extent <= 2 * panel) return;
    Finish f{name + ", both packed", {}, true, true};
    Steps panels = {block(j, panel, j + "c", outermost), pack_columns};
    if (deep) panels.insert(panels.begin(), block(k, balanced(terms, depth), k + "o", outermost));
    for (const Steps& steps : {panels, pack, by_rows, strips, product})
      f.steps.insert(f.steps.end(), steps.begin(), steps.end());
    out_.push_back(std::move(f));
  }

  // In front of the loop, those operands whose rows lie along their last dimension and that do not
  // fit the second cache; none where one of them is small.
  Steps pack_rows(int64_t strip, const std::string& before) const {
    Steps out;
    for (const Operand& o : nest_.operands) {
      const auto row = o.dimension.find(nest_.row_loop);
      if (o.along_vector || row == o.dimension.end()) continue;
      if (!o.one_way || o.halo || o.rank < 2 || row->second + 1 != o.rank) return {};
      double bytes = bytes_of(nest_.precision);
      for (const std::string& name : o.loops) bytes *= static_cast<double>(most_of(loop(name)));
      if (bytes <= static_cast<double>(second_)) return {};
      out.push_back({"pack_operand", with_unit({Value(o.buffer), Value(before), Value(strip)})});
    }
    return out;
  }

  // In front of the loop, as they lie: those operands whose rows go along the sum, in an array so
  // wide that the lines of a tile's rows, read term by term, push each other out.
  Steps copied_rows(const std::string& before) const {
    Steps out;
    for (const Operand& o : nest_.operands) {
      const auto row = o.dimension.find(nest_.row_loop),
                 sum = o.dimension.find(nest_.reduction_loop);
      if (o.along_vector || !o.one_way || o.halo || o.strip > 0 || row == o.dimension.end() ||
          sum == o.dimension.end() || sum->second + 1 != o.rank)
        continue;
      const std::optional<int64_t> terms = loop(nest_.reduction_loop).extent;
      if (!terms || crowded_ == 0 || *terms * bytes_of(nest_.precision) % crowded_ != 0) continue;
      ScheduleStep copy{"pack_operand", with_unit({Value(o.buffer), Value(before), Value(0)})};
      copy.named = {{"dim", static_cast<int64_t>(sum->second)}};
      out.push_back(std::move(copy));
    }
    return out;
  }

  // Is the operand larger than the second cache, and read by too few rows for a copy to pay?
  bool stands_far(const Operand& o) const {
    double bytes = bytes_of(nest_.precision);
    for (const std::string& name : o.loops) bytes *= static_cast<double>(most_of(loop(name)));
    const std::optional<int64_t> rows = loop(nest_.row_loop).most;
    return bytes > static_cast<double>(second_) && rows && *rows <= kStandingRows;
  }

  // The operand that runs along the vectors and is used again by every row; one that must be turned
  // before any other. Null: none.
  const Operand* vectored() const {
    const Operand* found = nullptr;
    for (const Operand& o : nest_.operands)
      if (runs_along_columns(o) && (!found || o.turned >= 0)) found = &o;
    return found;
  }
  bool runs_along_columns(const Operand& o) const {
    return o.along_vector && o.one_way && !o.halo && o.strip == 0 &&
           std::find(o.loops.begin(), o.loops.end(), nest_.row_loop) == o.loops.end();
  }
  ScheduleStep pack_columns(const Operand& o, const std::string& before, int64_t columns) const {
    ScheduleStep step{"pack_operand", with_unit({Value(o.buffer), Value(before), Value(columns)})};
    if (o.turned >= 0) step.named = {{"dim", static_cast<int64_t>(o.turned)}};
    return step;
  }

  const Nest& nest_;
  const Target& target_;
  const int64_t lanes_;
  const ValueList unit_;
  int64_t nearest_ = 0, second_ = 0;  // bytes of the first two caches
  int64_t line_ = 64;                 // bytes of a line, where no machine says
  int64_t crowded_ = 0;               // between rows that push each other out
  std::vector<Finish> out_;
};

}  // namespace

std::vector<Finish> register_tiles_of(const Nest& nest, const Target& target,
                                      const std::vector<TargetLevel>& levels,
                                      const ValueList& instructions) {
  const bool sums = nest.kind == NestKind::kSums;
  if (!target.vector_memory || target.lanes_of(nest.precision) <= 1) return {};
  if (nest.kind != NestKind::kContraction && !sums) return {};
  if (!sums && !nest.ends_in_product()) return {};
  return Tiles(nest, target, levels, instructions).run();
}

}  // namespace exotune
