#include "search/moves/loop_order.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace exotune {

Path down(Path path, int levels) {
  for (int k = 0; k < levels; ++k) path.push_back({Child::kBody, 0});
  return path;
}

namespace {

// Loops `at` and `at + 1` change places; false: they may not.
bool swap_at(LoopOrder& o, const Path& band, int at) {
  // A triangle may have become something else than a band.
  if (band_depth(*o.schedule.proc, band) < at + 2) return false;
  if (apply(o.schedule, "reorder_loops", {Value(Cursor::stmt(o.schedule.proc, down(band, at)))}))
    return false;
  std::swap(o.order[static_cast<size_t>(at)], o.order[static_cast<size_t>(at) + 1]);
  return true;
}

}  // namespace

int band_depth(const Proc& p, const Path& band) {
  StmtPtr s = stmt_at(p, band);
  int depth = 0;
  while (s && s->as<For>()) {
    ++depth;
    s = body_of(*s).size() == 1 ? body_of(*s).front() : nullptr;
  }
  return depth;
}

std::optional<LoopOrder> with_innermost(const LoopOrder& o, const Path& band,
                                        const std::vector<std::string>& loops) {
  LoopOrder out = o;
  std::vector<int> rank;  // of each loop of the band: its place among `loops`, before them all -1
  int found = 0;
  for (int at = 0; at < static_cast<int>(o.order.size()); ++at) {
    const For& f = *stmt_at(*o.schedule.proc, down(band, at))->as<For>();
    const auto it = std::find(loops.begin(), loops.end(), f.iter.name());
    rank.push_back(it == loops.end() ? -1 : static_cast<int>(it - loops.begin()));
    found += it != loops.end();
  }
  if (found < static_cast<int>(loops.size())) return std::nullopt;
  // Neighbours that stand wrongly change places until none does: the fewest swaps.
  for (size_t sorted = 0; sorted + 1 < rank.size();) {
    if (rank[sorted] <= rank[sorted + 1]) {
      ++sorted;
      continue;
    }
    if (!swap_at(out, band, static_cast<int>(sorted))) return std::nullopt;
    std::swap(rank[sorted], rank[sorted + 1]);
    sorted = 0;
  }
  return out;
}

std::vector<LoopOrder> loop_orders(const Schedule& s, const Path& band, int most_loops) {
  const int depth = band_depth(*s.proc, band);
  LoopOrder first{s, std::vector<int>(static_cast<size_t>(depth))};
  std::iota(first.order.begin(), first.order.end(), 0);
  std::vector<LoopOrder> out = {first};
  if (depth < 2) return out;
  std::set<std::vector<int>> seen = {first.order};
  if (depth > most_loops) {
    for (int k = depth - 2; k >= 0; --k) {
      LoopOrder next = first;
      bool ok = true;
      for (int at = k; ok && at + 1 < depth; ++at) ok = swap_at(next, band, at);
      if (ok && seen.insert(next.order).second) out.push_back(std::move(next));
    }
    return out;
  }
  for (size_t k = 0; k < out.size(); ++k)
    for (int at = 0; at + 1 < depth; ++at) {
      std::vector<int> wanted = out[k].order;
      std::swap(wanted[static_cast<size_t>(at)], wanted[static_cast<size_t>(at) + 1]);
      if (seen.count(wanted)) continue;
      LoopOrder next = out[k];
      if (!swap_at(next, band, at)) continue;
      seen.insert(wanted);
      out.push_back(std::move(next));
    }
  return out;
}

}  // namespace exotune
