// The e-graph against congruence closure as one would write it down: after each of many rebuilds
// the same classes, as many of them, the same nodes, and each term where it belongs.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <vector>

#include "search/eqsat/egraph.h"

namespace exotune::eqsat {
namespace {

// All that was ever added, and which of it is equal; closed by comparing every pair of terms until
// nothing changes.
class ByAllPairs {
 public:
  struct Node {
    Op op;
    std::vector<size_t> children;
  };

  size_t add(Node node) {
    leader_.push_back(nodes_.size());
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }
  void unite(size_t a, size_t b) {
    const size_t from = leader_[a], into = leader_[b];
    for (size_t& l : leader_)
      if (l == from) l = into;
  }
  void close() {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < nodes_.size(); ++i)
        for (size_t j = 0; j < i; ++j)
          if (leader_[i] != leader_[j] && canonical(i) == canonical(j)) {
            unite(i, j);
            changed = true;
          }
    }
  }

  const Node& node(size_t k) const { return nodes_[k]; }
  size_t size() const { return nodes_.size(); }
  bool equal(size_t a, size_t b) const { return leader_[a] == leader_[b]; }
  size_t classes() const { return std::set<size_t>(leader_.begin(), leader_.end()).size(); }
  size_t distinct() const {
    std::set<std::vector<size_t>> all;
    for (size_t k = 0; k < nodes_.size(); ++k) all.insert(canonical(k));
    return all.size();
  }

 private:
  std::vector<size_t> canonical(size_t k) const {
    std::vector<size_t> out = {static_cast<size_t>(nodes_[k].op)};
    for (const size_t child : nodes_[k].children) out.push_back(leader_[child]);
    return out;
  }

  std::vector<Node> nodes_;
  std::vector<size_t> leader_;
};

class Comparison {
 public:
  Comparison(uint32_t seed, bool proofs) : random_(seed), graph_(ops_, nullptr, proofs) {
    for (const char* name : {"a", "b", "c", "d", "e"}) add({ops_.op(name), {}});
    for (const char* name : {"f", "g", "h"}) functions_.push_back(ops_.op(name));
  }

  // A few terms, a few unions, sometimes an equality that was there before; then both are closed.
  void step() {
    for (size_t n = below(12); n-- > 0;) {
      ByAllPairs::Node node{functions_[below(3)], {}};
      for (size_t k = 1 + below(3); k-- > 0;) node.children.push_back(below(all_.size()));
      add(std::move(node));
    }
    for (size_t n = below(4); n-- > 0;) {
      const size_t a = below(all_.size()), b = below(all_.size());
      graph_.unite(ids_[a], ids_[b]);
      all_.unite(a, b);
    }
    graph_.rebuild();
    all_.close();
  }

  void expect_equal() {
    ASSERT_EQ(graph_.class_count(), all_.classes());
    ASSERT_EQ(graph_.node_count(), all_.distinct());
    for (size_t i = 0; i < all_.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        ASSERT_EQ(graph_.find(ids_[i]) == graph_.find(ids_[j]), all_.equal(i, j)) << i << " " << j;
    // What is there is not made again, whichever names its children have now.
    for (size_t k = 0; k < all_.size(); ++k)
      ASSERT_EQ(graph_.find(again(k)), graph_.find(ids_[k])) << k;
    ASSERT_EQ(graph_.node_count(), all_.distinct());
  }

 private:
  size_t below(size_t n) { return random_() % n; }
  Id again(size_t k) {
    std::vector<Id> children;
    for (const size_t child : all_.node(k).children) children.push_back(ids_[child]);
    return graph_.add(all_.node(k).op, children);
  }
  void add(ByAllPairs::Node node) {
    const size_t k = all_.add(std::move(node));
    ids_.push_back(again(k));
  }

  std::mt19937 random_;
  OpTable ops_;
  EGraph graph_;
  ByAllPairs all_;
  std::vector<Id> ids_;
  std::vector<Op> functions_;
};

TEST(Congruence, is_that_of_all_pairs_after_each_of_many_rebuilds) {
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    Comparison both(seed, seed % 2 == 0);
    for (int steps = 0; steps < 8; ++steps) {
      both.step();
      both.expect_equal();
      if (HasFatalFailure()) FAIL() << "seed " << seed << ", step " << steps;
    }
  }
}

}  // namespace
}  // namespace exotune::eqsat
