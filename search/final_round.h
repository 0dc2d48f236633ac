#pragma once
// The final round: the fastest trials, checked at other sizes, meet the rivals, the peers and the
// machine's roof in a shoot-out. Start at FinalRound::run.
//
// Sees the machine through its Bench alone.
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/finals.h"
#include "search/measuring.h"

namespace exotune {

/// Why a round of its own: trials are timed one by one over minutes, in which a machine's clock
/// changes by more than the differences between good schedules. Here all run in turns, so that the
/// ratios are fair though the absolute figures may not be.
class FinalRound {
 public:
  /// All must outlive this.
  FinalRound(TuningState& run, Measuring& measured, const Bench& bench);

  /// Enters the winner and whom it met in the result; the winner in the store. No winner: nothing
  /// was ok, or the time was over first.
  void run();
  /// The time for it was over, or nobody came to a result in time.
  bool cut_short() const { return deadline_.over() || all_slow_; }
  /// A finalist gave wrong results or crashed, and none was right.
  bool found_wrong() const { return wrong_; }
  /// The peak of all threads now, for orientation while measuring; the result's is of the
  /// shoot-out's own rounds.
  static void note_peak(TuningState& run, const Bench& bench);

 private:
  std::vector<const Trial*> finalists();
  const Trial* as_usually_compiled(const Trial& t) const;
  /// The trials that may be finalists, in the order of ranked(): of a kernel for any size each
  /// schedule once.
  std::vector<const Trial*> eligible() const;
  /// Adds those that are the fastest at the largest of the sizes, if they are not there.
  void add_large(std::vector<const Trial*>& chosen, const Deadline& deadline);
  /// Adds the fastest way to compile the nest as written, unless it is far behind.
  void add_written(std::vector<const Trial*>& chosen) const;
  std::vector<double> seconds_at(const SizeBinding& sizes, const std::vector<const Trial*>& trials);
  std::optional<bool> correct_elsewhere(const Trial& t, const Deadline& deadline);
  const TuningProblem* other_problem(size_t place, const std::vector<std::string>& free,
                                     const Deadline& deadline);
  void shrink_to(double operations, const std::vector<std::string>& free, SizeBinding& sizes) const;
  void retract(const Trial& t, TrialStatus status, const std::string& cause);
  // Finalists, rivals, peers, roofs, in this order; each ends where the next begins.
  struct Field {
    std::vector<Contender> contenders;
    size_t rivals = 0, peers = 0, roofs = 0;  // where each begins
  };
  Field field_of(const std::vector<const Trial*>& finalists);
  void add_peers(std::vector<Contender>& contenders, const Deadline& deadline);
  void add_roofs(std::vector<Contender>& contenders);
  size_t winner_of(const std::vector<Trial>& finalists, const ShootoutResult& shot,
                   SizeTable& table);
  FinalsAtSizes finals_of(const std::vector<Trial>& finalists);
  /// Of a kernel for any size: two finalists, each for some of the sizes. Nothing where that is no
  /// better than `winner`; else `winner` becomes the one of the two at the sizes of the run.
  std::optional<Trial> shared_out(const std::vector<Trial>& finalists, SizeTable table,
                                  size_t& winner);
  void take_roof(const Ratio& of_winner, const Roof& roof);
  void enter_rows(const Field& field, const ShootoutResult& shot, size_t winner);
  void note_end_of(std::span<const ContenderResult> finalists);
  void miss(const ContenderResult& c);
  void enter_winner(const Trial& best, const ContenderResult& shot);

  TuningState& run_;
  const TuneRequest& request_;
  Measuring& measured_;
  Candidates& candidates_;
  const Bench& bench_;
  Deadline deadline_;
  bool all_slow_ = false, wrong_ = false;
  std::deque<TuningProblem> other_problems_;  // by place among the other sizes
};

}  // namespace exotune
