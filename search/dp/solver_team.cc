#include "search/dp/solver_team.h"

#include <exception>
#include <thread>

#include "search/dp/dp.h"

namespace exotune {

SolverTeam::SolverTeam(ActionSpace& space, SpecMemo& memo, const SolverOptions& options)
    : memo_(memo) {
  SolverOptions helping = options;
  helping.threads = 1;
  helping.interrupted = [this, user = options.interrupted] {
    return shared_.done || (user && user());
  };
  for (int i = 1; i < options.threads; ++i) {
    spaces_.push_back(std::make_unique<ActionSpace>(space.machine(), space.rules(), space.kinds(),
                                                    space.layouts()));
    helpers_.push_back(std::make_unique<SpecSolver>(*spaces_.back(), memo, helping, &shared_));
  }
}

SolverTeam::~SolverTeam() = default;

void SolverTeam::run(const Spec& spec, const Limits& limits, const std::function<void()>& lead) {
  if (!memo_.share(true)) {  // a memo for one thread
    lead();
    return;
  }
  shared_.relaxed.share(true);
  shared_.done = false;
  std::vector<std::exception_ptr> failures(helpers_.size());
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < helpers_.size(); ++i)
      threads.emplace_back([&, i] {
        try {
          helpers_[i]->solve_alone(spec, limits);
        } catch (...) {
          failures[i] = std::current_exception();
        }
      });
    try {
      lead();
    } catch (...) {
      failures.push_back(std::current_exception());
    }
    shared_.done = true;
  }
  memo_.share(false);
  shared_.relaxed.share(false);
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace exotune
