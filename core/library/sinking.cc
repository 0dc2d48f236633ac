#include "core/library/sinking.h"

#include <algorithm>
#include <numeric>

#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"

namespace exotune {

namespace {

const If* guard_of(const For& loop) {
  const If* guard = loop.body.size() == 1 ? loop.body[0]->as<If>() : nullptr;
  return guard && guard->orelse.empty() && mentions(guard->cond, loop.iter) ? guard : nullptr;
}
// What is kept in registers, a vector for each element: more would not stay in them.
bool is_small(const Type& type) {
  constexpr int64_t kMost = 8;
  int64_t elements = 1;
  for (const ExprPtr& extent : type.shape) elements *= as_int(extent).value_or(kMost + 1);
  return elements <= kMost;
}

// What a loop goes into: loops, but those over `leaf`, and conditions.
bool is_scope(const StmtPtr& s, const std::string& leaf) {
  const For* f = s->as<For>();
  return f ? f->iter.name() != leaf : s->as<If>() != nullptr;
}

class Sinking {
 public:
  Sinking(ProcPtr p, Path loop, MemoryPtr registers, std::string leaf)
      : p_(std::move(p)),
        loop_(std::move(loop)),
        registers_(std::move(registers)),
        leaf_(std::move(leaf)),
        depth_(guard_of(the_loop()) ? 2 : 1) {}

  ProcPtr run() {
    for (int k = 0; k < size();) {
      if (statement(k)->as<Alloc>())
        lift(k);
      else
        ++k;
    }
    int pieces = 1;
    for (int k = size() - 1; k >= 1; --k) {
      if (!is_scope(statement(k), leaf_) && !is_scope(statement(k - 1), leaf_)) continue;
      p_ = fission(p_, Cursor::gap(p_, inner(k)), depth_);
      ++pieces;
    }
    // The last one first: what is done inside a piece leaves those before it where they are.
    for (int k = pieces - 1; k >= 0; --k) sink(sibling(loop_, k));
    return std::move(p_);
  }

 private:
  const For& the_loop() const { return *stmt_at(*p_, loop_)->as<For>(); }
  static Path inside(Path path, int levels) {
    for (; levels > 0; --levels) path = child(path);
    return path;
  }
  Path inner(int k) const { return child(inside(loop_, depth_ - 1), k); }
  StmtPtr statement(int k) const { return stmt_at(*p_, inner(k)); }
  int size() const { return size_of_block(p_, inner(0)); }

  // One for each iteration, in front of the loop.
  void lift(int k) {
    const Cursor alloc = Cursor::stmt(p_, inner(k));
    const Type type = alloc.as<Alloc>().type;
    const For& loop = the_loop();
    const auto extent = literal_extent(loop);
    const ExprPtr iter = read_var(loop.iter, ScalarType::kIndex);
    p_ = expand_dim(p_, alloc, extent ? int_const(*extent) : loop.hi - loop.lo,
                    as_int(loop.lo) == 0 ? iter : iter - loop.lo);
    if (registers_ && type.is_tensor()) {
      std::vector<int> order(type.shape.size() + 1);
      std::iota(order.begin(), order.end() - 1, 1);
      p_ = rearrange_dim(p_, Cursor::stmt(p_, inner(k)), order);
    }
    p_ = lift_alloc(p_, Cursor::stmt(p_, inner(k)), depth_);
    if (registers_ && is_small(type)) p_ = set_memory(p_, at(p_, loop_), registers_);
    loop_ = sibling(loop_, 1);
  }

  // for i: for r: s  ->  for r: for i: s, and so on in s. A piece of plain statements stays.
  void sink(const Path& piece) {
    const Path statement = inside(piece, depth_);
    if (!is_scope(stmt_at(*p_, statement), leaf_)) return;
    if (depth_ == 2) p_ = lift_scope(p_, at(p_, statement));
    p_ = lift_scope(p_, at(p_, child(piece)));
    if (const If* both = stmt_at(*p_, piece)->as<If>(); both && !both->orelse.empty()) {
      Path otherwise = piece;
      otherwise.push_back({Child::kOrelse, 0});
      p_ = Sinking(p_, otherwise, registers_, leaf_).run();
    }
    p_ = Sinking(p_, child(piece), registers_, leaf_).run();
  }

  ProcPtr p_;
  Path loop_;
  const MemoryPtr registers_;  // null: copies
  const std::string leaf_;
  const int depth_;  // scopes around the body: the loop, and its guard if it has one
};

// Is every scope in the body, at any depth, the same for all iterations?
bool is_free(const Block& body, Sym iter) {
  for (const StmtPtr& s : body) {
    if (const For* f = s->as<For>(); f && (mentions(f->lo, iter) || mentions(f->hi, iter)))
      return false;
    if (const If* i = s->as<If>(); i && mentions(i->cond, iter)) return false;
    if ((s->as<For>() || s->as<If>()) &&
        (!is_free(body_of(*s), iter) || !is_free(orelse_of(*s), iter)))
      return false;
  }
  return true;
}

const Block& guarded_body(const For& loop) {
  const If* guard = guard_of(loop);
  return guard ? guard->body : loop.body;
}

bool may_sink(const Proc& p, const Path& loop, const std::string& leaf) {
  const StmtPtr s = stmt_at(p, loop);
  const For* f = s ? s->as<For>() : nullptr;
  if (!f) return false;
  const Block& body = guarded_body(*f);
  return std::any_of(body.begin(), body.end(),
                     [&](const StmtPtr& inner) { return is_scope(inner, leaf); }) &&
         is_free(body, f->iter);
}

ProcPtr sunk(const std::string& op, ProcPtr p, const Where& loop, const MemoryPtr& registers,
             const std::string& leaf) {
  const Cursor c = loop.loop(p);
  if (!may_sink(*p, c.path(), leaf))
    throw SchedulingError(op + ": `" + c.as<For>().iter.name() +
                          "` holds no loop, or one that depends on it");
  return Sinking(std::move(p), c.path(), registers, leaf).run();
}

}  // namespace

bool holds_scopes(const Proc& p, const Path& loop) { return may_sink(p, loop, ""); }

ProcPtr sink_lanes(ProcPtr p, const Where& loop, const MemoryPtr& registers) {
  return sunk("sink_lanes", std::move(p), loop, registers, "");
}

ProcPtr sink_copies(ProcPtr p, const Where& loop, const std::string& lanes) {
  return sunk("sink_copies", std::move(p), loop, nullptr, lanes);
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> sinking_operators() {
  using namespace params;
  return {
      {"sink_copies",
       {proc(), place("loop"), string("lanes", "")},
       "for u: { t ; s1 ; for r: s2 }  ->  t[U] ; for u: s1 ; for r: for u: s2, down to `lanes`",
       [](const OperatorArgs& a) -> Value {
         return sink_copies(a.proc(), a.where(1), a.string(2));
       }},
  };
}

}  // namespace exotune
