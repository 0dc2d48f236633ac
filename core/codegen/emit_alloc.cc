// Allocations and windows: what a name stands for from here to the end of its block.
#include <algorithm>
#include <utility>

#include "core/codegen/function_emitter.h"
#include "core/ir/c_template.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"

namespace exotune::codegen {
std::vector<Stride> dense_strides(const std::vector<ExprPtr>& shape) {
  std::vector<Stride> strides(shape.size());
  ExprPtr product = int_const(1);
  for (size_t k = shape.size(); k-- > 0;) {
    strides[k].expr = product;
    product = as_int(product) == 1 ? normalize(shape[k]) : normalize(shape[k] * product);
  }
  return strides;
}

namespace {

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
        if (!mentions(call->args[a], name) || usage.of(call->callee).read.contains(formal.name))
          continue;
        const auto holes = holes_of(call->callee->instr->c_template);
        if (std::count(holes.begin(), holes.end(), formal.name.name() + "_data") > 1) merges = true;
      }
    });
  return merges;
}

/// Does a parallel loop after the allocation use it? Its threads would each see their own copy of
/// thread-local storage.
bool crosses_threads(const Block& scope, size_t position, Sym name) {
  bool crosses = false;
  for (size_t k = position + 1; k < scope.size(); ++k)
    for_each_stmt({scope[k]}, [&](const StmtPtr& s) {
      const For* f = s->as<For>();
      crosses |= f && f->mode == LoopMode::kPar && mentions(f->body, name);
    });
  return crosses;
}

}  // namespace

// By memory: registers, what a template allocates, or an array. Arrays go on the stack while they
// are small, else where the plan says (scratch_plan.h).
void FunctionEmitter::allocate(const Alloc& a, const Block& scope, size_t position,
                               const SourceLocation& where) {
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
    case MemoryKind::kVector:
      allocate_vector(a, &s, scope, position, where);
      break;
    case MemoryKind::kRegisterFile:
    case MemoryKind::kScratchpad: {
      s.form = Storage::Form::kOpaque;
      if (const auto it = plan_.first_register.find(a.name); it != plan_.first_register.end())
        s.first_register = it->second;
      if (const auto it = plan_.byte_offset.find(a.name); it != plan_.byte_offset.end())
        s.byte_offset = it->second;
      if (s.mem->templates.contains("alloc")) lines(expand_memory(s, "alloc", {}, "", where));
      break;
    }
    case MemoryKind::kStatic:
      if (crosses_threads(scope, position, a.name)) {
        allocate_shared(a, &s, where);
        break;
      }
      [[fallthrough]];
    case MemoryKind::kHeap:
    case MemoryKind::kStack:
      allocate_array(a, &s, where);
      break;
  }
  if (s.mem->templates.contains("free")) freed_.back().push_back(a.name);
  storage_[a.name] = std::move(s);
}

// The vector type is the memory's; several registers are an array of it, which compilers keep in
// registers as long as every subscript is a constant.
void FunctionEmitter::allocate_vector(const Alloc& a, Storage* s, const Block& scope,
                                      size_t position, const SourceLocation& where) {
  const std::string what = "`" + a.name.name() + "` in " + s->mem->name;
  s->form = Storage::Form::kOpaque;
  const std::vector<int64_t> shape = constant_shape(a.type, what, where);
  if (shape.empty()) throw InputError(where, what + ": a scalar fills no register");
  const std::string* type = s->mem->c_type(s->type, shape.back());
  if (!type)
    throw InputError(where, what + ": no register holds " + std::to_string(shape.back()) + " " +
                                name_of(s->type));
  if (shape.size() > 1) {
    std::string text = *type + " " + s->name;
    for (size_t k = 0; k + 1 < shape.size(); ++k) text += "[" + std::to_string(shape[k]) + "]";
    line(text + ";");
  } else if (merged_into_first(scope, position, a.name, file_.usage)) {
    line(*type + " " + s->name + " = { 0 };");
  } else {
    declare(*type, s->name);
  }
}

/// Static memory of the thread that reaches the allocation, through a pointer: the address is taken
/// here, once, so that the threads of a parallel loop below mean the same elements.
void FunctionEmitter::allocate_shared(const Alloc& a, Storage* s, const SourceLocation& where) {
  const std::string name = std::exchange(s->name, names_.fresh(s->name + "_storage"));
  allocate_array(a, s, where);
  const bool scalar = s->shape.empty();
  line(element_c_type(s->type) + "* const " + name + " = " + (scalar ? "&" : "") + s->name + ";");
  s->name = name;
  if (scalar) s->form = Storage::Form::kPointer;
}

void FunctionEmitter::allocate_array(const Alloc& a, Storage* s, const SourceLocation& where) {
  const std::string type = element_c_type(s->type);
  const std::string align = "_Alignas(" + std::to_string(std::max(s->mem->alignment, 1)) + ") ";
  // Static, and yet one copy for each thread that may call, where there are threads.
  const std::string duration = s->mem->kind != MemoryKind::kStatic ? ""
                               : file_.options.scratch == CodegenOptions::Scratch::kStatic
                                   ? "static "
                                   : "static _Thread_local ";
  s->strides = dense_strides(s->shape);
  const bool read = usage_.observed.contains(a.name);
  const auto count = constant_product(s->shape);
  if (s->mem->templates.contains("alloc")) {
    s->form = s->shape.empty() ? Storage::Form::kScalar : Storage::Form::kDense;
    return lines(expand_memory(*s, "alloc", {}, "", where));
  }
  if (s->shape.empty()) {
    s->form = Storage::Form::kScalar;
    if (duration.empty())
      declare(type, s->name);
    else
      line(duration + type + " " + s->name + ";");
    if (!read) line("(void)" + s->name + ";");
    return;
  }
  s->form = Storage::Form::kDense;
  if (s->mem->kind != MemoryKind::kHeap && !count)
    throw InputError(where,
                     "`" + a.name.name() + "` in " + s->mem->name + " needs constant extents");
  if (!scratch_.allocations.contains(a.name)) {
    line(duration + align + type + " " + s->name + "[" + std::to_string(*count) + "];");
  } else {
    const std::string bytes = scratch_bytes(a);
    if (scratch_marks_.back().empty()) take_scratch_mark();
    const std::string take = workspace_.empty()
                                 ? "exo_scratch_alloc(" + bytes + ")"
                                 : "exo_workspace_take(&" + workspace_ + ", " + bytes + ")";
    line(type + "* const restrict " + s->name + " = (" + type + "*)" + take + ";");
  }
  if (!read) line("(void)" + s->name + ";");
}

/// The bytes of an array in scratch memory: a constant, or exo_times(sizeof(T) * 8, n), which stays
/// where no memory holds as many instead of wrapping around.
std::string FunctionEmitter::scratch_bytes(const Alloc& a) {
  const std::string element = "sizeof(" + element_c_type(a.type.scalar) + ")";
  if (const auto count = constant_product(a.type.shape))
    return element + " * " + std::to_string(*count);
  int64_t constant = 1;
  std::vector<ExprPtr> sizes;
  for (const ExprPtr& e : a.type.shape) {
    const auto value = constant_product({e});
    if (!value || __builtin_mul_overflow(constant, *value, &constant)) sizes.push_back(e);
  }
  file_.needs.helpers.insert("EXO_TOO_MANY");
  file_.needs.helpers.insert("exo_times");
  std::string bytes = constant == 1 ? element : element + " * " + std::to_string(constant);
  for (const ExprPtr& e : sizes)
    bytes = "exo_times(" + bytes + ", (size_t)" + c(e, Text::kUnary) + ")";
  return bytes;
}

// Only blocks that take scratch memory have a mark; giving it back is one assignment.
void FunctionEmitter::take_scratch_mark() {
  file_.needs.scratch = true;
  const std::string mark = scratch_marks_.back() = names_.fresh("scratch");
  if (workspace_.empty()) {
    line("const struct exo_scratch_mark " + mark + " = exo_scratch_mark();");
    return;
  }
  if (parallel_depth_ > 0)
    throw InputError(proc_.where,
                     "`" + proc_.name +
                         "` takes scratch memory inside a parallel loop, which threads cannot "
                         "share out of one workspace",
                     "use the arena, or move the allocation out of the loop");
  file_.needs.helpers.insert("exo_workspace_take");
  line("char* const " + mark + " = " + workspace_ + ";");
}

void FunctionEmitter::release_scratch(const std::string& mark) {
  line(workspace_.empty() ? "exo_scratch_release(" + mark + ");" : workspace_ + " = " + mark + ";");
}

// A window of a window needs no statement in C; a struct is made where one is passed on.
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
  const std::string unused = usage_.read.contains(w.name) || usage_.written.contains(w.name)
                                 ? ""
                                 : "(void)" + s.name + ";";
  if (parts.strides.empty()) {
    s.form = Storage::Form::kPointer;
    line((s.is_const ? "const " : "") + element_c_type(s.type) + "* " + s.name + " = " +
         parts.data + ";");
  } else {
    s.form = Storage::Form::kWindow;
    const std::string type =
        window_struct(static_cast<int>(parts.strides.size()), s.type, s.is_const);
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
