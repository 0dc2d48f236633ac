#include "cli/shard_work.h"

#include "cli/command_shard.h"
#include "search/families/member_shard.h"

namespace exotune::cli {

ShardWork shard_work(Workspace& workspace, const SharedFolder* folder, Store* store) {
  const auto members = std::make_shared<families::MemberWork>(
      [&workspace](const std::string& name) { return workspace.target(name); }, workspace.machine(),
      store);
  return
      [members, &workspace, folder](const Shard& shard, const std::string& wanted) -> ShardAnswer {
        if (shard.kind == families::kMemberKind) return (*members)(shard, wanted);
        if (shard.kind == kCommandKind) return answer_command(shard, wanted, workspace, folder);
        throw InputError({}, "nothing here answers a shard of the kind '" + shard.kind + "'",
                         "is it of another version of exo-tune?");
      };
}

}  // namespace exotune::cli
