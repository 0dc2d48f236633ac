// The sorted view that searching reads: members are grouped by leader with a counting sort, each
// class is sorted and loses its doubles, and families list their classes.
#include <algorithm>

#include "search/eqsat/egraph.h"

namespace exotune::eqsat {

void EGraph::renew_view() {
  const size_t ids = originals_.size();
  ranges_.assign(ids, {0, 0});
  for (Member& member : members_) {
    member.leader = find(member.leader);
    member.node = canonical(member.node);
    ++ranges_[member.leader].second;
  }
  classes_.clear();
  uint32_t first = 0;
  for (Id id = 0; id < ids; ++id) {
    const uint32_t count = ranges_[id].second;
    ranges_[id] = {first, first};
    first += count;
    if (count > 0) classes_.push_back(id);
  }
  view_.resize(members_.size());
  for (const Member& member : members_) view_[ranges_[member.leader].second++] = member.node;

  for (std::vector<Id>& list : by_family_) list.clear();
  members_.clear();
  uint32_t end = 0;
  for (const Id id : classes_) {
    const auto begin = view_.begin() + ranges_[id].first;
    const auto stop = view_.begin() + ranges_[id].second;
    if (stop - begin > 1) std::sort(begin, stop);
    const uint32_t start = end;
    Family last = ~Family{0};
    for (auto node = begin; node != stop; ++node) {
      if (end > start && view_[end - 1] == *node) continue;
      if (analysis_ && !analysis_->keeps(*this, id, *node)) continue;
      const Family family = family_of(node->op);
      if (family != last) {
        if (family >= by_family_.size()) by_family_.resize(family + 1);
        by_family_[family].push_back(id);
        last = family;
      }
      view_[end++] = *node;
      members_.push_back({id, *node});
    }
    ranges_[id] = {start, end};
  }
  view_.resize(end);
}

}  // namespace exotune::eqsat
