#include "cli/target_code.h"

#include <algorithm>

#include "core/base/words.h"
#include "core/ir/callees.h"

namespace exotune::cli {
namespace {

bool has_memory_of_a_target(const Proc& p) {
  bool has = false;
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    const Alloc* a = s->as<Alloc>();
    has = has ||
          (a && a->mem && a->mem != dram() && a->mem != dram_stack() && a->mem != dram_static());
  });
  return has;
}

bool uses_target(const Proc& p) {
  const std::vector<ProcPtr> called = procs_called(p);
  return has_memory_of_a_target(p) ||
         std::any_of(called.begin(), called.end(), [](const ProcPtr& callee) {
           return callee->instr || has_memory_of_a_target(*callee);
         });
}

}  // namespace

CodegenOptions code_for(const std::vector<TargetPtr>& targets, const std::vector<ProcPtr>& procs,
                        bool measured) {
  CodegenOptions code;
  for (const TargetPtr& target : targets)
    code.headers.insert(code.headers.end(), target->compiler.headers.begin(),
                        target->compiler.headers.end());
  bool uses = measured;
  for (const ProcPtr& p : procs) uses = uses || uses_target(*p);
  if (!uses || targets.empty()) return code;
  code.build = "cc " + joined(targets.front()->compiler.flags, " ");
  code.cpu = joined(targets.front()->required_features, ", ");
  return code;
}

}  // namespace exotune::cli
