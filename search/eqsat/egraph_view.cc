// Making a view: nodes are grouped by leader with a counting sort; classes in which anything
// changed are sorted and lose their doubles, of which the oldest stays.
#include "search/eqsat/egraph_view.h"

#include <algorithm>
#include <utility>

#include "search/eqsat/egraph.h"

namespace exotune::eqsat {

class EGraphView::Renewal {
 public:
  Renewal(EGraphView& view, const EGraph& graph, const Analysis* analysis)
      : view_(view), graph_(graph), analysis_(analysis), old_(view.before_), next_(view.now_) {
    std::swap(view.now_, view.before_);
    ++view_.number_;
  }

  void run(Id added) {
    count(added);
    for (size_t k = 0; k < old_.classes.size(); ++k) place_class(k);
    for (Id id = added; id < graph_.id_count(); ++id)
      if (is_member(id))
        place(graph_.find(id), graph_.canonical(graph_.node(id)), view_.number_, true);
    for (std::vector<Id>& list : view_.by_family_) list.clear();
    next_.ends.clear();
    for (const Id id : next_.classes) {
      settle(id);
      next_.ends.push_back(end_);
    }
    next_.nodes.resize(end_);
    next_.births.resize(end_);
  }

 private:
  // Room for each class; until it is settled, bit 0 of `families` says that it changed.
  void count(Id added) {
    FlatVector<Range>& ranges = view_.ranges_;
    ranges.resize(graph_.id_count());
    std::fill(ranges.begin(), ranges.end(), Range{});
    for (size_t k = 0; k < old_.classes.size(); ++k)
      ranges[graph_.find(old_.classes[k])].last += old_.ends[k] - first_of(k);
    for (Id id = added; id < ranges.size(); ++id)
      if (is_member(id)) ++ranges[graph_.find(id)].last;
    next_.classes.clear();
    uint32_t first = 0;
    for (Id id = 0; id < ranges.size(); ++id) {
      Range& range = ranges[id];
      if (range.last > 0) next_.classes.push_back(id);
      const uint32_t count = std::exchange(range.last, first);
      range.first = first;
      first += count;
    }
    next_.nodes.resize(first);
    next_.births.resize(first);
  }

  bool is_member(Id id) const { return graph_.node(id).op != kNoOp; }

  // Where the nodes of the k-th class of the last view begin.
  uint32_t first_of(size_t k) const { return k == 0 ? 0 : old_.ends[k - 1]; }

  void place_class(size_t k) {
    const Id id = old_.classes[k], leader = graph_.find(id);
    for (uint32_t i = first_of(k); i < old_.ends[k]; ++i) {
      const ENode node = graph_.canonical(old_.nodes[i]);
      const bool changed = leader != id || !(node == old_.nodes[i]);
      place(leader, node, changed ? view_.number_ : old_.births[i], changed);
    }
  }

  void place(Id leader, const ENode& node, uint32_t birth, bool changed) {
    Range& range = view_.ranges_[leader];
    next_.nodes[range.last] = node;
    next_.births[range.last] = birth;
    ++range.last;
    range.families |= changed;
  }

  // The final place of a class's nodes, closing the gaps that dropped nodes leave.
  void settle(Id id) {
    Range& range = view_.ranges_[id];
    const Range placed = std::exchange(range, {end_, end_, 0});
    if (placed.families == 0) {
      for (uint32_t i = placed.first; i < placed.last; ++i)
        keep(id, range, next_.nodes[i], next_.births[i]);
      return;
    }
    FlatVector<Aged>& sorted = view_.sorted_;
    sorted.clear();
    for (uint32_t i = placed.first; i < placed.last; ++i)
      sorted.push_back({next_.nodes[i], next_.births[i]});
    std::sort(sorted.begin(), sorted.end(), [](const Aged& a, const Aged& b) {
      return a.node == b.node ? a.birth < b.birth : a.node < b.node;
    });
    for (size_t i = 0; i < sorted.size(); ++i)
      if (i == 0 || !(sorted[i].node == sorted[i - 1].node))
        keep(id, range, sorted[i].node, sorted[i].birth);
  }

  void keep(Id id, Range& range, ENode node, uint32_t birth) {
    if (analysis_ && !analysis_->keeps(graph_, id, node)) return;
    const Family family = family_of(node.op);
    if (range.last == range.first || family != family_of(next_.nodes[range.last - 1].op)) {
      if (family >= view_.by_family_.size()) view_.by_family_.resize(family + 1);
      view_.by_family_[family].push_back(id);
      range.families |= uint32_t{1} << (family & 31);
    }
    next_.nodes[range.last] = node;
    next_.births[range.last] = birth;
    ++range.last;
    ++end_;
  }

  EGraphView& view_;
  const EGraph& graph_;
  const Analysis* const analysis_;
  const Nodes& old_;
  Nodes& next_;
  uint32_t end_ = 0;
};

void EGraphView::renew(const EGraph& graph, const Analysis* analysis, Id added) {
  Renewal(*this, graph, analysis).run(added);
}

size_t EGraphView::growth(size_t nodes, size_t ids) const {
  const auto more = [](const auto& v, size_t wanted) {
    return wanted <= v.capacity()
               ? 0
               : (std::max(wanted, 2 * v.capacity()) - v.capacity()) * sizeof(v[0]);
  };
  const size_t all = node_count() + nodes;
  return more(before_.nodes, all) + more(before_.births, all) + more(ranges_, ranges_.size() + ids);
}

size_t EGraphView::bytes() const {
  const auto held = [](const auto&... v) { return (... + (v.capacity() * sizeof(v[0]))); };
  const auto of = [&](const Nodes& n) { return held(n.nodes, n.births, n.classes, n.ends); };
  return of(now_) + of(before_) + held(sorted_, ranges_);
}

}  // namespace exotune::eqsat
