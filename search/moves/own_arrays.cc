#include "search/moves/own_arrays.h"

#include <algorithm>

#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "search/moves/parts.h"
#include "search/outline/outline.h"

namespace exotune {

namespace {

Path inside(Path path, int k) {
  path.push_back({Child::kBody, k});
  return path;
}

int size(const Schedule& s, const Path& loop) {
  return static_cast<int>(body_of(*stmt_at(*s.proc, loop)).size());
}

// Two nests at least, one of them around a loop.
bool holds_nests(const For& f) {
  int nests = 0, deep = 0;
  for (const StmtPtr& s : f.body) {
    const Block& below = body_of(*s);
    nests += s->as<For>() != nullptr;
    deep += s->as<For>() && std::any_of(below.begin(), below.end(), holds_loop);
  }
  return nests > 1 && deep > 0;
}

// The arrays that the loop's body writes and reads, at the same places in each iteration.
std::vector<std::string> made_anew(const Outline& o, const Path& loop, Sym iter) {
  std::vector<std::string> out;
  std::vector<Sym> moved, read;
  for (const OutlineAccess& a : o.accesses) {
    if (!is_prefix(loop, a.what.stmt) || a.what.idx.empty()) continue;
    if (std::any_of(a.what.idx.begin(), a.what.idx.end(),
                    [&](const ExprPtr& e) { return mentions(e, iter); }))
      moved.push_back(a.what.buffer);
    if (!a.writes()) read.push_back(a.what.buffer);
  }
  const auto among = [](const std::vector<Sym>& all, Sym x) {
    return std::find(all.begin(), all.end(), x) != all.end();
  };
  for (const OutlineAccess& a : o.accesses)
    if (is_prefix(loop, a.what.stmt) && a.writes() && !a.what.idx.empty() &&
        !among(moved, a.what.buffer) && among(read, a.what.buffer) &&
        std::find(out.begin(), out.end(), a.what.buffer.name()) == out.end())
      out.push_back(a.what.buffer.name());
  return out;
}

// A nest on one side of each cut; how many there are.
int take_apart(Schedule& s, const Path& loop) {
  int cuts = 0;
  for (int k = size(s, loop) - 1; k >= 1; --k) {
    const Path before = inside(loop, k - 1);
    if (!stmt_at(*s.proc, before)->as<Alloc>())
      cuts += !apply(s, "fission", {Value(Cursor::stmt(s.proc, before))});
  }
  return cuts;
}

std::optional<Schedule> own_array(const Schedule& s, Path loop, const std::string& array) {
  const For f = *stmt_at(*s.proc, loop)->as<For>();
  const std::string own = array + "_own";
  const int before = size(s, loop);
  Schedule out = s;
  if (apply(out, "auto_stage_mem",
            {Value(Cursor::block(s.proc, inside(loop, 0), before)), Value(array), Value(own)}))
    return std::nullopt;
  // Its allocation and what is left in the array: nothing was read of the iteration before.
  const Path alloc = inside(loop, 0);
  if (size(out, loop) != before + 2 || !stmt_at(*out.proc, alloc)->as<Alloc>()) return std::nullopt;
  const std::vector<ScopeEntry> scope = scope_at(*out.proc, alloc);
  const Value extent(str(f.hi, scope)), index(str(read_var(f.iter, ScalarType::kIndex), scope));
  if (apply(out, "expand_dim", {Value(Cursor::stmt(out.proc, alloc)), extent, index}) ||
      apply(out, "lift_alloc", {Value(Cursor::stmt(out.proc, alloc))}))
    return std::nullopt;
  ++loop.back().index;
  return take_apart(out, loop) > 0 ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace

std::optional<Schedule> with_own_arrays(const Schedule& s) {
  const Outline o = outline_of(*s.proc);
  std::vector<Path> loops;
  for (const Path& path : all_stmt_paths(*s.proc))
    if (const For* f = stmt_at(*s.proc, path)->as<For>();
        f && as_int(f->lo) == 0 && holds_nests(*f))
      loops.push_back(path);
  // The innermost first: an array for each row, and not for each of all rows of a stack.
  std::stable_sort(loops.begin(), loops.end(),
                   [](const Path& a, const Path& b) { return a.size() > b.size(); });
  for (const Path& loop : loops)
    for (const std::string& array : made_anew(o, loop, stmt_at(*s.proc, loop)->as<For>()->iter))
      if (auto out = own_array(s, loop, array)) return out;
  return std::nullopt;
}

}  // namespace exotune
