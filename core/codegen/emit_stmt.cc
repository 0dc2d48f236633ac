// Statements.
#include <algorithm>
#include <functional>
#include <utility>

#include "core/codegen/function_emitter.h"
#include "core/ir/normal_form.h"
#include "core/ir/precision.h"
#include "core/ir/printer.h"

namespace exotune::codegen {
namespace {

/// Sizes are proved positive: one that is a constant 0 says that the block is never reached.
bool never_runs(const Stmt& s) {
  const Alloc* a = s.as<Alloc>();
  return a && std::any_of(a->type.shape.begin(), a->type.shape.end(), [](const ExprPtr& e) {
           const auto size = affine(e);
           return size && size->is_constant() && size->constant <= 0;
         });
}

bool reads_config(const ExprPtr& e) {
  if (e->as<ReadConfig>()) return true;
  for (const ExprPtr& c : expr_children(*e))
    if (reads_config(c)) return true;
  return false;
}

}  // namespace

void FunctionEmitter::line(const std::string& text) {
  out_.append(static_cast<size_t>(indent_) * 2, ' ');
  out_ += text;
  out_ += '\n';
}

void FunctionEmitter::lines(const std::string& text) {
  size_t from = 0;
  while (from < text.size()) {
    size_t to = text.find('\n', from);
    if (to == std::string::npos) to = text.size();
    if (to > from) line(text.substr(from, to - from));
    from = to + 1;
  }
}

// Names, storage and ranges of the formals, before any text is made: what the signature calls an
// argument is what the body uses.
FunctionEmitter::FunctionEmitter(const Proc& p, const Usage& usage, const Signature& signature,
                                 FileContext& file)
    : proc_(p),
      usage_(usage),
      signature_(signature),
      file_(file),
      names_(file.file_names),
      plan_(plan_storage(p)),
      scratch_(file.scratch.compute(p)) {
  for_each_stmt(p.body, [&](const StmtPtr&) { ++statements_; });
  for (const Arg& a : p.args) {
    const std::string name = names_.bind(a.name);
    if (is_control(a.type.scalar)) {
      if (a.type.scalar == ScalarType::kSize) lower_[a.name] = 1;
      continue;
    }
    Storage s;
    s.name = name;
    s.type = decided(a.type.scalar);
    s.mem = a.mem ? a.mem : dram();
    s.is_const = !usage.written.contains(a.name);
    s.shape = a.type.shape;
    if (s.mem->kind == MemoryKind::kVector || s.mem->kind == MemoryKind::kRegisterFile ||
        s.mem->kind == MemoryKind::kScratchpad)
      throw InputError(p.where,
                       "`" + a.name.name() + "` of `" + p.name + "` is in " + s.mem->name +
                           ", which no C function can take as an argument",
                       "inline the proc, or make it an instruction");
    if (a.type.window) {
      s.form = Storage::Form::kWindow;
      for (int k = 0; k < a.type.rank(); ++k)
        s.strides.push_back({nullptr, name + ".strides[" + std::to_string(k) + "]"});
    } else if (a.type.is_tensor()) {
      s.form = Storage::Form::kDense;
      s.strides = dense_strides(a.type.shape);
    } else {
      s.form = Storage::Form::kPointer;
    }
    storage_[a.name] = std::move(s);
  }
  if (signature.takes_workspace) workspace_ = names_.fresh("workspace");
  // `assert stride(x, k) == 1` makes the stride a constant of the code.
  for (const ExprPtr& e : p.asserts) {
    const auto* b = e->as<BinOp>();
    if (!b || b->op != BinOpKind::kEq) continue;
    const auto* s = b->lhs->as<StrideExpr>();
    const auto v = as_int(b->rhs);
    if (!s || !v) continue;
    const auto it = storage_.find(s->name);
    if (it != storage_.end() && it->second.form == Storage::Form::kWindow &&
        s->dim < static_cast<int>(it->second.strides.size()))
      it->second.strides[static_cast<size_t>(s->dim)].expr = int_const(*v);
  }
}

// The checks that the caller asked for, then the statements; both name the same formals, and what
// neither names gets a cast to void.
std::string FunctionEmitter::body() {
  std::string checks;
  auto check_line = [&](const std::string& condition) {
    checks += "  EXO_ASSERT(" + condition + ");\n";
  };
  for (const Arg& a : proc_.args)
    if (a.type.scalar == ScalarType::kSize) check_line(names_.of(a.name) + " >= 1");
  // Strides in asserts are what the caller gave, not the constant they are asserted to be.
  const std::map<Sym, Storage> assumed = storage_;
  for (auto& [sym, s] : storage_)
    if (s.form == Storage::Form::kWindow)
      for (Stride& stride : s.strides) stride.expr = nullptr;
  for (const ExprPtr& e : proc_.asserts)
    if (!reads_config(e)) check_line(c(e));  // device state cannot be looked at
  storage_ = assumed;
  if (!checks.empty()) file_.needs.helpers.insert("EXO_ASSERT");

  if (!workspace_.empty()) {
    const std::string parameter = std::exchange(workspace_, names_.fresh("scratch_at"));
    line("char* " + workspace_ + " = (char*)" + parameter + ";");
  }
  block(proc_.body, {}, Child::kBody);
  return "{\n" + checks + unused_parameters(checks) + with_declarations(out_) + "}\n";
}

/// `(void)x;` for each parameter that neither the statements nor `checks` mention.
std::string FunctionEmitter::unused_parameters(const std::string& checks) const {
  std::string unused;
  for (const AbiArg& a : signature_.args)
    if (!has_token(out_, a.name) && !has_token(checks, a.name))
      unused += "  (void)" + a.name + ";\n";
  return unused;
}

// Scopes open and close here: C's blocks are the program's, so that lifetimes of arrays and scratch
// memory agree.
void FunctionEmitter::block(const Block& b, const Path& owner, Child child) {
  names_.push();
  scratch_marks_.emplace_back();
  freed_.emplace_back();
  waiting_.emplace_back();
  for (size_t k = 0; k < b.size(); ++k) {
    if (never_runs(*b[k])) break;
    path_ = owner;
    path_.push_back({child, static_cast<int>(k)});
    stmt(b[k], b, k);
  }
  for (auto it = freed_.back().rbegin(); it != freed_.back().rend(); ++it)
    lines(expand_memory(storage(*it, {}), "free", {}, "", {}));
  freed_.pop_back();
  waiting_.pop_back();
  if (!scratch_marks_.back().empty()) release_scratch(scratch_marks_.back());
  scratch_marks_.pop_back();
  names_.pop();
  path_ = owner;
}

void FunctionEmitter::stmt(const StmtPtr& s, const Block& scope, size_t position) {
  if (const auto* a = s->as<Assign>()) return assign(*a, s->where);
  if (const auto* r = s->as<Reduce>()) return reduce(*r, s->where);
  if (const auto* f = s->as<For>()) return loop(*f);
  if (const auto* i = s->as<If>()) return branch(*i);
  if (const auto* a = s->as<Alloc>()) return allocate(*a, scope, position, s->where);
  if (const auto* w = s->as<WindowStmt>()) return window_stmt(*w);
  if (const auto* c = s->as<Call>()) return call(*c, s->where);
  if (const auto* w = s->as<WriteConfig>()) return write_config(*w, s->where);
  // pass: an empty block says it as well.
}

/// The value of `rhs` as it is stored in an element of `type`.
// f16 and bf16 are stored by conversion functions; between equal types nothing is converted.
std::string FunctionEmitter::stored(const ExprPtr& rhs, ScalarType type) {
  // The same 16 bits: nothing to convert.
  if (const Read* r = rhs->as<Read>();
      r && (type == ScalarType::kF16 || type == ScalarType::kBf16)) {
    const Storage& from = storage(r->name, rhs->where);
    if (from.type == type && from.form != Storage::Form::kOpaque) return element(from, r->idx);
  }
  Text value = data(rhs, type);
  if (type == ScalarType::kF16 || type == ScalarType::kBf16) {
    const std::string fn = std::string("exo_") + name_of(type) + "_from_f32";
    file_.needs.helpers.insert(fn);
    return fn + "(" + value.s + ")";
  }
  return value.s;
}

void FunctionEmitter::assign(const Assign& a, const SourceLocation& where) {
  const Storage& s = storage(a.name, where);
  if (s.form == Storage::Form::kOpaque)
    return lines(expand_memory(s, "write", a.idx, stored(a.rhs, s.type), where));
  const std::string target = element(s, a.idx), value = stored(a.rhs, s.type);
  // Compilers warn of `x = x`.
  line(target == value ? "(void)" + target + ";" : initialised(target + " = " + value + ";"));
}

// `x += e` where C has it and rounds the same; a helper, or the operation written out, where it
// does not.
void FunctionEmitter::reduce(const Reduce& r, const SourceLocation& where) {
  const Storage& s = storage(r.name, where);
  if (s.form == Storage::Form::kOpaque) {
    if (r.op != ReduceOp::kAdd)
      throw InputError(where, "`" + r.name.name() + "` in " + s.mem->name + " has no " +
                                  name_of(r.op) + " in C");
    return lines(expand_memory(s, "reduce", r.idx, stored(r.rhs, s.type), where));
  }
  const std::string target = element(s, r.idx);
  const ScalarType t = arithmetic_type(s.type);
  const bool narrow = s.type == ScalarType::kF16 || s.type == ScalarType::kBf16;
  if (r.op == ReduceOp::kAdd && !narrow && t != ScalarType::kI32)
    return line(target + " += " + data(r.rhs, s.type).s + ";");
  const Text old = load(r.name, r.idx, s.type, where);
  std::string value;
  if (r.op != ReduceOp::kAdd) {
    value = helper(r.op == ReduceOp::kMax ? "max" : "min", t) + "(" + old.s + ", " +
            data(r.rhs, s.type).s + ")";
    // Wraps in unsigned arithmetic: signed overflow is undefined in C and two's complement in the
    // language.
  } else if (t == ScalarType::kI32) {
    value = "(int32_t)((uint32_t)" + old.in(Text::kUnary) + " + " +
            (precision_in(r.rhs, s.type) == ScalarType::kI32
                 ? unsigned_i32(r.rhs).in(Text::kMul)
                 : "(uint32_t)" + data(r.rhs, s.type).in(Text::kUnary)) +
            ")";
  } else {
    value = old.s + " + " + data(r.rhs, s.type).in(Text::kMul);
  }
  if (narrow) {
    const std::string fn = std::string("exo_") + name_of(s.type) + "_from_f32";
    file_.needs.helpers.insert(fn);
    value = fn + "(" + value + ")";
  }
  line(target + " = " + value + ";");
}

void FunctionEmitter::write_config(const WriteConfig& w, const SourceLocation& where) {
  const ScalarType type = w.config->find(w.field)->type;
  line(config_field(*w.config, w.field, where) + " = " +
       (is_data(type) ? stored(w.rhs, decided(type)) : c(w.rhs)) + ";");
}

/// How often a loop must be unrolled so that the subscripts of vector variables become constants
/// and the vectors stay in registers; 0 when it needs none.
int64_t FunctionEmitter::unroll_count(const For& f) {
  constexpr int64_t kMostIterations = 32, kMostCopies = 128;
  const auto trips = affine(f.hi - f.lo);
  if (!trips || !trips->is_constant() || trips->constant < 2 || trips->constant > kMostIterations ||
      trips->constant * unrolled_ > kMostCopies)
    return 0;
  bool indexes = false;
  std::function<void(const ExprPtr&)> visit = [&](const ExprPtr& e) {
    const auto* w = e->as<WindowExpr>();
    const auto it = w ? storage_.find(w->name) : storage_.end();
    if (it != storage_.end() && it->second.mem && it->second.mem->kind == MemoryKind::kVector)
      for (const WindowAccess& a : w->access) indexes |= mentions(a.lo, f.iter);
    for (const ExprPtr& c : expr_children(*e)) visit(c);
  };
  for_each_expr(f.body, visit);
  return indexes ? trips->constant : 0;
}

/// Loops around loops, of more iterations than compilers write out at no cost: in a long function,
/// which says already what is to be written out, they stay loops.
bool FunctionEmitter::stays_loop(const For& f) const {
  constexpr int kLongFunction = 200;  // statements: clang takes seconds from here on, and its code
                                      // of a blocked factorization triples
  constexpr int64_t kFewIterations = 4;  // written out they are no slower to compile
  if (statements_ < kLongFunction) return false;
  const auto trips = affine(f.hi - f.lo);
  if (!trips || !trips->is_constant() || trips->constant <= kFewIterations) return false;
  bool holds_loop = false;
  for_each_stmt(f.body, [&](const StmtPtr& s) { holds_loop |= s->as<For>() != nullptr; });
  return holds_loop;
}

/// A loop that runs once is its body.
bool FunctionEmitter::single_iteration(const For& f) {
  const auto trips = affine(f.hi - f.lo);
  if (!trips || !trips->is_constant() || trips->constant != 1 || reads_config(f.lo)) return false;
  const Block body = substitute(f.body, f.iter, f.lo);
  const bool declares = std::any_of(body.begin(), body.end(), [](const StmtPtr& s) {
    return s->as<Alloc>() || s->as<WindowStmt>();
  });
  const Path here = path_;
  if (declares) line("{");
  indent_ += declares;
  block(body, here, Child::kBody);
  indent_ -= declares;
  if (declares) line("}");
  return true;
}

// Bounds are evaluated once, as the language does; the trip count of a loop that must be unrolled
// is a constant here or the program is refused.
void FunctionEmitter::loop(const For& f) {
  if (single_iteration(f)) return;
  const Path here = path_;
  const std::string lo = c(f.lo), hi_plain = c(f.hi, Text::kAdd);
  const bool once = reads_config(f.hi);  // the body may write the field: the bound is read once
  const std::string hi_once = once ? c(f.hi) : "";
  const auto low = lower_bound(f.lo);
  const std::string about = commented_ ? "" : loop_comment(f);
  if (!about.empty()) line("/* " + about + " */");
  names_.push();
  const std::string iter = names_.bind(f.iter);
  lower_[f.iter] = low;
  // Where scratch memory is one for all there are no threads.
  const bool threads =
      file_.options.openmp && file_.options.scratch != CodegenOptions::Scratch::kStatic;
  const bool parallel = f.mode == LoopMode::kPar && threads && !once;
  if (parallel) out_ += "#ifdef _OPENMP\n#pragma omp parallel for\n#endif\n";
  file_.needs.parallel |= parallel;
  // Between the directive of a parallel loop and the loop stands nothing.
  const int64_t unroll = parallel ? 0 : unroll_count(f);
  if (unroll > 0) {
    file_.needs.helpers.insert("EXO_UNROLL");
    line("EXO_UNROLL");
  } else if (!parallel && stays_loop(f)) {
    file_.needs.helpers.insert("EXO_STAYS");
    line("EXO_STAYS");
  }
  std::string end = hi_plain, bound;
  if (once) {
    end = names_.fresh(iter + "_end");
    bound = ", " + end + " = " + hi_once;
  }
  line("for (int64_t " + iter + " = " + lo + bound + "; " + iter + " < " + end + "; " + iter +
       "++) {");
  const int64_t unrolled = std::exchange(unrolled_, unroll > 0 ? unrolled_ * unroll : unrolled_);
  const bool commented = std::exchange(commented_, commented_ || !about.empty());
  ++indent_;
  parallel_depth_ += parallel;
  block(f.body, here, Child::kBody);
  parallel_depth_ -= parallel;
  --indent_;
  unrolled_ = unrolled;
  commented_ = commented;
  line("}");
  names_.pop();
  path_ = here;
}

// A chain of else-ifs reads as one, however deep it nests.
void FunctionEmitter::branch(const If& i) {
  const Path here = path_;
  line("if (" + c(i.cond) + ") {");
  ++indent_;
  block(i.body, here, Child::kBody);
  const Block* rest = &i.orelse;
  Path owner = here;
  while (rest->size() == 1 && (*rest)[0]->as<If>()) {
    const If& next = *(*rest)[0]->as<If>();
    owner.push_back({Child::kOrelse, 0});
    path_ = owner;
    --indent_;
    line("} else if (" + c(next.cond) + ") {");
    ++indent_;
    block(next.body, owner, Child::kBody);
    rest = &next.orelse;
  }
  const bool nothing =
      std::all_of(rest->begin(), rest->end(), [](const StmtPtr& s) { return s->as<Pass>(); });
  if (!nothing) {
    --indent_;
    line("} else {");
    ++indent_;
    block(*rest, owner, Child::kOrelse);
  }
  --indent_;
  line("}");
  path_ = here;
}

}  // namespace exotune::codegen
