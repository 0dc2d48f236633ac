#pragma once
// What a compiled program runs on, and its statement and data nodes. Internal to core/interp.
//
// Calls are inlined when a proc is compiled, and control arguments are constants by then, so there
// is one frame: integer slots for iterators and non-linear values, base pointers for root buffers.
// A window is only a linear form into its root's base.
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/interp/integer.h"
#include "core/interp/interp.h"

namespace exotune::interp {

struct ForNode;

/// The whole state of one run. Nodes are constant and shared by all runs of a program; what changes
/// is here, but for the storage of allocations, which keeps its capacity from run to run.
struct Machine {
  std::vector<int64_t> ints;
  std::vector<double*> bases;
  std::vector<ConfigSlot> config;
  PoisonPolicy poison = PoisonPolicy::kPropagate;
  bool poisoned = false;               // kPropagate: the expression at hand read poison
  int64_t steps_left = 0;              // until the next look at the clock
  int64_t steps_beyond = 0;            // allowed after that
  std::vector<const ForNode*> active;  // loops being run, for messages
};

inline int64_t IntVal::eval(Machine& m) const {
  return node ? node->eval(m) : lin.eval(m.ints.data());
}

/// What a float operation of the type is rounded to, or an integer operation wraps to.
enum class Rounding : uint8_t { kNone, kF32, kF16, kBf16, kI8, kUi8, kI16, kUi16, kI32 };

/// Throws InterpError with the values of the loops that are under way as a note: "at i = 3, j = 0".
[[noreturn]] void fail(const Machine& m, InterpError::Kind kind, const SourceLocation& where,
                       std::string message);
/// Makes room for `needed` statements beside those begun. Fails when they are more than allowed, or
/// when the thread's deadline (DeadlineScope) is over.
void allow_steps(Machine& m, int64_t needed = 0);

/// An element `name[idx]`: where it lies in its root, and what must hold first.
struct Access {
  struct Check {
    IntVal idx, extent;
    int dim;
  };
  int base = 0;
  IntVal addr;                // elements from bases[base]
  std::vector<Check> checks;  // those not proved when compiled
  std::string name;
  SourceLocation where;

  /// The element's cell. Checks in the order of the dimensions, so that the first wrong subscript
  /// is the one in the message.
  double* locate(Machine& m) const {
    for (const Check& c : checks) {
      const int64_t i = c.idx.eval(m);
      if (i < 0 || i >= c.extent.eval(m)) out_of_bounds(m, c);
    }
    return m.bases[base] + addr.eval(m);
  }
  [[noreturn]] void out_of_bounds(Machine& m, const Check& c) const;
};

// --- data expressions
// -----------------------------------------------------------------------------
struct StripBuilder;
/// eval() computes one element; emit() appends the same computation, for a whole strip of
/// iterations, to a line of operations. Both call apply(), so they cannot disagree about
/// arithmetic.
struct DataNode {
  virtual ~DataNode() = default;
  virtual double eval(Machine& m) const = 0;
  /// The register of a strip that holds the value; -1: this expression cannot run in strips.
  virtual int emit(StripBuilder& b) const = 0;
};
using DataPtr = std::unique_ptr<const DataNode>;

/// on_integers looks at the order: those before kSqrt exist for all types. Transcendental functions
/// are computed in double and rounded once, which is within what core/codegen's C library does.
enum class DataOp : uint8_t {
  // also on integers
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMax,
  kMin,
  kNeg,
  kRelu,
  kAbs,
  // on floating types only
  kSqrt,
  kCbrt,
  kHypot,
  kExp,
  kExp2,
  kExpm1,
  kLog,
  kLog2,
  kLog10,
  kLog1p,
  kPow,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kAtan2,
  kSinh,
  kCosh,
  kTanh,
  kSigmoid,
  kErf,
  kFloor,
  kCeil,
  kTrunc,
  kRound,
  kRint,
  kFmod,
};
constexpr bool on_integers(DataOp op) { return op < DataOp::kSqrt; }
/// One operation, rounded; integer types wrap. The only place that says what data operations mean.
double apply(DataOp op, Rounding r, double a, double b);
/// Rounds or converts to what an element of the rounding's type holds.
double round_value(Rounding r, double v);

struct ConstData final : DataNode {
  double value;
  explicit ConstData(double v) : value(v) {}
  double eval(Machine&) const override { return value; }
  int emit(StripBuilder& b) const override;
};
/// A load propagates or refuses poison as the machine's policy says.
struct LoadData final : DataNode {
  Access access;
  double eval(Machine& m) const override;
  int emit(StripBuilder& b) const override;
};
struct OpData final : DataNode {
  DataOp op;
  Rounding rounding;
  DataPtr a, b;  // b null for unary operations
  SourceLocation where;
  double eval(Machine& m) const override;
  int emit(StripBuilder& b) const override;
};
/// A control value as data.
struct CastData final : DataNode {
  IntVal value;
  Rounding rounding;
  double eval(Machine& m) const override { return convert(rounding, value.eval(m)); }
  int emit(StripBuilder& b) const override;
  /// Rounded once, from the integer: not by way of double.
  static double convert(Rounding r, int64_t v);
};
/// a < b ? c : d. Only the side that is wanted is read: the other may lie outside of its buffer.
struct SelectData final : DataNode {
  DataPtr a, b, c, d;
  double eval(Machine& m) const override;
  int emit(StripBuilder& b) const override;
};
/// A data field of the configuration.
struct ConfigData final : DataNode {
  int slot;
  std::string name;
  SourceLocation where;
  double eval(Machine& m) const override;
  int emit(StripBuilder& b) const override;
};

// --- statements
// -----------------------------------------------------------------------------------
/// Statements run in the order of their list; nothing is scheduled or skipped but by the nodes
/// themselves. A fault leaves by exception, with buffers as they are then.
struct StmtNodeBase {
  virtual ~StmtNodeBase() = default;
  virtual void exec(Machine& m) const = 0;
};
using NodePtr = std::unique_ptr<const StmtNodeBase>;
using NodeList = std::vector<NodePtr>;

enum class StoreOp : uint8_t { kAssign, kAdd, kMax, kMin };
/// How a reducing store combines; kAssign has no such operation.
DataOp combining(StoreOp op);
/// Computes rhs first, then the place: the order in which the language reads and writes.
struct StoreNode final : StmtNodeBase {
  StoreOp op;
  Rounding storage;     // of the element's type
  Rounding arithmetic;  // of +=, max= and min=
  Access target;
  DataPtr rhs;
  void exec(Machine& m) const override;
};
struct Strip;
/// Runs its strip when there is one and this entry allows it, else the body iteration by iteration.
/// Both leave the same bits in the buffers.
struct ForNode final : StmtNodeBase {
  int slot;
  std::string name;
  IntVal lo, hi;
  NodeList body;
  std::unique_ptr<Strip> strip;  // set when the body can run many iterations at a time
  ForNode();
  ~ForNode() override;
  void exec(Machine& m) const override;
};
struct IfNode final : StmtNodeBase {
  IntVal cond;
  NodeList body, orelse;
  void exec(Machine& m) const override;
};
/// Evaluates a control value once into a slot.
struct LetNode final : StmtNodeBase {
  int slot;
  IntVal value;
  void exec(Machine& m) const override;
};
/// Fails unless `cond` holds.
struct RequireNode final : StmtNodeBase {
  IntVal cond;
  InterpError::Kind kind;
  std::string message;
  IntVal shown;  // a value for the message's end
  bool has_shown = false;
  SourceLocation where;
  void exec(Machine& m) const override;
};
/// Fills the storage with poison at each execution, since contents start undefined each time.
struct AllocNode final : StmtNodeBase {
  int base;
  std::vector<IntVal> shape;
  std::string name;
  SourceLocation where;
  mutable std::vector<double> storage;  // one allocation is live at a time: calls are inlined
  void exec(Machine& m) const override;
};
/// Control or data, never both.
struct ConfigStoreNode final : StmtNodeBase {
  int slot;
  IntVal control;
  DataPtr data;  // null for control fields
  Rounding storage = Rounding::kNone;
  void exec(Machine& m) const override;
};
/// A scalar expression passed to a scalar formal: a temporary.
struct TemporaryNode final : StmtNodeBase {
  int base;
  DataPtr value;
  Rounding storage;
  mutable double cell = 0;
  void exec(Machine& m) const override;
};

inline void exec_all(const NodeList& list, Machine& m) {
  for (const NodePtr& n : list) n->exec(m);
}

// --- strips
// ---------------------------------------------------------------------------------------
/// A loop body of stores with linear addresses, run kChunk iterations at a time. Made when
/// compiled; whether a run may use it (bounds, aliasing) is decided at each entry.
struct Strip {
  static constexpr int kChunk = 128;
  enum class Kind : uint8_t { kLoad, kConst, kConfig, kOp, kSelect, kCast };
  /// One operation of a line, over kChunk iterations at once. Registers are numbered by position,
  /// each written once: an operation's operands stand before it.
  struct Op {
    Kind kind;
    DataOp op = DataOp::kAdd;
    Rounding rounding = Rounding::kNone;
    int a = -1, b = -1, c = -1, d = -1;  // registers; result register = position
    int access = -1;                     // kLoad
    double value = 0;                    // kConst
    int config = -1;                     // kConfig
    const IntVal* integer = nullptr;     // kCast: linear
  };
  /// One store of the body, and what is computed for it.
  struct Line {
    const StoreNode* store;
    std::vector<Op> ops;
    int result;
    int target;              // access number
    std::vector<int> loads;  // access numbers
  };
  std::vector<const Access*> accesses;
  std::vector<int64_t> steps;  // elements per iteration, by access
  std::vector<Line> lines;

  /// Null when the body cannot run in strips. It must be stores only, every address linear in the
  /// loop's variable, no read of what an earlier iteration of the same strip writes unless run()
  /// can tell them apart.
  static std::unique_ptr<Strip> make(const ForNode& loop);
  /// Runs iterations [lo, hi); false when this entry must take the slow way (nothing was done).
  bool run(Machine& m, const ForNode& loop, int64_t lo, int64_t hi) const;
};

/// What DataNode::emit writes to: the line that is being made.
struct StripBuilder {
  Strip& strip;
  Strip::Line& line;
  int slot;
  int add_access(const Access& a);  // -1 when not linear
  int add(Strip::Op op);
};

}  // namespace exotune::interp
