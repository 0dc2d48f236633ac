#pragma once
// Store: everything learned is kept here: machines, kernels, every trial, and the best of each
// context. Start at open_store; make_memory_store is the fake for tests.
//
// A trial's identity is (TrialKey, candidate id): inserting it again changes nothing, so a run that
// was killed is resumed by running it again and asking `find_trial` before each candidate. One
// process writes at a time (others wait, then get an Error); readers are never blocked.
// A damaged file, one from a newer version, or a folder that cannot be written is an InputError
// with a hint; damage met while reading is one too, never a crash.
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace exotune {

/// A machine as the fingerprint sees it. `isa` is the widest target it can run ("avx512").
struct MachineRecord {
  std::string fingerprint;        // content hash of what follows
  std::string microarchitecture;  // "znver5"
  std::string isa;
  std::string description;  // free JSON or text: model, caches, peak
};

enum class ProofLevel { kProved, kProvedModuloReassociation, kTested };
const char* proof_level_name(
    ProofLevel level);  // "proved", "proved modulo reassociation", "tested"
ProofLevel proof_level_from_name(const std::string& name);

/// The context of a trial.
struct TrialKey {
  std::string kernel_hash;  // semantic hash of the kernel
  std::string sizes;        // "K=512,M=512,N=512": sorted by name, no blanks
  std::string target;       // "avx512"
  std::string fingerprint;  // of the machine (or the simulator's configuration)
  std::string compiler;     // compiler, version and flags
  bool operator==(const TrialKey&) const = default;
};

/// One candidate that was run, or failed to, on one machine at one size: found again by its key and
/// id instead of running it twice. Times are seconds a call, or cycles where the runner counts
/// them.
struct TrialRecord {
  TrialKey key;
  std::string candidate_id;
  std::string status;  // status_name of the runners: "ok", "crash", ...
  std::string cause;
  std::string script;           // .sched text that makes it again
  std::vector<double> samples;  // what is not finite is left out when stored
  double median = 0;            // stored as the median of the samples; 0 when it has none
  std::string unit = "seconds";
  ProofLevel proof = ProofLevel::kProved;
  std::string engine_version;
  int64_t created = 0;  // seconds since 1970, given by the caller
};

/// Where a winner came from.
enum class WisdomMatch { kExact, kSameMicroarchitecture, kSameIsa };
const char* wisdom_match_name(WisdomMatch match);  // "exact", "same microarchitecture", "same ISA"

struct Wisdom {
  TrialRecord trial;
  WisdomMatch match = WisdomMatch::kExact;
  bool same_compiler = true;
  std::string note;  // one sentence for the user when it is not exact; "" when it is
};

/// What figures about a target were measured on, and with which text and model: figures for another
/// text are never found.
struct FigureKey {
  std::string target;
  std::string text;  // content hash of the target and of what the figures mean
  std::string microarchitecture;
  std::string kind;  // "weights", "throughput", ...
  bool operator==(const FigureKey&) const = default;
};
using Figures = std::map<std::string, double>;

struct TrialFilter {   // empty fields match everything
  std::string kernel;  // a kernel's name or a prefix of its hash
  std::string sizes, target, fingerprint, status, candidate_prefix;
  int64_t limit = 0;  // 0 = all
};

struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // NULL as "", blobs as x'..'
};

struct MergeCounts {
  int64_t machines = 0, kernels = 0, trials = 0, figures = 0;  // new ones
  int64_t known = 0;                                           // records that were there already
};

/// What was learned: SQLite keeps it (sqlite_store.h, which says who may share a file), tests also
/// elsewhere. What is put is there for the next question, and after a kill for the next process.
class Store {
 public:
  virtual ~Store() = default;

  /// Idempotent. The kernel's name is kept for people; its hash is its identity.
  virtual void put_machine(const MachineRecord& machine) = 0;
  virtual void put_kernel(const std::string& hash, const std::string& name) = 0;

  /// True when it is new. Durable on return (a kill -9 afterwards loses nothing). Machine and
  /// kernel are entered by their keys alone when unknown. An "ok" trial with a median becomes the
  /// context's winner when it is the first or faster than the one there, unless that was named by
  /// set_winner.
  virtual bool put_trial(const TrialRecord& trial) = 0;
  /// Many in one transaction, all or none; the number that were new.
  virtual int64_t put_trials(const std::vector<TrialRecord>& trials) = 0;
  /// All that `body` puts and imports, in one transaction: durable when this returns, nothing of it
  /// when `body` throws. A call in it that throws is taken back alone. Other processes' writes wait
  /// meanwhile. Not for `gc`, and not within another.
  virtual void together(const std::function<void()>& body) = 0;
  virtual std::optional<TrialRecord> find_trial(const TrialKey& key,
                                                const std::string& candidate_id) const = 0;
  /// As put_trial, but takes the place of an earlier record of the same identity.
  virtual void replace_trial(const TrialRecord& trial) = 0;
  /// Names the winner of a context (after a shoot-out); InputError when there is no such ok trial.
  virtual void set_winner(const TrialKey& key, const std::string& candidate_id) = 0;

  /// The winner for exactly this context.
  virtual std::optional<TrialRecord> best(const TrialKey& key) const = 0;
  /// The winner for this context, else on the same machine with another compiler, else on a machine
  /// of the same microarchitecture, else of the same ISA (the nearest by speed), saying which.
  virtual std::optional<Wisdom> wisdom(const TrialKey& key, const MachineRecord& machine) const = 0;

  /// Newest first, ties by candidate id.
  virtual std::vector<TrialRecord> list(const TrialFilter& filter) const = 0;
  /// All winners, by kernel name, sizes, target.
  virtual std::vector<TrialRecord> winners(const TrialFilter& filter) const = 0;
  virtual std::string kernel_name(const std::string& hash) const = 0;  // "" when unknown
  virtual std::vector<MachineRecord> machines() const = 0;

  /// Figures by name; they take the place of all that were there under this key.
  virtual void put_figures(const FigureKey& key, const Figures& figures) = 0;
  /// Empty when there are none.
  virtual Figures figures(const FigureKey& key) const = 0;

  /// One SELECT over machines, kernels, contexts, trials, winners, figures and the view `results`,
  /// which joins them for people; InputError for anything else or a mistake in it.
  virtual QueryResult query(const std::string& sql) const = 0;

  /// JSON lines, one record each, in an order that depends on the contents only.
  virtual void export_json_lines(std::ostream& out) const = 0;
  /// All or nothing: a line that is not a valid record is an InputError with its line number.
  virtual MergeCounts import_json_lines(std::istream& in, const std::string& name) = 0;

  /// Deletes trials that are neither ok nor winners and older than `before` (seconds since 1970),
  /// and machines and kernels nothing refers to; returns the trials deleted.
  virtual int64_t gc(int64_t before) = 0;
  /// Integrity, foreign keys, and contents (samples parse, median is theirs, winners are ok). Empty
  /// = sound; else one sentence per finding.
  virtual std::vector<std::string> check() const = 0;
};

enum class OpenMode { kReadWrite, kReadOnly };

/// Opens or makes the database at `path`, with its folders. Older schemas are migrated in place.
std::unique_ptr<Store> open_store(const std::string& path, OpenMode mode = OpenMode::kReadWrite);

/// Every record of the database at `from` that `into` lacks; winners are compared again.
MergeCounts merge_store(Store& into, const std::string& from);

/// $XDG_DATA_HOME/exo-tune/tune.db, else ~/.local/share/exo-tune/tune.db; the two variables are
/// passed in. InputError when both are empty.
std::string default_store_path(const std::string& xdg_data_home, const std::string& home);

/// Keeps everything in memory, same behaviour, gone when destroyed: for tests, and for runs that
/// shall leave no trace (`--db :memory:`).
std::unique_ptr<Store> make_memory_store();

}  // namespace exotune
