// Which top-level statement makes what another one reads, and how much more than one element of it
// an iteration of the reader wants.
#include <algorithm>

#include "core/ir/normal_form.h"
#include "search/outline/outline.h"

namespace exotune {

namespace {

// The constant part of an index, and what is left of it.
struct Offset {
  Affine variable;
  int64_t constant = 0;
};
std::optional<Offset> offset_of(const ExprPtr& e) {
  std::optional<Affine> a = affine(e);
  if (!a) return std::nullopt;
  Offset out;
  out.constant = a->constant;
  a->constant = 0;
  out.variable = std::move(*a);
  return out;
}

// Reads of A[y], A[y + 1], A[y + 2] have a halo of 2; what differs otherwise counts as none.
int64_t spread(const std::vector<const OutlineAccess*>& reads, size_t dimension) {
  int64_t widest = 0;
  for (const OutlineAccess* a : reads)
    for (const OutlineAccess* b : reads) {
      const auto x = offset_of(a->what.idx[dimension]), y = offset_of(b->what.idx[dimension]);
      if (x && y && x->variable == y->variable)
        widest = std::max(widest, x->constant - y->constant);
    }
  return widest;
}

}  // namespace

std::vector<OutlineEdge> edges_of(const Outline& o) {
  std::vector<OutlineEdge> out;
  for (const OutlineBuffer& b : o.buffers)
    for (const int writer : b.writers)
      for (const int reader : b.readers) {
        if (reader <= writer) continue;
        std::vector<const OutlineAccess*> reads;
        for (const OutlineAccess& a : o.accesses)
          if (a.what.buffer == b.name && !a.writes() && a.what.stmt.front().index == reader)
            reads.push_back(&a);
        if (reads.empty()) continue;
        OutlineEdge edge{writer, reader, b.name, {}};
        for (size_t d = 0; d < reads.front()->what.idx.size(); ++d)
          edge.halo.push_back(spread(reads, d));
        out.push_back(std::move(edge));
      }
  return out;
}

}  // namespace exotune
