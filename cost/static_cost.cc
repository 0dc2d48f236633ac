#include "cost/static_cost.h"

#include <algorithm>
#include <cmath>

namespace exotune {

namespace {

struct Interval {
  int64_t lo = 0, hi = 0;  // inclusive
};

struct Box {
  std::vector<Interval> dims;
  int64_t row_bytes = 0;  // of one element
};

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

class Walker {
 public:
  Walker(const Proc& p, const std::map<std::string, int64_t>& sizes, const CostWeights& w) : w_(w) {
    for (const Arg& a : p.args) {
      if (is_control(a.type.scalar)) {
        auto it = sizes.find(a.name.name());
        int64_t v = it == sizes.end() ? 1 : it->second;
        values_[a.name] = {v, v};
      } else {
        types_[a.name] = a.type.scalar;
      }
    }
  }

  StaticCost run(const Block& body) {
    StaticCost out;
    out.arithmetic = block_cycles(body);
    out.spilled = spilled_;
    out.cycles = out.arithmetic;
    for (const CacheCost& c : w_.caches) {
      double lines = traffic(body, c);
      out.lines.push_back(lines);
      out.cycles += w_.memory_overlap * lines * c.cycles_per_line;
    }
    return out;
  }

 private:
  Interval range(const ExprPtr& e) {
    if (const Read* r = e->as<Read>()) {
      auto it = values_.find(r->name);
      return it == values_.end() ? Interval{0, 0} : it->second;
    }
    if (const Const* c = e->as<Const>()) {
      if (auto* v = std::get_if<int64_t>(&c->value)) return {*v, *v};
      return {0, 0};
    }
    if (const USub* u = e->as<USub>()) {
      Interval a = range(u->arg);
      return {-a.hi, -a.lo};
    }
    if (const BinOp* o = e->as<BinOp>()) {
      Interval a = range(o->lhs), b = range(o->rhs);
      switch (o->op) {
        case BinOpKind::kAdd:
          return {a.lo + b.lo, a.hi + b.hi};
        case BinOpKind::kSub:
          return {a.lo - b.hi, a.hi - b.lo};
        case BinOpKind::kMul: {
          int64_t v[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
          return {*std::min_element(v, v + 4), *std::max_element(v, v + 4)};
        }
        case BinOpKind::kDiv:
          return b.lo > 0 ? Interval{floor_div(a.lo, b.lo), floor_div(a.hi, b.lo)} : a;
        case BinOpKind::kMod: {
          if (b.lo <= 0) return a;
          int64_t q = floor_div(a.lo, b.lo);
          if (q == floor_div(a.hi, b.lo)) return {a.lo - q * b.lo, a.hi - q * b.lo};
          return {0, b.lo - 1};
        }
        default:
          return {0, 1};
      }
    }
    return {1, 1};
  }
  int64_t value(const ExprPtr& e) { return range(e).lo; }

  double trips(const For& f) {
    return static_cast<double>(std::max<int64_t>(0, value(f.hi) - value(f.lo)));
  }
  // The iterator at its first value while the body of one iteration is looked at.
  void enter(const For& f) {
    int64_t lo = value(f.lo);
    values_[f.iter] = {lo, lo};
  }
  void sweep(const For& f) {
    Interval lo = range(f.lo), hi = range(f.hi);
    values_[f.iter] = {lo.lo, std::max(lo.lo, hi.hi - 1)};
  }

  static double operations(const ExprPtr& e) {
    double out =
        e->as<BinOp>() || e->as<Extern>() || e->as<USub>() ? (is_data(e->type) ? 1 : 0) : 0;
    if (const Read* r = e->as<Read>(); r && is_data(e->type)) return 0.5;
    for (const ExprPtr& c : expr_children(*e)) out += operations(c);
    return out;
  }

  // Does the statement accumulate into a place that does not move with `iter`?
  static bool accumulates(const StmtPtr& s, Sym iter) {
    if (const Reduce* r = s->as<Reduce>()) {
      return std::none_of(r->idx.begin(), r->idx.end(),
                          [&](const ExprPtr& e) { return mentions(e, iter); });
    }
    if (const Call* c = s->as<Call>()) {
      const Block* b = &c->callee->body;
      while (b->size() == 1 && !body_of(*b->front()).empty()) b = &body_of(*b->front());
      const Reduce* r = b->size() == 1 ? b->front()->as<Reduce>() : nullptr;
      if (!r) return false;
      for (size_t k = 0; k < c->args.size(); ++k)
        if (c->callee->args[k].name == r->name) return !mentions(c->args[k], iter);
    }
    for (const StmtPtr& k : body_of(*s))
      if (accumulates(k, iter)) return true;
    return false;
  }

  double block_cycles(const Block& b) {
    double out = 0;
    int64_t registers_before = registers_;
    for (const StmtPtr& s : b) out += cycles(s);
    registers_ = registers_before;
    return out;
  }

  double cycles(const StmtPtr& s) {
    if (const For* f = s->as<For>()) {
      double n = trips(*f);
      if (n == 0) return 0;
      enter(*f);
      double body = block_cycles(f->body);
      bool chain = std::any_of(f->body.begin(), f->body.end(),
                               [&](const StmtPtr& k) { return accumulates(k, f->iter); });
      if (chain) body = std::max(body, w_.latency);
      return n * (body + w_.loop_iteration);
    }
    if (const If* i = s->as<If>())
      return w_.branch + std::max(block_cycles(i->body), block_cycles(i->orelse));
    if (const Alloc* a = s->as<Alloc>()) {
      types_[a->name] = a->type.scalar;
      if (a->mem->kind == MemoryKind::kVector) {
        int64_t count = 1;
        for (size_t d = 0; d + 1 < a->type.shape.size(); ++d) count *= value(a->type.shape[d]);
        registers_ += count;
        capacity_ = a->mem->count;
        vectors_.insert(a->name);
      }
      return 0;
    }
    if (const Call* c = s->as<Call>()) {
      double out = c->callee->instr ? c->callee->instr->cost : 10 + block_cycles(c->callee->body);
      if (capacity_ > 0 && registers_ > capacity_) {
        // Of every `registers_` values held, those beyond the file live in memory.
        double share =
            static_cast<double>(registers_ - capacity_) / static_cast<double>(registers_);
        out += share * w_.spill;
        spilled_ += share * w_.spill;
      }
      return out;
    }
    if (const Assign* a = s->as<Assign>()) return w_.scalar_operation * (1 + operations(a->rhs));
    if (const Reduce* r = s->as<Reduce>()) return w_.scalar_operation * (1.5 + operations(r->rhs));
    return 0;
  }

  // --- cache traffic ---

  void add_box(std::map<Sym, Box>& boxes, Sym buffer, const std::vector<Interval>& dims) {
    if (vectors_.count(buffer)) return;
    auto type = types_.find(buffer);
    if (type == types_.end()) return;
    Box& box = boxes[buffer];
    if (box.dims.size() != dims.size()) {
      box.dims = dims;
      box.row_bytes = bytes_of(type->second);
      return;
    }
    for (size_t d = 0; d < dims.size(); ++d) {
      box.dims[d].lo = std::min(box.dims[d].lo, dims[d].lo);
      box.dims[d].hi = std::max(box.dims[d].hi, dims[d].hi);
    }
  }

  void touch_expr(std::map<Sym, Box>& boxes, const ExprPtr& e) {
    if (const Read* r = e->as<Read>(); r && is_data(e->type) && !r->idx.empty()) {
      std::vector<Interval> dims;
      for (const ExprPtr& i : r->idx) dims.push_back(range(i));
      add_box(boxes, r->name, dims);
    } else if (const WindowExpr* w = e->as<WindowExpr>()) {
      std::vector<Interval> dims;
      for (const WindowAccess& a : w->access) {
        Interval lo = range(a.lo);
        dims.push_back(a.is_point() ? lo : Interval{lo.lo, std::max(lo.lo, range(a.hi).hi - 1)});
      }
      add_box(boxes, w->name, dims);
    }
    for (const ExprPtr& c : expr_children(*e)) touch_expr(boxes, c);
  }

  void touch(std::map<Sym, Box>& boxes, const Block& b) {
    for (const StmtPtr& s : b) {
      if (const For* f = s->as<For>()) {
        if (trips(*f) == 0) continue;
        sweep(*f);
      }
      if (const Alloc* a = s->as<Alloc>()) {
        types_[a->name] = a->type.scalar;
        if (a->mem->kind == MemoryKind::kVector) vectors_.insert(a->name);
        continue;
      }
      for (const ExprPtr& e : stmt_exprs(*s)) touch_expr(boxes, e);
      std::vector<Interval> dims;
      if (const Assign* a = s->as<Assign>()) {
        for (const ExprPtr& i : a->idx) dims.push_back(range(i));
        add_box(boxes, a->name, dims);
      } else if (const Reduce* r = s->as<Reduce>()) {
        for (const ExprPtr& i : r->idx) dims.push_back(range(i));
        add_box(boxes, r->name, dims);
      }
      touch(boxes, body_of(*s));
      touch(boxes, orelse_of(*s));
    }
  }

  // Lines and bytes of everything the block touches.
  std::pair<double, double> footprint(const Block& b, int line) {
    std::map<Sym, Box> boxes;
    touch(boxes, b);
    double lines = 0;
    for (const auto& [name, box] : boxes) {
      double rows = 1;
      for (size_t d = 0; d + 1 < box.dims.size(); ++d)
        rows *= static_cast<double>(box.dims[d].hi - box.dims[d].lo + 1);
      double last =
          box.dims.empty() ? 1 : static_cast<double>(box.dims.back().hi - box.dims.back().lo + 1);
      lines += rows * std::ceil(last * static_cast<double>(box.row_bytes) / line);
    }
    return {lines, lines * line};
  }

  // Lines brought into a cache of this size: a block that fits is brought in once.
  double traffic(const Block& b, const CacheCost& c) {
    auto [lines, bytes] = footprint(b, c.line_bytes);
    if (bytes <= static_cast<double>(c.bytes)) return lines;
    double out = 0;
    for (const StmtPtr& s : b) {
      if (const For* f = s->as<For>()) {
        double n = trips(*f);
        if (n == 0) continue;
        enter(*f);
        double body = traffic(f->body, c);
        // What the body keeps using stays: only what moves with the loop is brought in again.
        auto inner = footprint(f->body, c.line_bytes);
        if (inner.second <= static_cast<double>(c.bytes)) {
          double moving = moving_lines(*f, c.line_bytes);
          out += body + (n - 1) * moving;
        } else {
          out += n * body;
        }
      } else if (const If* i = s->as<If>()) {
        out += std::max(traffic(i->body, c), traffic(i->orelse, c));
      } else {
        out += footprint({s}, c.line_bytes).first;
      }
    }
    return out;
  }

  // Lines of the buffers whose place moves with the loop, for one iteration.
  double moving_lines(const For& f, int line) {
    std::map<Sym, Box> first, second;
    Interval at = values_[f.iter];
    touch(first, f.body);
    values_[f.iter] = {at.lo + 1, at.lo + 1};
    touch(second, f.body);
    values_[f.iter] = at;
    double lines = 0;
    for (const auto& [name, box] : first) {
      const Box& other = second[name];
      bool same = other.dims.size() == box.dims.size();
      for (size_t d = 0; same && d < box.dims.size(); ++d)
        same = other.dims[d].lo == box.dims[d].lo && other.dims[d].hi == box.dims[d].hi;
      if (same) continue;
      double rows = 1;
      for (size_t d = 0; d + 1 < box.dims.size(); ++d)
        rows *= static_cast<double>(box.dims[d].hi - box.dims[d].lo + 1);
      double last =
          box.dims.empty() ? 1 : static_cast<double>(box.dims.back().hi - box.dims.back().lo + 1);
      lines += rows * (last * static_cast<double>(box.row_bytes) / line);
    }
    return lines;
  }

  const CostWeights& w_;
  std::map<Sym, Interval> values_;
  std::map<Sym, ScalarType> types_;
  std::set<Sym> vectors_;
  int64_t registers_ = 0;
  int64_t capacity_ = 0;
  double spilled_ = 0;
};

}  // namespace

StaticCost static_cost(const Proc& p, const std::map<std::string, int64_t>& sizes,
                       const CostWeights& weights) {
  return Walker(p, sizes, weights).run(p.body);
}

}  // namespace exotune
