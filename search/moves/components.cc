#include "search/moves/components.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/library/inspection.h"
#include "search/moves/parts.h"
#include "search/outline/outline.h"

namespace exotune {

namespace {

// Targets have instructions for two to four; of more, whole matrices are turned over.
constexpr int64_t kMostComponents = 4;
constexpr size_t kMostRowsOfArray = 4;  // a node's and its children's
// Of an array's rows that are copied for one block of a loop: read again, they come from a second
// cache, as those of most machines hold it many times over.
constexpr int64_t kCloseBytes = 32768;

// How a buffer lies along a loop: `number` components side by side, in a dimension of their own or
// one element after the other.
struct Components {
  Sym buffer;
  ScalarType scalar = ScalarType::kF32;
  int64_t number = 0;
  size_t behind = 0;  // dimensions of one element; none: they lie flat
  bool back = false;  // later iterations read what lies before: x[N - p, 0]
  bool flat() const { return behind == 0; }
  // More than the components that instructions take apart at once: whole matrices are turned over.
  bool is_record() const { return number > kMostComponents || behind > 1; }
  bool operator==(const Components&) const = default;
};

class ComponentLoop {
 public:
  ComponentLoop(const Outline& o, int loop)
      : o_(o), loop_(o.loops[static_cast<size_t>(loop)]), number_(loop) {
    for (const OutlineAccess& a : o.accesses)
      if (stands_in(a) && !add(a)) {
        found_.clear();
        return;
      }
    if (std::any_of(found_.begin(), found_.end(),
                    [&](const Components& c) { return c.is_record() && is_mostly_unread(c); }))
      found_.clear();
  }
  const std::vector<Components>& found() const { return found_; }
  // How many sums go on from iteration to iteration.
  int64_t sums() const {
    return std::count_if(o_.accesses.begin(), o_.accesses.end(), [&](const OutlineAccess& a) {
      return a.writes() && a.what.kind != Access::Kind::kWrite && stands_in(a) &&
             lookup(*o_.proc, loop_.path, a.what.buffer) &&
             std::none_of(a.what.idx.begin(), a.what.idx.end(),
                          [&](const ExprPtr& e) { return mentions(e, loop_.iter); });
    });
  }

 private:
  bool stands_in(const OutlineAccess& a) const {
    return std::find(a.loops.begin(), a.loops.end(), number_) != a.loops.end();
  }

  // False: along this loop nothing is taken apart.
  bool add(const OutlineAccess& a) {
    const std::vector<ExprPtr>& idx = a.what.idx;
    std::optional<Components> here;
    for (size_t d = 0; d < idx.size(); ++d) {
      if (!mentions(idx[d], loop_.iter)) continue;
      const std::optional<Affine> form = affine(idx[d]);
      if (!form || here) return false;
      const int64_t along = form->coeff_of(loop_.iter), step = std::abs(along);
      const bool last = d + 1 == idx.size();
      if (step == 1 && last) return true;
      const size_t behind = idx.size() - d - 1;
      here = {a.what.buffer, a.scalar, last ? step : components_of(a, behind), behind, along < 0};
      if ((!last && step != 1) || here->number < 2 || (here->back && a.writes()) ||
          (here->is_record() &&
           (last || here->back || here->number > kMostOfRecord || holds_long_loops())))
        return false;
    }
    if (!here) return true;
    const auto known = std::find_if(found_.begin(), found_.end(), [&](const Components& c) {
      return c.buffer == here->buffer && c.back == here->back;
    });
    if (known != found_.end()) return *known == *here;
    found_.push_back(*here);
    return true;
  }

  // Of the last dimensions; 0: not known.
  int64_t components_of(const OutlineAccess& a, size_t dimensions) const {
    const std::optional<ScopeEntry> entry = lookup(*o_.proc, loop_.path, a.what.buffer);
    if (!entry) return 0;
    const std::vector<ExprPtr>& shape = entry->type.shape;
    int64_t out = 1;
    for (size_t d = shape.size() - dimensions; d < shape.size(); ++d)
      out *= as_int(shape[d]).value_or(0);
    return out;
  }

  // Does each iteration take a few numbers of a record and leave the others?
  bool is_mostly_unread(const Components& c) const {
    const bool innermost = std::none_of(o_.loops.begin(), o_.loops.end(), [&](const auto& l) {
      return l.path.size() > loop_.path.size() && is_prefix(loop_.path, l.path);
    });
    return innermost &&
           2 * std::count_if(o_.accesses.begin(), o_.accesses.end(), [&](const OutlineAccess& a) {
             return a.what.buffer == c.buffer && stands_in(a);
           }) < c.number;
  }

  // Then vectors go along those, where elements lie side by side along them.
  bool holds_long_loops() const {
    return std::any_of(o_.loops.begin(), o_.loops.end(), [&](const OutlineLoop& l) {
      return l.path.size() > loop_.path.size() && is_prefix(loop_.path, l.path) &&
             fills_vectors(most_of(l)) && lies_along(l);
    });
  }
  // Of a triangle's rows the longest.
  static int64_t most_of(const OutlineLoop& l) {
    const int64_t unknown = l.bounded_by.empty() ? kShortLoop : static_cast<int64_t>(2 * l.trips);
    return l.extent.value_or(unknown);
  }
  bool lies_along(const OutlineLoop& l) const {
    return std::any_of(o_.accesses.begin(), o_.accesses.end(), [&](const OutlineAccess& a) {
      if (a.what.idx.empty()) return false;
      const std::optional<Affine> form = affine(a.what.idx.back());
      return !form || form->coeff_of(l.iter) != 0;
    });
  }
  // The nine, 19 or 27 directions of a lattice do not.
  static bool fills_vectors(int64_t extent) {
    constexpr int64_t kMostDirections = 32;  // a rest costs less than turning over more than that
    return extent >= kShortLoop && (extent % kShortLoop == 0 || extent > kMostDirections);
  }

  const Outline& o_;
  const OutlineLoop& loop_;
  int number_;
  std::vector<Components> found_;
};

// How many elements of the components it copies at once, whichever loop is outside, in memory
// alone; 0: it does something else.
int64_t elements_moved(const Proc& instr, const Components& c) {
  const For* outer = instr.body.size() == 1 ? instr.body[0]->as<For>() : nullptr;
  const For* inner = outer && outer->body.size() == 1 ? outer->body[0]->as<For>() : nullptr;
  const Assign* copy = inner && inner->body.size() == 1 ? inner->body[0]->as<Assign>() : nullptr;
  if (!copy || !copy->rhs->as<Read>() || instr.args.size() != 2 ||
      instr.args.front().type.scalar != c.scalar)
    return 0;
  const std::optional<int64_t> o = literal_extent(*outer), i = literal_extent(*inner);
  if (!o || !i) return 0;
  return *o == c.number ? *i : *i == c.number ? *o : 0;
}

// As many elements as instructions move of each of them; 0: of one of them they move none, or
// another number.
int64_t elements_at_once(const std::vector<Components>& all, const ValueList& instructions) {
  int64_t elements = 0;
  for (Components c : all) {
    if (c.is_record()) c.number = 2;  // as many lanes as two components have
    int64_t most = 0;
    for (const Value& instr : instructions)
      most = std::max(most, elements_moved(**instr.as<ProcPtr>(), c));
    if (most == 0 || (elements != 0 && most != elements)) return 0;
    elements = most;
  }
  return elements;
}

// Are blocks of so many vectors for so many sums? They hide each other's latency, as far as
// registers go.
bool is_for(int64_t vectors, int64_t sums) {
  constexpr int64_t kLeast = 2, kGreatest = 16;  // chains
  return vectors * sums >= kLeast && (vectors * sums <= kGreatest || vectors == 1);
}

// Takes one loop apart, in blocks of so many iterations.
class TakenApart {
 public:
  TakenApart(Schedule& s, int64_t block, int64_t elements, const ValueList& instructions)
      : s_(s), block_(block), elements_(elements), instructions_(instructions) {}

  // `sums`: the loop adds to elements that stay.
  bool run(const OutlineLoop& loop, const std::vector<Components>& components, bool sums) {
    const std::string name = loop.iter.name();
    if (apply(s_, "divide_loop",
              {Value(Cursor::stmt(s_.proc, loop.path)), Value(block_),
               Value::strings({name + "b", name}), Value("cut")}))
      return false;
    const Path inner = child(loop.path);
    if (!stmt_at(*s_.proc, inner)) return false;
    inner_ = Cursor::stmt(s_.proc, inner);
    if (sums && apply(s_, "parallelize_reduction",
                      {Value(Cursor::stmt(s_.proc, loop.path)), Value(name + "_sums"),
                       Value(dram_stack())}))
      return false;
    // What goes back first: what is left of its buffer then goes on.
    return std::all_of(components.begin(), components.end(),
                       [&](const Components& c) { return !c.back || stage_back(c); }) &&
           std::all_of(components.begin(), components.end(),
                       [&](const Components& c) { return c.back || stage(c); });
  }

  // Vectors along the block where several nests stand in it: nobody who solves those one by one
  // would have them run along it.
  void along_block(const VectorValues& unit) {
    const Cursor inner = forward(s_.proc, *inner_);
    const Block& body = inner.as<For>().body;
    if (block_ != unit.lanes() || std::count_if(body.begin(), body.end(), holds_loop) < 2) return;
    // By itself: an operator takes the loop by its name.
    Schedule made = s_;
    Part part;
    const std::string name = inner.as<For>().iter.name();
    if (take_out(made, inner, name + "_lanes", part)) return;
    Schedule lanes{part.proc, {}, false};
    if (!apply(lanes, unit.step("optimize_level_1", {Value(name)}, {Value(1)})) &&
        !put_back(made, part, lanes))
      s_ = std::move(made);
  }

 private:
  // Where the block's elements lie: whole elements, all of them.
  struct Window {
    std::string text;
    size_t front = 0;  // dimensions in front of the block's: rot[0, i, c] beside rot[1, i, c]
  };
  std::optional<Window> window_of(const Components& c) const {
    const Cursor here = forward(s_.proc, *inner_);
    std::optional<Rectangle> all = touched(s_.proc, here, c.buffer);
    if (!all) return std::nullopt;
    const size_t rank = all->lo.size(), along = rank - 1 - c.behind;
    size_t front = 0;
    int64_t rows = 1;
    for (size_t d = 0; d < along; ++d) {
      const std::optional<int64_t> width = as_int(normalize(all->hi[d] - all->lo[d]));
      if (!width || (c.flat() && *width > 1)) return std::nullopt;
      front += *width > 1 ? 1 : 0;
      rows *= *width;
    }
    // A few rows, or as many as lie close by with all components.
    if (rows > kMostComponents && rows * block_ * c.number * bytes_of(c.scalar) > kCloseBytes)
      return std::nullopt;
    if (c.flat()) {
      // From the first component of the first element.
      const std::optional<Affine> from = affine(all->lo[along]);
      if (!from) return std::nullopt;
      const int64_t first = ((from->constant % c.number) + c.number) % c.number;
      all->lo[along] = normalize(all->lo[along] - int_const(first));
    } else {
      const std::optional<ScopeEntry> entry = lookup(*s_.proc, here.path(), c.buffer);
      if (!entry) return std::nullopt;
      for (size_t d = along + 1; d < rank; ++d) {
        all->lo[d] = int_const(0);
        all->hi[d] = entry->type.shape[d];
      }
    }
    const int64_t length = block_ * (c.flat() ? c.number : 1);
    const auto touched_length = as_int(normalize(all->hi[along] - all->lo[along]));
    if (!touched_length || *touched_length > length) return std::nullopt;
    all->hi[along] = normalize(all->lo[along] + int_const(length));
    return Window{all->text(c.buffer.name(), scope_at(*s_.proc, here.path())), front};
  }

  // The same of elements in rows that lie anywhere, as those of a node and of its children in a
  // tree: a window of each row. Empty: a row's number changes inside the block, or its elements are
  // not the block's, one after the other.
  std::vector<Window> windows_of_rows(const Components& c) const {
    const Cursor here = forward(s_.proc, *inner_);
    const ExprPtr iter = read_var(here.as<For>().iter, ScalarType::kIndex);
    const std::vector<ScopeEntry> scope = scope_at(*s_.proc, here.path());
    const std::optional<ScopeEntry> entry = lookup(*s_.proc, here.path(), c.buffer);
    std::vector<Window> out;
    std::set<std::string> known;
    for (const Access& a : accesses_of(*s_.proc, here.path(), 1)) {
      if (a.buffer != c.buffer) continue;
      if (!entry || c.flat() || a.idx.size() < c.behind + 2) return {};
      const size_t along = a.idx.size() - 1 - c.behind;
      std::string text = c.buffer.name() + "[";
      for (size_t d = 0; d < along; ++d) {
        if (moves_inside(a, a.idx[d])) return {};
        text += str(a.idx[d], scope) + ", ";
      }
      const ExprPtr from = normalize(a.idx[along] - iter);
      if (moves_inside(a, from)) return {};
      text += str(from, scope) + ":" + str(normalize(from + int_const(block_)), scope);
      for (size_t d = along + 1; d < a.idx.size(); ++d)
        text += ", 0:" + str(entry->type.shape[d], scope);
      if (known.insert(text).second) out.push_back({text + "]", 0});
    }
    if (out.size() > kMostRowsOfArray) out.clear();
    return out;
  }
  static bool moves_inside(const Access& a, const ExprPtr& e) {
    return std::any_of(a.vars.begin(), a.vars.end(),
                       [&](const RangedVar& v) { return mentions(e, v.var); });
  }

  // Where the elements lie that the block's first such read goes through, from the last iteration's
  // on; axes `e` of elements (of flat ones all numbers) and `c` of components.
  std::optional<std::string> view_of(const Components& c) const {
    const Cursor here = forward(s_.proc, *inner_);
    const For& loop = here.as<For>();
    for (const Access& a : accesses_of(*s_.proc, here.path(), 1)) {
      if (a.buffer != c.buffer || a.through != a.buffer || a.idx.empty()) continue;
      const size_t along = a.idx.size() - 1 - c.behind;
      const std::optional<Affine> form = affine(a.idx[along]);
      if (!form || form->coeff_of(loop.iter) >= 0) continue;
      const std::vector<ScopeEntry> scope = scope_at(*s_.proc, here.path());
      std::string text = c.buffer.name() + "[";
      for (size_t d = 0; d < along; ++d) text += str(a.idx[d], scope) + ", ";
      // The last iteration's element; of a flat one the first component.
      const ExprPtr last = int_const(block_ - 1);
      ExprPtr from = rewrite(a.idx[along], [&](const ExprPtr& e) -> ExprPtr {
        const Read* read = e->as<Read>();
        return read && read->name == loop.iter ? last : nullptr;
      });
      if (c.flat()) from = from - int_const(((form->constant % c.number) + c.number) % c.number);
      from = normalize(from);
      return text + str(from, scope) + (c.flat() ? " + e]" : " + e, c]");
    }
    return std::nullopt;
  }

  bool stage_back(const Components& c) {
    const std::optional<std::string> view = view_of(c);
    const std::string name = c.buffer.name() + "_back";
    ValueList axes = {Value::strings({"e", std::to_string(block_ * (c.flat() ? c.number : 1))})};
    if (!c.flat()) axes.push_back(Value::strings({"c", std::to_string(c.number)}));
    return view &&
           !apply(s_, "stage_view",
                  {Value(*inner_), Value(name), Value(std::move(axes)), Value(*view)}) &&
           in_vectors(name, c, 0);
  }

  bool stage(const Components& c) {
    std::vector<Window> windows;
    if (const std::optional<Window> window = window_of(c))
      windows.push_back(*window);
    else
      windows = windows_of_rows(c);
    for (size_t k = 0; k < windows.size(); ++k) {
      const std::string name =
          c.buffer.name() + "_parts" + (k > 0 ? "_" + std::to_string(k) : std::string());
      if (apply(s_, "stage_mem", {Value(*inner_), Value(windows[k].text), Value(name)}) ||
          !in_vectors(name, c, windows[k].front))
        return false;
    }
    return !windows.empty();
  }

  // A block's elements in the buffer `name`: vectors of each component, filled and emptied by
  // instructions.
  bool in_vectors(const std::string& name, const Components& c, size_t front) {
    const std::string alloc = name + ": _";
    if (apply(s_, "set_memory", {Value(alloc), Value(dram_stack())}) ||
        (c.flat() && apply(s_, "divide_dim", {Value(alloc), Value(0), Value(c.number)})) ||
        apply(s_, "rearrange_dim", {Value(alloc), lanes_last(c, front)}))
      return false;
    // What copies a whole record is a nest like others.
    if (c.is_record() || front > 0) return true;
    // Copies in stand in front of the loop, copies out behind it.
    for (const bool in : {true, false})
      for (const Cursor& copy : copies(name, in))
        if (!turn(copy, c, in)) return false;
    return true;
  }

  // [1, 2, 0]; with a dimension in front [0, 2, 3, 1]
  static Value lanes_last(const Components& c, size_t front) {
    std::vector<int64_t> order;
    for (size_t d = 0; d <= front + std::max<size_t>(1, c.behind); ++d)
      if (d != front) order.push_back(static_cast<int64_t>(d));
    order.push_back(static_cast<int64_t>(front));
    return Value::ints(order);
  }

  std::vector<Cursor> copies(const std::string& name, bool in) const {
    const Path inner = forward(s_.proc, *inner_).path();
    std::vector<Cursor> out;
    const int own = inner.back().index;
    const int n = size_of_block(s_.proc, inner);
    for (int k = in ? 0 : own + 1; k < (in ? own : n); ++k) {
      const Path here = sibling(inner, k - own);
      const StmtPtr copy = stmt_at(*s_.proc, here);
      if (!copy->as<For>()) continue;
      const StmtPtr innermost_stmt = stmt_at(*s_.proc, child(innermost(s_.proc, here)));
      const Assign* a = innermost_stmt ? innermost_stmt->as<Assign>() : nullptr;
      const Read* from = a ? a->rhs->as<Read>() : nullptr;
      if (from && (in ? a->name : from->name).name() == name)
        out.push_back(Cursor::stmt(s_.proc, here));
    }
    return out;
  }

  // One copy by instructions: loops over components outside where they are taken apart.
  bool turn(const Cursor& copy, const Components& c, bool in) {
    const auto here = [&] { return forward(s_.proc, copy); };
    if (c.flat()) {
      const std::string name = here().as<For>().iter.name();
      if (apply(s_, "divide_loop",
                {Value(here()), Value(c.number), Value::strings({name, name + "c"}),
                 Value("perfect")}) ||
          apply(s_, "simplify", {Value(here())}))
        return false;
    }
    const Path top = here().path();
    if (in && apply(s_, "reorder_loops", {Value(here())})) return false;
    const Cursor loops = Cursor::stmt(s_.proc, top);
    for (const Value& instr : instructions_)
      if (elements_moved(**instr.as<ProcPtr>(), c) == elements_ &&
          !apply(s_, block_ == elements_ ? "replace" : "tile_to_instr", {Value(loops), instr}))
        return true;
    return false;
  }

  Schedule& s_;
  int64_t block_, elements_;  // an instruction moves
  const ValueList& instructions_;
  std::optional<Cursor> inner_;
};

}  // namespace

std::vector<Schedule> in_components(const Schedule& s, const std::map<std::string, int64_t>& sizes,
                                    const ValueList& instructions, const VectorValues& unit) {
  const Outline o = outline_of(*s.proc, sizes);
  std::vector<Schedule> out;
  for (const int64_t vectors : {1, 2, 4}) {
    Schedule made = s;
    Path taken;
    // The last first: places in front of it stay.
    for (int k = static_cast<int>(o.loops.size()) - 1; k >= 0; --k) {
      const OutlineLoop& loop = o.loops[static_cast<size_t>(k)];
      if (!taken.empty() && is_prefix(loop.path, taken)) continue;
      const ComponentLoop components(o, k);
      const int64_t elements = elements_at_once(components.found(), instructions),
                    block = vectors * elements;
      if (elements == 0 || (loop.extent && *loop.extent < block)) continue;
      // Of a triangle the mean: its longest row has up to twice as many.
      if (!loop.bounded_by.empty() && 2 * loop.trips < static_cast<double>(block)) continue;
      const LoopRole role = role_of(o, k);
      const bool sums = role == LoopRole::kReduction;
      if (sums ? !is_for(vectors, components.sums()) : role != LoopRole::kParallel || vectors > 1)
        continue;
      Schedule tried = made;
      TakenApart apart(tried, block, elements, instructions);
      if (!apart.run(loop, components.found(), sums)) continue;
      apart.along_block(unit);
      made = std::move(tried);
      taken = loop.path;
    }
    if (made.steps.size() > s.steps.size()) out.push_back(std::move(made));
  }
  return out;
}

}  // namespace exotune
