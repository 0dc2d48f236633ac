#include "core/analysis/coverage.h"

#include <algorithm>

namespace exotune {
namespace {

// Finds the run of a write that stores the element a read wants: values for the write's own loop
// variables, as linear forms over the read's. Whatever is found is proved afterwards.
class RunFinder {
 public:
  // Variables below `limit` existed before the write's own loop variables.
  RunFinder(Problem& problem, const Effect& write, const std::vector<int>& vars, size_t shared,
            int limit)
      : problem_(problem),
        write_(write),
        vars_(vars),
        shared_(shared),
        limit_(limit),
        known_(vars.size(), false) {
    for (size_t k = 0; k < shared; ++k) known_[k] = true;
  }

  void find(const std::vector<Lin>& have, const std::vector<Lin>& want) {
    std::vector<Lin> open;  // want - have == 0
    for (size_t k = 0; k < have.size(); ++k) open.push_back(want[k] - have[k]);
    for (bool progress = true; progress;) {
      progress = false;
      for (Lin& difference : open) progress |= solve(difference, open);
    }
    // Variables that no index determines: the first iteration will do.
    for (size_t k = shared_; k < vars_.size(); ++k)
      if (!known_[k]) set(k, lower_bound(k), open);
  }

 private:
  Lin lower_bound(size_t k) { return problem_.lin(write_.access.vars[k].lo); }

  // Does the value not depend on anything still to be found? A quotient of an unknown does, though
  // it does not show; defining the unknown by it would go in circles.
  bool settled(const Lin& lin) const {
    for (const Lin::Term& t : lin.terms) {
      if (t.var < limit_ || std::find(digits_.begin(), digits_.end(), t.var) != digits_.end())
        continue;
      bool found = false;
      for (size_t k = shared_; k < vars_.size(); ++k) found |= vars_[k] == t.var && known_[k];
      if (!found) return false;
    }
    return true;
  }

  // The position of a variable still to be found, or -1.
  int unknown(int var) const {
    for (size_t k = shared_; k < vars_.size(); ++k)
      if (vars_[k] == var && !known_[k]) return static_cast<int>(k);
    return -1;
  }

  void set(size_t k, const Lin& value, std::vector<Lin>& open) {
    known_[k] = true;
    problem_.assume_zero(Lin::variable(vars_[k]) - value);
    for (Lin& l : open) {
      const int64_t c = l.coeff_of(vars_[k]);
      if (c == 0) continue;
      l.add(Lin::variable(vars_[k]), -c);
      l.add(value, c);
    }
  }

  // Sum of coefficient * unknown == rest: mixed radix, largest coefficient first.
  bool solve(const Lin difference, std::vector<Lin>& open) {
    struct Unknown {
      size_t k;
      int64_t coeff;
    };
    std::vector<Unknown> found;
    Lin rest = difference;
    for (const Lin::Term& t : difference.terms) {
      const int k = unknown(t.var);
      if (k < 0) continue;
      found.push_back({static_cast<size_t>(k), -t.coeff});
      rest.add(Lin::variable(t.var), -t.coeff);
    }
    if (found.empty() || !settled(rest)) return false;
    if (found.size() == 1 && found[0].coeff == -1) {
      set(found[0].k, rest.scaled(-1), open);
      return true;
    }
    std::sort(found.begin(), found.end(),
              [](const Unknown& a, const Unknown& b) { return a.coeff > b.coeff; });
    if (found.back().coeff != 1) return false;
    for (const Unknown& u : found) {
      const Lin lo = lower_bound(u.k);
      if (!settled(lo)) return false;
      rest.add(lo, -u.coeff);
    }
    for (const Unknown& u : found) {
      const Lin digit = u.coeff == 1 ? rest : problem_.quotient(rest, u.coeff);
      for (const Lin::Term& t : digit.terms)
        if (t.var >= limit_) digits_.push_back(t.var);
      rest.add(digit, -u.coeff);
      set(u.k, digit + lower_bound(u.k), open);
    }
    return true;
  }

  Problem& problem_;
  const Effect& write_;
  const std::vector<int>& vars_;
  size_t shared_;
  int limit_;
  std::vector<bool> known_;
  std::vector<int> digits_;  // quotients of settled values
};

// "write happens at `vars`, before the read at `read_vars`, to the read's element".
Formula writes_it(Problem& problem, const Effect& write, const std::vector<int>& vars,
                  const Instance& instance, const std::vector<Lin>& want,
                  const std::vector<int>& read_vars, size_t common, bool textually_before) {
  std::vector<Formula> all;
  int bound = 0;
  for (const Instance::Meaning& m : instance.meanings) problem.bind_to(m.iter, m.var), ++bound;
  for (size_t k = 0; k < vars.size(); ++k) {
    const RangedVar& v = write.access.vars[k];
    Lin above = problem.lin(v.hi) - Lin::variable(vars[k]);
    all.push_back(Formula::at_least_zero(Lin::variable(vars[k]) - problem.lin(v.lo)));
    all.push_back(Formula::at_least_zero(std::move(above.add_constant(-1))));
    problem.bind_to(v.var, vars[k]);
    ++bound;
  }
  for (const ExprPtr& c : write.access.conditions) all.push_back(problem.formula(c));
  for (size_t k = 0; k < want.size(); ++k)
    all.push_back(Formula::equals_zero(problem.lin(write.access.idx[k]) - want[k]));
  problem.unbind(bound);
  // Lexicographic order over the loops that both are in.
  Formula order = Formula::truth(textually_before);
  for (size_t k = common; k-- > 0;) {
    if (vars[k] == read_vars[k]) continue;
    Lin gap = Lin::variable(read_vars[k]) - Lin::variable(vars[k]);
    Lin earlier = gap;
    order = Formula::any_of(
        {Formula::at_least_zero(std::move(earlier.add_constant(-1))),
         Formula::all_of({Formula::equals_zero(std::move(gap)), std::move(order)})});
  }
  all.push_back(std::move(order));
  return Formula::all_of(std::move(all));
}

}  // namespace

bool surely_written_before(Problem& problem, const Effects& block, size_t read,
                           const Instance& instance) {
  const Effect& r = block.memory[read];
  const Problem::Mark mark = problem.mark();
  int bound = 0;
  for (const Instance::Meaning& m : instance.meanings) problem.bind_to(m.iter, m.var), ++bound;
  std::vector<int> read_vars;
  for (const RangedVar& v : r.access.vars) {
    const Lin lo = problem.lin(v.lo), hi = problem.lin(v.hi);
    const int var = problem.bind(v.var);
    ++bound;
    read_vars.push_back(var);
    problem.assume_at_least_zero(Lin::variable(var) - lo);
    Lin above = hi - Lin::variable(var);
    problem.assume_at_least_zero(std::move(above.add_constant(-1)));
  }
  for (const ExprPtr& c : r.access.conditions) problem.assume(c);
  std::vector<Lin> want;
  for (const ExprPtr& i : r.access.idx) want.push_back(problem.lin(i));
  problem.unbind(bound);

  bool covered = false;
  std::vector<Formula> partial;
  for (size_t w = 0; w < block.memory.size() && !covered; ++w) {
    const Effect& write = block.memory[w];
    if (write.access.kind != Access::Kind::kWrite || write.access.buffer != r.access.buffer)
      continue;
    if (write.access.idx.size() != want.size()) continue;
    size_t common = 0;
    while (common < write.loops.size() && common < r.loops.size() &&
           write.loops[common] == r.loops[common])
      ++common;
    // The run in the same iteration of the loops around both; else any earlier one.
    for (const size_t shared : {common, size_t{0}}) {
      if (shared == common && w > read) continue;
      if (shared == 0 && common == 0 && w < read && shared != common) continue;
      std::vector<int> vars(read_vars.begin(), read_vars.begin() + static_cast<long>(shared));
      int own = 0;
      const int limit = problem.variables();
      for (const Instance::Meaning& m : instance.meanings) problem.bind_to(m.iter, m.var), ++own;
      for (size_t k = 0; k < write.access.vars.size(); ++k) {
        if (k < shared) {
          problem.bind_to(write.access.vars[k].var, vars[k]);
        } else {
          vars.push_back(problem.bind(write.access.vars[k].var));
        }
        ++own;
      }
      std::vector<Lin> have;
      for (const ExprPtr& i : write.access.idx) have.push_back(problem.lin(i));
      RunFinder(problem, write, vars, shared, limit).find(have, want);
      problem.unbind(own);
      Formula f = writes_it(problem, write, vars, instance, want, read_vars, common, w < read);
      if (problem.entails(f)) {
        covered = true;
        break;
      }
      partial.push_back(std::move(f));
      if (common == 0) break;
    }
  }
  if (!covered && partial.size() > 1 && partial.size() <= 12)
    covered = static_cast<bool>(problem.entails(Formula::any_of(std::move(partial))));
  problem.rollback(mark);
  return covered;
}

bool reads_earlier_value(Problem& problem, const Effects& block, Sym root) {
  for (size_t k = 0; k < block.memory.size(); ++k) {
    const Effect& e = block.memory[k];
    if (e.access.buffer != root || e.access.kind == Access::Kind::kWrite) continue;
    if (!surely_written_before(problem, block, k, {})) return true;
  }
  return false;
}

}  // namespace exotune
