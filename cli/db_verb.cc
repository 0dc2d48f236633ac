// exo-tune db ls|show|best|query|export|import|merge|gc|check: what was learned, for people.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>

#include "cli/options.h"
#include "cli/session.h"
#include "cli/table.h"
#include "cli/text_file.h"
#include "cli/verbs.h"
#include "core/base/diagnostic.h"
#include "db/store.h"

namespace exotune::cli {
namespace {

struct DbOptions {
  DatabaseOption database;
  FormatOption format;
  TrialFilter filter;
  std::string argument;  // candidate, SQL or file
  std::string older = "30d";
};

// UTC: databases travel between machines.
std::string date(int64_t seconds) {
  const std::time_t t = seconds;
  std::tm parts = {};
  gmtime_r(&t, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts);
  return text;
}

// A kernel's name may be gone (a garbage collection, another machine): its hash still tells it.
std::string kernel_label(const Store& store, const TrialRecord& trial) {
  const std::string name = store.kernel_name(trial.key.kernel_hash);
  return name.empty() ? trial.key.kernel_hash.substr(0, 12) : name;
}

// Every value of a column, each once.
std::vector<std::string> distinct(const Store& store, const std::string& what) {
  std::vector<std::string> all;
  for (const auto& row : store.query("SELECT DISTINCT " + what).rows) all.push_back(row.front());
  return all;
}

// What is not there, with the nearest that is, or some of what there is.
[[noreturn]] void refuse(const std::string& what, const std::string& value,
                         const std::vector<std::string>& known) {
  const std::string near = nearest(value, known);
  constexpr size_t kShown = 8;
  std::string list;
  for (size_t i = 0; i < known.size() && i < kShown; ++i)
    list += (list.empty() ? "" : ", ") + known[i];
  if (known.size() > kShown) list += " and " + std::to_string(known.size() - kShown) + " more";
  throw InputError({}, "the database has no " + what + " '" + value + "'",
                   !near.empty()   ? "did you mean '" + near + "'?"
                   : known.empty() ? "it is empty: tune something first"
                                   : "it has: " + list);
}

bool holds(const std::vector<std::string>& all, const std::string& value) {
  return std::find(all.begin(), all.end(), value) != all.end();
}

// A filter that cannot match anything is a mistake.
TrialFilter checked(const DbOptions& options, const Store& store) {
  TrialFilter filter = options.filter;
  if (!filter.kernel.empty()) {
    const auto names = distinct(store, "name FROM kernels WHERE name <> ''");
    const auto hashes = distinct(store, "hash FROM kernels");
    // A filter may be the beginning of a kernel's hash.
    const bool hash = std::any_of(hashes.begin(), hashes.end(), [&](const std::string& h) {
      return h.starts_with(filter.kernel);
    });
    if (!hash && !holds(names, filter.kernel)) refuse("kernel", filter.kernel, names);
  }
  if (!filter.target.empty()) {
    const auto targets = distinct(store, "target FROM contexts");
    if (!holds(targets, filter.target)) refuse("target", filter.target, targets);
  }
  if (!filter.status.empty()) {
    const auto statuses = distinct(store, "status FROM trials");
    if (!holds(statuses, filter.status)) refuse("trial of status", filter.status, statuses);
  }
  if (!filter.sizes.empty()) {
    // As keys write it: "K=8,M=4" however it was typed.
    filter.sizes = str(parse_sizes("--size", filter.sizes));
    const auto sizes = distinct(store, "sizes FROM contexts");
    // A key may add a word: "n=8 (symbolic)".
    const bool known = std::any_of(sizes.begin(), sizes.end(), [&](const std::string& s) {
      return s == filter.sizes || s.starts_with(filter.sizes + " ");
    });
    if (!known) refuse("trial at", filter.sizes, sizes);
  }
  return filter;
}

// Of its own context.
bool is_winner(const Store& store, const TrialRecord& trial) {
  const auto best = store.best(trial.key);
  return best && best->candidate_id == trial.candidate_id;
}

void print_trials(const Store& store, const std::vector<TrialRecord>& trials, Format format) {
  Table table({"candidate", "kernel", "sizes", "target", "status", "median", "unit", "winner",
               "proof", "when"},
              {"median"});
  for (const TrialRecord& trial : trials) {
    // Times as microseconds, counts as they are.
    const bool seconds = trial.unit == "seconds";
    table.add({trial.candidate_id.substr(0, 12), kernel_label(store, trial), trial.key.sizes,
               trial.key.target, trial.status,
               trial.samples.empty() ? "" : number(seconds ? trial.median * 1e6 : trial.median),
               seconds ? "us" : trial.unit, is_winner(store, trial) ? "*" : "",
               proof_level_name(trial.proof), date(trial.created)});
  }
  std::fputs(table.str(format).c_str(), stdout);
}

ExitCode list_records(const DbOptions& options, const Session& session) {
  const Format format = options.format.value();
  const auto store = open_store(options.database.path(session), OpenMode::kReadOnly);
  TrialFilter filter = checked(options, *store);
  // One more than asked for tells whether there are more.
  if (filter.limit > 0) ++filter.limit;
  std::vector<TrialRecord> trials = store->list(filter);
  const bool more = filter.limit > 0 && static_cast<int64_t>(trials.size()) == filter.limit;
  if (more) trials.pop_back();
  print_trials(*store, trials, format);
  if (more) std::fprintf(stderr, "the newest %zu; --limit 0 shows all\n", trials.size());
  return ExitCode::kOk;
}

void print_trial(const Store& store, const TrialRecord& trial) {
  std::printf("candidate  %s\nkernel     %s (%s)\nsizes      %s\ntarget     %s\ncompiler   %s\n",
              trial.candidate_id.c_str(), kernel_label(store, trial).c_str(),
              trial.key.kernel_hash.c_str(), trial.key.sizes.c_str(), trial.key.target.c_str(),
              trial.key.compiler.c_str());
  std::printf("machine    %s\nstatus     %s\nproof      %s\nengine     %s\nwhen       %s\n",
              trial.key.fingerprint.c_str(), trial.status.c_str(), proof_level_name(trial.proof),
              trial.engine_version.c_str(), date(trial.created).c_str());
  if (!trial.cause.empty()) std::printf("cause      %s\n", trial.cause.c_str());
  if (!trial.samples.empty()) {
    const bool seconds = trial.unit == "seconds";
    const double scale = seconds ? 1e6 : 1;
    std::printf("median     %s %s\nsamples   ", number(trial.median * scale).c_str(),
                seconds ? "us" : trial.unit.c_str());
    for (const double sample : trial.samples) std::printf(" %s", number(sample * scale).c_str());
    std::puts("");
  }
  std::printf("script\n%s", trial.script.c_str());
  if (!trial.script.empty() && trial.script.back() != '\n') std::puts("");
}

std::unique_ptr<Store> open(const DbOptions& options, const Session& session, OpenMode mode) {
  return open_store(options.database.path(session), mode);
}

ExitCode show(const DbOptions& options, const Session& session) {
  const auto store = open(options, session, OpenMode::kReadOnly);
  TrialFilter filter;
  filter.candidate_prefix = options.argument;
  // One candidate may have been run in several contexts: all are shown.
  const auto found = store->list(filter);
  if (found.empty())
    throw InputError({}, "no trial's candidate begins with '" + options.argument + "'",
                     "exo-tune db ls shows the candidates");
  // A prefix that several candidates share is no answer.
  std::set<std::string> ids;
  for (const TrialRecord& trial : found) ids.insert(trial.candidate_id);
  if (ids.size() > 1)
    throw InputError(
        {}, std::to_string(ids.size()) + " candidates begin with '" + options.argument + "'",
        ids.begin()->substr(0, 12) + ", " + std::next(ids.begin())->substr(0, 12) +
            (ids.size() > 2 ? ", ...: give more of the one" : ": give more of the one"));
  for (const TrialRecord& trial : found) print_trial(*store, trial);
  return ExitCode::kOk;
}

// The columns whose every value is a number to SQLite, which text that looks like one is not.
std::vector<std::string> numbers_of(const Store& store, std::string sql,
                                    const QueryResult& result) {
  sql.erase(sql.find_last_not_of(" \t\r\n;") + 1);
  std::string names, types;
  for (size_t c = 0; c < result.columns.size(); ++c) {
    const std::string name = (c == 0 ? "c" : ", c") + std::to_string(c);
    names += name;
    types += (c == 0 ? "min(typeof(c" : ", min(typeof(c") + std::to_string(c) +
             ") IN ('integer', 'real', 'null'))";
  }
  const QueryResult numeric =
      store.query("WITH q(" + names + ") AS (" + sql + "\n) SELECT " + types + " FROM q");
  std::vector<std::string> numbers;
  for (size_t c = 0; c < result.columns.size(); ++c)
    if (numeric.rows.front()[c] == "1") numbers.push_back(result.columns[c]);
  return numbers;
}

// Read-only by the way the file is opened, not by looking at the text: SQLite refuses whatever
// would write.
ExitCode query(const DbOptions& options, const Session& session) {
  const auto store = open(options, session, OpenMode::kReadOnly);
  const QueryResult result = store->query(options.argument);
  Table table(result.columns, numbers_of(*store, options.argument, result));
  for (const auto& row : result.rows) table.add(row);
  std::fputs(table.str(options.format.value()).c_str(), stdout);
  return ExitCode::kOk;
}

ExitCode export_records(const DbOptions& options, const Session& session) {
  std::ostringstream lines;
  const auto save = [&] {
    if (options.argument.empty())
      std::fputs(lines.str().c_str(), stdout);
    else
      write_text_file(options.argument, lines.str());
  };
  const auto store = open(options, session, OpenMode::kReadOnly);
  try {
    store->export_json_lines(lines);
  } catch (const InputError&) {  // damaged: what can be read is saved, and the exit code says so
    save();
    throw;
  }
  save();
  return ExitCode::kOk;
}

// What was taken, what was known, what was refused: a merge of nothing says so.
ExitCode report_merge(const MergeCounts& counts) {
  std::printf(
      "%lld trials, %lld kernels, %lld machines, %lld figures are new; %lld records were known\n",
      static_cast<long long>(counts.trials), static_cast<long long>(counts.kernels),
      static_cast<long long>(counts.machines), static_cast<long long>(counts.figures),
      static_cast<long long>(counts.known));
  return ExitCode::kOk;
}

ExitCode import_records(const DbOptions& options, const Session& session) {
  std::istringstream lines(read_text_file(options.argument));
  return report_merge(
      open(options, session, OpenMode::kReadWrite)->import_json_lines(lines, options.argument));
}

ExitCode merge(const DbOptions& options, const Session& session) {
  return report_merge(merge_store(*open(options, session, OpenMode::kReadWrite), options.argument));
}

ExitCode gc(const DbOptions& options, const Session& session) {
  const double age = parse_age("--older", options.older);
  const int64_t before = static_cast<int64_t>(std::time(nullptr)) - static_cast<int64_t>(age);
  open(options, session,
       OpenMode::kReadOnly);  // a file that is not there is not made to be cleared
  const int64_t gone = open(options, session, OpenMode::kReadWrite)->gc(before);
  std::printf("%lld trials deleted\n", static_cast<long long>(gone));
  return ExitCode::kOk;
}

ExitCode check(const DbOptions& options, const Session& session) {
  const auto findings = open(options, session, OpenMode::kReadOnly)->check();
  for (const std::string& finding : findings) std::printf("%s\n", finding.c_str());
  if (findings.empty()) {
    std::puts("sound");
    return ExitCode::kOk;
  }
  throw InputError(
      {},
      options.database.path(session) + " is damaged (" + std::to_string(findings.size()) +
          " findings above)",
      "save what can be read with exo-tune db export, then import it into a fresh --db");
}

}  // namespace

namespace {

using DbOptionsPtr = std::shared_ptr<DbOptions>;
using DbAction = std::function<ExitCode(const DbOptions&, const Session&)>;

CLI::App* add_sub(CLI::App& app, Session& session, const DbOptionsPtr& options, const char* name,
                  const char* help, DbAction action) {
  CLI::App* command = app.add_subcommand(name, help);
  command->allow_extras();
  options->database.add(*command);
  command->callback([&session, options, action = std::move(action)] {
    session.action = [=, &session] { return action(*options, session); };
  });
  return command;
}

void add_filters(CLI::App& command, DbOptions& options) {
  command.add_option("kernel", options.filter.kernel, "a kernel's name or a prefix of its hash");
  command.add_option("--size", options.filter.sizes, "exactly these sizes: M=512,N=512,K=512");
  command.add_option("--target", options.filter.target, "of this target");
  options.format.add(command);
}

ExitCode list_winners(const DbOptions& options, const Session& session) {
  const auto store = open(options, session, OpenMode::kReadOnly);
  TrialFilter filter = checked(options, *store);
  filter.limit = 0;
  print_trials(*store, store->winners(filter), options.format.value());
  return ExitCode::kOk;
}

}  // namespace

void add_db_verb(CLI::App& app, Session& session) {
  auto options = std::make_shared<DbOptions>();
  app.require_subcommand(0, 1);
  app.callback([&session] {
    if (!session.action)
      session.action = []() -> ExitCode {
        throw InputError({}, "db does what?",
                         "ls, show, best, query, export, import, merge, gc or check");
      };
  });
  const auto sub = [&](const char* name, const char* help, DbAction action) {
    return add_sub(app, session, options, name, help, std::move(action));
  };
  CLI::App* ls = sub("ls", "trials, newest first", list_records);
  add_filters(*ls, *options);
  ls->add_option("--status", options->filter.status,
                 "with this status: ok, crash, timeout, mismatch ...");
  options->filter.limit = 50;
  ls->add_option("--limit", options->filter.limit, "at most so many (default 50; 0: all)")
      ->check(CLI::NonNegativeNumber);

  add_filters(*sub("best", "the winner of each kernel, size and target", list_winners), *options);
  sub("show", "one trial whole, its script included", show)
      ->add_option("candidate", options->argument, "its id, or how that begins")
      ->required();
  CLI::App* sql = sub("query", "one read-only SQL statement", query);
  sql->add_option("sql", options->argument,
                  "for example: SELECT status, count(*) FROM trials GROUP BY status")
      ->required();
  options->format.add(*sql);
  sub("export", "every record as JSON lines", export_records)
      ->add_option("file", options->argument, "where to (default: stdout)");
  sub("import", "records from a file that export wrote; all or none", import_records)
      ->add_option("file", options->argument, "that export wrote")
      ->required();
  sub("merge", "records of another database", merge)
      ->add_option("file", options->argument, "the other database")
      ->required();
  sub("gc", "delete failed trials that are old", gc)
      ->add_option("--older", options->older, "than this: 12h, 30d, 0d (default 30d)");
  sub("check", "integrity and contents", check);
}

}  // namespace exotune::cli
