#include "search/moves/outer_vectors.h"

#include <algorithm>
#include <set>

#include "search/short_rows.h"
#include "search/steps/builders.h"

namespace exotune {

namespace {

constexpr int64_t kApart = 4;   // elements: they come out of registers beside one another
constexpr int64_t kOthers = 8;  // registers that hold no sums

bool stands_in(const OutlineAccess& a, int loop) {
  return std::find(a.loops.begin(), a.loops.end(), loop) != a.loops.end();
}

// What loops inside add to and do not choose: in registers while they run.
struct Sums {
  std::set<Sym> of;
  bool in_arrays = false;
};
Sums sums_in(const Outline& o, int loop) {
  Sums out;
  for (const OutlineAccess& a : o.accesses) {
    if (a.what.kind == Access::Kind::kWrite || !a.writes() || !stands_in(a, loop) ||
        a.loops.back() == loop)
      continue;
    const auto inner = std::find(a.loops.begin(), a.loops.end(), loop) + 1;
    if (!std::all_of(inner, a.loops.end(), [&](int k) { return o.stride(a, k) == 0; })) continue;
    out.of.insert(a.what.buffer);
    out.in_arrays = out.in_arrays || !a.what.idx.empty();
  }
  return out;
}

// Scalars that the body begins and loops inside change: each of their steps waits for the last.
std::set<Sym> carried_in(const Outline& o, int loop) {
  std::set<Sym> begun, out;
  for (const OutlineAccess& a : o.accesses)
    if (a.writes() && a.what.idx.empty() && stands_in(a, loop) && a.loops.back() == loop)
      begun.insert(a.what.buffer);
  for (const OutlineAccess& a : o.accesses)
    if (a.writes() && stands_in(a, loop) && a.loops.back() != loop && begun.count(a.what.buffer))
      out.insert(a.what.buffer);
  return out;
}

class OuterVectors {
 public:
  OuterVectors(const Outline& o, const Target& target, const ValueList& instructions,
               const std::set<int>& written_out)
      : o_(o), target_(target), instructions_(instructions), written_out_(written_out) {}

  std::vector<Finish> run() {
    std::set<std::string> done;
    for (int k = 0; k < static_cast<int>(o_.loops.size()); ++k)
      if (fits(k) && done.insert(name(k)).second) along(k);
    return std::move(out_);
  }

 private:
  const OutlineLoop& loop_at(int k) const { return o_.loops[static_cast<size_t>(k)]; }
  const std::string& name(int k) const { return loop_at(k).iter.name(); }
  bool is_inside(int inner, int outer) const {
    while (inner >= 0 && inner != outer) inner = loop_at(inner).parent;
    return inner == outer;
  }

  // May vectors run along it, and the loops inside around them?
  bool fits(int loop) const {
    if (loop_at(loop).children.empty() || loop_at(loop).in_condition) return false;
    for (int k = 0; k < static_cast<int>(o_.loops.size()); ++k) {
      const std::vector<int>& bounds = loop_at(k).bounded_by;
      if (k != loop && is_inside(k, loop) &&
          std::find(bounds.begin(), bounds.end(), loop) != bounds.end())
        return false;
    }
    bool some = false;
    for (const OutlineAccess& a : o_.accesses) {
      if (!stands_in(a, loop)) continue;
      const std::optional<int64_t> step = o_.stride(a, loop);
      if (!step || *step < 0 || *step > (a.writes() ? 1 : kApart)) return false;
      some = some || *step > 0;
    }
    const int64_t lanes = target_.lanes_of(widest(loop));
    return some && lanes > 1 && fills_lanes(loop_at(loop).extent, lanes);
  }
  ScalarType widest(int loop) const {
    ScalarType out = ScalarType::kI8;
    for (const OutlineAccess& a : o_.accesses)
      if (stands_in(a, loop) && bytes_of(a.scalar) > bytes_of(out)) out = a.scalar;
    return out;
  }

  // Is there a vector that all iterations of `rows` read?
  bool shares(int rows, int loop) const {
    return std::any_of(o_.accesses.begin(), o_.accesses.end(), [&](const OutlineAccess& a) {
      const std::optional<int64_t> step = o_.stride(a, loop);
      return !a.writes() && stands_in(a, loop) && a.loops.back() != loop && step && *step > 0 &&
             o_.stride(a, rows) == 0;
    });
  }

  void along(int loop) {
    const Sums sums = sums_in(o_, loop);
    if (!written_out_.count(loop))
      for (const int64_t vectors : {1, 2, 4}) add(loop, sums, -1, 1, vectors);
    const int rows = loop_at(loop).parent;
    if (rows < 0) return;
    const int64_t room = registers_of(target_) - kOthers;
    if (sums.of.empty() || !shares(rows, loop)) {
      // Nothing is shared, but one row waits while the next is on its way.
      const int64_t chains = std::ssize(carried_in(o_, loop));
      for (const int64_t count : {4, 8, 2})
        if (chains > 0 && count * chains <= room && loop_at(rows).extent.value_or(count) >= count)
          add(loop, sums, rows, count, 1);
      return;
    }
    const int64_t each = std::ssize(sums.of);
    std::set<int64_t> tried;
    for (const int64_t most : {room / each, int64_t{4}, room / (2 * each)}) {
      const int64_t count = std::min(most, loop_at(rows).extent.value_or(most));
      if (count < 2 || !tried.insert(count).second) continue;
      add(loop, sums, rows, count, 1);
      if (2 * count * each <= room) add(loop, sums, rows, count, 2);
    }
  }
  void add(int loop, const Sums& sums, int rows, int64_t count, int64_t vectors) {
    const VectorValues unit(target_, widest(loop), instructions_);
    Finish f{"around loops, vectors=" + std::to_string(vectors) + " " + name(loop), {}};
    f.together = true;
    if (sums.in_arrays) f.steps.push_back({"keep_sums", {Value(name(loop))}, {}});
    if (count > 1) {
      f.name += ", rows=" + std::to_string(count);
      f.steps.push_back({"divide_loop",
                         {Value(name(rows)), Value(count),
                          Value::strings({name(rows) + "o", name(rows)}), Value("cut")},
                         {}});
      f.steps.push_back({"sink_copies", {Value(name(rows))}, {}});
    }
    f.steps.push_back(unit.step("optimize_level_1", {Value(name(loop))}, {Value(vectors)}));
    if (count > 1) f.steps.push_back({"unroll_registers", {Value(target_.vector_memory)}, {}});
    out_.push_back(std::move(f));
  }

  const Outline& o_;
  const Target& target_;
  const ValueList& instructions_;
  const std::set<int>& written_out_;
  std::vector<Finish> out_;
};

}  // namespace

bool holds_array_sums(const Outline& o, int loop) { return sums_in(o, loop).in_arrays; }

std::vector<Finish> outer_vectors_of(const Outline& o, const Target& target,
                                     const ValueList& instructions,
                                     const std::set<int>& written_out) {
  return OuterVectors(o, target, instructions, written_out).run();
}

}  // namespace exotune
