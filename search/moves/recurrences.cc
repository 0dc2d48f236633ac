// Which loops are recurrences is asked of the core (iterations_commute); the sizes of blocks are
// vectors, because the rows of a block are what vectors will run along.
#include "search/moves/recurrences.h"

#include <algorithm>

#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"

namespace exotune {

namespace {

constexpr size_t kMostSizes = 3;  // of blocks: each is a program to search

bool bound_follows(const Block& body, Sym iter) {
  bool any = false;
  for_each_stmt(body, [&](const StmtPtr& s) {
    if (const For* f = s->as<For>()) any |= mentions(f->lo, iter) || mentions(f->hi, iter);
  });
  return any;
}

// The outermost loops that block_recurrence is for, in program order.
void find_recurrences(const ProcPtr& p, const Block& body, const Path& around, Child branch,
                      std::vector<Path>& out) {
  for (int k = 0; k < static_cast<int>(body.size()); ++k) {
    Path path = around;
    path.push_back({branch, k});
    const StmtPtr& s = body[static_cast<size_t>(k)];
    const For* f = s->as<For>();
    if (f && bound_follows(f->body, f->iter) && !iterations_commute(*p, path)) {
      out.push_back(path);
      continue;
    }
    find_recurrences(p, body_of(*s), path, Child::kBody, out);
    find_recurrences(p, orelse_of(*s), path, Child::kOrelse, out);
  }
}

// for j: for i: { several statements }, i of literal extent: what block_recurrence leaves of a
// recurrence over columns.
void find_panels(const ProcPtr& p, const Block& body, const Path& around, std::vector<Path>& out) {
  for (int k = 0; k < static_cast<int>(body.size()); ++k) {
    Path path = around;
    path.push_back({Child::kBody, k});
    const For* j = body[static_cast<size_t>(k)]->as<For>();
    if (!j) continue;
    const For* i = j->body.size() == 1 ? j->body.front()->as<For>() : nullptr;
    if (i && i->body.size() > 1 && as_int(i->lo) == 0 && as_int(i->hi) &&
        bound_follows(i->body, j->iter))
      out.push_back(path);
    else
      find_panels(p, j->body, path, out);
  }
}

// What the statements of a panel write: its copy is called after it.
std::string written(const For& loop) {
  std::string out;
  for_each_stmt(loop.body, [&](const StmtPtr& s) {
    if (const Assign* a = s->as<Assign>()) out = a->name.name();
  });
  return out;
}

void block_panels(Schedule& s, int64_t block) {
  std::vector<Path> panels;
  find_panels(s.proc, s.proc->body, {}, panels);
  std::vector<Cursor> at;
  for (const Path& path : panels) at.push_back(Cursor::stmt(s.proc, path));
  for (const Cursor& loop : at) {
    const Cursor now = forward(s.proc, loop);
    if (!now.valid()) continue;
    const For& j = now.as<For>();
    const std::string rows = j.body.front()->as<For>()->iter.name();
    Schedule tried = s;
    if (apply(tried, "stage_panel", {Value(loop), Value(rows), Value(written(j) + "_panel")}))
      continue;
    (void)!apply(tried, "block_recurrence", {Value(loop), Value(block)});
    s = std::move(tried);
  }
}

// The least extent of the loops that is known, and whether `block` divides all of them.
struct Extents {
  std::optional<int64_t> least;
  bool divided = true;
};
Extents extents_of(const Proc& p, const std::vector<Path>& loops, int64_t block) {
  Extents out;
  for (const Path& path : loops) {
    const For& f = *stmt_at(p, path)->as<For>();
    const auto lo = as_int(f.lo), hi = as_int(f.hi);
    out.divided &= lo && hi && (*hi - *lo) % block == 0;
    if (lo && hi) out.least = std::min(out.least.value_or(*hi - *lo), *hi - *lo);
  }
  return out;
}

// Blocks of a few vectors, at least two of them: those that divide the extent, the largest first,
// then the largest that does not.
std::vector<int64_t> sizes_of_blocks(const Proc& p, const std::vector<Path>& loops, int64_t lanes) {
  std::vector<int64_t> out;
  std::optional<int64_t> other;
  for (const int64_t vectors : {6, 5, 4, 3, 2}) {
    const int64_t block = vectors * lanes;
    const Extents extents = extents_of(p, loops, block);
    if (extents.least && *extents.least < 2 * block) continue;
    if (extents.divided)
      out.push_back(block);
    else if (!other && vectors <= 4)
      other = block;
  }
  if (other) out.push_back(*other);
  if (out.size() > kMostSizes) out.resize(kMostSizes);
  return out;
}

// Scalars that hold an element meanwhile tie the halves of a loop together.
Schedule sums_in_place(Schedule s) {
  std::vector<Cursor> scalars;
  for (const Path& path : all_stmt_paths(*s.proc)) {
    const Alloc* a = stmt_at(*s.proc, path)->as<Alloc>();
    if (a && !a->type.is_tensor()) scalars.push_back(Cursor::stmt(s.proc, path));
  }
  for (const Cursor& scalar : scalars) (void)!apply(s, "unstage", {Value(scalar)});
  return s;
}

// for i: for j: s, neither of which may run in another order.
void find_chains(const ProcPtr& p, const Block& body, const Path& around, std::vector<Path>& out) {
  for (int k = 0; k < static_cast<int>(body.size()); ++k) {
    Path path = around;
    path.push_back({Child::kBody, k});
    const For* i = body[static_cast<size_t>(k)]->as<For>();
    if (!i) continue;
    const For* j = i->body.size() == 1 ? i->body.front()->as<For>() : nullptr;
    const bool leaf = j && std::none_of(j->body.begin(), j->body.end(),
                                        [](const StmtPtr& s) { return !body_of(*s).empty(); });
    if (!leaf) {
      find_chains(p, i->body, path, out);
      continue;
    }
    Path inner = path;
    inner.push_back({Child::kBody, 0});
    if (!iterations_commute(*p, path) && !iterations_commute(*p, inner)) out.push_back(path);
  }
}

}  // namespace

std::vector<Schedule> wavefronts(const Schedule& s) {
  std::vector<Path> chains;
  find_chains(s.proc, s.proc->body, {}, chains);
  std::vector<Schedule> out;
  for (const int64_t rows : {4, 8, 2}) {
    Schedule made = s;
    for (const Path& path : chains)
      for (const int64_t shift : {1, 2})
        if (!apply(made, "jam_skewed",
                   {Value(Cursor::stmt(s.proc, path)), Value(rows), Value(shift)}))
          break;
    if (made.steps.size() > s.steps.size()) out.push_back(std::move(made));
  }
  return out;
}

std::vector<Schedule> blocks_of_recurrences(const Schedule& start, int64_t lanes) {
  std::vector<Path> loops;
  find_recurrences(start.proc, start.proc->body, {}, Child::kBody, loops);
  std::vector<Schedule> out;
  if (loops.empty()) return out;
  const Schedule s = sums_in_place(start);
  loops.clear();
  find_recurrences(s.proc, s.proc->body, {}, Child::kBody, loops);
  for (const int64_t block : sizes_of_blocks(*s.proc, loops, lanes)) {
    Schedule made = s;
    bool any = false;
    for (const Path& path : loops)
      any |= !apply(made, "block_recurrence", {Value(Cursor::stmt(s.proc, path)), Value(block)});
    if (!any) return out;
    block_panels(made, lanes);
    (void)!apply(made, "simplify", {});
    out.push_back(std::move(made));
  }
  return out;
}

}  // namespace exotune
