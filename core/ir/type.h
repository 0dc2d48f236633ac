#pragma once
// Types of the object language: data precisions, control types, and the tensors and windows made
// of them. Language rules: docs/language.md.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace exotune {

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

/// Data types say how an element is stored and rounded, control types what a variable of the
/// program's own arithmetic ranges over: sizes are positive, indices any integer, strides whatever
/// memory has. The order matters: data first, floating types before the others.
enum class ScalarType : uint8_t {
  // data; kR is "not decided yet" and becomes f32 at code generation
  kR,
  kF16,
  kBf16,
  kF32,
  kF64,
  kI8,
  kUi8,
  kI16,
  kUi16,
  kI32,
  // control
  kSize,
  kIndex,
  kBool,
  kStride,
};

constexpr bool is_data(ScalarType t) { return t <= ScalarType::kI32; }
constexpr bool is_control(ScalarType t) { return !is_data(t); }
constexpr bool is_float(ScalarType t) { return t <= ScalarType::kF64; }  // kR counts as f32
/// Booleans are control, and yet no integers: nothing may be added to a condition.
/// size, index or stride: an integer that control arithmetic may use.
constexpr bool is_integer_control(ScalarType t) {
  return t == ScalarType::kSize || t == ScalarType::kIndex || t == ScalarType::kStride;
}
const char* name_of(ScalarType t);  // "f32", "size", ...
int bytes_of(ScalarType t);         // data types only; kR counts as 4
/// The C spelling of a data or control type: "float", "int64_t", "uint16_t" (bf16), ...
const char* c_name_of(ScalarType t);

/// Of a formal, an allocation or a window statement. `shape` holds control expressions over what is
/// in scope where the name is bound, so the type of an argument may mention earlier arguments.
struct Type {
  ScalarType scalar = ScalarType::kR;
  std::vector<ExprPtr> shape;  // empty: a scalar
  bool window = false;         // a strided view `[f32][n]`; shape is never empty then

  bool is_tensor() const { return !shape.empty(); }
  int rank() const { return static_cast<int>(shape.size()); }
};

}  // namespace exotune
