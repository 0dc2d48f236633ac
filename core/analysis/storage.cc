#include "core/analysis/storage.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "core/analysis/proc_cache.h"
#include "core/base/diagnostic.h"
#include "core/ir/normal_form.h"

namespace exotune {
namespace {

struct Live {
  Sym name;
  const Alloc* alloc;
  SourceLocation where;
  int from, to;  // positions in pre-order, inclusive
};

/// Live ranges of allocations in the memories asked for. A use inside a loop that does not contain
/// the allocation keeps it live to the loop's end: the next iteration may need it.
class Liveness {
 public:
  explicit Liveness(const Proc& p) { block(p.body); }
  std::vector<Live> ranges;

 private:
  void block(const Block& b) {
    // Allocations of this block: nothing after it can mention them.
    std::vector<Sym> bound;
    for (const StmtPtr& s : b) {
      const int at = position_++;
      if (const auto* a = s->as<Alloc>()) {
        open_[a->name] = ranges.size();
        ranges.push_back({a->name, a, s->where, at, at});
        bound.push_back(a->name);
        continue;
      }
      // A use of the window is one of what it shows.
      if (const auto* w = s->as<WindowStmt>()) {
        if (const auto* e = w->rhs->as<WindowExpr>()) alias_[w->name] = e->name;
      }
      if (!body_of(*s).empty() || !orelse_of(*s).empty()) {
        block(body_of(*s));
        block(orelse_of(*s));
      }
      // Whatever the statement mentions lives until its end; for a loop that is its last position.
      std::set<Sym> used;
      for (const ExprPtr& e : stmt_exprs(*s)) collect_symbols(e, used);
      if (const auto* a = s->as<Assign>()) used.insert(a->name);
      if (const auto* r = s->as<Reduce>()) used.insert(r->name);
      for (Sym f : free_symbols(body_of(*s))) used.insert(f);
      for (Sym f : free_symbols(orelse_of(*s))) used.insert(f);
      // position_ has moved past everything inside.
      for (Sym u : used) extend(u, position_ - 1);
    }
    for (Sym s : bound) open_.erase(s);
  }
  void extend(Sym s, int to) {
    // Windows of windows.
    for (auto it = alias_.find(s); it != alias_.end(); it = alias_.find(s)) s = it->second;
    const auto it = open_.find(s);
    if (it != open_.end()) ranges[it->second].to = std::max(ranges[it->second].to, to);
  }

  int position_ = 0;
  std::map<Sym, size_t> open_;
  std::map<Sym, Sym> alias_;
};

[[noreturn]] void refuse(const SourceLocation& where, std::string message, std::string hint = "") {
  throw InputError(where, std::move(message), std::move(hint));
}

/// Of more bytes than this no machine has an array.
constexpr int64_t kMostBytes = int64_t{1} << 56;

[[noreturn]] void refuse_size(const Alloc& a, const SourceLocation& where) {
  refuse(where, "`" + a.name.name() + "` has more bytes than any memory");
}

int64_t product_of(const std::vector<int64_t>& extents, int64_t start, const Alloc& a,
                   const SourceLocation& where) {
  int64_t n = start;
  // Stopped at the limit: the product of what is left could overflow.
  for (int64_t e : extents)
    if (__builtin_mul_overflow(n, e, &n) || n > kMostBytes) refuse_size(a, where);
  return n;
}

int64_t bytes_of_alloc(const Alloc& a, const SourceLocation& where) {
  const std::string what = "`" + a.name.name() + "` in " + a.mem->name;
  return product_of(constant_shape(a.type, what, where), bytes_of(a.type.scalar), a, where);
}

/// The constant extents alone must leave room for the others, which are 1 or more.
void require_possible_size(const Alloc& a, const SourceLocation& where) {
  std::vector<int64_t> extents;
  for (const ExprPtr& e : a.type.shape)
    if (const auto value = affine(e); value && value->is_constant() && value->constant > 0)
      extents.push_back(value->constant);
  product_of(extents, bytes_of(a.type.scalar), a, where);
}

/// Refuses what threads would share: see the header.
class Threads {
 public:
  /// `mine`: the register files' allocations of this thread, and the windows that show them.
  /// `parallel`: inside a par loop.
  Threads(const Block& b, std::set<Sym> mine, bool parallel) {
    for (const StmtPtr& s : b) {
      // Read once, as every kind below is about something else.
      const For* f = s->as<For>();
      if (const Alloc* a = s->as<Alloc>()) {
        if (a->mem->kind == MemoryKind::kRegisterFile) mine.insert(a->name);
        if (parallel && a->mem->kind == MemoryKind::kScratchpad)
          refuse(s->where,
                 "`" + a->name.name() + "` in " + a->mem->name +
                     " is allocated in a parallel loop: all threads have one " + a->mem->name,
                 "lift_alloc it out of the loop, one part for each iteration");
      } else if (const WindowStmt* w = s->as<WindowStmt>()) {
        const WindowExpr* shown = w->rhs->as<WindowExpr>();
        if (shown && mine.contains(shown->name)) mine.insert(w->name);
      } else if (const Call* c = s->as<Call>(); c && parallel && !c->callee->instr) {
        no_scratchpad(*c->callee, s->where);
      }
      if (f && f->mode == LoopMode::kPar) {
        for (Sym used : free_symbols(f->body))
          if (mine.contains(used))
            refuse(s->where,
                   "`" + used.name() +
                       "` is a register of the thread in front of the parallel loop, "
                       "used in it by others",
                   "sink_alloc it into the loop");
        // Within the loop each thread has registers of its own: none of those in front.
        Threads(f->body, {}, true);
      } else {
        Threads(body_of(*s), mine, parallel);
        Threads(orelse_of(*s), mine, parallel);
      }
    }
  }

 private:
  static void no_scratchpad(const Proc& p, const SourceLocation& where) {
    std::set<const Proc*> seen;
    no_scratchpad(p, where, seen);
  }
  static void no_scratchpad(const Proc& p, const SourceLocation& where,
                            std::set<const Proc*>& seen) {
    // A callee that is called twice is looked into once.
    if (!seen.insert(&p).second) return;
    for_each_stmt(p.body, [&](const StmtPtr& s) {
      if (const Alloc* a = s->as<Alloc>(); a && a->mem->kind == MemoryKind::kScratchpad)
        refuse(where, "`" + p.name + "` allocates in " + a->mem->name +
                          " and is called in a parallel loop: all threads have one " +
                          a->mem->name);
      if (const Call* c = s->as<Call>(); c && !c->callee->instr)
        no_scratchpad(*c->callee, where, seen);
    });
  }
};

/// The lowest `size` places free of every range that overlaps `r`; places are [0, capacity).
int64_t first_fit(const std::vector<std::pair<const Live*, std::pair<int64_t, int64_t>>>& placed,
                  const Live& r, int64_t size, int64_t alignment) {
  std::vector<std::pair<int64_t, int64_t>> busy;
  for (const auto& [other, span] : placed)
    // Both ends are inclusive: lives that touch overlap.
    if (other->from <= r.to && r.from <= other->to) busy.push_back(span);
  std::sort(busy.begin(), busy.end());
  int64_t at = 0;
  for (const auto& [lo, hi] : busy) {
    // The gap in front of this span is wide enough.
    if (at + size <= lo) break;
    at = std::max(at, (hi + alignment - 1) / alignment * alignment);
  }
  return at;
}

}  // namespace

std::vector<int64_t> constant_shape(const Type& t, const std::string& what,
                                    const SourceLocation& where) {
  std::vector<int64_t> r;
  for (const ExprPtr& e : t.shape) {
    const auto a = affine(e);
    if (!a || !a->is_constant()) refuse(where, what + " needs constant extents");
    r.push_back(a->constant);
  }
  return r;
}

namespace {

// Where the text says how many bytes a register has, its last extent is as many elements as fill
// it.
std::vector<int> register_shape(const Memory& m, ScalarType element) {
  std::vector<int> one = m.shape;
  // The shape is as the text has it.
  if (m.bytes <= 0 || one.empty()) return one;
  int64_t rows = bytes_of(element);
  for (size_t k = 0; k + 1 < one.size(); ++k) rows *= one[k];
  if (m.bytes % rows == 0) one.back() = static_cast<int>(m.bytes / rows);
  return one;
}

}  // namespace

int registers_of(const Alloc& a, const SourceLocation& where) {
  const std::string what = "`" + a.name.name() + "` in " + a.mem->name;
  const std::vector<int64_t> shape = constant_shape(a.type, what, where);
  const std::vector<int> one = register_shape(*a.mem, a.type.scalar);
  // Dimensions in front count registers, those behind are one register's.
  const size_t extra = shape.size() < one.size() ? 0 : shape.size() - one.size();
  bool fits = shape.size() >= one.size();
  for (size_t k = 0; fits && k < one.size(); ++k) fits = shape[extra + k] == one[k];
  if (!fits) refuse(where, what + " does not end in the shape that one register holds");
  const int64_t n =
      product_of({shape.begin(), shape.begin() + static_cast<int64_t>(extra)}, 1, a, where);
  if (n > std::numeric_limits<int>::max()) refuse_size(a, where);
  return static_cast<int>(n);
}

namespace {

using Used = std::map<std::string, int64_t>;

/// What a callee uses of each memory, which is asked of each proc above it.
Used used_by(const ProcPtr& callee) {
  // By the procedure itself, which does not change; it is forgotten with it.
  static ProcCache<Used> known;
  if (std::optional<Used> found = known.find(callee)) return *std::move(found);
  Used used = plan_storage(*callee).used;
  known.insert(callee, used);
  return used;
}

}  // namespace

StoragePlan plan_storage(const Proc& p) {
  StoragePlan plan;
  const Liveness live(p);
  std::map<std::string, std::vector<std::pair<const Live*, std::pair<int64_t, int64_t>>>> placed;
  for (const Live& r : live.ranges) {
    const Memory& m = *r.alloc->mem;
    require_possible_size(*r.alloc, r.where);
    if (m.kind == MemoryKind::kRegisterFile) {
      const int n = registers_of(*r.alloc, r.where);
      auto& mine = placed[m.name];
      const int64_t low = first_fit(mine, r, n, 1);
      if (m.count > 0 && low + n > m.count)
        refuse(r.where,
               "`" + r.name.name() + "` needs " + std::to_string(low + n) + " registers of " +
                   m.name + " at once, " + std::to_string(m.count) + " exist",
               "make tiles smaller, or their lives shorter");
      mine.push_back({&r, {low, low + n}});
      // From the last register down where their number is known.
      plan.first_register[r.name] = static_cast<int>(m.count > 0 ? m.count - low - n : low);
      plan.own[m.name] = std::max(plan.own[m.name], low + n);
    } else if (m.kind == MemoryKind::kScratchpad) {
      const int64_t n = bytes_of_alloc(*r.alloc, r.where);
      auto& mine = placed[m.name];
      const int64_t at = first_fit(mine, r, n, std::max(1, m.alignment));
      if (m.bytes > 0 && at + n > m.bytes)
        refuse(r.where, "`" + r.name.name() + "` does not fit: " + std::to_string(at + n) +
                            " bytes of " + m.name + " are in use at once, it has " +
                            std::to_string(m.bytes));
      mine.push_back({&r, {at, at + n}});
      plan.byte_offset[r.name] = at;
      plan.own[m.name] = std::max(plan.own[m.name], at + n);
    }
  }
  // What callees take comes on top, one call at a time: they are not live together.
  plan.used = plan.own;
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    const Call* c = s->as<Call>();
    if (!c || c->callee->instr) return;
    for (const auto& [memory, count] : used_by(c->callee)) {
      if (const auto mine = plan.own.find(memory);
          mine != plan.own.end() && mine->second > 0 && count > 0)
        refuse(s->where,
               "`" + p.name + "` and its callee `" + c->callee->name + "` both use " + memory,
               "inline the callee");
      plan.used[memory] = std::max(plan.used[memory], count);
    }
  });
  std::set<Sym> registers;
  // Registers that come from outside are the calling thread's.
  for (const Arg& a : p.args)
    if (a.mem && a.mem->kind == MemoryKind::kRegisterFile) registers.insert(a.name);
  Threads(p.body, std::move(registers), false);
  return plan;
}

}  // namespace exotune
