#pragma once
// Actions: what the dynamic program may do with a Spec, and the Specs that leaves. Start at
// ActionSpace::expand.
//
//   select(kernel)             nothing left
//   initialise                 fill, then the accumulating form
//   tile(dim, size)            the body at the tile's extents, and one exact boundary body
//   parallel tile(dim, size)   the same, the tiles shared out to threads; no further threads inside
//   move(operand, level, ..)   [load] body [store], all with less memory
// What each becomes in the core is in replay.h.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "search/dp/affine_cost.h"

namespace exotune {

enum class ActionKind : uint8_t { kSelect, kInitialise, kTile, kMove, kParallelTile };

/// Stored in the memo: by structure, never by its place in a list.
struct DpAction {
  ActionKind kind = ActionKind::kSelect;
  uint16_t index = 0;  // kernel, dim, or operand
  OperandState to;     // kMove: where the operand goes
  uint32_t size = 0;   // kTile, kParallelTile
  bool operator==(const DpAction&) const = default;
};

/// A question that an action leaves: `times` of it, one after the other.
struct SubSpec {
  Spec spec;
  Limits limits;
  int64_t times = 1;
};

// A move has most: the copy in, the body, the copy out.
constexpr int kMaxParts = 3;

/// One action's outcome on a Spec: its own cost, in the units of AffineCost, and the questions that
/// it leaves. `part[main]` is what the plan is mostly about; the memo ranks alternatives by it
/// alone and takes the best of every other part, which keeps the number of plans from multiplying.
struct Expansion {
  DpAction action;
  int64_t own_cost = 0;
  int parts = 0;
  std::array<SubSpec, kMaxParts> part;
  int main = 0;  // the part that the plan goes on with; the others are copies, fills, boundaries
  int allocated_level = -1;  // a new tensor lives here while the parts run
  int64_t allocated = 0;
  Limits used;  // by a kernel
  // The main part runs so many times at once, each with its part of the shared levels (a bit set).
  int at_once = 1;
  uint32_t shared_levels = 0;
};

/// Copies of an operand into another layout of the level it is in.
enum class Relayout : uint8_t {
  kNever,
  kOnceForAll,  // at most once for each operand
  kOnce,        // at most once for each operand and level
  kAlways,      // as memory allows: the paper's rules
};

/// Restrictions of the search, each tested against the full set; see actions.cc for which are on.
/// All of them are part of the memo's identity.
struct DpRules {
  Relayout relayout = Relayout::kOnce;
  /// Tiles are powers of two times these, for each role of a loop.
  struct Factors {
    std::vector<uint32_t> rows{1}, vectors{1}, sums{1};
  } factors;
  std::vector<uint32_t> tiles;  // further tile sizes
  /// Leaves out tile sizes that divide a larger one tried: tiling twice costs the same.
  bool tiles_in_steps = false;
  /// Only operands in the outermost level that any operand is in may move: blocks are made for one
  /// level of the hierarchy after the other.
  bool outermost_first = false;
  /// Of several rows of the output only one loop (SpecKind::row_loop) is cut to more than one
  /// iteration: the others stay whole or run outside.
  bool one_row_loop = false;
  /// Taps (SpecKind::is_tap) stay whole until nothing else is left to cut.
  bool whole_taps = false;
  /// Copies of more than two dimensions are cut to tiles in the inner two of either side; the
  /// others stay whole or run outside.
  bool copies_inside = false;
  /// In a Spec with taps only an input without a halo is copied into another layout, one whose
  /// innermost elements lie along the vector loop: nothing else ends in vectors.
  bool vectors_inside = false;
  bool ports = true;            // a register block costs its busiest port; else the sum of all
  bool strips = true;           // layouts with a packed strip
  bool parallel_tiles = false;  // tiles shared out to the machine's threads
  /// Every operand lies as serves best, wherever it is: costs no more than any plan.
  bool relaxed = false;
  std::string str() const;  // part of a stored memo's identity
};

/// The paper's action set.
DpRules paper_rules();
/// What exo-tune searches with: one copy within each level, blocks level by level, tiles in steps.
DpRules search_rules();

/// Used by one thread; those of several may share kinds and layouts.
class ActionSpace {
 public:
  ActionSpace(const DpMachine& machine, const DpRules& rules, SpecKinds& kinds,
              LayoutPool& layouts);

  /// Calls `visit` for each action on a canonical Spec, cheapest kind first. `visit` is called
  /// while the space is in use: it may not expand another Spec from inside. Cost: some hundreds of
  /// visits for a product, most of them moves and tiles.
  void expand(const Spec& spec, const Limits& limits,
              const std::function<void(const Expansion&)>& visit);

  /// A lower bound on the cost of any implementation; kNoCost when there is none. Without search,
  /// from kernels' rates and paths between levels (endings.cc); never above the cost of any plan,
  /// which tests check against the exact optimum.
  int64_t floor(const Spec& spec);

  /// Layouts in their canonical form, one name for moves that mean the same. Cheap; idempotent.
  void canonicalise(Spec& spec);
  /// Levels that no implementation can use count for nothing.
  void canonicalise(const Spec& spec, Limits& limits) const;

  const LimitCodes& codes() const { return codes_; }
  const AffineCost& cost() const { return cost_; }
  const DpMachine& machine() const { return machine_; }
  const DpRules& rules() const { return rules_; }
  SpecKinds& kinds() { return kinds_; }
  LayoutPool& layouts() { return layouts_; }

  /// Does the kernel implement the Spec as it stands: extents, places and layouts of its operands?
  /// Of a kernel from facts(): statement and types agree. Free registers are expand's business.
  bool applies(const DpKernel& kernel, const Spec& spec) const;
  bool vectors_fit(const DpKernel& kernel, const Spec& spec, bool scalar) const;
  /// Tile sizes tried for an extent, ascending.
  const std::vector<uint32_t>& tile_sizes(const SpecKind& kind, int dim, uint32_t extent);

 private:
  // The kernels that can end a Spec of a kind, and the kinds it can become.
  struct KindFacts {
    std::vector<int> kernels;  // whose statement and types are this kind's
    int accumulating = -1;     // kind; for "init" forms
    int fill = -1;
    uint32_t rows_outside = 0,
             taps = 0;  // loops that one_row_loop and whole_taps are about: bit sets
  };
  // What a plan that ends in one kernel costs at least, in units.
  struct Ending {
    double per_execution = 0;
    std::array<double, kMaxOperands> per_element{};  // to bring it to where the kernel takes it
    uint32_t vectors = 0;                            // operands that must have one register width
  };
  /// Made at the first question for a kind, then looked up.
  const KindFacts& facts(int kind);
  /// The kernels that a plan for the Spec's kind, with operands in its levels, can end in.
  const std::vector<Ending>& endings(const Spec& spec);
  void find_endings(const Spec& spec, const KindFacts& facts, std::vector<Ending>& into);
  /// Units for one execution of the statement by the kernel, at its best.
  double kernel_rate(const DpKernel& kernel, const SpecKind& kind) const;
  /// The same for one element of the fastest copy.
  double copy_rate(ScalarType type);
  // Each visits the actions of its kind; expand calls them in this order.
  void expand_select(const Spec&, const Limits&, const std::function<void(const Expansion&)>&);
  void expand_initialise(const Spec&, const Limits&, const std::function<void(const Expansion&)>&);
  void expand_tiles(const Spec&, const Limits&, const std::function<void(const Expansion&)>&);
  void expand_parallel_tiles(const Spec&, const Limits&,
                             const std::function<void(const Expansion&)>&);
  /// Sizes of the parts that threads take of a loop: at least two parts.
  std::vector<uint32_t> shares(const SpecKind& kind, int dim, uint32_t extent);
  /// Makes a Spec that may start threads, or runs beside others, one that is alone where it makes
  /// no difference: one entry of the memo instead of two.
  void settle_threads(Spec& spec) const;
  void expand_moves(const Spec&, const Limits&, const std::function<void(const Expansion&)>&);
  void expand_move(const Spec&, const Limits&, int operand, const OperandState& to,
                   const std::function<void(const Expansion&)>&);
  void expand_moves_to(const Spec&, const Limits&, int operand, int to, bool vectors_inside,
                       const std::function<void(const Expansion&)>&);
  // The two questions that a move leaves: the copy, and the rest with the operand in its new place.
  Spec copy_spec(const Spec& around, const OperandShape&, ScalarType, const OperandState& source,
                 const OperandState& target);
  Spec moved_spec(const Spec&, int operand, const OperandState& to);
  /// Above it only powers of two are tried.
  uint32_t largest_factored(int role) const;
  /// The tile sizes of one loop that the rules leave.
  const std::vector<uint32_t>& cuts(const Spec& spec, int dim);
  /// Do the layout's innermost elements lie along the loop that runs in vectors?
  static bool serves_vectors(const SpecKind& kind, int operand, const TensorLayout& layout);
  bool is_inner(const Spec& spec, const SpecKind& kind, int dim) const;
  /// Does an operand that may not be turned any more stay as it is: the same layout in memory, the
  /// same order in registers?
  bool keeps(uint16_t from, uint16_t to, const DpLevel& level) const;
  /// `out` becomes the Spec of one tile; false: a layout cannot be cut there.
  bool tile(const Spec& spec, int dim, uint32_t size, Spec& out);
  /// Its number in the pool, without the pool's lock.
  uint16_t layout_id(const TensorLayout& layout);
  /// The layouts that a copy of such an operand may have.
  const std::vector<uint16_t>& destination_layouts(const OperandShape& shape, ScalarType type);
  std::vector<uint16_t> find_destination_layouts(const OperandShape& shape, ScalarType type);

  const DpMachine& machine_;
  DpRules rules_;
  SpecKinds& kinds_;
  LayoutPool& layouts_;
  LimitCodes codes_;
  AffineCost cost_;
  bool registers_relayout_ = false;  // vectors may change width or order within the registers
  std::vector<uint32_t> reachable_;  // by level: levels that moves lead to
  uint32_t shared_levels_ = 0;       // a bit set
  uint32_t crowded_levels_ = 0;      // that cost a thread beside others more
  std::vector<std::unique_ptr<KindFacts>> facts_;
  std::map<std::pair<int, uint32_t>, std::vector<uint32_t>> tile_sizes_;  // by role and extent
  std::vector<std::unique_ptr<std::vector<Ending>>> endings_;             // by kind and levels
  std::unordered_map<uint64_t, std::vector<uint16_t>> destinations_;
  std::map<ScalarType, double> copy_rates_;
  std::unordered_map<TensorLayout, uint16_t, LayoutPool::Hash> layout_ids_;  // of the pool
};

}  // namespace exotune
