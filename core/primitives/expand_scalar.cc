// expand_scalar: every value that a carried scalar takes has an element of its own, so that
// iterations meet in an array, which fission and vectors understand.
#include "core/primitives/expand_scalar.h"

#include "core/ir/printer.h"
#include "core/primitives/internal.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

namespace {

const char* const kExpandScalar = "expand_scalar";

// The loop, the scalar and the one place that gives it its next value.
class CarriedScalar {
 public:
  CarriedScalar(const ProcPtr& p, Path at, Sym scalar)
      : p_(p), at_(std::move(at)), loop_(*stmt_at(*p_, at_)->as<For>()), scalar_(scalar) {
    const auto entry = lookup(*p_, at_, scalar_);
    if (!entry || !is_data(entry->type.scalar) || !entry->type.shape.empty())
      refuse(kExpandScalar, "`" + scalar_.name() + "` is no scalar that the loop sees");
    type_ = entry->type.scalar;
    if (loop_.mode != LoopMode::kSeq)
      refuse(kExpandScalar, "`" + loop_.iter.name() + "` is no sequential loop");
    for (const ExprPtr& e : {loop_.lo, loop_.hi})
      if (reads_config(e)) refuse(kExpandScalar, "the bound " + str(e) + " reads configuration");
    find_assignment();
    require(prove(*p_, at_, less_equal(loop_.lo, loop_.hi)), kExpandScalar,
            "`" + loop_.iter.name() + "` may end before it begins");
  }

  ProcPtr run(const std::string& name, std::vector<Value> args) const {
    const Sym t = Sym::fresh(name);
    const ExprPtr here = fold(minus(read_var(loop_.iter, ScalarType::kIndex), loop_.lo)),
                  next = fold(plus(here, int_const(1))), length = fold(trip_count(loop_));
    Rewrite rw(p_);
    rw.map_in_place(splice(
        *p_, at_, 1, {make_for(loop_.iter, loop_.lo, loop_.hi, body(t, here, next), loop_.mode)}));
    if (!buffer_dead_after(*p_, at_, scalar_))
      rw.insert(sibling(at_, 1), {make_assign(scalar_, {}, read_elem(t, {length}, type_))});
    rw.insert(at_, {make_alloc(t, Type{type_, {fold(plus(length, int_const(1)))}, false}, dram()),
                    make_assign(t, {int_const(0)}, read_var(scalar_, type_))});
    require_parallel_loops(rw.proc(), at_, kExpandScalar);
    require_config_writes_fixed(rw.proc(), kExpandScalar);
    return rw.finish(kExpandScalar, std::move(args));
  }

 private:
  void find_assignment() {
    int writes = 0;
    const std::string name = "`" + scalar_.name() + "`";
    for_each_stmt(loop_.body, [&](const StmtPtr& s) {
      const Assign* a = s->as<Assign>();
      const Reduce* r = s->as<Reduce>();
      writes += (a && a->name == scalar_) || (r && r->name == scalar_);
      if ((s->as<Call>() || s->as<WindowStmt>()) && mentions(s, scalar_))
        refuse(kExpandScalar, name + " is used by " + quoted(s));
    });
    for (size_t k = 0; k < loop_.body.size(); ++k)
      if (const Assign* a = loop_.body[k]->as<Assign>(); a && a->name == scalar_) assigned_ = k;
    if (writes == 0) refuse(kExpandScalar, "the loop does not write " + name);
    if (writes > 1) refuse(kExpandScalar, "the loop writes " + name + " in several places");
    if (!assigned_)
      refuse(kExpandScalar, "not every iteration assigns " + name + " once",
             LazyText("the assignment has to be a statement of the loop's own body, and no `+=`"));
  }

  // The scalar's uses in statements from the `first` on become elements of `t` at `index`.
  Block mapped(const Block& some, size_t first, Sym t, const ExprPtr& index) const {
    UseMap map;
    map.buffer = scalar_;
    map.element = [&](const std::vector<ExprPtr>&, const Path&) {
      return std::optional(ElementUse{t, {index}});
    };
    map.op = kExpandScalar;
    return map_uses(some, body_path(at_, static_cast<int>(first)), map);
  }

  Block body(Sym t, const ExprPtr& here, const ExprPtr& next) const {
    const auto assigned = loop_.body.begin() + static_cast<std::ptrdiff_t>(*assigned_);
    Block out = mapped({loop_.body.begin(), assigned}, 0, t, here);
    // Its right side is evaluated before: stored under another name as long as reads are mapped.
    const Block value =
        mapped({make_assign(t, {next}, (*assigned)->as<Assign>()->rhs)}, *assigned_, t, here);
    const Block after = mapped({assigned + 1, loop_.body.end()}, *assigned_ + 1, t, next);
    out.insert(out.end(), value.begin(), value.end());
    out.insert(out.end(), after.begin(), after.end());
    return out;
  }

  const ProcPtr& p_;
  const Path at_;
  const For& loop_;
  const Sym scalar_;
  ScalarType type_ = ScalarType::kF32;
  std::optional<size_t> assigned_;  // which statement of the body
};

}  // namespace

ProcPtr expand_scalar(ProcPtr p, const Where& loop, const Where& scalar, const std::string& name) {
  require_name(kExpandScalar, name);
  const Cursor c = loop.loop(p), x = scalar.buffer(p);
  const Sym buffer = x.kind() == CursorKind::kArg ? p->args[static_cast<size_t>(x.arg_index())].name
                                                  : x.as<Alloc>().name;
  return CarriedScalar(p, c.path(), buffer).run(name, {place(loop, c), place(scalar, x), name});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> expand_scalar_operators() {
  using namespace params;
  return {
      {"expand_scalar",
       {proc(), place("loop"), place("scalar"), new_name("name")},
       "for k in seq(lo, hi): { s(x); x = e }  ->  t[0] = x; for k in seq(lo, hi): { s(t[k - lo]); "
       "t[k - lo + 1] = e }; x = t[hi - lo]",
       [](const OperatorArgs& a) -> Value {
         return expand_scalar(a.proc(), a.where(1), a.where(2), a.string(3));
       }},
  };
}

}  // namespace exotune
