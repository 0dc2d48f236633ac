#include "core/library/hoisting.h"

#include "core/analysis/touched_names.h"
#include "core/library/inspection.h"

namespace exotune {

namespace {

// Statements that do not change with a loop, moved out in front of it. Those that may leave
// together do, by one proof: one at a time each would be proved against all that stay.
class Hoisting {
 public:
  Hoisting(ProcPtr p, Path loop) : p_(std::move(p)), loop_(std::move(loop)) {}

  Hoisted run() {
    for (int k = 0; k < size(p_); ++k)
      if (is_unchanging<Alloc>(k) && lift(k)) --k;
    std::vector<int> places;
    for (int k = 0; k < size(p_); ++k)
      if (is_unchanging<Call>(k) || is_unchanging<Assign>(k)) places.push_back(k);
    places = not_rewritten(*p_, loop_, places);
    if (places.empty() || never_runs()) return {std::move(p_), std::move(loop_)};
    // Whoever leaves, the loop keeps a statement.
    if (static_cast<int>(places.size()) == size(p_)) places.pop_back();
    (void)take(places);
    return {std::move(p_), std::move(loop_)};
  }

 private:
  int size(const ProcPtr& p) const { return static_cast<int>(body_of(*stmt_at(*p, loop_)).size()); }

  Path child(int k) const {
    Path out = loop_;
    out.push_back({Child::kBody, k});
    return out;
  }

  // Then nothing is left of what leaves it, and what stays would read what nobody writes.
  bool never_runs() const {
    const For& f = *stmt_at(*p_, loop_)->as<For>();
    return static_cast<bool>(prove(*p_, loop_, bin_op(BinOpKind::kLe, f.hi, f.lo)));
  }

  template <class T>
  bool is_unchanging(int k) const {
    const StmtPtr s = stmt_at(*p_, child(k));
    return s->as<T>() && !mentions(s, stmt_at(*p_, loop_)->as<For>()->iter);
  }

  bool lift(int k) {
    try {
      p_ = lift_alloc(p_, Cursor::stmt(p_, child(k)), 1);
    } catch (const SchedulingError&) {
      return false;
    }
    loop_ = sibling(loop_, 1);
    return true;
  }

  // The statements at these places leave, all at once or in halves; returns how many did. One that
  // does not commute with what stands before it, or changes what it reads, stays.
  int take(const std::vector<int>& places) {
    if (places.empty()) return 0;
    const int count = static_cast<int>(places.size());
    try {
      leave(gathered(places), count);
      return count;
    } catch (const SchedulingError&) {
      if (count == 1) return 0;
    }
    const auto middle = places.begin() + count / 2;
    const int left = take({places.begin(), middle});
    std::vector<int> later(middle, places.end());
    for (int& k : later) k -= left;
    return left + take(later);
  }

  // With the statements at these places in front of the others: each half by itself, then the
  // second's past what the first left. So most proofs are of few statements.
  ProcPtr gathered(const std::vector<int>& places) const {
    ProcPtr q = p_;
    gather(q, places, 0, places.size(), 0);
    return q;
  }
  // Those from `first` on, of the places [begin, end), go there.
  void gather(ProcPtr& q, const std::vector<int>& places, size_t begin, size_t end,
              int first) const {
    const int count = static_cast<int>(end - begin);
    if (places[end - 1] - first + 1 == count) return;  // side by side, and there already
    if (count == 1) return past(q, first, places[begin] - first, 1);
    const size_t middle = begin + (end - begin) / 2;
    gather(q, places, begin, middle, first);
    gather(q, places, middle, end, places[middle]);
    const int left = static_cast<int>(middle - begin);
    past(q, first + left, places[middle] - first - left, count - left);
  }
  // `count` statements that stand behind `others`, which begin at `first`, go in front of them.
  void past(ProcPtr& q, int first, int others, int count) const {
    if (others > 0) q = reorder_blocks(q, Cursor::block(q, child(first), others + count), others);
  }

  // The first `count` statements of the loop in `q` do.
  void leave(ProcPtr q, int count) {
    q = fission(q, Cursor::gap(q, child(count)), 1);
    const Cursor rest = Cursor::stmt(q, sibling(loop_, 1));
    p_ = remove_loop(q, Cursor::stmt(q, loop_));
    loop_ = forward(p_, rest).path();
  }

  ProcPtr p_;
  Path loop_;
};

}  // namespace

Hoisted hoisted_from(ProcPtr p, Path loop) { return Hoisting(std::move(p), std::move(loop)).run(); }

ProcPtr hoist_from_loop(ProcPtr p, const Where& loop) {
  Path path = loop.loop(p).path();
  return hoisted_from(std::move(p), std::move(path)).proc;
}

}  // namespace exotune
