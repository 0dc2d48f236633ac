// The inverse of staging one element. It proves nothing of its own: the element is staged again in
// the result, and what comes out must be what was there.
#include "core/ir/printer.h"
#include "core/primitives/internal.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

namespace {

constexpr const char* kUnstage = "unstage";

// t : T ; t = x[idx] ; .. ; x[idx] = e, of the allocation's block from the allocation on.
struct Staging {
  Path alloc;
  Sym scalar;
  const Read* element;  // x[idx]
  int last;             // how many statements behind the allocation the store stands
  ExprPtr stored;       // e
  bool plain;           // e is t
};

Staging staging_at(const Proc& p, const Cursor& c) {
  const Alloc& a = c.as<Alloc>();
  const std::string name = "`" + a.name.name() + "`";
  if (a.type.rank() != 0) refuse(kUnstage, name + " is more than one element");
  const Block rest = rest_of_block(p, c.path());
  const Assign* load = rest.empty() ? nullptr : rest.front()->as<Assign>();
  const Read* element = load && load->name == a.name ? load->rhs->as<Read>() : nullptr;
  if (!element || !is_data(load->rhs->type) || element->name == a.name)
    refuse(kUnstage, name + " does not begin as an element of another buffer");
  int last = -1;
  for (int k = 1; k < static_cast<int>(rest.size()); ++k)
    if (mentions(rest[static_cast<size_t>(k)], a.name)) last = k;
  const Assign* store = last > 0 ? rest[static_cast<size_t>(last)]->as<Assign>() : nullptr;
  if (!store || !equal(read_elem(store->name, store->idx, load->rhs->type), load->rhs))
    refuse(kUnstage, name + " does not end in the element that it began as");
  if (element_type(p, c.path(), element->name) != a.type.scalar)
    refuse(kUnstage, "the precisions differ");
  const Read* value = store->rhs->as<Read>();
  return {c.path(), a.name, element, last + 1, store->rhs, value && value->name == a.name};
}

// The block as stage_mem would have left it: x[idx] = e is t = e ; x[idx] = t, since nobody reads t
// after it.
Block as_staged(const Proc& p, const Staging& s) {
  const Block& all = block_at(p, s.alloc);
  const auto first = all.begin() + s.alloc.back().index;
  Block out(first, first + s.last + 1);
  if (s.plain) return out;
  out.back() = make_assign(s.scalar, {}, s.stored);
  out.push_back(
      make_assign(s.element->name, s.element->idx, read_elem(s.scalar, {}, s.stored->type)));
  return out;
}

void require_inverse(const Proc& before, const ProcPtr& after, const Staging& s) {
  const int statements = s.last - 2 + (s.plain ? 0 : 1);  // between load and store
  if (statements < 1) refuse(kUnstage, "nothing happens to `" + s.scalar.name() + "`");
  const std::string window =
      str(read_elem(s.element->name, s.element->idx, s.stored->type), scope_at(*after, s.alloc));
  ProcPtr again;
  try {
    again = stage_mem(after, Cursor::block(after, s.alloc, statements), window, s.scalar.name());
  } catch (const Error& e) {
    refuse(kUnstage, "the element may not be staged again: " + e.diagnostic().message.str());
  }
  Block want = as_staged(before, s);
  const Block& all = block_at(*again, s.alloc);
  const auto first = all.begin() + s.alloc.back().index;
  if (all.size() < static_cast<size_t>(s.alloc.back().index) + want.size())
    refuse(kUnstage, "the element staged again is another program");
  Block have(first, first + static_cast<long>(want.size()));
  // The memory of a scalar has no part in its value.
  if (const Alloc* a = have.front()->as<Alloc>())
    have.front() = make_stmt(Alloc{a->name, a->type, want.front()->as<Alloc>()->mem}, {});
  if (!alpha_equal(want, have)) refuse(kUnstage, "the element staged again is another program");
}

}  // namespace

ProcPtr unstage(ProcPtr p, const Where& alloc) {
  const Cursor c = alloc.alloc(p);
  const Staging s = staging_at(*p, c);
  UseMap map;
  map.op = kUnstage;
  map.buffer = s.scalar;
  map.element = [&](const std::vector<ExprPtr>&, const Path&) {
    return std::optional<ElementUse>({s.element->name, s.element->idx});
  };
  map.window = [&](const std::vector<WindowAccess>&, const Path&) -> std::optional<WindowUse> {
    refuse(kUnstage, "`" + s.scalar.name() + "` is passed on as a window");
  };
  const Path first = sibling(s.alloc, 2);
  const Block& all = block_at(*p, s.alloc);
  const Block inside(all.begin() + first.back().index,
                     all.begin() + s.alloc.back().index + s.last + 1);
  Rewrite rw(p);
  rw.map_in_place(splice(*p, first, static_cast<int>(inside.size()), map_uses(inside, first, map)));
  if (s.plain) rw.erase(sibling(s.alloc, s.last), 1);
  rw.erase(s.alloc, 2);
  ProcPtr out = rw.finish(kUnstage, {place(alloc, c)});
  require_inverse(*p, out, s);
  return out;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> unstage_operators() {
  using namespace params;
  return {
      {"unstage",
       {proc(), place("alloc")},
       "t : T; t = x[i]; s(t); x[i] = e(t)  ->  s(x[i]); x[i] = e(x[i])",
       [](const OperatorArgs& a) -> Value { return unstage(a.proc(), a.where(1)); }},
  };
}

}  // namespace exotune
