// exo-tune eqsat KERNEL|FILE.exo[:proc]: which views of a product's operands rewriting finds, each
// replayed and proved. Nothing runs. exo-tune eqsat audit: the rules, put to the test.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/options.h"
#include "cli/session.h"
#include "cli/text_file.h"
#include "cli/verbs.h"
#include "cli/workspace.h"
#include "core/base/words.h"
#include "core/cursor/provenance.h"
#include "core/primitives/primitives.h"
#include "search/eqsat/lowering.h"
#include "search/tuning_context.h"
#include "search/views/view_cost.h"

namespace exotune::cli {
namespace {

using eqsat::Candidate;
using eqsat::CandidateReport;
using eqsat::RuleText;

struct EqsatOptions {
  std::string kernel, array, target;
  std::vector<std::string> rule_files;
  int k = 16;
  int script = -1;
  bool dot = false, allow_tested = false;
  std::vector<int64_t> blocks;  // each is a part of the one before
  eqsat::Limits limits;
  SizeOption size;
  FormatOption format;
};

// "16x16": the rows and columns of an array of multipliers.
std::map<std::string, int64_t> array_constants(const std::string& text) {
  if (text.empty()) return {};
  constexpr int kLargest = 4096;  // as for --block
  int rows = 0, columns = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, rows);
  const bool by = first.ec == std::errc() && first.ptr != end && *first.ptr == 'x';
  const auto second = std::from_chars(by ? first.ptr + 1 : end, end, columns);
  const bool whole = by && second.ec == std::errc() && second.ptr == end;
  if (!whole || std::min(rows, columns) < 1 || std::max(rows, columns) > kLargest)
    throw InputError({}, "--array: '" + text + "' is no array",
                     "rows x columns, each at most 4096, for example 16x16");
  return {{"R", rows}, {"C", columns}};
}

std::vector<RuleText> shipped_rules(const Session& session, const std::vector<std::string>& sets) {
  std::vector<RuleText> rules;
  for (const std::string& set : sets) {
    const std::filesystem::path path = session.data.rules / (set + ".rules");
    rules.push_back({path.string(), read_text_file(path)});
  }
  return rules;
}

std::vector<RuleText> rules_of(const Session& session, const EqsatOptions& options,
                               bool tiles = false) {
  // Blocks alone: with the other rules few of the smallest terms would be blocks.
  std::vector<std::string> sets = {"canonical", "layout",
                                   options.array.empty() ? "columns" : "systolic"};
  if (tiles) sets.push_back("items");
  if (!options.blocks.empty()) sets = {"canonical", "padding", "blocking"};
  if (options.rule_files.empty()) return shipped_rules(session, sets);
  std::vector<RuleText> rules;
  for (const std::string& file : options.rule_files) rules.push_back({file, read_text_file(file)});
  return rules;
}

// Sets of rules that are used together.
struct RuleSets {
  std::string name;
  std::vector<RuleText> rules;
};

// Together as searches use them: rules may be sound one by one and not with each other's help.
std::vector<RuleSets> audited_sets(const Session& session, const EqsatOptions& options) {
  if (!options.rule_files.empty()) {
    std::string name;
    for (const std::string& file : options.rule_files) name += (name.empty() ? "" : " + ") + file;
    return {{name, rules_of(session, options)}};
  }
  std::vector<RuleSets> all;
  for (const std::vector<std::string>& names :
       std::vector<std::vector<std::string>>{{"canonical", "layout", "columns", "items"},
                                             {"canonical", "layout", "systolic", "items"},
                                             {"canonical", "blocking", "systolic"},
                                             {"canonical", "padding", "blocking", "systolic"},
                                             {"canonical", "pooling", "layout"},
                                             {"canonical", "algebraic"}}) {
    RuleSets& sets = all.emplace_back();
    for (const std::string& name : names) sets.name += (sets.name.empty() ? "" : " + ") + name;
    sets.rules = shipped_rules(session, names);
  }
  return all;
}

ExitCode run_audit(const Session& session, const EqsatOptions& options) {
  std::map<std::string, int64_t> constants = {{"K", 2}, {"L", 0}, {"R", 2}, {"C", 2}};
  for (const auto& [name, value] : array_constants(options.array)) constants[name] = value;
  Table table({"rules", "problem", "nodes", "stopped", "checked", "wrong"},
              {"nodes", "checked", "wrong"});
  size_t checked = 0, wrong = 0;
  for (const RuleSets& sets : audited_sets(session, options))
    for (const eqsat::AuditRow& row : eqsat::audit_rules(sets.rules, constants)) {
      table.add({sets.name, row.problem, std::to_string(row.nodes), eqsat::name_of(row.stop),
                 std::to_string(row.checked), std::to_string(row.wrong.size())});
      checked += row.checked;
      wrong += row.wrong.size();
      if (!row.wrong.empty())
        std::fprintf(stderr, "%s, %s: %s\n", sets.name.c_str(), row.problem.c_str(),
                     row.wrong.front().c_str());
    }
  std::fputs(table.str(options.format.value()).c_str(), stdout);
  std::fprintf(stderr, "%zu nodes checked against their classes, %zu wrong\n", checked, wrong);
  return wrong == 0 ? ExitCode::kOk : ExitCode::kMismatch;
}

// Sizes that are given become constants; others stay names, and rules ask what they need of them.
ProcPtr at_sizes(const ProcPtr& p, const EqsatOptions& options) {
  if (!options.size.given()) return p;
  std::vector<std::pair<std::string, int64_t>> values;
  for (const auto& [name, value] : options.size.single()) values.push_back({name, value});
  return partial_eval(p, values);
}

std::string multiplications_of(const Candidate& c) {
  return c.figures ? std::to_string(std::llround(c.figures->products)) : "";
}

void print_proofs(const CandidateReport& report) {
  std::map<eqsat::CandidateProof, int> count;
  for (const Candidate& c : report.candidates) ++count[c.proof];
  int left_out = 0;
  for (const auto& [reason, n] : report.refused) left_out += n;
  const int tested = count[eqsat::CandidateProof::kTested];
  std::fprintf(stderr, "proofs: %d by replay, %d by Z3, %d only tested; %d terms left out\n",
               count[eqsat::CandidateProof::kReplay], count[eqsat::CandidateProof::kBijection],
               tested, left_out - tested);
}

void print_statistics(const CandidateReport& report) {
  print_proofs(report);
  std::fprintf(stderr, "e-graph: %zu nodes in %zu classes, stopped: %s\n", report.nodes,
               report.classes, eqsat::name_of(report.stop));
  for (const eqsat::NotLifted& other : report.not_lifted)
    std::fprintf(stderr, "note: %s%sa product was not read: %s\n", other.where.str().c_str(),
                 other.where.known() ? ": " : "", other.reason.c_str());
  for (const auto& [reason, count] : report.refused)
    std::fprintf(stderr, "note: %d not replayed: %s\n", count, reason.c_str());
}

eqsat::CandidateRequest request_of(const Session& session, const EqsatOptions& options,
                                   const std::optional<ViewCosts>& costs) {
  if (!options.blocks.empty() && !options.array.empty())
    throw InputError({}, "--block and --array ask for two forms of one product",
                     "give one of them");
  for (size_t k = 1; k < options.blocks.size(); ++k)
    if (options.blocks[k] >= options.blocks[k - 1] ||
        options.blocks[k - 1] % options.blocks[k] != 0)
      throw InputError({},
                       "--block: " + std::to_string(options.blocks[k]) + " is no part of " +
                           std::to_string(options.blocks[k - 1]),
                       "the larger block first, for example 64,16");
  eqsat::CandidateRequest request;
  request.rules = rules_of(session, options, costs && costs->multiplies_tiles());
  request.reductions =
      options.rule_files.empty() ? shipped_rules(session, {"canonical", "pooling"}) : request.rules;
  request.constants = array_constants(options.array);
  request.blocks = options.blocks;
  request.k = static_cast<size_t>(options.k);
  if (!options.blocks.empty() || !options.rule_files.empty()) request.loops = request.k;
  request.limits = options.limits;
  for (const auto& [name, value] :
       options.size.given() ? options.size.single() : std::map<std::string, int64_t>())
    request.sizes[name] = value;
  request.dot = options.dot;
  request.allow_tested = options.allow_tested;
  request.plan.fuse_sums = !options.array.empty() || (costs && costs->multiplies_tiles());
  return request;
}

const ProcPtr& chosen_of(const CandidateReport& report, int script) {
  if (static_cast<size_t>(script) >= report.candidates.size())
    throw InputError({}, "--script: there is no candidate " + std::to_string(script),
                     "the last one is " + std::to_string(report.candidates.size() - 1));
  const ProcPtr& chosen = report.candidates[static_cast<size_t>(script)].proc;
  if (!chosen)
    throw InputError({},
                     "--script: candidate " + std::to_string(script) +
                         " was only tested: no schedule is proved to be the program",
                     "take one that is proved by replay or by Z3");
  return chosen;
}

// What one form takes there; empty where sizes are open, or it is one of several products.
void add_costs(const CandidateReport& report, const Candidate& c, const ViewCosts& costs,
               std::vector<std::string>& row) {
  const bool whole = costs.multiplies_tiles() || report.written.size() == 1;
  const std::optional<double> all = c.product >= 0 ? costs.operations(c.figures, c.proc)
                                    : whole && !report.written.empty()
                                        ? costs.operations(report.written.front(), c.proc)
                                        : std::nullopt;
  if (costs.multiplies_tiles()) {
    const std::string tile = all ? costs.fit(c.proc).tile : "";
    row.push_back(all && tile.empty() ? "none" : tile);
  }
  row.push_back(all ? std::to_string(std::llround(*all)) : "");
  char gain[32] = "";
  if (all) std::snprintf(gain, sizeof gain, "%.2f", gain_of(costs, report, c));
  row.push_back(gain);
}

// With a target: what each form takes there, and how many times fewer than as written.
Table table_of(const CandidateReport& report, const std::optional<ViewCosts>& costs) {
  std::vector<std::string> head = {"candidate", "copies", "multiplications", "elements copied",
                                   "in a row"};
  if (costs && costs->multiplies_tiles()) head.push_back("tile");
  if (costs) head.insert(head.end(), {costs->unit(), "gain"});
  head.insert(head.end(), {"proof", "rules"});
  Table table(head);
  for (size_t i = 0; i < report.candidates.size(); ++i) {
    const Candidate& c = report.candidates[i];
    std::vector<std::string> row = {"#" + std::to_string(i), c.text, multiplications_of(c),
                                    c.copied, c.along};
    if (costs) add_costs(report, c, *costs, row);
    row.insert(row.end(), {eqsat::name_of(c.proof), joined(c.rules)});
    table.add(row);
  }
  return table;
}

// Lifts, saturates, extracts, replays each candidate through the core; only what is proved is shown
// as a way to write the program.
ExitCode run_eqsat(const Session& session, const EqsatOptions& options) {
  if (options.kernel == "audit") return run_audit(session, options);
  Workspace workspace(session);
  const KernelInput input = workspace.kernel(options.kernel);
  std::optional<ViewCosts> costs;
  if (!options.target.empty())
    costs.emplace(workspace.target(options.target), described(input, options.kernel).precision);
  const eqsat::CandidateRequest request = request_of(session, options, costs);
  const ProcPtr proc = with_folded_updates(at_sizes(input.proc, options));
  const CandidateReport report = eqsat::find_candidates(proc, request);
  if (options.dot) {
    std::fputs(report.dot.c_str(), stdout);
    return ExitCode::kOk;
  }
  if (options.script >= 0) {
    std::fputs(trace_script(chosen_of(report, options.script)).c_str(), stdout);
    return ExitCode::kOk;
  }
  const Table table = table_of(report, costs);
  std::fputs(table.str(options.format.value()).c_str(), stdout);
  print_statistics(report);
  return ExitCode::kOk;
}

}  // namespace

void add_eqsat_verb(CLI::App& app, Session& session) {
  const auto options = std::make_shared<EqsatOptions>();
  app.add_option("kernel", options->kernel,
                 "a built-in kernel, or FILE.exo[:proc]; audit: evaluate every node of the "
                 "e-graphs that the rules make, and compare")
      ->required();
  app.add_option("--array", options->array,
                 "match products of ROWSxCOLUMNS only, as a systolic array does");
  app.add_option("--target", options->target,
                 "also count what each form takes there: vectors, or tiles of its instructions");
  app.add_option("--rules", options->rule_files, "rule files to use instead of the shipped ones");
  app.add_option("-k,--top-k", options->k, "candidates for each product, at most")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--script", options->script, "print the schedule of this candidate")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--block", options->blocks,
                 "look for blocks of this instead, padded to whole ones; 64,16: and for blocks of "
                 "16 in them")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(2, 4096));
  app.add_flag(
      "--allow-tested", options->allow_tested,
      "show terms too that are equal on random numbers and not proved; they have no schedule");
  app.add_flag("--dot", options->dot, "print the e-graphs as Graphviz text");
  app.add_option("--iterations", options->limits.iterations, "of saturation, at most")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--nodes", options->limits.nodes, "of the e-graph, at most")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  options->size.add(app);
  options->format.add(app);
  app.callback([&session, options] {
    session.action = [&session, options] { return run_eqsat(session, *options); };
  });
}

}  // namespace exotune::cli
