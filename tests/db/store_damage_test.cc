// Files that are damaged, by chance or by hand: an InputError, never a crash.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "core/base/diagnostic.h"
#include "db/store.h"
#include "tests/db/sample_records.h"
#include "tests/fuzz/database_entry_points.h"

namespace exotune {
namespace {

using samples::bytes_of;
using samples::fill;
using samples::key;
using samples::TemporaryFolder;
using samples::trial;

TEST(StoreDamage, flipped_bytes_never_crash_it) {
  TemporaryFolder folder;
  const std::string path = folder.file("tune.db"), bad = folder.file("bad.db");
  fill(*open_store(path));
  const std::string good = bytes_of(path);
  ASSERT_GT(good.size(), 20000u);
  std::mt19937 random(5);
  int refused = 0;
  for (int round = 0; round < 160; ++round) {
    std::string bytes = good;
    for (int flips = 1 + round % 40; flips > 0; --flips) {
      // Half of them where structure is dense: the file's header and the starts of pages.
      const size_t at = flips % 2 ? random() % bytes.size()
                                  : (random() % (bytes.size() / 4096)) * 4096 + random() % 200;
      bytes[at] = static_cast<char>(random());
    }
    if (round % 10 == 9) bytes.resize(random() % bytes.size());
    for (const char* old : {"", "-wal", "-shm"}) std::filesystem::remove(bad + old);
    std::ofstream(bad, std::ios::binary) << bytes;
    refused += !fuzz::use_database(bad, round % 2 ? OpenMode::kReadWrite : OpenMode::kReadOnly);
  }
  EXPECT_GT(refused, 40);
}

TEST(StoreDamage, a_file_that_is_no_database_is_refused_with_a_hint) {
  TemporaryFolder folder;
  std::ofstream(folder.file("text.db")) << std::string(5000, 'x');
  try {
    open_store(folder.file("text.db"));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(e.diagnostic().message.str().find("damaged"), std::string::npos) << e.what();
    EXPECT_FALSE(e.diagnostic().hint.empty());
  }
}

TEST(StoreDamage, an_empty_file_becomes_a_database) {
  TemporaryFolder folder;
  std::ofstream(folder.file("empty.db")) << "";
  EXPECT_TRUE(open_store(folder.file("empty.db"))->put_trial(trial("c1", 1)));
}

TEST(StoreDamage, check_finds_contents_that_do_not_fit) {
  TemporaryFolder folder;
  const std::string path = folder.file("tune.db");
  fill(*open_store(path));
  EXPECT_TRUE(open_store(path)->check().empty());
  const auto findings_after = [&](const std::string& sql) {
    const std::string copy = folder.file("copy.db");
    std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing);
    {
      SQLite::Database db(copy, SQLite::OPEN_READWRITE);
      db.exec("PRAGMA foreign_keys = OFF");
      db.exec(sql);
    }
    std::string all;
    for (const std::string& f : open_store(copy)->check()) all += f + "\n";
    return all;
  };
  EXPECT_NE(findings_after("UPDATE trials SET samples = x'0102' WHERE candidate = 'c3'").find("c3"),
            std::string::npos);
  EXPECT_NE(findings_after("UPDATE trials SET median = 77 WHERE candidate = 'c4'").find("median"),
            std::string::npos);
  EXPECT_NE(findings_after("UPDATE trials SET status = 'fine' WHERE candidate = 'c5'").find("fine"),
            std::string::npos);
  EXPECT_NE(findings_after("DELETE FROM machines").find("does not exist"), std::string::npos);
  EXPECT_NE(findings_after("UPDATE trials SET status = 'crash'").find("cannot be one"),
            std::string::npos);
}

TEST(StoreDamage, mistakes_in_an_import_name_the_line_and_change_nothing) {
  auto source = make_memory_store();
  source->put_trial(trial("c1", 1));
  std::ostringstream out;
  source->export_json_lines(out);
  const std::string good = out.str();
  const auto refused = [&](const std::string& text) {
    auto store = make_memory_store();
    std::istringstream in(text);
    try {
      store->import_json_lines(in, "dump.jsonl");
      return std::string("accepted");
    } catch (const InputError& e) {
      EXPECT_TRUE(store->list({}).empty());
      EXPECT_TRUE(store->machines().empty());
      return std::string(e.what());
    }
  };
  EXPECT_EQ(refused(good), "accepted");
  EXPECT_NE(refused(good + "{\"type\": \"trial\"}\n").find("dump.jsonl:5:1"), std::string::npos);
  EXPECT_NE(refused("{\"type\": \"machine\"}").find("dump.jsonl:1:1"), std::string::npos);
  EXPECT_NE(refused("{\"type\": \"exo-tune\", \"format\": 99}").find("format 99"),
            std::string::npos);
  for (const char* line : {"[]", "nonsense", "{\"type\": 3}", "{\"type\": \"elephant\"}", "\"", "{",
                           "{\"type\": \"kernel\", \"hash\": \"\", \"name\": \"x\"}"})
    EXPECT_NE(refused(good + line), "accepted") << line;
  std::string broken = good;
  broken.replace(broken.find("\"ok\""), 4, "\"OK\"");
  EXPECT_NE(refused(broken).find("'OK'"), std::string::npos);
}

TEST(StoreDamage, a_mangled_import_never_crashes_it) {
  auto source = make_memory_store();
  fill(*source);
  std::ostringstream out;
  source->export_json_lines(out);
  std::mt19937 random(9);
  int refused = 0;
  for (int round = 0; round < 200; ++round) {
    std::string text = out.str();
    for (int flips = 1 + round % 5; flips > 0; --flips)
      text[random() % text.size()] = static_cast<char>(random());
    if (round % 7 == 0) text.resize(random() % text.size());
    std::istringstream in(text);
    try {
      make_memory_store()->import_json_lines(in, "fuzz");
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
}

TEST(StoreDamage, deep_nesting_in_an_import_is_refused) {
  std::istringstream in(std::string(2'000'000, '['));
  EXPECT_THROW(make_memory_store()->import_json_lines(in, "deep"), InputError);
}

}  // namespace
}  // namespace exotune
