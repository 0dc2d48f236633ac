#include "cost/compiled_loop.h"

#include <algorithm>
#include <cmath>

#include "core/ir/normal_form.h"

namespace exotune {

namespace {

// Of gcc 12 and clang 14 at -O3: iterations of a loop that they write out inside of another, and
// how far apart elements may lie that they load by whole vectors and shuffle.
constexpr double kMostUnrolled = 16;
constexpr int64_t kMostShuffled = 8;

}  // namespace

double CompiledLoops::cycles(const For& f) {
  Body body;
  if (f.body.empty() || !compiles(f, f.body, 1, body)) return 0;
  // Gaps between what is written would have to be left alone.
  for (const auto& [buffer, step] : body.apart)
    if (body.written[buffer] < static_cast<double>(step)) return 0;
  const double lanes = static_cast<double>(machine_.vector_bytes) / body.bytes;
  return std::ceil(static_cast<double>(ranges_.trips(f)) / lanes) * body.ports.busiest();
}

void CompiledLoops::load(int64_t step, double times, Body& body) const {
  body.ports.load += times * machine_.core.load;
  if (step > 1) body.ports.arithmetic += times * machine_.core.shuffle * static_cast<double>(step);
}

void CompiledLoops::store(int64_t step, double times, Body& body) const {
  body.ports.store += times * machine_.core.store;
  if (step > 1) body.ports.arithmetic += times * machine_.core.shuffle * static_cast<double>(step);
}

bool CompiledLoops::compiles(const For& f, const Block& b, double times, Body& body) {
  for (const StmtPtr& s : b) {
    if (const For* inner = s->as<For>()) {
      // Written out is what has a number of iterations that the compiler knows.
      const std::optional<int64_t> known = as_int(normalize(inner->hi - inner->lo));
      const double trips = static_cast<double>(ranges_.trips(*inner));
      if (!known || trips * times > kMostUnrolled || mentions(inner->lo, f.iter) ||
          mentions(inner->hi, f.iter))
        return false;
      ranges_.enter(*inner);
      unrolled_.push_back(inner);
      const bool compiled = compiles(f, inner->body, trips * times, body);
      unrolled_.pop_back();
      if (!compiled) return false;
      continue;
    }
    const Assign* a = s->as<Assign>();
    const Reduce* r = s->as<Reduce>();
    if (!a && !r) return false;
    const Sym buffer = a ? a->name : r->name;
    const ExprPtr& value = a ? a->rhs : r->rhs;
    const auto type = types_.find(buffer);
    const int64_t apart = step(f, a ? a->idx : r->idx);
    if (type == types_.end() || apart < 1) return false;
    if (!runs_along(f, value, times, body)) return false;
    body.bytes = std::max(body.bytes, bytes_of(type->second));
    const std::vector<ExprPtr>& idx = a ? a->idx : r->idx;
    const double writes = apart > 1 ? times : elements(idx);
    store(apart, writes, body);
    body.written[buffer] += times;
    if (apart > 1) body.apart[buffer] = std::max(body.apart[buffer], apart);
    if (r) {
      load(apart, writes, body);
      const BinOp* product = value->as<BinOp>();
      if (!product || product->op != BinOpKind::kMul)
        body.ports.arithmetic += times * machine_.core.arithmetic;
    }
  }
  return true;
}

// Elements that the loops inside write: those that an index does not follow write them again, in
// registers.
double CompiledLoops::elements(const std::vector<ExprPtr>& idx) const {
  double out = 1;
  for (const For* inner : unrolled_)
    if (std::any_of(idx.begin(), idx.end(),
                    [&](const ExprPtr& i) { return mentions(i, inner->iter); }))
      out *= static_cast<double>(ranges_.trips(*inner));
  return out;
}

int64_t CompiledLoops::step(const For& f, const std::vector<ExprPtr>& idx) {
  int64_t out = 0;
  for (size_t d = 0; d < idx.size(); ++d) {
    if (!mentions(idx[d], f.iter)) continue;
    ranges_.enter(f);
    const int64_t first = ranges_.value(idx[d]);
    ranges_.enter(f, 1);
    const int64_t second = ranges_.value(idx[d]);
    ranges_.enter(f);
    if (d + 1 != idx.size() || second - first < 1 || second - first > kMostShuffled) return -1;
    out = second - first;
  }
  return out;
}

bool CompiledLoops::runs_along(const For& f, const ExprPtr& e, double times, Body& body) {
  if (!is_data(e->type)) return true;
  if (const Read* r = e->as<Read>()) {
    const int64_t apart = step(f, r->idx);
    if (apart > 0) load(apart, times, body);
    return apart >= 0;
  }
  if (e->as<Extern>() || e->as<WindowExpr>() || e->as<Cast>()) return false;
  if (!e->as<Const>()) body.ports.arithmetic += times * machine_.core.arithmetic;
  const std::vector<ExprPtr> children = expr_children(*e);
  return std::all_of(children.begin(), children.end(),
                     [&](const ExprPtr& c) { return runs_along(f, c, times, body); });
}

}  // namespace exotune
