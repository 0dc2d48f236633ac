#include "core/analysis/solver.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>

#include "core/analysis/queries.h"
#include "core/analysis/question_cache.h"
#include "core/base/deadline.h"

namespace exotune {
namespace {

// Of the whole program, for `-v` and the tests of speed; no answer depends on them.
struct Counters {
  std::atomic<int64_t> syntactic{0}, affine{0}, z3{0}, cached{0}, unknown{0};
  std::atomic<int64_t> all_ns{0}, z3_ns{0};
};
Counters& counters() {
  static Counters c;
  return c;
}

// Adds the time until it goes out of scope.
class Stopwatch {
 public:
  explicit Stopwatch(std::atomic<int64_t>& into)
      : into_(into), start_(std::chrono::steady_clock::now()) {}
  ~Stopwatch() {
    into_ += std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() -
                                                                  start_)
                 .count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::atomic<int64_t>& into_;
  std::chrono::steady_clock::time_point start_;
};

// --- the affine tier -----------------------------------------------------------------------------

// How much is tried before Z3 is asked: leaves of one case split, and sizes guessed in all of them.
constexpr int kMaxLeaves = 400;
constexpr int kMaxGuesses = 1200;
constexpr int64_t kLargestGuess = 600;

// Depth-first case split over disjunctions, each leaf a conjunction.
class CaseSplit {
 public:
  CaseSplit(int variables, std::span<const uint8_t> sizes) : variables_(variables), sizes_(sizes) {}

  Solution solve(std::vector<Constraint>& conjunction, std::vector<const Formula*>& open) {
    // Unknown, not infeasible.
    if (++leaves_ > kMaxLeaves) return {};
    // If the conjunction alone has no solution, no choice of cases gives it one: the subtree is
    // cut.
    Solution here = solve_conjunction(conjunction, variables_, sizes_);
    if (here.feasible == Feasible::kUnknown && open.empty()) here = guess(conjunction);
    if (here.feasible == Feasible::kNo || open.empty()) return here;
    // A case that the model already satisfies need not be split.
    // Which disjunction to split: the first that the model at hand violates, so that what holds
    // anyway is never split.
    size_t pick = open.size();
    for (size_t k = 0; k < open.size() && pick == open.size(); ++k)
      if (here.feasible != Feasible::kYes || !holds(*open[k], here.model)) pick = k;
    if (pick == open.size()) return here;
    const Formula* split = open[pick];
    // `open` and `conjunction` are one stack each for the whole search: taken down here, put back
    // as they were on the way out.
    open.erase(open.begin() + static_cast<long>(pick));
    // Infeasible only if every case is; one that nobody could decide leaves the whole undecided.
    bool unknown = false;
    for (const Formula& choice : split->kids) {
      const size_t constraints = conjunction.size(), cases = open.size();
      add(choice, conjunction, open);
      Solution s = solve(conjunction, open);
      conjunction.resize(constraints);
      open.resize(cases);
      if (s.feasible == Feasible::kYes) {
        open.insert(open.begin() + static_cast<long>(pick), split);
        return s;
      }
      unknown |= s.feasible == Feasible::kUnknown;
    }
    open.insert(open.begin() + static_cast<long>(pick), split);
    return {unknown ? Feasible::kUnknown : Feasible::kNo, {}};
  }

  // Elimination was not exact: quotients by several divisors leave a few residues of a size, and
  // fixing the size fixes them all. Tries small values of one size.
  Solution guess(std::vector<Constraint>& conjunction) {
    // The size that was declared first, as later ones often are bounded by it.
    int size = -1;
    for (const Constraint& c : conjunction)
      for (const Lin::Term& t : c.lin.terms)
        if (static_cast<size_t>(t.var) < sizes_.size() && sizes_[t.var] &&
            (size < 0 || t.var < size))
          size = t.var;
    if (size < 0) return {};
    for (int64_t value = 1; value <= kLargestGuess && guesses_ < kMaxGuesses; ++value, ++guesses_) {
      Lin fixed = Lin::variable(size);
      fixed.add_constant(-value);
      conjunction.push_back({std::move(fixed), true});
      Solution s = solve_conjunction(conjunction, variables_, sizes_);
      conjunction.pop_back();
      if (s.feasible == Feasible::kYes) return s;
    }
    return {};
  }

  // A conjunction flattened; disjunctions wait in `open`.
  static void add(const Formula& f, std::vector<Constraint>& conjunction,
                  std::vector<const Formula*>& open) {
    switch (f.kind) {
      case Formula::Kind::kTrue:
        return;
      case Formula::Kind::kFalse:
        // -1 >= 0, which nothing satisfies.
        conjunction.push_back({Lin(-1), false});
        return;
      case Formula::Kind::kAtom:
        conjunction.push_back(f.atom);
        return;
      case Formula::Kind::kAnd:
        for (const Formula& kid : f.kids) add(kid, conjunction, open);
        return;
      case Formula::Kind::kOr:
        open.push_back(&f);
        return;
    }
  }

 private:
  int variables_;
  std::span<const uint8_t> sizes_;
  int leaves_ = 0, guesses_ = 0;
};

class UnionFind {
 public:
  explicit UnionFind(int n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  int find(int v) {
    // Paths are halved on the way, which keeps them short without ranks.
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void join(int a, int b) { parent_[find(a)] = find(b); }

 private:
  std::vector<int> parent_;
};

template <class F>
void for_each_variable(const Formula& f, const F& visit) {
  for_each_atom(f, [&](const Constraint& c) {
    for (const Lin::Term& t : c.lin.terms) visit(t.var);
  });
}

constexpr size_t kManyFacts = 48;  // fewer are combined as fast as they are compared

// What single constraints say of a variable: lo <= v <= hi.
struct VariableBounds {
  // Wider than the coefficients: sums of products of 64-bit numbers do not overflow it.
  std::optional<__int128> lo, hi;
};

// The facts without those that others make redundant: what follows from the bounds of its variables
// alone, and all but the tightest of facts that differ in their constant only. Many asserts of a
// proc are of these kinds, and elimination combines every pair of what is left.
std::vector<Constraint> without_redundant(std::span<const Constraint> facts, int variables) {
  constexpr int64_t kLarge = int64_t{1} << 40;  // beyond it sums could overflow: no bound
  std::vector<VariableBounds> bounds(static_cast<size_t>(variables));
  for (const Constraint& c : facts) {
    // Facts of one variable: those that bound it.
    if (c.lin.terms.size() != 1) continue;
    const auto [var, coeff] = c.lin.terms[0];
    if (std::max(coeff, c.lin.constant) > kLarge || std::min(coeff, c.lin.constant) < -kLarge)
      continue;
    VariableBounds& b = bounds[static_cast<size_t>(var)];
    // coeff * v + constant >= 0
    const __int128 limit = coeff > 0 ? -__int128{floor_div(c.lin.constant, coeff)}
                                     : __int128{floor_div(c.lin.constant, -coeff)};
    const auto raise = [&](__int128 x) { b.lo = b.lo ? std::max(*b.lo, x) : x; };
    const auto lower = [&](__int128 x) { b.hi = b.hi ? std::min(*b.hi, x) : x; };
    // An equality that no integer satisfies bounds nothing here; elimination refutes it.
    if (coeff > 0 || (c.equality && c.lin.constant % coeff == 0)) raise(limit);
    if (coeff < 0 || (c.equality && c.lin.constant % coeff == 0)) lower(limit);
  }
  // The least value under the bounds; nothing where a variable has none on the side that counts.
  const auto least = [&](const Lin& lin) -> std::optional<__int128> {
    __int128 sum = lin.constant;
    for (const Lin::Term& t : lin.terms) {
      const VariableBounds& b = bounds[static_cast<size_t>(t.var)];
      const std::optional<__int128>& end = t.coeff > 0 ? b.lo : b.hi;
      if (!end || t.coeff > kLarge || t.coeff < -kLarge) return std::nullopt;
      sum += __int128{t.coeff} * *end;
    }
    return sum;
  };
  std::vector<Constraint> out;
  std::map<std::vector<std::pair<int, int64_t>>, size_t> tightest;
  for (const Constraint& c : facts) {
    if (c.equality) {
      out.push_back(c);
      continue;
    }
    // Bounds themselves stay: they are what the others follow from.
    if (c.lin.terms.size() > 1)
      if (const auto low = least(c.lin); low && *low >= 0) continue;
    // Of `a - b + 3 >= 0` and `a - b + 1 >= 0` only the second says something.
    std::vector<std::pair<int, int64_t>> key;
    for (const Lin::Term& t : c.lin.terms) key.emplace_back(t.var, t.coeff);
    const auto [at, fresh] = tightest.emplace(std::move(key), out.size());
    if (fresh)
      out.push_back(c);
    else if (c.lin.constant < out[at->second].lin.constant)
      out[at->second] = c;
  }
  return out;
}

// The part of a question that shares variables with the asked formula, and the rest: the two are
// satisfiable independently of each other.
struct Parts {
  std::vector<Constraint> near, far;
  std::vector<const Formula*> near_cases, far_cases;
};

Parts split_parts(std::span<const Constraint> facts, std::span<const Formula> disjunctions,
                  const Formula& question, int variables) {
  std::vector<Constraint> needed;
  if (facts.size() > kManyFacts) {
    needed = without_redundant(facts, variables);
    facts = needed;
  }
  // One group more than variables: all that the question mentions.
  UnionFind groups(variables + 1);
  const int asked = variables;
  for_each_variable(question, [&](int v) { groups.join(v, asked); });
  for (const Constraint& c : facts)
    for (const Lin::Term& t : c.lin.terms) groups.join(t.var, c.lin.terms[0].var);
  for (const Formula& f : disjunctions) {
    int first = -1;
    for_each_variable(f, [&](int v) {
      if (first < 0) first = v;
      groups.join(v, first);
    });
  }
  Parts out;
  const int root = groups.find(asked);
  for (const Constraint& c : facts) {
    // A fact without variables is true or false by itself: with the rest, where a false one is
    // found.
    const bool near = !c.lin.terms.empty() && groups.find(c.lin.terms[0].var) == root;
    (near ? out.near : out.far).push_back(c);
  }
  for (const Formula& f : disjunctions) {
    bool near = false;
    for_each_variable(f, [&](int v) { near |= groups.find(v) == root; });
    if (near) {
      CaseSplit::add(f, out.near, out.near_cases);
    } else {
      CaseSplit::add(f, out.far, out.far_cases);
    }
  }
  return out;
}

// Of many facts most questions need few. Starts from the bounds of variables, equalities and what
// was learned last, and takes more in as solutions violate them. Unknown: not decided this way.
Solution solve_by_few(const std::vector<Constraint>& facts, std::vector<const Formula*> open,
                      const Formula& question, int variables, std::span<const uint8_t> sizes) {
  constexpr size_t kLast = 24, kAtOnce = 8;
  constexpr int kRounds = 12;
  std::vector<uint8_t> taken(facts.size(), 0);
  std::vector<Constraint> few;
  const auto take = [&](size_t k) {
    taken[k] = 1;
    few.push_back(facts[k]);
  };
  // Those at the end were assumed last: bounds of the innermost loops, what most questions are
  // about.
  for (size_t k = 0; k < facts.size(); ++k)
    if (facts[k].equality || facts[k].lin.terms.size() < 2 || k + kLast >= facts.size()) take(k);
  // With half of all facts taken in, the whole question costs little more.
  for (int round = 0; round < kRounds && 2 * few.size() < facts.size(); ++round) {
    std::vector<Constraint> conjunction = few;
    std::vector<const Formula*> cases = open;
    CaseSplit::add(question, conjunction, cases);
    Solution s = CaseSplit(variables, sizes).solve(conjunction, cases);
    // A contradiction among some facts is one among all; unknown is handed on.
    if (s.feasible != Feasible::kYes) return s;
    size_t found = 0;
    for (size_t k = 0; k < facts.size() && found < kAtOnce; ++k) {
      if (taken[k] || holds(facts[k], s.model)) continue;
      take(k);
      ++found;
    }
    // The model satisfies all facts, and so answers for all.
    if (found == 0) return s;
  }
  return {};
}

Solution solve_part(std::vector<Constraint>& facts, std::vector<const Formula*>& open,
                    const Formula& question, int variables, std::span<const uint8_t> sizes) {
  if (facts.size() > kManyFacts) {
    Solution s = solve_by_few(facts, open, question, variables, sizes);
    if (s.feasible != Feasible::kUnknown) return s;
  }
  CaseSplit::add(question, facts, open);
  return CaseSplit(variables, sizes).solve(facts, open);
}

Decision decide_parts(Parts& parts, const Formula& question, int variables,
                      std::span<const uint8_t> sizes) {
  Solution near = solve_part(parts.near, parts.near_cases, question, variables, sizes);
  if (near.feasible == Feasible::kNo) return {Feasible::kNo, {}};
  // What the question does not touch can still be contradictory: then everything holds, as in the
  // branch of an if that never runs.
  Solution far = solve_part(parts.far, parts.far_cases, Formula::truth(true), variables, sizes);
  if (far.feasible == Feasible::kNo) return {Feasible::kNo, {}};
  if (near.feasible == Feasible::kUnknown || far.feasible == Feasible::kUnknown) return {};
  // Each variable belongs to one part; the other part's model left it 0.
  for (size_t v = 0; v < near.model.size() && v < far.model.size(); ++v)
    if (near.model[v] == 0) near.model[v] = far.model[v];
  return {Feasible::kYes, std::move(near.model)};
}

// Most questions need only the facts around what they ask, and a contradiction among some facts is
// one among all. Tries growing neighbourhoods: the facts over the asked variables, then those over
// their neighbours as well. Growth does not pass through sizes, which touch everything.
bool refuted_nearby(const Parts& parts, const Formula& question, int variables,
                    std::span<const uint8_t> sizes) {
  constexpr size_t kFewFacts = 10;  // the whole question costs no more
  constexpr int kRounds = 3;
  if (parts.near.size() <= kFewFacts) return false;
  std::vector<uint8_t> inside(variables, 0);
  for_each_variable(question, [&](int v) { inside[v] = 1; });
  size_t before = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) {
      const std::vector<uint8_t> core = inside;
      for (const Constraint& c : parts.near) {
        const bool touches =
            std::any_of(c.lin.terms.begin(), c.lin.terms.end(), [&](const Lin::Term& t) {
              return core[t.var] && !(static_cast<size_t>(t.var) < sizes.size() && sizes[t.var]);
            });
        if (!touches) continue;
        for (const Lin::Term& t : c.lin.terms) inside[t.var] = 1;
      }
    }
    std::vector<Constraint> conjunction;
    for (const Constraint& c : parts.near)
      if (std::all_of(c.lin.terms.begin(), c.lin.terms.end(),
                      [&](const Lin::Term& t) { return inside[t.var]; }))
        conjunction.push_back(c);
    // All of it: decide_parts does that.
    if (conjunction.size() == parts.near.size()) return false;
    if (round > 0 && conjunction.size() == before) continue;
    before = conjunction.size();
    std::vector<const Formula*> open;
    CaseSplit::add(question, conjunction, open);
    if (CaseSplit(variables, sizes).solve(conjunction, open).feasible == Feasible::kNo) return true;
  }
  return false;
}

bool has_cases(const Formula& f) { return f.kind != Formula::Kind::kAtom; }

}  // namespace

Decision solver_internal::decide_affine(std::span<const Constraint> facts,
                                        std::span<const Formula> disjunctions,
                                        const Formula& question, int variables,
                                        std::span<const uint8_t> sizes) {
  Parts parts = split_parts(facts, disjunctions, question, variables);
  return decide_parts(parts, question, variables, sizes);
}

namespace {

Decision decide_in_tiers(std::span<const Constraint> facts, std::span<const Formula> disjunctions,
                         const Formula& question, int variables, std::span<const uint8_t> sizes,
                         bool* smt_tier) {
  Parts parts = split_parts(facts, disjunctions, question, variables);
  if (refuted_nearby(parts, question, variables, sizes)) {
    ++counters().affine;
    return {Feasible::kNo, {}};
  }
  // Plain conjunctions are solved about as fast as the cache answers; case splits are worth a key.
  const bool worth_caching =
      has_cases(question) || !parts.near_cases.empty() || parts.near.size() > 24;
  QuestionKey key;
  Decision out;
  if (worth_caching) {
    key = question_key(facts, disjunctions, question, variables, sizes);
    if (QuestionCache::instance().find(key, &out, variables)) {
      ++counters().cached;
      return out;
    }
  }
  out = decide_parts(parts, question, variables, sizes);
  if (out.feasible != Feasible::kUnknown) {
    ++counters().affine;
  } else {
    if (!worth_caching) {
      key = question_key(facts, disjunctions, question, variables, sizes);
      if (QuestionCache::instance().find(key, &out, variables)) {
        ++counters().cached;
        return out;
      }
    }
    // The last tier is the slow one: worth a look into the cache even for a conjunction.
    *smt_tier = true;
    Stopwatch watch(counters().z3_ns);
    out = solver_internal::decide_smt(facts, disjunctions, question, variables, sizes);
    ++counters().z3;
    if (out.feasible == Feasible::kUnknown) ++counters().unknown;
  }
  if (!key.words.empty()) QuestionCache::instance().insert(std::move(key), out);
  return out;
}

}  // namespace

Decision decide(std::span<const Constraint> facts, std::span<const Formula> disjunctions,
                const Formula& question, int variables, std::span<const uint8_t> sizes) {
  if (question.kind == Formula::Kind::kFalse) {
    ++counters().syntactic;
    return {Feasible::kNo, {}};
  }
  // Undecided, which refuses: whoever waits for the proof has no more time for it.
  if (DeadlineScope::current().over()) return {};
  bool smt_tier = false;
  Decision out;
  {
    Stopwatch watch(counters().all_ns);
    out = decide_in_tiers(facts, disjunctions, question, variables, sizes, &smt_tier);
  }
  // For whoever keeps a proof's questions in files (queries.h).
  solver_internal::record(facts, disjunctions, question, out.feasible, smt_tier);
  return out;
}

void solver_internal::count_syntactic() { ++counters().syntactic; }

SolverStats solver_stats() {
  Counters& c = counters();
  return {c.syntactic, c.affine, c.z3, c.cached, c.unknown};
}

std::string solver_report() {
  const SolverStats s = solver_stats();
  const double z3 = static_cast<double>(counters().z3_ns) * 1e-9;
  const double others = static_cast<double>(counters().all_ns) * 1e-9 - z3;
  char seconds[2][32];
  std::snprintf(seconds[0], sizeof seconds[0], "%.3f s", others);
  std::snprintf(seconds[1], sizeof seconds[1], "%.3f s", z3);
  return std::to_string(s.syntactic) + " questions by syntax, " + std::to_string(s.affine) +
         " by affine reasoning and " + std::to_string(s.cached) + " cached (" + seconds[0] + "), " +
         std::to_string(s.z3) + " by Z3 (" + seconds[1] + "), " + std::to_string(s.unknown) +
         " unknown";
}

}  // namespace exotune
