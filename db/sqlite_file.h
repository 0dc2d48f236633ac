#pragma once
// A SQLite file that several processes use at once: how long they wait for each other, and how the
// file comes to have a write-ahead log. Start at use_write_ahead_log.
#include <functional>

namespace SQLite {
class Database;
}  // namespace SQLite

namespace exotune {

/// How long one process waits for another that is writing: given to every connection.
inline constexpr int kBusyMilliseconds = 60'000;

/// Runs `attempt`, again and again for kBusyMilliseconds while it throws that another process is in
/// the way. For what SQLite refuses at once, whatever timeout its connection has: the change of the
/// journal, and the recovery of a log that a killed process left.
void retry_while_busy(const std::function<void()>& attempt);

/// Readers go on while one process writes. Changes nothing where the file has such a log already.
void use_write_ahead_log(SQLite::Database& db);

}  // namespace exotune
