#include "search/dp/tensor_layout.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/base/hashing.h"

namespace exotune {
// Layouts are kept in one canonical form, so that equal orders of the same elements are equal
// values: dimensions of one element, neighbours that are parts of one dimension, and strips that
// hold all of it are removed, in this order, by every function that makes a layout.

namespace {

bool all_ones(Extents shape) {
  return std::all_of(shape.begin(), shape.end(), [](uint32_t e) { return e == 1; });
}

void push(TensorLayout& layout, PhysicalDim dim) {
  EXO_CHECK(layout.rank < kMaxPhysical);
  layout.dims[layout.rank++] = dim;
}

// Dimensions of extent 1 go; those that counted as adjacent no longer do.
void drop_ones(TensorLayout& layout, Extents shape) {
  TensorLayout out;
  int contiguous = layout.contiguous;
  const int first = layout.rank - layout.contiguous;
  for (int i = 0; i < layout.rank; ++i) {
    if (shape[layout.dims[i].dim] != 1)
      push(out, layout.dims[i]);
    else if (i >= first)
      --contiguous;
  }
  out.contiguous = static_cast<uint8_t>(contiguous);
  layout = out;
}

// Two neighbouring parts of one logical dimension become one, unless only the inner one is
// adjacent.
void merge_neighbours(TensorLayout& layout) {
  if (layout.rank == 0) return;
  TensorLayout out;
  int contiguous = layout.contiguous;
  const int first = layout.rank - layout.contiguous;
  push(out, layout.dims[0]);
  for (int i = 1; i < layout.rank; ++i) {
    PhysicalDim& last = out.dims[out.rank - 1];
    const PhysicalDim& dim = layout.dims[i];
    // The outer part is number i - 1: inside the adjacent suffix, one of two counted parts goes.
    if (dim.dim != last.dim || (i - 1 < first && i >= first)) {
      push(out, dim);
      continue;
    }
    if (last.pack != 0) last.pack = static_cast<uint16_t>(last.pack * dim.pack);
    if (i - 1 >= first) --contiguous;
  }
  out.contiguous = static_cast<uint8_t>(contiguous);
  layout = out;
}

// A strip that holds the whole extent is a plain dimension, and the parts outside it are nothing.
void drop_whole_strips(TensorLayout& layout, Extents shape) {
  std::array<uint32_t, kMaxRank> left{};
  std::copy(shape.begin(), shape.end(), left.begin());
  std::array<int, kMaxRank> whole;
  whole.fill(-1);
  for (int i = layout.rank - 1; i >= 0; --i) {
    PhysicalDim& dim = layout.dims[i];
    if (dim.pack == 0) continue;
    uint32_t& rest = left[dim.dim];
    const uint32_t pack = dim.pack;
    if (rest % pack == 0) {
      if (rest == pack) {
        dim.pack = 0;
        if (whole[dim.dim] < 0) whole[dim.dim] = i;
      }
      rest /= pack;
    } else if (rest != 0 && pack % rest == 0) {
      dim.pack = 0;
      if (whole[dim.dim] < 0) whole[dim.dim] = i;
      rest = 1;
    }
  }
  TensorLayout out;
  const int first = layout.rank - layout.contiguous;
  int contiguous = layout.contiguous;
  for (int i = 0; i < layout.rank; ++i) {
    const PhysicalDim& dim = layout.dims[i];
    const bool outside = whole[dim.dim] >= 0 && i < whole[dim.dim];
    const bool repeated = out.rank > 0 && dim.pack == 0 && out.dims[out.rank - 1] == dim;
    if (!outside && !repeated)
      push(out, dim);
    else if (i >= first)
      --contiguous;
  }
  out.contiguous = static_cast<uint8_t>(std::clamp(contiguous, 0, static_cast<int>(out.rank)));
  layout = out;
}

}  // namespace

bool TensorLayout::has_strip() const {
  for (int i = 0; i < rank; ++i)
    if (dims[i].pack != 0) return true;
  return false;
}

std::string TensorLayout::str() const {
  if (any) return "[?]";
  std::string text = "[";
  for (int i = 0; i < rank; ++i) {
    if (i > 0) text += ",";
    text += std::to_string(dims[i].dim);
    if (dims[i].pack != 0) text += "p" + std::to_string(dims[i].pack);
  }
  text += "]";
  if (!is_contiguous()) text += "c" + std::to_string(contiguous);
  return text;
}

TensorLayout TensorLayout::ordered(std::span<const int> order, Extents shape) {
  TensorLayout out;
  for (const int dim : order)
    if (shape[dim] != 1) push(out, {static_cast<uint8_t>(dim), 0});
  out.contiguous = out.rank;
  return out;
}

TensorLayout TensorLayout::row_major(Extents shape) {
  TensorLayout out;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (shape[dim] != 1) push(out, {static_cast<uint8_t>(dim), 0});
  out.contiguous = out.rank;
  return out;
}

// The extents of the memory's own dimensions; nothing when a strip does not divide its dimension.
std::optional<std::array<uint32_t, kMaxPhysical>> TensorLayout::physical(Extents shape) const {
  std::array<uint32_t, kMaxPhysical> out{};
  std::array<uint32_t, kMaxRank> left{};
  std::array<bool, kMaxRank> inside{};
  std::copy(shape.begin(), shape.end(), left.begin());
  for (int i = rank - 1; i >= 0; --i) {
    uint32_t& rest = left[dims[i].dim];
    const uint32_t pack = dims[i].pack;
    if (pack == 0) {
      out[i] = rest;
      rest = 0;
    } else if (rest < pack) {
      if (inside[dims[i].dim]) return std::nullopt;
      inside[dims[i].dim] = true;
      out[i] = rest;
      rest = 1;
    } else if (rest % pack != 0) {
      return std::nullopt;
    } else {
      out[i] = pack;
      rest /= pack;
    }
  }
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (left[dim] > 1) return std::nullopt;
  return out;
}

// The layout that a tile of the tensor has in place. Parts that the tile cuts through are no longer
// adjacent, which is what `contiguous` counts.
std::optional<TensorLayout> TensorLayout::tiled(Extents shape, Extents tile) const {
  if (all_ones(tile)) return TensorLayout{};
  if (any) return *this;
  const auto outer = physical(shape), inner = physical(tile);
  if (!outer || !inner) return std::nullopt;
  TensorLayout out = *this;
  for (int i = rank - 1; i >= 0; --i) {
    if ((*outer)[i] == (*inner)[i]) continue;
    out.contiguous = std::min<uint8_t>(contiguous, static_cast<uint8_t>(rank - i));
    break;
  }
  drop_ones(out, tile);
  merge_neighbours(out);
  drop_whole_strips(out, tile);
  return out;
}

// Lines that an operand of this layout takes: adjacent runs are rounded up to lines, each by
// itself, since a run may begin anywhere in one.
int64_t TensorLayout::lines(Extents shape, int element_bytes, int line_bytes) const {
  if (any) {
    int64_t bytes = element_bytes;
    for (const uint32_t extent : shape) bytes *= extent;
    return (bytes + line_bytes - 1) / line_bytes;
  }
  const auto extents = physical(shape);
  EXO_CHECK(extents.has_value());
  int64_t outside = 1, inside = element_bytes;
  for (int i = 0; i < rank; ++i) (i < rank - contiguous ? outside : inside) *= (*extents)[i];
  return outside * ((inside + line_bytes - 1) / line_bytes);
}

LayoutPool::LayoutPool() {
  id(TensorLayout{});
  id(TensorLayout::unknown());
}

size_t LayoutPool::Hash::operator()(const TensorLayout& l) const {
  uint64_t h = hash_combine(l.rank, l.contiguous + 256u * l.any);
  for (int i = 0; i < l.rank; ++i) h = hash_combine(h, l.dims[i].dim * 65536u + l.dims[i].pack);
  return h;
}

// Under a lock; readers take none, since a layout never moves once it has its number.
uint16_t LayoutPool::id(const TensorLayout& layout) {
  const std::lock_guard lock(mutex_);
  const auto [it, fresh] = ids_.try_emplace(layout, static_cast<uint16_t>(size_));
  if (fresh) {
    EXO_CHECK(size_ < 65535);
    std::atomic<Chunk*>& chunk = chunks_[size_ / kChunk];
    if (size_ % kChunk == 0) chunk.store(new Chunk, std::memory_order_release);
    (*chunk.load())[size_ % kChunk] = layout;
    ++size_;
  }
  return it->second;
}

LayoutPool::~LayoutPool() {
  for (std::atomic<Chunk*>& chunk : chunks_) delete chunk.load();
}

}  // namespace exotune
