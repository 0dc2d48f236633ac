#include "core/primitives/calls.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/analysis/facts.h"
#include "core/analysis/place_prover.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/uses.h"

namespace exotune::internal {

// A formal in DRAM is a C pointer: any array that C can address may be passed for it. The reverse
// is not true: who declares a memory of its own relies on where it lies.
bool memory_fits(const MemoryPtr& formal, const MemoryPtr& actual) {
  const MemoryPtr f = formal ? formal : dram(), a = actual ? actual : dram();
  if (f == a || f->name == a->name) return true;
  bool c_array = a->addressable && (a->kind == MemoryKind::kHeap || a->kind == MemoryKind::kStack ||
                                    a->kind == MemoryKind::kStatic);
  return f->name == dram()->name && c_array;
}

bool same_precision(ScalarType a, ScalarType b) {
  auto decided = [](ScalarType t) { return t == ScalarType::kR ? ScalarType::kF32 : t; };
  return decided(a) == decided(b);
}

// Strides of a formal are those of the actual argument's buffer, in the dimension that is left of
// it: a window's points drop theirs.
ExprPtr at_call(const Proc& p, const Path& at, const Proc& callee, const std::vector<ExprPtr>& args,
                const ExprPtr& e) {
  auto position = [&](Sym s) {
    for (size_t k = 0; k < callee.args.size(); ++k)
      if (callee.args[k].name == s) return static_cast<int>(k);
    return -1;
  };
  return rewrite(e, [&](const ExprPtr& x) -> ExprPtr {
    if (const Read* r = x->as<Read>()) {
      int k = position(r->name);
      if (k >= 0 && is_control(callee.args[static_cast<size_t>(k)].type.scalar))
        return args[static_cast<size_t>(k)];
    } else if (const StrideExpr* s = x->as<StrideExpr>()) {
      int k = position(s->name);
      if (k < 0) return nullptr;
      const ExprPtr& arg = args[static_cast<size_t>(k)];
      if (const Read* b = arg->as<Read>()) return stride_of(p, at, b->name, s->dim);
      if (const WindowExpr* w = arg->as<WindowExpr>()) {
        int kept = 0;
        for (size_t d = 0; d < w->access.size(); ++d)
          if (!w->access[d].is_point() && kept++ == s->dim)
            return stride_of(p, at, w->name, static_cast<int>(d));
      }
    }
    return nullptr;
  });
}

bool writes_config(const Block& b) {
  return std::any_of(b.begin(), b.end(), [](const StmtPtr& s) { return s->writes_config; });
}

// Through windows, which are declared before they are used, and through calls; recursion cannot be
// written, so this ends.
std::set<Sym> written_formals(const Proc& p) {
  std::map<Sym, Sym> root;  // windows to what they are windows of
  auto root_of = [&](Sym s) {
    auto it = root.find(s);
    return it == root.end() ? s : it->second;
  };
  std::set<Sym> written;
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    if (const WindowStmt* w = s->as<WindowStmt>())
      root[w->name] = root_of(w->rhs->as<WindowExpr>()->name);
    if (const Assign* a = s->as<Assign>()) written.insert(root_of(a->name));
    if (const Reduce* r = s->as<Reduce>()) written.insert(root_of(r->name));
    if (const Call* c = s->as<Call>()) {
      std::set<Sym> inner = written_formals(*c->callee);
      for (size_t k = 0; k < c->args.size() && k < c->callee->args.size(); ++k) {
        if (!inner.count(c->callee->args[k].name)) continue;
        if (const Read* r = c->args[k]->as<Read>()) written.insert(root_of(r->name));
        if (const WindowExpr* w = c->args[k]->as<WindowExpr>()) written.insert(root_of(w->name));
      }
    }
  });
  return written;
}

namespace {

// A data argument: the region of its root buffer that it names.
struct Region {
  Sym root;
  std::vector<WindowAccess> access;
};

class CallChecker {
 public:
  // `changed` (null: everything): the buffers whose shape, strides or memory are not those that the
  // call was checked with before.
  CallChecker(const Proc& p, const Path& at, PlaceProver& prover, const ProcPtr& callee,
              const std::vector<ExprPtr>& args, const std::set<Sym>* changed = nullptr)
      : p_(p), at_(at), prover_(prover), callee_(callee), args_(args), changed_(changed) {}

  // In this order since each part takes for granted what the one before has seen to: kinds before
  // shapes, which look into windows, shapes before asserts, which speak of sizes. The first problem
  // ends it: those that follow are often its consequence.
  std::optional<CallProblem> problem() {
    if (args_.size() != callee_->args.size()) {
      report([] { return "the number of arguments differs"; }, Answer{Verdict::kProved, {}, {}});
      return found_;
    }
    for (size_t k = 0; k < args_.size() && !found_; ++k) kind(k);
    for (size_t k = 0; k < args_.size() && !found_; ++k)
      if (!changed_ && callee_->args[k].type.scalar == ScalarType::kSize)
        want(bin_op(BinOpKind::kGt, args_[k], int_const(0)), k, "must be positive");
    for (size_t k = 0; k < args_.size() && !found_; ++k) shape(k);
    for (const ExprPtr& a : callee_->asserts) {
      if (found_) break;
      if (!speaks_of_changed(a)) continue;
      ExprPtr here = at_call(p_, at_, *callee_, args_, a);
      Answer answer = prover_.prove(here);
      if (!answer)
        report(
            [callee = callee_, a] {
              return "the assert `" + str(a) + "` of `" + callee->name + "` is not proved";
            },
            answer);
    }
    if (!found_) aliasing();
    return found_;
  }

 private:
  // What was proved of the call before still holds where neither the argument's buffer nor what an
  // assert says of it was touched. Primitives that move a buffer ask once a call, in every proc.
  bool is_changed(size_t k) const {
    if (!changed_) return true;
    auto it = local_.find(k);
    return it != local_.end() && changed_->count(it->second.first);
  }
  bool speaks_of_changed(const ExprPtr& assertion) const {
    if (!changed_) return true;
    for (size_t k = 0; k < args_.size(); ++k)
      if (is_changed(k) && mentions(assertion, callee_->args[k].name)) return true;
    return false;
  }
  // Texts are made when someone reads them: a search refuses thousands of times and reads few.
  void report(std::function<std::string()> what, Answer answer) {
    if (!found_) found_ = CallProblem{LazyText(std::move(what)), std::move(answer)};
  }
  void want(const ExprPtr& cond, size_t k, const char* what) {
    Answer answer = prover_.prove(cond);
    if (!answer)
      report([callee = callee_, k,
              what] { return "argument `" + callee->args[k].name.name() + "` " + what; },
             answer);
  }
  void bad(size_t k, const char* what) {
    report([callee = callee_, k,
            what] { return "argument `" + callee->args[k].name.name() + "` " + what; },
           Answer{Verdict::kProved, {}, {}});
  }

  void kind(size_t k) {
    const Arg& formal = callee_->args[k];
    const ExprPtr& arg = args_[k];
    if (is_control(formal.type.scalar)) {
      bool fits = formal.type.scalar == ScalarType::kBool ? arg->type == ScalarType::kBool
                                                          : is_integer_control(arg->type);
      if (!fits) bad(k, "must be a control value");
      return;
    }
    const Read* r = arg->as<Read>();
    const WindowExpr* w = arg->as<WindowExpr>();
    if (!r && !w) {
      // An expression for a scalar formal becomes a temporary, which nobody could read back from.
      if (formal.type.is_tensor() || !is_data(arg->type) || written().count(formal.name))
        bad(k, "must be a buffer");
      return;
    }
    Sym name = r ? r->name : w->name;
    auto entry = lookup(p_, at_, name);
    if (!entry || !is_data(entry->type.scalar)) return bad(k, "is not visible here");
    int rank = w ? static_cast<int>(window_shape(w->access).size())
                 : (r->idx.empty() ? entry->type.rank() : 0);
    if (rank != formal.type.rank()) return bad(k, "has another rank");
    if (formal.type.is_tensor() && !formal.type.window &&
        (w || entry->type.window || entry->window))
      return bad(k, "must be a dense tensor");
    if (!same_precision(entry->type.scalar, formal.type.scalar))
      return bad(k, "has another precision");
    if (!memory_fits(formal.mem, entry->mem)) return bad(k, "lives in another memory");
    auto alias = resolve_alias(p_, at_, name);
    if (!alias) return bad(k, "is not visible here");
    std::vector<WindowAccess> access;
    if (w)
      access = w->access;
    else if (r->idx.empty())
      access = whole_window(entry->type.shape);
    else
      for (const ExprPtr& i : r->idx) access.push_back({i, nullptr});
    local_[k] = {name, access};
    regions_[k] = {alias->root, compose(*alias, access)};
  }

  // The window stays inside its buffer and has the shape the formal wants.
  void shape(size_t k) {
    auto it = local_.find(k);
    if (it == local_.end() || !is_changed(k)) return;
    const auto& [name, access] = it->second;
    auto entry = lookup(p_, at_, name);
    std::vector<ExprPtr> inside;
    for (size_t d = 0; d < access.size(); ++d) {
      const WindowAccess& a = access[d];
      const ExprPtr& n = entry->type.shape[d];
      // The whole of a dimension, the usual case, needs no proof.
      if (!a.is_point() && is_literal(fold(a.lo), 0) && affine_equal(a.hi, n)) continue;
      inside.push_back(bin_op(BinOpKind::kLe, int_const(0), a.lo));
      inside.push_back(a.is_point() ? bin_op(BinOpKind::kLt, a.lo, n)
                                    : bin_op(BinOpKind::kLe, a.hi, n));
    }
    if (!inside.empty()) want(conjunction(inside), k, "leaves its buffer");
    if (found_) return;
    std::vector<ExprPtr> actual = window_shape(access);
    for (size_t d = 0; d < actual.size() && !found_; ++d) {
      ExprPtr wanted = at_call(p_, at_, *callee_, args_, callee_->args[k].type.shape[d]);
      if (affine_equal(wanted, actual[d])) continue;
      Answer answer = prover_.prove_equal(wanted, actual[d]);
      if (!answer)
        report([callee = callee_,
                k] { return "argument `" + callee->args[k].name.name() + "` has another shape"; },
               answer);
    }
  }

  // C code and the interpreter may read and write arguments in another order than the body says
  // only if no two of them overlap where one is written. Of one root they must be apart in a
  // dimension.
  void aliasing() {
    for (auto a = regions_.begin(); a != regions_.end() && !found_; ++a)
      for (auto b = std::next(a); b != regions_.end() && !found_; ++b) {
        if (a->second.root != b->second.root) continue;
        if (!is_changed(a->first) && !is_changed(b->first)) continue;
        if (!written().count(callee_->args[a->first].name) &&
            !written().count(callee_->args[b->first].name))
          continue;
        std::vector<ExprPtr> apart;
        for (size_t d = 0; d < a->second.access.size(); ++d) {
          auto end = [](const WindowAccess& w) {
            return w.is_point() ? w.lo + int_const(1) : w.hi;
          };
          const WindowAccess &x = a->second.access[d], &y = b->second.access[d];
          apart.push_back(bin_op(BinOpKind::kLe, end(x), y.lo));
          apart.push_back(bin_op(BinOpKind::kLe, end(y), x.lo));
        }
        // Scalars of one root have no dimension to be apart in: refuted, not unknown.
        ExprPtr any;
        for (const ExprPtr& c : apart) any = any ? bin_op(BinOpKind::kOr, any, c) : c;
        Answer answer = any ? prover_.prove(any) : Answer{Verdict::kRefuted, {}, {}};
        if (!answer)
          report(
              [callee = callee_, i = a->first, j = b->first] {
                return "arguments `" + callee->args[i].name.name() + "` and `" +
                       callee->args[j].name.name() + "` may overlap, and one is written";
              },
              answer);
      }
  }

  const std::set<Sym>& written() {
    if (!written_) written_ = written_formals(*callee_);
    return *written_;
  }

  const Proc& p_;
  const Path& at_;
  PlaceProver& prover_;
  const ProcPtr& callee_;
  const std::vector<ExprPtr>& args_;
  const std::set<Sym>* changed_;
  std::map<size_t, std::pair<Sym, std::vector<WindowAccess>>> local_;
  std::map<size_t, Region> regions_;
  std::optional<std::set<Sym>> written_;
  std::optional<CallProblem> found_;
};

}  // namespace

std::optional<CallProblem> call_problem(const Proc& p, const Path& at, const ProcPtr& callee,
                                        const std::vector<ExprPtr>& args) {
  PlaceProver prover(p, at, ConfigFacts::kOnArrival);
  return CallChecker(p, at, prover, callee, args).problem();
}

namespace {

void require_call(const Proc& p, const Path& at, PlaceProver& prover, const std::set<Sym>* changed,
                  const char* op) {
  StmtPtr s = stmt_at(p, at);
  const Call* call = s->as<Call>();
  EXO_CHECK(call != nullptr);
  auto problem = CallChecker(p, at, prover, call->callee, call->args, changed).problem();
  if (!problem) return;
  std::vector<LazyText> notes;
  if (!problem->answer) notes = problem->answer.notes();
  throw SchedulingError(
      std::string(op) + ": at the call of `" + call->callee->name + "`, " + problem->what.str(),
      std::move(notes));
}

// Calls that follow one another share the facts of their block while these last.
void visit_calls(const Proc& p, const Block& b, Path at, const std::set<Sym>& names,
                 const char* op) {
  std::optional<PlaceProver> here;
  for (const StmtPtr& s : b) {
    if (s->as<Call>() && mentions_any(s, names)) {
      if (!here) here.emplace(p, at, ConfigFacts::kOnArrival);
      require_call(p, at, *here, &names, op);
    }
    Path inner = at;
    inner.push_back({Child::kBody, 0});
    visit_calls(p, body_of(*s), inner, names, op);
    inner.back().child = Child::kOrelse;
    visit_calls(p, orelse_of(*s), inner, names, op);
    if (changes_facts(*s)) here.reset();
    ++at.back().index;
  }
}

}  // namespace

void require_call(const Proc& p, const Path& at, const char* op) {
  PlaceProver prover(p, at, ConfigFacts::kOnArrival);
  require_call(p, at, prover, nullptr, op);
}

void require_calls(const Proc& p, const Path& first, int n, const std::set<Sym>& names,
                   const char* op) {
  const Block& b = block_at(p, first);
  auto begin = b.begin() + first.back().index;
  visit_calls(p, Block(begin, begin + n), first, names, op);
}

}  // namespace exotune::internal
