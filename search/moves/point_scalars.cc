#include "search/moves/point_scalars.h"

#include <algorithm>
#include <functional>
#include <set>

#include "core/library/inspection.h"

namespace exotune {

namespace {

constexpr int64_t kPointElements = 16;    // of a point: a matrix of four by four
constexpr int64_t kPointIterations = 4;   // of a loop beside them: components of one element
constexpr int64_t kMostWrittenOut = 128;  // statements in all: every later step reads each of them

// An array of few elements in a loop's body.
struct PointArray {
  Sym name;
  Path alloc;
  int rank = 0;
};

std::optional<int64_t> point_elements(const Type& type) {
  if (!type.is_tensor() || type.shape.empty()) return std::nullopt;
  int64_t out = 1;
  for (const ExprPtr& extent : type.shape) {
    const std::optional<int64_t> n = as_int(extent);
    if (!n || *n < 1 || *n > kPointElements) return std::nullopt;
    out *= *n;
  }
  return out;
}

class InScalars {
 public:
  explicit InScalars(Schedule s) : s_(std::move(s)) {
    for (const Path& path : all_stmt_paths(*s_.proc))
      if (const For* f = stmt_at(*s_.proc, path)->as<For>(); f && has_loops(*f))
        around_others_.insert(f->iter.name());
  }

  std::optional<Schedule> run() {
    bool any = false;
    for (bool more = true; more;) {
      more = false;
      for (const PointArray& array : arrays()) {
        if (!tried_.insert(array.name).second) continue;
        Schedule before = s_;
        more = take_apart(array);
        any |= more;
        if (more) break;  // places have changed
        s_ = std::move(before);
      }
    }
    if (!any) return std::nullopt;
    return std::move(s_);
  }

 private:
  std::vector<PointArray> arrays() const {
    std::vector<PointArray> out;
    const std::function<void(const Block&, const Path&)> walk = [&](const Block& block,
                                                                    const Path& parent) {
      for (size_t k = 0; k < block.size(); ++k) {
        const Path here = child(parent, static_cast<int>(k));
        const Alloc* a = block[k]->as<Alloc>();
        if (a && !parent.empty() &&
            point_elements(a->type).value_or(kPointElements + 1) <= kPointElements)
          out.push_back({a->name, here, static_cast<int>(a->type.shape.size())});
        if (block[k]->as<For>()) walk(body_of(*block[k]), here);
      }
    };
    walk(s_.proc->body, {});
    return out;
  }

  bool take_apart(const PointArray& array) {
    Path around = array.alloc;
    around.pop_back();
    const Cursor alloc = Cursor::stmt(s_.proc, array.alloc), points = Cursor::stmt(s_.proc, around);
    const std::optional<std::set<std::string>> names = short_loops(array);
    if (!names) return false;
    // The inner ones, and the last ones, first: places in front of them stay. Of a triangle only
    // the outer one has as many iterations as a number says, at first.
    for (bool more = true; more;) {
      const std::vector<Cursor> loops = loops_in(forward(s_.proc, points).path(), *names);
      more = false;
      for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
        if (!literal_extent(loop->as<For>())) continue;
        if (apply(s_, "unroll_loop", {Value(forward(s_.proc, *loop))})) return false;
        more = true;
      }
      if (more && apply(s_, "simplify", {Value(forward(s_.proc, points))})) return false;
      if (!more && !loops.empty()) return false;
    }
    return apart(forward(s_.proc, alloc), array.rank);
  }

  // In pre-order; a long loop of the same name is not meant.
  std::vector<Cursor> loops_in(const Path& points, const std::set<std::string>& names) const {
    std::vector<Cursor> out;
    for (const Path& path : all_stmt_paths(*s_.proc)) {
      const For* f = stmt_at(*s_.proc, path)->as<For>();
      if (f && is_prefix(points, path) && path.size() > points.size() &&
          names.count(f->iter.name()) != 0 &&
          literal_extent(*f).value_or(kPointElements) <= kPointElements)
        out.push_back(Cursor::stmt(s_.proc, path));
    }
    return out;
  }

  // From the last dimension on; the first of the new arrays takes the place of the old one.
  bool apart(const Cursor& alloc, int rank) {
    if (rank == 0) return true;
    const Path first = alloc.path();
    const std::optional<int64_t> arrays = as_int(alloc.as<Alloc>().type.shape.back());
    if (!arrays || apply(s_, "unroll_buffer", {Value(alloc), Value(int64_t{rank} - 1)}))
      return false;
    for (int64_t k = *arrays - 1; k >= 0; --k)
      if (!apart(Cursor::stmt(s_.proc, sibling(first, static_cast<int>(k))), rank - 1))
        return false;
    return true;
  }

  // The names of the loops of one point that are written out: those that the array's indices move
  // along, and the innermost ones of few iterations. Nothing: one of them is long or holds a long
  // one, or there would be too many statements.
  std::optional<std::set<std::string>> short_loops(const PointArray& array) const {
    const Path& alloc = array.alloc;
    const Path points(alloc.begin(), alloc.end() - 1);
    const int behind = size_of_block(s_.proc, alloc) - alloc.back().index - 1;
    if (behind == 0) return std::nullopt;
    const std::vector<Access> accesses = accesses_of(*s_.proc, sibling(alloc, 1), behind);
    const auto moves_along = [&](Sym iter) {
      return std::any_of(accesses.begin(), accesses.end(), [&](const Access& a) {
        return a.buffer == array.name &&
               std::any_of(a.idx.begin(), a.idx.end(),
                           [&](const ExprPtr& e) { return mentions(e, iter); });
      });
    };
    std::set<std::string> out;
    bool fits = true;
    // How many statements become of a block.
    const std::function<int64_t(const Block&, const Path&, Child, bool)> walk =
        [&](const Block& block, const Path& parent, Child branch, bool written_out) -> int64_t {
      int64_t statements = 0;
      for (size_t k = 0; k < block.size(); ++k) {
        const Stmt& s = *block[k];
        Path here = parent;
        here.push_back({branch, static_cast<int>(k)});
        const For* f = s.as<For>();
        if (!f) {
          statements += 1 + walk(body_of(s), here, Child::kBody, written_out) +
                        walk(orelse_of(s), here, Child::kOrelse, written_out);
          continue;
        }
        const std::optional<int64_t> n = as_int(greatest_bound(s_.proc, f->hi - f->lo, here));
        const bool mine = moves_along(f->iter) || (n && *n <= kPointIterations &&
                                                   around_others_.count(f->iter.name()) == 0);
        fits &= mine ? n && *n <= kPointElements : !written_out;
        if (mine) out.insert(f->iter.name());
        statements +=
            walk(f->body, here, Child::kBody, written_out || mine) * (mine ? n.value_or(1) : 1);
      }
      return statements;
    };
    const int64_t statements =
        walk(body_of(*stmt_at(*s_.proc, points)), points, Child::kBody, false);
    if (!fits || statements > kMostWrittenOut) return std::nullopt;
    return out;
  }

  Schedule s_;
  std::set<std::string> around_others_;  // loops that others stand in, as it is written
  std::set<Sym> tried_;
};

}  // namespace

std::optional<Schedule> points_in_scalars(const Schedule& s) { return InScalars(s).run(); }

}  // namespace exotune
