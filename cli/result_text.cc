#include "cli/result_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "cli/quantities.h"
#include "core/ir/callees.h"
#include "core/ir/printer.h"
#include "core/library/step.h"
#include "search/outline/blockers.h"

namespace exotune::cli {
// What a person reads at the end of a search, line by line, each made by a function of its own:
// nothing here decides anything, and all of it can be said again from the record.
namespace {

// Operators that take factors out of sums, or sums out of one another.
constexpr const char* kFewerOperations[] = {"factor_sum", "factors_ahead", "reduce_ahead"};

std::string shown_sizes(const TuneRequest& request) {
  if (!request.sizes.empty()) return str(request.sizes);
  if (request.representative.empty()) return "no sizes";
  return "any size, measured at " + str(request.representative);
}

std::string shown_threads(const TuneRequest& request) {
  return request.threads > 1 ? fmt::format(", {} threads", request.threads) : "";
}

bool counts_flops(const TuneResult& result) { return result.gflops > 0; }

std::string cycles_of(const CycleCount& cycles) {
  std::string text = fmt::format("{:.0f} {}", cycles.count, unit_name(cycles.unit));
  if (cycles.share_of_peak > 0)
    text += fmt::format(", {:.1f} % of the target's peak", 100 * cycles.share_of_peak);
  if (cycles.as_written > 0 && cycles.written_at.empty())
    text += fmt::format(", {:.2f} times fewer than the nest as written",
                        cycles.as_written / cycles.count);
  else if (cycles.as_written > 0)
    text += fmt::format(", about {:.0f} times fewer than the nest as written (reckoned from {})",
                        cycles.as_written / cycles.count, cycles.written_at);
  return text;
}

std::string speed_of(const TuneResult& result) {
  if (result.cycles) return cycles_of(*result.cycles);
  if (counts_flops(result)) return number(result.gflops) + " GFLOP/s";
  if (result.gbytes > 0) return number(result.gbytes) + " GB/s";
  return result.seconds > 0 ? number(result.seconds * 1e6) + " us" : "not measured";
}

// Of all threads the run used: the peak is measured with as many.
double percent_of_peak(const TuneResult& result) {
  return result.peak_gflops > 0 && result.gflops > 0 ? 100 * result.gflops / result.peak_gflops
                                                     : NAN;
}

// The peer that comes nearest to us, or beats us by most.
const PeerRow* best_peer(const TuneResult& result) {
  const PeerRow* best = nullptr;
  for (const PeerRow& peer : result.peers)
    if (peer.ratio.rounds > 0 && (best == nullptr || peer.ratio.median < best->ratio.median))
      best = &peer;
  return best;
}

std::string counts(const std::map<std::string, int>& table) {
  std::string text;
  for (const auto& [name, count] : table)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + name;
  return text;
}

bool uses_instructions(const Proc& proc) {
  const std::vector<ProcPtr> called = procs_called(proc);
  return std::any_of(called.begin(), called.end(),
                     [](const ProcPtr& callee) { return callee->instr.has_value(); });
}

// Has the schedule, or the form of the kernel that it began with, a step after which it computes
// less than the loops say?
bool needs_fewer_operations(const std::string& script) {
  return std::any_of(std::begin(kFewerOperations), std::end(kFewerOperations), [&](const char* op) {
    return script.find(std::string(" = ") + op + "(") != std::string::npos;
  });
}

// Windows whose elements need not lie side by side: "`x`, `y`".
std::string strided_windows(const Proc& proc) {
  std::string names;
  for (const Arg& arg : proc.args) {
    if (!arg.type.window || arg.type.shape.empty()) continue;
    const int last = arg.type.rank() - 1;
    const bool said = std::any_of(proc.asserts.begin(), proc.asserts.end(), [&](const ExprPtr& e) {
      const BinOp* equal = e->as<BinOp>();
      if (!equal || equal->op != BinOpKind::kEq) return false;
      for (const ExprPtr& side : {equal->lhs, equal->rhs})
        if (const StrideExpr* s = side->as<StrideExpr>();
            s && s->name == arg.name && s->dim == last)
          return true;
      return false;
    });
    if (!said) names += (names.empty() ? "`" : ", `") + arg.name.name() + "`";
  }
  return names;
}

// What a reader would otherwise take for a fault of the tool, or not notice.
// Notes are about this result only; general advice is the documents' affair.
std::vector<std::string> notes_of(const TuneRequest& request, const TuneResult& result) {
  std::vector<std::string> notes;
  if (!result.as_written && !request.target->instructions().empty() &&
      !uses_instructions(*result.winner))
    notes.push_back("the winner uses no instruction of " + request.target->name +
                    ": its vectors, if any, are the compiler's, as wide as the target's flags let "
                    "them be");
  if (const std::string names = strided_windows(*request.proc); !names.empty())
    notes.push_back(names +
                    ": elements of these windows may lie apart, which no vector load reads; "
                    "where they do not, say so: assert stride(x, 0) == 1");
  return notes;
}

// What no roof shows: the loops as written mostly wait for their own results. "" where they do not.
std::string chain_of(const TuneRequest& request, const TuneResult& result) {
  if (!result.as_written) return "";
  SizeBinding sizes = request.representative;
  for (const auto& [name, value] : request.sizes) sizes[name] = value;
  const std::vector<Blocker> blockers = blockers_of(*request.proc, sizes);
  if (blockers.empty() || !blockers.front().chain || blockers.front().share < 0.5) return "";
  return "waiting: an iteration of `" + blockers.front().loop +
         "` may need the one before; beside it ";
}

// "image_view[..] = image[..], proved by replay: 76 GFLOP/s, the winner"
std::string text_of(const ViewOutcome& view) {
  std::string text = view.text + ", proved " + view.proof;
  if (!view.trouble.empty()) return text + ": " + view.trouble;
  if (view.gflops > 0) text += ": " + number(view.gflops) + " GFLOP/s";
  return text + (view.chosen ? ", the winner is of it" : "");
}

// "STEP\nREASON\nmore" in one line.
std::string step_and_reason(const std::string& text) {
  const size_t step = text.find('\n');
  if (step == std::string::npos) return text;
  return text.substr(0, step) + ": " + text.substr(step + 1, text.find('\n', step + 1) - step - 1);
}

bool is_word_char(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::set<std::string> words_of(const std::string& text) {
  std::set<std::string> out;
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t from = at;
    while (at < text.size() && is_word_char(text[at])) ++at;
    if (at > from) out.insert(text.substr(from, at - from));
  }
  return out;
}

// Whether what a refusal puts between quotes are names of the program: a loop that a step made,
// `io` of `i`, is in no text that the user has.
bool speaks_of(const std::string& refusal, const std::set<std::string>& program) {
  const std::string reason = refusal.substr(refusal.find('\n') + 1);
  for (size_t at = 0; at < reason.size(); ++at) {
    const bool opens =
        reason[at] == '`' || (reason[at] == '\'' && (at == 0 || reason[at - 1] == ' '));
    const size_t end = opens ? reason.find(reason[at], at + 1) : std::string::npos;
    if (end == std::string::npos) continue;
    for (const std::string& word : words_of(reason.substr(at + 1, end - at - 1)))
      if (word != "_" && !std::isdigit(static_cast<unsigned char>(word[0])) &&
          program.count(word) == 0)
        return false;
    at = end;
  }
  return true;
}

// Why nothing beat the loops as written, in the words of their own text: what keeps vectors from
// them, and the steps that were refused.
// Steps are counted by reason and the most frequent told: a user who knows the loops sees what to
// change.
std::string why_as_written(const TuneRequest& request, const TuneResult& result) {
  constexpr size_t kMost = 3;
  constexpr double kCounts = 0.02;
  SizeBinding sizes = request.representative;
  for (const auto& [name, value] : request.sizes) sizes[name] = value;
  std::string out;
  size_t shown = 0;
  for (const Blocker& b : blockers_of(*request.proc, sizes)) {
    if (b.share < kCounts || shown++ == kMost) break;
    const std::string where = b.where.str();
    out += fmt::format("because  {}{}: {} ({:.0f} % of the iterations)\ninstead  {}\n",
                       where.empty() ? "" : where + ": ", b.loop, b.why, 100 * b.share, b.instead);
  }
  shown = 0;
  const std::set<std::string> program = words_of(exotune::str(*request.proc));
  for (const auto& [op, reason] : result.statistics.reasons) {
    if (!speaks_of(reason, program)) continue;
    if (shown++ == kMost) break;
    out += "refused  " + step_and_reason(reason) + "\n";
  }
  return out;
}

// What the dynamic program did: "8 plans (7 schedules, 1 refused), 1234 Specs solved, ...".
std::string plans_text(const TuneStatistics& s) {
  const DpPlans& dp = *s.dp;
  if (dp.outcome == DpOutcome::kNotLifted) return "the kernel is not one affine nest: beam alone";
  const std::string work =
      fmt::format("{} Specs solved, {} known before, {:.1f} s", dp.solved, dp.known, dp.seconds);
  if (dp.outcome == DpOutcome::kSolved)
    return fmt::format("{} by dynamic programming, {} refused; {}", dp.plans.size(),
                       s.plans_refused, work);
  return fmt::format("{} by dynamic programming, {} so far: beam alone", name_of(dp.outcome), work);
}

// The first lines: what was found, and what a run of it is spent on.
std::string speed_text(const TuneRequest& request, const TuneResult& result) {
  std::string out = fmt::format("kernel   {}, {}, {}{}\n", request.kernel.name,
                                shown_sizes(request), request.target->name, shown_threads(request));
  out += "speed    " + speed_of(result);
  if (const double percent = percent_of_peak(result); !std::isnan(percent))
    out += fmt::format(", {:.1f} % of this machine's measured peak ({} GFLOP/s)", percent,
                       number(result.peak_gflops));
  if (counts_flops(result) && result.gbytes > 0)
    out += fmt::format(", {} GB/s", number(result.gbytes));
  out += "\n";
  if (!result.searched_at.empty())
    out += fmt::format(
        "rounds   searched, and compared with others, at {}, where calls are short{}\n",
        str(result.searched_at),
        result.timed_there ? "; timed there, too: a longer --time-budget times it here" : "");
  if (result.cycles && !result.cycles->spent.empty()) {
    out += "spent   ";
    for (const auto& [what, count] : result.cycles->spent)
      out += fmt::format("{} {} {:.0f}", what == result.cycles->spent.front().first ? "" : ",",
                         what, count);
    out += "\n";
  }
  return out;
}

// Beside what the winner was measured, and what could not be.
std::string against_text(const TuneResult& result) {
  std::string out;
  for (const PeerRow& peer : result.peers)
    if (peer.ratio.rounds > 0)
      out +=
          fmt::format("{}{:.3f} times {} [{:.3f}, {:.3f}]{}\n",
                      &peer == &result.peers.front() ? "against  " : "         ", peer.ratio.median,
                      peer.name, peer.ratio.next_low, peer.ratio.next_high,
                      peer.gflops > 0 ? ", which reached " + number(peer.gflops) + " GFLOP/s" : "");
  for (const PeerRow& rival : result.rivals)
    if (rival.ratio.rounds > 0)
      out += fmt::format("beside   {:.3f} times {} [{:.3f}, {:.3f}]\n", rival.ratio.median,
                         rival.name, rival.ratio.next_low, rival.ratio.next_high);
  for (const std::string& missed : result.missed)
    out += fmt::format(
        "{}not measured, {}\n",
        result.peers.empty() && missed == result.missed.front() ? "against  " : "         ",
        missed);
  return out;
}

// How far the machine is from letting it be faster, what is proved, and what there is to say when
// nothing better than the loops was found.
std::string bound_text(const TuneRequest& request, const TuneResult& result,
                       const std::optional<Roofline>& roofline) {
  std::string out;
  if (roofline)
    out += "bound by " + (roofline->percent < 50 ? chain_of(request, result) : "") +
           str(*roofline) + "\n";
  if (roofline && !roofline->shares.empty())
    out += "busy     " + shares_text(roofline->shares) + " of the time, by the cost model\n";
  for (const std::string& note : notes_of(request, result)) out += "note     " + note + "\n";
  out += fmt::format("proof    {}\n", proof_level_name(result.proof));
  if (result.winner && !result.cycles && result.seconds == 0 &&
      request.effort != Effort::kEstimate && result.stop == StopReason::kTimeBudget)
    out +=
        "because  the time was over before anything was measured: the cheapest schedule by the "
        "cost model; a longer --time-budget measures\n";
  constexpr double kNearRoof = 75;  // percent: nothing is to be explained
  if (result.as_written && result.seconds > 0)
    out += roofline && roofline->percent >= kNearRoof
               ? "found    nothing better than your loops, which are near that bound\n"
               : std::string("found    nothing better than your loops") +
                     (result.stop == StopReason::kTimeBudget ? " before the time was over" : "") +
                     "\n" + why_as_written(request, result);
  if (!result.compilation.is_usual()) out += "compiled " + text_of(result.compilation) + "\n";
  return out;
}

std::string search_text(const TuneResult& result) {
  std::string out;
  const TuneStatistics& s = result.statistics;
  out += fmt::format(
      "search   {} schedules, {} steps refused, {} candidates measured, {} known before\n",
      s.states, s.refused, s.measured, s.reused);
  if (s.dp) out += "plans    " + plans_text(s) + "\n";
  for (const ViewOutcome& view : result.views) out += "view     " + text_of(view) + "\n";
  out += fmt::format(
      "time     {:.1f} s before, {:.1f} s search, {:.1f} s measuring, {:.1f} s shoot-out; stopped: "
      "{}\n",
      s.prepare_seconds, s.search_seconds, s.measure_seconds, s.shootout_seconds,
      name_of(result.stop));
  return out;
}

// What must not go unnoticed: a peak that is none, candidates that computed something else, and
// steps that failed for no fault of the input.
std::string warnings_text(const TuneResult& result) {
  std::string out;
  const TuneStatistics& s = result.statistics;
  if (percent_of_peak(result) > 100.5)
    out += needs_fewer_operations(result.script)
               ? "peak     over 100 %: operations are counted as your loops are written, and the "
                 "winner needs fewer\n"
               : "peak     over 100 %: the peak is wrong, not the speed; the target's flags allow "
                 "wider vectors, or other instructions, than its text says\n";
  for (const std::string& failure : result.failures)
    if (failure.find(": mismatch: ") != std::string::npos) out += "left out " + failure + "\n";
  if (const auto internal = s.refusals.find(kInternalError); internal != s.refusals.end()) {
    const auto reason = s.reasons.find(kInternalError);
    out += fmt::format(
        "internal {} steps failed inside exo-tune and were left out; please report it with the "
        "input: {}\n",
        internal->second, reason == s.reasons.end() ? "" : reason->second);
  }
  if (!s.causes.empty()) out += "failed   " + counts(s.causes) + "\n";
  return out;
}

std::string verbose_text(const TuneResult& result) {
  std::string out;
  const TuneStatistics& s = result.statistics;
  if (!s.refusals.empty()) out += "refused  " + counts(s.refusals) + "\n";
  for (const auto& [op, reason] : s.reasons) out += "why      " + op + ": " + reason + "\n";
  for (const std::string& failure : result.failures) out += "cause    " + failure + "\n";
  for (const std::string& cleared : result.peer_report.cleared_environment)
    out += "cleared  " + cleared + " (it would have falsified the comparison)\n";
  for (const std::string& absent : result.peer_report.absent) out += "no peer  " + absent + "\n";
  return out;
}

}  // namespace

std::string result_text(const TuneRequest& request, const TuneResult& result,
                        const std::vector<std::filesystem::path>& files, bool verbose,
                        const std::optional<Roofline>& roofline) {
  std::string out = speed_text(request, result) + against_text(result) +
                    bound_text(request, result, roofline) + search_text(result) +
                    warnings_text(result);
  if (verbose) out += verbose_text(result);
  out += "files   ";
  for (const auto& file : files) out += " " + file.string();
  return out + "\n";
}

std::string result_line(const TuneRequest& request, const TuneResult& result) {
  std::string text = request.kernel.name + " (" + shown_sizes(request) + "): " + speed_of(result);
  if (const double percent = percent_of_peak(result); !std::isnan(percent))
    text += fmt::format(", {:.1f} % of peak", percent);
  if (const PeerRow* peer = best_peer(result))
    text += fmt::format(", {:.2f} times {}", peer->ratio.median, peer->name);
  return text;
}

Table result_table() {
  return Table({"kernel", "sizes", "target", "us", "GFLOP/s", "GB/s", "% peak", "best peer",
                "ratio", "proof", "trials", "stopped", "file"},
               {"us", "GFLOP/s", "GB/s", "% peak", "ratio", "trials"});
}

std::vector<std::string> result_row(const TuneRequest& request, const TuneResult& result,
                                    const std::string& file) {
  const PeerRow* peer = best_peer(result);
  const bool found = result.winner != nullptr;
  return {request.kernel.name,
          str(request.sizes.empty() ? request.representative : request.sizes),
          request.target->name,
          found && result.seconds > 0 ? number(result.seconds * 1e6) : "",
          result.gflops > 0 ? number(result.gflops) : "",
          result.gbytes > 0 ? number(result.gbytes) : "",
          number(percent_of_peak(result)),
          peer == nullptr ? "" : peer->name,
          peer == nullptr ? "" : fmt::format("{:.3f}", peer->ratio.median),
          found ? proof_level_name(result.proof) : "no valid candidate",
          std::to_string(result.statistics.measured + result.statistics.reused),
          name_of(result.stop),
          file};
}

std::string plan_text(const TuneRequest& request) {
  const bool measures = request.effort != Effort::kEstimate;
  return fmt::format("{} ({}) for {}{}: beam {}, at most {} trials and {:.0f} s, seed {}; {}{}",
                     request.kernel.name, shown_sizes(request), request.target->name,
                     shown_threads(request), request.beam, request.trials,
                     request.time_budget_seconds, request.seed,
                     measures ? "compiled by " + find_compiler(request.target->compiler).version
                              : "measures nothing",
                     measures && request.with_peers ? ", beside the peers that doctor lists" : "");
}

}  // namespace exotune::cli
