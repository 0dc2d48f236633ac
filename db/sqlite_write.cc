// Records in, and who wins.
#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/Savepoint.h>

#include <cmath>
#include <stdexcept>

#include "core/base/diagnostic.h"
#include "db/record_text.h"
#include "db/sqlite_store.h"

namespace exotune {

void SqliteStore::write(const std::function<void()>& body) {
  if (mode_ == OpenMode::kReadOnly)
    throw InputError({}, "the database '" + path_ + "' is open for reading only");
  guard([&] {
    if (together_) {
      SQLite::Savepoint part(*db_, "part");
      body();
      part.release();
      return;
    }
    // IMMEDIATE takes the lock at once: a transaction that began by reading could not wait for
    // it.
    SQLite::Transaction transaction(*db_, SQLite::TransactionBehavior::IMMEDIATE);
    body();
    transaction.commit();
  });
}

KeptStatement::~KeptStatement() { statement_->tryReset(); }

KeptStatement SqliteStore::kept(const std::string& sql) {
  std::unique_ptr<SQLite::Statement>& statement = kept_[sql];
  if (!statement) statement = std::make_unique<SQLite::Statement>(*db_, sql);
  return KeptStatement(*statement);
}

void SqliteStore::together(const std::function<void()>& body) {
  if (together_) throw std::logic_error("Store::together within itself");
  write([&] {
    together_ = true;
    try {
      body();
    } catch (...) {
      together_ = false;
      throw;
    }
    together_ = false;
  });
}

void SqliteStore::put_machine(const MachineRecord& machine) {
  write([&] { enter_machine(machine); });
}

void SqliteStore::put_kernel(const std::string& hash, const std::string& name) {
  write([&] { enter_kernel(hash, name); });
}

int64_t SqliteStore::put_trials(const std::vector<TrialRecord>& trials) {
  int64_t fresh = 0;
  write([&] {
    for (const TrialRecord& t : trials) {
      const TrialRecord record = normalised(t);
      const int64_t context = context_id(record.key);
      // 0: it was known, and what was known stays.
      if (const int64_t id = insert_trial(context, record); id != 0) {
        ++fresh;
        challenge(context, id, record, false);
      }
    }
  });
  return fresh;
}

void SqliteStore::replace_trial(const TrialRecord& trial) {
  write([&] {
    const TrialRecord record = normalised(trial);
    const int64_t context = context_id(record.key);
    SQLite::Statement gone(*db_, "DELETE FROM trials WHERE context = ? AND candidate = ?");
    // Measured again: the old samples go, and who won has to be found anew, as it may have been
    // the winner.
    gone.bind(1, context);
    gone.bind(2, record.candidate_id);
    gone.exec();  // a winner's row goes with it
    insert_trial(context, record);
    crown_fastest(context);
  });
}

void SqliteStore::set_winner(const TrialKey& key, const std::string& candidate_id) {
  write([&] {
    SQLite::Statement find(*db_, std::string("SELECT t.id, c.id") + kTrialTables + " WHERE " +
                                     kSameContext +
                                     " AND t.candidate = ? AND t.status = 'ok' AND t.median > 0");
    bind_key(find, key);
    find.bind(6, candidate_id);
    // Only what ran and was right can win.
    if (!find.executeStep())
      throw InputError({}, "no measured trial '" + candidate_id + "' can win in this context");
    crown(find.getColumn(1).getInt64(), find.getColumn(0).getInt64(), true);
  });
}

void SqliteStore::put_figures(const FigureKey& key, const Figures& figures) {
  write([&] {
    // All figures of a kind belong to one measurement: none of an older one may stay beside them.
    SQLite::Statement gone(*db_,
                           "DELETE FROM figures WHERE target = ? AND text = ?"
                           " AND microarchitecture = ? AND kind = ?");
    const std::string* values[] = {&key.target, &key.text, &key.microarchitecture, &key.kind};
    for (int k = 0; k < 4; ++k) gone.bind(k + 1, valid_utf8(*values[k]));
    gone.exec();
    for (const auto& [name, value] : figures)
      if (std::isfinite(value)) enter_figure(key, name, value);
  });
}

MergeCounts SqliteStore::import_json_lines(std::istream& in, const std::string& name) {
  const Contents contents = read_json_lines(in, name);
  MergeCounts counts;
  write([&] {
    for (const MachineRecord& m : contents.machines)
      ++(enter_machine(m) ? counts.machines : counts.known);
    for (const auto& [hash, kernel] : contents.kernels)
      ++(enter_kernel(hash, kernel) ? counts.kernels : counts.known);
    for (const NamedFigure& f : contents.figures)
      // Nobody can grant trust on another's behalf: it does not travel.
      if (f.key.kind != kTrustKind)
        ++(enter_figure(f.key, f.name, f.value) ? counts.figures : counts.known);
    for (const RankedTrial& r : contents.trials) {
      const int64_t context = context_id(r.trial.key);
      int64_t id = insert_trial(context, r.trial);
      ++(id != 0 ? counts.trials : counts.known);
      // Known here: its rank may still be news.
      if (id == 0) {
        const KeptStatement s = kept("SELECT id FROM trials WHERE context = ? AND candidate = ?");
        s->bind(1, context);
        s->bind(2, r.trial.candidate_id);
        if (s->executeStep()) id = s->getColumn(0).getInt64();
      }
      challenge(context, id, r.trial, r.winner && r.settled);
    }
  });
  return counts;
}

int64_t SqliteStore::gc(int64_t before) {
  int64_t deleted = 0;
  write([&] {
    SQLite::Statement s(*db_,
                        // Measurements are kept for ever; failures only tell what not to try
                        // again.
                        "DELETE FROM trials WHERE status <> 'ok' AND created < ?"
                        " AND id NOT IN (SELECT trial FROM winners)");
    s.bind(1, before);
    deleted = s.exec();
    db_->exec("DELETE FROM contexts WHERE id NOT IN (SELECT context FROM trials)");
    db_->exec("DELETE FROM kernels WHERE hash NOT IN (SELECT kernel FROM contexts)");
    db_->exec("DELETE FROM machines WHERE fingerprint NOT IN (SELECT fingerprint FROM contexts)");
  });
  // Not within a transaction, which SQLite refuses.
  guard([&] { db_->exec("VACUUM"); });
  return deleted;
}

bool SqliteStore::enter_machine(const MachineRecord& m) {
  // A machine known by its key alone gets its description when it comes.
  const KeptStatement s = kept(
      "INSERT INTO machines VALUES(?, ?, ?, ?) ON CONFLICT(fingerprint) DO UPDATE SET"
      " microarchitecture = excluded.microarchitecture, isa = excluded.isa,"
      " description = excluded.description"
      " WHERE machines.microarchitecture = '' AND machines.isa = ''"
      " AND (excluded.microarchitecture <> '' OR excluded.isa <> '')");
  const std::string* values[] = {&m.fingerprint, &m.microarchitecture, &m.isa, &m.description};
  for (int k = 0; k < 4; ++k) s->bind(k + 1, valid_utf8(*values[k]));
  return s->exec() > 0;
}

bool SqliteStore::enter_kernel(const std::string& hash, const std::string& name) {
  const KeptStatement s = kept(
      "INSERT INTO kernels VALUES(?, ?) ON CONFLICT(hash) DO UPDATE SET"
      " name = excluded.name WHERE kernels.name = '' AND excluded.name <> ''");
  s->bind(1, valid_utf8(hash));
  s->bind(2, valid_utf8(name));
  return s->exec() > 0;
}

bool SqliteStore::enter_figure(const FigureKey& key, const std::string& name, double value) {
  // The first one stays: import does not replace what was measured here.
  const KeptStatement s =
      kept("INSERT INTO figures VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
  const std::string* values[] = {&key.target, &key.text, &key.microarchitecture, &key.kind, &name};
  for (int k = 0; k < 5; ++k) s->bind(k + 1, valid_utf8(*values[k]));
  s->bind(6, value);
  return s->exec() > 0;
}

int64_t SqliteStore::context_id(const TrialKey& key) {
  const KeptStatement find = kept(std::string("SELECT id FROM contexts c WHERE ") + kSameContext);
  bind_key(*find, key);
  if (find->executeStep()) return find->getColumn(0).getInt64();
  // Rows that the context refers to, filled in when somebody knows more.
  enter_machine({key.fingerprint, "", "", ""});
  enter_kernel(key.kernel_hash, "");
  const KeptStatement add = kept(
      "INSERT INTO contexts(kernel, sizes, target, fingerprint, compiler)"
      " VALUES(?, ?, ?, ?, ?)");
  bind_key(*add, key);
  add->exec();
  return db_->getLastInsertRowid();
}

int64_t SqliteStore::insert_trial(int64_t context, const TrialRecord& t) {
  const KeptStatement s = kept(
      "INSERT INTO trials(context, candidate, status, cause, script, samples,"
      " median, unit, proof, engine, created)"
      " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
  const std::string blob = samples_blob(t.samples);
  s->bind(1, context);
  s->bind(2, t.candidate_id);
  s->bind(3, t.status);
  s->bind(4, t.cause);
  s->bind(5, t.script);
  s->bind(6, blob.data(), static_cast<int>(blob.size()));
  s->bind(7, t.median);
  s->bind(8, t.unit);
  s->bind(9, static_cast<int>(t.proof));
  s->bind(10, t.engine_version);
  s->bind(11, t.created);
  return s->exec() > 0 ? db_->getLastInsertRowid() : 0;
}

void SqliteStore::crown(int64_t context, int64_t trial, bool settled) {
  const KeptStatement s = kept("INSERT OR REPLACE INTO winners VALUES(?, ?, ?)");
  s->bind(1, context);
  s->bind(2, trial);
  s->bind(3, settled ? 1 : 0);
  s->exec();
}

void SqliteStore::challenge(int64_t context, int64_t id, const TrialRecord& t, bool settled) {
  if (id == 0 || t.status != "ok" || !(t.median > 0)) return;
  const KeptStatement s = kept(
      "SELECT t.median, t.candidate, t.unit, w.settled, t.id FROM winners w"
      " JOIN trials t ON t.id = w.trial WHERE w.context = ?");
  s->bind(1, context);
  if (!s->executeStep()) return crown(context, id, settled);
  const bool settled_there = s->getColumn(3).getInt() != 0;
  if (s->getColumn(4).getInt64() == id) {
    if (settled && !settled_there) crown(context, id, true);
    return;
  }
  if (text(*s, 2) != t.unit) return;  // not comparable
  const double median = s->getColumn(0).getDouble();
  const bool faster = t.median < median || (t.median == median && t.candidate_id < text(*s, 1));
  if (settled != settled_there ? settled : faster) crown(context, id, settled);
}

void SqliteStore::crown_fastest(int64_t context) {
  SQLite::Statement has(*db_, "SELECT 1 FROM winners WHERE context = ? AND settled = 1");
  has.bind(1, context);
  if (has.executeStep()) return;
  SQLite::Statement s(*db_,
                      "SELECT id FROM trials WHERE context = ? AND status = 'ok' AND median > 0"
                      " ORDER BY median, candidate LIMIT 1");
  s.bind(1, context);
  if (s.executeStep()) crown(context, s.getColumn(0).getInt64(), false);
}

}  // namespace exotune
