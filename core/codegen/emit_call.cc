// Calls: of functions in the file, and of instructions, which become their templates.
#include "core/codegen/function_emitter.h"
#include "core/ir/c_template.h"
#include "core/ir/printer.h"

namespace exotune::codegen {

// Callees were emitted before: their signature says which arguments are pointers, structs or
// values, and whether they take the context and scratch memory.
void FunctionEmitter::call(const Call& call, const SourceLocation& where) {
  if (call.callee->instr) return instruction(call, where);
  const auto it = file_.functions.find(call.callee);
  EXO_CHECK(it != file_.functions.end());
  std::string text = it->second.name + "(";
  size_t next = 0;
  for (size_t k = 0; k < it->second.args.size(); ++k) {
    const AbiArg& formal = it->second.args[k];
    if (k) text += ", ";
    if (formal.kind == AbiArg::Kind::kContext) {
      text += "ctxt";
      continue;
    }
    text += argument(formal, call.args[next++]);
  }
  if (it->second.takes_workspace) {
    if (parallel_depth_ > 0)
      throw InputError(where,
                       "`" + call.callee->name +
                           "` takes scratch memory inside a parallel loop, which threads cannot "
                           "share out of one workspace",
                       "use the arena");
    text += (it->second.args.empty() ? "" : ", ") + workspace_;
  }
  line(text + ");");
}

// By the formal's kind in the ABI; a dense array may stand for a window, never the reverse.
std::string FunctionEmitter::argument(const AbiArg& formal, const ExprPtr& actual) {
  switch (formal.kind) {
    case AbiArg::Kind::kControl:
    case AbiArg::Kind::kBool:
      return c(actual);
    case AbiArg::Kind::kContext:
      return "ctxt";
    case AbiArg::Kind::kScalar: {
      const auto* r = actual->as<Read>();
      if (!r && !actual->as<WindowExpr>()) {
        const std::string type = element_c_type(formal.type);
        std::string value = data(actual, formal.type).s;
        if (formal.type == ScalarType::kF16 || formal.type == ScalarType::kBf16) {
          const std::string fn = std::string("exo_") + name_of(formal.type) + "_from_f32";
          file_.needs.helpers.insert(fn);
          value = fn + "(" + value + ")";
        }
        return "&(" + type + "){ " + value + " }";
      }
      return window_parts(actual).data;
    }
    case AbiArg::Kind::kTensor:
      return window_parts(actual).data;
    case AbiArg::Kind::kWindow: {
      if (const auto* r = actual->as<Read>(); r && r->idx.empty()) {
        const Storage& s = storage(r->name, actual->where);
        if (s.form == Storage::Form::kWindow && s.is_const == !formal.written) return s.name;
      }
      return window_literal(window_parts(actual), !formal.written);
    }
  }
  return "";
}

// The template is text of the target, trusted like an instruction's meaning; what goes into its
// holes is not, and is put in parentheses unless it stands alone.
void FunctionEmitter::instruction(const Call& call, const SourceLocation& where) {
  const InstrInfo& instr = *call.callee->instr;
  file_.needs.add_global(instr.c_global);
  for (const Arg& a : call.callee->args)
    if (a.mem) file_.needs.add_global(a.mem->c_global);
  if (call.args.size() != call.callee->args.size())
    throw InputError(where,
                     "`" + call.callee->name + "` is called with the wrong number of arguments");
  lines(initialised(expand_template(instr.c_template, [&](const std::string& name, bool enclosed) {
    return hole(call, name, enclosed, where);
  })));
}

// One hole, `{name}` or `{name_data}` and the like: a control value, an element, an address, a
// register, a stride. What a hole of that name cannot mean is an error at the call.
std::string FunctionEmitter::hole(const Call& call, const std::string& name, bool enclosed,
                                  const SourceLocation& where) {
  const int outer = enclosed ? 0 : Text::kPrimary;
  const auto meant = formal_hole(*call.callee, name);
  if (!meant)
    throw InputError(call.callee->where.known() ? call.callee->where : where,
                     "the template of `" + call.callee->name + "` has a hole {" + name +
                         "} that names no argument");
  using Part = FormalHole::Part;
  const Arg& formal = call.callee->args[meant->formal];
  const ExprPtr& actual = call.args[meant->formal];
  const auto dimension = static_cast<size_t>(meant->dimension);
  if (is_control(formal.type.scalar)) {
    if (meant->part != Part::kWhole)
      throw InputError(call.callee->where,
                       "{" + name + "}: `" + formal.name.name() + "` is a control argument");
    return c(actual, outer);
  }
  const auto* r = actual->as<Read>();
  const auto* w = actual->as<WindowExpr>();
  if (!r && !w) {  // a scalar expression
    const std::string value = data(actual, formal.type.scalar).in(outer);
    return meant->part == Part::kWhole
               ? "&(" + element_c_type(formal.type.scalar) + "){ " + value + " }"
               : value;
  }
  const Storage& s = storage(r ? r->name : w->name, actual->where);
  if (s.form == Storage::Form::kOpaque) {
    const Storage v = view(actual);
    if (meant->part == Part::kRegister) return c(opaque_register(v, where), outer);
    if (meant->part != Part::kStride) return opaque_element(v, outer, where);
    const size_t k = dimension;
    if (k >= v.dims.size()) throw InputError(where, "{" + name + "}: no such dimension");
    ExprPtr stride = int_const(1);
    for (size_t d = static_cast<size_t>(v.dims[k]) + 1; d < v.root_shape.size(); ++d)
      stride = stride * v.root_shape[d];
    return c(stride, outer);
  }
  if (meant->part == Part::kRegister)
    throw InputError(where, "{" + name + "}: `" + s.name + "` is in no register");
  const WindowParts parts = window_parts(actual);
  if (meant->part == Part::kStride) {
    const size_t k = dimension;
    if (k >= parts.strides.size()) throw InputError(where, "{" + name + "}: no such dimension");
    return stride_text(parts.strides[k]).in(outer);
  }
  if (meant->part == Part::kWhole) {
    if (!formal.type.window) return parts.data;
    if (s.form == Storage::Form::kWindow && r) return s.name;
    return window_literal(parts, s.is_const);
  }
  // {x_data}: the element itself, an lvalue.
  if (r && (!r->idx.empty() || s.strides.empty())) return element(s, r->idx);
  std::vector<ExprPtr> at(s.strides.size(), int_const(0));
  if (w)
    for (size_t k = 0; k < w->access.size(); ++k) at[k] = w->access[k].lo;
  return element(s, at);
}

}  // namespace exotune::codegen
