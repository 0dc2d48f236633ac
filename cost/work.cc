#include "cost/work.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "cost/size_polynomial.h"

namespace exotune {

namespace {

// Bounds are polynomials of sizes and of iterators further out; hi is exclusive.
struct Loop {
  Sym iter;
  SizePolynomial lo, hi;
};
using Loops = std::vector<Loop>;
using Values = std::map<Sym, double>;

/// Which of two formulas is the larger one is told at two bindings, far from where borders matter.
class Samples {
 public:
  // Sizes differ from each other by 24, so that M and N are never mistaken for one; both rounds
  // are multiples of usual tiles.
  explicit Samples(const Proc& p) {
    for (int round = 0; round < 2; ++round) {
      Values values;
      int k = 0;
      for (const Arg& a : p.args)
        if (is_control(a.type.scalar)) values[a.name] = (round == 0 ? 240.0 : 1200.0) + 24 * k++;
      rounds_.push_back(std::move(values));
    }
  }
  /// Is a <= b for every sample, with the iterators of `loops` anywhere?
  bool at_most(const SizePolynomial& a, const SizePolynomial& b, const Loops& loops = {}) const {
    for (const Values& sizes : rounds_)
      // At both ends of the loops and twice between: enough for the linear bounds that nests have.
      // It is a guess that a formula rests on, never a proof.
      for (const double where : {0.0, 0.3, 0.7, 1.0}) {
        Values values = sizes;
        for (const Loop& l : loops) {
          const double lo = l.lo.evaluate(values), hi = l.hi.evaluate(values);
          values[l.iter] = std::round(lo + where * std::max(0.0, hi - 1 - lo));
        }
        if (a.evaluate(values) > b.evaluate(values) + 1e-6) return false;
      }
    return true;
  }

 private:
  std::vector<Values> rounds_;
};

// Summed from the innermost loop outwards, as inner bounds name outer iterators: a triangle gives
// n * (n + 1) / 2.
SizePolynomial points_of(const Loops& loops) {
  SizePolynomial count(1);
  for (auto l = loops.rbegin(); l != loops.rend(); ++l) count = count.sum(l->iter, l->lo, l->hi);
  return count;
}

// The product that a sum takes, its sign apart; null: it is none.
const BinOp* product_in(const ExprPtr& e) {
  if (const auto* sign = e->as<USub>()) return product_in(sign->arg);
  const auto* op = e->as<BinOp>();
  return op != nullptr && op->op == BinOpKind::kMul && is_data(e->type) ? op : nullptr;
}

// A sign is part of the operation around it: a - b and a + -(b * c) are one and two.
// Arithmetic on data alone: what computes an index or a condition is not counted, nor is a cast.
int operations_of(const ExprPtr& e) {
  if (!is_data(e->type)) return 0;
  int count = 0;
  if (e->as<Read>() != nullptr || e->as<WindowExpr>() != nullptr) return 0;
  if (e->as<BinOp>() != nullptr || e->as<Extern>() != nullptr) count = 1;
  for (const ExprPtr& child : expr_children(*e)) count += operations_of(child);
  return count;
}

/// One access of an array, where it stands.
struct Access {
  std::vector<SizePolynomial> subscripts;
  Loops loops;
};
// What is moved of an array: once in if its old values are wanted, once out if it is written.
struct Traffic {
  std::vector<Access> accesses;
  bool incoming = false;  // its first access reads
  bool written = false;
};

class WorkCounter {
 public:
  explicit WorkCounter(const Proc& p) : samples_(p) {
    // Arguments only: what the procedure allocates need never leave the caches.
    for (const Arg& a : p.args)
      if (is_data(a.type.scalar) && a.type.is_tensor()) arrays_[a.name] = a.type;
    std::vector<Sym> around;
    note_writes(p.body, around);
    block(p.body, {});
  }

  std::optional<SizePolynomial> operations() const {
    return operations_known_ ? std::optional(operations_) : std::nullopt;
  }
  /// Meaningful where operations() is known.
  const std::map<std::string, SizePolynomial>& kinds() const { return kinds_; }

  /// Each element is moved once in each direction, the least that any schedule has to.
  struct Bytes {
    SizePolynomial read, written, updated;
    SizePolynomial moved() const { return read + written + updated * SizePolynomial(2); }
  };
  std::optional<Bytes> bytes() const {
    if (!operations_known_ || !bytes_known_) return std::nullopt;
    Bytes out;
    for (const auto& [name, traffic] : traffic_) {
      const Type& type = arrays_.at(name);
      const std::optional<SizePolynomial> elements = elements_of(traffic, type);
      if (!elements) return std::nullopt;
      SizePolynomial& total = !traffic.written   ? out.read
                              : traffic.incoming ? out.updated
                                                 : out.written;
      total = total + *elements * SizePolynomial(bytes_of(type.scalar));
    }
    return out;
  }

 private:
  void block(const Block& b, const Loops& loops) {
    for (const StmtPtr& s : b) statement(*s, loops);
  }

  void statement(const Stmt& s, const Loops& loops) {
    if (const auto* f = s.as<For>()) {
      const auto lo = SizePolynomial::of(f->lo), hi = SizePolynomial::of(f->hi);
      if (!lo || !hi) return give_up();
      Loops inner = loops;
      // A bound that is no polynomial (a division, a value that is read) leaves the work unknown.
      inner.push_back({f->iter, *lo, *hi});
      block(f->body, inner);
    } else if (const auto* i = s.as<If>()) {
      guarded(*i, loops);
    } else if (const auto* a = s.as<Assign>()) {
      reads(a->rhs, loops);
      count(operations_of(a->rhs), loops);
      count_kinds(a->rhs, loops);
      access(a->name, a->idx, loops, false, true);
    } else if (const auto* r = s.as<Reduce>()) {
      reads(r->rhs, loops);
      // One more: the reduction itself.
      count(operations_of(r->rhs) + 1, loops);
      count_reduction(*r, loops);
      access(r->name, r->idx, loops, true, true);
    } else if (const auto* c = s.as<Call>()) {
      call(*c, loops);
    } else if (s.as<WindowStmt>() != nullptr) {
      // What of its arguments a callee touches is not looked into.
      bytes_known_ = false;
    }
  }

  void count(int operations, const Loops& loops) {
    if (operations > 0) operations_ = operations_ + points_of(loops) * SizePolynomial(operations);
  }

  // --- by kind: what no schedule does without -------------------------------------------------

  void count_reduction(const Reduce& r, const Loops& loops) {
    const BinOp* product = r.op == ReduceOp::kAdd ? product_in(r.rhs) : nullptr;
    if (product != nullptr && moving(r.rhs, loops).size() == loops.size())
      return fused(*product, points_of(loops), loops);
    add(r.op == ReduceOp::kAdd ? "+" : r.op == ReduceOp::kMax ? "fmax" : "fmin", points_of(loops));
    count_kinds(r.rhs, loops);
  }

  // Each operation as often as its value changes: what moves with few of the loops around it is
  // computed once for the others, wherever these stand.
  void count_kinds(const ExprPtr& e, const Loops& loops) {
    if (!is_data(e->type) || e->as<Read>() != nullptr || e->as<WindowExpr>() != nullptr) return;
    const auto* op = e->as<BinOp>();
    if (op != nullptr) return binary(e, *op, loops);
    if (const auto* function = e->as<Extern>()) add(function->fn, points_of(moving(e, loops)));
    for (const ExprPtr& child : expr_children(*e)) count_kinds(child, loops);
  }

  void binary(const ExprPtr& e, const BinOp& op, const Loops& loops) {
    const Loops around = moving(e, loops);
    const bool adds = op.op == BinOpKind::kAdd || op.op == BinOpKind::kSub;
    // Of two products one is part of the instruction that adds them.
    for (const auto& [taken, other] : {std::pair(op.lhs, op.rhs), std::pair(op.rhs, op.lhs)}) {
      const BinOp* product = adds ? product_in(taken) : nullptr;
      if (product == nullptr || moving(taken, loops).size() != around.size()) continue;
      fused(*product, points_of(around), loops);
      return count_kinds(other, loops);
    }
    // What is divided by changes less often: its reciprocal is multiplied by.
    const Loops below = op.op == BinOpKind::kDiv ? moving(op.rhs, loops) : around;
    const bool reciprocal = below.size() != around.size();
    if (reciprocal) add("/", points_of(below));
    add(adds                                     ? "+"
        : op.op == BinOpKind::kMul || reciprocal ? "*"
        : op.op == BinOpKind::kDiv               ? "/"
                                                 : "other",
        points_of(around));
    count_kinds(op.lhs, loops);
    count_kinds(op.rhs, loops);
  }

  void fused(const BinOp& product, const SizePolynomial& times, const Loops& loops) {
    add("fma", times);
    count_kinds(product.lhs, loops);
    count_kinds(product.rhs, loops);
  }
  void add(const std::string& kind, const SizePolynomial& times) {
    kinds_[kind] = kinds_[kind] + times;
  }

  // The loops with which a value moves: those that it mentions, those around it that also hold a
  // statement that writes what it reads, and those that their bounds follow.
  Loops moving(const ExprPtr& e, const Loops& loops) const {
    std::set<Sym> with;
    moved_by(e, with);
    Loops out;
    for (size_t k = loops.size(); k-- > 0;) {
      if (with.count(loops[k].iter) == 0) continue;
      out.insert(out.begin(), loops[k]);
      for (const Loop& outer : loops)
        if (loops[k].lo.mentions(outer.iter) || loops[k].hi.mentions(outer.iter))
          with.insert(outer.iter);
    }
    return out;
  }
  void moved_by(const ExprPtr& e, std::set<Sym>& with) const {
    const auto* read = e->as<Read>();
    if (read != nullptr) with.insert(read->name);
    if (const auto written = read != nullptr ? written_in_.find(read->name) : written_in_.end();
        written != written_in_.end())
      with.insert(written->second.begin(), written->second.end());
    for (const ExprPtr& child : expr_children(*e)) moved_by(child, with);
  }
  // The iterators around every statement that writes a buffer.
  void note_writes(const Block& b, std::vector<Sym>& around) {
    for (const StmtPtr& s : b) {
      const auto* f = s->as<For>();
      if (f != nullptr) around.push_back(f->iter);
      if (const auto* a = s->as<Assign>())
        written_in_[a->name].insert(around.begin(), around.end());
      if (const auto* r = s->as<Reduce>())
        written_in_[r->name].insert(around.begin(), around.end());
      note_writes(body_of(*s), around);
      note_writes(orelse_of(*s), around);
      if (f != nullptr) around.pop_back();
    }
  }

  // The callee's operations, its control arguments being what is passed.
  void call(const Call& c, const Loops& loops) {
    bytes_known_ = false;
    Block body = c.callee->body;
    for (size_t k = 0; k < c.args.size(); ++k)
      if (is_control(c.callee->args[k].type.scalar))
        body = exotune::substitute(body, c.callee->args[k].name, c.args[k]);
    block(body, loops);
  }

  // A guard cuts off a part of the innermost loop it mentions; one of sizes alone is taken to hold.
  void guarded(const If& guard, const Loops& loops) {
    Loops then = loops;
    if (!narrow(guard.cond, then)) return give_up();
    block(guard.body, then);
    if (guard.orelse.empty()) return;
    Loops otherwise = loops;
    if (!narrow(logical_not(guard.cond), otherwise)) return give_up();
    block(guard.orelse, otherwise);
  }

  // False: the condition is of another form than a bound. `a and b` narrows twice; its negation,
  // an or, is refused.
  bool narrow(const ExprPtr& cond, Loops& loops) const {
    if (std::none_of(loops.begin(), loops.end(),
                     [&](const Loop& l) { return exotune::mentions(cond, l.iter); }))
      return true;
    if (const auto* negated = cond->as<Not>()) {
      const auto* op = negated->arg->as<BinOp>();
      if (op == nullptr) return false;
      // not a < b is b <= a, and so on: gap 1 stands for a strict comparison of integers.
      if (op->op == BinOpKind::kLt) return narrow_to(op->rhs, op->lhs, 0, loops);
      if (op->op == BinOpKind::kGe) return narrow_to(op->lhs, op->rhs, 1, loops);
      if (op->op == BinOpKind::kGt) return narrow_to(op->lhs, op->rhs, 0, loops);
      if (op->op == BinOpKind::kLe) return narrow_to(op->rhs, op->lhs, 1, loops);
      return false;
    }
    const auto* op = cond->as<BinOp>();
    if (op == nullptr) return false;
    switch (op->op) {
      case BinOpKind::kAnd:
        return narrow(op->lhs, loops) && narrow(op->rhs, loops);
      case BinOpKind::kLt:
        return narrow_to(op->lhs, op->rhs, 1, loops);
      case BinOpKind::kLe:
        return narrow_to(op->lhs, op->rhs, 0, loops);
      case BinOpKind::kGt:
        return narrow_to(op->rhs, op->lhs, 1, loops);
      case BinOpKind::kGe:
        return narrow_to(op->rhs, op->lhs, 0, loops);
      case BinOpKind::kEq:
        return narrow_to(op->lhs, op->rhs, 0, loops) && narrow_to(op->rhs, op->lhs, 0, loops);
      default:
        return false;
    }
  }

  // small + gap <= large, as a bound of the innermost loop that it mentions.
  bool narrow_to(const ExprPtr& small, const ExprPtr& large, int gap, Loops& loops) const {
    const auto a = SizePolynomial::of(small), b = SizePolynomial::of(large);
    if (!a || !b) return false;
    const SizePolynomial room = *b - *a - SizePolynomial(gap);  // >= 0
    // From inside: an outer iterator in the same condition is fixed while the inner loop runs.
    for (size_t k = loops.size(); k-- > 0;) {
      Loop& loop = loops[k];
      if (!room.mentions(loop.iter)) continue;
      const std::optional<double> c = room.coefficient(loop.iter);
      // With another coefficient than 1 or -1 the bound would be a division.
      if (!c || std::fabs(std::fabs(*c) - 1) > 1e-9) return false;
      const SizePolynomial rest = room.substitute(loop.iter, SizePolynomial(0));
      const Loops around(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(k));
      // room = rest - i >= 0 says i <= rest; room = rest + i >= 0 says i >= -rest.
      if (*c < 0) return tighten(loop.hi, rest + SizePolynomial(1), around, false);
      return tighten(loop.lo, SizePolynomial(0) - rest, around, true);
    }
    return true;
  }

  // False where neither bound is the tighter one for all samples: then one of them, depending on
  // sizes.
  bool tighten(SizePolynomial& bound, const SizePolynomial& to, const Loops& around,
               bool low) const {
    const bool inside =
        low ? samples_.at_most(bound, to, around) : samples_.at_most(to, bound, around);
    const bool outside =
        low ? samples_.at_most(to, bound, around) : samples_.at_most(bound, to, around);
    if (inside) bound = to;
    return inside || outside;
  }

  void reads(const ExprPtr& e, const Loops& loops) {
    if (const auto* read = e->as<Read>()) access(read->name, read->idx, loops, true, false);
    for (const ExprPtr& child : expr_children(*e)) reads(child, loops);
  }

  void access(Sym name, const std::vector<ExprPtr>& idx, const Loops& loops, bool read,
              bool write) {
    // Scalars and buffers of the procedure itself.
    if (arrays_.count(name) == 0) return;
    Access a;
    a.loops = loops;
    for (const ExprPtr& e : idx) {
      const auto subscript = SizePolynomial::of(e);
      if (!subscript) {
        bytes_known_ = false;
        return;
      }
      a.subscripts.push_back(*subscript);
    }
    Traffic& t = traffic_[name];
    // In the order of the text: an array that is written before it is read need not come in.
    if (t.accesses.empty()) t.incoming = read;
    t.written = t.written || write;
    t.accesses.push_back(std::move(a));
  }

  /// The least and, exclusively, the greatest value of a subscript.
  static std::pair<SizePolynomial, SizePolynomial> span_of(const SizePolynomial& subscript,
                                                           const Loops& loops) {
    SizePolynomial low = subscript, high = subscript;
    for (auto l = loops.rbegin(); l != loops.rend(); ++l) {
      // Inner bounds may fall as this iterator grows.
      const SizePolynomial last = l->hi - SizePolynomial(1);
      const auto falls = [&](const SizePolynomial& p) {
        return p.coefficient(l->iter).value_or(1) < 0;
      };
      low = low.substitute(l->iter, falls(low) ? last : l->lo);
      high = high.substitute(l->iter, falls(high) ? l->lo : last);
    }
    return {low, high + SizePolynomial(1)};
  }

  static SizePolynomial volume_of(
      const std::vector<std::pair<SizePolynomial, SizePolynomial>>& box) {
    SizePolynomial volume(1);
    for (const auto& [low, high] : box) volume = volume * (high - low);
    return volume;
  }

  /// The points of one access where each of its iterators stands alone in some subscript (then no
  /// two points touch one element); nothing otherwise.
  std::optional<SizePolynomial> touched(const Access& a) const {
    Loops used;
    for (size_t k = a.loops.size(); k-- > 0;) {
      const Loop& l = a.loops[k];
      bool mentioned = false, alone = false;
      for (const SizePolynomial& s : a.subscripts) {
        if (!s.mentions(l.iter)) continue;
        mentioned = true;
        alone = alone || std::none_of(a.loops.begin(), a.loops.end(), [&](const Loop& o) {
                  return o.iter != l.iter && s.mentions(o.iter);
                });
      }
      if (mentioned && !alone) return std::nullopt;
      if (mentioned) {
        used.insert(used.begin(), l);
      } else {
        // A loop that only repeats the access: the inner bounds at whichever end gives more.
        Loops first = used, last = used;
        for (Loop& o : first) o = at(o, l.iter, l.lo);
        for (Loop& o : last) o = at(o, l.iter, l.hi - SizePolynomial(1));
        used = samples_.at_most(
                   points_of(first), points_of(last),
                   Loops(a.loops.begin(), a.loops.begin() + static_cast<std::ptrdiff_t>(k)))
                   ? last
                   : first;
      }
    }
    return points_of(used);
  }

  static Loop at(const Loop& l, Sym s, const SizePolynomial& value) {
    return {l.iter, l.lo.substitute(s, value), l.hi.substitute(s, value)};
  }

  std::optional<SizePolynomial> elements_of(const Traffic& t, const Type& type) const {
    SizePolynomial whole(1);
    for (const ExprPtr& e : type.shape) {
      const auto extent = SizePolynomial::of(e);
      if (!extent) return std::nullopt;
      whole = whole * *extent;
    }
    // around: the box that holds the boxes of all accesses. Used where every access fills its own;
    // a triangle does not, and then the largest number of points of any one access counts.
    std::vector<std::pair<SizePolynomial, SizePolynomial>> around;  // all accesses
    SizePolynomial most;
    bool boxes = true;  // every access fills its box
    for (const Access& a : t.accesses) {
      std::vector<std::pair<SizePolynomial, SizePolynomial>> box;
      for (const SizePolynomial& s : a.subscripts) box.push_back(span_of(s, a.loops));
      const SizePolynomial volume = volume_of(box), points = touched(a).value_or(volume);
      // A hundredth is for roundings of polynomials with fractions.
      boxes = boxes && samples_.at_most(volume * SizePolynomial(0.99), points);
      if (samples_.at_most(most, points)) most = points;
      if (around.empty()) around = box;
      for (size_t d = 0; d < box.size(); ++d) {
        if (samples_.at_most(box[d].first, around[d].first)) around[d].first = box[d].first;
        if (samples_.at_most(around[d].second, box[d].second)) around[d].second = box[d].second;
      }
    }
    const SizePolynomial elements = boxes ? volume_of(around) : most;
    // Never more than the array has.
    return samples_.at_most(elements, whole) ? elements : whole;
  }

  void give_up() { operations_known_ = false; }

  Samples samples_;
  std::map<Sym, Type> arrays_;
  std::map<Sym, Traffic> traffic_;
  SizePolynomial operations_;
  std::map<std::string, SizePolynomial> kinds_;
  std::map<Sym, std::set<Sym>> written_in_;  // buffers; iterators
  bool operations_known_ = true, bytes_known_ = true;
};

// A formula over the arguments; nothing when another value is left in it.
SizeFormula formula_of(const Proc& p, const std::optional<SizePolynomial>& work) {
  if (!work) return {};
  const SizeFormula formula(work->str());
  for (const std::string& name : formula.names())
    // Iterators have been summed away; what is left besides sizes is state or data.
    if (std::none_of(p.args.begin(), p.args.end(), [&](const Arg& a) {
          return a.name.name() == name && is_integer_control(a.type.scalar);
        }))
      return {};
  return formula;
}

}  // namespace

Work work_of(const Proc& p) {
  const WorkCounter counter(p);
  Work out;
  out.operations = formula_of(p, counter.operations());
  if (!out.operations.text().empty())
    for (const auto& [kind, count] : counter.kinds()) out.kinds[kind] = formula_of(p, count);
  if (std::any_of(out.kinds.begin(), out.kinds.end(),
                  [](const auto& kind) { return kind.second.text().empty(); }))
    out.kinds.clear();
  if (const std::optional<WorkCounter::Bytes> bytes = counter.bytes()) {
    out.bytes = formula_of(p, bytes->moved());
    out.read = formula_of(p, bytes->read);
    out.written = formula_of(p, bytes->written);
    out.updated = formula_of(p, bytes->updated);
  }
  return out;
}

}  // namespace exotune
