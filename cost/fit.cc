#include "cost/fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "cost/static_cost.h"

namespace exotune {

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Least squares over the columns in `active`; zero for the others.
Vector solve_active(const Matrix& a, const Vector& b, const std::vector<bool>& active) {
  std::vector<Eigen::Index> columns;
  for (size_t k = 0; k < active.size(); ++k)
    if (active[k]) columns.push_back(static_cast<Eigen::Index>(k));
  Matrix part(a.rows(), static_cast<Eigen::Index>(columns.size()));
  for (size_t k = 0; k < columns.size(); ++k)
    part.col(static_cast<Eigen::Index>(k)) = a.col(columns[k]);
  const Vector some = part.colPivHouseholderQr().solve(b);
  Vector x = Vector::Zero(a.cols());
  for (size_t k = 0; k < columns.size(); ++k) x[columns[k]] = some[static_cast<Eigen::Index>(k)];
  return x;
}

Vector nonnegative(const Matrix& a, const Vector& b) {
  const Eigen::Index n = a.cols();
  Vector x = Vector::Zero(n);
  std::vector<bool> active(static_cast<size_t>(n), false);
  const double tolerance = 1e-10 * std::max(1.0, (a.transpose() * b).cwiseAbs().maxCoeff());
  for (Eigen::Index round = 0; round < 3 * n; ++round) {
    const Vector gradient = a.transpose() * (b - a * x);
    Eigen::Index best = -1;
    for (Eigen::Index k = 0; k < n; ++k)
      if (!active[static_cast<size_t>(k)] && gradient[k] > tolerance &&
          (best < 0 || gradient[k] > gradient[best]))
        best = k;
    if (best < 0) break;
    active[static_cast<size_t>(best)] = true;
    for (;;) {
      const Vector s = solve_active(a, b, active);
      double step = 1;
      Eigen::Index leaves = -1;
      for (Eigen::Index k = 0; k < n; ++k) {
        if (!active[static_cast<size_t>(k)] || s[k] > 0) continue;
        const double reach = x[k] > 0 ? x[k] / (x[k] - s[k]) : 0;
        if (leaves >= 0 && reach >= step) continue;
        step = reach;
        leaves = k;
      }
      if (leaves < 0) {
        x = s;
        break;
      }
      x += step * (s - x);
      x[leaves] = 0;
      active[static_cast<size_t>(leaves)] = false;
    }
  }
  return x;
}

}  // namespace

std::vector<double> nonnegative_least_squares(const std::vector<std::vector<double>>& rows,
                                              const std::vector<double>& b) {
  EXO_CHECK(!rows.empty() && rows.size() == b.size());
  Matrix a(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(rows[0].size()));
  Vector right(static_cast<Eigen::Index>(b.size()));
  for (size_t r = 0; r < rows.size(); ++r) {
    EXO_CHECK(rows[r].size() == rows[0].size());
    for (size_t c = 0; c < rows[r].size(); ++c)
      a(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)) = rows[r][c];
    right[static_cast<Eigen::Index>(r)] = b[r];
  }
  const Vector x = nonnegative(a, right);
  return {x.data(), x.data() + x.size()};
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
  Matrix a;
  Vector b, lengths;
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
  const auto m = static_cast<Eigen::Index>(runs.size());
  const auto n = static_cast<Eigen::Index>(terms.size());
  Equations out{Matrix::Zero(m + n, n), Vector::Zero(m + n), Vector(n)};
  for (Eigen::Index r = 0; r < m; ++r) {
    const MeasuredRun& run = runs[static_cast<size_t>(r)];
    const CostSides sides = sides_of(run.features, now);
    const bool memory_bound = sides.memory > sides.core;
    const double scale = scale_of(run, now, first);
    for (Eigen::Index c = 0; c < n; ++c) {
      const size_t term = terms[static_cast<size_t>(c)];
      const bool lesser = is_memory(static_cast<Term>(term)) != memory_bound;
      out.a(r, c) = scale * (lesser ? 1 - now.hidden : 1) * run.features.count[term];
    }
    out.b[r] = scale * run.cycles;
  }
  for (Eigen::Index c = 0; c < n; ++c) {
    out.lengths[c] = std::max(1e-300, out.a.col(c).norm());
    out.a.col(c) /= out.lengths[c];
    out.a(m + c, c) = pull;
    out.b[m + c] = pull * out.lengths[c] * start.cycles[terms[static_cast<size_t>(c)]];
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
    const Vector x = nonnegative(e.a, e.b);
    for (size_t c = 0; c < terms.size(); ++c)
      now.cycles[terms[c]] =
          x[static_cast<Eigen::Index>(c)] / e.lengths[static_cast<Eigen::Index>(c)];
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
