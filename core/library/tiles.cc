#include "core/library/tiles.h"

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"

namespace exotune {

const For& loop_at(const ProcPtr& p, const Path& path) { return at(p, path).as<For>(); }

ProcPtr stage_around(ProcPtr p, const Path& path, Sym buffer, const std::string& name, int length,
                     bool keep_last, bool accum, Touch how) {
  const Cursor block = Cursor::block(p, path, length);
  auto rectangle = touched(p, block, buffer, how);
  if (!rectangle)
    throw SchedulingError("`" + buffer.name() +
                          "` is not read or written through affine indices in `" +
                          at(p, path).describe() + "`");
  return stage_mem(p, block, rectangle->text(buffer.name(), scope_at(*p, path), keep_last), name,
                   accum);
}

namespace {
int64_t round_up(int64_t n, int64_t q) { return (n + q - 1) / q * q; }
}  // namespace

ProcPtr split_last_dim(ProcPtr p, const Path& path, int64_t q) {
  const Type& type = at(p, path).as<Alloc>().type;
  if (type.shape.empty())
    throw SchedulingError("one element is no tile: `" + at(p, path).describe() + "`");
  int last = type.rank() - 1;
  ExprPtr size = type.shape.back();
  auto literal = as_int(size);
  if (!literal && prove(*p, path, bin_op(BinOpKind::kLe, size, int_const(q)))) {
    p = resize_dim(p, at(p, path), last, int_const(q), int_const(0));  // at most one vector
  } else if (literal ? *literal % q != 0
                     : !prove_equal(*p, path, bin_op(BinOpKind::kMod, size, int_const(q)),
                                    int_const(0))) {
    ExprPtr padded =
        literal ? int_const(round_up(*literal, q))
                : int_const(q) * bin_op(BinOpKind::kDiv, size + int_const(q - 1), int_const(q));
    p = resize_dim(p, at(p, path), last, padded, int_const(0));
  }
  return divide_dim(p, at(p, path), last, q);
}

ProcPtr run_to_whole_vectors(ProcPtr p, const Path& path, int64_t lanes) {
  const For& f = loop_at(p, path);
  const auto extent = literal_extent(f);
  const ExprPtr end = int_const(extent ? round_up(*extent, lanes) : lanes);
  try {
    return extend_loop(p, at(p, path), end);
  } catch (const SchedulingError&) {
    return p;  // integers, or more than a vector of unknown length
  }
}

}  // namespace exotune
