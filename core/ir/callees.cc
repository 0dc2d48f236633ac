#include "core/ir/callees.h"

#include <set>

namespace exotune {
namespace {

void collect(const Proc& p, std::set<const Proc*>& seen, std::vector<ProcPtr>& out) {
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    const Call* c = s->as<Call>();
    if (!c || !seen.insert(c->callee.get()).second) return;
    collect(*c->callee, seen, out);
    out.push_back(c->callee);
  });
}

}  // namespace

std::vector<ProcPtr> procs_called(const Proc& p) {
  std::set<const Proc*> seen;
  std::vector<ProcPtr> out;
  collect(p, seen, out);
  return out;
}

}  // namespace exotune
