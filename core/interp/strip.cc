// Strips: a loop whose body is straight-line stores with linear addresses runs a chunk of
// iterations operation by operation, so that dispatch is paid once a chunk. Everything that could
// make the order visible (overlap between what one iteration stores and another touches) or needs a
// message (bounds, poison) goes back to the plain nodes, which stay the definition.
#include <algorithm>

#include "core/interp/machine.h"

namespace exotune::interp {

int StripBuilder::add(Strip::Op op) {
  line.ops.push_back(op);
  return static_cast<int>(line.ops.size()) - 1;
}

int StripBuilder::add_access(const Access& a) {
  if (!a.addr.is_lin()) return -1;
  for (const Access::Check& c : a.checks)
    if (!c.idx.is_lin() || !c.extent.is_lin() || c.extent.lin.coeff_of(slot) != 0) return -1;
  strip.accesses.push_back(&a);
  strip.steps.push_back(a.addr.lin.coeff_of(slot));
  return static_cast<int>(strip.accesses.size()) - 1;
}

int ConstData::emit(StripBuilder& b) const {
  Strip::Op op{Strip::Kind::kConst};
  op.value = value;
  return b.add(op);
}
int LoadData::emit(StripBuilder& b) const {
  Strip::Op op{Strip::Kind::kLoad};
  op.access = b.add_access(access);
  if (op.access < 0) return -1;
  b.line.loads.push_back(op.access);
  return b.add(op);
}
int OpData::emit(StripBuilder& builder) const {
  if (op == DataOp::kDiv && rounding >= Rounding::kI8) return -1;  // may fail
  Strip::Op o{Strip::Kind::kOp};
  o.op = op;
  o.rounding = rounding;
  o.a = a->emit(builder);
  o.b = b ? b->emit(builder) : o.a;
  return o.a < 0 || o.b < 0 ? -1 : builder.add(o);
}
int CastData::emit(StripBuilder& b) const {
  if (!value.is_lin()) return -1;
  Strip::Op op{Strip::Kind::kCast};
  op.rounding = rounding;
  op.integer = &value;
  return b.add(op);
}
int SelectData::emit(StripBuilder& builder) const {
  Strip::Op o{Strip::Kind::kSelect};
  o.a = a->emit(builder);
  o.b = b->emit(builder);
  o.c = c->emit(builder);
  o.d = d->emit(builder);
  return o.a < 0 || o.b < 0 || o.c < 0 || o.d < 0 ? -1 : builder.add(o);
}
int ConfigData::emit(StripBuilder& b) const {
  Strip::Op op{Strip::Kind::kConfig};
  op.config = slot;
  return b.add(op);
}

// Only bodies of stores: anything that branches, calls or loops stays with the plain nodes.
// Registers and accesses are few by limit, so that a strip's state lives in the first cache.
std::unique_ptr<Strip> Strip::make(const ForNode& loop) {
  auto strip = std::make_unique<Strip>();
  for (const NodePtr& n : loop.body) {
    const auto* store = dynamic_cast<const StoreNode*>(n.get());
    if (!store) return nullptr;
    Line line;
    line.store = store;
    StripBuilder builder{*strip, line, loop.slot};
    line.result = store->rhs->emit(builder);
    line.target = builder.add_access(store->target);
    if (line.result < 0 || line.target < 0) return nullptr;
    strip->lines.push_back(std::move(line));
  }
  if (strip->lines.empty()) return nullptr;
  return strip;
}

namespace {

constexpr int kN = Strip::kChunk;

template <class F>
void each(int n, double* out, const double* a, const double* b, F f) {
  for (int i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
}

// One operation over a chunk in one loop that compilers vectorize; rounding once more after double
// arithmetic is exact only for the operations said below, all others go through apply().
void apply_chunk(const Strip::Op& op, int n, double* out, const double* a, const double* b) {
  if (op.rounding == Rounding::kNone) {
    switch (op.op) {
      case DataOp::kAdd:
        return each(n, out, a, b, [](double x, double y) { return x + y; });
      case DataOp::kSub:
        return each(n, out, a, b, [](double x, double y) { return x - y; });
      case DataOp::kMul:
        return each(n, out, a, b, [](double x, double y) { return x * y; });
      default:
        break;
    }
  }
  if (op.rounding == Rounding::kF32) {
    // The double result rounded once more is the f32 result for these three.
    switch (op.op) {
      case DataOp::kAdd:
        return each(n, out, a, b, [](double x, double y) { return static_cast<float>(x + y); });
      case DataOp::kSub:
        return each(n, out, a, b, [](double x, double y) { return static_cast<float>(x - y); });
      case DataOp::kMul:
        return each(n, out, a, b, [](double x, double y) { return static_cast<float>(x * y); });
      default:
        break;
    }
  }
  each(n, out, a, b, [&](double x, double y) { return apply(op.op, op.rounding, x, y); });
}

/// Copies n strided elements; false when one is poison.
bool gather(const double* from, int64_t step, int n, double* out) {
  bool poison = false;
  if (step == 1) {
    for (int i = 0; i < n; ++i) out[i] = from[i];
  } else {
    for (int i = 0; i < n; ++i) out[i] = from[i * step];
  }
  for (int i = 0; i < n; ++i) poison |= is_poison(out[i]);
  return !poison;
}

struct Place {
  double* at;
  int64_t step;
  const double *lowest, *highest;
};

// Ranges that do not meet, or meet in no element because their steps keep them apart.
bool disjoint(const Place& a, const Place& b) {
  return a.highest < b.lowest || b.highest < a.lowest;
}
bool same_sequence(const Place& a, const Place& b) {
  return a.at == b.at && a.step == b.step && a.step != 0;
}

/// Stores (or reduces) a chunk; false, with nothing done, when a reduction meets poison.
bool store_chunk(const StoreNode& s, const Place& p, int64_t first, int n, const double* v) {
  double* at = p.at + first * p.step;
  const Rounding storage = s.storage, arithmetic = s.arithmetic;
  if (s.op == StoreOp::kAssign) {
    for (int i = 0; i < n; ++i) at[i * p.step] = round_value(storage, v[i]);
    return true;
  }
  for (int i = 0; i < (p.step == 0 ? 1 : n); ++i)
    if (is_poison(at[i * p.step])) return false;
  if (s.op == StoreOp::kAdd && storage == Rounding::kNone) {
    if (p.step == 0) {
      double sum = *at;
      for (int i = 0; i < n; ++i) sum += v[i];
      *at = sum;
    } else {
      for (int i = 0; i < n; ++i) at[i * p.step] += v[i];
    }
    return true;
  }
  if (s.op == StoreOp::kAdd && storage == Rounding::kF32) {
    for (int i = 0; i < n; ++i) {
      double& cell = at[i * p.step];
      cell = static_cast<float>(static_cast<float>(cell) + static_cast<float>(v[i]));
    }
    return true;
  }
  const DataOp op = combining(s.op);
  for (int i = 0; i < n; ++i) {
    double& cell = at[i * p.step];
    cell = round_value(storage, apply(op, arithmetic, cell, round_value(arithmetic, v[i])));
  }
  return true;
}

constexpr size_t kMaxAccesses = 24, kMaxRegisters = 32;

// Where each access runs; false when one would leave its buffer.
bool find_places(const Strip& strip, Machine& m, int64_t& iter, int64_t lo, int64_t hi,
                 Place* places) {
  for (size_t k = 0; k < strip.accesses.size(); ++k) {
    const Access& a = *strip.accesses[k];
    for (const Access::Check& c : a.checks) {
      const int64_t extent = c.extent.lin.eval(m.ints.data());
      iter = lo;
      const int64_t first = c.idx.lin.eval(m.ints.data());
      iter = hi - 1;
      const int64_t last = c.idx.lin.eval(m.ints.data());
      if (std::min(first, last) < 0 || std::max(first, last) >= extent) return false;
    }
    iter = lo;
    Place& p = places[k];
    p.at = m.bases[static_cast<size_t>(a.base)] + a.addr.lin.eval(m.ints.data());
    p.step = strip.steps[k];
    const double* end = p.at + p.step * (hi - lo - 1);
    p.lowest = std::min<const double*>(p.at, end);
    p.highest = std::max<const double*>(p.at, end);
  }
  return true;
}

// A same-iteration read of the target's own element is fine; so is any access of another line to
// the same sequence of elements.
bool is_independent(const Strip& strip, const Strip::Line& line, const Place* places) {
  const auto apart = [&](int access) {
    const Place &target = places[line.target], &other = places[access];
    return disjoint(target, other) || same_sequence(target, other);
  };
  for (const Strip::Line& other : strip.lines) {
    if (&other != &line && !apart(other.target)) return false;
    if (!std::all_of(other.loads.begin(), other.loads.end(), apart)) return false;
  }
  return true;
}

bool reads_known_config(const Strip::Line& line, const Machine& m) {
  for (const Strip::Op& op : line.ops) {
    if (op.kind != Strip::Kind::kConfig) continue;
    const ConfigSlot& c = m.config[static_cast<size_t>(op.config)];
    if (!c.present || is_poison(c.data)) return false;
  }
  return true;
}

// One entry of the loop: chunks of iterations, operation by operation.
class StripRun {
 public:
  StripRun(Machine& m, const ForNode& loop, int64_t lo, const Place* places)
      : m_(m),
        loop_(loop),
        iter_(m.ints[static_cast<size_t>(loop.slot)]),
        lo_(lo),
        places_(places) {}

  void run(const Strip::Line& line, int64_t from, int count) {
    bool clean = true;
    for (size_t r = 0; r < line.ops.size() && clean; ++r)
      clean = compute(line.ops[r], from, count, registers_[r]);
    if (clean)
      clean = store_chunk(*line.store, places_[line.target], from, count, registers_[line.result]);
    if (!clean) run_one_by_one(line, from, count);
  }

 private:
  // False when an element that is read is poison.
  bool compute(const Strip::Op& op, int64_t from, int count, double* out) {
    switch (op.kind) {
      case Strip::Kind::kLoad: {
        const Place& p = places_[op.access];
        return gather(p.at + from * p.step, p.step, count, out);
      }
      case Strip::Kind::kConst:
        std::fill_n(out, count, op.value);
        break;
      case Strip::Kind::kConfig:
        std::fill_n(out, count, m_.config[static_cast<size_t>(op.config)].data);
        break;
      case Strip::Kind::kCast: {
        iter_ = lo_ + from;
        const int64_t first = op.integer->lin.eval(m_.ints.data());
        const int64_t step = op.integer->lin.coeff_of(loop_.slot);
        for (int i = 0; i < count; ++i) out[i] = CastData::convert(op.rounding, first + i * step);
        break;
      }
      case Strip::Kind::kOp:
        apply_chunk(op, count, out, registers_[op.a], registers_[op.b]);
        break;
      case Strip::Kind::kSelect: {
        const double *a = registers_[op.a], *b = registers_[op.b], *c = registers_[op.c],
                     *d = registers_[op.d];
        for (int i = 0; i < count; ++i) out[i] = a[i] < b[i] ? c[i] : d[i];
        break;
      }
    }
    return true;
  }

  // Poison: element by element, for the message or the policy.
  void run_one_by_one(const Strip::Line& line, int64_t from, int count) {
    m_.active.push_back(&loop_);
    for (int i = 0; i < count; ++i) {
      iter_ = lo_ + from + i;
      line.store->exec(m_);
    }
    m_.active.pop_back();
    m_.steps_left += count;  // counted for the whole strip
  }

  Machine& m_;
  const ForNode& loop_;
  int64_t& iter_;
  const int64_t lo_;
  const Place* places_;
  alignas(64) double registers_[kMaxRegisters][Strip::kChunk];
};

}  // namespace

// Decides at each entry, from addresses and bounds as they are now: all accesses inside their
// buffers, and no iteration reading what another one in the same chunk writes. Chunks then run
// operation by operation.
bool Strip::run(Machine& m, const ForNode& loop, int64_t lo, int64_t hi) const {
  const int64_t n = hi - lo;
  const int64_t statements = n * static_cast<int64_t>(lines.size() + 1);
  if (n < 4 || m.steps_left + m.steps_beyond < statements) return false;
  if (m.steps_left < statements) allow_steps(m, statements);
  if (accesses.size() > kMaxAccesses) return false;
  Place places[kMaxAccesses];
  if (!find_places(*this, m, m.ints[static_cast<size_t>(loop.slot)], lo, hi, places)) return false;
  for (const Line& line : lines)
    if (line.ops.size() > kMaxRegisters || !is_independent(*this, line, places) ||
        !reads_known_config(line, m))
      return false;
  StripRun run(m, loop, lo, places);
  for (int64_t from = 0; from < n; from += kN)
    for (const Line& line : lines)
      run.run(line, from, static_cast<int>(std::min<int64_t>(kN, n - from)));
  m.steps_left -= statements;
  return true;
}

}  // namespace exotune::interp
