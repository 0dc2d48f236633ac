// Where data lives and how C names an element of it.
#include <algorithm>

#include "core/codegen/function_emitter.h"
#include "core/ir/c_template.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"

namespace exotune::codegen {
namespace {

bool is_zero(const ExprPtr& e) {
  const auto a = affine(e);
  return a && a->is_constant() && a->constant == 0;
}

// Sums of indices without the noise: 0 + x is x, and constants are added.
ExprPtr plus(const ExprPtr& a, const ExprPtr& b) {
  if (is_zero(a)) return b;
  if (is_zero(b)) return a;
  return a + b;
}

}  // namespace

const Storage& FunctionEmitter::storage(Sym s, const SourceLocation& where) const {
  const auto it = storage_.find(s);
  if (it == storage_.end()) throw InputError(where, "`" + s.name() + "` is no data in scope here");
  return it->second;
}

// Row-major with constant strides folded; windows with their struct's strides, those known to be 1
// left out, so that compilers see contiguous code.
std::string FunctionEmitter::index_text(const Storage& s, const std::vector<ExprPtr>& idx) {
  if (idx.size() != s.strides.size())
    throw InputError(idx.empty() ? SourceLocation{} : idx[0]->where,
                     "`" + s.name + "` has " + std::to_string(s.strides.size()) +
                         " dimensions, not " + std::to_string(idx.size()));
  std::string out;
  int64_t constant = 0;
  for (size_t k = 0; k < idx.size(); ++k) {
    const Stride& stride = s.strides[k];
    // 0 when only run time knows it.
    const int64_t step = stride.expr ? as_int(stride.expr).value_or(0) : 0;
    const auto value = affine(idx[k]);
    if (value && value->is_constant() && (step != 0 || value->constant == 0)) {
      constant += value->constant * step;
      continue;
    }
    if (!out.empty()) out += " + ";
    if (step == 1)
      out += c(idx[k], Text::kAdd);
    else if (value && value->is_constant() && value->constant == 1)
      out += stride_text(stride).in(Text::kAdd);
    else
      out += c(idx[k], Text::kMul) + " * " + stride_text(stride).in(Text::kUnary);
  }
  if (out.empty()) return std::to_string(constant);
  if (constant > 0) out += " + " + std::to_string(constant);
  if (constant < 0) out += " - " + std::to_string(-constant);
  return out;
}

std::string FunctionEmitter::element(const Storage& s, const std::vector<ExprPtr>& idx) {
  switch (s.form) {
    case Storage::Form::kScalar:
      return s.name;
    case Storage::Form::kPointer:
      return "*" + s.name;
    case Storage::Form::kDense:
      return s.name + "[" + index_text(s, idx) + "]";
    case Storage::Form::kWindow:
      return s.name + ".data[" + index_text(s, idx) + "]";
    case Storage::Form::kOpaque:
      break;
  }
  throw InputError(idx.empty() ? SourceLocation{} : idx[0]->where,
                   "`" + s.name + "` in " + s.mem->name + " is reached only by instructions");
}

// Of a scalar passed by reference, or of the element where a window begins.
std::string FunctionEmitter::address(const Storage& s, const std::vector<ExprPtr>& idx) {
  switch (s.form) {
    case Storage::Form::kScalar:
      return "&" + s.name;
    case Storage::Form::kPointer:
      return s.name;
    case Storage::Form::kDense:
    case Storage::Form::kWindow: {
      const std::string index = index_text(s, idx);
      const std::string base = s.form == Storage::Form::kDense ? s.name : s.name + ".data";
      return index == "0" ? base : "&" + base + "[" + index + "]";
    }
    case Storage::Form::kOpaque:
      break;
  }
  return element(s, idx);  // throws
}

// A view is composed, never copied: offsets and strides of windows of windows add up here, and only
// an argument that needs a struct makes one.
Storage FunctionEmitter::view(const ExprPtr& e) {
  if (const auto* r = e->as<Read>()) {
    Storage s = storage(r->name, e->where);
    if (r->idx.empty()) return s;
    EXO_CHECK(s.form == Storage::Form::kOpaque);
    for (size_t k = 0; k < r->idx.size(); ++k) {
      ExprPtr& offset = s.offsets[static_cast<size_t>(s.dims[k])];
      offset = plus(offset, r->idx[k]);
    }
    s.dims.clear();
    s.shape.clear();
    return s;
  }
  const auto* w = e->as<WindowExpr>();
  if (!w) throw InputError(e->where, "`" + str(e) + "` names no part of a tensor");
  Storage s = storage(w->name, e->where);
  EXO_CHECK(s.form == Storage::Form::kOpaque);
  if (w->access.size() != s.dims.size())
    throw InputError(e->where, "`" + str(e) + "` has the wrong rank");
  std::vector<int> dims;
  std::vector<ExprPtr> shape;
  for (size_t k = 0; k < w->access.size(); ++k) {
    ExprPtr& offset = s.offsets[static_cast<size_t>(s.dims[k])];
    offset = plus(offset, w->access[k].lo);
    if (w->access[k].is_point()) continue;
    dims.push_back(s.dims[k]);
    shape.push_back(normalize(w->access[k].hi - w->access[k].lo));
  }
  s.dims = std::move(dims);
  s.shape = std::move(shape);
  return s;
}

FunctionEmitter::WindowParts FunctionEmitter::window_parts(const ExprPtr& e) {
  WindowParts parts;
  if (const auto* r = e->as<Read>()) {
    const Storage& s = storage(r->name, e->where);
    parts.type = s.type;
    if (r->idx.empty() && !s.strides.empty()) {
      parts.data = s.form == Storage::Form::kWindow ? s.name + ".data" : s.name;
      parts.strides = s.strides;
    } else {
      parts.data = address(s, r->idx);
    }
    return parts;
  }
  const auto* w = e->as<WindowExpr>();
  if (!w) throw InputError(e->where, "`" + str(e) + "` names no part of a tensor");
  const Storage& s = storage(w->name, e->where);
  if (w->access.size() != s.strides.size())
    throw InputError(e->where, "`" + str(e) + "` has the wrong rank");
  parts.type = s.type;
  std::vector<ExprPtr> at;
  for (size_t k = 0; k < w->access.size(); ++k) {
    at.push_back(w->access[k].lo);
    if (!w->access[k].is_point()) parts.strides.push_back(s.strides[k]);
  }
  parts.data = address(s, at);
  return parts;
}

std::string FunctionEmitter::window_literal(const WindowParts& w, bool is_const) {
  const std::string name = window_struct(static_cast<int>(w.strides.size()), w.type, is_const);
  std::string out = "(struct " + name + "){ " + w.data + ", { ";
  for (size_t k = 0; k < w.strides.size(); ++k)
    out += (k ? ", " : "") + stride_text(w.strides[k]).s;
  file_.needs.windows[name] = name;
  return out + " } }";
}

// Which register of an allocation is meant must be a constant after unrolling; anything else cannot
// be said in C and is refused with the loop that is in the way.
ExprPtr FunctionEmitter::opaque_register(const Storage& s, const SourceLocation& where) {
  const size_t leading = s.root_shape.size() - std::min(s.root_shape.size(), s.mem->shape.size());
  ExprPtr flat = int_const(0);
  for (size_t k = 0; k < s.root_shape.size(); ++k) {
    if (k >= leading) {
      if (!is_zero(s.offsets[k]))
        throw InputError(where, "`" + s.root.name() + "` in " + s.mem->name +
                                    ": the part wanted is no whole register");
      continue;
    }
    if (std::find(s.dims.begin(), s.dims.end(), static_cast<int>(k)) != s.dims.end())
      throw InputError(where, "`" + s.root.name() + "` in " + s.mem->name +
                                  ": more than one register in one operand");
    flat = flat * s.root_shape[k] + s.offsets[k];
  }
  flat = normalize(flat + int_const(s.first_register));
  if (!as_int(flat))
    throw InputError(where,
                     "the register of `" + s.root.name() + "` in " + s.mem->name +
                         " depends on a loop: " + str(flat),
                     "unroll the loop: register numbers are part of the instruction");
  return flat;
}

std::string FunctionEmitter::opaque_element(const Storage& s, int outer,
                                            const SourceLocation& where) {
  if (s.mem->templates.contains("window")) return expand_memory(s, "window", {}, "", where);
  switch (s.mem->kind) {
    case MemoryKind::kVector: {
      // One C variable or array of vectors: every dimension but the lanes is a subscript. Several
      // registers are a pointer to the first.
      std::string out = s.name;
      const size_t lanes = s.root_shape.size() - 1;
      bool several = false;
      for (size_t k = 0; k < lanes; ++k) {
        if (several)
          throw InputError(where, "`" + s.root.name() + "` in " + s.mem->name +
                                      ": registers of one operand that are no neighbours");
        several = std::find(s.dims.begin(), s.dims.end(), static_cast<int>(k)) != s.dims.end();
        out += "[" + c(s.offsets[k]) + "]";
      }
      if (!is_zero(s.offsets[lanes]))
        throw InputError(where, "`" + s.root.name() + "` in " + s.mem->name +
                                    ": the part wanted starts inside a register");
      if (!several) return out;
      return Text{"&" + out, Text::kUnary}.in(outer);
    }
    case MemoryKind::kRegisterFile:
      return c(opaque_register(s, where), outer);
    case MemoryKind::kScratchpad:
      return c(byte_offset(s, s.offsets), outer);
    case MemoryKind::kHeap:
    case MemoryKind::kStack:
    case MemoryKind::kStatic:
      break;
  }
  throw InputError(where,
                   "`" + s.root.name() + "` in " + s.mem->name + " has no `window` template");
}

ExprPtr FunctionEmitter::flat_index(const Storage& s, const std::vector<ExprPtr>& at) {
  ExprPtr flat = int_const(0);
  for (size_t k = 0; k < at.size(); ++k) flat = flat * s.root_shape[k] + at[k];
  return normalize(flat);
}

ExprPtr FunctionEmitter::byte_offset(const Storage& s, const std::vector<ExprPtr>& at) {
  return normalize(flat_index(s, at) * int_const(bytes_of(s.type)) + int_const(s.byte_offset));
}

/// Fills the memory's template for `op`. Holes: {name}, {type},
/// {value}, {reg}, {base} (bytes, of the allocation), {offset} (bytes, of the element), {index}
/// (its row-major number), {idx[k]}, {shape[k]}.
std::string FunctionEmitter::expand_memory(const Storage& s, const std::string& op,
                                           const std::vector<ExprPtr>& idx,
                                           const std::string& value, const SourceLocation& where) {
  std::vector<ExprPtr> at = s.offsets;
  for (size_t k = 0; k < idx.size() && k < s.dims.size(); ++k)
    at[static_cast<size_t>(s.dims[k])] = plus(at[static_cast<size_t>(s.dims[k])], idx[k]);
  const auto it = s.mem->templates.find(op);
  if (it == s.mem->templates.end())
    throw InputError(
        where, "`" + s.root.name() + "` in " + s.mem->name + " is reached only by instructions",
        "the memory has no `" + op + "` template");
  return expand_template(it->second, [&](const std::string& hole, bool enclosed) -> std::string {
    const int outer = enclosed ? 0 : Text::kPrimary;
    if (hole == "name") return s.name;
    if (hole == "type") return element_c_type(s.type);
    if (hole == "value") return value;
    if (hole == "reg") return c(opaque_register(s, where), outer);
    if (hole == "base") return std::to_string(s.byte_offset);
    if (hole == "offset") return c(byte_offset(s, at), outer);
    if (hole == "index") return c(flat_index(s, at), outer);
    if (const auto parts = subscripted_hole(hole); parts && parts->subscript) {
      const auto k = static_cast<size_t>(*parts->subscript);
      if (parts->name == "idx" && k < at.size()) return c(at[k], outer);
      if (parts->name == "shape" && k < s.root_shape.size()) return c(s.root_shape[k], outer);
    }
    throw InputError(where, "the `" + op + "` template of " + s.mem->name +
                                " has an unknown hole {" + hole + "}");
  });
}

}  // namespace exotune::codegen
