#pragma once
// Command shards: one run of `kernel` or `calibrate` as a question that another machine answers.
// Start at CommandQuestion.
//
// The worker starts this command again, with a database and a folder of its own, and hands back
// what they hold afterwards. The coordinator enters the records and proves every schedule anew.
#include <map>
#include <string>
#include <vector>

#include "cli/workspace.h"
#include "executors/executor.h"
#include "executors/shared_folder.h"

namespace exotune::cli {

inline constexpr const char* kCommandKind = "command";

struct CommandQuestion {
  std::string name;                          // for people
  std::vector<std::string> arguments;        // "kernel", "sgemm", "--trials=8", ...
  std::map<std::string, std::string> files;  // that they name, by plain name
  std::string target, target_hash;           // of the text that the answer is for
  std::string kernel_hash;                   // of what is asked about; "" for no one kernel
  std::vector<std::string> after;            // hashes of shards whose records it begins with
  std::string asked;  // any text that makes the question another one; "" to take any answer
};
Shard command_shard(const CommandQuestion& question);

/// Answers one; `folder` has the answers of the shards it comes after. Error(kUnavailable) as for
/// every ShardWork, and when the command fails for a reason that another node may not have.
ShardAnswer answer_command(const Shard& shard, const std::string& wanted, Workspace& workspace,
                           const SharedFolder* folder);

struct CommandAnswer {
  int exit_status = 0;                       // 0, 3 or 4
  std::string out;                           // what it printed; without control characters
  std::map<std::string, std::string> files;  // that it wrote: "result.json", "result.sched"
  std::string records;                       // its database, as JSON lines
};
/// InputError, naming the shard, for an answer that is damaged.
CommandAnswer read_command_answer(const std::string& output, const std::string& name);

/// The stem of the files that a kernel shard's answer has.
inline constexpr const char* kAnswerStem = "result";

/// The target for a request: as the user typed it, but a folder by its whole path, which the nodes
/// see at the same place; where none was typed, the one this machine chose.
std::string target_elsewhere(const std::string& typed, const Target& chosen);

}  // namespace exotune::cli
