#pragma once
// The reference interpreter: what it computes IS the meaning of a proc. The checker, the generated
// C and every simulator must agree with it. Start at `run`; a proc that runs many times is compiled
// once into a `Program`.
//
// What it defines beyond docs/language.md:
//   - Every element is a double, which holds each element type exactly; an element never written is
//     poison (a NaN with a payload of its own, so copying a buffer keeps it). It may be read, and
//     what is computed from it is poison: whole vectors are computed where some lanes are wanted. A
//     result that is poison is wrong. PoisonPolicy::kError finds the first such read.
//   - Rounded mode: each operation on f32 rounds to f32, on f64 to f64; f16 and bf16 are storage
//     formats, computed in f32 and rounded to nearest even when stored; each operation on an
//     integer type wraps around; `/` on integer data truncates, as C does. R counts as f32.
//   - Exact mode: operations on float types are done in double and never rounded to the type, so
//     that two programs equal over the reals give equal results on small integers, and results that
//     differ by 1e-12 relative otherwise. Integer types wrap in both modes.
//   - An assignment converts: float to integer truncates toward zero (then wraps), integer to float
//     rounds as the mode says.
//   - `par` loops run in order. An instruction runs its body. `select` and the comparison it makes
//     read only what they need.
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/ir/proc.h"

namespace exotune {

/// The value of an element that was never written. Compare with is_poison, never with ==.
double poison_value();
bool is_poison(double v);

/// A dense row-major tensor; a scalar has an empty shape and one element.
struct Buffer {
  ScalarType type = ScalarType::kR;
  std::vector<int64_t> shape;
  std::vector<double> data;

  Buffer() = default;
  /// All elements poison.
  Buffer(ScalarType type, std::vector<int64_t> shape);
  /// `data` in row-major order; rounded to `type` when it is not exact there.
  Buffer(ScalarType type, std::vector<int64_t> shape, std::vector<double> data);
  static Buffer scalar(ScalarType type, double value) { return Buffer(type, {}, {value}); }

  double& at(const std::vector<int64_t>& index);
  double at(const std::vector<int64_t>& index) const;
};

/// A strided part of a buffer, for window formals. Strides and offset count elements.
struct WindowValue {
  Buffer* buffer = nullptr;
  int64_t offset = 0;
  std::vector<int64_t> strides, shape;
};
/// int64_t: a control argument (bool: 0 or 1). Buffer*: a scalar or dense tensor, or all of it as a
/// window. Buffers are borrowed and written in place.
using ArgValue = std::variant<int64_t, Buffer*, WindowValue>;

/// Configuration state by "Config.field"; control fields hold int64_t, data fields double. A field
/// that is missing has never been written: reading it is an error.
using ConfigState = std::map<std::string, std::variant<int64_t, double>>;

enum class Arithmetic : uint8_t { kRounded, kExact };
enum class PoisonPolicy : uint8_t {
  kError,      // reading an uninitialised element raises InterpError(kPoison)
  kPropagate,  // what is computed from it is poison; poison in a comparison makes the result poison
};

struct InterpOptions {
  Arithmetic arithmetic = Arithmetic::kRounded;
  PoisonPolicy poison = PoisonPolicy::kPropagate;
  int64_t step_limit = 0;         // statements executed; 0 = no limit
  ConfigState* config = nullptr;  // in and out; null = starts empty and is dropped
};

/// What a proc did wrong when it ran: located at the statement or expression.
class InterpError : public Error {
 public:
  enum class Kind : uint8_t {
    kArgument,     // number, kind, type or shape of the arguments given to `run`
    kSize,         // a size or an allocation's extent that is not positive
    kAssert,       // a precondition, of the proc or of a callee
    kOutOfBounds,  // an access or a window outside its tensor
    kPoison,       // an uninitialised element was read
    kConfig,       // a config field was read that no one has written
    kDivision,     // integer data divided by zero
    kSteps,        // the step limit, or the thread's deadline (DeadlineScope) was over
    kUnsupported,  // an operation the types do not have
  };
  InterpError(Kind kind, Diagnostic d) : Error(std::move(d)), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};
const char* name_of(InterpError::Kind kind);  // "out of bounds", ...

/// A proc compiled for running: loops over straight-line affine code do some 10^8 element
/// operations a second. Holds no state between runs; one Program may not run in two threads at
/// once.
class Program {
 public:
  /// Throws InterpError(kUnsupported) for code that has no meaning.
  explicit Program(const Proc& proc, Arithmetic arithmetic = Arithmetic::kRounded);
  ~Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;

  /// One value per formal, in order. `options.arithmetic` is ignored: the constructor chose.
  /// Throws InterpError; buffers then hold what was written so far.
  void run(const std::vector<ArgValue>& args, const InterpOptions& options = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Compiles and runs once.
void run(const Proc& proc, const std::vector<ArgValue>& args, const InterpOptions& options = {});

// --- values for tests and tuning -----------------------------------------------------------------
/// Rounds to what an element of `type` can hold (integers truncate and wrap); kR as f32.
double round_to(ScalarType type, double v);

/// The value of a control expression over `env`. InterpError(kArgument) when a variable is missing.
int64_t eval_control(const ExprPtr& e, const std::map<Sym, int64_t>& env);

/// Arguments with their storage: `values` point into `buffers`.
struct Arguments {
  std::vector<ArgValue> values;
  std::vector<std::unique_ptr<Buffer>> buffers;  // one per data argument, in order of arguments
};
struct FillOptions {
  int64_t magnitude = 3;         // integers in [-magnitude, magnitude]; unsigned types from 0
  bool strided_windows = false;  // window formals get padded strides where asserts allow it
};
/// Storage of the right shapes for `proc` with control arguments as given by name, every data
/// element (outputs too) a small integer. The same for the same names, shapes and seed.
/// InterpError(kArgument) when a control argument has no value.
Arguments make_arguments(const Proc& proc, const std::map<std::string, int64_t>& control,
                         uint64_t seed, const FillOptions& options = {});
/// The same arguments with storage of their own.
Arguments copy_of(const Arguments& a);

/// "" when the buffers hold the same values (poison equal to poison), else the first difference in
/// words. |a - b| <= tolerance * max(1, |a|, |b|).
std::string first_difference(const Buffer& a, const Buffer& b, double tolerance = 0);
std::string first_difference(const Arguments& a, const Arguments& b, double tolerance = 0);

}  // namespace exotune
