#include "search/device/device_plan.h"

#include <algorithm>

namespace exotune {

size_t DevicePlan::sums_begin() const {
  for (size_t k = 0; k < order.size(); ++k)
    if (reduces(order[k])) return k;
  return order.size();
}

int64_t DevicePlan::tile_of(size_t loop) const {
  for (size_t q = 0; q < mapping.loops.size(); ++q)
    if (mapping.loops[q] == loop) return mapping.tiles[q];
  return 1;
}

int64_t DevicePlan::tiles_along(size_t loop) const {
  return (sum->loops[loop].extent + tile_of(loop) - 1) / tile_of(loop);
}

int64_t DevicePlan::trips_of(size_t loop, LoopPart part) const {
  for (const PlanLoop& l : order)
    if (l.loop == loop && l.part == part) return l.trips;
  return 1;
}

int64_t DevicePlan::places_along(size_t loop) const {
  int64_t out = 1;
  for (const PlanLoop& l : order)
    if (l.loop == loop) out *= l.trips;
  return out;
}

size_t DevicePlan::along_rows() const {
  return mapping.loops[static_cast<size_t>(product->out.loops.back())];
}

std::optional<int64_t> DevicePlan::blocks_before_last(size_t loop) const {
  const int64_t block = trips_of(loop, LoopPart::kBlock);
  if (stores == Stores::kOneByOne || loop != along_rows() || block == 1) return std::nullopt;
  if (trips_of(loop, LoopPart::kPanel) > 1 || !(ragged(loop) || uneven(loop))) return std::nullopt;
  const int64_t whole = sum->loops[loop].extent / (tile_of(loop) * block);
  return whole > 0 ? std::optional<int64_t>(whole) : std::nullopt;
}

bool DevicePlan::steps_by_tile(const PlanLoop& l) const {
  return std::none_of(order.begin(), order.end(), [&](const PlanLoop& other) {
    return other.loop == l.loop && other.part > l.part;
  });
}

int64_t DevicePlan::tiles_of(const SumFactor& f, const PlanOperand& o) const {
  int64_t out = o.turns;
  for (size_t k = order.size() - o.kept; k + o.spanned < order.size(); ++k)
    if (concerns(f, order[k])) out *= order[k].trips;
  return out;
}

int64_t DevicePlan::result_tiles() const {
  int64_t out = 1;
  for (size_t k = sums_begin() - rotated; k < order.size(); ++k)
    if (!reduces(order[k])) out *= order[k].trips;
  return out;
}

const TileArgument& DevicePlan::argument_of(const SumFactor& f) const {
  return (&f == &sum->first) != mapping.swapped ? product->first : product->second;
}

std::string DevicePlan::text() const {
  std::string out = product->proc->name + ":";
  for (const PlanLoop& l : order)
    out += " " + sum->loops[l.loop].iter.name() +
           (l.part == LoopPart::kBlock   ? "b"
            : l.part == LoopPart::kPanel ? "p"
                                         : "") +
           std::to_string(l.trips);
  for (const auto& [name, o] : {std::pair("first", &first), std::pair("second", &second)})
    out += std::string("; ") + name + " " + std::to_string(o->kept) + (o->grouped ? "g" : "") +
           (o->turns > 1 ? "t" + std::to_string(o->turns) : "") +
           (o->spanned > 0 ? "s" + std::to_string(o->spanned) : "") + "f" +
           std::to_string(o->family);
  out += "; rotated " + std::to_string(rotated);
  if (loading == Loading::kInFront) out += "; loads in front";
  if (loading == Loading::kRunsAhead) out += "; loads ahead";
  if (zeros == Zeros::kByThemselves) out += "; zeros apart";
  if (stores == Stores::kOneByOne) out += "; stores one by one";
  return out;
}

}  // namespace exotune
