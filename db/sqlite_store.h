#pragma once
// The Store in SQLite, through SQLiteCpp. Every call is one transaction; every error of SQLite
// leaves as an InputError. Its parts: sqlite_open.cc (opening, migrating, errors), sqlite_write.cc
// (records in, and who wins), sqlite_read.cc (records out), sqlite_query.cc (free queries, checks).
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/store.h"

namespace SQLite {
class Database;
class Statement;
}  // namespace SQLite

namespace exotune {

// Parts of the statements that read trials; the columns are those of SqliteStore::record.
inline constexpr const char* kTrialColumns =
    "c.kernel, c.sizes, c.target, c.fingerprint, c.compiler, t.candidate, t.status, t.cause, "
    "t.script,"
    " t.samples, t.unit, t.proof, t.engine, t.created, t.median";
inline constexpr const char* kTrialTables =
    " FROM trials t JOIN contexts c ON c.id = t.context"
    " JOIN kernels k ON k.hash = c.kernel JOIN machines m ON m.fingerprint = c.fingerprint";
inline constexpr const char* kSameContext =
    "c.kernel = ? AND c.sizes = ? AND c.target = ? AND c.fingerprint = ? AND c.compiler = ?";
inline constexpr int kTrialColumnCount = 15;

/// A statement that is prepared once (preparing takes several times what an insert does) and used
/// again: bound anew each time, and reset when this goes.
class KeptStatement {
 public:
  explicit KeptStatement(SQLite::Statement& statement) : statement_(&statement) {}
  KeptStatement(const KeptStatement&) = delete;
  KeptStatement& operator=(const KeptStatement&) = delete;
  ~KeptStatement();
  SQLite::Statement* operator->() const { return statement_; }
  SQLite::Statement& operator*() const { return *statement_; }

 private:
  SQLite::Statement* statement_;
};

/// One connection, opened when it is made; several processes may have one each, and SQLite's locks
/// keep their transactions apart. Not for two threads at once. Reads see all that was committed
/// before them.
class SqliteStore : public Store {
 public:
  /// Creates or migrates the file when the mode allows it. InputError for a file that is no
  /// database of ours, is newer than this program, or cannot be opened; the message says which.
  SqliteStore(const std::string& path, OpenMode mode);
  ~SqliteStore() override;

  /// See Store (db/store.h) for what each promises. Times: a transaction of one insert is a sync of
  /// the disk, some milliseconds; put_trials takes one for all of them.
  void put_machine(const MachineRecord& machine) override;
  void put_kernel(const std::string& hash, const std::string& name) override;
  bool put_trial(const TrialRecord& trial) override { return put_trials({trial}) == 1; }
  int64_t put_trials(const std::vector<TrialRecord>& trials) override;
  void together(const std::function<void()>& body) override;
  void replace_trial(const TrialRecord& trial) override;
  std::optional<TrialRecord> find_trial(const TrialKey& key,
                                        const std::string& candidate_id) const override;
  void set_winner(const TrialKey& key, const std::string& candidate_id) override;
  std::optional<TrialRecord> best(const TrialKey& key) const override;
  std::optional<Wisdom> wisdom(const TrialKey& key, const MachineRecord& machine) const override;
  std::vector<TrialRecord> list(const TrialFilter& filter) const override;
  std::vector<TrialRecord> winners(const TrialFilter& filter) const override;
  std::string kernel_name(const std::string& hash) const override;
  std::vector<MachineRecord> machines() const override;
  void put_figures(const FigureKey& key, const Figures& figures) override;
  Figures figures(const FigureKey& key) const override;
  QueryResult query(const std::string& sql) const override;
  void export_json_lines(std::ostream& out) const override;
  MergeCounts import_json_lines(std::istream& in, const std::string& name) override;
  int64_t gc(int64_t before) override;
  std::vector<std::string> check() const override;

 private:
  /// As the mode says: for reading only, or made where there is none.
  std::unique_ptr<SQLite::Database> connect() const;
  /// Foreign keys, write-ahead log, and how long a call waits for another process's lock.
  void configure();
  /// The file's schema, 0 for an empty one; refuses what is not ours. Inside a transaction.
  int known_version() const;
  /// Brings the schema to the newest, in one exclusive transaction.
  void migrate();

  /// Runs `body`; what SQLite throws leaves as an InputError.
  template <class F>
  auto guard(F&& body) const -> decltype(body()) {
    try {
      return body();
    } catch (...) {
      translate();
      throw;
    }
  }
  /// Inside a handler: throws the InputError for what SQLite threw, returns for anything else.
  void translate() const;
  /// With the advice to export what can be read; `what` is SQLite's own message.
  [[noreturn]] void refuse_damaged(const std::string& what) const;
  /// One write transaction, guarded; a savepoint within `together`.
  void write(const std::function<void()>& body);

  /// A column as text, NULL as "".
  static std::string text(SQLite::Statement& s, int column);
  /// The row that kTrialColumns selects.
  TrialRecord record(SQLite::Statement& s) const;
  /// All rows of a statement that is bound.
  std::vector<TrialRecord> collect(SQLite::Statement& s) const;
  /// Binds the five columns of kSameContext, in their order.
  static void bind_key(SQLite::Statement& s, const TrialKey& key);
  /// The one trial that meets the condition in the key's context; nothing when there is none.
  std::optional<TrialRecord> one(const std::string& condition, const TrialKey& key,
                                 const std::vector<std::string>& more) const;
  /// All that the filter lets through, with a further condition and an order in SQL of our own
  /// (never from users).
  std::vector<TrialRecord> filtered(const TrialFilter& f, const std::string& also,
                                    const std::string& order) const;

  /// Of a damaged file: as many trials as can still be read, each by itself.
  void salvage_trials(std::ostream& out,
                      const std::function<std::string(SQLite::Statement&)>& line) const;

  /// The statement of this text; two with one text must not be alive at once.
  KeptStatement kept(const std::string& sql);

  // The following run inside a write transaction.

  /// True when the record is new.
  bool enter_machine(const MachineRecord& m);
  bool enter_kernel(const std::string& hash, const std::string& name);
  /// Leaves a figure of that name as it is; true when there was none.
  bool enter_figure(const FigureKey& key, const std::string& name, double value);
  /// Of the key's row in contexts, made when it is new.
  int64_t context_id(const TrialKey& key);
  /// The new row's id, or 0 when the trial is known.
  int64_t insert_trial(int64_t context, const TrialRecord& t);
  /// Makes it the context's winner; `settled`: by a shoot-out, which a mere measurement does not
  /// undo.
  void crown(int64_t context, int64_t trial, bool settled);
  /// Makes `trial` the winner when it beats the one there: settled before not, then the faster,
  /// then the smaller id (so that a merge does not depend on its order).
  void challenge(int64_t context, int64_t id, const TrialRecord& t, bool settled);
  /// After a change of a trial: a context whose winner went gets the fastest of the rest.
  void crown_fastest(int64_t context);

  std::string path_;  // ":memory:" for none on disk
  OpenMode mode_;
  bool together_ = false;  // inside of that call
  std::unique_ptr<SQLite::Database> db_;
  std::map<std::string, std::unique_ptr<SQLite::Statement>> kept_;  // by their texts
};

}  // namespace exotune
