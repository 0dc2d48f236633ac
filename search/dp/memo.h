#pragma once
// The memo table: what is known of each Spec at each limit. Start at SpecMemo; BoxMemo is the one
// the solver uses, PointMemo the plain one that tests compare it with.
//
// An entry is a box of limits. The best plans found with limits L need at most their peak P, so
// they are the best for every limit between P and L; that nothing was found with L holds for every
// limit below. A solver that stops at a bound leaves "complete up to this cost", which keeps
// pruning exact.
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "search/dp/actions.h"

namespace exotune {

/// What makes two plans different: not the order of moves with nothing in between, nor moves that
/// copy nothing, nor whether a tile was cut at once or in steps, nor how copies and boundaries are
/// done.
struct PlanIdentity {
  uint64_t run = 0;   // of the moves up to the next other action
  uint64_t rest = 0;  // of what follows the moves, or the tiles
  bool operator==(const PlanIdentity&) const = default;
};

/// One way to implement a Spec: an action, and which alternative of its main part it goes on with.
struct Alternative {
  PlanCost cost;
  DpAction action;
  uint8_t rank = 0;  // of the main part; the best of the others
  PlanIdentity identity;
  bool operator==(const Alternative&) const = default;
};

/// The best alternatives, no two of one identity, cheapest first; complete for costs up to
/// `complete_to`.
struct MemoValue {
  std::vector<Alternative> best;
  int64_t complete_to = kNoCost;

  bool operator==(const MemoValue&) const = default;
  /// Nothing can be built within the limits: known, and kept like any answer.
  bool infeasible() const { return best.empty() && complete_to >= kNoCost; }
  /// Does this answer a question for up to `k` plans of at most `bound`?
  bool answers(int64_t bound, int k) const {
    return complete_to >= bound || static_cast<int>(best.size()) >= k;
  }
};

/// For reports and tests; counting the boxes and points walks the whole table.
struct MemoStatistics {
  int64_t specs = 0;  // keys
  int64_t boxes = 0;
  int64_t values = 0;             // distinct
  int64_t infeasible = 0;         // boxes that say so
  int64_t lookups = 0, hits = 0;  // questions asked, and those answered
  double points = 0;              // Specs with limits that the boxes answer for
};
/// "12345 Specs, 23456 boxes, 98.7 Specs with limits a box, ..." on one line.
std::string str(const MemoStatistics& s);

/// For sections of a hundred instructions, in tables of many parts: half the cost of a mutex.
///
/// `held_` is tried without waiting a hundred times, then the thread gives way: with more threads
/// than cores the holder may not be running. Not recursive; hold it for a look-up or an insertion,
/// never while a Spec is worked out.
class SpinLock {
 public:
  void lock() {
    for (int spins = 0; held_.exchange(true, std::memory_order_acquire); ++spins)
      if (spins > 100) std::this_thread::yield();
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_ = false;
};

/// Threads: one at a time unless share(true) returned true. Values live as long as the memo, so
/// that answers may be pointers.
class SpecMemo {
 public:
  virtual ~SpecMemo() = default;
  /// The entry that covers the limits, if it answers; null otherwise. Valid until the memo goes.
  /// `bound` and `k` are what the caller can use: an entry that knows fewer plans, or only to a
  /// lower cost, is a miss. `solved_at`, when given, becomes the limits it was found with: its
  /// ranks count there.
  virtual const MemoValue* find(const Spec& spec, const Limits& limits, int64_t bound, int k,
                                Limits* solved_at = nullptr) = 0;
  /// Keeps what was found with these limits, complete to the value's `complete_to`; worse knowledge
  /// never replaces better. Returns what is known there now.
  virtual const MemoValue* put(const Spec& spec, const Limits& limits, MemoValue value) = 0;
  virtual MemoStatistics statistics() const = 0;
  /// From now on several threads ask and put at once, or (false) one again. False when it cannot.
  virtual bool share(bool) { return false; }
};

/// One entry for each Spec and limit asked for. Exact and slow: what tests compare BoxMemo with, on
/// the same questions.
class PointMemo final : public SpecMemo {
 public:
  const MemoValue* find(const Spec&, const Limits&, int64_t bound, int k,
                        Limits* solved_at) override;
  const MemoValue* put(const Spec&, const Limits&, MemoValue) override;
  MemoStatistics statistics() const override;

 private:
  struct Point {
    Spec spec;
    Limits limits;
    bool operator==(const Point&) const = default;
  };
  struct Hash {
    size_t operator()(const Point& p) const;
  };
  std::unordered_map<Point, const MemoValue*, Hash> points_;
  std::vector<std::unique_ptr<MemoValue>> values_;  // replaced ones too: callers may hold them
  int64_t lookups_ = 0, hits_ = 0;
};

/// Boxes behind a hash of the Spec; boxes of one value that make up a larger box become it. Lies in
/// parts by the hash, each with its lock for when it is shared; equal values of a part are stored
/// once.
class BoxMemo final : public SpecMemo {
 public:
  struct Box {
    Limits low, high;                  // both included, level by level
    const MemoValue* value = nullptr;  // of the memo; the same for all limits between
  };

  const MemoValue* find(const Spec&, const Limits&, int64_t bound, int k,
                        Limits* solved_at) override;
  /// The box is all limits between the largest peak of the plans found and `limits`: for each of
  /// them the same plans are the best. An infeasible value's box goes down to nothing.
  const MemoValue* put(const Spec&, const Limits&, MemoValue) override;
  MemoStatistics statistics() const override;
  bool share(bool shared) override {
    shared_ = shared;
    return true;
  }

  /// For each box of each Spec, in no order that means anything. For storage and tests; not while
  /// the memo is shared.
  void visit(const std::function<void(const Spec&, const Box&, const MemoValue&)>& f) const;
  /// A box as it was visited; values that are equal become one.
  void restore(const Spec& spec, const Limits& low, const Limits& high, MemoValue value);
  /// The boxes of one Spec, null when it was never asked; for tests of the joining.
  const std::vector<Box>* boxes(const Spec& spec) const;

 private:
  struct Entry {
    Spec spec;
    std::vector<Box> boxes;
  };
  // Of the hash, what its place does not say: most others are told apart without a look at them.
  struct Slot {
    uint32_t entry = 0;  // its index + 1; 0: none
    uint32_t tag = 0;
  };
  struct alignas(64) Part {
    /// One stored value for all that are equal.
    const MemoValue* intern(MemoValue value);
    /// Joins the box with neighbours of the same value, after dropping what it covers and knows
    /// better.
    void add(const Spec& spec, size_t hash, Box box);
    /// By open addressing over (index, tag); null when the Spec was never put.
    const Entry* entry(const Spec& spec, size_t hash) const;
    /// The same, made when it is new; grows the slots.
    Entry& entry_for(const Spec& spec, size_t hash);

    SpinLock lock;
    std::deque<Entry> entries;  // growing moves none: find() hands out what they point to
    std::vector<Slot> slots;    // open addressing
    std::vector<std::unique_ptr<MemoValue>> values;
    std::unordered_multimap<uint64_t, const MemoValue*> interned;  // the values, by hash
    int64_t lookups = 0, hits = 0;
  };
  // 64 parts, each with its own lock: eight solvers seldom meet.
  static constexpr int kPartBits = 6;  // the upper bits of the hash pick the part
  const Part& part(size_t hash) const { return parts_[hash >> (64 - kPartBits)]; }
  Part& part(size_t hash) { return parts_[hash >> (64 - kPartBits)]; }
  std::unique_lock<SpinLock> lock(Part& part) const {
    return shared_ ? std::unique_lock(part.lock) : std::unique_lock<SpinLock>();
  }

  std::array<Part, 1 << kPartBits> parts_;
  bool shared_ = false;
};

}  // namespace exotune
