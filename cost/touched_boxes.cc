#include "cost/touched_boxes.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/hashing.h"

namespace exotune {
// What a loop body touches of a buffer, as boxes of its elements: lines are counted in boxes, and
// boxes of two iterations tell what is new in the later one. Accesses that differ by constants
// alone (a stencil's) have one form and one box; forms whose boxes lie together are joined, those
// far apart (two halves of an array) stay apart, as a box around both would count what nobody
// touches.

void TouchedBox::hold(const TouchedBox& o) {
  for (size_t d = 0; d < dims.size(); ++d) {
    dims[d].lo = std::min(dims[d].lo, o.dims[d].lo);
    dims[d].hi = std::max(dims[d].hi, o.dims[d].hi);
  }
}

// From the innermost dimension outwards, a dimension joins the run as long as its next element lies
// no further than a line beyond what is there: then the run is read through. The first that does
// not breaks it, and all further out repeat it.
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

double lines_of(const TouchedBox& box, double line) {
  const Runs runs = runs_of(box, line);
  return runs.count * std::ceil(runs.bytes / line);
}

// Along a run, movement shifts it by bytes; across runs, it leaves a share of them in place.
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

// Runs that stay bring in what they moved by, at most all of themselves; those that are new, all.
double lines_entered(const TouchedBox& from, const TouchedBox& to, double line) {
  const Movement m = movement(from, to, line);
  const double each = std::ceil(m.runs.bytes / line);
  return m.runs.count * (m.kept * std::min(each, m.shift / line) + (1 - m.kept) * each);
}

namespace {

// Boxes are joined by lines of this size whatever the machine has: the same structure must not be
// told apart by the cache that is asked about.
constexpr double kLine = 64;
// What a box may hold beyond what its forms touch, as a share of that.
constexpr double kSlack = 1.5;

// Sums of terms are sums of hashes, so that the order of terms does not matter and constants drop
// out.
uint64_t terms_of(const ExprPtr& e) {
  if (as_int(e)) return 0;
  if (const USub* n = e->as<USub>()) return 0 - terms_of(n->arg);
  const BinOp* o = e->as<BinOp>();
  if (!o) return hash_mix(e->hash);
  const std::optional<int64_t> left = as_int(o->lhs), right = as_int(o->rhs);
  if (o->op == BinOpKind::kAdd) return terms_of(o->lhs) + terms_of(o->rhs);
  if (o->op == BinOpKind::kSub) return terms_of(o->lhs) - terms_of(o->rhs);
  if (o->op == BinOpKind::kMul && (left || right))
    return static_cast<uint64_t>(left ? *left : *right) * terms_of(left ? o->rhs : o->lhs);
  return hash_combine(hash_combine(static_cast<uint64_t>(o->op), terms_of(o->lhs)),
                      right ? static_cast<uint64_t>(*right) : terms_of(o->rhs));
}

// Which box each form is in, and the boxes.
struct Joined {
  std::vector<size_t> place;
  std::vector<TouchedBox> boxes;
};

bool holds_little_else(const TouchedBox& a, const TouchedBox& b) {
  TouchedBox both = a;
  both.hold(b);
  return lines_of(both, kLine) <= kSlack * (lines_of(a, kLine) + lines_of(b, kLine));
}

// Greedy, in the order in which forms were met, which is that of the text: the same everywhere.
template <class Forms>
Joined join(const Forms& forms) {
  Joined out;
  for (const auto& f : forms) {
    size_t k = 0;
    while (k < out.boxes.size() && !holds_little_else(out.boxes[k], f.box)) ++k;
    out.place.push_back(k);
    if (k == out.boxes.size())
      out.boxes.push_back(f.box);
    else
      out.boxes[k].hold(f.box);
  }
  return out;
}

}  // namespace

uint64_t form_of(const std::vector<ExprPtr>& subscripts) {
  uint64_t out = subscripts.size();
  for (const ExprPtr& e : subscripts) out = hash_combine(out, terms_of(e));
  return out;
}

void Touches::add(Sym buffer, uint64_t form, TouchedBox box) {
  std::vector<Form>& forms = forms_[buffer];
  for (Form& f : forms)
    if (f.form == form) return f.box.hold(box);
  forms.push_back({form, std::move(box)});
}

Boxes Touches::boxes() const {
  Boxes out;
  for (const auto& [buffer, forms] : forms_) out[buffer] = join(forms).boxes;
  return out;
}

// Boxes of two iterations are compared one by one, so both are joined as the whole loop's forms
// are, whichever of them the iteration has.
Boxes Touches::boxes(const Touches& like) const {
  Boxes out;
  for (const auto& [buffer, forms] : like.forms_) {
    const auto here = forms_.find(buffer);
    if (here == forms_.end()) continue;
    const Joined joined = join(forms);
    std::vector<std::optional<TouchedBox>> boxes(joined.boxes.size());
    for (size_t f = 0; f < forms.size(); ++f)
      for (const Form& mine : here->second)
        if (mine.form == forms[f].form) {
          std::optional<TouchedBox>& box = boxes[joined.place[f]];
          if (box)
            box->hold(mine.box);
          else
            box = mine.box;
        }
    // What this iteration leaves out moves nothing.
    for (size_t k = 0; k < boxes.size(); ++k)
      out[buffer].push_back(boxes[k] ? *boxes[k] : joined.boxes[k]);
  }
  return out;
}

}  // namespace exotune
