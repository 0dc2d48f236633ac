#pragma once
// Arithmetic, derivatives and integrals: the rule set that other e-graph libraries test with, its
// constant folding, and terms to simplify. Start at arithmetic_rules.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "search/eqsat/saturation.h"

namespace exotune::eqsat {

/// Knows constants and whether a class holds a symbol; a class with a constant keeps its leaves
/// only.
class ConstantFolding : public Analysis {
 public:
  struct Fact {
    std::optional<double> constant;
    bool symbol = false;
  };

  explicit ConstantFolding(OpTable& ops) : ops_(ops) {
    for (const char* name : {"+", "-", "*", "/"}) arithmetic_.push_back(ops.family(name));
    number_ = ops.family("num");
    fraction_ = ops.family("fraction");
  }

  const Fact& fact(Id id) const { return facts_[id]; }

  void make(const EGraph& graph, const ENode& node, Id id) override {
    if (id >= facts_.size()) facts_.resize(id);
    facts_.push_back(fact_of(graph, node));
  }
  std::pair<bool, bool> merge(Id into, Id from) override {
    Fact &a = facts_[into], &b = facts_[from];
    const bool a_learns = !a.constant && b.constant, b_learns = a.constant && !b.constant;
    if (a_learns) a.constant = b.constant;
    a.symbol |= b.symbol;
    return {a_learns, b_learns};
  }
  bool remake(const EGraph& graph, const ENode& node, Id id) override {
    if (facts_[id].constant) return false;
    facts_[id].constant = fact_of(graph, node).constant;
    return facts_[id].constant.has_value();
  }
  void modify(EGraph& graph, Id id) override {
    const auto value = facts_[graph.find(id)].constant;
    if (!value) return;
    graph.unite(id, graph.add(number(*value)));
  }
  bool keeps(const EGraph&, Id id, const ENode& node) const override {
    return !facts_[id].constant || node.arity() == 0;
  }

  /// The operator of a constant: an integer where it is one, otherwise the bits of a double.
  Op number(double value) {
    if (value == std::floor(value) && std::abs(value) < 1e15)
      return ops_.op(number_, {static_cast<int64_t>(value)});
    fractions_.emplace(value, static_cast<int64_t>(fractions_.size()));
    values_[fractions_[value]] = value;
    return ops_.op(fraction_, {fractions_[value]});
  }

 private:
  Fact fact_of(const EGraph& graph, const ENode& node) const {
    const Family family = family_of(node.op);
    if (family == number_) return {static_cast<double>(ops_.params(node.op)[0]), false};
    if (family == fraction_) return {values_.at(ops_.params(node.op)[0]), false};
    if (node.arity() == 0) return {std::nullopt, true};
    if (node.arity() != 2) return {};
    if (std::find(arithmetic_.begin(), arithmetic_.end(), family) == arithmetic_.end()) return {};
    const auto a = facts_[graph.find(node.children[0])].constant;
    const auto b = facts_[graph.find(node.children[1])].constant;
    if (!a || !b) return {};
    if (family == arithmetic_[0]) return {*a + *b, false};
    if (family == arithmetic_[1]) return {*a - *b, false};
    if (family == arithmetic_[2]) return {*a * *b, false};
    if (family == arithmetic_[3] && *b != 0) return {*a / *b, false};
    return {};
  }

  OpTable& ops_;
  std::vector<Family> arithmetic_;
  Family number_ = 0, fraction_ = 0;
  std::map<double, int64_t> fractions_;
  std::map<int64_t, double> values_;
  std::vector<Fact> facts_;
};

inline std::vector<Rule> arithmetic_rules(OpTable& ops, const ConstantFolding& folding) {
  std::vector<Rule> rules;
  const auto fact = [&folding](const EGraph& g, Id id) -> const ConstantFolding::Fact& {
    return folding.fact(g.find(id));
  };
  const auto rule = [&](const char* name, const char* text) -> Rule& {
    rules.push_back(Rule::parse(name, text, ops));
    return rules.back();
  };
  const auto not_zero = [&](Rule& r, const char* variable) {
    const size_t v = static_cast<size_t>(r.variables.find(variable));
    r.conditions.push_back([fact, v](const EGraph& g, Bindings b) {
      const auto& c = fact(g, b[v]).constant;
      return !c || *c != 0;
    });
  };
  const auto is_symbol = [&](Rule& r, const char* variable) {
    const size_t v = static_cast<size_t>(r.variables.find(variable));
    r.conditions.push_back([fact, v](const EGraph& g, Bindings b) { return fact(g, b[v]).symbol; });
  };
  const auto is_constant = [&](Rule& r, const char* variable) {
    const size_t v = static_cast<size_t>(r.variables.find(variable));
    r.conditions.push_back(
        [fact, v](const EGraph& g, Bindings b) { return fact(g, b[v]).constant.has_value(); });
  };
  const auto constant_or_other_symbol = [&](Rule& r, const char* one, const char* other) {
    const size_t v = static_cast<size_t>(r.variables.find(one));
    const size_t w = static_cast<size_t>(r.variables.find(other));
    r.conditions.push_back([fact, v, w](const EGraph& g, Bindings b) {
      return g.find(b[v]) != g.find(b[w]) && (fact(g, b[v]).constant || fact(g, b[v]).symbol);
    });
  };

  rule("comm-add", "(+ ?a ?b) => (+ ?b ?a)");
  rule("comm-mul", "(* ?a ?b) => (* ?b ?a)");
  rule("assoc-add", "(+ ?a (+ ?b ?c)) => (+ (+ ?a ?b) ?c)");
  rule("assoc-mul", "(* ?a (* ?b ?c)) => (* (* ?a ?b) ?c)");
  rule("sub-canon", "(- ?a ?b) => (+ ?a (* -1 ?b))");
  not_zero(rule("div-canon", "(/ ?a ?b) => (* ?a (pow ?b -1))"), "?b");
  rule("zero-add", "(+ ?a 0) => ?a");
  rule("zero-mul", "(* ?a 0) => 0");
  rule("one-mul", "(* ?a 1) => ?a");
  rule("add-zero", "?a => (+ ?a 0)");
  rule("mul-one", "?a => (* ?a 1)");
  rule("cancel-sub", "(- ?a ?a) => 0");
  not_zero(rule("cancel-div", "(/ ?a ?a) => 1"), "?a");
  rule("distribute", "(* ?a (+ ?b ?c)) => (+ (* ?a ?b) (* ?a ?c))");
  rule("factor", "(+ (* ?a ?b) (* ?a ?c)) => (* ?a (+ ?b ?c))");
  rule("pow-mul", "(* (pow ?a ?b) (pow ?a ?c)) => (pow ?a (+ ?b ?c))");
  not_zero(rule("pow0", "(pow ?x 0) => 1"), "?x");
  rule("pow1", "(pow ?x 1) => ?x");
  rule("pow2", "(pow ?x 2) => (* ?x ?x)");
  not_zero(rule("pow-recip", "(pow ?x -1) => (/ 1 ?x)"), "?x");
  not_zero(rule("recip-mul-div", "(* ?x (/ 1 ?x)) => 1"), "?x");
  is_symbol(rule("d-variable", "(d ?x ?x) => 1"), "?x");
  {
    Rule& r = rule("d-constant", "(d ?x ?c) => 0");
    is_symbol(r, "?x");
    constant_or_other_symbol(r, "?c", "?x");
  }
  rule("d-add", "(d ?x (+ ?a ?b)) => (+ (d ?x ?a) (d ?x ?b))");
  rule("d-mul", "(d ?x (* ?a ?b)) => (+ (* ?a (d ?x ?b)) (* ?b (d ?x ?a)))");
  rule("d-sin", "(d ?x (sin ?x)) => (cos ?x)");
  rule("d-cos", "(d ?x (cos ?x)) => (* -1 (sin ?x))");
  not_zero(rule("d-ln", "(d ?x (ln ?x)) => (/ 1 ?x)"), "?x");
  {
    Rule& r = rule("d-power",
                   "(d ?x (pow ?f ?g)) => (* (pow ?f ?g) (+ (* (d ?x ?f) (/ ?g ?f)) "
                   "(* (d ?x ?g) (ln ?f))))");
    not_zero(r, "?f");
    not_zero(r, "?g");
  }
  rule("i-one", "(i 1 ?x) => ?x");
  is_constant(rule("i-power-const", "(i (pow ?x ?c) ?x) => (/ (pow ?x (+ ?c 1)) (+ ?c 1))"), "?c");
  rule("i-cos", "(i (cos ?x) ?x) => (sin ?x)");
  rule("i-sin", "(i (sin ?x) ?x) => (* -1 (cos ?x))");
  rule("i-sum", "(i (+ ?f ?g) ?x) => (+ (i ?f ?x) (i ?g ?x))");
  rule("i-dif", "(i (- ?f ?g) ?x) => (- (i ?f ?x) (i ?g ?x))");
  rule("i-parts", "(i (* ?a ?b) ?x) => (- (* ?a (i ?b ?x)) (i (* (d ?x ?a) (i ?b ?x)) ?x))");
  return rules;
}

}  // namespace exotune::eqsat
