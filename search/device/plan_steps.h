#pragma once
// PlanSteps: the work behind build_plan, one use a plan. It holds the schedule as it is so far and
// makes one proved step after the other: plan_builder.cc the tiles and the order of their loops,
// plan_operands.cc what is brought to the device and how seldom, plan_results.cc what is kept there
// and taken back, plan_rows.cc what comes and goes together. Loops are known by their names, which
// every step keeps unique.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/cursor/provenance.h"
#include "core/library/inspection.h"
#include "search/device/plan_builder.h"
#include "search/tuning_context.h"

namespace exotune::device_plan {

constexpr const char* kResultsInCode = "results";  // "operator" of that refusal

/// Ends the building of a plan; never leaves PlanSteps::run.
struct Refused {
  StepRefusal refusal;
};

/// What the processor does to results where the device's instructions do not: it works on a tile in
/// its own memory, which they bring and take.
struct Processor {
  bool begins = false, ends = false;
};

class PlanSteps {
 public:
  PlanSteps(const Schedule& start, const DevicePlan& plan, const DeviceInstructions& instructions,
            Processor processor, Zeros zeros);
  /// The whole plan, or the first refusal; errors of ours pass through. One call an instance.
  BuiltPlan run();

 private:
  /// Applies an operator to the schedule; throws Refused when the core does.
  void step(const std::string& op, ValueList args);
  /// Where the sum stands now: cursors are forwarded through all steps made so far.
  Cursor sum() const { return forward(s_.proc, sum_); }
  std::vector<Cursor> around() const { return enclosing_loops(sum()); }
  /// The loop of that name around the sum; Refused when a step removed it.
  Cursor loop(const std::string& name) const;
  const std::string& kernel_name(size_t k) const { return plan_.sum->loops[k].iter.name(); }
  /// The name, or with letters appended until no loop or buffer has it.
  std::string fresh(std::string name);
  const std::string& name_of(const PlanLoop& l) const;
  bool is_tiled(size_t k) const;
  /// Where the product's first factor is the kernel's second and both have names in front of the
  /// sum: the names in the order of the instruction's body, which is replaced statement by
  /// statement.
  void turn_factors();
  /// Each kernel loop becomes one over tiles (split in two where the plan says so) and one inside.
  void tile();
  void split_off(size_t k, LoopPart part, const std::string& outer, int64_t trips,
                 const std::string& name);
  /// The names of the loops around the sum in the wanted order.
  std::vector<std::string> wanted_order() const;
  std::vector<std::string> tile_names() const;
  /// Sorts the loops around the sum into `order`, those it does not name left out of it.
  void sort_loops(const std::vector<std::string>& order);
  /// Does the loop belong to the sum (and not to the results)?
  bool reduces(const std::string& name) const;
  /// Parallel loops in the order of the plan, those of the tile last, all outside the reductions.
  void tile_loops_outside_sum();
  /// Loops of results: inside where the sum begins, and rotated ones outside.
  std::vector<std::string> result_loops(bool with_rotated) const;
  /// The innermost loop that is no reduction, whose body begins and ends the sums.
  Cursor last_parallel() const;
  /// Stages the results in the device while the sum runs, and takes apart what stands before and
  /// after the sum, so that instructions, or the processor, begin and end it.
  void keep_results();
  /// The tile that the statement is in works on a copy of the results in ordinary memory.
  void give_to_processor(Cursor c, const std::string& suffix);
  /// The device and the processor meet in ordinary memory: a fence stands before what reads without
  /// the device what the device wrote, and, unless the device meets memory in the program's order,
  /// before and after what writes without it what it reads or writes.
  void fence_processor();
  /// A fence behind the statement; in front of it where they `change_places`.
  void fence_behind(const Cursor& c, bool change_places);
  /// What the device's instructions, as they stand in the program, do to memory that programs
  /// address.
  struct DeviceAccesses {
    std::set<Sym> read, written;
  };
  DeviceAccesses device_accesses() const;
  static bool assigns(const Block& b, Sym name);
  static bool calls(const Stmt& s);
  /// Of a statement and those inside: does it read, or write, any of the names?
  static bool reads(const Stmt& s, const std::set<Sym>& names);
  static bool writes(const Stmt& s, const std::set<Sym>& names);
  /// The largest statements without instructions.
  std::vector<Cursor> plain_statements() const;
  /// Results lie where only instructions reach them.
  void refuse_results_in_code() const;
  /// A place for each result of the loops that are kept together, outside of all loops where it may
  /// be.
  void lift_results();
  /// Of a loop within a tile, or of a block of tiles, that may be shorter: the most.
  int64_t extent_of(const std::string& name) const;
  Cursor first_reduction() const;
  int block_size(const Cursor& c) const;
  /// Another sum of the kernel may have results of the same name.
  Cursor alloc_of(const std::string& name) const;
  /// Exchanges loops into the plan's order; each exchange is proved, and the first that is not ends
  /// the plan.
  void order_sum();
  /// The outermost loop of the tile.
  Cursor tile_nest() const;
  /// A scalar that is computed, or converted by the program itself, becomes a buffer of the tile.
  void make_operand(const SumFactor& f);
  /// What computes a made operand gets loops of its own, without those that do not concern it.
  void fill_operand(const SumFactor& f);
  /// The statement in front of the tile nest (or what became of it) that fills the buffer.
  Cursor fill_nest(const std::string& name) const;
  /// Names of the plan's loops, those over tiles.
  std::set<std::string> inner_names() const;
  /// The operand's copy in the device's memory around the tile; returns the buffer's name.
  std::string stage(const SumFactor& f, const PlanOperand& o);
  /// A tile that may be shorter gets the room of a whole one.
  void fill_up(const std::string& name, const TileArgument& tile);
  /// A buffer for all tiles that the innermost `kept` loops touch, filled as seldom as may be.
  void keep(const std::string& name, const SumFactor& f, const PlanOperand& o);
  /// Out of the loops right around that do not concern it; through one that counts tiles which one
  /// instruction brings together.
  void hoist(Cursor fill, const SumFactor& f, std::optional<int64_t> group, size_t from,
             size_t kept);
  /// The loop of that name in the nest that `fill` is part of.
  Cursor loop_around(const Cursor& fill, const std::string& name) const;
  /// Of a tile that is several of rows and columns: those that one transfer brings lie next to each
  /// other, so the dimension that counts them goes behind the tile's own outer ones.
  void bring_side_by_side(const std::string& name, size_t own);
  /// False: something that does not change places with it stands in front of it.
  bool move_to_front(const Cursor& fill);
  /// Where loops further out repeat a fill, it runs in the first iteration only.
  void guard(const std::string& name, const SumFactor& f, const PlanOperand& o);
  /// The loops that copy into the buffer, without the plan's; around the first write, or one.
  Cursor load_of(const std::string& name) const;
  Cursor load_around(Cursor write, const std::string& name) const;
  /// Tiles of a row that are loaded one after the other come with as few instructions as the device
  /// can, where some tiles are shorter, for which plans have no groups: their loop leaves the sum
  /// and ends before a shorter last one. What the core refuses leaves them as they are.
  void load_side_by_side(const std::string& name, const SumFactor& f, const PlanOperand& o);
  /// One that a program has.
  void group_load(Cursor load, const SumFactor& f, int64_t most);
  const PlanLoop* row_of(const Cursor& load, const Cursor& around, const SumFactor& f) const;
  /// The loop over the tiles of a group goes inside the copy's own along memory, so does what is
  /// left of the row behind it. `outermost`: it is not itself inside a loop over groups.
  void bring_tiles_inside(const Cursor& first, bool outermost);
  /// Does the loop over tiles hold one copy alone?
  static bool holds_copy(const Cursor& row);
  /// Iterations of the loop with a whole tile: all, or all but the last where loops inside are
  /// shorter there. 0: their number is not literal.
  static int64_t whole_tiles(const Cursor& row);
  /// The loop of that name around a statement ends before a shorter last tile and does at most
  /// `most` in an inner loop; its name, nothing where the core refuses.
  std::optional<std::string> cut_into(const Cursor& c, const PlanLoop& l, int64_t most);
  /// Is the plan's loop inside the copy, as its second?
  bool group_of(const std::string& name, const std::string& iter) const;
  /// The zero that results begin with moves into the sum's first product, where it may.
  void begin_in_product();
  /// The last block of tiles, where it has fewer or a shorter one, gets a program of its own: in
  /// all others the bounds are numbers.
  void set_last_blocks_apart();
  /// Finished tiles that lie side by side in a row of the result leave in one instruction, where
  /// the device has one: the loops around `ends`, the first of what is done to a finished element,
  /// are grouped so. What the core refuses leaves them as they are.
  void store_side_by_side(const Cursor& ends);
  /// Of the loops around a statement: the one of that name.
  std::optional<Cursor> loop_of(const Cursor& c, const std::string& name) const;
  /// The loads of a buffer go out of the loops of the sum, into loops of their own in front of it.
  void bring_in_front(const std::string& name);
  /// What stands in front of the sum runs one iteration ahead of it.
  void run_loads_ahead();
  void place_in_memories(const std::string& first, const std::string& second);
  static Value list_of(const std::vector<ProcPtr>& instructions);
  void replace(const std::string& name, const PlanOperand& o);
  void replace_rest();
  Schedule s_;
  const DevicePlan& plan_;
  const DeviceInstructions& instructions_;
  const Processor processor_;
  const Zeros zeros_;
  const Cursor sum_;
  Cursor begins_;  // the statement in front of the sum; not valid: there is none
  // The first of what instructions do to a finished element, a program of the last block each.
  std::vector<Cursor> ends_;
  std::set<std::string> taken_;
  std::map<std::pair<size_t, LoopPart>, std::string> names_of_loops_;
  std::map<const SumFactor*, std::string> made_;
  std::set<std::string> side_by_side_;
  std::string results_;
};

}  // namespace exotune::device_plan
