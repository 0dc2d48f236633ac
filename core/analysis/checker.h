#pragma once
// The walk behind `check`: one pass over a proc with the facts of each place at hand. Split by
// subject: check.cc statements, check_expr.cc expressions and bounds, check_call.cc calls,
// check_memory.cc what only code generation needs.
#include "core/analysis/effects.h"

namespace exotune {

class Checker {
 public:
  Checker(const Proc& p, bool for_codegen);
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;
  /// Throws InputError at the first offence.
  void run();
  /// For a proc all of whose other statements passed.
  void run_at(const Path& at);

 private:
  // check.cc
  void header();
  void satisfiable();
  void block(const Block& b, Child child);
  void descend(const Block& b, const Path& at, size_t depth);
  void stmt(const Stmt& s);
  void loop(const Stmt& s, const For& n);
  void race_free(const Stmt& s, const For& n);
  void branch(const Stmt& s, const If& n);
  void store(const Stmt& s, Sym name, const std::vector<ExprPtr>& idx, const ExprPtr& rhs);
  void allocation(const Stmt& s, const Alloc& n);
  void config_write(const Stmt& s, const WriteConfig& n);
  /// Of the buffers allocated in the `n` statements at `first`.
  void initialised(const Block& block, const Path& first, int n);
  void fixed(const ExprPtr& e, const std::string& what, const SourceLocation& where);

  // check_expr.cc
  void integer(const ExprPtr& e, const SourceLocation& where);
  void boolean(const ExprPtr& e, const SourceLocation& where);
  /// The precision of a data expression; nothing for literals.
  std::optional<ScalarType> data(const ExprPtr& e, const SourceLocation& where);
  /// A data expression stored in (or passed as) an element of `target`: `data`, and every literal
  /// in it can be held by the precision that it takes there.
  void stored(const ExprPtr& e, ScalarType target, const SourceLocation& where);
  void literals(const ExprPtr& e, ScalarType context, const SourceLocation& where);
  void cast(const Cast& n, const ExprPtr& e, const SourceLocation& where);
  std::optional<ScalarType> one_precision(std::optional<ScalarType> a, std::optional<ScalarType> b,
                                          const SourceLocation& where);
  /// The binding of a data name, which must be visible.
  const Binding& buffer(Sym name, const SourceLocation& where);
  void element(Sym name, const std::vector<ExprPtr>& idx, const SourceLocation& where);
  void window(const WindowExpr& w, const SourceLocation& where);
  void config_read(const ReadConfig& r, const SourceLocation& where);
  ScalarType decided(ScalarType t) const;

  // check_call.cc
  void call(const Stmt& s, const Call& n);
  void instruction(const Proc& callee, const SourceLocation& where);
  void argument(const Call& n, size_t k, const CallSubstitution& substitution,
                const SourceLocation& where);
  void aliases(const Call& n, const SourceLocation& where);

  // check_memory.cc
  void allocation_memory(const Alloc& n, const SourceLocation& where);
  void addressable(Sym name, const SourceLocation& where);
  void argument_memory(const Call& n, size_t k, const SourceLocation& where);
  const Memory* memory_of(Sym name) const;

  [[noreturn]] void fail(const SourceLocation& where, LazyText message, LazyText hint = {}) const;
  /// `what`, then why the answer is no proof of `condition`.
  [[noreturn]] void fail(const SourceLocation& where, const std::string& what,
                         const std::string& condition, const Answer& answer) const;
  const SourceLocation& at(const Stmt& s) const { return s.where; }

  const Proc& p_;
  bool codegen_;
  Scope scope_;
  Problem problem_;
  Path path_;
  std::vector<Sym> iters_;
};

}  // namespace exotune
