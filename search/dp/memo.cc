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

// A solution that was found under some limits stands for all limits between what it takes at its
// peak and those: with less room nothing cheaper can appear, and it still fits. So an answer is a
// box of limits. Boxes of the same answer are joined only where their union is a box again; its
// hull would answer for limits under which nobody looked, and another plan might be the best.
//
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

// Linear probing in a table of powers of two, four bytes of hash beside each entry's number: a
// probe that misses reads eight bytes and no Spec.
const BoxMemo::Entry* BoxMemo::Part::entry(const Spec& spec, size_t hash) const {
  if (slots.empty()) return nullptr;
  const auto tag = static_cast<uint32_t>(hash >> 32);
  for (size_t at = hash;; ++at) {
    const Slot slot = slots[at & (slots.size() - 1)];
    if (slot.entry == 0) return nullptr;
    if (slot.tag == tag && entries[slot.entry - 1].spec == spec) return &entries[slot.entry - 1];
  }
}

// Doubles when half full; entries live in a deque, so that pointers to them stay valid.
BoxMemo::Entry& BoxMemo::Part::entry_for(const Spec& spec, size_t hash) {
  if (const Entry* known = entry(spec, hash)) return const_cast<Entry&>(*known);
  entries.push_back({spec, {}});
  const auto place = [&](uint32_t number, size_t at) {
    const auto tag = static_cast<uint32_t>(at >> 32);
    while (slots[at & (slots.size() - 1)].entry != 0) ++at;
    slots[at & (slots.size() - 1)] = {number, tag};
  };
  if (entries.size() * 2 > slots.size()) {
    slots.assign(std::max<size_t>(64, slots.size() * 2), {});
    for (uint32_t number = 1; number <= entries.size(); ++number)
      place(number, SpecHash()(entries[number - 1].spec));
  } else {
    place(static_cast<uint32_t>(entries.size()), hash);
  }
  return entries.back();
}

// Most Specs of a family have one of few values (the same plan, the same cost): stored once.
const MemoValue* BoxMemo::Part::intern(MemoValue value) {
  const uint64_t h = hash_of(value);
  const auto [from, to] = interned.equal_range(h);
  for (auto it = from; it != to; ++it)
    if (*it->second == value) return it->second;
  value.best.shrink_to_fit();
  values.push_back(std::make_unique<MemoValue>(std::move(value)));
  interned.emplace(h, values.back().get());
  return values.back().get();
}

// A box may cover the limits and still not answer: it was solved to a lower bound, or for fewer
// plans.
const MemoValue* BoxMemo::find(const Spec& spec, const Limits& limits, int64_t bound, int k,
                               Limits* solved_at) {
  const size_t hash = SpecHash()(spec);
  Part& part = this->part(hash);
  const auto held = lock(part);
  ++part.lookups;
  const Entry* known = part.entry(spec, hash);
  if (!known) return nullptr;
  for (const Box& box : known->boxes) {
    if (!inside(box.low, box.high, limits) || !box.value->answers(bound, k)) continue;
    ++part.hits;
    if (solved_at) *solved_at = box.high;
    return box.value;
  }
  return nullptr;
}

const MemoValue* BoxMemo::put(const Spec& spec, const Limits& limits, MemoValue value) {
  const size_t hash = SpecHash()(spec);
  Part& part = this->part(hash);
  const auto held = lock(part);
  // Below the greatest peak of any of the k the last of them would not fit, and others would come
  // in its place.
  Box box;
  box.high = limits;
  for (const Alternative& a : value.best)
    for (int i = 0; i < kMaxLevels; ++i)
      box.low.codes[i] = std::max(box.low.codes[i], a.cost.peak.codes[i]);
  box.value = part.intern(std::move(value));
  part.add(spec, hash, box);
  return box.value;
}

// Keeps the boxes of a Spec few: what the new one covers and knows better goes, and two that make
// up a box become one, again and again until none do.
void BoxMemo::Part::add(const Spec& spec, size_t hash, Box box) {
  std::vector<Box>& boxes = entry_for(spec, hash).boxes;
  // What the new box covers and knows better goes.
  std::erase_if(boxes, [&](const Box& old) {
    return inside(box.low, box.high, old.low) && inside(box.low, box.high, old.high) &&
           (old.value == box.value || old.value->complete_to <= box.value->complete_to);
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
  const size_t hash = SpecHash()(spec);
  Part& part = this->part(hash);
  const auto held = lock(part);
  const MemoValue* kept = part.intern(std::move(value));
  part.entry_for(spec, hash).boxes.push_back({low, high, kept});
}

const std::vector<BoxMemo::Box>* BoxMemo::boxes(const Spec& spec) const {
  const size_t hash = SpecHash()(spec);
  const Entry* known = part(hash).entry(spec, hash);
  return known ? &known->boxes : nullptr;
}

void BoxMemo::visit(const std::function<void(const Spec&, const Box&, const MemoValue&)>& f) const {
  for (const Part& part : parts_)
    for (const auto& [spec, boxes] : part.entries)
      for (const Box& box : boxes) f(spec, box, *box.value);
}

MemoStatistics BoxMemo::statistics() const {
  MemoStatistics s;
  for (const Part& part : parts_) {
    s.specs += static_cast<int64_t>(part.entries.size());
    s.values += static_cast<int64_t>(part.values.size());
    s.lookups += part.lookups;
    s.hits += part.hits;
  }
  visit([&](const Spec&, const Box& box, const MemoValue& value) {
    ++s.boxes;
    s.infeasible += value.infeasible();
    double points = 1;
    for (int i = 0; i < kMaxLevels; ++i) points *= box.high.codes[i] - box.low.codes[i] + 1;
    s.points += points;
  });
  return s;
}

}  // namespace exotune
