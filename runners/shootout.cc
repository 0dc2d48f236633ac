#include "runners/shootout.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/deadline.h"
#include "core/base/diagnostic.h"
#include "runners/shootout_rounds.h"
#include "runners/statistics.h"
#include "runners/work_directory.h"

namespace exotune {

namespace {

constexpr double kGrace = 0.05;  // seconds: the deadline itself kills, not the time limit

void choose(ShootoutResult& out, std::span<const Contender> contenders,
            const ShootoutOptions& options) {
  std::vector<ContenderResult>& all = out.contenders;
  int best = -1;
  const auto faster = [&](size_t k, int than) {
    return than < 0 || all[k].typical < all[static_cast<size_t>(than)].typical;
  };
  for (size_t k = 0; k < all.size(); ++k) {
    if (all[k].status != TrialStatus::kOk || !(all[k].median > 0) || all[k].is_roof) continue;
    if (faster(k, out.fastest)) out.fastest = static_cast<int>(k);
    if (!all[k].is_peer && faster(k, best)) best = static_cast<int>(k);
  }
  out.winner = best;
  for (size_t k = 0; best >= 0 && k < all.size(); ++k) {
    if (!contenders[k].competes() || all[k].status != TrialStatus::kOk || !(all[k].median > 0))
      continue;
    const bool simpler = contenders[k].candidate->complexity <
                         contenders[static_cast<size_t>(out.winner)].candidate->complexity;
    const Ratio r = out.ratio(k, static_cast<size_t>(best));
    const double margin = std::max(options.tie_margin, kTieMedian);
    const bool near = all[k].typical <= (1 + margin) * all[static_cast<size_t>(best)].typical;
    if (simpler && near && r.tie(options.tie_margin) && r.median >= 1 - margin)
      out.winner = static_cast<int>(k);
  }
  int reference = -1;
  for (size_t k = 0; k < all.size(); ++k) {
    if (all[k].status != TrialStatus::kOk || !(all[k].median > 0) || all[k].is_roof) continue;
    if (all[k].name == options.reference) {
      reference = static_cast<int>(k);
      break;
    }
    const bool peer_before_candidate =
        reference < 0 || (all[k].is_peer && !all[static_cast<size_t>(reference)].is_peer);
    if (peer_before_candidate) reference = static_cast<int>(k);
  }
  if (reference < 0) return;
  out.reference = all[static_cast<size_t>(reference)].name;
  for (size_t k = 0; k < all.size(); ++k)
    if (all[k].status == TrialStatus::kOk)
      all[k].against_reference = out.ratio(k, static_cast<size_t>(reference));
}

}  // namespace

Contender contender_of(std::string name, Candidate candidate) {
  Contender out;
  out.name = std::move(name);
  out.candidate = std::move(candidate);
  return out;
}

Contender contender_of(std::string name, PeerCall peer) {
  Contender out;
  out.name = std::move(name);
  out.peer = std::move(peer);
  return out;
}

Ratio paired_ratio(std::span<const double> mine, std::span<const double> base,
                   const std::vector<int>& blocks) {
  std::vector<double> ratios;
  int rounds = 0;
  for (size_t i = 0; i < std::min(mine.size(), base.size()); ++i) {
    const bool both = mine[i] > 0 && base[i] > 0;
    ratios.push_back(both ? base[i] / mine[i] : std::numeric_limits<double>::quiet_NaN());
    rounds += both;
  }
  const SampleInterval i = median_interval(ratios), next = next_block_interval(ratios, blocks);
  return {i.median, i.low, i.high, rounds, next.low, next.high};
}

Ratio ShootoutResult::ratio(size_t index, size_t other) const {
  return paired_ratio(contenders.at(index).samples, contenders.at(other).samples, blocks);
}

namespace {

/// One result a contender, empty but for what it is.
std::vector<ContenderResult> unmeasured(std::span<const Contender> contenders) {
  std::vector<ContenderResult> out;
  for (const Contender& c : contenders) {
    EXO_CHECK(c.candidate.has_value() + c.peer.has_value() + c.roof.has_value() == 1);
    ContenderResult r;
    r.name = c.name;
    r.is_peer = c.is_peer();
    r.is_roof = c.roof.has_value();
    out.push_back(std::move(r));
  }
  return out;
}

// Who sat some blocks out had the speed that the machine had in the others: its figures are brought
// to that of all blocks, by what the fastest of those that ran throughout took in both.
void bring_to_all_blocks(std::vector<ContenderResult>& all, const std::vector<int>& blocks) {
  std::vector<double> measure;
  double least = 0;
  for (const ContenderResult& c : all) {
    if (c.status != TrialStatus::kOk || c.is_roof) continue;
    std::vector<double> medians = block_medians(c.samples, blocks);
    if (std::count(medians.begin(), medians.end(), 0.0) > 0) continue;
    if (!measure.empty() && c.typical >= least) continue;
    least = c.typical;
    measure = std::move(medians);
  }
  if (measure.empty()) return;
  for (ContenderResult& c : all) {
    const double before = mean_where_both(measure, block_medians(c.samples, blocks));
    if (c.status != TrialStatus::kOk || before == 0) continue;
    const double scale = mean_where_both(measure, measure) / before;  // 1 for who ran throughout
    for (double* figure : {&c.median, &c.low, &c.high, &c.typical}) *figure *= scale;
  }
}

void take_samples(std::vector<double> samples, const std::vector<int>& blocks,
                  ContenderResult& into) {
  const SampleInterval i = median_interval(samples);
  into.median = i.median;
  into.low = i.low;
  into.high = i.high;
  into.typical = typical_of(samples, blocks);
  if (samples.empty()) {
    into.status = TrialStatus::kTimeout;
    into.cause = "no round was complete within the time limit";
  }
  into.samples = std::move(samples);
}

}  // namespace

ShootoutResult shootout(const TargetToolchain& toolchain, std::span<const Contender> contenders,
                        const std::vector<ArgSpec>& args, const TestCase& test,
                        const ShootoutOptions& asked, const NativeOptions& native) {
  ShootoutResult out;
  ShootoutOptions options = asked;
  out.cold = options.cold;
  out.contenders = unmeasured(contenders);
  const PreparedCase prepared = prepare(args, test);
  const WorkDirectory directory(native.work_directory);
  std::vector<Entry> entries =
      admit(toolchain, contenders, prepared, options, native, directory.path(), out.contenders);
  out.stop_reason = "complete";
  // A contender that breaks the joint process, though it passed alone, leaves; the rest start
  // again.
  while (!entries.empty()) {
    // The rounds end in time by themselves, with what they have.
    options.timeout_seconds =
        std::min(asked.timeout_seconds, DeadlineScope::current().left() + kGrace);
    TimedRounds rounds = time_rounds(entries, prepared, options);
    if (rounds.ended.empty()) {
      const size_t k = static_cast<size_t>(entries[rounds.guilty].contender - contenders.data());
      out.contenders[k].status = rounds.finding.status;
      out.contenders[k].cause = rounds.finding.cause;
      out.stop_reason = "crash: " + out.contenders[k].name + " left";
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(rounds.guilty));
      continue;
    }
    if (rounds.ended != "complete") out.stop_reason = rounds.ended;
    out.blocks = rounds.blocks;
    for (size_t e = 0; e < entries.size(); ++e)
      take_samples(std::move(rounds.samples[e]), out.blocks,
                   out.contenders[static_cast<size_t>(entries[e].contender - contenders.data())]);
    bring_to_all_blocks(out.contenders, out.blocks);
    break;
  }
  choose(out, contenders, options);
  return out;
}

}  // namespace exotune
