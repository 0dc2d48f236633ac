#pragma once
// StoredMemo: a memo that outlives the process, in one SQLite file. Start at StoredMemo.
//
// What was solved before is read when it is asked for, a Spec at a time, so that opening a large
// file costs nothing. The file carries an identity, a content hash of the target's text, the rules
// and the cost model: one of another identity is emptied, never read.
//
// Several processes may use one file: each reads it as it was when it last looked (in the
// constructor and after each save), and writes in one transaction. It is a cache: what one process
// cannot write, because another numbered kinds or layouts differently meanwhile, is solved again.
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

#include "search/dp/memo.h"

namespace exotune {

/// The identity of what a solver on this space and with this many plans would store.
std::string memo_identity(const DpMachine& machine, const DpRules& rules, int k);

class StoredMemo final : public SpecMemo {
 public:
  /// Opens or creates `path`. `kinds` and `layouts` must be empty but for their built-in entries:
  /// stored Specs count on the numbers they get here. InputError when the file cannot be used.
  StoredMemo(const std::string& path, const std::string& identity, SpecKinds& kinds,
             LayoutPool& layouts);
  ~StoredMemo() override;

  const MemoValue* find(const Spec&, const Limits&, int64_t bound, int k,
                        Limits* solved_at) override;
  const MemoValue* put(const Spec&, const Limits&, MemoValue) override;
  /// Of what this process has seen.
  MemoStatistics statistics() const override { return memo_.statistics(); }
  bool share(bool shared) override { return memo_.share(shared); }
  /// Specs that were found in the file and read.
  int64_t loaded() const { return loaded_; }
  /// Writes what is new, in one transaction. Not called by the destructor: an interrupted run that
  /// wants to keep what it solved says so.
  void save();

 private:
  struct File;
  void fetch(const Spec& spec);
  /// Runs `body`; what SQLite and the JSON reader throw leaves as an InputError.
  void guard(const std::function<void()>& body) const;
  /// Reads the names, and holds on to the file as it is now.
  void look();
  /// Gives kinds and layouts of the file the numbers they have there; false when that cannot be.
  bool adopt_names();
  void write_all();

  std::string path_, identity_;
  std::mutex mutex_;       // of what is not in memo_
  bool attached_ = false;  // our numbers and the file's mean the same
  bool empty_ = true;      // nothing of the file is to be read
  int64_t version_ = -1;   // of the file, when it was last looked at
  std::unique_ptr<File> file_;
  SpecKinds& kinds_;
  LayoutPool& layouts_;
  BoxMemo memo_;
  std::unordered_set<Spec, SpecHash> fetched_, changed_;
  int64_t loaded_ = 0;
};

}  // namespace exotune
