#include "search/joined_rows.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/ir/normal_form.h"
#include "search/moves/components.h"
#include "search/moves/parts.h"
#include "search/outline/outline.h"

namespace exotune {

namespace {

constexpr int64_t kLongRow = 16;  // vectors: of longer rows what is no whole one is little
constexpr int kMostJoins = 16;    // joins in all: dimensions of images, of each of a few buffers

// Two dimensions of a buffer, the first of them.
using Place = std::pair<Sym, size_t>;
// Loops of an outline, one the only statement of the other.
struct Rows {
  int outer = -1, inner = -1;
  friend bool operator<(const Rows& a, const Rows& b) { return a.inner < b.inner; }
};

class Joining {
 public:
  Joining(const Schedule& s, const std::map<std::string, int64_t>& sizes, const Target& target)
      : s_(s), o_(outline_of(*s.proc, sizes)), target_(target) {}

  // Joined once, if there is something to be joined.
  std::optional<Schedule> run() {
    find_rows();
    // What one refuses takes its buffers from others.
    for (bool changed = true; changed;) {
      const size_t before = rows_.size();
      find_places();
      std::erase_if(rows_, [&](const Rows& r) { return !joinable(r); });
      changed = rows_.size() != before;
    }
    const auto worth =
        std::find_if(rows_.rbegin(), rows_.rend(), [&](const Rows& r) { return is_worth_it(r); });
    if (worth == rows_.rend()) return std::nullopt;
    return join(together_with(*worth));
  }

 private:
  const OutlineLoop& loop(int k) const { return o_.loops[static_cast<size_t>(k)]; }

  void find_rows() {
    for (int k = 0; k < static_cast<int>(o_.loops.size()); ++k) {
      const OutlineLoop& inner = loop(k);
      if (inner.parent < 0 || !is_plain(inner) || !inner.extent || !as_int(inner.hi) ||
          !is_plain(loop(inner.parent)))
        continue;
      if (only_loop_in(*stmt_at(*s_.proc, loop(inner.parent).path)->as<For>()))
        rows_.push_back({inner.parent, k});
    }
  }
  static bool is_plain(const OutlineLoop& l) {
    return as_int(l.lo) == 0 && l.bounded_by.empty() && !l.in_condition;
  }

  static bool is_iterator(const ExprPtr& e, Sym iter) {
    return equal(e, read_var(iter, ScalarType::kIndex));
  }
  // The dimensions in which an access moves along with the rows; nothing: not as they are joined.
  std::optional<size_t> rows_in(const OutlineAccess& a, const Rows& r) const {
    const std::vector<ExprPtr>& idx = a.what.idx;
    for (size_t d = 0; d + 1 < idx.size(); ++d)
      if (is_iterator(idx[d], loop(r.outer).iter) && is_iterator(idx[d + 1], loop(r.inner).iter))
        return d;
    return std::nullopt;
  }
  // In how many of an access's dimensions one of the two loops is.
  int64_t dimensions_of(const OutlineAccess& a, const Rows& r) const {
    return std::count_if(a.what.idx.begin(), a.what.idx.end(), [&](const ExprPtr& e) {
      return mentions(e, loop(r.outer).iter) || mentions(e, loop(r.inner).iter);
    });
  }
  static bool is_in(const OutlineAccess& a, int k) {
    return std::find(a.loops.begin(), a.loops.end(), k) != a.loops.end();
  }

  // Places at which every access moves with rows that are as long as the dimension.
  void find_places() {
    places_.clear();
    std::set<Place> others;
    for (const OutlineAccess& a : o_.accesses) {
      std::set<size_t> here;
      for (const Rows& r : rows_)
        if (is_in(a, r.inner))
          if (const auto d = rows_in(a, r); d && extent(a, *d + 1) == loop(r.inner).extent) {
            here.insert(*d);
            places_.insert({a.what.buffer, *d});
          }
      for (size_t d = 0; d + 1 < a.what.idx.size(); ++d)
        if (!here.count(d) || a.what.buffer != a.what.through) others.insert({a.what.buffer, d});
    }
    for (const Place& p : others) places_.erase(p);
  }
  std::optional<int64_t> extent(const OutlineAccess& a, size_t d) const {
    const std::optional<ScopeEntry> entry = lookup(*s_.proc, a.what.stmt, a.what.buffer);
    if (!entry || d >= entry->type.shape.size() || entry->type.window) return std::nullopt;
    return as_int(entry->type.shape[d]);
  }

  bool joinable(const Rows& r) const {
    return std::all_of(o_.accesses.begin(), o_.accesses.end(), [&](const OutlineAccess& a) {
      if (!is_in(a, r.inner)) return true;
      const int64_t moved = dimensions_of(a, r);
      const std::optional<size_t> d = rows_in(a, r);
      return moved == 0 || (moved == 2 && d && places_.count({a.what.buffer, *d}));
    });
  }

  // Elements of the rows lie side by side, and vectors do not fit them.
  bool is_worth_it(const Rows& r) const {
    int64_t lanes = 0;
    for (const OutlineAccess& a : o_.accesses)
      if (const auto d = rows_in(a, r); is_in(a, r.inner) && d && *d + 2 == a.what.idx.size()) {
        const int64_t of_it = target_.lanes_of(a.scalar);
        lanes = lanes ? std::min(lanes, of_it) : of_it;
      }
    const int64_t length = *loop(r.inner).extent;
    return lanes > 1 && loop(r.outer).extent != 1 && length % lanes != 0 &&
           length < kLongRow * lanes;
  }

  // Rows that share a buffer with `first` are joined with it.
  std::pair<std::set<Rows>, std::set<Place>> together_with(const Rows& first) const {
    std::set<Rows> rows = {first};
    std::set<Place> places;
    for (size_t before = 0; before != rows.size() + places.size();) {
      before = rows.size() + places.size();
      for (const Rows& r : rows_)
        for (const OutlineAccess& a : o_.accesses)
          if (const auto d = rows_in(a, r); d && is_in(a, r.inner)) {
            const Place here{a.what.buffer, *d};
            if (rows.count(r)) places.insert(here);
            if (places.count(here)) rows.insert(r);
          }
    }
    return {std::move(rows), std::move(places)};
  }

  std::optional<Schedule> join(const std::pair<std::set<Rows>, std::set<Place>>& what) const {
    Schedule out = s_;
    for (const auto& [buffer, dim] : what.second) {
      const int d = static_cast<int>(dim);
      const std::optional<Cursor> local = allocation_of(buffer);
      if (local ? apply(out, "mult_dim", {Value(*local), Value(d), Value(d + 1)})
                : apply(out, "join_dims", {Value(buffer.name()), Value(d)}))
        return std::nullopt;
    }
    for (const Rows& r : what.first) {
      const std::string name = loop(r.outer).iter.name() + loop(r.inner).iter.name();
      if (apply(out, "mult_loops", {Value(Cursor::stmt(s_.proc, loop(r.outer).path)), Value(name)}))
        return std::nullopt;
    }
    if (apply(out, "simplify", {}) || divisions(*out.proc) > divisions(*s_.proc))
      return std::nullopt;
    return out;
  }
  // Nothing: it is an argument.
  std::optional<Cursor> allocation_of(Sym buffer) const {
    for (const Path& path : all_stmt_paths(*s_.proc))
      if (const Alloc* a = stmt_at(*s_.proc, path)->as<Alloc>(); a && a->name == buffer)
        return Cursor::stmt(s_.proc, path);
    return std::nullopt;
  }
  // Where a row or a column is still asked for, an element's number is divided by the rows' length.
  static int divisions(const Proc& p) {
    int found = 0;
    const std::function<void(const ExprPtr&)> look = [&](const ExprPtr& e) {
      const BinOp* op = e->as<BinOp>();
      found += op && is_integer_control(e->type) &&
               (op->op == BinOpKind::kDiv || op->op == BinOpKind::kMod);
      for (const ExprPtr& part : expr_children(*e)) look(part);
    };
    for_each_expr(p.body, look);
    return found;
  }

  const Schedule& s_;
  const Outline o_;
  const Target& target_;
  std::vector<Rows> rows_;
  std::set<Place> places_;
};

bool is_plain_nest(const Proc& p) {
  bool plain = true;
  for_each_stmt(p.body,
                [&](const StmtPtr& s) { plain = plain && !s->as<Call>() && !s->as<WindowStmt>(); });
  return plain;
}

}  // namespace

Schedule rows_joined(const Schedule& s, const std::map<std::string, int64_t>& sizes,
                     const Target& target) {
  Schedule out = s;
  if (!target.vector_memory || !is_plain_nest(*s.proc)) return out;
  for (int round = 0; round < kMostJoins; ++round) {
    std::optional<Schedule> joined = Joining(out, sizes, target).run();
    if (!joined) break;
    out = std::move(*joined);
  }
  return out;
}

namespace {

// How many of the last dimensions of an argument are the numbers of a record; fewer than two: none
// that are to be joined.
int dimensions_of_record(const Type& type) {
  if (type.window) return 0;
  const int rank = type.rank();
  int64_t numbers = 1;
  int count = 0;
  while (count + 1 < rank) {
    const auto n = as_int(type.shape[static_cast<size_t>(rank - 1 - count)]);
    if (!n || numbers * *n > kMostOfRecord) break;
    numbers *= *n;
    ++count;
  }
  return count;
}

// Loops around an access either choose the record, and none of its numbers, or are short.
bool is_of_record(const Outline& o, const OutlineAccess& a, int dimensions) {
  const size_t first = a.what.idx.size() - static_cast<size_t>(dimensions);
  const auto among = [&](size_t from, size_t to, Sym iter) {
    for (size_t d = from; d < to; ++d)
      if (mentions(a.what.idx[d], iter)) return true;
    return false;
  };
  return std::all_of(a.loops.begin(), a.loops.end(), [&](int k) {
    const OutlineLoop& l = o.loops[static_cast<size_t>(k)];
    if (l.extent && *l.extent < kShortLoop) return true;
    return among(0, first, l.iter) && !among(first, a.what.idx.size(), l.iter);
  });
}

}  // namespace

Schedule records_joined(const Schedule& s, const std::map<std::string, int64_t>& sizes,
                        const Target& target) {
  Schedule out = s;
  if (!target.vector_memory || !is_plain_nest(*s.proc)) return out;
  const Outline o = outline_of(*s.proc, sizes);
  for (const Arg& a : s.proc->args) {
    const int dimensions = a.type.is_tensor() ? dimensions_of_record(a.type) : 0;
    bool all = dimensions > 1, some = false;
    for (const OutlineAccess& access : o.accesses)
      if (access.what.buffer == a.name) {
        some = true;
        all = all && is_of_record(o, access, dimensions);
      }
    const int64_t first = a.type.rank() - dimensions;
    for (int k = 1; all && some && k < dimensions; ++k)
      if (apply(out, "join_dims", {Value(a.name.name()), Value(first)})) break;
  }
  return out;
}

}  // namespace exotune
