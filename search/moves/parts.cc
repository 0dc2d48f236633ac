#include "search/moves/parts.h"

#include <algorithm>

#include "core/analysis/queries.h"
#include "search/outline/outline.h"

namespace exotune {

const For* only_loop_in(const For& f) {
  return f.body.size() == 1 ? f.body.front()->as<For>() : nullptr;
}

bool holds_loop(const StmtPtr& s) {
  if (s->as<For>()) return true;
  const auto any = [](const Block& b) { return std::any_of(b.begin(), b.end(), holds_loop); };
  return any(body_of(*s)) || any(orelse_of(*s));
}

namespace {

// Loops down to the first level with several statements: how many of those hold a loop?
int nests_below(const StmtPtr& s) {
  StmtPtr at = s;
  while (body_of(*at).size() == 1 && body_of(*at).front()->as<For>()) at = body_of(*at).front();
  return static_cast<int>(std::count_if(body_of(*at).begin(), body_of(*at).end(), holds_loop));
}

class Walk {
 public:
  explicit Walk(ProcPtr p) : p_(std::move(p)) {}
  std::vector<Cursor> run() {
    block(p_->body, {}, Child::kBody);
    return std::move(out_);
  }

 private:
  void block(const Block& b, const Path& around, Child branch) {
    for (int k = 0; k < static_cast<int>(b.size()); ++k) {
      Path path = around;
      path.push_back({branch, k});
      const StmtPtr& s = b[static_cast<size_t>(k)];
      if (s->as<For>() && is_part(s, path)) {
        out_.push_back(Cursor::stmt(p_, path));
        continue;
      }
      block(body_of(*s), path, Child::kBody);
      block(orelse_of(*s), path, Child::kOrelse);
    }
  }

  bool is_part(const StmtPtr& s, const Path& path) const {
    if (!holds_loop_below(s)) return true;
    const bool is_nest = nests_below(s) < 2 || (path.size() > 1 && runs_along(path));
    return is_nest && iterations_commute(*p_, path);
  }
  // Whatever stands in it touches elements side by side: the loops inside alone would step from
  // line to line.
  bool runs_along(const Path& path) const {
    if (!outline_) outline_ = outline_of(*p_);
    const int loop = outline_->loop_at(path);
    if (loop < 0 || outline_->loops[static_cast<size_t>(loop)].in_condition) return false;
    for (const OutlineLoop& inner : outline_->loops)
      if (std::ranges::count(inner.bounded_by, loop)) return false;
    bool some = false;
    for (const OutlineAccess& a : outline_->accesses) {
      if (!std::ranges::count(a.loops, loop)) continue;
      const std::optional<int64_t> step = outline_->stride(a, loop);
      if (!step || *step < 0 || *step > 1) return false;
      some = some || *step > 0;
    }
    return some;
  }
  static bool holds_loop_below(const StmtPtr& s) {
    const Block& b = body_of(*s);
    return std::any_of(b.begin(), b.end(), holds_loop);
  }

  ProcPtr p_;
  mutable std::optional<Outline> outline_;  // read when it is asked for
  std::vector<Cursor> out_;
};

}  // namespace

std::vector<Cursor> parts_of(const ProcPtr& p) { return Walk(p).run(); }

bool is_whole(const ProcPtr& p, const std::vector<Cursor>& parts) {
  return parts.size() == 1 && parts.front().path().size() == 1 &&
         std::count_if(p->body.begin(), p->body.end(), holds_loop) == 1;
}

}  // namespace exotune
