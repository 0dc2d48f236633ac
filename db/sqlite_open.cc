// Opening: flags, migrations, and what SQLite's errors mean to a user.
#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <cstdio>
#include <filesystem>

#include "core/base/diagnostic.h"
#include "db/schema.h"
#include "db/sqlite_store.h"

namespace exotune {

namespace {

namespace fs = std::filesystem;

constexpr int kBusyMilliseconds = 10'000;

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
  if (version < 0 || (tables > 0 && version == 0)) refuse_damaged("it has no schema version");
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
