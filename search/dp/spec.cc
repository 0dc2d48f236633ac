#include "search/dp/spec.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/base/hashing.h"

namespace exotune {
// What a Spec's loops are to each other, worked out from subscripts alone. These are the
// definitions that the restrictions, the register tiles and the moves' names rest on, so they are
// here once.

bool OperandKind::has_halo() const {
  return std::any_of(subscripts.begin(), subscripts.end(),
                     [](const Subscript& s) { return s.size() > 1; });
}

bool SpecKind::sums() const {
  return std::find(reduction.begin(), reduction.end(), true) != reduction.end();
}

namespace {

bool mentions(const OperandKind& operand, int loop) {
  for (const Subscript& s : operand.subscripts)
    for (const SubscriptTerm& t : s)
      if (t.dim == loop) return true;
  return false;
}

}  // namespace

// The loop whose neighbouring iterations write neighbouring elements: the last subscript of the
// output.
int SpecKind::vector_loop() const {
  const std::vector<Subscript>& out = operands.back().subscripts;
  if (out.empty() || out.back().size() != 1 || out.back()[0].coefficient != 1) return -1;
  return out.back()[0].dim;
}

// Why not simply the innermost other loop: in a convolution the innermost may be a tap's neighbour,
// along which no input's vectors are reused.
int SpecKind::row_loop() const {
  const int vector = vector_loop();
  int row = -1;
  bool serves = false;
  for (int d = 0; d < dims(); ++d) {
    if (reduction[d] || d == vector) continue;
    const bool here = vector >= 0 &&
                      std::any_of(operands.begin(), operands.end() - 1, [&](const OperandKind& in) {
                        return mentions(in, vector) && !mentions(in, d);
                      });
    if (here || !serves) row = d;
    serves = serves || here;
  }
  return row;
}

bool SpecKind::is_tap(int loop) const {
  if (!reduction[loop]) return false;
  for (const OperandKind& operand : operands)
    for (const Subscript& s : operand.subscripts)
      if (s.size() > 1 &&
          std::any_of(s.begin(), s.end(), [&](const SubscriptTerm& t) { return t.dim == loop; }))
        return true;
  return false;
}

bool SpecKind::has_taps() const {
  for (int d = 0; d < dims(); ++d)
    if (is_tap(d)) return true;
  return false;
}

int SpecKind::turned(int input) const {
  const int along = vector_loop();
  const std::vector<Subscript>& subscripts = operands[static_cast<size_t>(input)].subscripts;
  if (along < 0 || input == output() || output() != 2 ||
      std::count(reduction.begin(), reduction.end(), true) != 1)
    return -1;
  std::vector<bool> moves(reduction.size());
  int found = -1;
  for (size_t d = 0; d < subscripts.size(); ++d) {
    if (subscripts[d].size() != 1 || subscripts[d][0].coefficient != 1) return -1;
    moves[subscripts[d][0].dim] = true;
    if (subscripts[d][0].dim == along) found = static_cast<int>(d);
  }
  bool again = false;
  for (int d = 0; d < dims(); ++d) again |= !reduction[d] && !moves[d];
  return again && found + 1 < static_cast<int>(subscripts.size()) ? found : -1;
}

bool SpecKind::is_elementwise() const {
  for (const OperandKind& operand : operands) {
    if (operand.subscripts.size() != reduction.size()) return false;
    for (size_t d = 0; d < reduction.size(); ++d)
      if (operand.subscripts[d] != Subscript{{static_cast<uint8_t>(d), 1}}) return false;
  }
  return true;
}

// All bytes, since unused ones are zero.
size_t SpecHash::operator()(const Spec& s) const {
  static_assert(sizeof(Spec) % 8 == 0);
  uint64_t words[sizeof(Spec) / 8];
  std::memcpy(words, &s, sizeof s);
  uint64_t h = 0;
  for (const uint64_t w : words) h = (h ^ w) * 0x9E3779B97F4A7C15ull ^ (h >> 29);
  return hash_mix(h);
}

// Under a lock, but for reading: other threads look kinds up by number while one is added.
int SpecKinds::id(const SpecKind& kind) {
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < size_; ++i)
    if (*kinds_[i] == kind) return i;
  EXO_CHECK(kind.dims() <= kMaxDims && kind.operands.size() <= kMaxOperands);
  EXO_CHECK(size_ < kMostKinds);
  kinds_[size_] = std::make_unique<const SpecKind>(kind);
  return size_++;
}

namespace {

OperandKind identity(int rank, ScalarType type) {
  OperandKind out{type, {}};
  for (int d = 0; d < rank; ++d) out.subscripts.push_back({{static_cast<uint8_t>(d), 1}});
  return out;
}

}  // namespace

// Moves are asked for with every expansion: cached by rank and type.
int SpecKinds::move(int rank, ScalarType type) {
  std::atomic<int>& known = moves_[rank][static_cast<int>(type)];
  if (const int number = known; number > 0) return number - 1;
  const OperandKind all = identity(rank, type);
  known = 1 + id({"= $0", false, std::vector<bool>(rank, false), {all, all}, {{0}}, ""});
  return known - 1;
}

int SpecKinds::fill(int rank, ScalarType type, const std::string& value) {
  return id(
      {"= " + value, false, std::vector<bool>(rank, false), {identity(rank, type)}, {{}}, ""});
}

int SpecKinds::initializing(int accumulating) {
  SpecKind kind = at(accumulating);
  EXO_CHECK(kind.accumulates);
  kind.accumulates = false;
  kind.statement = "init " + kind.statement;
  return id(kind);
}

int SpecKinds::accumulating(int initializing) {
  SpecKind kind = at(initializing);
  EXO_CHECK(!kind.accumulates && kind.statement.starts_with("init "));
  kind.accumulates = true;
  kind.statement = kind.statement.substr(5);
  return id(kind);
}

int64_t OperandShape::volume() const {
  int64_t out = 1;
  for (int d = 0; d < rank; ++d) out *= extents[d];
  return out;
}

// A sum of loops covers one element less than the sum of their extents: 0..(h-1) + 0..(r-1).
OperandShape operand_shape(const OperandKind& operand, const uint32_t* extents) {
  OperandShape out;
  out.rank = static_cast<int>(operand.subscripts.size());
  for (int d = 0; d < out.rank; ++d) {
    uint32_t extent = 1;
    for (const SubscriptTerm& t : operand.subscripts[d])
      extent += t.coefficient * (extents[t.dim] - 1);
    out.extents[d] = extent;
  }
  return out;
}

std::string str(const Spec& spec, const SpecKinds& kinds, const LayoutPool& layouts,
                const std::vector<std::string>& level_names) {
  const SpecKind& kind = kinds.at(spec.kind);
  std::string text = kind.statement + " (";
  for (int d = 0; d < kind.dims(); ++d) text += (d ? "x" : "") + std::to_string(spec.extents[d]);
  text += ")";
  for (size_t i = 0; i < kind.operands.size(); ++i) {
    const OperandState& o = spec.operands[i];
    text += " " + level_names[o.level] + layouts.at(o.layout).str();
    if (o.vector) text += "v" + std::to_string(o.vector);
  }
  if (spec.threads == Threads::kMayStart) text += " parallel";
  return text;
}

}  // namespace exotune
