#include "cost/footprint.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "cost/touched_boxes.h"

namespace exotune {

// The box of a loop follows from the boxes of its first and last iteration, so that no iteration is
// ever run. From the inside out each loop then asks one question: does what its body touches stay
// in the cache until the next iteration? If it does, only what is new enters; if not, the body's
// traffic comes again every time.

void LineCount::add(const LineCount& o, double times) {
  all += times * o.all;
  scattered += times * o.scattered;
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
        child.swept = touched({s}).boxes();
        const int64_t here = ranges_.typical(*f);
        Touches next;
        if (trips > 1) {
          ranges_.enter(*f, here + 1 < trips ? here + 1 : here - 1);
          next = touched(f->body);
        }
        ranges_.enter(*f, here);
        const Touches first = touched(f->body);
        child.first = first.boxes();
        child.second = next.boxes(first);
        fill(f->body, child);
        node.children.push_back(std::move(child));
      } else if (s->as<If>()) {
        fill(body_of(*s), node);
        fill(orelse_of(*s), node);
      } else {
        if (const Touches here = touched({s}); !here.empty())
          node.statements.push_back(here.boxes());
      }
    }
  }

  Touches touched(const Block& b) {
    Touches out;
    touch(b, out);
    return out;
  }

 private:
  void touch(const Block& b, Touches& boxes) {
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

  void add(Touches& touches, Sym name, const std::vector<ExprPtr>& idx) {
    std::vector<IndexRange> dims;
    for (const ExprPtr& i : idx) dims.push_back(ranges_.range(i));
    if (const auto b = buffers_.find(name); idx.empty() && b != buffers_.end())
      for (const int64_t extent : b->second.extents) dims.push_back({0, extent - 1});  // all of it
    add(touches, name, form_of(idx), std::move(dims));
  }
  void add(Touches& touches, Sym name, uint64_t form, std::vector<IndexRange> dims) {
    const auto b = buffers_.find(name);
    if (b == buffers_.end() || b->second.strides.size() != dims.size()) return;
    touches.add(name, form, {std::move(dims), b->second.strides, b->second.element});
  }

  void touch(const ExprPtr& e, Touches& boxes) {
    if (const Read* r = e->as<Read>(); r && is_data(e->type)) {
      add(boxes, r->name, r->idx);
    } else if (const WindowExpr* w = e->as<WindowExpr>()) {
      std::vector<IndexRange> dims;
      std::vector<ExprPtr> from;
      for (const WindowAccess& a : w->access) {
        from.push_back(a.lo);
        const IndexRange lo = ranges_.range(a.lo);
        dims.push_back(
            a.is_point() ? lo : IndexRange{lo.lo, std::max(lo.lo, ranges_.range(a.hi).hi - 1)});
      }
      add(boxes, w->name, form_of(from), std::move(dims));
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
  for (const auto& [name, all] : boxes)
    for (const TouchedBox& box : all) out += occupied(box, c);
  return out;
}

// Of the buffer's boxes that move from one iteration to the next, the one that most lines enter.
template <class Node>
std::optional<Movement> main_movement(const Node& loop, Sym buffer, double line) {
  const auto first = loop.first.find(buffer), second = loop.second.find(buffer);
  if (first == loop.first.end() || second == loop.second.end()) return std::nullopt;
  std::optional<Movement> out;
  double most = -1;
  for (size_t k = 0; k < first->second.size(); ++k) {
    const TouchedBox &from = first->second[k], &to = second->second[k];
    if (from == to) continue;
    if (const double lines = lines_entered(from, to, line); lines > most) {
      most = lines;
      out = movement(from, to, line);
    }
  }
  return out;
}

bool is_one_run(const std::vector<TouchedBox>& boxes, double line) {
  return boxes.size() == 1 && runs_of(boxes.front(), line).count == 1;
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
    const std::optional<Movement> m = main_movement(n, buffer, line);
    if (!m) continue;
    if (m->kept < 1) return c.late(m->runs.bytes / line);
    const bool goes_on =
        m->runs.count == 1 && k > 0 && is_one_run(down[k - 1]->swept.at(buffer), line);
    return goes_on ? 0 : c.late(n.trips * m->shift / line);
  }
  double length = 0;
  for (const TouchedBox& box : loop.swept.at(buffer))
    length = std::max(length, runs_of(box, line).bytes / line);
  return c.late(length);
}

template <class Node>
LineCount loop_traffic(const Node& loop, const Cache& c);

// What one time through the body brings in.
template <class Node>
LineCount body_traffic(const Node& body, const Cache& c) {
  LineCount out;
  for (const Node& child : body.children) out.add(loop_traffic(child, c));
  for (const Boxes& boxes : body.statements)
    for (const auto& [name, all] : boxes)
      for (const TouchedBox& box : all) out.add({lines_of(box, c.line), lines_of(box, c.line)});
  return out;
}

// Share of a working set that is lost before it is used again. Caches do not forget all at once:
// pages lie at random, and what else runs needs some room.
double lost(const Boxes& boxes, const Cache& c) {
  return std::clamp(2 * (occupied(boxes, c) / c.bytes - c.core.cache_full), 0.0, 1.0);
}

double lines_of(const std::vector<TouchedBox>& boxes, double line) {
  double out = 0;
  for (const TouchedBox& box : boxes) out += lines_of(box, line);
  return out;
}

// Of a buffer, when only what the iteration before touched is still there. Nothing: the first
// iteration does not touch it.
template <class Node>
std::optional<double> lines_entering(const Node& loop, Sym buffer, double line) {
  const auto first = loop.first.find(buffer), second = loop.second.find(buffer);
  if (first == loop.first.end()) return std::nullopt;
  double out = lines_of(first->second, line);
  if (loop.trips <= 1 || second == loop.second.end()) return out;
  for (size_t k = 0; k < first->second.size(); ++k)
    if (const TouchedBox& from = first->second[k], &to = second->second[k]; !(from == to))
      out += (loop.trips - 1) * lines_entered(from, to, line);
  return out;
}

// With a body that stays in the cache: each buffer whole when all of the loop stays, else what
// enters from one iteration to the next.
template <class Node>
LineCount kept_traffic(const Node& loop, const Cache& c) {
  LineCount out;
  const double gone = lost(loop.swept, c);
  for (const auto& [name, swept] : loop.swept) {
    const double all = lines_of(swept, c.line);
    const double entering = gone > 0 ? lines_entering(loop, name, c.line).value_or(all) : all;
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
  root_->first = walk.touched(p.body).boxes();
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
  for (const auto& [name, boxes] : root_->first) lines += lines_of(boxes, line_bytes);
  return lines * line_bytes;
}

}  // namespace exotune
