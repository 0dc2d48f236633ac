// Statements.
#include <algorithm>
#include <cctype>
#include <functional>

#include "core/codegen/c_template.h"
#include "core/codegen/function_emitter.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"

namespace exotune::codegen {
namespace {

bool has_token(const std::string& text, const std::string& name) {
  auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const bool left = at == 0 || !word(text[at - 1]);
    const bool right = at + name.size() >= text.size() || !word(text[at + name.size()]);
    if (left && right) return true;
  }
  return false;
}

bool reads_config(const ExprPtr& e) {
  if (e->as<ReadConfig>()) return true;
  for (const ExprPtr& c : expr_children(*e))
    if (reads_config(c)) return true;
  return false;
}

std::vector<Stride> dense_strides(const std::vector<ExprPtr>& shape) {
  std::vector<Stride> strides(shape.size());
  ExprPtr product = int_const(1);
  for (size_t k = shape.size(); k-- > 0;) {
    strides[k].expr = product;
    product = as_int(product) == 1 ? normalize(shape[k]) : normalize(shape[k] * product);
  }
  return strides;
}

std::optional<int64_t> constant_product(const std::vector<ExprPtr>& shape) {
  int64_t n = 1;
  for (const ExprPtr& e : shape) {
    const auto a = affine(e);
    if (!a || !a->is_constant() || __builtin_mul_overflow(n, a->constant, &n)) return std::nullopt;
  }
  return n;
}

/// Does the first use of a register by instructions merge into it, as masked loads do? C would then
/// read a variable that nothing has set, though no lane that matters.
bool merged_into_first(const Block& scope, size_t position, Sym name, UsageTable& usage) {
  bool merges = false;
  for (size_t k = position + 1; k < scope.size(); ++k)
    for_each_stmt({scope[k]}, [&](const StmtPtr& s) {
      const auto* call = s->as<Call>();
      if (!call || !call->callee->instr) return;
      for (size_t a = 0; a < call->args.size(); ++a) {
        const Arg& formal = call->callee->args[a];
        if (!mentions(call->args[a], name) || usage.of(call->callee).read.contains(formal.name)) continue;
        const auto holes = holes_of(call->callee->instr->c_template);
        if (std::count(holes.begin(), holes.end(), formal.name.name() + "_data") > 1) merges = true;
      }
    });
  return merges;
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

FunctionEmitter::FunctionEmitter(const Proc& p, const Usage& usage, const Signature& signature, FileContext& file)
    : proc_(p), usage_(usage), signature_(signature), file_(file), names_(file.file_names), plan_(plan_storage(p)) {
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
      throw InputError(p.where, "`" + a.name.name() + "` of `" + p.name + "` is in " + s.mem->name +
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
  // `assert stride(x, k) == 1` makes the stride a constant of the code.
  for (const ExprPtr& e : p.asserts) {
    const auto* b = e->as<BinOp>();
    if (!b || b->op != BinOpKind::kEq) continue;
    const auto* s = b->lhs->as<StrideExpr>();
    const auto v = as_int(b->rhs);
    if (!s || !v) continue;
    const auto it = storage_.find(s->name);
    if (it != storage_.end() && it->second.form == Storage::Form::kWindow && s->dim < static_cast<int>(it->second.strides.size()))
      it->second.strides[static_cast<size_t>(s->dim)].expr = int_const(*v);
  }
}

std::string FunctionEmitter::body() {
  std::string checks;
  auto check_line = [&](const std::string& condition) { checks += "  EXO_ASSERT(" + condition + ");\n"; };
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

  block(proc_.body, {}, Child::kBody);
  std::string unused;
  for (const AbiArg& a : signature_.args)
    if (!has_token(out_, a.name) && !has_token(checks, a.name)) unused += "  (void)" + a.name + ";\n";
  return "{\n" + checks + unused + out_ + "}\n";
}

void FunctionEmitter::block(const Block& b, const Path& owner, Child child) {
  names_.push();
  scratch_marks_.emplace_back();
  for (size_t k = 0; k < b.size(); ++k) {
    path_ = owner;
    path_.push_back({child, static_cast<int>(k)});
    stmt(b[k], b, k);
  }
  if (!scratch_marks_.back().empty()) line("exo_scratch_release(" + scratch_marks_.back() + ");");
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
std::string FunctionEmitter::stored(const ExprPtr& rhs, ScalarType type) {
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
  if (s.form == Storage::Form::kOpaque) return lines(expand_memory(s, "write", a.idx, stored(a.rhs, s.type), where));
  line(element(s, a.idx) + " = " + stored(a.rhs, s.type) + ";");
}

void FunctionEmitter::reduce(const Reduce& r, const SourceLocation& where) {
  const Storage& s = storage(r.name, where);
  if (s.form == Storage::Form::kOpaque) {
    if (r.op != ReduceOp::kAdd)
      throw InputError(where, "`" + r.name.name() + "` in " + s.mem->name + " has no max= in C");
    return lines(expand_memory(s, "reduce", r.idx, stored(r.rhs, s.type), where));
  }
  const std::string target = element(s, r.idx);
  const ScalarType t = arithmetic_type(s.type);
  const bool narrow = s.type == ScalarType::kF16 || s.type == ScalarType::kBf16;
  if (r.op == ReduceOp::kAdd && !narrow && t != ScalarType::kI32)
    return line(target + " += " + data(r.rhs, s.type).s + ";");
  const Text old = load(r.name, r.idx, s.type, where);
  std::string value;
  if (r.op == ReduceOp::kMax) {
    value = helper("max", t) + "(" + old.s + ", " + data(r.rhs, s.type).s + ")";
  } else if (t == ScalarType::kI32) {
    value = "(int32_t)((uint32_t)" + old.in(Text::kUnary) + " + " +
            (precision(r.rhs, s.type) == ScalarType::kI32 ? unsigned_i32(r.rhs).in(Text::kMul)
                                                         : "(uint32_t)" + data(r.rhs, s.type).in(Text::kUnary)) + ")";
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
  if (!w.config->readable)
    throw InputError(where, "`" + w.config->name + "." + w.field + "` lives in hardware only: an instruction must write it");
  const ScalarType type = w.config->find(w.field)->type;
  line("ctxt->" + c_identifier(w.config->name) + "." + c_identifier(w.field) + " = " +
       (is_data(type) ? stored(w.rhs, decided(type)) : c(w.rhs)) + ";");
}

/// How often a loop must be unrolled so that the subscripts of vector variables become constants and
/// the vectors stay in registers; 0 when it needs none.
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

void FunctionEmitter::loop(const For& f) {
  const Path here = path_;
  const std::string lo = c(f.lo), hi_plain = c(f.hi, Text::kAdd);
  const bool once = reads_config(f.hi);  // the body may write the field: the bound is read once
  const std::string hi_once = once ? c(f.hi) : "";
  const auto low = lower_bound(f.lo);
  names_.push();
  const std::string iter = names_.bind(f.iter);
  lower_[f.iter] = low;
  if (f.mode == LoopMode::kPar && file_.options.openmp && !once)
    out_ += "#ifdef _OPENMP\n#pragma omp parallel for\n#endif\n";
  const int64_t unroll = unroll_count(f);
  if (unroll > 0) {
    file_.needs.helpers.insert("EXO_UNROLL");
    line("EXO_UNROLL");
  }
  if (once) {
    const std::string end = names_.fresh(iter + "_end");
    line("for (int64_t " + iter + " = " + lo + ", " + end + " = " + hi_once + "; " + iter + " < " + end + "; " + iter + "++) {");
  } else {
    line("for (int64_t " + iter + " = " + lo + "; " + iter + " < " + hi_plain + "; " + iter + "++) {");
  }
  const int64_t saved = unrolled_;
  if (unroll > 0) unrolled_ *= unroll;
  ++indent_;
  block(f.body, here, Child::kBody);
  --indent_;
  unrolled_ = saved;
  line("}");
  names_.pop();
  path_ = here;
}

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
  const bool nothing = std::all_of(rest->begin(), rest->end(), [](const StmtPtr& s) { return s->as<Pass>(); });
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

void FunctionEmitter::allocate(const Alloc& a, const Block& scope, size_t position, const SourceLocation& where) {
  Storage s;
  s.mem = a.mem ? a.mem : dram();
  s.type = decided(a.type.scalar);
  s.name = names_.bind(a.name);
  s.root = a.name;
  file_.needs.add_global(s.mem->c_global);
  for (const ExprPtr& e : a.type.shape) s.shape.push_back(normalize(e));
  s.root_shape = s.shape;
  s.offsets.assign(s.shape.size(), int_const(0));
  for (int k = 0; k < a.type.rank(); ++k) s.dims.push_back(k);

  switch (s.mem->kind) {
    case MemoryKind::kVector: allocate_vector(a, &s, scope, position, where); break;
    case MemoryKind::kRegisterFile:
    case MemoryKind::kScratchpad: {
      s.form = Storage::Form::kOpaque;
      if (const auto it = plan_.first_register.find(a.name); it != plan_.first_register.end()) s.first_register = it->second;
      if (const auto it = plan_.byte_offset.find(a.name); it != plan_.byte_offset.end()) s.byte_offset = it->second;
      if (s.mem->templates.contains("alloc")) lines(expand_memory(s, "alloc", {}, "", where));
      break;
    }
    case MemoryKind::kHeap:
    case MemoryKind::kStack:
    case MemoryKind::kStatic: allocate_array(a, &s, where); break;
  }
  storage_[a.name] = std::move(s);
}

void FunctionEmitter::allocate_vector(const Alloc& a, Storage* s, const Block& scope, size_t position,
                                      const SourceLocation& where) {
  const std::string what = "`" + a.name.name() + "` in " + s->mem->name;
  s->form = Storage::Form::kOpaque;
  const auto type = s->mem->c_types.find(name_of(s->type));
  if (type == s->mem->c_types.end()) throw InputError(where, what + ": the memory holds no " + name_of(s->type));
  const std::vector<int64_t> shape = constant_shape(a.type, what, where);
  if (shape.empty()) throw InputError(where, what + ": a scalar fills no register");
  if (s->mem->bytes > 0 && shape.back() * bytes_of(s->type) != s->mem->bytes)
    throw InputError(where, what + ": the last dimension must fill one register: " +
                                std::to_string(s->mem->bytes / bytes_of(s->type)) + " elements, not " +
                                std::to_string(shape.back()));
  std::string text = type->second + " " + s->name;
  for (size_t k = 0; k + 1 < shape.size(); ++k) text += "[" + std::to_string(shape[k]) + "]";
  if (shape.size() == 1 && merged_into_first(scope, position, a.name, file_.usage)) text += " = { 0 }";
  line(text + ";");
}

void FunctionEmitter::allocate_array(const Alloc& a, Storage* s, const SourceLocation& where) {
  const std::string type = element_c_type(s->type);
  const std::string align = "_Alignas(" + std::to_string(std::max(s->mem->alignment, 1)) + ") ";
  const bool is_static = s->mem->kind == MemoryKind::kStatic;
  s->strides = dense_strides(s->shape);
  const bool read = usage_.read.contains(a.name);
  const auto count = constant_product(s->shape);
  if (s->mem->templates.contains("alloc")) {
    s->form = s->shape.empty() ? Storage::Form::kScalar : Storage::Form::kDense;
    return lines(expand_memory(*s, "alloc", {}, "", where));
  }
  if (s->shape.empty()) {
    s->form = Storage::Form::kScalar;
    line((is_static ? "static " : "") + type + " " + s->name + ";");
    if (!read) line("(void)" + s->name + ";");
    return;
  }
  s->form = Storage::Form::kDense;
  const int64_t bytes = count ? *count * bytes_of(s->type) : 0;
  const int64_t function_limit = 4 * file_.options.stack_limit_bytes;
  const bool small = count && bytes <= file_.options.stack_limit_bytes && stack_bytes_ + bytes <= function_limit;
  if (s->mem->kind != MemoryKind::kHeap && !count)
    throw InputError(where, "`" + a.name.name() + "` in " + s->mem->name + " needs constant extents");
  if (is_static || s->mem->kind == MemoryKind::kStack || small) {
    if (!is_static) stack_bytes_ += bytes;
    line((is_static ? "static " : "") + align + type + " " + s->name + "[" + std::to_string(*count) + "];");
  } else {
    file_.needs.scratch = true;
    if (scratch_marks_.back().empty()) {
      scratch_marks_.back() = names_.fresh("scratch");
      line("const struct exo_scratch_mark " + scratch_marks_.back() + " = exo_scratch_mark();");
    }
    std::string extent;
    for (const ExprPtr& e : s->shape) extent += " * (size_t)" + c(e, Text::kPrimary);
    if (count) extent = " * " + std::to_string(*count);
    line(type + "* const restrict " + s->name + " = (" + type + "*)exo_scratch_alloc(sizeof(" + type + ")" + extent + ");");
  }
  if (!read) line("(void)" + s->name + ";");
}

void FunctionEmitter::window_stmt(const WindowStmt& w) {
  const auto* e = w.rhs->as<WindowExpr>();
  if (!e) throw InputError(w.rhs->where, "`" + str(w.rhs) + "` is no window");
  const Storage& from = storage(e->name, w.rhs->where);
  if (from.form == Storage::Form::kOpaque) {
    storage_[w.name] = view(w.rhs);
    return;
  }
  const WindowParts parts = window_parts(w.rhs);
  Storage s;
  s.name = names_.bind(w.name);
  s.type = parts.type;
  s.mem = from.mem;
  s.is_const = !usage_.written.contains(w.name);
  s.shape = w.type.shape;
  const std::string unused = usage_.read.contains(w.name) || usage_.written.contains(w.name) ? "" : "(void)" + s.name + ";";
  if (parts.strides.empty()) {
    s.form = Storage::Form::kPointer;
    line((s.is_const ? "const " : "") + element_c_type(s.type) + "* " + s.name + " = " + parts.data + ";");
  } else {
    s.form = Storage::Form::kWindow;
    const std::string type = window_struct(static_cast<int>(parts.strides.size()), s.type, s.is_const);
    file_.needs.windows[type] = type;
    std::string strides;
    for (size_t k = 0; k < parts.strides.size(); ++k) {
      strides += (k ? ", " : "") + stride_text(parts.strides[k]).s;
      s.strides.push_back({parts.strides[k].expr, s.name + ".strides[" + std::to_string(k) + "]"});
    }
    line("struct " + type + " " + s.name + " = { " + parts.data + ", { " + strides + " } };");
  }
  if (!unused.empty()) line(unused);
  storage_[w.name] = std::move(s);
}

}  // namespace exotune::codegen
