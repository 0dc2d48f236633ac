#include "core/library/ahead.h"

#include <algorithm>
#include <numeric>

#include "core/ir/printer.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

namespace exotune {
// Packing that a caller does once for many calls (weights): pack_ahead moves the copy into a
// procedure of its own and gives the kernel the packed buffer as an argument. How the parts belong
// together is read off their form by split_ahead, since C is generated from the procedure alone.

namespace {

std::string pack_name(const Proc& p, const std::string& buffer) {
  return p.name + "_pack_" + buffer;
}

Path top(int k) { return {{Child::kBody, k}}; }
Cursor at(const ProcPtr& p, int k) { return Cursor::stmt(p, top(k)); }

// The statements at place k that pack_ahead left: an allocation and the call that fills it.
const Call* packing_call(const Proc& p, size_t k) {
  if (k + 1 >= p.body.size()) return nullptr;
  const Alloc* alloc = p.body[k]->as<Alloc>();
  const Call* call = p.body[k + 1]->as<Call>();
  if (!alloc || !call || call->callee->args.size() < 2) return nullptr;
  const Proc& callee = *call->callee;
  const std::string& source = callee.args[callee.args.size() - 2].name.name();
  const Read* filled = call->args.back()->as<Read>();
  return callee.name == pack_name(p, source) && filled && filled->name == alloc->name ? call
                                                                                      : nullptr;
}

int packing_statements(const Proc& p) {
  size_t k = 0;
  while (packing_call(p, k)) k += 2;
  return static_cast<int>(k);
}

// "[256, 2048, 64]: W_ahead[i1 / 64, i0, i1 % 64] = W[i0, i1]"
// The layout in words for the header of the generated C: a caller who fills the buffer by other
// means needs it.
std::string layout_of(const Proc& pack) {
  StmtPtr s = pack.body.front();
  while (const For* f = s->as<For>()) s = f->body.front();
  std::string shape;
  for (const ExprPtr& e : pack.args.back().type.shape)
    shape += (shape.empty() ? "" : ", ") + str(e);
  std::string text = str(s);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return "[" + shape + "], where " + text;
}

}  // namespace

ProcPtr pack_ahead(ProcPtr p, const std::string& buffer, const std::vector<int64_t>& tiles,
                   const std::vector<int>& order) {
  const auto is_source = [&](const Arg& a) {
    return a.name.name() == buffer && is_data(a.type.scalar);
  };
  const auto arg = std::find_if(p->args.begin(), p->args.end(), is_source);
  if (arg == p->args.end())
    throw SchedulingError("pack_ahead: `" + p->name + "` has no data argument `" + buffer + "`");
  if (!writes_of(p, buffer).empty())
    throw SchedulingError("pack_ahead: `" + buffer +
                          "` is written, so it is not the same in every call");
  const std::vector<ExprPtr> shape = arg->type.shape;
  if (tiles.size() != shape.size())
    throw SchedulingError("pack_ahead: `" + buffer + "` has " + std::to_string(shape.size()) +
                          " dimensions, and " + std::to_string(tiles.size()) + " tiles are given");
  const int first = packing_statements(*p);
  std::string window;
  const std::vector<ScopeEntry> scope = scope_at(*p, top(first));
  for (const ExprPtr& e : shape) window += (window.empty() ? "0:" : ", 0:") + str(e);
  const int rest = static_cast<int>(p->body.size()) - first;
  p = stage_mem(p, at(p, first).expand(0, rest - 1), buffer + "[" + window + "]",
                buffer + "_ahead");
  // Last first: earlier dimensions keep their numbers.
  int rank = static_cast<int>(shape.size());
  for (int d = rank - 1; d >= 0; --d) {
    const int64_t q = tiles[static_cast<size_t>(d)];
    if (q <= 1) continue;
    const auto literal = as_int(shape[static_cast<size_t>(d)]);
    if (!literal || *literal % q != 0) {
      const ExprPtr size = shape[static_cast<size_t>(d)];
      const ExprPtr padded =
          literal ? int_const((*literal + q - 1) / q * q)
                  : int_const(q) * bin_op(BinOpKind::kDiv, size + int_const(q - 1), int_const(q));
      p = resize_dim(p, at(p, first), d, padded, int_const(0));
    }
    p = divide_dim(p, at(p, first), d, q);
    ++rank;
  }
  std::vector<int> same(static_cast<size_t>(rank));
  std::iota(same.begin(), same.end(), 0);
  if (order != same) p = rearrange_dim(p, at(p, first), order);
  p = simplify(p, at(p, first + 1));
  return extract_subproc(p, at(p, first + 1), pack_name(*p, buffer)).proc;
}

std::optional<AheadParts> split_ahead(const ProcPtr& p) {
  const int first = packing_statements(*p);
  const int rest = static_cast<int>(p->body.size()) - first;
  if (first == 0 || rest == 0) return std::nullopt;
  AheadParts out;
  out.whole = extract_subproc(p, at(p, first).expand(0, rest - 1), p->name + "_packed").proc;
  for (int k = 0; k < first; k += 2) {
    const Call& call = *packing_call(*out.whole, static_cast<size_t>(k));
    out.packs.push_back(call.callee);
    out.packed.push_back(out.whole->body[static_cast<size_t>(k)]->as<Alloc>()->name);
    const ExprPtr& source = call.args[call.args.size() - 2];
    const Read* dense = source->as<Read>();
    out.sources.push_back(dense ? dense->name : source->as<WindowExpr>()->name);
    out.layouts.push_back(layout_of(*call.callee));
  }
  out.kernel = out.whole->body.back()->as<Call>()->callee;
  return out;
}

CFile generate_kernel(const ProcPtr& p, CodegenOptions options) {
  const std::optional<AheadParts> parts = split_ahead(p);
  if (!parts) return generate_c({p}, options);
  const auto add = [&](const std::string& line) {
    options.comment += (options.comment.empty() ? "" : "\n") + line;
  };
  for (size_t k = 0; k < parts->packs.size(); ++k) {
    const std::string source = parts->sources[k].name();
    add("`" + source + "` is packed ahead: " + parts->packs[k]->name +
        " brings it, once, into the order of");
    add("`" + parts->packed[k].name() + "`" + parts->layouts[k] + ";");
    add(parts->kernel->name + " takes that any number of times. " + p->name +
        " does both in one call.");
  }
  std::vector<ProcPtr> procs = {parts->whole};
  procs.insert(procs.end(), parts->packs.begin(), parts->packs.end());
  procs.push_back(parts->kernel);
  return generate_c(procs, options);
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> ahead_operators() {
  using namespace params;
  return {
      {"pack_ahead",
       {proc(), string("buffer"), integers("tiles"), integers("order")},
       "s(W)  ->  W_ahead : T[..]; NAME_pack_W(W, W_ahead); s(W_ahead), which become functions of "
       "their own",
       [](const OperatorArgs& a) -> Value {
         std::vector<int> order;
         for (const int64_t d : a.integers(3)) order.push_back(static_cast<int>(d));
         return pack_ahead(a.proc(), a.string(1), a.integers(2), order);
       }},
  };
}

}  // namespace exotune
