#pragma once
// The memory a candidate is called with, laid out so that every stray access shows. Start at
// GuardedArguments: make, fill, pass pointers(), then check.
#include <cstdint>
#include <string>
#include <vector>

#include "runners/candidate.h"
#include "runners/runner.h"
#include "runners/test_case.h"

namespace exotune {

/// A TestCase as bytes: made once, copied into every child's memory. Holes between strides hold
/// guard words; elements without an input hold poison (NaN, or a pattern for integers), in two
/// variants so that whatever depends on it differs between two runs.
struct PreparedCase {
  struct Arg {
    std::vector<uint8_t> images[2];  // by poison variant; the second is empty where it is equal
    std::vector<uint8_t> expected;   // span with holes; empty = not compared
    std::vector<double> expected_values;  // logical elements
    std::vector<double> slack;            // of each of them; empty: none
    /// Before a run, by poison variant.
    const std::vector<uint8_t>& image(int variant) const {
      return images[images[variant].empty() ? 0 : variant];
    }
  };
  std::vector<ArgSpec> specs;
  std::vector<Arg> args;
  double tolerance = 0;
};

/// InputError when `test` does not fit the arguments (wrong counts of elements).
PreparedCase prepare(const std::vector<ArgSpec>& args, const TestCase& test);
/// The same with inputs alone: nothing is compared.
PreparedCase prepare_inputs(const std::vector<ArgSpec>& args,
                            const std::vector<std::vector<double>>& inputs);

/// What was found wrong; kOk and "" when nothing.
struct Finding {
  TrialStatus status = TrialStatus::kOk;
  std::string cause;
  bool ok() const { return status == TrialStatus::kOk; }
};

/// One instance is made in the child that runs the candidate: everything it maps ends with the
/// child. `prepared` is borrowed. Cost: a mapping and a copy of each argument; fill() copies again.
class GuardedArguments {
 public:
  static constexpr size_t kLine = 64;  // bytes of a cache line
  enum class Placement {
    kFlushEnd,    // the last byte lies before an inaccessible page
    kFlushStart,  // the first byte lies after one
    kTiming,      // 64-byte aligned, starts spread over cache sets
  };
  /// Timing: `variation` 0 is as above. Of others every third starts all arguments 16 bytes into a
  /// page, as malloc does with large ones; every third at one line of their pages, as callers who
  /// align them do (what is stored a multiple of a page behind a load delays it), large ones on
  /// huge pages, which the others have only if the system gives them unasked; the rest spread in
  /// another way, every other time off the lines. `further`: bytes by which all start farther into
  /// their pages. An argument that is `in_lines` begins a line.
  GuardedArguments(const PreparedCase& prepared, Placement placement, int variation = 0,
                   size_t further = 0);
  ~GuardedArguments();
  GuardedArguments(const GuardedArguments&) = delete;
  GuardedArguments& operator=(const GuardedArguments&) = delete;

  /// Inputs, poison of `variant`, guard words.
  void fill(int variant);
  /// One pointer per argument: to the value (control), to the data (scalar, tensor, context), to
  /// the struct (window).
  void** pointers() { return pointers_.data(); }
  /// After a call on memory filled with `variant`.
  Finding check(int variant) const;
  /// The written arguments' bytes, to compare two runs.
  std::vector<std::vector<uint8_t>> outputs() const;
  /// The same, one after the other.
  void copy_outputs(uint8_t* to) const;
  /// The argument whose inaccessible pages hold `address`, and on which side: -1 / +1; 0 = none.
  int guard_side(const void* address, size_t* arg) const;

  struct Range {
    uint8_t* data;
    size_t bytes;
  };
  /// The data of every argument: what a cold run flushes.
  std::vector<Range> ranges() const;

 private:
  struct Slot {
    uint8_t* map = nullptr;  // with the inaccessible pages
    size_t map_bytes = 0;
    uint8_t* body = nullptr;  // the accessible part
    size_t body_bytes = 0;
    uint8_t* data = nullptr;  // the argument, within the body
    size_t data_bytes = 0;
  };
  /// How far into its page argument `a` begins when timing.
  static size_t skew_of(size_t a, size_t variation, size_t page);
  /// A page-aligned place for the argument's body, inaccessible pages on both sides.
  static void map_slot(Slot& slot, size_t skew, bool huge, size_t page);
  /// What must not have changed: inputs, holes between strides, guard words.
  Finding check_kept(size_t a, int variant) const;
  /// What must have been written, against the expected values; poison left over is named as such.
  Finding check_output(size_t a, int variant) const;
  /// "C[3, 5]", for messages.
  std::string element_name_at(size_t a, int64_t element) const;

  const PreparedCase& prepared_;
  std::vector<Slot> slots_;
  std::vector<std::vector<uint64_t>> values_;  // control values and window structs
  std::vector<void*> pointers_;
};

}  // namespace exotune
