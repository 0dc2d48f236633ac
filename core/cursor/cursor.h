#pragma once
// Cursor: a place in one version of a proc, which survives rewrites. Exo 2 section 5.
//
// A cursor is (proc version, kind, path). Each primitive is a sequence of edits
// (core/cursor/edit.h) and each edit forwards paths; `forward` composes them along the provenance
// chain. Operators forward every cursor they are given, so users hold on to cursors while `p`
// changes.
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/ir/path.h"

namespace exotune {

enum class CursorKind : uint8_t { kInvalid, kStmt, kBlock, kGap, kExpr, kArg };
const char* name_of(CursorKind k);

/// A place in one procedure: a statement, a block of them, a gap, an expression or an argument. It
/// holds the procedure it was made of; forward() finds the place that became of it in a later one.
/// Copies are cheap. What is asked of an invalid cursor throws InvalidCursorError.
class Cursor {
 public:
  Cursor() = default;
  static Cursor stmt(ProcPtr p, Path path);
  static Cursor block(ProcPtr p, Path first, int length);
  static Cursor gap(ProcPtr p, Path before);  // the place before statement `before`
  static Cursor expr(ProcPtr p, Path path);
  static Cursor arg(ProcPtr p, int index);
  static Cursor invalid(ProcPtr p);

  CursorKind kind() const { return kind_; }
  bool valid() const { return kind_ != CursorKind::kInvalid; }
  const ProcPtr& proc() const { return proc_; }
  const Path& path() const { return path_; }
  int length() const { return length_; }  // statements of a block; 1 for a statement
  int arg_index() const { return length_; }

  // --- what it points at; InvalidCursorError when the kind does not fit ---
  StmtPtr stmt() const;  // a statement (or the only one of a 1-block)
  ExprPtr expr() const;
  Block stmts() const;  // statement or block
  /// The statement's node when it is a T, else InvalidCursorError naming what was found.
  template <class T>
  const T& as() const {
    const T* t = stmt()->as<T>();
    if (!t) wrong_node();
    return *t;
  }
  template <class T>
  bool is() const {
    return kind_ == CursorKind::kStmt && stmt()->as<T>() != nullptr;
  }

  // --- navigation (names of Exo 2) ---
  Cursor parent() const;  // enclosing statement; invalid at the top level
  Cursor next(int distance = 1) const;
  Cursor prev(int distance = 1) const;
  Cursor before() const;  // gaps
  Cursor after() const;
  Cursor anchor() const;                       // a gap's neighbouring statement
  Cursor body() const;                         // block cursor over a for's or if's body
  Cursor orelse() const;                       // block cursor; invalid when there is none
  Cursor operator[](int k) const;              // k-th statement of a block; negative from the end
  Cursor as_block() const;                     // a statement as a block of one
  Cursor expand(int before, int after) const;  // widened block; -1: as far as it goes
  Cursor child_expr(int k) const;              // k-th expression child, numbered as in stmt_exprs
  Cursor lo() const;                           // for
  Cursor hi() const;
  Cursor cond() const;  // if
  Cursor rhs() const;   // assign, reduce, write config, window
  std::vector<Cursor> idx() const;
  std::vector<Cursor> args() const;               // call
  Cursor find(const std::string& pattern) const;  // within this subtree
  std::vector<Cursor> find_all(const std::string& pattern) const;

  /// A one-line description for messages: "for i in seq(0, N): ..." with its location.
  std::string describe() const;

 private:
  [[noreturn]] void wrong_node() const;
  ProcPtr proc_;
  CursorKind kind_ = CursorKind::kInvalid;
  Path path_;
  int length_ = 1;
};

// --- finding (core/cursor/find.cc) ----------------------------------------------------------
// Patterns are fragments of object code with `_` holes: "for i in _: _", "C[_] += _", "x = _",
// "x : _", "foo(_)", "if _: _", "a = _; b = _", "Cfg.f = _", and expression fragments "A[_]",
// "_ * _", plus a trailing " #n" for the n-th match in pre-order (0-based).
/// First (or #n-th) match, or InvalidCursorError naming the nearest loop/buffer names.
Cursor find(const ProcPtr& p, const std::string& pattern);
std::vector<Cursor> find_all(const ProcPtr& p, const std::string& pattern);
/// "i" or "i #1" or a full pattern: the loop over i.
Cursor find_loop(const ProcPtr& p, const std::string& name);
Cursor find_alloc_or_arg(const ProcPtr& p, const std::string& name);
Cursor body_of(const ProcPtr& p);  // block cursor over the whole body
/// A pattern that find() takes back to exactly this statement, block or gap's anchor in its proc.
std::string pattern_of(const Cursor& c);

/// `c` as seen in `p`, a descendant of c's proc; invalid cursor when its target is gone;
/// InvalidCursorError when p does not descend from c's proc.
Cursor forward(const ProcPtr& p, const Cursor& c);

}  // namespace exotune
