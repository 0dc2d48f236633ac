#pragma once
// Member shards: the tuning of one kernel as a question and an answer that another machine gives
// (executors/shard.h). Start at MemberWork and member_shard.
//
// The question holds the kernel's code and every schedule that is tried; the answer says which of
// them won and what was measured. A schedule that the question did not have is refused, so that
// what an answer can do is choose: whoever takes it still proves what was chosen.
#include <functional>
#include <map>
#include <memory>

#include "db/store.h"
#include "executors/executor.h"
#include "hw/machine.h"
#include "search/families/tuning.h"

namespace exotune::families {

inline constexpr const char* kMemberKind = "member";

Shard member_shard(const Tunable& tunable, const Target& target);

/// Answers member shards: a ShardWork. Keeps what a target needs from one to the next.
class MemberWork {
 public:
  using FindTarget = std::function<TargetPtr(const std::string& name)>;
  /// `store`: where each bucket's runs go as soon as they were made, and where those of an earlier
  /// attempt are; borrowed, null for none.
  MemberWork(FindTarget find_target, Machine machine, Store* store = nullptr);
  /// Error(kUnavailable) on a machine that was not wanted, has not the target's features or another
  /// version of its text; InputError for a question that is none.
  ShardAnswer operator()(const Shard& shard, const std::string& wanted);

 private:
  FindTarget find_target_;
  Machine machine_;
  Store* store_;
  std::map<std::string, std::shared_ptr<Arena>> arenas_;  // by target
};

struct MemberAnswer {
  TunedMember tuned;    // without trials
  std::string records;  // the trials, as JSON lines that a Store imports
};

/// InputError, naming `member`, for an answer that is damaged or to another question.
MemberAnswer read_member_answer(const std::string& output, const Tunable& tunable);

/// Enters the records of an answer. A database that takes none is no fault of theirs: its error is
/// an Error and no InputError, so that they are not measured again.
void keep_records(Store& store, const std::string& records, const std::string& name);

/// Runs `tell`, which keeps the records of several answers, in one transaction (Store::together);
/// errors as keep_records'.
void keep_together(Store& store, const std::function<void()>& tell);

}  // namespace exotune::families
