#include "cost/fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/diagnostic.h"
#include "cost/static_cost.h"

namespace exotune {

namespace {

using Column = std::vector<double>;
using Columns = std::vector<Column>;  // a matrix, each of its columns together

double product(const Column& a, const Column& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Least squares over the columns in `active`; zero for the others.
Column solve_active(const Columns& a, const Column& b, const std::vector<bool>& active) {
  Columns part;
  for (size_t k = 0; k < a.size(); ++k)
    if (active[k]) part.push_back(a[k]);
  const Column some = least_squares(std::move(part), b);
  Column x(a.size(), 0);
  for (size_t k = 0, at = 0; k < a.size(); ++k)
    if (active[k]) x[k] = some[at++];
  return x;
}

// b - A x
Column rest_of(const Columns& a, const Column& b, const Column& x) {
  Column rest = b;
  for (size_t k = 0; k < a.size(); ++k)
    for (size_t r = 0; x[k] != 0 && r < rest.size(); ++r) rest[r] -= x[k] * a[k][r];
  return rest;
}

// The column outside of `active` that lessens the error most; a.size() when none does.
size_t entering(const Columns& a, const Column& rest, const std::vector<bool>& active,
                double tolerance) {
  size_t best = a.size();
  double most = tolerance;
  for (size_t k = 0; k < a.size(); ++k) {
    if (active[k]) continue;
    if (const double gradient = product(a[k], rest); gradient > most) {
      most = gradient;
      best = k;
    }
  }
  return best;
}

// From x towards s, the solution over the active columns, as far as none of them becomes negative:
// the column that stops it leaves. False: all the way.
bool step_towards(const Column& s, Column& x, std::vector<bool>& active) {
  double step = 1;
  size_t leaves = x.size();
  for (size_t k = 0; k < x.size(); ++k) {
    if (!active[k] || s[k] > 0) continue;
    const double reach = x[k] > 0 ? x[k] / (x[k] - s[k]) : 0;
    if (leaves < x.size() && reach >= step) continue;
    step = reach;
    leaves = k;
  }
  if (leaves == x.size()) {
    x = s;
    return false;
  }
  for (size_t k = 0; k < x.size(); ++k) x[k] += step * (s[k] - x[k]);
  x[leaves] = 0;
  active[leaves] = false;
  return true;
}

Column nonnegative(const Columns& a, const Column& b) {
  Column x(a.size(), 0);
  std::vector<bool> active(a.size(), false);
  double largest = 1;
  for (const Column& column : a) largest = std::max(largest, std::fabs(product(column, b)));
  // Lawson and Hanson's loop ends by itself; roundings could make it go round in circles.
  for (size_t round = 0; round < 3 * a.size(); ++round) {
    const size_t best = entering(a, rest_of(a, b, x), active, 1e-10 * largest);
    if (best == a.size()) break;
    active[best] = true;
    while (step_towards(solve_active(a, b, active), x, active)) {
    }
  }
  return x;
}

}  // namespace

// Householder's reflections: each makes one column zero below the diagonal, and turns the columns
// behind it and the right side with it. What is left is a triangle, solved from its end.
std::vector<double> least_squares(Columns a, Column b) {
  constexpr double kDependent = 1e-12;  // of a column's length: the rest is rounding
  const size_t n = a.size(), m = b.size();
  Column diagonal(n, 0);
  size_t row = 0;  // columns that depend on earlier ones have no row of the triangle
  std::vector<size_t> rows(n, m);
  for (size_t k = 0; k < n && row < m; ++k) {
    Column& v = a[k];
    const double whole = std::sqrt(product(v, v));
    double below = 0;
    for (size_t r = row; r < m; ++r) below += v[r] * v[r];
    below = std::sqrt(below);
    if (below <= kDependent * whole) continue;
    diagonal[k] = v[row] > 0 ? -below : below;  // the sign that cancels nothing
    v[row] -= diagonal[k];
    double square = 0;
    for (size_t r = row; r < m; ++r) square += v[r] * v[r];
    const auto reflect = [&](Column& other) {
      double along = 0;
      for (size_t r = row; r < m; ++r) along += v[r] * other[r];
      along *= 2 / square;
      for (size_t r = row; r < m; ++r) other[r] -= along * v[r];
    };
    for (size_t j = k + 1; j < n; ++j) reflect(a[j]);
    reflect(b);
    rows[k] = row++;
  }
  Column x(n, 0);
  for (size_t k = n; k-- > 0;) {
    if (rows[k] == m) continue;
    double sum = b[rows[k]];
    for (size_t j = k + 1; j < n; ++j) sum -= a[j][rows[k]] * x[j];
    x[k] = sum / diagonal[k];
  }
  return x;
}

std::vector<double> nonnegative_least_squares(const std::vector<std::vector<double>>& rows,
                                              const std::vector<double>& b) {
  EXO_CHECK(!rows.empty() && rows.size() == b.size());
  Columns a(rows[0].size(), Column(rows.size()));
  for (size_t r = 0; r < rows.size(); ++r) {
    EXO_CHECK(rows[r].size() == rows[0].size());
    for (size_t c = 0; c < rows[r].size(); ++c) a[c][r] = rows[r][c];
  }
  return nonnegative(a, b);
}

namespace {

// Beyond this error (of the logarithm) a run counts by its error, not by the square of it: a
// schedule that the terms cannot describe must not bend the weights of all others.
constexpr double kFar = 0.15;

double error_of(const std::vector<MeasuredRun>& runs, const CostWeights& weights) {
  double out = 0;
  for (const MeasuredRun& r : runs) {
    const double predicted = std::max(cost_of(r.features, weights), r.cycles * 1e-6);
    const double off = std::log(predicted / r.cycles);
    out += r.weight * r.weight *
           (off < -kFar || off > kFar ? kFar * (2 * std::fabs(off) - kFar) : off * off);
  }
  return out;
}

// One round's equations: a row a run, then a row a term that pulls it towards the start. Columns
// have length one, or terms that are counted in millions would feel no pull.
struct Equations {
  Columns a;
  Column b, lengths;
};

// How much an equation may pull: one over the root of what was measured times what is predicted
// makes its error relative, and runs that the terms cannot describe count less (kFar).
double scale_of(const MeasuredRun& run, const CostWeights& now, bool first) {
  // At first relative to what was measured: the start may be far off.
  const double predicted = first ? run.cycles : cost_of(run.features, now);
  const double near = std::clamp(predicted, run.cycles / 20, run.cycles * 20);
  const double off = first ? 0 : std::fabs(std::log(near / run.cycles));
  const double trust = off > kFar ? std::sqrt(kFar / off) : 1;
  return trust * run.weight / std::sqrt(run.cycles * near);
}

Equations equations_of(const std::vector<MeasuredRun>& runs, const std::vector<size_t>& terms,
                       const CostWeights& now, const CostWeights& start, double pull, bool first) {
  const size_t m = runs.size(), n = terms.size();
  Equations out{Columns(n, Column(m + n, 0)), Column(m + n, 0), Column(n, 0)};
  for (size_t r = 0; r < m; ++r) {
    const CostSides sides = sides_of(runs[r].features, now);
    const bool memory_bound = sides.memory > sides.core;
    const double scale = scale_of(runs[r], now, first);
    for (size_t c = 0; c < n; ++c) {
      const bool lesser = is_memory(static_cast<Term>(terms[c])) != memory_bound;
      out.a[c][r] = scale * (lesser ? 1 - now.hidden : 1) * runs[r].features.count[terms[c]];
    }
    out.b[r] = scale * runs[r].cycles;
  }
  for (size_t c = 0; c < n; ++c) {
    out.lengths[c] = std::max(1e-300, std::sqrt(product(out.a[c], out.a[c])));
    for (double& each : out.a[c]) each /= out.lengths[c];
    out.a[c][m + c] = pull;
    out.b[m + c] = pull * out.lengths[c] * start.cycles[terms[c]];
  }
  return out;
}

// Rounds of linear least squares: the weights so far say which side of each run is the lesser, and
// what its error is relative to. The best round counts, as sides may change back and forth.
CostWeights fit_with(double hidden, const std::vector<MeasuredRun>& runs,
                     const std::vector<size_t>& terms, const CostWeights& start,
                     const FitOptions& options, double& least) {
  CostWeights now = start;
  now.hidden = hidden;
  CostWeights best = now;
  least = error_of(runs, now);
  for (int round = 0; round < options.rounds; ++round) {
    const Equations e = equations_of(runs, terms, now, start, options.pull, round == 0);
    const Column x = nonnegative(e.a, e.b);
    for (size_t c = 0; c < terms.size(); ++c) now.cycles[terms[c]] = x[c] / e.lengths[c];
    if (const double error = error_of(runs, now); error < least) {
      least = error;
      best = now;
    }
  }
  return best;
}

}  // namespace

CostWeights fit_weights(const std::vector<MeasuredRun>& runs, const CostWeights& start,
                        const FitOptions& options) {
  std::vector<size_t> terms;  // fitted
  CostWeights from = start;
  for (size_t k = 0; k < kTerms; ++k) {
    const bool off = std::find(options.without.begin(), options.without.end(),
                               static_cast<Term>(k)) != options.without.end();
    if (off) from.cycles[k] = 0;
    const bool seen = std::any_of(runs.begin(), runs.end(),
                                  [&](const MeasuredRun& r) { return r.features.count[k] > 0; });
    if (seen && !off) terms.push_back(k);
  }
  if (runs.empty() || terms.empty()) return from;
  CostWeights out = from;
  double least = 0;
  for (size_t k = 0; k < options.hidden.size(); ++k) {
    double error = 0;
    const CostWeights w = fit_with(options.hidden[k], runs, terms, from, options, error);
    if (k > 0 && error >= least) continue;
    least = error;
    out = w;
  }
  out.fitted = true;
  return out;
}

}  // namespace exotune
