// Free queries, and the check of everything that is stored.
#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "db/record_text.h"
#include "db/sqlite_store.h"

namespace exotune {

namespace {

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

}  // namespace

QueryResult SqliteStore::query(const std::string& sql) const {
  sqlite3* handle = db_->getHandle();
  const auto fail = [&](const std::string& what) -> InputError {
    return InputError(
        {}, "query: " + what,
        "tables: machines, kernels, contexts, trials, winners, figures; view: results");
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
    if (step == SQLITE_CORRUPT || step == SQLITE_NOTADB) refuse_damaged(sqlite3_errmsg(handle));
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

}  // namespace exotune
