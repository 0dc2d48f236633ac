#include "search/neighbours.h"

#include <map>
#include <optional>
#include <set>

#include "search/steps/builders.h"

namespace exotune {
// Small changes to a schedule that measured well: a size halved or doubled, a tile one row higher,
// a prefetch nearer. Changes are made to steps as data; each result is replayed and proved like any
// other schedule.

namespace {

// The step's value of that name as text; "" when it has none.
std::string text_of(const ScheduleStep& step, const std::string& parameter) {
  const Value* v = value_of(step, parameter);
  const std::string* text = v ? v->as<std::string>() : nullptr;
  return text ? *text : "";
}

std::optional<int64_t> number_of(const ScheduleStep& step, const std::string& parameter) {
  const Value* v = value_of(step, parameter);
  const int64_t* number = v ? v->as<int64_t>() : nullptr;
  return number ? std::optional(*number) : std::nullopt;
}

// block_loop: one size, or the sizes of the tiles for what is left, 48, 32, 16.
struct Blocking {
  std::string loop, outer;
  int64_t size = 0, last = 0;  // the smallest tile; 0: there is one size
  Value with(int64_t s) const { return last > 0 && s > last ? halving(s, last) : Value(s); }
};

std::optional<Blocking> blocking_of(const ScheduleStep& step) {
  if (step.op != "block_loop") return std::nullopt;
  Blocking out{text_of(step, "loop"), "", 0, 0};
  if (const Value* names = value_of(step, "new_iters"))
    if (const ValueList* list = names->as<ValueList>(); list && !list->empty())
      if (const std::string* outer = list->front().as<std::string>()) out.outer = *outer;
  const Value* sizes = value_of(step, "sizes");
  if (const int64_t* one = sizes ? sizes->as<int64_t>() : nullptr) {
    out.size = *one;
  } else if (const ValueList* list = sizes ? sizes->as<ValueList>() : nullptr;
             list && !list->empty() && list->front().as<int64_t>() && list->back().as<int64_t>()) {
    out.size = *list->front().as<int64_t>();
    if (list->size() > 1) out.last = *list->back().as<int64_t>();
  }
  if (out.loop.empty() || out.size <= 0) return std::nullopt;
  return out;
}

// register_block or sum_block: a micro-kernel's loops.
struct Kernel {
  std::string rows, columns, sum;  // sum "": it takes several
};

std::optional<Kernel> kernel_of(const ScheduleStep& step) {
  if (step.op != "register_block" && step.op != "sum_block") return std::nullopt;
  return Kernel{text_of(step, "i"), text_of(step, "j"), text_of(step, "k")};
}

// The size of tiles that several nests share.
std::optional<int64_t> division_of(const ScheduleStep& step) {
  return step.op == "divide_loop" ? number_of(step, "q") : std::nullopt;
}

bool is_pack(const ScheduleStep& step) { return step.op == "pack_operand"; }

// Packed in strips of another dimension than the last: its copy has no rows to go through.
bool packs_turned(const ScheduleStep& step) { return number_of(step, "dim").value_or(-1) >= 0; }

bool any_of(const Steps& steps, const char* op) {
  for (const ScheduleStep& step : steps)
    if (step.op == op) return true;
  return false;
}

void insert(Steps& steps, size_t at, ScheduleStep step) {
  steps.insert(steps.begin() + static_cast<long>(at), std::move(step));
}

class Changes {
 public:
  Changes(const Steps& steps, const Neighbourhood& where) : steps_(steps), where_(where) {
    columns_.insert(where.vector_loop);
    rows_.insert(where.row_loop);
    for (size_t k = 0; k < steps.size(); ++k)
      if (const auto kernel = kernel_of(steps[k])) {
        if (kernels_.empty()) first_kernel_ = k;
        kernels_.push_back(*kernel);
        columns_.insert(kernel->columns);
        rows_.insert(kernel->rows);
      }
  }

  std::vector<Neighbour> run() {
    for (size_t k = 0; k < steps_.size(); ++k)
      if (const auto block = blocking_of(steps_[k])) sizes(k, *block);
    for (size_t k = 0; k < steps_.size(); ++k)
      if (const auto tile = division_of(steps_[k]))
        for (const int64_t size : {*tile / 2, *tile * 2})
          if (size > 1) add(changed(k, "q", size), Change::kSize);
    for (size_t k = 0; k < steps_.size(); ++k)
      if (is_pack(steps_[k])) {
        Steps without = steps_;
        without.erase(without.begin() + static_cast<long>(k));
        add(std::move(without), Change::kPacking);
      }
    if (!kernels_.empty() && !any_of(steps_, "interleave_loop")) interleaves();
    if (!kernels_.empty() && !any_of(steps_, "prefetch_ahead")) prefetches();
    if (any_of(steps_, "tile_to_instr") && !any_of(steps_, "prefetch_results"))
      for (const int64_t ahead : {1, 2}) {
        Steps out = steps_;
        out.push_back({"prefetch_results", {Value(ahead)}});
        add(std::move(out), Change::kPrefetching);
      }
    if (where_.far && kernels_.empty() && !any_of(steps_, "prefetch_next_rows")) next_rows();
    if (where_.far && kernels_.empty() && !any_of(steps_, "prefetch_rows")) {
      for (const ScheduleStep& asks :
           {ScheduleStep{"prefetch_rows", {""}},
            ScheduleStep{"prefetch_rows", {"", Value(int64_t{32}), Value(int64_t{1})}}}) {
        Steps out = steps_;
        out.push_back(asks);
        add(std::move(out), Change::kPrefetching);
      }
    }
    if (!where_.streaming.empty() && !any_of(steps_, "stream_results")) {
      Steps out = steps_;
      out.insert(out.end(), where_.streaming.begin(), where_.streaming.end());
      add(std::move(out), Change::kStreaming);
    }
    if (!any_of(steps_, "call_twins"))
      for (const Steps& more : where_.estimates) {
        Steps out = steps_;
        out.insert(out.end(), more.begin(), more.end());
        add(std::move(out), Change::kEstimates);
      }
    if (where_.half && kernels_.empty()) half_vectors();
    return std::move(out_);
  }

 private:
  void add(Steps steps, Change change) { out_.push_back({std::move(steps), change}); }

  Steps changed(size_t step, const std::string& parameter, Value value) const {
    Steps out = steps_;
    out[step] = with_value(std::move(out[step]), parameter, std::move(value));
    return out;
  }

  // The last step that blocks a loop makes its register tile.
  bool is_last_of(size_t step, const std::string& loop) const {
    for (size_t k = step + 1; k < steps_.size(); ++k)
      if (const auto block = blocking_of(steps_[k]); block && block->loop == loop) return false;
    return true;
  }

  // Columns by a vector, rows by up to four, other blocks by halves and doubles: near enough that
  // the rest of the schedule still fits.
  std::set<int64_t> sizes_near(const Blocking& block, bool tile) const {
    const int64_t s = block.size, lanes = where_.lanes;
    std::set<int64_t> out;
    if (columns_.count(block.loop) > 0) {
      for (const int64_t t : {s - lanes, s + lanes, 2 * s, s / 2}) out.insert(t / lanes * lanes);
    } else if (tile && rows_.count(block.loop) > 0) {
      for (const int64_t by : {-4, -3, -2, -1, 1, 2, 3, 4}) out.insert(s + by);
    } else {
      for (const int64_t t : {s / 2, s * 3 / 4, s * 3 / 2, s * 2}) out.insert(t);
    }
    return out;
  }

  void sizes(size_t step, const Blocking& block) {
    const int64_t s = block.size;
    const bool tile = !kernels_.empty() && is_last_of(step, block.loop);
    const bool columns = columns_.count(block.loop) > 0;
    for (const int64_t size : sizes_near(block, tile)) {
      if (size < 1 || size == s || (tile && size > where_.registers * where_.lanes)) continue;
      Steps out = changed(step, "sizes", block.with(size));
      // An operand in strips follows the loop that the strips serve.
      if (tile && (columns || packs_rows(step, block.loop, s)))
        for (const size_t other : packs_for(step, s))
          out[other] = with_value(std::move(out[other]), "strip", size);
      add(std::move(out), Change::kSize);
    }
  }

  // Are the strips of that many the rows of a tile, and not its columns?
  bool packs_rows(size_t step, const std::string& loop, int64_t strip) const {
    if (rows_.count(loop) == 0) return false;
    for (size_t k = 0; k < step; ++k)
      if (const auto block = blocking_of(steps_[k]))
        if (columns_.count(block->loop) > 0 && block->size == strip) return false;
    return !packs_for(step, strip).empty();
  }

  // The steps that pack into strips for the tiles made here: all of them when there is only one
  // kind of tile, else the nearest one before.
  std::vector<size_t> packs_for(size_t step, int64_t strip) const {
    std::vector<size_t> out;
    for (size_t k = 0; k < steps_.size(); ++k)
      if (is_pack(steps_[k]) && number_of(steps_[k], "strip") == strip) out.push_back(k);
    if (kernels_.size() < 2) return out;
    std::erase_if(out, [&](size_t k) { return k > step; });
    if (out.size() > 1) out.erase(out.begin(), out.end() - 1);
    return out;
  }

  // A tile of several vectors has chains enough: two or four copies are for small tiles, and for
  // fewer branches.
  void interleaves() {
    for (const int64_t factor : {2, 4}) {
      Steps out = steps_;
      for (const Kernel& kernel : kernels_)
        if (!kernel.sum.empty()) out.push_back(interleave_step(kernel.sum, factor));
      if (out.size() > steps_.size()) add(std::move(out), Change::kInterleaving);
    }
  }

  // The loop over a micro-kernel's tiles: what the last blocking of its rows calls the outer loop.
  std::optional<std::string> tiles_of(const std::string& rows) const {
    std::optional<std::string> out;
    for (const ScheduleStep& step : steps_)
      if (const auto block = blocking_of(step); block && block->loop == rows) out = block->outer;
    return out;
  }

  // With so many times as many vectors at once in all loops along vectors of single rows; none:
  // there are no such loops, or too many vectors then.
  static Steps interleaved(const Steps& steps, int64_t times) {
    constexpr int64_t kMost = 8;  // two ports whose results take four cycles
    Steps out = steps;
    bool any = false;
    for (ScheduleStep& step : out) {
      const std::optional<int64_t> n = number_of(step, "interleave");
      if (!n || !number_of(step, "vw") || number_of(step, "rows").value_or(1) > 1) continue;
      if (times * *n > kMost) return {};
      step = with_value(std::move(step), "interleave", Value(times * *n));
      any = true;
    }
    return any ? out : Steps{};
  }

  // Every loop of whole vectors by half ones: rows that begin within a line cross fewer. As many
  // bytes are on their way where twice as many vectors are.
  void half_vectors() {
    Steps out = steps_;
    bool any = false;
    for (ScheduleStep& step : out) {
      const std::optional<int64_t> lanes = number_of(step, "vw");
      if (!lanes || *lanes < 4 || !value_of(step, "mem_type")) continue;
      step = with_value(std::move(step), "vw", Value(*lanes / 2));
      step = with_value(std::move(step), "mem_type", where_.half->memory);
      step = with_value(std::move(step), "instructions", where_.half->instructions);
      any = true;
    }
    if (!any) return;
    for (const int64_t times : {2, 4})
      if (Steps wider = interleaved(out, times); !wider.empty())
        add(std::move(wider), Change::kWidth);
    add(std::move(out), Change::kWidth);
  }

  // Results that go past the caches leave the memory more time for what comes next.
  void next_rows() {
    const ScheduleStep asks{"prefetch_next_rows", {""}};
    if (!where_.streaming.empty() && !any_of(steps_, "stream_results")) {
      Steps both = steps_;
      both.insert(both.end(), where_.streaming.begin(), where_.streaming.end());
      both.push_back(asks);
      add(std::move(both), Change::kPrefetching);
    }
    Steps alone = steps_;
    alone.push_back(asks);
    add(std::move(alone), Change::kPrefetching);
  }

  // In front of the first micro-kernel, where operands are still read as they lie. The next tile,
  // or the one after it where a tile takes less time than a line takes to come.
  void prefetches() {
    spread_prefetches();
    std::vector<std::string> tiles;
    for (const Kernel& kernel : kernels_)
      if (const auto outer = tiles_of(kernel.rows)) tiles.push_back(*outer);
    std::vector<std::vector<std::string>> choices{tiles};
    if (tiles.size() > 1)
      for (const std::string& one : tiles) choices.push_back({one});
    for (const std::vector<std::string>& choice : choices)
      for (const int64_t distance : {1, 2}) {
        Steps out = steps_;
        for (const std::string& outer : choice)
          insert(out, first_kernel_, {"prefetch_ahead", {outer}, {}, {{"distance", distance}}});
        if (!choice.empty()) add(std::move(out), Change::kPrefetching);
      }
  }

  // The loop over panels of columns in which the operand that step `pack` packs goes by.
  std::optional<std::string> panels_of(const std::string& columns, size_t pack) const {
    for (size_t k = 0; k < pack; ++k)
      if (const auto block = blocking_of(steps_[k]); block && block->loop == columns)
        return block->outer;
    return std::nullopt;
  }

  // The result's lines asked for while a tile is computed, with the next rows' lines between the
  // terms of the sums and the lines of later rows while strips are packed, and where panels go by
  // with the lines of the next one too; and without these. A tile that asks already also begins
  // with the result.
  void spread_prefetches() {
    if (kernels_.size() != 1 || any_of(steps_, "prefetch_meanwhile")) return;
    const Kernel& kernel = kernels_.front();
    if (steps_[first_kernel_].op != "register_block") return;
    const Value* asks = value_of(steps_[first_kernel_], "apart");
    const bool is_apart = asks && *asks->as<bool>();
    const Steps apart = changed(first_kernel_, "apart", true);
    const Steps panels = asks_of_panels(kernel);
    // Once the rows are asked for, or alone: what comes next of the rows may lie packed already.
    const auto with_panels = [&](Steps steps, size_t behind) {
      if (panels.empty()) return;
      steps.insert(steps.begin() + static_cast<long>(behind), panels.begin(), panels.end());
      add(std::move(steps), Change::kPrefetching);
    };
    if (const auto outer = tiles_of(kernel.rows)) {
      Steps all = apart;
      insert(all, first_kernel_ + 1, {"prefetch_meanwhile", {*outer, kernel.sum}});
      size_t behind = first_kernel_ + 2;
      for (size_t k = first_kernel_; k-- > 0;) {
        if (!is_pack(steps_[k]) || packs_turned(steps_[k])) continue;
        insert(all, k + 1,
               {"prefetch_ahead",
                {text_of(steps_[k], "rows"), text_of(steps_[k], "buffer")},
                {},
                {{"distance", kAhead}}});
        ++behind;
      }
      with_panels(all, behind);
      add(std::move(all), Change::kPrefetching);
    }
    with_panels(apart, first_kernel_ + 1);
    add(is_apart ? changed(first_kernel_, "apart", false) : apart, Change::kPrefetching);
  }

  // What the next panel of columns reads of the operands that are packed panel by panel.
  Steps asks_of_panels(const Kernel& kernel) const {
    Steps out;
    for (size_t k = first_kernel_; k-- > 0;)
      if (const auto panel = is_pack(steps_[k]) ? panels_of(kernel.columns, k) : std::nullopt)
        out.push_back({"prefetch_meanwhile",
                       {*panel, kernel.sum, text_of(steps_[k], "buffer")},
                       {},
                       {{"locality", 2}}});
    return out;
  }

  static constexpr int64_t kAhead = 8;  // rows of an operand while it is packed
  const Steps& steps_;
  const Neighbourhood& where_;
  std::set<std::string> columns_, rows_;  // of the micro-kernels
  std::vector<Kernel> kernels_;
  size_t first_kernel_ = 0;  // its step
  std::vector<Neighbour> out_;
};

}  // namespace

// A part is changed as if it were all there is; what is for the whole was asked of the whole.
std::vector<Neighbour> neighbours_of(const Steps& steps, const Neighbourhood& where) {
  std::vector<Neighbour> out = Changes(steps, where).run();
  Neighbourhood in_part = where;
  in_part.streaming.clear();
  in_part.estimates.clear();
  in_part.far = false;
  for (size_t k = 0; k < steps.size(); ++k) {
    if (steps[k].inside.empty()) continue;
    for (Neighbour& n : neighbours_of(steps[k].inside, in_part)) {
      Steps whole = steps;
      whole[k].inside = std::move(n.steps);
      out.push_back({std::move(whole), n.change});
    }
  }
  return out;
}

Steps with_open_ends(Steps steps, int64_t lanes) {
  std::map<std::string, int64_t> smallest;  // tile of a micro-kernel's loop
  for (size_t k = steps.size(); k-- > 0;) {
    if (const auto kernel = kernel_of(steps[k])) {
      smallest[kernel->rows] = 1;
      smallest[kernel->columns] = lanes;
    }
    const auto block = blocking_of(steps[k]);
    if (!block || !smallest.count(block->loop)) continue;
    // The last step that blocks a loop makes its register tile.
    const int64_t last = smallest[block->loop];
    smallest.erase(block->loop);
    if (block->last == 0 && block->size > last)
      steps[k] = with_value(std::move(steps[k]), "sizes", halving(block->size, last));
  }
  return steps;
}

}  // namespace exotune
