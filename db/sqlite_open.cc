// Opening: flags, migrations, and what SQLite's errors mean to a user.
#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <cstdio>
#include <filesystem>

#include "core/base/diagnostic.h"
#include "db/schema.h"
#include "db/sqlite_file.h"
#include "db/sqlite_store.h"

namespace exotune {

namespace {

namespace fs = std::filesystem;

/// What a file says of itself, read in one transaction: another process may be creating it.
struct Identity {
  int version, application, tables;
};

Identity identity_of(SQLite::Database& db) {
  return {db.execAndGet("PRAGMA user_version").getInt(),
          db.execAndGet("PRAGMA application_id").getInt(),
          db.execAndGet("SELECT count(*) FROM sqlite_master").getInt()};
}

/// `body` in a transaction of this kind; rolled back when it throws.
template <class F>
auto in_transaction(SQLite::Database& db, const char* begin, F&& body) {
  db.exec(begin);
  try {
    auto result = body();
    db.exec("COMMIT");
    return result;
  } catch (...) {
    db.tryExec("ROLLBACK");
    throw;
  }
}

}  // namespace

SqliteStore::SqliteStore(const std::string& path, OpenMode mode) : path_(path), mode_(mode) {
  guard([&] {
    db_ = connect();
    configure();
  });
}

SqliteStore::~SqliteStore() = default;

void SqliteStore::refuse_damaged(const std::string& what) const {
  throw InputError(
      {}, "the database '" + path_ + "' is damaged: " + what,
      "`exo-tune db check` lists the findings; move the file aside and import an export");
}

void SqliteStore::translate() const {
  try {
    throw;
  } catch (const SQLite::Exception& e) {
    const std::string text = e.what();
    switch (e.getErrorCode()) {
      case SQLITE_CORRUPT:
      case SQLITE_NOTADB:
      case SQLITE_MISMATCH:
        refuse_damaged(text);
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
        throw InputError({}, "another exo-tune is writing to '" + path_ + "'",
                         "wait for it, or name another file with --db FILE");
      case SQLITE_READONLY:
      case SQLITE_CANTOPEN:
      case SQLITE_PERM:
      case SQLITE_AUTH:
        throw InputError({}, "cannot write the database '" + path_ + "': " + text,
                         "name a file in a folder you can write with --db FILE");
      case SQLITE_FULL:
      case SQLITE_IOERR:
        throw InputError({}, "the database '" + path_ + "' cannot be read or written: " + text,
                         "check the disk's free space and health");
      default:
        throw InputError({}, "the database '" + path_ + "': " + text);
    }
  } catch (...) {
  }
}

std::unique_ptr<SQLite::Database> SqliteStore::connect() const {
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

void SqliteStore::configure() {
  db_->exec("PRAGMA trusted_schema = OFF");
  db_->exec("PRAGMA cell_size_check = ON");
  db_->exec("PRAGMA foreign_keys = ON");
  const int newest = current_schema_version();
  int version = 0;
  retry_while_busy(
      [&] { version = in_transaction(*db_, "BEGIN", [&] { return known_version(); }); });
  if (mode_ == OpenMode::kReadOnly) {
    if (version == 0)
      throw InputError({}, "the database '" + path_ + "' is empty",
                       "tune something first, or name another file with --db FILE");
    if (version < newest)
      throw InputError(
          {}, "the database '" + path_ + "' has the older schema " + std::to_string(version),
          "open it once for writing (any `exo-tune kernel` or `db import`) to migrate it");
    return;
  }
  if (version < newest) retry_while_busy([&] { migrate(); });
  use_write_ahead_log(*db_);
  db_->exec("PRAGMA synchronous = NORMAL");
}

int SqliteStore::known_version() const {
  const auto [version, application, tables] = identity_of(*db_);
  const int newest = current_schema_version();
  if (tables > 0 && application != kApplicationId)
    throw InputError({}, "'" + path_ + "' is a database, but not one of exo-tune",
                     "name another file with --db FILE");
  if (version > newest)
    throw InputError({},
                     "the database '" + path_ + "' has schema " + std::to_string(version) +
                         ", this exo-tune knows up to " + std::to_string(newest),
                     "use the newer exo-tune, or name another file with --db FILE");
  if (version < 0 || (tables > 0 && version == 0)) refuse_damaged("it has no schema version");
  return version;
}

void SqliteStore::migrate() {
  // Nobody sees a file between its tables and its version, and of several that create one the
  // first does it all.
  in_transaction(*db_, "BEGIN EXCLUSIVE", [&] {
    const int newest = current_schema_version();
    for (int v = known_version(); v < newest; ++v)
      db_->exec(schema_steps()[static_cast<size_t>(v)]);
    db_->exec("PRAGMA application_id = " + std::to_string(kApplicationId));
    db_->exec("PRAGMA user_version = " + std::to_string(newest));
    return true;
  });
}

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
