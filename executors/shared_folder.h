#pragma once
// SharedFolder: the files through which a coordinator and its workers speak, on a file system that
// all of them see. Start at SharedFolder.
//
//   exo-tune-cluster             says that this is one (an unmounted folder is empty)
//   requests/HASH.json           a question
//   results/MACHINE/HASH.json    its answer, under the fingerprint of the machine that gave it
//   failures/HASH.JOB.json       why an attempt gave none
//   jobs/JOB.json                what was submitted together; JOB is a word we made
//   logs/                        what workers print
//
// Every file appears whole, by a rename or a link, and never changes but for jobs/. Nothing in them
// is run, and no name of a file is taken from the contents of another.
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "executors/shard.h"

namespace exotune {

/// What was, or is to be, submitted as one array of tasks.
struct SubmittedJob {
  std::string name;                             // "20261122T101500-4711-0"
  std::string id;                               // the cluster's; "" while it is not known
  std::string machine;                          // fingerprint that workers must have; "" for any
  std::vector<std::vector<std::string>> tasks;  // hashes of shards, by place in the array
};

/// Each function throws Error(kUnavailable) when the folder is gone or cannot be written.
class SharedFolder {
 public:
  /// Makes it where there is none; with `make` false, refuses.
  explicit SharedFolder(std::filesystem::path root, bool make = true);

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path log_folder() const { return root_ / "logs"; }
  /// Refuses when it is no longer there.
  void require() const;

  void put_request(const Shard& shard) const;
  /// InputError when it is not there or cannot be used.
  Shard request(const std::string& hash) const;

  /// False when the same question was answered before on the same machine; that answer stays.
  bool publish(const ShardResult& result) const;
  /// Hashes of the answers by `machine` ("" for any). One reading of a directory each.
  std::set<std::string> answered(const std::string& machine) const;
  /// Nothing when there is none; InputError when it cannot be used.
  std::optional<ShardResult> result(const std::string& machine, const std::string& hash) const;
  /// Takes an answer that cannot be used out of the way; it is kept beside, for people.
  void put_aside(const std::string& machine, const std::string& hash) const;

  void publish(const ShardFailure& failure, const std::string& hash, const std::string& job) const;
  /// Nothing when there is none or it cannot be read.
  std::optional<ShardFailure> failure(const std::string& hash, const std::string& job) const;

  void put_job(const SubmittedJob& job) const;
  void remove_job(const std::string& name) const;
  /// By name; those that cannot be used are left out.
  std::vector<SubmittedJob> jobs() const;
  /// InputError when it is not there or cannot be used.
  SubmittedJob job(const std::string& name) const;

 private:
  std::filesystem::path result_file(const std::string& machine, const std::string& hash) const;
  std::vector<std::string> machines(const std::string& machine) const;
  void write(const std::filesystem::path& file, const std::string& text) const;
  std::string read(const std::filesystem::path& file) const;
  [[noreturn]] void lost(const std::string& what, const std::error_code& why) const;

  std::filesystem::path root_;
};

}  // namespace exotune
