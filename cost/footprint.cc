#include "cost/footprint.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace exotune {

namespace {

// What is touched is kept as one box for each buffer: the range of every subscript. Boxes hold more
// than was touched where subscripts depend on each other (a triangle counts as its square), but the
// box of a loop follows from the boxes of its first and last iteration, so that no iteration is
// ever run. From the inside out each loop then asks one question: does what its body touches stay
// in the cache until the next iteration? If it does, only what is new enters; if not, the body's
// traffic comes again every time.
using Boxes = std::map<Sym, TouchedBox>;

// A box as runs of adjacent bytes, a number of them.
struct Runs {
  double count = 1;          // of runs
  double bytes = 0;          // of one, from its first to its last byte
  int64_t stride = 0;        // bytes between runs of the dimension that has most of them
  std::vector<bool> inside;  // dimension by dimension: steps along it stay in the run or next to it
};

Runs runs_of(const TouchedBox& box, double line) {
  Runs runs;
  runs.bytes = static_cast<double>(box.element);
  runs.inside.assign(box.dims.size(), false);
  int64_t most = 1;
  for (size_t d = box.dims.size(); d-- > 0;) {
    const double stride = static_cast<double>(box.strides[d]);
    const int64_t extent = box.dims[d].count();
    if (stride <= std::max(runs.bytes, line)) {
      runs.inside[d] = true;
      runs.bytes += static_cast<double>(extent - 1) * stride;
    } else {
      runs.count *= static_cast<double>(extent);
      if (extent > most) {
        most = extent;
        runs.stride = box.strides[d];
      }
    }
  }
  return runs;
}

}  // namespace

void LineCount::add(const LineCount& o, double times) {
  all += times * o.all;
  scattered += times * o.scattered;
}

double lines_of(const TouchedBox& box, double line) {
  const Runs runs = runs_of(box, line);
  return runs.count * std::ceil(runs.bytes / line);
}

namespace {

// How the runs of `to` lie to those of `from`, one iteration earlier.
struct Movement {
  Runs runs;         // of `to`
  double kept = 1;   // share of the runs that were there
  double shift = 0;  // bytes that each of those moved on by
};

Movement movement(const TouchedBox& from, const TouchedBox& to, double line) {
  Movement m{runs_of(to, line)};
  for (size_t d = 0; d < to.dims.size(); ++d) {
    const int64_t moved = std::abs(to.dims[d].lo - from.dims[d].lo);
    const int64_t grown = std::max<int64_t>(0, to.dims[d].count() - from.dims[d].count());
    const double step = static_cast<double>(std::max(moved, grown));
    if (m.runs.inside[d]) {
      m.shift += step * static_cast<double>(to.strides[d]);
    } else {
      const double extent = static_cast<double>(to.dims[d].count());
      m.kept *= std::max(0.0, extent - step) / extent;
    }
  }
  return m;
}

}  // namespace

double lines_entered(const TouchedBox& from, const TouchedBox& to, double line) {
  const Movement m = movement(from, to, line);
  const double each = std::ceil(m.runs.bytes / line);
  return m.runs.count * (m.kept * std::min(each, m.shift / line) + (1 - m.kept) * each);
}

// A loop body (or the whole proc), once.
struct Footprints::Node {
  double trips = 1;
  Boxes first, second;  // what one iteration touches, and the next one
  Boxes swept;          // what all of them touch
  std::vector<Node> children;
  std::vector<Boxes> statements;  // those that are no loops
};

namespace {

class Walk {
 public:
  Walk(const Proc& p, const std::map<std::string, int64_t>& sizes) : ranges_(p, sizes) {
    for (const Arg& a : p.args)
      if (is_data(a.type.scalar) && !(a.mem && a.mem->kind == MemoryKind::kVector))
        declare(a.name, a.type);
  }

  template <class Node>
  void fill(const Block& b, Node& node) {
    for (const StmtPtr& s : b) {
      if (const Alloc* a = s->as<Alloc>()) {
        allocate(*a);
      } else if (const For* f = s->as<For>()) {
        const int64_t trips = ranges_.trips(*f);
        if (trips == 0) continue;
        Node child;
        child.trips = static_cast<double>(trips);
        touch({s}, child.swept);
        const int64_t here = ranges_.typical(*f);
        if (trips > 1) {
          ranges_.enter(*f, here + 1 < trips ? here + 1 : here - 1);
          touch(f->body, child.second);
        }
        ranges_.enter(*f, here);
        touch(f->body, child.first);
        fill(f->body, child);
        node.children.push_back(std::move(child));
      } else if (s->as<If>()) {
        fill(body_of(*s), node);
        fill(orelse_of(*s), node);
      } else {
        Boxes boxes;
        touch({s}, boxes);
        if (!boxes.empty()) node.statements.push_back(std::move(boxes));
      }
    }
  }

  void touch(const Block& b, Boxes& boxes) {
    for (const StmtPtr& s : b) {
      if (const Alloc* a = s->as<Alloc>()) {
        allocate(*a);
        continue;
      }
      if (const For* f = s->as<For>()) {
        if (!ranges_.runs(*f)) continue;
        ranges_.sweep(*f);
      }
      for (const ExprPtr& e : stmt_exprs(*s)) touch(e, boxes);
      if (const Assign* a = s->as<Assign>()) add(boxes, a->name, a->idx);
      if (const Reduce* r = s->as<Reduce>()) add(boxes, r->name, r->idx);
      touch(body_of(*s), boxes);
      touch(orelse_of(*s), boxes);
    }
  }

 private:
  struct Buffer {
    std::vector<int64_t> strides, extents;
    int64_t element = 0;
  };

  void declare(Sym name, const Type& type) {
    Buffer b;
    b.element = bytes_of(type.scalar);
    b.strides.resize(type.shape.size());
    b.extents.resize(type.shape.size());
    int64_t stride = b.element;
    for (size_t d = type.shape.size(); d-- > 0;) {
      b.strides[d] = stride;
      b.extents[d] = std::max<int64_t>(1, ranges_.range(type.shape[d]).hi);
      stride *= b.extents[d];
    }
    buffers_[name] = b;
  }
  void allocate(const Alloc& a) {
    const bool register_file =
        a.mem && (a.mem->kind == MemoryKind::kVector || a.mem->kind == MemoryKind::kRegisterFile);
    if (!register_file && !a.type.shape.empty()) declare(a.name, a.type);
  }

  void add(Boxes& boxes, Sym name, const std::vector<ExprPtr>& idx) {
    std::vector<IndexRange> dims;
    for (const ExprPtr& i : idx) dims.push_back(ranges_.range(i));
    if (const auto b = buffers_.find(name); idx.empty() && b != buffers_.end())
      for (const int64_t extent : b->second.extents) dims.push_back({0, extent - 1});  // all of it
    add(boxes, name, std::move(dims));
  }
  void add(Boxes& boxes, Sym name, std::vector<IndexRange> dims) {
    const auto buffer = buffers_.find(name);
    if (buffer == buffers_.end() || buffer->second.strides.size() != dims.size()) return;
    const auto [it, fresh] = boxes.try_emplace(name);
    TouchedBox& box = it->second;
    if (fresh) {
      box = {std::move(dims), buffer->second.strides, buffer->second.element};
      return;
    }
    for (size_t d = 0; d < dims.size(); ++d) {
      box.dims[d].lo = std::min(box.dims[d].lo, dims[d].lo);
      box.dims[d].hi = std::max(box.dims[d].hi, dims[d].hi);
    }
  }

  void touch(const ExprPtr& e, Boxes& boxes) {
    if (const Read* r = e->as<Read>(); r && is_data(e->type)) {
      add(boxes, r->name, r->idx);
    } else if (const WindowExpr* w = e->as<WindowExpr>()) {
      std::vector<IndexRange> dims;
      for (const WindowAccess& a : w->access) {
        const IndexRange lo = ranges_.range(a.lo);
        dims.push_back(
            a.is_point() ? lo : IndexRange{lo.lo, std::max(lo.lo, ranges_.range(a.hi).hi - 1)});
      }
      add(boxes, w->name, std::move(dims));
    }
    if (!is_data(e->type) && !e->as<WindowExpr>()) return;
    for (const ExprPtr& c : expr_children(*e)) touch(c, boxes);
  }

  IndexRanges ranges_;
  std::map<Sym, Buffer> buffers_;
};

// No core has a larger first cache, nor a second one as small.
constexpr double kMostOfFirstCache = 128 * 1024;

struct Cache {
  double bytes, line;
  const CoreFacts& core;
  // Sets repeat after this many bytes.
  double way() const {
    return bytes <= kMostOfFirstCache ? std::min(bytes, core.page) : bytes / core.ways;
  }
  // Share of a stream of so many lines that is over before prefetchers are ahead of it.
  double late(double length) const {
    return std::min(1.0, core.stream_ramp / std::max(1.0, length));
  }
};

double occupied(const TouchedBox& box, const Cache& c) {
  const double bytes = lines_of(box, c.line) * c.line;
  const Runs runs = runs_of(box, c.line);
  if (runs.stride == 0 || c.line > 256) return bytes;  // one run, or pages
  const int64_t way = static_cast<int64_t>(c.way());
  const double places = static_cast<double>(way / std::gcd(runs.stride, way));
  const double sets =
      std::min(c.way(), std::min(runs.count, places) * std::max(runs.bytes, c.line));
  const double room = sets * c.bytes / c.way();
  return bytes > room ? std::max(bytes, c.bytes * bytes / room) : bytes;
}

double occupied(const Boxes& boxes, const Cache& c) {
  double out = 0;
  for (const auto& [name, box] : boxes) out += occupied(box, c);
  return out;
}

// Share of the lines which the loop brings in of the buffer that prefetchers come late for: all in
// streams no longer than the ramp, none where all of the buffer is read in one go.
template <class Node>
double scattered_share(const Node& loop, Sym buffer, const Cache& c) {
  const double line = c.line;
  std::vector<const Node*> down = {&loop};
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const Node& child : down.back()->children)
      if (child.swept.count(buffer)) {
        down.push_back(&child);
        deeper = true;
        break;
      }
  }
  for (size_t k = down.size(); k-- > 0;) {
    const Node& n = *down[k];
    const auto first = n.first.find(buffer), second = n.second.find(buffer);
    if (first == n.first.end() || second == n.second.end() || first->second == second->second)
      continue;
    const Movement m = movement(first->second, second->second, line);
    if (m.kept < 1) return c.late(m.runs.bytes / line);
    const bool goes_on =
        m.runs.count == 1 && k > 0 && runs_of(down[k - 1]->swept.at(buffer), line).count == 1;
    return goes_on ? 0 : c.late(n.trips * m.shift / line);
  }
  const TouchedBox& box = loop.swept.at(buffer);
  return c.late(runs_of(box, line).bytes / line);
}

template <class Node>
LineCount loop_traffic(const Node& loop, const Cache& c);

// What one time through the body brings in.
template <class Node>
LineCount body_traffic(const Node& body, const Cache& c) {
  LineCount out;
  for (const Node& child : body.children) out.add(loop_traffic(child, c));
  for (const Boxes& boxes : body.statements)
    for (const auto& [name, box] : boxes) out.add({lines_of(box, c.line), lines_of(box, c.line)});
  return out;
}

// Share of a working set that is lost before it is used again. Caches do not forget all at once:
// pages lie at random, and what else runs needs some room.
double lost(const Boxes& boxes, const Cache& c) {
  return std::clamp(2 * (occupied(boxes, c) / c.bytes - c.core.cache_full), 0.0, 1.0);
}

// With a body that stays in the cache: each buffer whole when all of the loop stays, else what
// enters from one iteration to the next.
template <class Node>
LineCount kept_traffic(const Node& loop, const Cache& c) {
  LineCount out;
  const double gone = lost(loop.swept, c);
  for (const auto& [name, swept] : loop.swept) {
    const double all = lines_of(swept, c.line);
    double entering = all;
    if (const auto first = loop.first.find(name); gone > 0 && first != loop.first.end()) {
      entering = lines_of(first->second, c.line);
      const auto second = loop.second.find(name);
      if (loop.trips > 1 && second != loop.second.end() && !(second->second == first->second))
        entering += (loop.trips - 1) * lines_entered(first->second, second->second, c.line);
    }
    const double lines = (1 - gone) * all + gone * entering;
    out.add({lines, lines * scattered_share(loop, name, c)});
  }
  return out;
}

template <class Node>
LineCount loop_traffic(const Node& loop, const Cache& c) {
  const double gone = std::min(lost(loop.first, c), lost(loop.swept, c));
  LineCount out;
  if (gone < 1) out.add(kept_traffic(loop, c), 1 - gone);
  if (gone > 0) out.add(body_traffic(loop, c), gone * loop.trips);
  return out;
}

}  // namespace

Footprints::Footprints(const Proc& p, const std::map<std::string, int64_t>& sizes)
    : root_(std::make_unique<Node>()) {
  Walk walk(p, sizes);
  walk.touch(p.body, root_->first);
  walk.fill(p.body, *root_);
}

Footprints::~Footprints() = default;

LineCount Footprints::traffic(int64_t cache_bytes, int line_bytes, const CoreFacts& core) const {
  const Cache c{static_cast<double>(cache_bytes), static_cast<double>(line_bytes), core};
  LineCount out;
  if (const double gone = lost(root_->first, c); gone > 0) out.add(body_traffic(*root_, c), gone);
  return out;
}

double Footprints::bytes(int line_bytes) const {
  double lines = 0;
  for (const auto& [name, box] : root_->first) lines += lines_of(box, line_bytes);
  return lines * line_bytes;
}

}  // namespace exotune
