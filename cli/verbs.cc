#include "cli/verbs.h"

#include "cli/kernel_cluster.h"
#include "cli/program.h"
#include "cli/runner_choice.h"
#include "cli/session.h"
#include "cli/view_search.h"
#include "search/device/device_search.h"

namespace exotune::cli {

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> kVerbs = {
      {"kernel", "tune: search, verify and measure; writes the winner", add_kernel_verb},
      {"complete", "a partial schedule, finished by search; writes the winner", add_complete_verb},
      {"schedule", "apply a script, no search; print the result", add_schedule_verb},
      {"eqsat", "views of the operands that rewriting finds, each proved", add_eqsat_verb},
      {"verify", "proofs and a differential test, no timing", add_verify_verb},
      {"bench", "a schedule against its peers, paired and interleaved", add_bench_verb},
      {"calibrate", "fit the cost model to runs on this machine", add_calibrate_verb},
      {"explain", "why this schedule: steps, proofs, what else was tried", add_explain_verb},
      {"family", "a library: every routine of BLAS families, with its header", add_family_verb},
      {"list", "what there is: kernels, targets, runners, operators", add_list_verb},
      {"db", "what was learned: ls, show, best, query, export, import, merge, gc, check",
       add_db_verb},
      {"doctor", "what this machine can do and what is missing", add_doctor_verb},
      {"worker", "what --executor slurm starts on a node: one task of a job", add_worker_verb},
      {"manual", "this command's manual page, or completion for bash", add_manual_verb},
  };
  return kVerbs;
}

const Program& whole_command() {
  static const Program kProgram{verbs(),
                                {choose_runner, tune_from_views, tune_elsewhere, device_serves}};
  return kProgram;
}

}  // namespace exotune::cli
