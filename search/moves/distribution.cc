#include "search/moves/distribution.h"

#include <algorithm>

#include "core/ir/printer.h"
#include "search/moves/parts.h"

namespace exotune {

namespace {

Path child(Path path, Child branch, int k) {
  path.push_back({branch, k});
  return path;
}

class Distribution {
 public:
  Distribution(Schedule s, bool expand) : s_(std::move(s)), expand_(expand) {}

  Schedule run() {
    for (int k = static_cast<int>(s_.proc->body.size()) - 1; k >= 0; --k)
      split({{Child::kBody, k}});
    return std::move(s_);
  }

 private:
  StmtPtr at(const Path& path) const { return stmt_at(*s_.proc, path); }
  int size(const Path& path) const { return static_cast<int>(body_of(*at(path)).size()); }

  void split(const Path& path) {
    for (int k = size(path) - 1; k >= 0; --k) split(child(path, Child::kBody, k));
    if (!at(path)->as<For>() || size(path) < 2) return;
    const Block& body = body_of(*at(path));
    if (std::none_of(body.begin(), body.end(), holds_loop)) return;
    Path loop = path;
    if (expand_) expand_allocations(loop);
    for (int k = size(loop) - 1; k >= 1; --k) {
      const StmtPtr before = at(child(loop, Child::kBody, k - 1));
      if (before->as<Alloc>() || !worth_it(loop, k)) continue;
      // A refusal is an answer: these belong together.
      (void)!apply(s_, "fission", {Value(Cursor::stmt(s_.proc, child(loop, Child::kBody, k - 1)))});
    }
  }

  // A nest on one side of the gap.
  bool worth_it(const Path& loop, int gap) const {
    const Block& body = body_of(*at(loop));
    return holds_loop(body[static_cast<size_t>(gap)]) ||
           holds_loop(body[static_cast<size_t>(gap) - 1]);
  }

  void expand_allocations(Path& loop) {
    const For& f = *at(loop)->as<For>();
    if (as_int(f.lo) != 0) return;
    const std::vector<ScopeEntry> scope = scope_at(*s_.proc, child(loop, Child::kBody, 0));
    const std::string extent = str(f.hi, scope),
                      index = str(read_var(f.iter, ScalarType::kIndex), scope);
    for (int k = 0; k < size(loop); ++k) {
      const Path path = child(loop, Child::kBody, k);
      if (!at(path)->as<Alloc>()) continue;
      Schedule tried = s_;
      const Cursor alloc = Cursor::stmt(s_.proc, path);
      if (apply(tried, "expand_dim", {Value(alloc), Value(extent), Value(index)})) continue;
      if (apply(tried, "lift_alloc", {Value(alloc)})) continue;
      s_ = std::move(tried);
      ++loop.back().index;  // the allocation stands in front of it now
      --k;
    }
  }

  Schedule s_;
  const bool expand_;
};

}  // namespace

Schedule distribute(Schedule s, bool expand) { return Distribution(std::move(s), expand).run(); }

Schedule fuse_neighbours(Schedule s) {
  for (int k = 0; k + 1 < static_cast<int>(s.proc->body.size());) {
    const Path first = {{Child::kBody, k}}, second = {{Child::kBody, k + 1}};
    const bool loops = stmt_at(*s.proc, first)->as<For>() && stmt_at(*s.proc, second)->as<For>();
    if (!loops ||
        apply(s, "fuse", {Value(Cursor::stmt(s.proc, first)), Value(Cursor::stmt(s.proc, second))}))
      ++k;
  }
  return s;
}

}  // namespace exotune
