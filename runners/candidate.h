#pragma once
// A Candidate: one C function to be checked and timed, with what its caller must know of it. Start
// at Candidate; an ArgSpec is one formal argument made concrete (sizes, strides and roles filled
// in).
//
// The runners know nothing of procs or schedules: whoever makes a candidate (the search, a test)
// flattens a proc and its C into this form. The ABI is the one of the generated C:
//   control int64_t and bool by value; data scalars and dense tensors by pointer, row-major;
//   windows as `struct exo_win_<rank><type>[c]` by value; an optional leading context pointer.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace exotune {

enum class ElementType { kF16, kBf16, kF32, kF64, kI8, kUi8, kI16, kUi16, kI32 };

/// "f32", "ui8", ...: the object language's spelling.
const char* element_name(ElementType type);
/// The inverse of element_name; InputError for an unknown spelling (and for "R").
ElementType element_from_name(const std::string& name);
size_t element_bytes(ElementType type);
bool is_floating(ElementType type);

/// One value stored in / read from raw memory; the value is rounded to the type (integers wrap).
void store_element(ElementType type, void* at, double value);
double load_element(ElementType type, const void* at);
/// `count` of them side by side. Cost: a few times less each.
void store_elements(ElementType type, void* at, const double* values, size_t count);
void load_elements(ElementType type, const void* at, double* values, size_t count);

struct ArgSpec {
  enum class Kind {
    kControl,  // size or index: int64_t by value
    kBool,     // bool by value
    kScalar,   // T*: one element
    kTensor,   // T*: dense, row-major, `shape`
    kWindow,   // struct exo_win_<rank><type>[c] by value: `shape` and `strides` (in elements)
    kContext,  // CTX*: `value` bytes, zeroed
  };
  std::string name;
  Kind kind = Kind::kControl;
  int64_t value = 0;                     // kControl, kBool; bytes of a kContext
  ElementType type = ElementType::kF32;  // data
  std::vector<int64_t> shape;            // kTensor, kWindow
  std::vector<int64_t> strides;          // kWindow only, >= 1; empty = dense row-major
  bool is_read = false;                  // a data argument that is only written starts as NaN
  bool is_written = false;               // one that is only read must come back unchanged
  std::string c_type;                    // exact C type of a by-value window; "" = derived
  bool in_lines = false;  // timed where it begins a cache line, as its callers have it

  bool is_data() const {
    return kind == Kind::kScalar || kind == Kind::kTensor || kind == Kind::kWindow;
  }
  /// Logical elements: 1 for a scalar, the product of the shape otherwise, 0 for non-data.
  int64_t elements() const;
  /// The strides in elements that address it: those given, or the row-major ones of `shape`.
  std::vector<int64_t> element_strides() const;
  /// Elements between the first and one past the last addressed: what the memory must hold.
  int64_t span_elements() const;
  /// Offset in elements of each logical element, in row-major order of the shape.
  std::vector<int64_t> element_offsets() const;

  static ArgSpec control(std::string name, int64_t value);
  static ArgSpec boolean(std::string name, bool value);
  static ArgSpec scalar(std::string name, ElementType type, bool read, bool written);
  static ArgSpec tensor(std::string name, ElementType type, std::vector<int64_t> shape, bool read,
                        bool written);
  static ArgSpec window(std::string name, ElementType type, std::vector<int64_t> shape,
                        std::vector<int64_t> strides, bool read, bool written);
};

struct Candidate {
  std::string id;        // content hash (core/base/hashing.h) of what makes it different; unique
  std::string stem;      // names its files: STEM.c includes "STEM.h" when it has a header
  std::string c_source;  // the text of STEM.c
  std::string h_source;  // the text of STEM.h; "" when c_source stands alone
  std::string function;  // the C function to call
  std::vector<ArgSpec> args;
  /// Which of `args` the function takes, in its order; empty = all. A kernel made for fixed sizes
  /// takes no size arguments but is checked on the same data.
  std::vector<size_t> parameters;
  std::string compiler;   // one of other_compilers.h by name; "" = the toolchain's own
  double complexity = 0;  // ties in a shoot-out go to the smaller (say, statements of the proc)
};

/// C that takes argument `k` of this form out of `a`, the array of pointers that every wrapper of a
/// candidate gets: by value, by pointer, or as a window's struct.
std::string passed_argument(const ArgSpec& arg, size_t k);

}  // namespace exotune
