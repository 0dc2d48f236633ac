#include "search/eqsat/saturation.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "search/eqsat/applied_matches.h"
#include "search/eqsat/proof_forest.h"

namespace exotune::eqsat {
// The loop: search all rules, apply all matches, rebuild, until nothing changes or a limit is
// reached. Searching before applying makes an iteration independent of the rules' order; the
// backoff scheduler bans rules that match too much for a while. Every run has a stop reason.
//
// What an iteration makes does not depend on the order of its matches either, where no condition or
// analysis looks at the graph meanwhile: the same terms and the same equations, closed under
// congruence. So those whose right side only puts known classes together come first. They name the
// classes that the other right sides are made of, which otherwise would each be made anew, found
// equal and merged: several times as many as stay.

const char* name_of(StopReason r) {
  switch (r) {
    case StopReason::kSaturated:
      return "saturated";
    case StopReason::kIterations:
      return "iterations";
    case StopReason::kNodes:
      return "nodes";
    case StopReason::kBytes:
      return "memory";
    case StopReason::kSeconds:
      return "time";
    case StopReason::kGoal:
      return "goal";
    case StopReason::kInterrupted:
      return "interrupted";
  }
  return "?";
}

namespace {

// How often a rule was banned, and until when; the last moment whose matches were all looked at.
struct RuleState {
  int bans = 0;
  int banned_until = 0;
  Moment done;
};

bool is_plain(const Rule& rule) { return !rule.compute && rule.conditions.empty(); }

// A match by its rule and its place among the rule's.
struct Later {
  uint32_t rule, match;
};

class Saturation {
 public:
  Saturation(EGraph& graph, const std::vector<Rule>& rules, const Limits& limits,
             const ScheduleOptions& options, const SaturationHooks& hooks)
      : graph_(graph),
        rules_(rules),
        limits_(limits),
        options_(options),
        hooks_(hooks),
        states_(rules.size()),
        matches_(rules.size()),
        applied_(rules.size()),
        searched_(rules.size()) {
    for (const Rule& rule : rules) {
      matchers_.emplace_back(rule.left, rule.variables.size());
      rights_.emplace_back(rule.right);
    }
    in_any_order_ = !graph.has_analysis() && std::all_of(rules.begin(), rules.end(), is_plain);
    start_ = now();
  }

  SaturationReport run() {
    SaturationReport report;
    graph_.rebuild();
    std::optional<StopReason> stop = reached() ? StopReason::kGoal : over_limit();
    for (int i = 0; !stop; ++i) {
      if (i >= limits_.iterations) {
        stop = StopReason::kIterations;
        break;
      }
      stop = iterate(i, report);
    }
    report.stop = *stop;
    report.seconds = now() - start_;
    return report;
  }

 private:
  static constexpr size_t kAskEvery = 256;  // matches

  double now() const {
    if (hooks_.now) return hooks_.now();
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
  }

  bool reached() const { return hooks_.reached && hooks_.reached(graph_); }

  size_t match_bytes() const {
    size_t sum = 0;
    for (const Matches& m : matches_) sum += m.bytes();
    for (const AppliedMatches& a : applied_) sum += a.bytes();
    return sum + later_.capacity() * sizeof(Later);
  }

  // Asked between rules and within long ones, in the order in which users set them: nodes, memory,
  // time.
  std::optional<StopReason> over_limit() const {
    if (graph_.term_count() > limits_.nodes) return StopReason::kNodes;
    if (graph_.bytes_soon() + match_bytes() > limits_.bytes) return StopReason::kBytes;
    if (now() - start_ + rebuilding() > limits_.seconds) return StopReason::kSeconds;
    if (hooks_.interrupted && hooks_.interrupted()) return StopReason::kInterrupted;
    return std::nullopt;
  }

  // What closing and rebuilding will take: as long as the last time, by the terms there are now.
  // Neither is interrupted, so that the graph is whole whatever stopped the run.
  double rebuilding() const {
    if (rebuilt_terms_ == 0) return 0;
    return rebuilt_seconds_ * static_cast<double>(graph_.term_count()) /
           static_cast<double>(rebuilt_terms_);
  }
  size_t close() {
    const double begin = now();
    const size_t unions = graph_.close();
    closed_seconds_ = now() - begin;
    return unions;
  }
  size_t rebuild() {
    const double begin = now();
    const size_t unions = graph_.rebuild();
    rebuilt_seconds_ = now() - begin + std::exchange(closed_seconds_, 0);
    rebuilt_terms_ = graph_.term_count();
    return unions;
  }

  // Doubles each time the rule was banned, as egg does it.
  size_t limit_of(size_t rule) const {
    return options_.match_limit << std::min(states_[rule].bans, 40);
  }

  // Fills the matches of one rule; those of a rule that found too many are thrown away and it is
  // banned.
  std::optional<StopReason> search(size_t rule, int iteration) {
    Matches& found = matches_[rule];
    found.clear();
    searched_[rule] = false;
    RuleState& state = states_[rule];
    const bool backoff = options_.schedule == Schedule::kBackoff;
    if (backoff && iteration < state.banned_until) return std::nullopt;
    const size_t limit = backoff ? limit_of(rule) + 1 : std::numeric_limits<size_t>::max();
    std::optional<StopReason> stop;
    matchers_[rule].search(graph_, limit, found, {state.done, is_plain(rules_[rule])},
                           [&] { return !(stop = over_limit()); });
    searched_[rule] = !stop;
    if (backoff && found.found() >= limit) {
      found.clear();
      searched_[rule] = false;
      state.banned_until = iteration + (options_.ban_length << std::min(state.bans, 20));
      ++state.bans;
    }
    return stop;
  }

  bool allowed(const Rule& rule, Bindings bindings) const {
    return std::all_of(rule.conditions.begin(), rule.conditions.end(),
                       [&](const Condition& holds) { return holds(graph_, bindings); });
  }

  // Conditions are asked at the moment of application; a match whose condition is false now may
  // hold later and is kept for then.
  bool apply_one(size_t rule, Id root, Bindings bindings, bool known) {
    const Rule& r = rules_[rule];
    const bool plain = is_plain(r);
    const uint64_t key = plain ? 0 : hash_of_match(root, bindings);
    if (!plain && known && applied_[rule].contains(key)) return false;
    if (!allowed(r, bindings)) return false;
    const Id made = r.compute ? r.compute(graph_, bindings) : rights_[rule].make(graph_, bindings);
    if (made == kNoId) return false;
    if (!plain) applied_[rule].insert(key);
    return unite(rule, root, bindings, made);
  }

  bool unite(size_t rule, Id root, Bindings bindings, Id made) {
    // With proofs the left side must be the very term that the rule speaks of.
    if (graph_.proofs()) root = rules_[rule].left[0].pattern.instantiate(graph_, bindings);
    return graph_.unite(root, made, static_cast<int>(rule));
  }

  // True: the graph had all that the right side is made of.
  bool apply_to_known(size_t rule, Id root, Bindings bindings, size_t& applied) {
    const Id made = rights_[rule].make_of_known(graph_, bindings);
    if (made != kNoId) applied += unite(rule, root, bindings, made);
    return made != kNoId;
  }

  std::optional<StopReason> apply(size_t rule, size_t& applied) {
    const Matches& found = matches_[rule];
    for (size_t i = 0; i < found.size(); ++i) {
      if (!in_any_order_)
        applied += apply_one(rule, found.roots[i], found.bindings(i), found.known[i] != 0);
      else if (!apply_to_known(rule, found.roots[i], found.bindings(i), applied))
        later_.push_back({static_cast<uint32_t>(rule), static_cast<uint32_t>(i)});
      if (i % kAskEvery == kAskEvery - 1)
        if (const auto stop = over_limit()) return stop;
    }
    return over_limit();
  }

  // Those that the first pass left, when the graph is closed under what it made equal.
  std::optional<StopReason> apply_later(IterationReport& report) {
    if (later_.empty()) return std::nullopt;
    report.congruences += close();
    for (size_t i = 0; i < later_.size(); ++i) {
      const auto [rule, match] = later_[i];
      const Matches& found = matches_[rule];
      report.applied[rule] += apply_one(rule, found.roots[match], found.bindings(match), false);
      if (i % kAskEvery == kAskEvery - 1)
        if (const auto stop = over_limit()) return stop;
    }
    return over_limit();
  }

  // When nothing else happens, the next bans to end are moved to now.
  bool unban(int iteration) {
    int first = std::numeric_limits<int>::max();
    for (const RuleState& s : states_)
      if (s.banned_until > iteration) first = std::min(first, s.banned_until);
    if (first == std::numeric_limits<int>::max()) return false;
    for (RuleState& s : states_)
      if (s.banned_until > iteration) s.banned_until -= first - iteration;
    return true;
  }

  std::optional<StopReason> iterate(int iteration, SaturationReport& report) {
    IterationReport now_report;
    now_report.matched.assign(rules_.size(), 0);
    now_report.applied.assign(rules_.size(), 0);
    const size_t terms = graph_.term_count(), classes = graph_.class_count();
    searched_at_ = {graph_.view().number(), static_cast<Id>(graph_.id_count())};
    std::optional<StopReason> stop;
    for (size_t r = 0; r < rules_.size() && !stop; ++r) {
      stop = search(r, iteration);
      now_report.matched[r] = matches_[r].found();
    }
    later_.clear();
    for (size_t r = 0; r < rules_.size() && !stop; ++r) stop = apply(r, now_report.applied[r]);
    if (!stop) stop = apply_later(now_report);
    for (size_t r = 0; r < rules_.size() && !stop; ++r)
      if (searched_[r]) states_[r].done = searched_at_;
    now_report.congruences += rebuild();
    now_report.nodes = graph_.node_count();
    now_report.classes = graph_.class_count();
    now_report.terms = graph_.term_count();
    const bool united = std::any_of(now_report.applied.begin(), now_report.applied.end(),
                                    [](size_t unions) { return unions > 0; });
    report.iterations.push_back(std::move(now_report));
    if (reached()) return StopReason::kGoal;
    if (stop) return stop;
    if (united) return std::nullopt;
    const bool grew = terms != graph_.term_count() || classes != graph_.class_count();
    if (!unban(iteration) && !grew) return StopReason::kSaturated;
    return std::nullopt;
  }

  EGraph& graph_;
  const std::vector<Rule>& rules_;
  const Limits limits_;
  const ScheduleOptions options_;
  const SaturationHooks& hooks_;
  std::vector<Matcher> matchers_;
  std::vector<Maker> rights_;  // right sides
  std::vector<RuleState> states_;
  std::vector<Matches> matches_;
  std::vector<AppliedMatches> applied_;
  bool in_any_order_ = false;   // matches may be applied so
  FlatVector<Later> later_;     // left by the first pass
  std::vector<char> searched_;  // by rule: whether this iteration found all its matches
  Moment searched_at_;
  double start_ = 0;
  double closed_seconds_ = 0, rebuilt_seconds_ = 0;
  size_t rebuilt_terms_ = 0;
};

}  // namespace

SaturationReport saturate(EGraph& graph, const std::vector<Rule>& rules, const Limits& limits,
                          const ScheduleOptions& options, const SaturationHooks& hooks) {
  return Saturation(graph, rules, limits, options, hooks).run();
}

std::vector<std::string> rules_between(const EGraph& graph, Id from, Id to,
                                       const std::vector<Rule>& rules) {
  constexpr size_t kLongest = 1'000;  // steps; nobody reads more
  std::vector<std::string> names;
  if (!graph.proofs()) return names;
  const auto steps = graph.proofs()->explain(graph, from, to, kLongest);
  if (!steps) return names;
  for (const ProofStep& step : *steps) {
    if (step.rule < 0) continue;
    const std::string& name = rules[static_cast<size_t>(step.rule)].name;
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

}  // namespace exotune::eqsat
