#include "db/sqlite_file.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace exotune {

namespace {

bool in_the_way(const SQLite::Exception& e) {
  const int code = e.getErrorCode() & 0xff;
  return code == SQLITE_BUSY || code == SQLITE_LOCKED || code == SQLITE_PROTOCOL;
}

}  // namespace

void retry_while_busy(const std::function<void()>& attempt) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(kBusyMilliseconds);
  auto pause = std::chrono::milliseconds(1);
  for (;;) {
    try {
      return attempt();
    } catch (const SQLite::Exception& e) {
      if (!in_the_way(e) || Clock::now() > end) throw;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::milliseconds(50));
  }
}

void use_write_ahead_log(SQLite::Database& db) {
  retry_while_busy([&] {
    if (db.execAndGet("PRAGMA journal_mode").getString() != "wal")
      db.exec("PRAGMA journal_mode = WAL");
  });
}

}  // namespace exotune
