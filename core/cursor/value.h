#pragma once
// Value: what an operator takes and gives, in C++ dispatch tables, traces and .sched scripts alike.
// A list is shared by its copies: values are passed around by the thousand, and one that holds the
// instructions of a target is long.
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/cursor/cursor.h"

namespace exotune {

class Value;
using ValueList = std::vector<Value>;

/// Constructors are implicit on purpose: schedules written in C++ pass names and numbers as they
/// are. Equality is not defined, since procs and cursors have several; compare what you need.
class Value {
 public:
  using SharedList = std::shared_ptr<const ValueList>;  // never null
  using Node = std::variant<std::monostate, bool, int64_t, double, std::string, SharedList, ProcPtr,
                            Cursor, MemoryPtr, ConfigPtr, std::map<std::string, Value>>;
  Value() = default;
  Value(bool b) : node_(b) {}                      // NOLINT(runtime/explicit)
  Value(int v) : node_(int64_t{v}) {}              // NOLINT(runtime/explicit)
  Value(int64_t v) : node_(v) {}                   // NOLINT(runtime/explicit)
  Value(double v) : node_(v) {}                    // NOLINT(runtime/explicit)
  Value(const char* s) : node_(std::string(s)) {}  // NOLINT(runtime/explicit)
  Value(std::string s) : node_(std::move(s)) {}    // NOLINT(runtime/explicit)
  Value(ValueList l)                               // NOLINT(runtime/explicit)
      : node_(std::make_shared<const ValueList>(std::move(l))) {}
  Value(ProcPtr p) : node_(std::move(p)) {}                       // NOLINT(runtime/explicit)
  Value(Cursor c) : node_(std::move(c)) {}                        // NOLINT(runtime/explicit)
  Value(MemoryPtr m) : node_(std::move(m)) {}                     // NOLINT(runtime/explicit)
  Value(ConfigPtr c) : node_(std::move(c)) {}                     // NOLINT(runtime/explicit)
  Value(std::map<std::string, Value> m) : node_(std::move(m)) {}  // NOLINT(runtime/explicit)
  /// Lists of names and of numbers, what most operators take.
  static Value strings(const std::vector<std::string>& v);
  static Value ints(const std::vector<int64_t>& v);

  const Node& node() const { return node_; }
  bool is_none() const { return std::holds_alternative<std::monostate>(node_); }
  /// The content, null when it is of another type. It lives as long as this value.
  template <class T>
  const T* as() const {
    if constexpr (std::is_same_v<T, ValueList>) {
      const SharedList* list = std::get_if<SharedList>(&node_);
      return list ? list->get() : nullptr;
    } else {
      return std::get_if<T>(&node_);
    }
  }
  /// As it would stand in a .sched script; cursors print as find expressions on `p`.
  std::string str() const;

 private:
  Node node_;
};

}  // namespace exotune
