// Shapes of statements: what is equal for all that could unify.
#include <bit>
#include <unordered_map>

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

uint64_t shape_hash(const StmtPtr& s) {
  constexpr size_t kMaxEntries = 1 << 16;
  thread_local std::unordered_map<uint64_t, uint64_t> cache;
  auto it = cache.find(s->hash);
  if (it != cache.end()) return it->second;
  uint64_t h = compute_shape(*s);
  if (cache.size() >= kMaxEntries) cache.clear();
  cache.emplace(s->hash, h);
  return h;
}
}  // namespace exotune::internal
