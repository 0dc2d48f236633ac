#include "tests/fuzz/database_entry_points.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "core/base/diagnostic.h"
#include "tests/db/sample_records.h"

namespace exotune::fuzz {
namespace {

using samples::key;
using samples::trial;

std::string exported(const Store& store) {
  std::ostringstream out;
  store.export_json_lines(out);
  return out.str();
}

template <class F>
bool attempt(F&& body) {
  try {
    body();
    return true;
  } catch (const InputError& e) {
    if (e.diagnostic().message.str().empty()) throw std::logic_error("an error without a message");
    return false;
  }
}

}  // namespace

bool read_records(std::string_view text) {
  const auto store = make_memory_store();
  const bool accepted = attempt([&] {
    std::istringstream in{std::string(text)};
    store->import_json_lines(in, "fuzz.jsonl");
  });
  for (const std::string& finding : store->check()) throw std::logic_error("imported: " + finding);
  const std::string once = exported(*store);
  const auto again = make_memory_store();
  std::istringstream in(once);
  again->import_json_lines(in, "again.jsonl");
  if (exported(*again) != once)
    throw std::logic_error("exported as\n" + once + "then as\n" + exported(*again));
  return accepted;
}

bool use_database(const std::string& path, OpenMode mode) {
  bool worked = true;
  const auto use = [&](auto&& body) { worked = attempt(body) && worked; };
  use([&] {
    const auto store = open_store(path, mode);
    use([&] { store->check(); });
    use([&] { store->list({.kernel = "sgemm"}); });
    use([&] { store->winners({}); });
    use([&] { store->wisdom(key("f9"), {"f9", "znver5", "avx512", ""}); });
    use([&] { store->query("SELECT * FROM results"); });
    use([&] { exported(*store); });
    if (mode == OpenMode::kReadWrite) {
      use([&] { store->put_trial(trial("fresh", 0.1)); });
      use([&] { store->replace_trial(trial("c1", 9)); });
      use([&] { store->set_winner(key(), "c1"); });
      use([&] { store->gc(1000); });
    }
  });
  return worked;
}

bool open_database(std::string_view bytes) {
  static const samples::TemporaryFolder folder;
  const std::string path = folder.file("fuzz.db");
  for (const char* suffix : {"-wal", "-shm", "-journal"}) std::filesystem::remove(path + suffix);
  std::ofstream(path, std::ios::binary) << bytes;
  const bool readable = use_database(path, OpenMode::kReadOnly);
  const bool writable = use_database(path, OpenMode::kReadWrite);
  return readable && writable;
}

}  // namespace exotune::fuzz
