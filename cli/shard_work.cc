#include "cli/shard_work.h"

#include "search/families/member_shard.h"

namespace exotune::cli {

ShardWork shard_work(Workspace& workspace) {
  const auto members = std::make_shared<families::MemberWork>(
      [&workspace](const std::string& name) { return workspace.target(name); },
      workspace.machine());
  return [members](const Shard& shard, const std::string& wanted) -> ShardAnswer {
    if (shard.kind == families::kMemberKind) return (*members)(shard, wanted);
    throw InputError({}, "nothing here answers a shard of the kind '" + shard.kind + "'",
                     "is it of another version of exo-tune?");
  };
}

}  // namespace exotune::cli
