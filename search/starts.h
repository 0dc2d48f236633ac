#pragma once
// Starts: the forms of a kernel that a run searches from besides the nest as written, views of its
// operands mostly. Start at Starts.
//
// Each is a program of its own (copies, then the product), so the program search makes its
// schedules. They take turns with those of the nest as written and are measured beside them.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "search/program_search.h"
#include "search/surroundings.h"
#include "search/tuner.h"

namespace exotune {

class Starts {
 public:
  /// Both must outlive this.
  Starts(const std::vector<WholeSchedule>& forms, const BeamContext& context);

  size_t size() const { return forms_.size(); }
  /// What the program search finds from form `k`, the form as it is last.
  std::vector<BeamState> search(size_t k, const ProgramSearchRequest& ask, const Deadline& deadline,
                                TuneStatistics& statistics);
  /// Of a state that was made from a form: the form's lines, then its own.
  WholeSchedule whole(const BeamState& state) const;
  /// As ProgramSearch::recombine, of all forms.
  std::vector<BeamState> recombine(const std::map<std::string, double>& seconds,
                                   const Deadline& deadline);
  /// As surroundings_of, of states that were made from form `k`.
  Surroundings around(size_t k, const std::vector<BeamState>& good, size_t most,
                      const Neighbourhood& where, const std::set<std::string>& seen,
                      const Deadline& deadline);

 private:
  const std::vector<WholeSchedule>& forms_;
  const BeamContext& context_;
  std::vector<BeamState> first_;                          // the forms as they are
  std::vector<std::unique_ptr<ProgramSearch>> programs_;  // null: nobody asked it
};

/// Enters what a program search came to.
void count(const ProgramSearchResult& found, TuneStatistics& statistics);

}  // namespace exotune
