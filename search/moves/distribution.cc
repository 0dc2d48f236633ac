#include "search/moves/distribution.h"

#include <algorithm>
#include <set>

#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/library/inspection.h"
#include "search/moves/parts.h"

namespace exotune {

namespace {

Path child(Path path, Child branch, int k) {
  path.push_back({branch, k});
  return path;
}

constexpr size_t kDeepEnough = 3;     // of rows, columns and a sum
constexpr int64_t kFewElements = 16;  // of a point: fewer than a row of any length worth a vector
constexpr int kMostReordered = 6;     // statements of a body that change places: each asks the core

class Distribution {
 public:
  Distribution(Schedule s, bool expand) : s_(std::move(s)), expand_(expand) {}

  Schedule run() {
    for (int k = static_cast<int>(s_.proc->body.size()) - 1; k >= 0; --k)
      split({{Child::kBody, k}});
    return std::move(s_);
  }

 private:
  StmtPtr at(const Path& path) const { return stmt_at(*s_.proc, path); }
  int size(const Path& path) const { return static_cast<int>(body_of(*at(path)).size()); }

  void split(const Path& path) {
    for (int k = size(path) - 1; k >= 0; --k) split(child(path, Child::kBody, k));
    if (!at(path)->as<For>() || size(path) < 2) return;
    const bool mixed = mixes_widths(path);
    if (!mixed && !holds_gap(path)) return;
    Path loop = path;
    if (mixed)
      expand_allocations(loop, used_across_widths(path));
    else if (expand_)
      expand_allocations(loop, std::nullopt);
    Schedule apart = s_;
    const Cuts cuts = cut(apart, loop);
    if (cuts.refused > 0) in_another_order(loop, cuts, apart);
    s_ = std::move(apart);
  }

  bool holds_gap(const Path& loop) const {
    bool any = false;
    for (int k = 1; k < size(loop); ++k) any = any || worth_it(*s_.proc, loop, k);
    return any;
  }

  struct Cuts {
    int made = 0, refused = 0;
  };
  // Fission at every gap of the loop's body. A refusal is an answer: these belong together.
  Cuts cut(Schedule& s, const Path& loop) const {
    Cuts out;
    for (int k = static_cast<int>(body_of(*stmt_at(*s.proc, loop)).size()) - 1; k >= 1; --k) {
      const Path before = child(loop, Child::kBody, k - 1);
      if (stmt_at(*s.proc, before)->as<Alloc>() || !worth_it(*s.proc, loop, k)) continue;
      ++(apply(s, "fission", {Value(Cursor::stmt(s.proc, before))}) ? out.refused : out.made);
    }
    return out;
  }

  // One statement behind all that follow it, where the core lets it pass them and the loop then
  // comes apart in more places: what adds to later rows of an array that each row begins by
  // scaling.
  void in_another_order(const Path& loop, Cuts best, Schedule& apart) const {
    const int statements = size(loop);
    if (statements > kMostReordered) return;
    for (int k = 0; k + 1 < statements; ++k) {
      Schedule tried = s_;
      bool passes = holds_loop(at(child(loop, Child::kBody, k)));
      for (int to = k; passes && to + 1 < statements; ++to)
        passes = !apply(tried, "reorder_stmts",
                        {Value(Cursor::block(tried.proc, child(loop, Child::kBody, to), 2))});
      if (!passes) continue;
      const Cuts cuts = cut(tried, loop);
      if (cuts.made <= best.made) continue;
      best = cuts;
      apart = std::move(tried);
    }
  }

  // Its statements write elements of different widths, and vectors along it have as many lanes as
  // the widest: what is narrower has instructions for more.
  bool mixes_widths(const Path& loop) const {
    std::set<int64_t> widths;
    for (int k = 0; k < size(loop); ++k) {
      const Path path = child(loop, Child::kBody, k);
      if (holds_loop(at(path))) return false;
      widths.insert(bytes_written(*s_.proc, path));
    }
    widths.erase(0);
    return widths.size() > 1;
  }
  // Between a statement and what follows it, allocations aside: those are the latter's.
  static bool changes_width(const Proc& p, const Path& loop, int gap) {
    const int64_t before = bytes_written(p, child(loop, Child::kBody, gap - 1));
    const int end = static_cast<int>(body_of(*stmt_at(p, loop)).size());
    while (gap < end && stmt_at(p, child(loop, Child::kBody, gap))->as<Alloc>()) ++gap;
    const int64_t after = gap < end ? bytes_written(p, child(loop, Child::kBody, gap)) : 0;
    return before != 0 && after != 0 && before != after;
  }
  // What the loop allocates and needs behind a change of width, too.
  std::set<Sym> used_across_widths(const Path& loop) const {
    std::set<Sym> made, out;
    for (int k = 0, allocated = 0; k < size(loop); ++k) {
      const StmtPtr s = at(child(loop, Child::kBody, k));
      if (k > 0 && changes_width(*s_.proc, loop, k))
        for (; allocated < k; ++allocated)
          if (const auto* a = at(child(loop, Child::kBody, allocated))->as<Alloc>())
            made.insert(a->name);
      for (Sym name : made)
        if (mentions(s, name)) out.insert(name);
    }
    return out;
  }
  // 0: it writes no element of data.
  static int64_t bytes_written(const Proc& p, const Path& path) {
    const StmtPtr s = stmt_at(p, path);
    const auto* a = s->as<Assign>();
    const auto* r = s->as<Reduce>();
    if (!a && !r) return 0;
    const std::optional<ScopeEntry> entry = lookup(p, path, a ? a->name : r->name);
    return entry && is_data(entry->type.scalar) ? bytes_of(entry->type.scalar) : 0;
  }

  // A nest on one side of the gap; elements of different widths; or two sums into different arrays,
  // each a product of its own.
  bool worth_it(const Proc& p, const Path& loop, int gap) const {
    const Block& body = body_of(*stmt_at(p, loop));
    const StmtPtr &before = body[static_cast<size_t>(gap) - 1],
                  &after = body[static_cast<size_t>(gap)];
    if (holds_loop(after) || holds_loop(before)) return true;
    if (changes_width(p, loop, gap)) return true;
    const Reduce *one = before->as<Reduce>(), *other = after->as<Reduce>();
    return expand_ && loop.size() >= kDeepEnough && one && other && one->name != other->name;
  }

  // All of them, or those of the names.
  void expand_allocations(Path& loop, const std::optional<std::set<Sym>>& names) {
    const For& f = *at(loop)->as<For>();
    const std::vector<ScopeEntry> scope = scope_at(*s_.proc, child(loop, Child::kBody, 0));
    const std::string extent = str(greatest_bound(s_.proc, f.hi, loop), scope),
                      index = str(read_var(f.iter, ScalarType::kIndex), scope);
    for (int k = 0; k < size(loop); ++k) {
      const Path path = child(loop, Child::kBody, k);
      const auto* allocation = at(path)->as<Alloc>();
      if (!allocation || (names && names->count(allocation->name) == 0)) continue;
      Schedule tried = s_;
      const Cursor alloc = Cursor::stmt(s_.proc, path);
      const Alloc before = *allocation;
      if (apply(tried, "expand_dim", {Value(alloc), Value(extent), Value(index)})) continue;
      if (apply(tried, "lift_alloc", {Value(alloc)})) continue;
      // What a point has a few of: those of all points side by side, each after the other.
      if (expanded_.insert(before.name).second && is_small(before.type))
        (void)!apply(tried, "rearrange_dim", {Value(alloc), first_last(before.type.rank() + 1)});
      s_ = std::move(tried);
      ++loop.back().index;  // the allocation stands in front of it now
      --k;
    }
  }

  static bool is_small(const Type& type) {
    int64_t elements = 1;
    for (const ExprPtr& extent : type.shape) {
      const std::optional<int64_t> n = as_int(extent);
      if (!n || *n > kFewElements) return false;
      elements *= *n;
    }
    return type.is_tensor() && elements <= kFewElements;
  }
  // [1, 2, 0]
  static Value first_last(size_t rank) {
    std::vector<int64_t> order;
    for (size_t k = 1; k < rank; ++k) order.push_back(static_cast<int64_t>(k));
    order.push_back(0);
    return Value::ints(order);
  }

  Schedule s_;
  const bool expand_;
  std::set<Sym> expanded_;  // allocations that have a dimension of a loop already
};

}  // namespace

Schedule distribute(Schedule s, bool expand) { return Distribution(std::move(s), expand).run(); }

Schedule fuse_neighbours(Schedule s) {
  for (int k = 0; k + 1 < static_cast<int>(s.proc->body.size());) {
    const Path first = {{Child::kBody, k}}, second = {{Child::kBody, k + 1}};
    const bool loops = stmt_at(*s.proc, first)->as<For>() && stmt_at(*s.proc, second)->as<For>();
    if (!loops ||
        apply(s, "fuse", {Value(Cursor::stmt(s.proc, first)), Value(Cursor::stmt(s.proc, second))}))
      ++k;
  }
  return s;
}

}  // namespace exotune
