#include "search/turns.h"

#include <algorithm>
#include <iterator>

#include "core/ir/stmt.h"

namespace exotune {

bool uses_vectors(const Proc& p) {
  bool found = false;
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    const Alloc* a = s->as<Alloc>();
    if (a == nullptr || !a->mem) return;
    const MemoryKind kind = a->mem->kind;
    found = found || kind == MemoryKind::kVector || kind == MemoryKind::kRegisterFile ||
            kind == MemoryKind::kScratchpad;
  });
  return found;
}

std::vector<BeamState> in_turns(std::vector<Family> families) {
  Family plain;
  size_t all = 0, vectors = 0;
  for (const Family& f : families) {
    all += f.states.size();
    for (const BeamState& s : f.states) vectors += uses_vectors(*s.proc);
  }
  if (vectors > 0 && vectors < all)
    for (Family& f : families) {
      const auto first =
          std::stable_partition(f.states.begin(), f.states.end(),
                                [](const BeamState& s) { return uses_vectors(*s.proc); });
      std::move(first, f.states.end(), std::back_inserter(plain.states));
      f.states.erase(first, f.states.end());
    }
  std::vector<BeamState> out;
  std::vector<size_t> next(families.size(), 0);
  size_t next_plain = 0;
  while (out.size() < all) {
    for (size_t f = 0; f < families.size(); ++f)
      for (size_t n = 0; n < families[f].at_once && next[f] < families[f].states.size(); ++n) {
        out.push_back(std::move(families[f].states[next[f]++]));
        if (out.size() % (kVectorsFirst + 1) == kVectorsFirst && next_plain < plain.states.size())
          out.push_back(std::move(plain.states[next_plain++]));
      }
    if (out.size() + plain.states.size() - next_plain == all)
      while (next_plain < plain.states.size()) out.push_back(std::move(plain.states[next_plain++]));
  }
  return out;
}

}  // namespace exotune
