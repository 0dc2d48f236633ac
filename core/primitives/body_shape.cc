// Shapes of statements: what is equal for all that could unify.
#include <bit>
#include <vector>

#include "core/base/hashing.h"
#include "core/primitives/unify.h"

namespace exotune::internal {

namespace {
constexpr uint64_t kCastShape = 8;  // next to those below
}  // namespace

uint64_t expr_shape(const ExprPtr& e) {
  if (is_control(e->type) && !e->as<ReadConfig>()) return 1;
  struct Visitor {
    uint64_t operator()(const Read&) { return 2; }
    uint64_t operator()(const Const& c) {
      double v = std::visit([](auto x) { return static_cast<double>(x); }, c.value);
      return hash_combine(3, std::bit_cast<uint64_t>(v + 0.0));
    }
    uint64_t operator()(const USub& n) { return hash_combine(4, expr_shape(n.arg)); }
    uint64_t operator()(const Not&) { return 1; }
    uint64_t operator()(const BinOp& n) {
      uint64_t a = expr_shape(n.lhs), b = whole_divisor(n) ? kCastShape : expr_shape(n.rhs);
      bool commutes = n.op == BinOpKind::kAdd || n.op == BinOpKind::kMul;
      uint64_t children = commutes ? hash_mix(a) + hash_mix(b) : hash_combine(a, b);
      return hash_combine(5 + 16 * static_cast<uint64_t>(n.op), children);
    }
    uint64_t operator()(const Extern& n) {
      uint64_t h = hash_bytes(n.fn);
      for (const ExprPtr& a : n.args) h = hash_combine(h, expr_shape(a));
      return h;
    }
    uint64_t operator()(const WindowExpr&) { return 6; }
    uint64_t operator()(const StrideExpr&) { return 1; }
    uint64_t operator()(const ReadConfig& n) { return hash_combine(7, hash_bytes(n.field)); }
    uint64_t operator()(const Cast&) { return kCastShape; }
  };
  return std::visit(Visitor{}, e->node);
}

namespace {

uint64_t block_shape(uint64_t seed, const Block& b) {
  uint64_t h = hash_combine(seed, b.size());
  for (const StmtPtr& s : b) h = hash_combine(h, shape_hash(s));
  return h;
}

uint64_t compute_shape(const Stmt& s) {
  struct Visitor {
    uint64_t operator()(const Assign& n) { return hash_combine(101, expr_shape(n.rhs)); }
    uint64_t operator()(const Reduce& n) {
      return hash_combine(102 + 16 * static_cast<uint64_t>(n.op), expr_shape(n.rhs));
    }
    uint64_t operator()(const WriteConfig& n) { return hash_combine(103, hash_bytes(n.field)); }
    uint64_t operator()(const Pass&) { return 104; }
    uint64_t operator()(const If& n) { return block_shape(block_shape(105, n.body), n.orelse); }
    uint64_t operator()(const For& n) { return block_shape(106, n.body); }
    uint64_t operator()(const Alloc& n) { return hash_combine(107, n.type.shape.size()); }
    uint64_t operator()(const Call& n) {
      return hash_combine(108, reinterpret_cast<uintptr_t>(n.callee.get()));
    }
    uint64_t operator()(const WindowStmt&) { return 109; }
  };
  return std::visit(Visitor{}, s.node);
}

}  // namespace

// Every instruction of a target is tried on a statement: a look-up is most of what a failing
// attempt costs, so that two statements of one slot displace each other instead of sharing a chain.
uint64_t shape_hash(const StmtPtr& s) {
  struct Entry {
    uint64_t hash = 0, shape = 0;
  };
  constexpr size_t kEntries = 1 << 12;  // 64 KiB: an L2 holds it, and all bodies of a target
  thread_local std::vector<Entry> cache(kEntries);
  Entry& e = cache[hash_mix(s->hash) % kEntries];
  if (e.hash != s->hash || e.shape == 0) e = {s->hash, compute_shape(*s)};
  return e.shape;
}
}  // namespace exotune::internal
