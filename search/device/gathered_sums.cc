#include "search/device/gathered_sums.h"

#include <algorithm>
#include <map>

#include "core/cursor/provenance.h"
#include "core/library/inspection.h"

namespace exotune {

namespace {

class Gathering {
 public:
  Gathering(const Schedule& start, const Cursor& sum, const PassInstruction& pass)
      : s_(start), sum_(sum), pass_(pass), target_(sum.as<Reduce>().name) {}

  std::optional<Schedule> run() {
    const bool made = find_window() && tile() && widen() && part() && merge();
    return made ? std::optional(std::move(s_)) : std::nullopt;
  }

 private:
  bool step(const std::string& op, ValueList args) { return !apply(s_, op, std::move(args)); }
  static std::string name_of(const Cursor& loop) { return loop.as<For>().iter.name(); }
  std::vector<Cursor> around() const { return enclosing_loops(forward(s_.proc, sum_)); }
  Cursor loop(const std::string& name) const {
    for (const Cursor& c : around())
      if (name_of(c) == name) return c;
    return {};
  }
  int64_t extent(const std::string& name) const {
    return literal_extent(loop(name).as<For>()).value_or(0);
  }
  std::string fresh(std::string name) const {
    while (loop(name).valid()) name += "t";
    return name;
  }
  Cursor alloc() const {
    for (const Path& path : all_stmt_paths(*s_.proc))
      if (const Alloc* a = stmt_at(*s_.proc, path)->as<Alloc>(); a && a->name == target_)
        return Cursor::stmt(s_.proc, path);
    return {};
  }

  // The window's loops stand alone in each other; what gathers stands beside the outermost.
  bool find_window() {
    const Cursor at = alloc();
    if (!at.valid() || !sum_.as<Reduce>().idx.empty()) return false;
    std::vector<Cursor> loops = enclosing_loops(at);
    bool beside = false;
    while (!loops.empty() && !beside) {
      beside = block_at(*s_.proc, loops.back().path()).size() > 1;
      window_.insert(window_.begin(), name_of(loops.back()));
      loops.pop_back();
    }
    const size_t n = pass_.loops.size();
    if (!beside || window_.size() != pass_.window || loops.size() < n) return false;
    for (size_t k = loops.size() - n; k < loops.size(); ++k) rows_.push_back(name_of(loops[k]));
    const std::vector<Cursor> all = around();
    if (all.size() <= loops.size() + window_.size()) return false;
    summed_ = name_of(all[loops.size() + window_.size()]);
    return find_slides(all);
  }

  // Which of the instruction's loops a window slides along: a subscript has both iterators.
  bool find_slides(const std::vector<Cursor>& all) {
    std::map<std::string, Sym> iters;
    for (const Cursor& c : all) iters.emplace(name_of(c), c.as<For>().iter);
    const std::vector<ExprPtr> subscripts = subscripts_beside_sum();
    for (const std::string& v : window_)
      for (const std::string& row : rows_)
        for (const ExprPtr& e : subscripts)
          if (mentions(e, iters.at(v)) && mentions(e, iters.at(row))) slides_.emplace(row, v);
    return true;
  }
  std::vector<ExprPtr> subscripts_beside_sum() const {
    std::vector<ExprPtr> out;
    for_each_expr(block_at(*s_.proc, sum_.path()), [&](const ExprPtr& e) {
      if (const Read* r = e->as<Read>()) out.insert(out.end(), r->idx.begin(), r->idx.end());
    });
    return out;
  }

  // Loops of the instruction are as long as it takes them; those over its tiles go outside.
  bool tile() {
    for (size_t q = 0; q < rows_.size(); ++q) {
      const int64_t n = extent(rows_[q]);
      int64_t size = std::min(n, pass_.loops[q].most);
      while (size > 1 && n % size != 0) --size;
      if (n <= 0 || size == n) continue;
      const std::string outer = fresh(rows_[q] + "o");
      if (!step("divide_loop",
                {Value(loop(rows_[q])), Value(size), Value::strings({outer, rows_[q]}), "perfect"}))
        return false;
      for (size_t up = q; up > 0; --up)
        if (!step("reorder_loops", {Value(loop(rows_[up - 1]))})) return false;
    }
    return true;
  }

  bool slides(const std::string& v) const {
    return std::any_of(slides_.begin(), slides_.end(),
                       [&](const auto& s) { return s.second == v; });
  }

  // A place for each sum of the tile. A new dimension comes in front: the last one first.
  bool widen() {
    for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) {
      const auto v = slides_.find(*row);
      const int64_t times = v == slides_.end() ? 1 : extent(v->second);
      const std::string at =
          v == slides_.end() ? *row : std::to_string(times) + " * " + *row + " + " + v->second;
      if (!step("expand_dim", {Value(alloc()), Value(times * extent(*row)), Value(at)}))
        return false;
    }
    for (auto v = window_.rbegin(); v != window_.rend(); ++v)
      if (!slides(*v) && !step("expand_dim", {Value(alloc()), Value(extent(*v)), Value(*v)}))
        return false;
    return step("lift_alloc",
                {Value(alloc()), Value(static_cast<int64_t>(rows_.size() + window_.size()))});
  }

  // The sums have loops of their own, in front of what gathers them.
  bool part() {
    if (!step("fission", {Value(loop(summed_)), Value(static_cast<int64_t>(window_.size()))}))
      return false;
    for (Cursor nest = loop(window_.front()); nest.path().back().index > 0;
         nest = loop(window_.front()))
      if (!step("reorder_stmts", {Value(nest.expand(1, 0))})) return false;
    return step("fission",
                {Value(loop(window_.front())), Value(static_cast<int64_t>(rows_.size()))});
  }

  // A window's loop and the one it slides along become one.
  bool merge() {
    std::vector<std::string> order;
    for (const std::string& v : window_)
      if (!slides(v)) order.push_back(v);
    for (const std::string& row : rows_) {
      order.push_back(row);
      if (const auto v = slides_.find(row); v != slides_.end()) order.push_back(v->second);
    }
    if (!sort(order)) return false;
    for (const auto& [row, v] : slides_)
      if (!step("mult_loops", {Value(loop(row)), Value(row)})) return false;
    return step("simplify", {});
  }
  bool sort(const std::vector<std::string>& order) {
    const auto place = [&](const Cursor& c) {
      return std::find(order.begin(), order.end(), name_of(c)) - order.begin();
    };
    const auto end = static_cast<std::ptrdiff_t>(order.size());
    for (bool moved = true; moved;) {
      moved = false;
      const std::vector<Cursor> loops = around();
      for (size_t k = 0; k + 1 < loops.size() && !moved; ++k) {
        if (place(loops[k]) == end || place(loops[k]) <= place(loops[k + 1]) ||
            place(loops[k + 1]) == end)
          continue;
        if (!step("reorder_loops", {Value(loops[k])})) return false;
        moved = true;
      }
    }
    return true;
  }

  Schedule s_;
  const Cursor sum_;
  const PassInstruction& pass_;
  const Sym target_;
  std::vector<std::string> rows_;              // loops of the instruction, outermost first
  std::vector<std::string> window_;            // loops that gather
  std::string summed_;                         // the outermost loop of the sum
  std::map<std::string, std::string> slides_;  // from a row's loop to the window's
};

}  // namespace

std::optional<Schedule> gathered_apart(const Schedule& start, const Cursor& sum,
                                       const DeviceInstructions& instructions) {
  for (const PassInstruction& pass : instructions.passes) {
    const bool of_results =
        std::any_of(instructions.products.begin(), instructions.products.end(),
                    [&](const ProductInstruction& p) { return p.out.memory == pass.from; });
    if (pass.window == 0 || !of_results) continue;
    if (auto made = Gathering(start, sum, pass).run()) return made;
  }
  return std::nullopt;
}

}  // namespace exotune
