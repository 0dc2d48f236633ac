#include "core/library/blocking.h"

#include "core/library/inspection.h"

namespace exotune {

namespace {

Cursor at(const ProcPtr& p, const Path& path) { return Cursor::stmt(p, path); }

// The loop right after the one at `path`, when it is the boundary that divide_loop made.
bool has_boundary(const Proc& p, const Path& path, const std::string& name) {
  StmtPtr next = stmt_at(p, sibling(path, 1));
  const For* f = next ? next->as<For>() : nullptr;
  return f && f->iter.name() == name;
}

ProcPtr block_one(ProcPtr p, const Cursor& loop, int64_t size, const std::vector<std::string>& names,
                  const std::string& outside) {
  Path path = loop.path();
  auto extent = literal_extent(loop.as<For>());
  if (extent && *extent > 0 && *extent <= size) {
    p = divide_loop(p, loop, *extent, names, Tail::kPerfect);
    return unroll_loop(p, at(p, path));
  }
  p = divide_loop(p, loop, size, names, Tail::kCut);
  if (outside.empty()) return p;
  int levels = levels_to(at(p, path), outside);
  if (levels == 0)
    throw InvalidCursorError("the loop over `" + names[0] + "` is not inside a loop over `" + outside + "`");
  if (has_boundary(*p, path, names[1])) p = fission(p, at(p, path).after(), levels);
  for (int k = 0; k < levels; ++k) {
    p = lift_scope(p, at(p, path));
    path = parent_stmt(path);
  }
  return p;
}

}  // namespace

ProcPtr block_loop(ProcPtr p, const std::string& loop, int64_t size,
                   const std::vector<std::string>& names, const std::string& outside) {
  // Last first: rewriting one loop's nest moves only what comes after it.
  std::vector<Cursor> loops = require_loops(p, loop);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c)
    p = block_one(p, at(p, c->path()), size, names, outside);
  return p;
}

ProcPtr tile_loops(ProcPtr p, const std::vector<std::pair<std::string, int64_t>>& loops, Tail tail) {
  for (const auto& [name, size] : loops)
    p = divide_loop(p, name, size, {name + "o", name + "i"}, tail);
  // Each outer loop moves out past the inner loops of those before it.
  for (size_t k = 1; k < loops.size(); ++k)
    p = lift_scope_n(p, Where(loops[k].first + "o"), static_cast<int>(k));
  return p;
}

ProcPtr lift_scope_n(ProcPtr p, const Where& scope, int n) {
  Path path = scope.scope(p).path();
  for (int k = 0; k < n; ++k) {
    p = lift_scope(p, at(p, path));
    path = parent_stmt(path);
  }
  return p;
}

ProcPtr fission_as_much_as_possible(ProcPtr p, const Where& loop) {
  Path path = loop.loop(p).path();
  int last = static_cast<int>(body_of(*stmt_at(*p, path)).size()) - 1;
  for (int k = last; k >= 1; --k) {
    Path gap = path;
    gap.push_back({Child::kBody, k});
    try {
      p = fission(p, Cursor::gap(p, gap), 1);
    } catch (const SchedulingError&) {
      // This split is not allowed: both halves stay together.
    }
  }
  return p;
}

ProcPtr round_loop(ProcPtr p, const Where& loop, int64_t q, const std::vector<std::string>& names) {
  return divide_loop(p, loop, q, names, Tail::kGuard);
}

ProcPtr interleave_loop(ProcPtr p, const Where& loop, int64_t factor) {
  Cursor c = loop.loop(p);
  Path path = c.path();
  std::string name = c.as<For>().iter.name();
  auto extent = literal_extent(c.as<For>());
  if (extent && *extent <= factor) return unroll_loop(p, c);
  p = divide_loop(p, c, factor, {name + "o", name + "i"}, Tail::kCut);
  path.push_back({Child::kBody, 0});
  return unroll_loop(p, at(p, path));
}

ProcPtr unroll_and_jam(ProcPtr p, const Where& outer, int64_t factor) {
  Cursor c = outer.loop(p);
  Path path = c.path();
  std::string name = c.as<For>().iter.name();
  p = divide_loop(p, c, factor, {name + "o", name + "i"}, Tail::kCut);
  // Sink the inner part below every loop it is perfectly nested in, then unroll it there.
  path.push_back({Child::kBody, 0});
  for (;;) {
    const Block& body = body_of(*stmt_at(*p, path));
    if (body.size() != 1 || !body[0]->as<For>()) break;
    p = reorder_loops(p, at(p, path));
    path.push_back({Child::kBody, 0});
  }
  return unroll_loop(p, at(p, path));
}

ProcPtr unroll_all(ProcPtr p, const std::string& loop) {
  std::vector<Cursor> loops = require_loops(p, loop);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) p = unroll_loop(p, at(p, c->path()));
  return p;
}

}  // namespace exotune
