#pragma once
// Where: a place in a proc as the primitives take it, by cursor or by pattern.
#include <optional>
#include <string>

#include "core/cursor/cursor.h"
#include "core/cursor/value.h"
#include "core/ir/proc.h"

namespace exotune {

/// A statement, block, gap or expression given by cursor or by pattern. A bare name finds a loop
/// where a loop is wanted ("i"), an allocation or argument where a buffer is wanted ("C_reg").
class Where {
 public:
  Where(Cursor c) : cursor_(std::move(c)) {}                    // NOLINT(runtime/explicit)
  Where(std::string pattern) : pattern_(std::move(pattern)) {}  // NOLINT(runtime/explicit)
  Where(const char* pattern) : pattern_(pattern) {}             // NOLINT(runtime/explicit)
  /// Resolved in `p`; InvalidCursorError when gone or of the wrong kind.
  Cursor loop(const ProcPtr& p) const;    // a for
  Cursor scope(const ProcPtr& p) const;   // a for or if
  Cursor nested(const ProcPtr& p) const;  // the outer of two loops: "i j", or a cursor to the outer
  Cursor stmt(const ProcPtr& p) const;
  Cursor block(const ProcPtr& p) const;  // a statement counts as a block of one
  Cursor gap(const ProcPtr& p) const;    // of a statement: the gap after it
  Cursor expr(const ProcPtr& p) const;
  Cursor buffer(const ProcPtr& p) const;  // an alloc statement or argument
  Cursor alloc(const ProcPtr& p) const;   // an alloc statement
  Cursor call(const ProcPtr& p) const;
  Value value() const;  // for traces

 private:
  std::optional<Cursor> cursor_;
  std::string pattern_;
};

/// Parses a control expression over the names visible at `at`: "4*io + 3", "N / 8".
ExprPtr parse_expr_at(const ProcPtr& p, const Path& at, const std::string& text);
/// A window by the names visible at `at`: "x[4*io:4*io + 4, 0]", "x[C.a:C.a + 2]".
ExprPtr parse_window_at(const Proc& p, const Path& at, const std::string& text);

}  // namespace exotune
