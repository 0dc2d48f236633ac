#pragma once
// Fitting the weights of the cost's terms to measured runs. Start at fit_weights.
#include <vector>

#include "cost/terms.h"

namespace exotune {

struct MeasuredRun {
  Features features;
  double cycles = 0;  // measured; positive
  double weight = 1;  // how much this run counts
};

struct FitOptions {
  std::vector<Term> without;  // terms that stay at zero
  /// Keeps weights that the runs say little about near where they began: in shares of the
  /// runs' own weight.
  double pull = 1e-2;
  int rounds = 25;
  std::vector<double> hidden = {0, 0.3, 0.5, 0.65, 0.8, 0.9};  // tried; one of them is kept
};

/// Weights of at least zero, and the hidden share, that make the logarithms of predicted and
/// measured cycles nearest: rounds of non-negative least squares of relative errors. Begins at
/// `start`; terms that no run has keep its weights. Without runs: `start`.
CostWeights fit_weights(const std::vector<MeasuredRun>& runs, const CostWeights& start,
                        const FitOptions& options = {});

/// min |A x - b|, by reflections; `columns` are those of A, each as long as b. One that depends on
/// those before it gets 0.
std::vector<double> least_squares(std::vector<std::vector<double>> columns, std::vector<double> b);

/// min |A x - b| over x >= 0, by the active set method of Lawson and Hanson. `rows` are those of A.
std::vector<double> nonnegative_least_squares(const std::vector<std::vector<double>>& rows,
                                              const std::vector<double>& b);

}  // namespace exotune
