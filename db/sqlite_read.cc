// Records out.
#include <SQLiteCpp/SQLiteCpp.h>

#include <optional>
#include <sstream>

#include "core/base/diagnostic.h"
#include "db/record_text.h"
#include "db/sqlite_store.h"

namespace exotune {

std::string SqliteStore::text(SQLite::Statement& s, int column) {
  return s.getColumn(column).getString();
}

// Of this very context: kernel, sizes, target, machine and compiler.
std::optional<TrialRecord> SqliteStore::find_trial(const TrialKey& key,
                                                   const std::string& candidate_id) const {
  return one(std::string(kSameContext) + " AND t.candidate = ?", key, {candidate_id});
}

std::optional<TrialRecord> SqliteStore::best(const TrialKey& key) const {
  return one(std::string(kSameContext) + " AND t.id IN (SELECT trial FROM winners)", key, {});
}

std::optional<Wisdom> SqliteStore::wisdom(const TrialKey& key, const MachineRecord& machine) const {
  if (auto found = best(key)) return Wisdom{std::move(*found), WisdomMatch::kExact, true, ""};
  const std::string base =
      "c.kernel = ?1 AND c.sizes = ?2 AND c.target = ?3 AND t.id IN (SELECT trial FROM winners)";
  struct Attempt {
    WisdomMatch match;
    const char* condition;  // ?4 is the value
    std::string value, note;
  };
  // From what is most alike to what is least; the first that has a winner answers.
  const Attempt attempts[] = {
      {WisdomMatch::kExact, " AND c.fingerprint = ?4", key.fingerprint,
       "no record with this compiler and its flags; using one of this machine with another"},
      {WisdomMatch::kSameMicroarchitecture, " AND m.microarchitecture = ?4",
       machine.microarchitecture,
       "no record of this machine; using one of the same microarchitecture (" +
           machine.microarchitecture + ")"},
      {WisdomMatch::kSameIsa, " AND m.isa = ?4", machine.isa,
       "no record of this machine or microarchitecture; using one of the same ISA (" + machine.isa +
           ")"},
  };
  for (const Attempt& a : attempts) {
    // A machine that does not say its microarchitecture is like no other.
    if (a.value.empty()) continue;
    std::vector<TrialRecord> found = guard([&] {
      // The same compiler first, then the fastest, then by text: the same answer every time.
      SQLite::Statement s(*db_, std::string("SELECT ") + kTrialColumns + kTrialTables + " WHERE " +
                                    base + a.condition +
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
    // Whoever uses it is told what it was measured with.
    std::string note = a.note;
    if (!same && a.match != WisdomMatch::kExact) note += ", compiled otherwise";
    return Wisdom{std::move(found[0]), a.match, same, std::move(note)};
  }
  return std::nullopt;
}

std::vector<TrialRecord> SqliteStore::list(const TrialFilter& filter) const {
  // The newest first; by text and number after that, so that equal times list alike.
  return filtered(filter, "", "t.created DESC, t.candidate, t.id");
}

std::vector<TrialRecord> SqliteStore::winners(const TrialFilter& filter) const {
  return filtered(filter, "t.id IN (SELECT trial FROM winners)",
                  "k.name, c.sizes, c.target, c.kernel, c.fingerprint, c.compiler");
}

std::string SqliteStore::kernel_name(const std::string& hash) const {
  return guard([&] {
    SQLite::Statement s(*db_, "SELECT name FROM kernels WHERE hash = ?");
    s.bind(1, hash);
    return s.executeStep() ? s.getColumn(0).getString() : std::string();
  });
}

std::vector<MachineRecord> SqliteStore::machines() const {
  return guard([&] {
    SQLite::Statement s(*db_,
                        "SELECT fingerprint, microarchitecture, isa, description"
                        " FROM machines ORDER BY fingerprint");
    std::vector<MachineRecord> out;
    while (s.executeStep()) out.push_back({text(s, 0), text(s, 1), text(s, 2), text(s, 3)});
    return out;
  });
}

void SqliteStore::export_json_lines(std::ostream& out) const {
  std::vector<std::string> lost;
  guard([&] {
    // All tables as of one moment, whoever writes meanwhile.
    std::optional<SQLite::Transaction> snapshot;
    if (!together_) snapshot.emplace(*db_);
    out << header_line() << "\n";
    // Row by row: a damaged one costs itself, a damaged page what is behind it in this order.
    const auto rows = [&](std::ostream& to, const char* what, const std::string& sql,
                          const std::function<std::string(SQLite::Statement&)>& line) {
      int64_t written = 0;
      try {
        SQLite::Statement s(*db_, sql);
        while (s.executeStep()) {
          try {
            to << line(s) << "\n";
            ++written;
          } catch (const InputError& e) {
            lost.push_back(e.diagnostic().message.str());
          }
        }
      } catch (const SQLite::Exception& e) {
        lost.push_back(std::string(what) + ": after " + std::to_string(written) +
                       " rows: " + e.what());
        return false;
      }
      return true;
    };
    rows(out, "machines", "SELECT * FROM machines ORDER BY 1", [](SQLite::Statement& s) {
      return machine_line({text(s, 0), text(s, 1), text(s, 2), text(s, 3)});
    });
    rows(out, "kernels", "SELECT hash, name FROM kernels ORDER BY hash",
         [](SQLite::Statement& s) { return kernel_line(text(s, 0), text(s, 1)); });
    const auto trial = [&](SQLite::Statement& s) {
      // Null for what won nothing.
      const SQLite::Column settled = s.getColumn(kTrialColumnCount);
      return trial_line({record(s), !settled.isNull(), settled.getInt() != 0});
    };
    const std::string trials = std::string("SELECT ") + kTrialColumns +
                               ", (SELECT settled FROM winners w WHERE w.trial = t.id)" +
                               kTrialTables;
    // Kept until the last row: if the order's index is damaged, half of them would be written
    // twice.
    std::ostringstream in_order;
    if (rows(in_order, "trials",
             trials + " ORDER BY c.kernel, c.sizes, c.target, c.fingerprint, c.compiler,"
                      " t.candidate",
             trial))
      out << in_order.str();
    else
      salvage_trials(out, trial);
    rows(out, "figures",
         "SELECT * FROM figures WHERE kind <> '" + std::string(kTrustKind) +
             "' ORDER BY 1, 2, 3, 4, 5",
         [](SQLite::Statement& s) {
           return figure_line({{text(s, 0), text(s, 1), text(s, 2), text(s, 3)},
                               text(s, 4),
                               s.getColumn(5).getDouble()});
         });
  });
  if (lost.empty()) return;
  Diagnostic diagnostic{
      {},
      "the database '" + path_ + "' is damaged: what can be read of it is exported",
      {},
      "import it into a fresh --db; the rest is lost"};
  for (const std::string& each : lost) diagnostic.notes.push_back(LazyText(each));
  throw InputError(std::move(diagnostic));
}

// One by one by their numbers, which passes by the pages that cannot be read, and without the
// tables and indexes that are not needed. Who won is found again by whoever imports it.
void SqliteStore::salvage_trials(std::ostream& out,
                                 const std::function<std::string(SQLite::Statement&)>& line) const {
  constexpr int64_t kMisses = 10'000;  // in a row: there are no more
  SQLite::Statement one(*db_, std::string("SELECT ") + kTrialColumns +
                                  ", NULL FROM trials t JOIN contexts c ON c.id = t.context"
                                  " WHERE t.id = ?");
  for (int64_t id = 1, misses = 0; misses < kMisses; ++id, ++misses) try {
      one.reset();
      one.bind(1, id);
      if (!one.executeStep()) continue;
      out << line(one) << "\n";
      misses = 0;
    } catch (const SQLite::Exception&) {
    } catch (const InputError&) {
    }
}

Figures SqliteStore::figures(const FigureKey& key) const {
  return guard([&] {
    SQLite::Statement s(*db_,
                        "SELECT name, value FROM figures WHERE target = ? AND text = ?"
                        " AND microarchitecture = ? AND kind = ?");
    const std::string* values[] = {&key.target, &key.text, &key.microarchitecture, &key.kind};
    for (int k = 0; k < 4; ++k) s.bind(k + 1, *values[k]);
    Figures out;
    while (s.executeStep()) out[text(s, 0)] = s.getColumn(1).getDouble();
    return out;
  });
}

// Columns by number, in the order of kTrialColumns.
TrialRecord SqliteStore::record(SQLite::Statement& s) const {
  TrialRecord t;
  t.key = {text(s, 0), text(s, 1), text(s, 2), text(s, 3), text(s, 4)};
  t.candidate_id = text(s, 5);
  t.status = text(s, 6);
  t.cause = text(s, 7);
  t.script = text(s, 8);
  const SQLite::Column blob = s.getColumn(9);
  auto samples = samples_of_blob(blob.getBlob(), static_cast<size_t>(blob.getBytes()));
  if (!samples) refuse_damaged("the samples of trial '" + t.candidate_id + "' do not parse");
  t.samples = std::move(*samples);
  t.unit = text(s, 10);
  const int proof = s.getColumn(11).getInt();
  // A level that this version does not know must not pass for one that it does.
  if (proof < 0 || proof > 2) refuse_damaged("an unknown level of proof");
  t.proof = static_cast<ProofLevel>(proof);
  t.engine_version = text(s, 12);
  t.created = s.getColumn(13).getInt64();
  t.median = s.getColumn(14).getDouble();
  return t;
}

std::vector<TrialRecord> SqliteStore::collect(SQLite::Statement& s) const {
  std::vector<TrialRecord> out;
  while (s.executeStep()) out.push_back(record(s));
  return out;
}

void SqliteStore::bind_key(SQLite::Statement& s, const TrialKey& key) {
  int k = 1;
  for (const std::string* v :
       {&key.kernel_hash, &key.sizes, &key.target, &key.fingerprint, &key.compiler})
    s.bind(k++, *v);
}

std::optional<TrialRecord> SqliteStore::one(const std::string& condition, const TrialKey& key,
                                            const std::vector<std::string>& more) const {
  return guard([&]() -> std::optional<TrialRecord> {
    SQLite::Statement s(
        *db_, std::string("SELECT ") + kTrialColumns + kTrialTables + " WHERE " + condition);
    bind_key(s, key);
    // The key takes the first five.
    for (size_t k = 0; k < more.size(); ++k) s.bind(6 + static_cast<int>(k), more[k]);
    if (!s.executeStep()) return std::nullopt;
    return record(s);
  });
}

std::vector<TrialRecord> SqliteStore::filtered(const TrialFilter& f, const std::string& also,
                                               const std::string& order) const {
  std::vector<std::string> values;
  std::string where = also.empty() ? "1" : also;
  // `times`: how many of its places take the value. Values are bound and never pasted into the
  // text.
  const auto condition = [&](const std::string& value, const std::string& sql, int times = 1) {
    if (value.empty()) return;
    where += " AND " + sql;
    for (int k = 0; k < times; ++k) values.push_back(value);
  };
  // By name, or by as much of the hash as was given.
  condition(f.kernel, "(k.name = ? OR substr(k.hash, 1, length(?)) = ?)", 3);
  // A key's sizes may say more: "n=100 (symbolic)".
  condition(f.sizes, "(c.sizes = ? OR substr(c.sizes, 1, length(?) + 2) = ? || ' (')", 3);
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

}  // namespace exotune
