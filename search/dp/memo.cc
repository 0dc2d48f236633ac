#include "search/dp/memo.h"

#include <algorithm>
#include <cstdio>

#include "core/base/hashing.h"

namespace exotune {

std::string str(const MemoStatistics& s) {
  char text[240];
  std::snprintf(
      text, sizeof text,
      "%lld Specs, %lld boxes, %.1f Specs with limits a box, %lld distinct values, %.1f %% of "
      "boxes "
      "infeasible, %.1f %% of %lld lookups hit",
      static_cast<long long>(s.specs), static_cast<long long>(s.boxes),
      s.boxes ? s.points / static_cast<double>(s.boxes) : 0.0, static_cast<long long>(s.values),
      s.boxes ? 100.0 * static_cast<double>(s.infeasible) / static_cast<double>(s.boxes) : 0.0,
      s.lookups ? 100.0 * static_cast<double>(s.hits) / static_cast<double>(s.lookups) : 0.0,
      static_cast<long long>(s.lookups));
  return text;
}

size_t PointMemo::Hash::operator()(const Point& p) const {
  uint64_t h = SpecHash()(p.spec);
  for (const uint8_t c : p.limits.codes) h = h * 131 + c;
  return hash_mix(h);
}

const MemoValue* PointMemo::find(const Spec& spec, const Limits& limits, int64_t bound, int k,
                                 Limits* solved_at) {
  ++lookups_;
  const auto it = points_.find({spec, limits});
  if (it == points_.end() || !it->second->answers(bound, k)) return nullptr;
  ++hits_;
  if (solved_at) *solved_at = limits;
  return it->second;
}

const MemoValue* PointMemo::put(const Spec& spec, const Limits& limits, MemoValue value) {
  values_.push_back(std::make_unique<MemoValue>(std::move(value)));
  return points_[{spec, limits}] = values_.back().get();
}

MemoStatistics PointMemo::statistics() const {
  MemoStatistics s;
  s.specs = s.boxes = s.values = static_cast<int64_t>(points_.size());
  s.points = static_cast<double>(points_.size());
  for (const auto& [point, value] : points_) s.infeasible += value->infeasible();
  s.lookups = lookups_;
  s.hits = hits_;
  return s;
}

namespace {

bool inside(const Limits& low, const Limits& high, const Limits& at) {
  return low.fits(at) && at.fits(high);
}

// The union of two boxes when it is one: equal but along one level, and touching there.
bool join(BoxMemo::Box& into, const BoxMemo::Box& other) {
  int differs = -1;
  for (int i = 0; i < kMaxLevels; ++i) {
    if (into.low.codes[i] == other.low.codes[i] && into.high.codes[i] == other.high.codes[i])
      continue;
    if (differs >= 0) return false;
    differs = i;
  }
  if (differs < 0) return true;
  if (into.low.codes[differs] > other.high.codes[differs] + 1 ||
      other.low.codes[differs] > into.high.codes[differs] + 1)
    return false;
  into.low.codes[differs] = std::min(into.low.codes[differs], other.low.codes[differs]);
  into.high.codes[differs] = std::max(into.high.codes[differs], other.high.codes[differs]);
  return true;
}

uint64_t hash_of(const MemoValue& v) {
  uint64_t h = hash_mix(static_cast<uint64_t>(v.complete_to));
  for (const Alternative& a : v.best) {
    h = hash_combine(h, static_cast<uint64_t>(a.cost.units));
    h = hash_combine(
        h, a.action.size + (uint64_t{a.action.index} << 32) + (uint64_t(a.action.kind) << 40));
    h = hash_combine(h, a.action.to.layout + (uint64_t{a.action.to.level} << 16));
  }
  return h;
}

}  // namespace

const BoxMemo::Entry* BoxMemo::entry(const Spec& spec) const {
  if (slots_.empty()) return nullptr;
  for (size_t at = SpecHash()(spec);; ++at) {
    const uint32_t slot = slots_[at & (slots_.size() - 1)];
    if (slot == 0) return nullptr;
    if (entries_[slot - 1].spec == spec) return &entries_[slot - 1];
  }
}

BoxMemo::Entry& BoxMemo::entry_for(const Spec& spec) {
  if (const Entry* known = entry(spec)) return const_cast<Entry&>(*known);
  entries_.push_back({spec, {}});
  const auto place = [&](uint32_t number) {
    size_t at = SpecHash()(entries_[number - 1].spec);
    while (slots_[at & (slots_.size() - 1)] != 0) ++at;
    slots_[at & (slots_.size() - 1)] = number;
  };
  if (entries_.size() * 2 > slots_.size()) {
    slots_.assign(std::max<size_t>(1024, slots_.size() * 2), 0);
    for (uint32_t number = 1; number <= entries_.size(); ++number) place(number);
  } else {
    place(static_cast<uint32_t>(entries_.size()));
  }
  return entries_.back();
}

uint32_t BoxMemo::intern(MemoValue value) {
  const uint64_t h = hash_of(value);
  const auto [from, to] = interned_.equal_range(h);
  for (auto it = from; it != to; ++it)
    if (*values_[it->second] == value) return it->second;
  value.best.shrink_to_fit();
  values_.push_back(std::make_unique<MemoValue>(std::move(value)));
  interned_.emplace(h, static_cast<uint32_t>(values_.size() - 1));
  return static_cast<uint32_t>(values_.size() - 1);
}

const MemoValue* BoxMemo::find(const Spec& spec, const Limits& limits, int64_t bound, int k,
                               Limits* solved_at) {
  ++lookups_;
  const Entry* known = entry(spec);
  if (!known) return nullptr;
  for (const Box& box : known->boxes) {
    if (!inside(box.low, box.high, limits)) continue;
    const MemoValue& value = *values_[box.value];
    if (!value.answers(bound, k)) continue;
    ++hits_;
    if (solved_at) *solved_at = box.high;
    return &value;
  }
  return nullptr;
}

const MemoValue* BoxMemo::put(const Spec& spec, const Limits& limits, MemoValue value) {
  Box box;
  box.high = limits;
  for (const Alternative& a : value.best)
    for (int i = 0; i < kMaxLevels; ++i)
      box.low.codes[i] = std::max(box.low.codes[i], a.cost.peak.codes[i]);
  box.value = intern(std::move(value));
  add(spec, box);
  return values_[box.value].get();
}

void BoxMemo::add(const Spec& spec, Box box) {
  std::vector<Box>& boxes = entry_for(spec).boxes;
  // What the new box covers and knows better goes.
  const MemoValue& value = *values_[box.value];
  std::erase_if(boxes, [&](const Box& old) {
    return inside(box.low, box.high, old.low) && inside(box.low, box.high, old.high) &&
           (old.value == box.value || values_[old.value]->complete_to <= value.complete_to);
  });
  for (bool joined = true; joined;) {
    joined = false;
    for (size_t i = 0; i < boxes.size(); ++i)
      if (boxes[i].value == box.value && join(box, boxes[i])) {
        boxes.erase(boxes.begin() + static_cast<long>(i));
        joined = true;
        break;
      }
  }
  boxes.push_back(box);
}

void BoxMemo::restore(const Spec& spec, const Limits& low, const Limits& high, MemoValue value) {
  const uint32_t number = intern(std::move(value));
  entry_for(spec).boxes.push_back({low, high, number});
}

const std::vector<BoxMemo::Box>* BoxMemo::boxes(const Spec& spec) const {
  const Entry* known = entry(spec);
  return known ? &known->boxes : nullptr;
}

void BoxMemo::visit(const std::function<void(const Spec&, const Box&, const MemoValue&)>& f) const {
  for (const auto& [spec, boxes] : entries_)
    for (const Box& box : boxes) f(spec, box, *values_[box.value]);
}

MemoStatistics BoxMemo::statistics() const {
  MemoStatistics s;
  s.specs = static_cast<int64_t>(entries_.size());
  s.values = static_cast<int64_t>(values_.size());
  for (const auto& [spec, boxes] : entries_) {
    s.boxes += static_cast<int64_t>(boxes.size());
    for (const Box& box : boxes) {
      s.infeasible += values_[box.value]->infeasible();
      double points = 1;
      for (int i = 0; i < kMaxLevels; ++i) points *= box.high.codes[i] - box.low.codes[i] + 1;
      s.points += points;
    }
  }
  s.lookups = lookups_;
  s.hits = hits_;
  return s;
}

}  // namespace exotune
