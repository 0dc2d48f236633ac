#pragma once
// What is fuzzed of the database: text that is imported, and files that are opened. As in
// entry_points.h, all that may come out is a user's Error.
#include <string>
#include <string_view>

#include "db/store.h"

namespace exotune::fuzz {

/// import_json_lines into an empty store. What is accepted is exported, imported again and
/// compared, and the store that holds it is sound.
bool read_records(std::string_view text);
/// A file of these bytes, opened for reading and for writing and used in every way.
bool open_database(std::string_view bytes);
/// Everything a user can do with the database at `path`; true when all of it worked. Each error has
/// a message.
bool use_database(const std::string& path, OpenMode mode);

}  // namespace exotune::fuzz
