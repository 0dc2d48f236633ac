#pragma once
// Records and files for the tests of the store.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "db/store.h"

namespace exotune::samples {

inline TrialKey key(const std::string& fingerprint = "f1",
                    const std::string& compiler = "gcc 12 -O3") {
  return {"0123456789abcdef0123456789abcdef", "K=64,M=6,N=64", "avx512", fingerprint, compiler};
}

inline TrialRecord trial(const std::string& candidate, double seconds, const TrialKey& k = key()) {
  TrialRecord t;
  t.key = k;
  t.candidate_id = candidate;
  t.status = "ok";
  t.script = "p = sgemm\np = divide_loop(p, 'i', 6, ['io', 'ii'])\n";
  t.samples = {seconds * 1.1, seconds, seconds * 0.9};
  t.engine_version = "0.1.0";
  t.created = 1000;
  return t;
}

inline TrialRecord failed(const std::string& candidate, int64_t created = 1000) {
  TrialRecord t = trial(candidate, 1);
  t.status = "crash";
  t.cause = "SIGILL (illegal instruction)";
  t.samples.clear();
  t.created = created;
  return t;
}

/// A folder that is removed in the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "exo-tune-db-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Trials of one kernel on two machines, ok and not, in `store`.
inline void fill(Store& store, int count = 60) {
  store.put_machine({"f1", "znver5", "avx512", "{}"});
  store.put_kernel(key().kernel_hash, "sgemm");
  for (int k = 0; k < count; ++k) {
    store.put_trial(trial("c" + std::to_string(k), 1 + k % 7, key(k % 2 ? "f1" : "f2")));
    store.put_trial(failed("x" + std::to_string(k), k));
  }
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A small export, and a small database file.
inline std::string sample_export() {
  const auto store = make_memory_store();
  fill(*store, 2);
  std::ostringstream out;
  store->export_json_lines(out);
  return out.str();
}
inline std::string sample_file() {
  const TemporaryFolder folder;
  fill(*open_store(folder.file("tune.db")), 2);
  return bytes_of(folder.file("tune.db"));
}

}  // namespace exotune::samples
