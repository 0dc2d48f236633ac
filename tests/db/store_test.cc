#include "db/store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "core/base/diagnostic.h"
#include "db/schema.h"
#include "tests/db/sample_records.h"

namespace exotune {
namespace {

using samples::failed;
using samples::key;
using samples::TemporaryFolder;
using samples::trial;

std::string exported(const Store& store) {
  std::ostringstream out;
  store.export_json_lines(out);
  return out.str();
}

TEST(Store, a_trial_comes_back_as_it_was_put) {
  auto store = make_memory_store();
  TrialRecord t = trial("c1", 2e-6);
  t.proof = ProofLevel::kProvedModuloReassociation;
  t.cause = "a \"quoted\" line\nand another";
  EXPECT_TRUE(store->put_trial(t));
  const auto back = store->find_trial(t.key, "c1");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->samples, t.samples);
  EXPECT_EQ(back->median, 2e-6);
  EXPECT_EQ(back->script, t.script);
  EXPECT_EQ(back->cause, t.cause);
  EXPECT_EQ(back->proof, t.proof);
  EXPECT_EQ(back->created, 1000);
  EXPECT_TRUE(back->key == t.key);
  EXPECT_FALSE(store->find_trial(t.key, "c2"));
}

TEST(Store, putting_a_trial_again_changes_nothing) {
  auto store = make_memory_store();
  EXPECT_TRUE(store->put_trial(trial("c1", 2)));
  EXPECT_FALSE(store->put_trial(trial("c1", 1)));
  EXPECT_EQ(store->find_trial(key(), "c1")->median, 2);
  EXPECT_EQ(store->put_trials({trial("c1", 1), trial("c2", 1), trial("c2", 3)}), 1);
}

TEST(Store, the_same_candidate_in_another_context_is_another_trial) {
  auto store = make_memory_store();
  EXPECT_TRUE(store->put_trial(trial("c1", 2)));
  EXPECT_TRUE(store->put_trial(trial("c1", 2, key("f1", "clang 14 -O3"))));
  EXPECT_EQ(store->list({}).size(), 2u);
}

TEST(Store, the_fastest_ok_trial_wins) {
  auto store = make_memory_store();
  EXPECT_FALSE(store->best(key()));
  store->put_trial(failed("c0"));
  EXPECT_FALSE(store->best(key()));
  store->put_trial(trial("c1", 3));
  store->put_trial(trial("c2", 1));
  store->put_trial(trial("c3", 2));
  EXPECT_EQ(store->best(key())->candidate_id, "c2");
}

TEST(Store, a_named_winner_stays_until_another_is_named) {
  auto store = make_memory_store();
  store->put_trials({trial("c1", 3), trial("c2", 1)});
  store->set_winner(key(), "c1");
  store->put_trial(trial("c3", 0.5));
  EXPECT_EQ(store->best(key())->candidate_id, "c1");
  store->set_winner(key(), "c3");
  EXPECT_EQ(store->best(key())->candidate_id, "c3");
}

TEST(Store, only_a_measured_ok_trial_can_be_named_winner) {
  auto store = make_memory_store();
  store->put_trial(failed("c1"));
  EXPECT_THROW(store->set_winner(key(), "c1"), InputError);
  EXPECT_THROW(store->set_winner(key(), "unknown"), InputError);
}

TEST(Store, a_replaced_winner_gives_way_to_the_fastest) {
  auto store = make_memory_store();
  store->put_trials({trial("c1", 1), trial("c2", 2)});
  store->replace_trial(trial("c1", 5));
  EXPECT_EQ(store->find_trial(key(), "c1")->median, 5);
  EXPECT_EQ(store->best(key())->candidate_id, "c2");
  store->replace_trial(failed("c2"));
  EXPECT_EQ(store->best(key())->candidate_id, "c1");
}

TEST(Store, samples_that_are_not_finite_are_left_out) {
  auto store = make_memory_store();
  TrialRecord t = trial("c1", 1);
  t.samples = {std::nan(""), 3, std::numeric_limits<double>::infinity(), 1};
  store->put_trial(t);
  EXPECT_EQ(store->find_trial(key(), "c1")->samples, (std::vector<double>{3, 1}));
  EXPECT_EQ(store->find_trial(key(), "c1")->median, 2);
}

TEST(Store, wisdom_falls_back_from_exact_to_isa_and_says_so) {
  auto store = make_memory_store();
  const MachineRecord here{"here", "znver5", "avx512", ""};
  store->put_machine({"twin", "znver5", "avx512", ""});
  store->put_machine({"cousin", "skylake", "avx512", ""});
  store->put_machine({"stranger", "haswell", "avx2", ""});
  EXPECT_FALSE(store->wisdom(key("here"), here));

  store->put_trial(trial("s", 1, key("stranger")));
  EXPECT_FALSE(store->wisdom(key("here"), here));

  store->put_trial(trial("c", 1, key("cousin")));
  auto w = store->wisdom(key("here"), here);
  ASSERT_TRUE(w);
  EXPECT_EQ(w->match, WisdomMatch::kSameIsa);
  EXPECT_NE(w->note.find("same ISA (avx512)"), std::string::npos) << w->note;

  store->put_trial(trial("t", 9, key("twin")));
  w = store->wisdom(key("here"), here);
  EXPECT_EQ(w->match, WisdomMatch::kSameMicroarchitecture);
  EXPECT_EQ(w->trial.candidate_id, "t");

  store->put_trial(trial("o", 9, key("here", "clang 14 -O3")));
  w = store->wisdom(key("here"), here);
  EXPECT_EQ(w->match, WisdomMatch::kExact);
  EXPECT_FALSE(w->same_compiler);
  EXPECT_EQ(w->trial.candidate_id, "o");

  store->put_trial(trial("e", 9, key("here")));
  w = store->wisdom(key("here"), here);
  EXPECT_EQ(w->trial.candidate_id, "e");
  EXPECT_TRUE(w->same_compiler);
  EXPECT_EQ(w->note, "");
}

TEST(Store, wisdom_never_matches_unknown_machines_by_their_blanks) {
  auto store = make_memory_store();
  store->put_trial(trial("c", 1, key("elsewhere")));
  EXPECT_FALSE(store->wisdom(key("here"), {"here", "", "", ""}));
}

TEST(Store, lists_by_filter_newest_first) {
  auto store = make_memory_store();
  store->put_kernel(key().kernel_hash, "sgemm");
  store->put_trials({trial("a1", 1), failed("a2", 3000), failed("b1", 2000)});
  EXPECT_EQ(store->list({})[0].candidate_id, "a2");
  EXPECT_EQ(store->list({.status = "crash"}).size(), 2u);
  EXPECT_EQ(store->list({.kernel = "sgemm"}).size(), 3u);
  EXPECT_EQ(store->list({.kernel = "0123"}).size(), 3u);
  EXPECT_EQ(store->list({.kernel = "dgemm"}).size(), 0u);
  EXPECT_EQ(store->list({.candidate_prefix = "a"}).size(), 2u);
  EXPECT_EQ(store->list({.limit = 1}).size(), 1u);
  EXPECT_EQ(store->winners({}).size(), 1u);
  EXPECT_EQ(store->kernel_name(key().kernel_hash), "sgemm");
  EXPECT_EQ(store->kernel_name("unknown"), "");
}

TEST(Store, a_machine_known_by_its_key_gets_its_description_later) {
  auto store = make_memory_store();
  store->put_trial(trial("c1", 1));
  store->put_machine({"f1", "znver5", "avx512", "{}"});
  store->put_machine({"f1", "other", "avx2", ""});
  ASSERT_EQ(store->machines().size(), 1u);
  EXPECT_EQ(store->machines()[0].microarchitecture, "znver5");
}

TEST(Store, query_reads_and_refuses_to_write) {
  auto store = make_memory_store();
  store->put_kernel(key().kernel_hash, "sgemm");
  store->put_trials({trial("c1", 1), failed("c2")});
  const QueryResult r =
      store->query("SELECT kernel, candidate, winner FROM results ORDER BY candidate;");
  EXPECT_EQ(r.columns, (std::vector<std::string>{"kernel", "candidate", "winner"}));
  ASSERT_EQ(r.rows.size(), 2u);
  EXPECT_EQ(r.rows[0], (std::vector<std::string>{"sgemm", "c1", "1"}));
  EXPECT_EQ(store->query("SELECT x'00ff', NULL").rows[0],
            (std::vector<std::string>{"x'00ff'", ""}));
  for (const char* sql :
       {"DELETE FROM trials", "DROP TABLE trials", "ATTACH 'x' AS y", "PRAGMA user_version = 9",
        "BEGIN", "SELECT 1; SELECT 2", "SELEC 1", "", "SELECT * FROM nothing",
        "SELECT load_extension('x')", "CREATE TABLE t(x)", "VACUUM INTO 'x'", "-- nothing"})
    EXPECT_THROW(store->query(sql), InputError) << sql;
  EXPECT_EQ(store->list({}).size(), 2u);
}

TEST(Store, an_export_imported_elsewhere_gives_the_same_export) {
  auto a = make_memory_store();
  a->put_machine({"f1", "znver5", "avx512", "{\"model\": \"x\"}"});
  a->put_kernel(key().kernel_hash, "sgemm");
  a->put_trials({trial("c1", 1.0 / 3), trial("c2", 2), failed("c3"), trial("c1", 7, key("f2"))});
  a->set_winner(key(), "c2");
  auto b = make_memory_store();
  std::istringstream in(exported(*a));
  const MergeCounts counts = b->import_json_lines(in, "a");
  EXPECT_EQ(counts.trials, 4);
  EXPECT_EQ(exported(*a), exported(*b));
  EXPECT_EQ(b->best(key())->candidate_id, "c2");
  std::istringstream again(exported(*a));
  EXPECT_EQ(b->import_json_lines(again, "a").trials, 0);
  EXPECT_EQ(exported(*a), exported(*b));
}

TEST(Store, text_that_is_not_utf8_does_not_break_the_export) {
  auto store = make_memory_store();
  TrialRecord t = failed("c1");
  t.cause = std::string("bad \xff\xc3 byte and nul \0 here", 26);
  store->put_trial(t);
  auto other = make_memory_store();
  std::istringstream in(exported(*store));
  EXPECT_EQ(other->import_json_lines(in, "x").trials, 1);
  EXPECT_EQ(other->find_trial(key(), "c1")->cause, store->find_trial(key(), "c1")->cause);
}

TEST(Store, merging_does_not_depend_on_the_order) {
  TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    auto store = open_store(folder.file(name));
    store->put_trials(name[0] == 'a' ? std::vector{trial("c1", 1), trial("c2", 3)}
                                     : std::vector{trial("c2", 3), trial("c4", 2)});
    if (name[0] == 'b') store->set_winner(key(), "c4");
  }
  auto ab = make_memory_store(), ba = make_memory_store();
  merge_store(*ab, folder.file("a"));
  EXPECT_EQ(merge_store(*ab, folder.file("b")).trials, 1);
  merge_store(*ba, folder.file("b"));
  merge_store(*ba, folder.file("a"));
  EXPECT_EQ(exported(*ab), exported(*ba));
  EXPECT_EQ(ab->best(key())->candidate_id, "c4");
}

TEST(Store, gc_keeps_what_won_or_is_recent) {
  auto store = make_memory_store();
  store->put_trials({trial("c1", 1), trial("c2", 2), failed("old", 10), failed("new", 5000)});
  store->put_machine({"unused", "x", "y", ""});
  EXPECT_EQ(store->gc(100), 1);
  EXPECT_EQ(store->list({}).size(), 3u);
  EXPECT_EQ(store->machines().size(), 1u);
  EXPECT_TRUE(store->check().empty());
}

TEST(Store, survives_being_closed) {
  TemporaryFolder folder;
  const std::string path = folder.file("deep/er/tune.db");
  open_store(path)->put_trial(trial("c1", 1));
  EXPECT_EQ(open_store(path)->best(key())->candidate_id, "c1");
  EXPECT_EQ(open_store(path, OpenMode::kReadOnly)->list({}).size(), 1u);
  EXPECT_THROW(open_store(path, OpenMode::kReadOnly)->put_trial(trial("c2", 1)), InputError);
}

TEST(Store, a_reader_and_a_writer_share_the_file) {
  TemporaryFolder folder;
  auto writer = open_store(folder.file("tune.db"));
  writer->put_trial(trial("c1", 1));
  auto reader = open_store(folder.file("tune.db"), OpenMode::kReadOnly);
  writer->put_trial(trial("c2", 1));
  EXPECT_EQ(reader->list({}).size(), 2u);
}

TEST(Store, two_processes_that_write_wait_for_each_other) {
  TemporaryFolder folder;
  const std::string path = folder.file("tune.db");
  open_store(path);
  std::vector<pid_t> children;
  for (const char* name : {"a", "b"}) {
    const pid_t child = fork();
    if (child == 0) {
      auto store = open_store(path);
      for (int k = 0; k < 40; ++k) store->put_trial(trial(name + std::to_string(k), 1 + k));
      _exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(open_store(path)->list({}).size(), 80u);
  EXPECT_TRUE(open_store(path)->check().empty());
}

// A process that is killed while it writes loses nothing it was told is kept.
TEST(Store, a_killed_run_is_resumed) {
  TemporaryFolder folder;
  const std::string path = folder.file("tune.db");
  open_store(path);
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto store = open_store(path);
    for (int k = 0;; ++k) {
      store->put_trial(trial("c" + std::to_string(k), 1 + k));
      if (write(channel[1], &k, sizeof k) != sizeof k) _exit(1);
    }
  }
  close(channel[1]);
  int last = 0;
  while (last < 40 && read(channel[0], &last, sizeof last) == sizeof last) {
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  for (int more; read(channel[0], &more, sizeof more) == sizeof more;) last = more;
  close(channel[0]);

  auto store = open_store(path);
  EXPECT_TRUE(store->check().empty());
  for (int k = 0; k <= last; ++k)
    ASSERT_TRUE(store->find_trial(key(), "c" + std::to_string(k))) << k;
  int repeated = 0;
  for (int k = 0; k < last + 10; ++k)
    repeated += store->put_trial(trial("c" + std::to_string(k), 1 + k));
  EXPECT_LE(repeated, 9);
  EXPECT_GE(repeated, 8);
  EXPECT_EQ(store->best(key())->candidate_id, "c0");
}

TEST(Store, what_is_put_together_is_kept_as_a_whole_or_not_at_all) {
  TemporaryFolder folder;
  const std::string path = folder.file("tune.db");
  const auto writer = open_store(path), reader = open_store(path, OpenMode::kReadOnly);
  writer->together([&] {
    writer->put_trial(trial("c1", 2));
    // One part is refused: it alone is taken back.
    std::istringstream damaged(exported(*writer) + "{\n");
    EXPECT_THROW(writer->import_json_lines(damaged, "damaged"), InputError);
    EXPECT_THROW(writer->set_winner(key(), "unknown"), InputError);
    writer->put_trials({trial("c2", 1), trial("c3", 3)});
    EXPECT_EQ(writer->best(key())->candidate_id, "c2") << "its own reads see it";
    EXPECT_TRUE(reader->list({}).empty()) << "others do not yet";
  });
  EXPECT_EQ(reader->list({}).size(), 3u);
  struct Stopped {};
  EXPECT_THROW(writer->together([&] {
    writer->put_trial(trial("c4", 0.5));
    throw Stopped();
  }),
               Stopped);
  EXPECT_EQ(writer->list({}).size(), 3u);
  EXPECT_EQ(writer->best(key())->candidate_id, "c2");
  writer->put_trial(trial("c5", 0.25));  // goes on as before
  EXPECT_EQ(reader->best(key())->candidate_id, "c5");
  EXPECT_TRUE(writer->check().empty());
}

TEST(Store, figures_are_kept_by_key_and_travel) {
  const auto store = make_memory_store();
  const FigureKey key{"avx512", "aaaa", "znver5", "weights"};
  EXPECT_TRUE(store->figures(key).empty());
  store->put_figures(key, {{"port", 1.25}, {"loop", 0.5}});
  EXPECT_EQ(store->figures(key), (Figures{{"loop", 0.5}, {"port", 1.25}}));
  store->put_figures(key, {{"port", 1.5}});
  EXPECT_EQ(store->figures(key), (Figures{{"port", 1.5}}));
  for (FigureKey other : {FigureKey{"avx2", "aaaa", "znver5", "weights"},
                          FigureKey{"avx512", "bbbb", "znver5", "weights"},
                          FigureKey{"avx512", "aaaa", "haswell", "weights"},
                          FigureKey{"avx512", "aaaa", "znver5", "throughput"}})
    EXPECT_TRUE(store->figures(other).empty());
  std::stringstream lines;
  store->export_json_lines(lines);
  const auto copy = make_memory_store();
  EXPECT_EQ(copy->import_json_lines(lines, "export").figures, 1);
  EXPECT_EQ(copy->figures(key), store->figures(key));
  std::stringstream again;
  store->export_json_lines(again);
  EXPECT_EQ(copy->import_json_lines(again, "export").figures, 0);
  EXPECT_TRUE(copy->check().empty());
}

TEST(Store, a_database_of_version_one_is_migrated) {
  TemporaryFolder folder;
  const std::string path = folder.file("tune.db");
  {
    SQLite::Database db(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    db.exec(schema_steps()[0]);
    db.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
    db.exec("PRAGMA user_version = 1");
    db.exec("INSERT INTO machines(fingerprint) VALUES('f1')");
    db.exec("INSERT INTO kernels VALUES('" + key().kernel_hash + "', 'sgemm')");
    db.exec("INSERT INTO contexts VALUES(1, '" + key().kernel_hash +
            "', 'K=64,M=6,N=64', 'avx512', 'f1', 'gcc 12 -O3')");
    db.exec(
        "INSERT INTO trials VALUES(1, 1, 'slow', 'ok', '', '', x'0000000000000040', 2, 'seconds', "
        "0,"
        " '0', 5)");
    db.exec(
        "INSERT INTO trials VALUES(2, 1, 'fast', 'ok', '', '', x'000000000000F03F', 1, 'seconds', "
        "0,"
        " '0', 5)");
  }
  EXPECT_THROW(open_store(path, OpenMode::kReadOnly), InputError);
  auto store = open_store(path);
  EXPECT_EQ(store->best(key())->candidate_id, "fast");
  EXPECT_TRUE(store->check().empty());
  EXPECT_EQ(open_store(path, OpenMode::kReadOnly)->list({}).size(), 2u);
}

TEST(Store, a_newer_schema_is_refused_with_a_hint) {
  TemporaryFolder folder;
  const std::string path = folder.file("tune.db");
  open_store(path);
  {
    SQLite::Database db(path, SQLite::OPEN_READWRITE);
    db.exec("PRAGMA user_version = 999");
  }
  for (OpenMode mode : {OpenMode::kReadWrite, OpenMode::kReadOnly}) try {
      open_store(path, mode);
      ADD_FAILURE();
    } catch (const InputError& e) {
      EXPECT_NE(e.diagnostic().message.str().find("schema 999"), std::string::npos);
      EXPECT_FALSE(e.diagnostic().hint.empty());
    }
}

TEST(Store, another_programs_database_is_left_alone) {
  TemporaryFolder folder;
  const std::string path = folder.file("other.db");
  {
    SQLite::Database db(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    db.exec("CREATE TABLE mine(x)");
  }
  EXPECT_THROW(open_store(path), InputError);
  SQLite::Database db(path);
  EXPECT_EQ(db.execAndGet("SELECT count(*) FROM sqlite_master").getInt(), 1);
}

TEST(Store, places_that_cannot_hold_a_database_are_input_errors) {
  TemporaryFolder folder;
  std::ofstream(folder.file("file")) << "x";
  for (const std::string& path :
       {folder.file("file/tune.db"), folder.file(""), std::string("/proc/tune.db")})
    try {
      open_store(path);
      ADD_FAILURE() << path;
    } catch (const InputError& e) {
      EXPECT_FALSE(e.diagnostic().hint.empty()) << path;
    }
  EXPECT_THROW(open_store(folder.file("absent.db"), OpenMode::kReadOnly), InputError);
}

TEST(Store, the_default_place_follows_the_environment) {
  EXPECT_EQ(default_store_path("/data", "/home/me"), "/data/exo-tune/tune.db");
  EXPECT_EQ(default_store_path("", "/home/me"), "/home/me/.local/share/exo-tune/tune.db");
  EXPECT_THROW(default_store_path("", ""), InputError);
}

TEST(ProofLevel, names_round_trip) {
  for (ProofLevel p :
       {ProofLevel::kProved, ProofLevel::kProvedModuloReassociation, ProofLevel::kTested})
    EXPECT_EQ(proof_level_from_name(proof_level_name(p)), p);
  EXPECT_THROW(proof_level_from_name("guessed"), InputError);
}

}  // namespace
}  // namespace exotune
