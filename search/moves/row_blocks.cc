#include "search/moves/row_blocks.h"

#include <algorithm>

#include "core/analysis/queries.h"
#include "search/moves/distribution.h"
#include "search/moves/parts.h"
#include "search/outline/outline.h"

namespace exotune {

namespace {

constexpr int64_t kFewestRows = 16;   // of a block: register tiles are four to fourteen high
constexpr int64_t kMostRows = 96;     // more rows bring tiles nothing
constexpr int64_t kWholeRows = 8;     // a block is a multiple: of several tiles' heights
constexpr int64_t kShareOfCache = 4;  // of the second cache, what a block keeps

// Bytes of the arrays that an iteration makes anew.
double own_bytes(const For& f, const Outline& o) {
  double bytes = 0;
  for (const StmtPtr& s : f.body)
    if (const Alloc* a = s->as<Alloc>(); a && !a->type.shape.empty())
      for (const OutlineBuffer& b : o.buffers)
        if (b.name == a->name) bytes += b.elements * bytes_of(a->type.scalar);
  return bytes;
}

bool holds_several_nests(const For& f) {
  return std::count_if(f.body.begin(), f.body.end(), holds_loop) > 1;
}

// All of them where they fit; nothing: not even few do.
std::optional<int64_t> rows_of_a_block(int64_t rows, double bytes, const NearestCaches& caches) {
  const double room = static_cast<double>(caches.second) / kShareOfCache;
  if (static_cast<double>(rows) * bytes <= room) return rows;
  const int64_t most =
      std::min(kMostRows, static_cast<int64_t>(room / bytes)) / kWholeRows * kWholeRows;
  if (most < kFewestRows) return std::nullopt;
  for (int64_t r = most; r >= kFewestRows; r -= kWholeRows)
    if (rows % r == 0) return r;
  return most;
}

// The nest at `path` as nests of its own, its arrays expanded; false: it stays as it is.
bool distribute_at(Schedule& s, const Path& path, const std::string& name) {
  Schedule made = s;
  Part part;
  if (take_out(made, Cursor::stmt(made.proc, path), name, part)) return false;
  const Schedule inside = distribute({part.proc, {}, false}, true);
  if (inside.steps.empty() || put_back(made, part, inside)) return false;
  s = std::move(made);
  return true;
}

struct RowsOf {
  Path loop;
  std::string name;
  int64_t extent = 0, rows = 0;
};

bool is_inside(const Path& path, const Path& loop) {
  return path.size() > loop.size() && std::equal(loop.begin(), loop.end(), path.begin());
}

// The outermost loops that are worth it, in program order.
std::vector<RowsOf> loops_of_rows(const Proc& p, const Outline& o, const NearestCaches& caches) {
  std::vector<RowsOf> out;
  for (const OutlineLoop& l : o.loops) {
    if (!out.empty() && is_inside(l.path, out.back().loop)) continue;
    const For& f = *stmt_at(p, l.path)->as<For>();
    const double bytes = own_bytes(f, o);
    if (bytes == 0 || !l.extent || !holds_several_nests(f) || !iterations_commute(p, l.path))
      continue;
    // All rows of an outermost loop are what is distributed anyway.
    const std::optional<int64_t> rows = rows_of_a_block(*l.extent, bytes, caches);
    if (rows && (*rows < *l.extent || l.parent >= 0))
      out.push_back({l.path, f.iter.name(), *l.extent, *rows});
  }
  return out;
}

}  // namespace

std::optional<Schedule> distributed_in_blocks(const Schedule& s,
                                              const std::map<std::string, int64_t>& sizes,
                                              const NearestCaches& caches) {
  if (caches.second == 0) return std::nullopt;
  const std::vector<RowsOf> loops = loops_of_rows(*s.proc, outline_of(*s.proc, sizes), caches);
  Schedule out = s;
  // The last first: places in front of it stay.
  for (auto l = loops.rbegin(); l != loops.rend(); ++l) {
    const std::string number = std::to_string(loops.rend() - l);
    Schedule tried = out;
    if (l->rows == l->extent) {
      if (distribute_at(tried, l->loop, "rows" + number)) out = std::move(tried);
      continue;
    }
    if (apply(tried, "divide_loop",
              {Value(Cursor::stmt(tried.proc, l->loop)), Value(l->rows),
               Value::strings({l->name + "b", l->name}), Value("cut")}))
      continue;
    Path rows = l->loop, rest = l->loop;
    rows.push_back({Child::kBody, 0});
    ++rest.back().index;
    if (!distribute_at(tried, rows, "rows" + number)) continue;
    if (l->extent % l->rows != 0) (void)distribute_at(tried, rest, "rest" + number);
    out = std::move(tried);
  }
  return out.steps.size() > s.steps.size() ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace exotune
