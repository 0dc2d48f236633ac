#include "search/outline/outline.h"

#include <algorithm>
#include <cmath>

#include "core/ir/normal_form.h"

namespace exotune {

const char* name_of(LoopRole r) {
  static const char* const names[] = {"parallel", "reduction", "recurrence"};
  return names[static_cast<int>(r)];
}

namespace {

// Of a size that nobody gave: larger than a vector, so that loops over it count as long.
constexpr double kUnknownSize = 64;

// The value of a control expression with every iterator at its mean, for counting work where bounds
// follow outer loops: a triangle is half a square.
double mean_of(const ExprPtr& e, const std::map<Sym, double>& at) {
  if (const auto c = as_int(e)) return static_cast<double>(*c);
  if (const Read* r = e->as<Read>()) {
    const auto found = at.find(r->name);
    return found == at.end() ? kUnknownSize : found->second;
  }
  if (const USub* u = e->as<USub>()) return -mean_of(u->arg, at);
  const BinOp* o = e->as<BinOp>();
  if (!o) return kUnknownSize;
  const double a = mean_of(o->lhs, at), b = mean_of(o->rhs, at);
  switch (o->op) {
    case BinOpKind::kAdd:
      return a + b;
    case BinOpKind::kSub:
      return a - b;
    case BinOpKind::kMul:
      return a * b;
    case BinOpKind::kDiv:
      return b > 0 ? std::floor(a / b) : 0;
    case BinOpKind::kMod:
      return b > 0 ? a - b * std::floor(a / b) : 0;
    default:
      return 1;
  }
}

// One walk over loops and buffers, then one over accesses, as loops that hold an access must be
// numbered by then. Places, loops, buffers and accesses are numbered in the order of the text,
// which is what callers compare: an earlier number is an earlier place.
class Reader {
 public:
  Reader(const Proc& p, const std::map<std::string, int64_t>& sizes) {
    out_.proc = &p;
    for (const Arg& a : p.args) {
      if (is_data(a.type.scalar)) continue;
      const auto found = sizes.find(a.name.name());
      out_.sizes[a.name] = found == sizes.end() ? kUnknownSize : static_cast<double>(found->second);
    }
    means_ = out_.sizes;
    for (const Arg& a : p.args)
      if (is_data(a.type.scalar)) add_buffer(a.name, a.type, true);
  }

  Outline run() {
    const Proc& p = *out_.proc;
    for (int k = 0; k < static_cast<int>(p.body.size()); ++k) read({{Child::kBody, k}}, -1);
    read_accesses();
    return std::move(out_);
  }

 private:
  void add_buffer(Sym name, const Type& type, bool argument) {
    OutlineBuffer b;
    b.name = name;
    b.argument = argument;
    b.elements = 1;
    for (const ExprPtr& e : type.shape) b.elements *= std::max(1.0, mean_of(e, means_));
    out_.buffers.push_back(b);
    types_[name] = type;
  }

  void read(const Path& path, int parent) {
    const StmtPtr s = stmt_at(*out_.proc, path);
    if (const Alloc* a = s->as<Alloc>()) add_buffer(a->name, a->type, false);
    if (const If* i = s->as<If>())
      for (OutlineLoop& l : out_.loops)
        l.in_condition = l.in_condition || mentions(i->cond, l.iter);
    int below = parent;
    if (const For* f = s->as<For>()) below = add_loop(*f, path, parent);
    for (const auto& [child, block] :
         {std::pair{Child::kBody, &body_of(*s)}, std::pair{Child::kOrelse, &orelse_of(*s)}})
      for (int k = 0; k < static_cast<int>(block->size()); ++k) {
        Path inner = path;
        inner.push_back({child, k});
        read(inner, below);
      }
  }

  int add_loop(const For& f, const Path& path, int parent) {
    OutlineLoop l;
    l.path = path;
    l.iter = f.iter;
    l.lo = f.lo;
    l.hi = f.hi;
    l.parent = parent;
    for (int k = 0; k < static_cast<int>(out_.loops.size()); ++k)
      if (mentions(f.lo, out_.loops[static_cast<size_t>(k)].iter) ||
          mentions(f.hi, out_.loops[static_cast<size_t>(k)].iter))
        l.bounded_by.push_back(k);
    const double lo = mean_of(f.lo, means_), hi = mean_of(f.hi, means_);
    l.trips = std::max(0.0, hi - lo);
    if (l.bounded_by.empty()) l.extent = static_cast<int64_t>(l.trips);
    means_[f.iter] = (lo + std::max(lo, hi - 1)) / 2;
    const int index = static_cast<int>(out_.loops.size());
    if (parent >= 0) out_.loops[static_cast<size_t>(parent)].children.push_back(index);
    out_.loops.push_back(std::move(l));
    return index;
  }

  // By statements of the top level, since that is what moves: first and last are the buffer's life.
  void touch(Sym buffer, int top, bool writes) {
    for (OutlineBuffer& b : out_.buffers) {
      if (b.name != buffer) continue;
      std::vector<int>& who = writes ? b.writers : b.readers;
      if (who.empty() || who.back() != top) who.push_back(top);
      if (b.first < 0) b.first = top;
      b.last = top;
    }
  }

  void read_accesses() {
    const Proc& p = *out_.proc;
    // Buffers that a nest allocates are its own: the statements inside are asked one by one.
    for (const Path& path : all_stmt_paths(p)) {
      const int top = path.front().index;
      const StmtPtr s = stmt_at(p, path);
      if (!body_of(*s).empty() || s->as<Alloc>() || s->as<WindowStmt>() || s->as<Pass>()) continue;
      for (Access& a : accesses_of(p, path, 1)) {
        OutlineAccess access;
        for (int k = 0; k < static_cast<int>(out_.loops.size()); ++k)
          if (is_prefix(out_.loops[static_cast<size_t>(k)].path, path)) access.loops.push_back(k);
        touch(a.buffer, top, a.kind != Access::Kind::kRead);
        const auto type = types_.find(a.buffer);
        if (type == types_.end()) continue;
        access.scalar = type->second.scalar;
        access.what = std::move(a);
        out_.accesses.push_back(std::move(access));
      }
    }
  }

  Outline out_;
  std::map<Sym, double> means_;
  std::map<Sym, Type> types_;
};

// The shape behind a name, for row-major strides.
const Type* type_of(const Proc& p, Sym buffer, const Block& block) {
  for (const Arg& a : p.args)
    if (a.name == buffer) return &a.type;
  for (const StmtPtr& s : block) {
    if (const Alloc* a = s->as<Alloc>(); a && a->name == buffer) return &a->type;
    for (const Block* below : {&body_of(*s), &orelse_of(*s)})
      if (const Type* t = type_of(p, buffer, *below)) return t;
  }
  return nullptr;
}

}  // namespace

// In elements, along one loop; nothing where the index is not affine in it. An iterator within a
// quotient or remainder counts as not affine: the step would not be the same everywhere. Sizes that
// nobody gave make it an estimate, which is all that it is used for.
std::optional<int64_t> Outline::stride(const OutlineAccess& access, int loop) const {
  const Sym iter = loops[static_cast<size_t>(loop)].iter;
  const Type* type = type_of(*proc, access.what.buffer, proc->body);
  double scale = 1, total = 0;
  for (size_t d = access.what.idx.size(); d-- > 0;) {
    const ExprPtr& e = access.what.idx[d];
    if (mentions(e, iter)) {
      const std::optional<Affine> a = affine(e);
      if (!a || a->coeff_of(iter) == 0) return std::nullopt;
      for (const Affine::Term& t : a->terms)
        if (!t.atom->as<Read>() && mentions(t.atom, iter)) return std::nullopt;
      total += static_cast<double>(a->coeff_of(iter)) * scale;
    }
    if (type && d < type->shape.size()) scale *= std::max(1.0, mean_of(type->shape[d], sizes));
  }
  return static_cast<int64_t>(total);
}

// Would neighbouring iterations touch different lines, each its own? Then vectors along this loop
// need a copy first.
bool Outline::scattered(const OutlineAccess& access, int loop, int line_bytes) const {
  const std::optional<int64_t> step = stride(access, loop);
  return !step || std::abs(*step) * bytes_of(access.scalar) >= line_bytes;
}

double Outline::trips(const OutlineAccess& access) const {
  double out = 1;
  for (const int l : access.loops) out *= loops[static_cast<size_t>(l)].trips;
  return out;
}

int Outline::loop_at(const Path& path) const {
  for (int k = 0; k < static_cast<int>(loops.size()); ++k)
    if (loops[static_cast<size_t>(k)].path == path) return k;
  return -1;
}

std::vector<int> Outline::innermost_in(int loop) const {
  std::vector<int> out;
  for (int k = loop; k < static_cast<int>(loops.size()); ++k)
    if (loops[static_cast<size_t>(k)].children.empty() &&
        is_prefix(loops[static_cast<size_t>(loop)].path, loops[static_cast<size_t>(k)].path))
      out.push_back(k);
  return out;
}

Outline outline_of(const Proc& p, const std::map<std::string, int64_t>& sizes) {
  return Reader(p, sizes).run();
}

// Proved, not guessed: parallel if all iterations commute, a reduction if they do but for sums.
LoopRole role_of(const Outline& o, int loop) {
  const Path& path = o.loops[static_cast<size_t>(loop)].path;
  if (loop_parallel(*o.proc, path)) return LoopRole::kParallel;
  return iterations_commute(*o.proc, path) ? LoopRole::kReduction : LoopRole::kRecurrence;
}

}  // namespace exotune
