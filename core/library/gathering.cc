// The loop over the window stands right outside the long one, which is then shifted by it: the
// element no longer knows the window, and the long loop begins and ends with it. Cut where all of
// the window is there, the middle is a rectangle.
#include "core/library/gathering.h"

#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/library/attempted.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

namespace exotune {

namespace {

const For& for_at(const ProcPtr& p, const Path& path) { return *stmt_at(*p, path)->as<For>(); }

// Loops around nothing but a loop, the outermost first, down to the one that holds the sum.
std::vector<Path> band_from(const ProcPtr& p, Path top) {
  std::vector<Path> out;
  for (;;) {
    const StmtPtr& s = stmt_at(*p, top);
    if (!s || !s->as<For>()) return out;
    out.push_back(top);
    if (body_of(*s).size() != 1) return out;
    top = child(top);
  }
}

// How the two loops move an element that the statement sums into.
struct ElementSteps {
  int64_t along = 0, over = 0;
};
std::optional<ElementSteps> steps_of(const StmtPtr& s, Sym along, Sym over) {
  const Reduce* r = s->as<Reduce>();
  if (!r) return std::nullopt;
  for (const ExprPtr& index : r->idx) {
    const std::optional<Affine> a = affine(index);
    if (!a || a->coeff_of(along) == 0 || a->coeff_of(over) == 0) continue;
    return ElementSteps{a->coeff_of(along), a->coeff_of(over)};
  }
  return std::nullopt;
}

// One nest: loops `depth` deep below `top`.
class Gathering {
 public:
  Gathering(ProcPtr p, Path top, int along, int over, ElementSteps steps, int64_t rows)
      : p_(std::move(p)), top_(std::move(top)), rows_(rows) {
    same_way_ = (steps.along > 0) == (steps.over > 0);
    const int64_t apart = std::abs(steps.along / steps.over);
    // The window's loop right outside the long one, wherever it stood.
    for (; over + 1 < along; ++over) p_ = reorder_loops(p_, at(p_, down(top_, over)));
    for (; over > along; --over) p_ = reorder_loops(p_, at(p_, down(top_, over - 1)));
    if (apart > 1)
      by_remainder(top_, over, apart);
    else
      window(top_, over);
  }
  ProcPtr result() { return p_; }

 private:
  static Path down(Path path, int levels) {
    for (int k = 0; k < levels; ++k) path = child(path);
    return path;
  }
  // What stands behind the statement at `level` below `top` leaves all loops: the nest behind.
  void part_behind(const Path& top, int level) {
    if (level > 0) p_ = fission(p_, at(p_, down(top, level)).after(), level);
  }

  // for u: s(u)  ->  for ur in seq(0, apart): for u: s(apart * u + ur), the remainders that have
  // one more first.
  void by_remainder(const Path& top, int over, int64_t apart) {
    const Path path = down(top, over);
    const std::string name = for_at(p_, path).iter.name();
    if (as_int(for_at(p_, path).lo) != 0) p_ = shift_loop(p_, at(p_, path), int_const(0));
    const std::optional<int64_t> length = as_int(for_at(p_, path).hi);
    if (!length || *length <= apart)
      throw SchedulingError("gather_sums: windows of `" + name +
                            "` do not overlap, or are of "
                            "unknown length");
    const int64_t left = *length % apart;
    p_ = divide_loop(p_, at(p_, path), apart, {name, name + "r"},
                     left == 0 ? Tail::kPerfect : Tail::kGuard);
    p_ = reorder_loops(p_, at(p_, path));
    if (left == 0) return window(top, over + 1);
    // All have length / apart terms; the first `left` remainders have one more.
    p_ = cut_loop(p_, at(p_, path), left);
    const Path fewer = sibling(path, 1);
    p_ = cut_loop(p_, at(p_, child(fewer)), *length / apart);
    for (const Path& terms : {sibling(child(fewer), 1), child(fewer), child(path)})
      p_ = eliminate_dead_code(p_, at(p_, child(terms)));
    p_ = delete_pass(p_);
    part_behind(top, over);
    const Path behind = sibling(top, 1);
    if (*length / apart > 1) window(behind, over + 1);
    window(top, over + 1);
  }

  // for u: for i: s, u `over` levels below `top`.
  void window(const Path& top, int over) {
    const Path path = down(top, over);
    const std::optional<int64_t> length = literal_extent(for_at(p_, path));
    if (rows_ == 0 || (length && *length <= rows_)) return gather(top, over);
    const std::string name = for_at(p_, path).iter.name();
    p_ = divide_loop(p_, at(p_, path), rows_, {name + "o", name}, Tail::kCut);
    if (size_of_block(p_, path) > path.back().index + 1) {
      part_behind(top, over);
      const Path behind = sibling(top, 1);
      const std::optional<int64_t> left = literal_extent(for_at(p_, down(behind, over)));
      if (left && *left > 1) gather(behind, over);
    }
    gather(top, over + 1);
  }

  void gather(Path top, int over) {
    Path path = down(top, over), inner = child(path);
    const For u = for_at(p_, path), i = for_at(p_, inner);
    const std::optional<int64_t> length = literal_extent(u);
    if (!length)
      throw SchedulingError("gather_sums: the loop over `" + u.iter.name() +
                            "` has no known length: take some rows of it at a time");
    const std::optional<int64_t> longer = literal_extent(i);
    if (*length < 2 || (longer && *longer < *length))
      throw SchedulingError("gather_sums: the loop over `" + i.iter.name() +
                            "` is shorter than the window");
    const ExprPtr corner = int_const(*length - 1);
    const ExprPtr fits = bin_op(BinOpKind::kLe, corner, normalize(i.hi - i.lo));
    if (!longer && !prove(*p_, inner, fits)) {
      // What is too short stays as it is.
      p_ = specialize(p_, at(p_, top), {fits});
      top = child(top), path = down(top, over), inner = child(path);
    }
    const ExprPtr at_u = read_var(u.iter, ScalarType::kIndex);
    const ExprPtr behind = same_way_ ? at_u - u.lo : u.hi - int_const(1) - at_u;
    p_ = shift_loop(p_, at(p_, inner), normalize(i.lo + behind));
    p_ = simplify(p_, at(p_, inner));
    p_ = cut_loop(p_, at(p_, inner), normalize(i.lo + corner));
    p_ = cut_loop(p_, at(p_, sibling(inner, 1)), i.hi);
    p_ = fission(p_, at(p_, sibling(inner, 1)).after(), over + 1);
    p_ = fission(p_, at(p_, inner).after(), over + 1);
    for (const int k : {0, 1, 2}) p_ = reorder_loops(p_, at(p_, down(sibling(top, k), over)));
  }

  ProcPtr p_;
  const Path top_;
  const int64_t rows_;
  bool same_way_ = true;
};

struct Place {
  Path top;
  int along = -1, over = -1;  // levels below
  ElementSteps steps;
};

std::vector<Place> places_of(const ProcPtr& p, const std::string& along, const std::string& over) {
  std::vector<Place> out;
  std::vector<Path> tops;
  for (const Cursor& c : loops_named(p, along)) {
    Path top = c.path();
    while (top.size() > 1) {
      const Path around = parent_stmt(top);
      const StmtPtr& s = stmt_at(*p, around);
      if (!s->as<For>() || body_of(*s).size() != 1) break;
      top = around;
    }
    if (std::find(tops.begin(), tops.end(), top) == tops.end()) tops.push_back(top);
  }
  for (const Path& top : tops) {
    Place place{top, -1, -1, {}};
    const std::vector<Path> band = band_from(p, top);
    for (int k = 0; k < static_cast<int>(band.size()); ++k) {
      const std::string& name = for_at(p, band[static_cast<size_t>(k)]).iter.name();
      if (name == along) place.along = k;
      if (name == over) place.over = k;
    }
    if (place.along < 0 || place.over < 0 || body_of(*stmt_at(*p, band.back())).size() != 1)
      continue;
    const auto iter = [&](int k) { return for_at(p, band[static_cast<size_t>(k)]).iter; };
    const auto steps =
        steps_of(stmt_at(*p, child(band.back())), iter(place.along), iter(place.over));
    if (!steps || steps->along % steps->over != 0) continue;
    place.steps = *steps;
    out.push_back(place);
  }
  return out;
}

}  // namespace

ProcPtr gather_sums(ProcPtr p, const std::string& along, const std::string& over, int64_t rows) {
  if (rows < 0 || rows == 1) throw SchedulingError("gather_sums: at least two rows at a time");
  const std::vector<Place> places = places_of(p, along, over);
  if (places.empty())
    throw SchedulingError("gather_sums: no nest sums into elements that loops over `" + along +
                          "` and `" + over + "` both move, the first one by whole steps");
  // Last first: what a nest becomes stands behind it.
  for (auto place = places.rbegin(); place != places.rend(); ++place)
    p = Gathering(std::move(p), place->top, place->along, place->over, place->steps, rows).result();
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> gathering_operators() {
  using namespace params;
  return {
      {"gather_sums",
       {proc(), string("along"), string("over"), integer("rows", 0)},
       "for i: for u: y[i + u] += e(i, u)  ->  for i: for u: y[i] += e(i - u, u)   (and the ends)",
       [](const OperatorArgs& a) -> Value {
         return gather_sums(a.proc(), a.string(1), a.string(2), a.integer(3));
       }},
  };
}

}  // namespace exotune
