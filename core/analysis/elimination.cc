// Elimination over dense rows. Equalities go first (a unit coefficient substitutes; otherwise the
// Omega test's balanced remainder makes one); inequalities follow by Fourier-Motzkin. An
// elimination step is exact over the integers when one of the two sides has only unit
// coefficients; when every step was, "not refuted" means feasible. Otherwise a model is sought by
// back substitution and counts only when it satisfies every constraint given.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/analysis/linear.h"

namespace exotune {
namespace {

constexpr int kMaxRows = 384;
constexpr int kSpareColumns = 8;  // for the variables that equality elimination introduces
constexpr int64_t kMagnitude = int64_t{1} << 60;  // larger numbers count as overflow

// Fixed odd multipliers: hash(-row) == -hash(row), so opposite rows are found by one lookup.
uint64_t column_key(int column) {
  uint64_t x = static_cast<uint64_t>(column + 1) * 0x9E3779B97F4A7C15ull;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9ull;
  return x | 1;
}

// Rows are dense: a system has a dozen variables, and walking an array beats chasing terms. Numbers
// that outgrow 2^60 end the attempt as unknown.
class Eliminator {
 public:
  Eliminator(std::span<const Constraint> constraints, int variables,
             std::span<const uint8_t> prefer_last)
      : column_of_(variables, -1) {
    for (const Constraint& c : constraints)
      for (const Lin::Term& t : c.lin.terms)
        if (column_of_[t.var] < 0) {
          column_of_[t.var] = static_cast<int>(late_.size());
          late_.push_back(static_cast<size_t>(t.var) < prefer_last.size() ? prefer_last[t.var] : 0);
        }
    columns_ = static_cast<int>(late_.size());
    stride_ = columns_ + kSpareColumns + 1;
    late_.resize(stride_, 0);
    data_.reserve(static_cast<size_t>(stride_) * (constraints.size() + 24));
    rows_.reserve(constraints.size() + 24);
    for (const Constraint& c : constraints) {
      if (!usable(c.lin)) continue;  // a weaker set: refutation stays sound, models are re-checked
      const int row = new_row();
      for (const Lin::Term& t : c.lin.terms) at(row)[column_of_[t.var]] = t.coeff;
      at(row)[stride_ - 1] = c.lin.constant;
      rows_.push_back({row, c.equality, 0});
    }
  }

  // Eliminates every column but `keep` (-1: all). False: infeasible.
  // Equalities first, since each takes a variable with it and makes no new rows; then one variable
  // at a time.
  bool run(int keep) {
    for (Row& row : rows_)
      if (!normalise(row)) return false;
    for (;;) {
      if (!eliminate_equalities(keep)) return false;
      if (gave_up_) return true;
      bool new_equality = false;
      if (!tidy(&new_equality)) return false;
      if (new_equality) continue;
      const int column = choose(keep);
      if (column < 0) return true;
      if (!eliminate(column)) return false;
      if (gave_up_) return true;
    }
  }

  bool gave_up() const { return gave_up_; }
  bool exact() const { return exact_; }
  int column_of(int var) const { return column_of_[var]; }

  // Values by variable; empty when back substitution finds none.
  // From the last eliminated variable back to the first, each within the bounds that the others
  // leave, sizes small first. A candidate only: the caller checks it against all constraints.
  std::vector<int64_t> model() const {
    std::vector<int64_t> value(stride_, 0);
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      if (step->equality) {
        const __int128 v = evaluate(step->rows[0], value, -1);
        if (!fits(v)) return {};
        value[step->column] = static_cast<int64_t>(v);
        continue;
      }
      bool has_lo = false, has_hi = false;
      int64_t lo = 0, hi = 0;
      for (int row : step->rows) {
        const int64_t a = at(row)[step->column];
        const __int128 rest = evaluate(row, value, step->column);
        if (!fits(rest)) return {};
        const int64_t r = static_cast<int64_t>(rest);
        if (a > 0) {
          const int64_t bound = -floor_div(r, a);  // a*x + r >= 0  =>  x >= ceil(-r / a)
          if (!has_lo || bound > lo) lo = bound;
          has_lo = true;
        } else {
          const int64_t bound = floor_div(r, -a);
          if (!has_hi || bound < hi) hi = bound;
          has_hi = true;
        }
      }
      if (has_lo && has_hi && lo > hi) return {};
      int64_t pick = 0;
      if (has_lo && lo > 0) pick = lo;
      if (has_hi && hi < 0) pick = hi;
      value[step->column] = pick;
    }
    std::vector<int64_t> out(column_of_.size(), 0);
    for (size_t v = 0; v < column_of_.size(); ++v)
      if (column_of_[v] >= 0) out[v] = value[column_of_[v]];
    return out;
  }

  // Bounds on `column` from the rows that are left.
  Interval bounds(int column) const {
    Interval out;
    for (const Row& row : rows_) {
      const int64_t a = at(row.data)[column], c = at(row.data)[stride_ - 1];
      if (a == 0) continue;
      if (a > 0 || row.equality) {
        const int64_t lo = a > 0 ? -floor_div(c, a) : floor_div(c, -a);
        if (!out.has_lo || lo > out.lo) out.lo = lo;
        out.has_lo = true;
      }
      if (a < 0 || row.equality) {
        const int64_t hi = a < 0 ? floor_div(c, -a) : -floor_div(c, a);
        if (!out.has_hi || hi < out.hi) out.hi = hi;
        out.has_hi = true;
      }
    }
    out.empty = out.has_lo && out.has_hi && out.lo > out.hi;
    return out;
  }

 private:
  struct Row {
    int data;
    bool equality;
    uint64_t hash;
  };
  struct Step {
    int column;
    bool equality;
    std::vector<int> rows;
  };

  int64_t* at(int row) { return data_.data() + static_cast<size_t>(row) * stride_; }
  const int64_t* at(int row) const { return data_.data() + static_cast<size_t>(row) * stride_; }
  int new_row() {
    data_.resize(data_.size() + stride_, 0);
    return row_count_++;
  }
  static bool usable(const Lin& lin) {
    if (lin.overflow || std::llabs(lin.constant) > kMagnitude) return false;
    return std::all_of(lin.terms.begin(), lin.terms.end(),
                       [](const Lin::Term& t) { return std::llabs(t.coeff) <= kMagnitude; });
  }
  static bool fits(__int128 v) { return v <= 2 * kMagnitude && v >= -2 * kMagnitude; }

  __int128 evaluate(int row, const std::vector<int64_t>& value, int except) const {
    __int128 sum = at(row)[stride_ - 1];
    for (int c = 0; c < columns_; ++c)
      if (c != except) sum += static_cast<__int128>(at(row)[c]) * value[c];
    return sum;
  }

  // Divides by the gcd, tightening inequalities. False when the row alone cannot hold.
  // All coefficients by their gcd; an inequality's constant rounds towards the integers, which is
  // where integer reasoning beats rational.
  bool normalise(Row& row) {
    int64_t* r = at(row.data);
    uint64_t g = 0;
    uint64_t hash = 0;
    for (int c = 0; c < columns_; ++c)
      if (r[c] != 0) g = std::gcd(g, static_cast<uint64_t>(r[c] < 0 ? -r[c] : r[c]));
    int64_t& constant = r[stride_ - 1];
    if (g == 0) {
      row.hash = 0;
      return row.equality ? constant == 0 : constant >= 0;
    }
    if (g > 1) {
      const int64_t d = static_cast<int64_t>(g);
      if (d < 0) {
        gave_up_ = true;
        return true;
      }
      if (row.equality && constant % d != 0) return false;
      for (int c = 0; c < columns_; ++c) r[c] /= d;
      constant = floor_div(constant, d);
    }
    for (int c = 0; c < columns_; ++c)
      if (r[c] != 0) hash += static_cast<uint64_t>(r[c]) * column_key(c);
    row.hash = hash;
    return true;
  }

  bool is_trivial(const Row& row) const {
    const int64_t* r = at(row.data);
    for (int c = 0; c < columns_; ++c)
      if (r[c] != 0) return false;
    return true;
  }

  // row += factor * other; gives up on overflow.
  void accumulate(int row, int other, int64_t factor) {
    int64_t* r = at(row);
    const int64_t* o = at(other);
    for (int c = 0; c < stride_; ++c) {
      if (o[c] == 0) continue;
      int64_t product;
      if (__builtin_mul_overflow(o[c], factor, &product) ||
          __builtin_add_overflow(r[c], product, &r[c]) || r[c] > kMagnitude || r[c] < -kMagnitude) {
        gave_up_ = true;
        return;
      }
    }
  }

  // Replaces `column` by the expression row `by` everywhere.
  bool substitute(int column, int by) {
    steps_.push_back({column, true, {by}});
    for (Row& row : rows_) {
      const int64_t factor = at(row.data)[column];
      if (factor == 0) continue;
      at(row.data)[column] = 0;
      accumulate(row.data, by, factor);
      if (gave_up_) return true;
      if (!normalise(row)) return false;
    }
    std::erase_if(rows_, [&](const Row& row) { return is_trivial(row); });
    return true;
  }

  bool eliminate_equalities(int keep) {
    for (;;) {
      // The equality with the smallest usable coefficient.
      int best = -1, best_column = -1;
      int64_t best_size = 0;
      for (size_t k = 0; k < rows_.size(); ++k) {
        if (!rows_[k].equality) continue;
        const int64_t* r = at(rows_[k].data);
        for (int c = 0; c < columns_; ++c) {
          if (r[c] == 0 || c == keep) continue;
          const int64_t size = std::llabs(r[c]);
          const bool better =
              best < 0 || size < best_size || (size == best_size && late_[c] < late_[best_column]);
          if (!better) continue;
          best = static_cast<int>(k);
          best_column = c;
          best_size = size;
        }
      }
      if (best < 0) return true;
      if (best_size != 1 && keep >= 0 && at(rows_[best].data)[keep] != 0) {
        // Splitting it into two inequalities keeps the projection sound, if not tight.
        relax(best);
        continue;
      }
      const int source = rows_[best].data;
      const int by = new_row();
      const int64_t a = at(source)[best_column];
      if (best_size == 1) {
        rows_.erase(rows_.begin() + best);
        for (int c = 0; c < stride_; ++c) at(by)[c] = a > 0 ? -at(source)[c] : at(source)[c];
        at(by)[best_column] = 0;
        if (!substitute(best_column, by)) return false;
      } else {
        if (columns_ + 1 >= stride_) {
          relax(best);
          exact_ = false;
          continue;
        }
        // Omega test: with m = |a| + 1, x = sign(a) * (sum of balanced remainders - m * sigma).
        const int64_t m = best_size + 1;
        const int sigma = columns_++;
        for (int c = 0; c < stride_; ++c) {
          if (c == best_column) continue;
          const int64_t v = at(source)[c];
          int64_t balanced = floor_mod(v, m);
          if (2 * balanced >= m) balanced -= m;
          at(by)[c] = a > 0 ? balanced : -balanced;
        }
        at(by)[sigma] = a > 0 ? -m : m;
        at(by)[best_column] = 0;
        if (!substitute(best_column, by)) return false;
      }
      if (gave_up_) return true;
    }
  }

  void relax(int k) {
    rows_[k].equality = false;
    const int opposite = new_row();
    for (int c = 0; c < stride_; ++c) at(opposite)[c] = -at(rows_[k].data)[c];
    Row row{opposite, false, -rows_[k].hash};
    rows_.push_back(row);
    relaxed_ = true;
  }

  // Drops weaker duplicates; finds opposite pairs. False when a pair contradicts.
  // Most rows made by elimination say nothing new: without this, their number grows as a square at
  // each step.
  bool tidy(bool* new_equality) {
    std::sort(rows_.begin(), rows_.end(), [&](const Row& a, const Row& b) {
      const uint64_t ka = std::min(a.hash, -a.hash), kb = std::min(b.hash, -b.hash);
      if (ka != kb) return ka < kb;
      return a.data < b.data;
    });
    for (size_t i = 0; i < rows_.size(); ++i) {
      for (size_t j = i + 1; j < rows_.size();) {
        const uint64_t ki = std::min(rows_[i].hash, -rows_[i].hash);
        const uint64_t kj = std::min(rows_[j].hash, -rows_[j].hash);
        if (ki != kj) break;
        const int64_t *a = at(rows_[i].data), *b = at(rows_[j].data);
        if (std::equal(a, a + columns_, b)) {
          // The tighter row stays, and an equality stays what it is: what the other row says of
          // the same value either follows from it or contradicts it.
          const int64_t ca = a[stride_ - 1], cb = b[stride_ - 1];
          const bool i_fixes = rows_[i].equality, j_fixes = rows_[j].equality;
          if ((i_fixes && cb < ca) || (j_fixes && ca < cb)) return false;
          if (j_fixes || (!i_fixes && cb < ca)) std::swap(rows_[i], rows_[j]);
          rows_.erase(rows_.begin() + static_cast<long>(j));
          continue;
        }
        bool opposite = true;
        for (int c = 0; c < columns_ && opposite; ++c) opposite = a[c] == -b[c];
        if (opposite) {
          const __int128 slack = static_cast<__int128>(a[stride_ - 1]) + b[stride_ - 1];
          if (slack < 0) return false;
          if (slack == 0 && !relaxed_) {
            rows_[i].equality = true;
            rows_.erase(rows_.begin() + static_cast<long>(j));
            *new_equality = true;
            continue;
          }
        }
        ++j;
      }
    }
    return true;
  }

  // The column whose elimination makes the fewest rows; exact ones first. -1: none left.
  // Rows made are the product of lower and upper bounds; a variable with a unit coefficient on one
  // side is exact, and comes first.
  int choose(int keep) const {
    int best = -1;
    long best_cost = 0;
    for (int c = 0; c < columns_; ++c) {
      if (c == keep) continue;
      long lower = 0, upper = 0;
      bool unit_lower = true, unit_upper = true;
      for (const Row& row : rows_) {
        const int64_t a = at(row.data)[c];
        if (a > 0) {
          ++lower;
          unit_lower &= a == 1;
        } else if (a < 0) {
          ++upper;
          unit_upper &= a == -1;
        }
      }
      if (lower + upper == 0) continue;
      long cost = lower * upper - lower - upper;
      if (lower > 0 && upper > 0 && !unit_lower && !unit_upper) cost += 64;
      if (late_[c]) cost += 24;
      if (best < 0 || cost < best_cost) {
        best = c;
        best_cost = cost;
      }
    }
    return best;
  }

  // Each lower bound with each upper one. Inexact when neither coefficient is a unit: then the
  // shadow holds points that no integer has, and "feasible" is only a maybe.
  bool eliminate(int column) {
    std::vector<Row> lower, upper, rest;
    for (const Row& row : rows_) {
      const int64_t a = at(row.data)[column];
      (a > 0 ? lower : a < 0 ? upper : rest).push_back(row);
    }
    Step step{column, false, {}};
    for (const Row& row : lower) step.rows.push_back(row.data);
    for (const Row& row : upper) step.rows.push_back(row.data);
    steps_.push_back(std::move(step));
    rows_ = std::move(rest);
    if (rows_.size() + lower.size() * upper.size() > kMaxRows) {
      gave_up_ = true;
      return true;
    }
    for (const Row& l : lower)
      for (const Row& u : upper) {
        const int64_t a = at(l.data)[column], b = -at(u.data)[column];
        if (a != 1 && b != 1) exact_ = false;
        const int64_t g = std::gcd(a, b);
        Row row{new_row(), false, 0};
        accumulate(row.data, l.data, b / g);
        accumulate(row.data, u.data, a / g);
        if (gave_up_) return true;
        if (!normalise(row)) return false;
        if (!is_trivial(row)) rows_.push_back(row);
      }
    return true;
  }

  std::vector<int> column_of_;
  std::vector<uint8_t> late_;
  std::vector<int64_t> data_;
  std::vector<Row> rows_;
  std::vector<Step> steps_;
  int columns_ = 0, stride_ = 0, row_count_ = 0;
  bool gave_up_ = false, exact_ = true, relaxed_ = false;
};

}  // namespace

Solution solve_conjunction(std::span<const Constraint> constraints, int variables,
                           std::span<const uint8_t> prefer_last) {
  Eliminator e(constraints, variables, prefer_last);
  if (!e.run(-1)) return {Feasible::kNo, {}};
  if (e.gave_up()) return {};
  Solution out;
  out.model = e.model();
  out.model.resize(variables, 0);
  for (const Constraint& c : constraints)
    if (!holds(c, out.model)) return {};
  out.feasible = Feasible::kYes;
  return out;
}

namespace {
// The constraints that `lin` shares variables with, directly or through others.
// Constraints about other variables cannot change the bounds; leaving them out is most of the speed
// for large programs.
std::vector<Constraint> connected(std::span<const Constraint> constraints, int variables,
                                  const Lin& lin) {
  std::vector<uint8_t> inside(variables, 0), taken(constraints.size(), 0);
  for (const Lin::Term& t : lin.terms) inside[t.var] = 1;
  std::vector<Constraint> out;
  for (bool grew = true; grew;) {
    grew = false;
    for (size_t k = 0; k < constraints.size(); ++k) {
      const auto& terms = constraints[k].lin.terms;
      if (taken[k] || std::none_of(terms.begin(), terms.end(),
                                   [&](const Lin::Term& t) { return inside[t.var]; }))
        continue;
      for (const Lin::Term& t : terms) inside[t.var] = 1;
      out.push_back(constraints[k]);
      taken[k] = grew = true;
    }
  }
  return out;
}
}  // namespace

Interval project(std::span<const Constraint> constraints, int variables, const Lin& lin) {
  if (lin.overflow) return {};
  std::vector<Constraint> all = connected(constraints, variables, lin);
  Lin definition = lin;
  definition.add(Lin::variable(variables), -1);
  all.push_back({std::move(definition), true});
  Eliminator e(all, variables + 1, {});
  Interval none;
  if (!e.run(e.column_of(variables))) {
    none.empty = true;
    return none;
  }
  if (e.gave_up()) return none;
  return e.bounds(e.column_of(variables));
}

}  // namespace exotune
