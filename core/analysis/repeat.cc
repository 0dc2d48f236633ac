// What may run again, and what nobody reads any more. All answers rest on one question of effects:
// may an access read what another one wrote in another run? Two runs are told apart by a mark on
// the second's variables ("'"), and configuration that is written between them is havoc: it may
// have any value in the second.
#include <algorithm>

#include "core/analysis/answers.h"
#include "core/analysis/coverage.h"
#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

// Two reductions that may run again: max= and min= take the same values to the same result.
bool both_idempotent(const Effect& a, const Effect& b) {
  using Kind = Access::Kind;
  return a.access.kind == b.access.kind &&
         (a.access.kind == Kind::kReduceMax || a.access.kind == Kind::kReduceMin);
}

// A written field that is read before it is surely written: a second run sees another value.
std::optional<ConfigFieldName> exposed_field(const Effects& e) {
  for (const ConfigFieldName& f : e.written())
    for (const ConfigEffect& c : e.config) {
      if (c.field != f) continue;
      if (!c.value) return f;
      if (c.definite) break;
    }
  return std::nullopt;
}

Answer field_refusal(const ConfigFieldName& f) {
  return refused(
      LazyText([f] { return f.first + "." + f.second + " is read before it is written"; }));
}

}  // namespace

// s; s is s, if no read of s sees what s wrote: it never overlaps a write, or a write of the same
// run surely comes before it. `break` leaves the writes and not the reads: a read that is surely
// preceded by a write sees that one, whatever else is written.
Answer block_idempotent(const Proc& p, const Path& at, int n) {
  const Path first = stmt_part(at);
  Place place(p, first);
  Problem& problem = place.problem();
  const Effects e = effects_of(place.scope(), block_at(p, first), first, n);
  if (std::optional<ConfigFieldName> f = exposed_field(e)) return field_refusal(*f);
  problem.set_havoc(e.written());
  for (size_t k = 0; k < e.memory.size(); ++k) {
    const Effect& read = e.memory[k];
    if (read.local || read.access.kind == Access::Kind::kWrite) continue;
    for (const Effect& write : e.memory) {
      if (write.access.kind == Access::Kind::kRead || write.access.buffer != read.access.buffer)
        continue;
      if (both_idempotent(read, write)) continue;
      Answer disjoint = never_overlap(problem, read, {}, write, {{}, "'"});
      if (disjoint) continue;
      if (surely_written_before(problem, e, k, {})) break;
      disjoint.why = LazyText([a = read.access] {
        return describe(a) + " is " + verb(a.kind) +
               " before the block surely writes it, so a second run differs";
      });
      return disjoint;
    }
  }
  return proved();
}

// The value is asked for through a statement of its own, so that its reads are effects like any
// others, windows and configuration included.
Answer value_unchanged_by(const Proc& p, const Path& at, int n, const ExprPtr& value) {
  const Path first = stmt_part(at);
  Place place(p, first);
  Problem& problem = place.problem();
  const Effects e = effects_of(place.scope(), block_at(p, first), first, n);
  const Block probe{make_assign(Sym::fresh("value"), {}, value)};
  const Effects reads = effects_of(place.scope(), probe, {{Child::kBody, 0}}, 1);
  const std::vector<ConfigFieldName> written = e.written();
  for (const ConfigEffect& c : reads.config)
    if (std::find(written.begin(), written.end(), c.field) != written.end())
      return refused(LazyText([f = c.field] { return f.first + "." + f.second + " is written"; }));
  problem.set_havoc(written);
  for (const Effect& read : reads.memory) {
    if (read.access.kind != Access::Kind::kRead) continue;
    for (const Effect& write : e.memory) {
      if (write.local || write.access.kind == Access::Kind::kRead) continue;
      if (write.access.buffer != read.access.buffer) continue;
      Answer disjoint = never_overlap(problem, read, {}, write, {{}, "'"});
      if (!disjoint) return disjoint;
    }
  }
  return proved();
}

// Iterations may run twice and in any order (halos of tiles): each reads only what was there before
// the loop or what it wrote itself, and no two write one element. Both variables are bound before
// either range is assumed; the range of the other is taken back after each question of the first
// part, where iterations may be equal, and kept for the second, where they are not.
Answer recompute_safe(const Proc& p, const Path& at) {
  const Path loop_path = stmt_part(at);
  const StmtPtr s = stmt_at(p, loop_path);
  const For* loop = s ? s->as<For>() : nullptr;
  if (!loop) return refused("this is not a loop");
  Place place(p, loop_path);
  Problem& problem = place.problem();
  Path body = loop_path;
  body.push_back({Child::kBody, 0});
  const Scope scope(p, body);
  problem.set_scope(&scope);
  const Effects e = effects_of(scope, loop->body, body, static_cast<int>(loop->body.size()));
  if (const std::vector<ConfigFieldName> written = e.written(); !written.empty()) {
    const ConfigFieldName f = written.front();
    return refused(LazyText([f] { return f.first + "." + f.second + " is written in the loop"; }));
  }
  const int one = problem.bind(loop->iter);
  problem.unbind(1);
  const int other = problem.bind(loop->iter, "'");
  problem.unbind(1);
  problem.assume_range(one, loop->lo, loop->hi);
  const Instance in_one{{{loop->iter, one}}, ""}, in_other{{{loop->iter, other}}, "'"};
  // What an iteration reads from before it, no iteration may write.
  for (size_t k = 0; k < e.memory.size(); ++k) {
    const Effect& read = e.memory[k];
    if (read.local || read.access.kind == Access::Kind::kWrite) continue;
    for (const Effect& write : e.memory) {
      if (write.access.kind == Access::Kind::kRead || write.access.buffer != read.access.buffer)
        continue;
      if (both_idempotent(read, write)) continue;
      const Problem::Mark mark = problem.mark();
      problem.assume_range(other, loop->lo, loop->hi);
      Answer disjoint = never_overlap(problem, read, in_one, write, in_other);
      problem.rollback(mark);
      if (disjoint) continue;
      if (surely_written_before(problem, e, k, in_one)) break;
      return disjoint;
    }
  }
  // Two iterations never write one element: the later one's value would be lost.
  problem.assume_range(other, loop->lo, loop->hi);
  Lin gap = Lin::variable(other) - Lin::variable(one);
  problem.assume_at_least_zero(std::move(gap.add_constant(-1)));
  for (const Effect& a : e.memory)
    for (const Effect& b : e.memory) {
      if (a.local || a.access.kind == Access::Kind::kRead || b.access.kind == Access::Kind::kRead)
        continue;
      if (a.access.buffer != b.access.buffer || both_idempotent(a, b)) continue;
      Answer disjoint = never_overlap(problem, a, in_one, b, in_other);
      if (!disjoint) return disjoint;
    }
  return proved();
}

namespace {

// The block that holds the allocation of `root` on the way to `at`: the length of the path prefix
// whose last step indexes into that block; 0 when it is an argument.
size_t scope_depth(const Proc& p, const Path& at, Sym root) {
  for (size_t d = at.size(); d > 0; --d) {
    const Path prefix(at.begin(), at.begin() + static_cast<long>(d));
    const Block& block = block_at(p, prefix);
    for (int k = 0; k <= at[d - 1].index && k < static_cast<int>(block.size()); ++k)
      if (bound_symbol(*block[k]) == root) return d;
  }
  return 0;
}

bool exposed_in(const Proc& p, const Path& first, int n, Sym root) {
  if (n <= 0) return false;
  Place place(p, first);
  const Effects e = effects_of(place.scope(), block_at(p, first), first, n, root);
  place.problem().set_havoc(e.written());
  return reads_earlier_value(place.problem(), e, root);
}

// [first, last) of the statements from `begin` on that mention the buffer, or a window of it.
std::pair<size_t, size_t> users_of(const Block& block, size_t begin, Sym buffer) {
  std::vector<Sym> names = {buffer};
  size_t first = block.size(), last = begin;
  for (size_t k = begin; k < block.size(); ++k) {
    if (std::none_of(names.begin(), names.end(), [&](Sym s) { return mentions(block[k], s); }))
      continue;
    if (block[k]->as<WindowStmt>()) names.push_back(bound_symbol(*block[k]));
    first = std::min(first, k);
    last = k + 1;
  }
  return {std::min(first, last), last};
}

Answer carried(Sym buffer) {
  return refused(
      LazyText([buffer] { return buffer.name() + " may be read before it is written again"; }));
}

}  // namespace

// From the statement outwards: what follows it in its block, then, for each loop around, that body
// from its top, since the next iteration comes there. Ends at the block that allocates the buffer,
// beyond which nobody sees it.
Answer buffer_dead_after(const Proc& p, const Path& stmt, Sym buffer) {
  Path at = stmt_part(stmt);
  const Sym root = Scope(p, sibling(at, 1)).root_of(buffer);
  const size_t top = scope_depth(p, at, root);
  if (top == 0)
    return refused(
        LazyText([root] { return root.name() + " is an argument: the caller may read it"; }));
  for (;; at.pop_back()) {
    const Block& block = block_at(p, at);
    const Path next = sibling(at, 1);
    if (exposed_in(p, next, static_cast<int>(block.size()) - next.back().index, root))
      return carried(buffer);
    if (at.size() == top) return proved();
    // A loop around it comes back to the top of its body.
    const Path parent(at.begin(), at.end() - 1);
    if (const StmtPtr s = stmt_at(p, parent); s->as<For>()) {
      Path start = at;
      start.back().index = 0;
      if (exposed_in(p, start, static_cast<int>(block.size()), root)) return carried(buffer);
    }
  }
}

Answer alloc_carries_nothing(const Proc& p, const Path& alloc, const Path& loop) {
  const Path alloc_path = stmt_part(alloc), loop_path = stmt_part(loop);
  const StmtPtr a = stmt_at(p, alloc_path);
  const Alloc* allocation = a ? a->as<Alloc>() : nullptr;
  const StmtPtr l = stmt_at(p, loop_path);
  if (!allocation) return refused("this is not an allocation");
  if (!l || !l->as<For>()) return refused("this is not a loop");
  // Inside: what follows the allocation in its block is all that sees it. Outside: one iteration.
  Path first;
  int n;
  if (is_prefix(loop_path, alloc_path)) {
    // Of that, from the first statement to the last that knows it by a name.
    const Block& block = block_at(p, alloc_path);
    const auto [from, to] =
        users_of(block, static_cast<size_t>(alloc_path.back().index) + 1, allocation->name);
    first = alloc_path;
    first.back().index = static_cast<int>(from);
    n = static_cast<int>(to - from);
  } else {
    first = loop_path;
    first.push_back({Child::kBody, 0});
    n = static_cast<int>(l->as<For>()->body.size());
  }
  if (exposed_in(p, first, n, allocation->name)) return carried(allocation->name);
  return proved();
}

bool alloc_is_apart_by(const Proc& p, const Path& alloc, const Path& loop) {
  const Path alloc_path = stmt_part(alloc), loop_path = stmt_part(loop);
  const StmtPtr a = stmt_at(p, alloc_path), l = stmt_at(p, loop_path);
  const Alloc* allocation = a ? a->as<Alloc>() : nullptr;
  const For* around = l ? l->as<For>() : nullptr;
  if (!allocation || !around || alloc_path.size() != loop_path.size() + 1 ||
      !is_prefix(loop_path, alloc_path))
    return false;
  const Block& block = block_at(p, alloc_path);
  const auto [from, to] =
      users_of(block, static_cast<size_t>(alloc_path.back().index) + 1, allocation->name);
  if (from == to) return true;
  Path first = alloc_path;
  first.back().index = static_cast<int>(from);
  const int n = static_cast<int>(to - from);
  const Effects e = effects_of(Scope(p, first), block, first, n, allocation->name);
  for (size_t d = 0; d < allocation->type.shape.size(); ++d) {
    std::optional<Affine> own;  // what all accesses have in this dimension
    const bool apart = std::ranges::all_of(e.memory, [&](const Effect& effect) {
      const std::optional<Affine> index = affine(effect.access.idx[d]);
      if (!index || index->terms.size() != 1 || index->coeff_of(around->iter) == 0) return false;
      if (!own) own = index;
      return *index == *own;
    });
    if (apart && own) return true;
  }
  return false;
}

}  // namespace exotune
