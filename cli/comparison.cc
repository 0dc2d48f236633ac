#include "cli/comparison.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/quantities.h"
#include "runners/arena.h"
#include "runners/threads.h"
#include "search/peer_problem.h"
#include "search/tuning_context.h"

namespace exotune::cli {
namespace {

constexpr const char* kOurs = "exo-tune";

std::string ratio_text(const Ratio& ratio) {
  if (ratio.rounds == 0) return "";
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", ratio.median, ratio.next_low, ratio.next_high);
}

// The libraries that have this operation.
void add_peers(const KernelEntry& entry, const TuningProblem& problem,
               const TargetToolchain& toolchain, const std::vector<std::string>& only,
               std::vector<Contender>& contenders) {
  const std::optional<PeerProblem> call = peer_problem(entry, problem);
  if (!call) return;
  PeerOptions wanted;
  wanted.only = only;
  wanted.problem = call;
  for (const Peer& peer : discover_peers(toolchain, wanted).peers)
    if (peer.supports(*call))
      contenders.push_back(contender_of(shown_name(peer, toolchain), PeerCall{peer, *call}));
}

}  // namespace

Comparison compare_with_peers(const Candidate& contender, const KernelEntry* entry,
                              const TuningProblem& problem, const Target& target,
                              const ComparisonOptions& options) {
  const TargetToolchain toolchain = with_threads(toolchain_of(target), options.threads);
  const std::unique_ptr<Arena> arena = native_arena(toolchain);
  Comparison comparison;
  comparison.sizes = problem.sizes;
  std::vector<Contender> contenders = {contender_of(kOurs, contender)};
  const Candidate plain =
      make_candidate(at_sizes(problem.kernel, options.fixed), target, problem, "unscheduled");
  contenders.push_back(contender_of("unscheduled", plain));
  const size_t libraries = contenders.size();
  ElementType precision = ElementType::kF32;
  comparison.kernel = entry != nullptr ? entry->name : problem.kernel->name;
  if (entry != nullptr) {
    if (!entry->flops.text().empty()) comparison.flops = entry->flops.evaluate(problem.sizes);
    if (!entry->bytes.text().empty()) comparison.bytes = entry->bytes.evaluate(problem.sizes);
    precision = element_from_name(name_of(entry->precision));
    add_peers(*entry, problem, toolchain, options.only_peers, contenders);
  }
  if (contenders.size() == libraries && options.only_peers.empty())
    for (Contender& c : arena->plain_code(plain)) contenders.push_back(std::move(c));
  const size_t roof = contenders.size();
  if (comparison.flops > 0 && (precision == ElementType::kF32 || precision == ElementType::kF64))
    if (std::optional<Contender> peak = arena->roof(precision))
      contenders.push_back(std::move(*peak));

  ShootoutOptions shooting;
  shooting.rounds = options.rounds;
  shooting.cold = options.cold;
  shooting.reference = kOurs;
  comparison.result = arena->compete(contenders, problem.args, problem.test, shooting);
  if (roof < contenders.size()) {
    const double flops = contenders[roof].roof->work;
    const double seconds = comparison.result.contenders[roof].median;
    comparison.peak = seconds > 0 ? options.threads * flops / seconds * 1e-9 : 0;
    comparison.result.contenders.pop_back();
  }
  return comparison;
}

Table comparison_table() {
  return Table(
      {"kernel", "sizes", "who", "status", "us", "GFLOP/s", "GB/s", "% peak", "exo-tune is x"},
      {"us", "GFLOP/s", "GB/s", "% peak"});
}

void add_rows(const Comparison& comparison, Table& table) {
  const std::vector<ContenderResult>& all = comparison.result.contenders;
  for (size_t k = 0; k < all.size(); ++k) {
    const ContenderResult& who = all[k];
    const bool timed = who.status == TrialStatus::kOk && who.median > 0;
    const double gflops =
        timed && comparison.flops > 0 ? comparison.flops / who.median * 1e-9 : NAN;
    const double gbytes =
        timed && comparison.bytes > 0 ? comparison.bytes / who.median * 1e-9 : NAN;
    table.add({comparison.kernel, str(comparison.sizes), who.name, status_name(who.status),
               timed ? number(who.median * 1e6) : "", number(gflops), number(gbytes),
               comparison.peak > 0 ? number(100 * gflops / comparison.peak) : "",
               timed && k > 0 ? ratio_text(comparison.result.ratio(0, k)) : ""});
  }
}

}  // namespace exotune::cli
