#include "core/analysis/warnings.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/analysis/written_casts.h"
#include "core/ir/precision.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

bool is_narrow(ScalarType t) { return is_data(t) && !is_float(t) && bytes_of(t) < 4; }

// Of integers.
bool is_signed(ScalarType t) { return is_narrow(t) && integers_of(t)->first < 0; }

bool has_product(const ExprPtr& e) {
  const auto* b = e->as<BinOp>();
  const std::vector<ExprPtr> parts = expr_children(*e);
  return (b && b->op == BinOpKind::kMul) || std::any_of(parts.begin(), parts.end(), has_product);
}

struct Range {
  int64_t least, greatest;
};

Range whole(ScalarType t) {
  const auto range = *integers_of(t);
  return {range.first, range.second};
}

// One walk over a proc in the order of its text. What a cast puts in front of its statement
// (`x_i16 = x[i]`) has the range of what it was made of.
class NarrowArithmetic {
 public:
  explicit NarrowArithmetic(const Proc& p) : proc_(p) {
    for (const Arg& a : p.args) types_[a.name] = a.type.scalar;
    for_each_stmt(p.body, [&](const StmtPtr& s) { declare(*s); });
    for_each_stmt(p.body, [&](const StmtPtr& s) { look(*s); });
  }
  std::vector<Diagnostic> said;

 private:
  void declare(const Stmt& s) {
    if (const auto* a = s.as<Alloc>()) types_[a->name] = a->type.scalar;
    if (const auto* w = s.as<WindowStmt>()) types_[w->name] = w->type.scalar;
    if (const auto* a = s.as<Assign>()) ++writes_[a->name];
    if (const auto* r = s.as<Reduce>()) writes_[r->name] += 2;
    if (const auto* c = s.as<Call>())
      for (const ExprPtr& e : c->args)
        if (const auto* r = e->as<Read>()) writes_[r->name] += 2;
  }

  void look(const Stmt& s) {
    const auto* a = s.as<Assign>();
    const auto* r = s.as<Reduce>();
    if (!a && !r) return;
    const ExprPtr& value = a ? a->rhs : r->rhs;
    const auto target = types_.find(a ? a->name : r->name);
    if (!is_narrow(value->type) || target == types_.end()) return;
    wraps_ = false;
    lost_.reset();
    const bool extreme = r && is_idempotent(r->op);
    const Range range =
        extreme && is_likely(value) ? range_before(value, "compared") : range_of(value);
    if (a && a->idx.empty() && writes_[a->name] == 1) known_.emplace(a->name, range);
    if (wraps_ && bytes_of(target->second) > bytes_of(value->type))
      say_widened(value, target->second, s.where);
    else if (lost_)
      say_lost(value, *lost_, s.where);
  }

  void say_widened(const ExprPtr& value, ScalarType wide, const SourceLocation& where) {
    const ExprPtr written = WrittenCasts(proc_).written(value);
    // A quotient of integers is cut to one, of floats it is not.
    const ScalarType exact = is_float(wide) && has_quotient(written) ? ScalarType::kI32 : wide;
    const ExprPtr parts = integers_as(exact, written);
    const ExprPtr cast = exact == wide ? parts : make_expr(Cast{parts}, wide, parts->where);
    say(value, where, "becomes " + std::string(name_of(wide)), cast, exact);
  }

  // What is done to the value that may have wrapped.
  struct Lost {
    ExprPtr value;
    std::string by;
  };
  void say_lost(const ExprPtr& all, const Lost& lost, const SourceLocation& where) {
    ScalarType exact = ScalarType::kI32;
    if (bytes_of(all->type) == 1 && fits(all, ScalarType::kI16)) exact = ScalarType::kI16;
    say(lost.value, where, lost.by, integers_as(exact, WrittenCasts(proc_).written(all)), exact);
  }

  void say(const ExprPtr& value, const SourceLocation& where, const std::string& then,
           const ExprPtr& cast, ScalarType exact) {
    const std::string from = name_of(value->type),
                      written = str(WrittenCasts(proc_).written(value));
    said.push_back(Diagnostic{
        value->where.known() ? value->where : where,
        "`" + written + "` is computed in " + from + ", where it may wrap, and only then " + then,
        {},
        "`" + str(cast) + "` is computed in " + name_of(exact) +
            (always_wraps(value)
                 ? ""
                 : "; where it never wraps, or is meant to, a scalar says so: `t: " + from + " = " +
                       written + "`, and `t` for it")});
  }

  // -x of an unsigned x.
  static bool always_wraps(const ExprPtr& e) { return e->as<USub>() && !is_signed(e->type); }

  // Would nothing in it wrap if it were computed in that type?
  bool fits(const ExprPtr& e, ScalarType type) {
    as_ = type;
    wraps_ = false;
    (void)range_of(e);
    as_.reset();
    return !wraps_;
  }

  // As below; where a part wraps for which `by` needs all its digits, that is lost.
  Range range_before(const ExprPtr& e, const std::string& by) {
    const bool before = wraps_;
    wraps_ = false;
    const Range out = range_of(e);
    if (wraps_ && !lost_) lost_ = Lost{e, by};
    wraps_ = wraps_ || before;
    return out;
  }

  // Sums of a few words are what words are for; bytes are as large as they can be.
  static bool is_likely(const ExprPtr& e) {
    return is_narrow(e->type) && (bytes_of(e->type) == 1 || has_product(e));
  }

  // fmin(x, 255) of unsigned bytes is x: whoever writes it thinks of an x beyond that.
  void look_at_limits(const Extern& x) {
    const bool chooses = x.fn == "select";
    if (!chooses && x.fn != "fmin" && x.fn != "fmax") return;
    for (const auto& [value, limit] :
         {std::pair(x.args[0], x.args[1]), std::pair(x.args[1], x.args[0])}) {
      const auto* c = limit->as<Const>();
      if (!c || value->as<Const>() || !is_narrow(value->type)) continue;
      const Range all = whole(value->type), at = range_of(limit);
      const bool greatest = at.least >= all.greatest && x.fn != "fmax",
                 least = at.least <= all.least && x.fn != "fmin";
      if (greatest || least)
        (void)range_before(value, "compared with " + std::to_string(at.least) +
                                      ", beyond which there is no " + name_of(value->type));
    }
    for (size_t k = 0; k < 2; ++k)
      if (is_likely(x.args[k])) (void)range_before(x.args[k], "compared");
  }

  // Of a value of a narrow type; wraps_ where a part of it does not fit that type.
  Range range_of(const ExprPtr& e) {
    if (const auto* c = e->as<Const>()) {
      const auto v = std::visit([](auto x) { return static_cast<int64_t>(x); }, c->value);
      return {v, v};
    }
    if (const auto* r = e->as<Read>()) {
      const auto known = known_.find(r->name);
      return known != known_.end() ? known->second : whole(e->type);
    }
    if (const auto* u = e->as<USub>()) {
      const Range of = range_of(u->arg);
      return fitted({-of.greatest, -of.least}, as_.value_or(e->type));
    }
    if (const auto* b = e->as<BinOp>()) {
      // The multiple is no farther from 0 than x: it wraps where x does.
      if (const int64_t c = divisor_of_remainder(*b); c > 0)
        return {range_of(b->lhs).least < 0 ? 1 - c : 0, c - 1};
      const Range left = b->op == BinOpKind::kDiv && is_likely(b->lhs)
                             ? range_before(b->lhs, "divided")
                             : range_of(b->lhs);
      return combined(b->op, left, range_of(b->rhs), as_.value_or(e->type));
    }
    if (const auto* x = e->as<Extern>()) {
      look_at_limits(*x);
      for (const ExprPtr& argument : x->args)
        (void)(x->fn == "fabs" || (x->fn == "relu" && !is_signed(argument->type))
                   ? range_before(argument, "loses its sign")
                   : range_of(argument));
    }
    return whole(e->type);
  }

  Range combined(BinOpKind op, const Range& a, const Range& b, ScalarType type) {
    switch (op) {
      case BinOpKind::kAdd:
        return fitted({a.least + b.least, a.greatest + b.greatest}, type);
      case BinOpKind::kSub:
        return fitted({a.least - b.greatest, a.greatest - b.least}, type);
      case BinOpKind::kMul: {
        const auto [least, greatest] = std::minmax({a.least * b.least, a.least * b.greatest,
                                                    a.greatest * b.least, a.greatest * b.greatest});
        return fitted({least, greatest}, type);
      }
      case BinOpKind::kDiv: {
        // Towards 0; of the least number by -1 there is none.
        if (b.least <= 0) return whole(type);
        return {std::min(a.least / b.least, a.least / b.greatest),
                std::max(a.greatest / b.least, a.greatest / b.greatest)};
      }
      default:
        return whole(type);
    }
  }

  // The c of x - c * (x / c), a literal; 0 for anything else.
  int64_t divisor_of_remainder(const BinOp& b) {
    const auto* multiple = b.op == BinOpKind::kSub ? b.rhs->as<BinOp>() : nullptr;
    if (!multiple || multiple->op != BinOpKind::kMul) return 0;
    for (const auto& [factor, other] :
         {std::pair(multiple->lhs, multiple->rhs), std::pair(multiple->rhs, multiple->lhs)}) {
      const auto* quotient = other->as<BinOp>();
      if (quotient && quotient->op == BinOpKind::kDiv && factor->as<Const>() &&
          equal(quotient->rhs, factor) && equal(quotient->lhs, b.lhs))
        return range_of(factor).least;
    }
    return 0;
  }

  // What wraps may be any number of its type.
  Range fitted(const Range& exact, ScalarType type) {
    const Range all = whole(type);
    if (exact.least >= all.least && exact.greatest <= all.greatest) return exact;
    wraps_ = true;
    return all;
  }

  const Proc& proc_;
  std::map<Sym, ScalarType> types_;
  std::map<Sym, int> writes_;  // by statements; what is also written otherwise counts twice
  std::map<Sym, Range> known_;
  bool wraps_ = false;
  std::optional<Lost> lost_;
  std::optional<ScalarType> as_;  // computed in this one instead of its own
};

// Loops whose iterator has the name of an argument or of a loop around.
class HidingLoops {
 public:
  explicit HidingLoops(const Proc& p) {
    for (const Arg& a : p.args) names_.push_back({a.name.name(), "the argument"});
    block(p.body);
  }
  std::vector<Diagnostic> said;

 private:
  struct Name {
    std::string text;
    const char* what;
  };

  void block(const Block& b) {
    for (const StmtPtr& s : b) {
      const size_t visible = names_.size();
      if (const auto* loop = s->as<For>()) {
        say(loop->iter.name(), s->where);
        names_.push_back({loop->iter.name(), "the iterator of the loop around it,"});
      }
      block(body_of(*s));
      names_.resize(visible);
      block(orelse_of(*s));
    }
  }

  void say(const std::string& name, const SourceLocation& where) {
    for (const Name& n : names_)
      if (n.text == name) {
        said.push_back(Diagnostic{
            where,
            "the iterator `" + name + "` hides " + n.what + " `" + name + "`",
            {},
            "in the loop `" + name + "`" + " counts its iterations; give it another name"});
        return;
      }
  }

  std::vector<Name> names_;
};

}  // namespace

std::vector<Diagnostic> warnings(const Proc& p) {
  std::vector<Diagnostic> all = HidingLoops(p).said;
  for (Diagnostic& d : NarrowArithmetic(p).said) all.push_back(std::move(d));
  return all;
}

}  // namespace exotune
