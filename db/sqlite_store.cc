// The Store in SQLite. Every call is one transaction; every SQLite error leaves as an InputError.
#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <ostream>

#include "core/base/diagnostic.h"
#include "db/record_text.h"
#include "db/schema.h"
#include "db/store.h"

namespace exotune {

namespace {

namespace fs = std::filesystem;

constexpr int kBusyMilliseconds = 10'000;

[[noreturn]] void refuse_damaged(const std::string& path, const std::string& what) {
  throw InputError(
      {}, "the database '" + path + "' is damaged: " + what,
      "`exo-tune db check` lists the findings; move the file aside and import an export");
}

[[noreturn]] void translate(const SQLite::Exception& e, const std::string& path) {
  const std::string text = e.what();
  switch (e.getErrorCode()) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_MISMATCH:
      refuse_damaged(path, text);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw InputError({}, "another exo-tune is writing to '" + path + "'",
                       "wait for it, or name another file with --db FILE");
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      throw InputError({}, "cannot write the database '" + path + "': " + text,
                       "name a file in a folder you can write with --db FILE");
    case SQLITE_FULL:
    case SQLITE_IOERR:
      throw InputError({}, "the database '" + path + "' cannot be read or written: " + text,
                       "check the disk's free space and health");
    default:
      throw InputError({}, "the database '" + path + "': " + text);
  }
}

constexpr const char* kTrialColumns =
    "c.kernel, c.sizes, c.target, c.fingerprint, c.compiler, t.candidate, t.status, t.cause, "
    "t.script,"
    " t.samples, t.unit, t.proof, t.engine, t.created, t.median";
constexpr const char* kTrialTables =
    " FROM trials t JOIN contexts c ON c.id = t.context"
    " JOIN kernels k ON k.hash = c.kernel JOIN machines m ON m.fingerprint = c.fingerprint";
constexpr const char* kSameContext =
    "c.kernel = ? AND c.sizes = ? AND c.target = ? AND c.fingerprint = ? AND c.compiler = ?";

class SqliteStore : public Store {
 public:
  SqliteStore(const std::string& path, OpenMode mode) : path_(path), mode_(mode) {
    guard([&] {
      db_ = connect();
      configure();
    });
  }

  void put_machine(const MachineRecord& machine) override {
    write([&] { enter_machine(machine); });
  }

  void put_kernel(const std::string& hash, const std::string& name) override {
    write([&] { enter_kernel(hash, name); });
  }

  bool put_trial(const TrialRecord& trial) override { return put_trials({trial}) == 1; }

  int64_t put_trials(const std::vector<TrialRecord>& trials) override {
    int64_t fresh = 0;
    write([&] {
      for (const TrialRecord& t : trials) {
        const TrialRecord record = normalised(t);
        const int64_t context = context_id(record.key);
        if (const int64_t id = insert_trial(context, record); id != 0) {
          ++fresh;
          challenge(context, id, record, false);
        }
      }
    });
    return fresh;
  }

  void replace_trial(const TrialRecord& trial) override {
    write([&] {
      const TrialRecord record = normalised(trial);
      const int64_t context = context_id(record.key);
      SQLite::Statement gone(*db_, "DELETE FROM trials WHERE context = ? AND candidate = ?");
      gone.bind(1, context);
      gone.bind(2, record.candidate_id);
      gone.exec();  // a winner's row goes with it
      insert_trial(context, record);
      crown_fastest(context);
    });
  }

  std::optional<TrialRecord> find_trial(const TrialKey& key,
                                        const std::string& candidate_id) const override {
    return one(std::string(kSameContext) + " AND t.candidate = ?", key, {candidate_id});
  }

  void set_winner(const TrialKey& key, const std::string& candidate_id) override {
    write([&] {
      SQLite::Statement find(*db_, std::string("SELECT t.id, c.id") + kTrialTables + " WHERE " +
                                       kSameContext +
                                       " AND t.candidate = ? AND t.status = 'ok' AND t.median > 0");
      bind_key(find, key);
      find.bind(6, candidate_id);
      if (!find.executeStep())
        throw InputError({}, "no measured trial '" + candidate_id + "' can win in this context");
      crown(find.getColumn(1).getInt64(), find.getColumn(0).getInt64(), true);
    });
  }

  std::optional<TrialRecord> best(const TrialKey& key) const override {
    return one(std::string(kSameContext) + " AND t.id IN (SELECT trial FROM winners)", key, {});
  }

  std::optional<Wisdom> wisdom(const TrialKey& key, const MachineRecord& machine) const override {
    if (auto found = best(key)) return Wisdom{std::move(*found), WisdomMatch::kExact, true, ""};
    const std::string base =
        "c.kernel = ?1 AND c.sizes = ?2 AND c.target = ?3 AND t.id IN (SELECT trial FROM winners)";
    struct Attempt {
      WisdomMatch match;
      const char* condition;  // ?4 is the value
      std::string value, note;
    };
    const Attempt attempts[] = {
        {WisdomMatch::kExact, " AND c.fingerprint = ?4", key.fingerprint,
         "no record with this compiler and its flags; using one of this machine with another"},
        {WisdomMatch::kSameMicroarchitecture, " AND m.microarchitecture = ?4",
         machine.microarchitecture,
         "no record of this machine; using one of the same microarchitecture (" +
             machine.microarchitecture + ")"},
        {WisdomMatch::kSameIsa, " AND m.isa = ?4", machine.isa,
         "no record of this machine or microarchitecture; using one of the same ISA (" +
             machine.isa + ")"},
    };
    for (const Attempt& a : attempts) {
      if (a.value.empty()) continue;
      std::vector<TrialRecord> found = guard([&] {
        // The same compiler first, then the fastest, then by text: the same answer every time.
        SQLite::Statement s(*db_, std::string("SELECT ") + kTrialColumns + kTrialTables +
                                      " WHERE " + base + a.condition +
                                      " ORDER BY c.compiler <> ?5, t.median, c.fingerprint,"
                                      " c.compiler LIMIT 1");
        s.bind(1, key.kernel_hash);
        s.bind(2, key.sizes);
        s.bind(3, key.target);
        s.bind(4, a.value);
        s.bind(5, key.compiler);
        return collect(s);
      });
      if (found.empty()) continue;
      const bool same = found[0].key.compiler == key.compiler;
      std::string note = a.note;
      if (!same && a.match != WisdomMatch::kExact) note += ", compiled otherwise";
      return Wisdom{std::move(found[0]), a.match, same, std::move(note)};
    }
    return std::nullopt;
  }

  std::vector<TrialRecord> list(const TrialFilter& filter) const override {
    return filtered(filter, "", "t.created DESC, t.candidate, t.id");
  }

  std::vector<TrialRecord> winners(const TrialFilter& filter) const override {
    return filtered(filter, "t.id IN (SELECT trial FROM winners)",
                    "k.name, c.sizes, c.target, c.kernel, c.fingerprint, c.compiler");
  }

  std::string kernel_name(const std::string& hash) const override {
    return guard([&] {
      SQLite::Statement s(*db_, "SELECT name FROM kernels WHERE hash = ?");
      s.bind(1, hash);
      return s.executeStep() ? s.getColumn(0).getString() : std::string();
    });
  }

  std::vector<MachineRecord> machines() const override {
    return guard([&] {
      SQLite::Statement s(*db_,
                          "SELECT fingerprint, microarchitecture, isa, description"
                          " FROM machines ORDER BY fingerprint");
      std::vector<MachineRecord> out;
      while (s.executeStep()) out.push_back({text(s, 0), text(s, 1), text(s, 2), text(s, 3)});
      return out;
    });
  }

  QueryResult query(const std::string& sql) const override;

  void export_json_lines(std::ostream& out) const override {
    guard([&] {
      SQLite::Transaction snapshot(*db_);
      out << header_line() << "\n";
      for (const MachineRecord& m : machines()) out << machine_line(m) << "\n";
      SQLite::Statement kernels(*db_, "SELECT hash, name FROM kernels ORDER BY hash");
      while (kernels.executeStep()) out << kernel_line(text(kernels, 0), text(kernels, 1)) << "\n";
      SQLite::Statement trials(
          *db_,
          std::string("SELECT ") + kTrialColumns +
              ", (SELECT settled FROM winners w WHERE w.trial = t.id)" + kTrialTables +
              " ORDER BY c.kernel, c.sizes, c.target, c.fingerprint, c.compiler, t.candidate");
      while (trials.executeStep()) {
        const SQLite::Column settled = trials.getColumn(kTrialColumnCount);
        out << trial_line({record(trials), !settled.isNull(), settled.getInt() != 0}) << "\n";
      }
    });
  }

  MergeCounts import_json_lines(std::istream& in, const std::string& name) override {
    const Contents contents = read_json_lines(in, name);
    MergeCounts counts;
    write([&] {
      for (const MachineRecord& m : contents.machines)
        ++(enter_machine(m) ? counts.machines : counts.known);
      for (const auto& [hash, kernel] : contents.kernels)
        ++(enter_kernel(hash, kernel) ? counts.kernels : counts.known);
      for (const RankedTrial& r : contents.trials) {
        const int64_t context = context_id(r.trial.key);
        int64_t id = insert_trial(context, r.trial);
        ++(id != 0 ? counts.trials : counts.known);
        if (id == 0) {
          SQLite::Statement s(*db_, "SELECT id FROM trials WHERE context = ? AND candidate = ?");
          s.bind(1, context);
          s.bind(2, r.trial.candidate_id);
          if (s.executeStep()) id = s.getColumn(0).getInt64();
        }
        challenge(context, id, r.trial, r.winner && r.settled);
      }
    });
    return counts;
  }

  int64_t gc(int64_t before) override {
    int64_t deleted = 0;
    write([&] {
      SQLite::Statement s(*db_,
                          "DELETE FROM trials WHERE status <> 'ok' AND created < ?"
                          " AND id NOT IN (SELECT trial FROM winners)");
      s.bind(1, before);
      deleted = s.exec();
      db_->exec("DELETE FROM contexts WHERE id NOT IN (SELECT context FROM trials)");
      db_->exec("DELETE FROM kernels WHERE hash NOT IN (SELECT kernel FROM contexts)");
      db_->exec("DELETE FROM machines WHERE fingerprint NOT IN (SELECT fingerprint FROM contexts)");
    });
    guard([&] { db_->exec("VACUUM"); });
    return deleted;
  }

  std::vector<std::string> check() const override;

 private:
  static constexpr int kTrialColumnCount = 15;

  std::unique_ptr<SQLite::Database> connect() const {
    if (mode_ == OpenMode::kReadWrite)
      return std::make_unique<SQLite::Database>(path_, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                                                kBusyMilliseconds);
    try {
      auto db = std::make_unique<SQLite::Database>(path_, SQLite::OPEN_READONLY, kBusyMilliseconds);
      db->execAndGet(
          "PRAGMA user_version");  // reading needs the -shm file, which may not be creatable
      return db;
    } catch (const SQLite::Exception& e) {
      if (e.getErrorCode() != SQLITE_CANTOPEN && e.getErrorCode() != SQLITE_READONLY) throw;
      std::string uri = "file:";
      for (char c : fs::absolute(path_).string()) {
        if (c == '%' || c == '?' || c == '#') {
          char hex[4];
          snprintf(hex, sizeof hex, "%%%02x", static_cast<unsigned char>(c));
          uri += hex;
        } else {
          uri += c;
        }
      }
      return std::make_unique<SQLite::Database>(uri + "?immutable=1",
                                                SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    }
  }

  void configure() {
    db_->exec("PRAGMA trusted_schema = OFF");
    db_->exec("PRAGMA cell_size_check = ON");
    db_->exec("PRAGMA foreign_keys = ON");
    const int version = db_->execAndGet("PRAGMA user_version").getInt();
    const int application = db_->execAndGet("PRAGMA application_id").getInt();
    const int tables = db_->execAndGet("SELECT count(*) FROM sqlite_master").getInt();
    const int newest = current_schema_version();
    if (tables > 0 && application != kApplicationId)
      throw InputError({}, "'" + path_ + "' is a database, but not one of exo-tune",
                       "name another file with --db FILE");
    if (version > newest)
      throw InputError({},
                       "the database '" + path_ + "' has schema " + std::to_string(version) +
                           ", this exo-tune knows up to " + std::to_string(newest),
                       "use the newer exo-tune, or name another file with --db FILE");
    if (version < 0 || (tables > 0 && version == 0))
      refuse_damaged(path_, "it has no schema version");
    if (mode_ == OpenMode::kReadOnly) {
      if (version < newest)
        throw InputError(
            {}, "the database '" + path_ + "' has the older schema " + std::to_string(version),
            "open it once for writing (any `exo-tune kernel` or `db import`) to migrate it");
      return;
    }
    db_->exec("PRAGMA journal_mode = WAL");
    db_->exec("PRAGMA synchronous = NORMAL");
    if (version == newest) return;
    db_->exec("BEGIN IMMEDIATE");
    try {
      // Another process may have migrated it while we waited for the lock.
      for (int v = db_->execAndGet("PRAGMA user_version").getInt(); v < newest; ++v)
        db_->exec(schema_steps()[static_cast<size_t>(v)]);
      db_->exec("PRAGMA application_id = " + std::to_string(kApplicationId));
      db_->exec("PRAGMA user_version = " + std::to_string(newest));
      db_->exec("COMMIT");
    } catch (...) {
      db_->tryExec("ROLLBACK");
      throw;
    }
  }

  template <class F>
  auto guard(F&& body) const -> decltype(body()) {
    try {
      return body();
    } catch (const SQLite::Exception& e) {
      translate(e, path_);
    }
  }

  void write(const std::function<void()>& body) {
    if (mode_ == OpenMode::kReadOnly)
      throw InputError({}, "the database '" + path_ + "' is open for reading only");
    guard([&] {
      // IMMEDIATE takes the lock at once: a transaction that began by reading could not wait for
      // it.
      SQLite::Transaction transaction(*db_, SQLite::TransactionBehavior::IMMEDIATE);
      body();
      transaction.commit();
    });
  }

  static std::string text(SQLite::Statement& s, int column) {
    return s.getColumn(column).getString();
  }

  /// The row that kTrialColumns selects.
  TrialRecord record(SQLite::Statement& s) const {
    TrialRecord t;
    t.key = {text(s, 0), text(s, 1), text(s, 2), text(s, 3), text(s, 4)};
    t.candidate_id = text(s, 5);
    t.status = text(s, 6);
    t.cause = text(s, 7);
    t.script = text(s, 8);
    const SQLite::Column blob = s.getColumn(9);
    auto samples = samples_of_blob(blob.getBlob(), static_cast<size_t>(blob.getBytes()));
    if (!samples)
      refuse_damaged(path_, "the samples of trial '" + t.candidate_id + "' do not parse");
    t.samples = std::move(*samples);
    t.unit = text(s, 10);
    const int proof = s.getColumn(11).getInt();
    if (proof < 0 || proof > 2) refuse_damaged(path_, "an unknown level of proof");
    t.proof = static_cast<ProofLevel>(proof);
    t.engine_version = text(s, 12);
    t.created = s.getColumn(13).getInt64();
    t.median = s.getColumn(14).getDouble();
    return t;
  }

  std::vector<TrialRecord> collect(SQLite::Statement& s) const {
    std::vector<TrialRecord> out;
    while (s.executeStep()) out.push_back(record(s));
    return out;
  }

  static void bind_key(SQLite::Statement& s, const TrialKey& key) {
    int k = 1;
    for (const std::string* v :
         {&key.kernel_hash, &key.sizes, &key.target, &key.fingerprint, &key.compiler})
      s.bind(k++, *v);
  }

  std::optional<TrialRecord> one(const std::string& condition, const TrialKey& key,
                                 const std::vector<std::string>& more) const {
    return guard([&]() -> std::optional<TrialRecord> {
      SQLite::Statement s(
          *db_, std::string("SELECT ") + kTrialColumns + kTrialTables + " WHERE " + condition);
      bind_key(s, key);
      for (size_t k = 0; k < more.size(); ++k) s.bind(6 + static_cast<int>(k), more[k]);
      if (!s.executeStep()) return std::nullopt;
      return record(s);
    });
  }

  std::vector<TrialRecord> filtered(const TrialFilter& f, const std::string& also,
                                    const std::string& order) const {
    std::vector<std::string> values;
    std::string where = also.empty() ? "1" : also;
    const auto condition = [&](const std::string& value, const std::string& sql, int times = 1) {
      if (value.empty()) return;
      where += " AND " + sql;
      for (int k = 0; k < times; ++k) values.push_back(value);
    };
    condition(f.kernel, "(k.name = ? OR substr(k.hash, 1, length(?)) = ?)", 3);
    condition(f.sizes, "c.sizes = ?");
    condition(f.target, "c.target = ?");
    condition(f.fingerprint, "c.fingerprint = ?");
    condition(f.status, "t.status = ?");
    condition(f.candidate_prefix, "substr(t.candidate, 1, length(?)) = ?", 2);
    return guard([&] {
      SQLite::Statement s(*db_, std::string("SELECT ") + kTrialColumns + kTrialTables + " WHERE " +
                                    where + " ORDER BY " + order +
                                    (f.limit > 0 ? " LIMIT " + std::to_string(f.limit) : ""));
      for (size_t k = 0; k < values.size(); ++k) s.bind(static_cast<int>(k) + 1, values[k]);
      return collect(s);
    });
  }

  // The following run inside a write transaction.

  bool enter_machine(const MachineRecord& m) {
    // A machine known by its key alone gets its description when it comes.
    SQLite::Statement s(
        *db_,
        "INSERT INTO machines VALUES(?, ?, ?, ?) ON CONFLICT(fingerprint) DO UPDATE SET"
        " microarchitecture = excluded.microarchitecture, isa = excluded.isa,"
        " description = excluded.description"
        " WHERE machines.microarchitecture = '' AND machines.isa = ''"
        " AND (excluded.microarchitecture <> '' OR excluded.isa <> '')");
    const std::string* values[] = {&m.fingerprint, &m.microarchitecture, &m.isa, &m.description};
    for (int k = 0; k < 4; ++k) s.bind(k + 1, valid_utf8(*values[k]));
    return s.exec() > 0;
  }

  bool enter_kernel(const std::string& hash, const std::string& name) {
    SQLite::Statement s(*db_,
                        "INSERT INTO kernels VALUES(?, ?) ON CONFLICT(hash) DO UPDATE SET"
                        " name = excluded.name WHERE kernels.name = '' AND excluded.name <> ''");
    s.bind(1, valid_utf8(hash));
    s.bind(2, valid_utf8(name));
    return s.exec() > 0;
  }

  int64_t context_id(const TrialKey& key) {
    SQLite::Statement find(*db_, std::string("SELECT id FROM contexts c WHERE ") + kSameContext);
    bind_key(find, key);
    if (find.executeStep()) return find.getColumn(0).getInt64();
    enter_machine({key.fingerprint, "", "", ""});
    enter_kernel(key.kernel_hash, "");
    SQLite::Statement add(*db_,
                          "INSERT INTO contexts(kernel, sizes, target, fingerprint, compiler)"
                          " VALUES(?, ?, ?, ?, ?)");
    bind_key(add, key);
    add.exec();
    return db_->getLastInsertRowid();
  }

  /// The new row's id, or 0 when the trial is known.
  int64_t insert_trial(int64_t context, const TrialRecord& t) {
    SQLite::Statement s(*db_,
                        "INSERT INTO trials(context, candidate, status, cause, script, samples,"
                        " median, unit, proof, engine, created)"
                        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
    const std::string blob = samples_blob(t.samples);
    s.bind(1, context);
    s.bind(2, t.candidate_id);
    s.bind(3, t.status);
    s.bind(4, t.cause);
    s.bind(5, t.script);
    s.bind(6, blob.data(), static_cast<int>(blob.size()));
    s.bind(7, t.median);
    s.bind(8, t.unit);
    s.bind(9, static_cast<int>(t.proof));
    s.bind(10, t.engine_version);
    s.bind(11, t.created);
    return s.exec() > 0 ? db_->getLastInsertRowid() : 0;
  }

  void crown(int64_t context, int64_t trial, bool settled) {
    SQLite::Statement s(*db_, "INSERT OR REPLACE INTO winners VALUES(?, ?, ?)");
    s.bind(1, context);
    s.bind(2, trial);
    s.bind(3, settled ? 1 : 0);
    s.exec();
  }

  /// Makes `trial` the winner when it beats the one there: settled before not, then the faster,
  /// then the smaller id (so that a merge does not depend on its order).
  void challenge(int64_t context, int64_t id, const TrialRecord& t, bool settled) {
    if (id == 0 || t.status != "ok" || !(t.median > 0)) return;
    SQLite::Statement s(*db_,
                        "SELECT t.median, t.candidate, t.unit, w.settled, t.id FROM winners w"
                        " JOIN trials t ON t.id = w.trial WHERE w.context = ?");
    s.bind(1, context);
    if (!s.executeStep()) return crown(context, id, settled);
    const bool settled_there = s.getColumn(3).getInt() != 0;
    if (s.getColumn(4).getInt64() == id) {
      if (settled && !settled_there) crown(context, id, true);
      return;
    }
    if (text(s, 2) != t.unit) return;  // not comparable
    const double median = s.getColumn(0).getDouble();
    const bool faster = t.median < median || (t.median == median && t.candidate_id < text(s, 1));
    if (settled != settled_there ? settled : faster) crown(context, id, settled);
  }

  /// After a change of a trial: a context whose winner went gets the fastest of the rest.
  void crown_fastest(int64_t context) {
    SQLite::Statement has(*db_, "SELECT 1 FROM winners WHERE context = ? AND settled = 1");
    has.bind(1, context);
    if (has.executeStep()) return;
    SQLite::Statement s(*db_,
                        "SELECT id FROM trials WHERE context = ? AND status = 'ok' AND median > 0"
                        " ORDER BY median, candidate LIMIT 1");
    s.bind(1, context);
    if (s.executeStep()) crown(context, s.getColumn(0).getInt64(), false);
  }

  std::string path_;
  OpenMode mode_;
  std::unique_ptr<SQLite::Database> db_;
};

/// Lets only reading through.
int only_reading(void*, int action, const char*, const char* function, const char*, const char*) {
  if (action == SQLITE_FUNCTION && function && std::string(function) == "load_extension")
    return SQLITE_DENY;
  const bool reads = action == SQLITE_SELECT || action == SQLITE_READ ||
                     action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE;
  return reads ? SQLITE_OK : SQLITE_DENY;
}

std::string cell_text(sqlite3_stmt* s, int column) {
  const int bytes = sqlite3_column_bytes(s, column);
  if (sqlite3_column_type(s, column) == SQLITE_BLOB) {
    static constexpr char kHex[] = "0123456789abcdef";
    const auto* p = static_cast<const unsigned char*>(sqlite3_column_blob(s, column));
    std::string out = "x'";
    for (int i = 0; i < bytes; ++i) {
      out += kHex[p[i] >> 4];
      out += kHex[p[i] & 15];
    }
    return out + "'";
  }
  const auto* p = reinterpret_cast<const char*>(sqlite3_column_text(s, column));
  return p ? std::string(p, static_cast<size_t>(sqlite3_column_bytes(s, column))) : "";
}

QueryResult SqliteStore::query(const std::string& sql) const {
  sqlite3* handle = db_->getHandle();
  const auto fail = [&](const std::string& what) -> InputError {
    return InputError({}, "query: " + what,
                      "tables: machines, kernels, contexts, trials, winners; view: results");
  };
  struct Statement {
    sqlite3* handle;
    sqlite3_stmt* s = nullptr;
    ~Statement() {
      sqlite3_finalize(s);
      sqlite3_set_authorizer(handle, nullptr, nullptr);
    }
  } statement{handle};
  sqlite3_set_authorizer(handle, only_reading, nullptr);
  const char* tail = nullptr;
  const int code =
      sqlite3_prepare_v2(handle, sql.data(), static_cast<int>(sql.size()), &statement.s, &tail);
  if (code == SQLITE_AUTH) throw fail("only a SELECT is allowed");
  if (code != SQLITE_OK) throw fail(sqlite3_errmsg(handle));
  if (!statement.s) throw fail("there is no statement");
  const std::string rest(tail, static_cast<size_t>(sql.data() + sql.size() - tail));
  if (rest.find_first_not_of(" \t\r\n;") != std::string::npos)
    throw fail("one statement at a time");
  QueryResult out;
  const int columns = sqlite3_column_count(statement.s);
  for (int c = 0; c < columns; ++c) out.columns.push_back(sqlite3_column_name(statement.s, c));
  for (;;) {
    const int step = sqlite3_step(statement.s);
    if (step == SQLITE_DONE) return out;
    if (step == SQLITE_CORRUPT || step == SQLITE_NOTADB)
      refuse_damaged(path_, sqlite3_errmsg(handle));
    if (step != SQLITE_ROW) throw fail(sqlite3_errmsg(handle));
    std::vector<std::string>& row = out.rows.emplace_back();
    for (int c = 0; c < columns; ++c) row.push_back(cell_text(statement.s, c));
  }
}

std::vector<std::string> SqliteStore::check() const {
  std::vector<std::string> findings;
  // One damaged table must not hide what the others have to say.
  const auto attempt = [&](const std::string& sql,
                           const std::function<void(SQLite::Statement&)>& row) {
    try {
      SQLite::Statement s(*db_, sql);
      while (s.executeStep()) row(s);
    } catch (const SQLite::Exception& e) {
      findings.push_back(std::string("cannot be read: ") + e.what());
    } catch (const InputError& e) {
      findings.push_back(e.diagnostic().message.str());
    }
  };
  attempt("PRAGMA integrity_check(20)", [&](SQLite::Statement& s) {
    if (const std::string t = text(s, 0); t != "ok") findings.push_back("integrity: " + t);
  });
  attempt("PRAGMA foreign_key_check", [&](SQLite::Statement& s) {
    findings.push_back("a row of " + text(s, 0) + " refers to a row of " + text(s, 2) +
                       " that does not exist");
  });
  attempt(std::string("SELECT ") + kTrialColumns + kTrialTables, [&](SQLite::Statement& s) {
    const std::string name = "trial '" + text(s, 5) + "'";
    try {
      const TrialRecord t = record(s);
      if (!known_status(t.status))
        findings.push_back(name + " has the unknown status '" + t.status + "'");
      if (t.median != median_of_samples(t.samples))
        findings.push_back(name + ": its median is not the one of its samples");
      if (std::any_of(t.samples.begin(), t.samples.end(), [](double v) { return v < 0; }))
        findings.push_back(name + " has a negative sample");
      if (t.key.kernel_hash.empty() || t.key.target.empty() || t.candidate_id.empty())
        findings.push_back(name + " has an empty key");
    } catch (const InputError& e) {
      findings.push_back(e.diagnostic().message.str());
    }
  });
  attempt(
      "SELECT t.candidate FROM winners w JOIN trials t ON t.id = w.trial"
      " WHERE t.status <> 'ok' OR t.context <> w.context OR NOT t.median > 0",
      [&](SQLite::Statement& s) {
        findings.push_back("trial '" + text(s, 0) + "' is a winner but cannot be one");
      });
  return findings;
}

}  // namespace

std::unique_ptr<Store> open_store(const std::string& path, OpenMode mode) {
  std::error_code error;
  if (mode == OpenMode::kReadOnly) {
    if (!fs::exists(path, error))
      throw InputError({}, "there is no database at '" + path + "'",
                       "tune something first, or name another file with --db FILE");
  } else if (const fs::path folder = fs::path(path).parent_path(); !folder.empty()) {
    fs::create_directories(folder, error);
    if (error)
      throw InputError({}, "cannot make the folder '" + folder.string() + "': " + error.message(),
                       "name a file in a folder you can write with --db FILE");
  }
  if (fs::is_directory(path, error))
    throw InputError({}, "'" + path + "' is a folder, not a database",
                     "name a file with --db FILE");
  return std::make_unique<SqliteStore>(path, mode);
}

std::unique_ptr<Store> make_memory_store() {
  return std::make_unique<SqliteStore>(":memory:", OpenMode::kReadWrite);
}

}  // namespace exotune
