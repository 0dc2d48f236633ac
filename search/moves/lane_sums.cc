#include "search/moves/lane_sums.h"

#include <algorithm>
#include <set>

#include "core/library/lane_sums.h"
#include "search/steps/builders.h"

namespace exotune {

namespace {

class LaneSums {
 public:
  LaneSums(const Outline& o, const Target& target, const ValueList& instructions)
      : o_(o), target_(target), instructions_(instructions) {
    VectorUnit words{target.lanes_of(ScalarType::kI32), target.vector_memory, {}, {}};
    for (const Value& v : instructions) words.instrs.push_back(*v.as<ProcPtr>());
    has_groups_ = words.lanes > 1 && !lane_groups(words).empty();
  }

  std::vector<Finish> run() {
    std::set<std::string> done;
    for (int k = 0; k < static_cast<int>(o_.loops.size()); ++k) {
      if (!loop_at(k).children.empty() || !is_sum(k) || !done.insert(name(k)).second) continue;
      if (has_groups_ && is_narrow(k)) dots(k);
      if (const int outer = loop_at(k).parent; outer >= 0 && is_added_up(outer)) blocks(outer, k);
    }
    return std::move(out_);
  }

 private:
  const OutlineLoop& loop_at(int k) const { return o_.loops[static_cast<size_t>(k)]; }
  const std::string& name(int k) const { return loop_at(k).iter.name(); }
  static bool stands_in(const OutlineAccess& a, int loop) {
    return !a.loops.empty() && a.loops.back() == loop;
  }
  static bool is_sum_into(const OutlineAccess& a) {
    return a.writes() && a.what.kind != Access::Kind::kWrite;
  }

  // Adds to one element; what moves lies side by side.
  bool is_sum(int loop) const {
    bool sums = false, moves = false;
    for (const OutlineAccess& a : o_.accesses) {
      if (!stands_in(a, loop)) continue;
      const std::optional<int64_t> step = o_.stride(a, loop);
      if (!step || *step < 0 || *step > 1) return false;
      sums = sums || (is_sum_into(a) && *step == 0);
      moves = moves || *step == 1;
    }
    return sums && moves;
  }
  bool is_narrow(int loop) const {
    return std::all_of(o_.accesses.begin(), o_.accesses.end(), [&](const OutlineAccess& a) {
      if (!stands_in(a, loop)) return true;
      return o_.stride(a, loop) == 0 ? a.scalar == ScalarType::kI32 || !is_sum_into(a)
                                     : bytes_of(a.scalar) < bytes_of(ScalarType::kI32);
    });
  }
  // Does the loop itself add to an element that it does not choose?
  bool is_added_up(int loop) const {
    return std::any_of(o_.accesses.begin(), o_.accesses.end(), [&](const OutlineAccess& a) {
      return stands_in(a, loop) && is_sum_into(a) && o_.stride(a, loop) == 0;
    });
  }
  ScalarType widest(int loop) const {
    ScalarType out = ScalarType::kI8;
    for (const OutlineAccess& a : o_.accesses)
      if (stands_in(a, loop) && bytes_of(a.scalar) > bytes_of(out)) out = a.scalar;
    return out;
  }

  void dots(int loop) {
    const std::string& k = name(loop);
    const VectorValues unit(target_, ScalarType::kI32, instructions_);
    for (const int64_t chains : {1, 2, 4})
      add("dots, chains=" + std::to_string(chains) + " " + k,
          unit.step("optimize_dots", {Value(k)}, {Value(chains)}));
    if (const int outer = loop_at(loop).parent; outer >= 0)
      for (const int64_t rows : {4, 8, 2})
        if (loop_at(outer).extent.value_or(rows) >= rows)
          add("dots, rows=" + std::to_string(rows) + " " + k,
              unit.step("optimize_dots", {Value(k)},
                        {Value(int64_t{1}), Value(name(outer)), Value(rows)}));
  }

  void blocks(int outer, int loop) {
    const std::string &b = name(outer), &k = name(loop);
    const int lanes = target_.lanes_of(widest(loop));
    const auto extent = loop_at(loop).extent;
    if (lanes <= 1 || !extent || *extent % lanes != 0) return;
    const VectorValues unit(target_, widest(loop), instructions_);
    add("sums of sums " + b, unit.step("optimize_sums_of_sums", {Value(b), Value(k)}));
    if (const int row = loop_at(outer).parent; row >= 0)
      for (const int64_t rows : {4, 8, 2})
        if (loop_at(row).extent.value_or(rows) >= rows)
          add("sums of sums, rows=" + std::to_string(rows) + " " + b,
              unit.step("optimize_sums_of_sums", {Value(b), Value(k)},
                        {Value(name(row)), Value(rows)}));
  }

  // The others as ever: a step that is refused, because the loop is gone, leaves the rest standing.
  void add(const std::string& what, const ScheduleStep& step) {
    Finish f{what, {step}};
    std::set<std::string> done;
    for (int k = 0; k < static_cast<int>(o_.loops.size()); ++k) {
      if (!loop_at(k).children.empty() || target_.lanes_of(widest(k)) <= 1 ||
          !done.insert(name(k)).second)
        continue;
      const VectorValues unit(target_, widest(k), instructions_);
      f.steps.push_back(unit.step("optimize_level_1", {Value(name(k))}, {Value(int64_t{1})}));
    }
    out_.push_back(std::move(f));
  }

  const Outline& o_;
  const Target& target_;
  const ValueList& instructions_;
  bool has_groups_ = false;
  std::vector<Finish> out_;
};

}  // namespace

std::vector<Finish> lane_sums_of(const Outline& o, const Target& target,
                                 const ValueList& instructions) {
  return LaneSums(o, target, instructions).run();
}

}  // namespace exotune
