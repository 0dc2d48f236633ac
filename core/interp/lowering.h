#pragma once
// The work of compile(): expressions and statements to nodes, calls inlined, what is constant
// folded. Internal to core/interp; one .cc file per kind of thing.
#include <string>
#include <unordered_map>

#include "core/interp/compiler.h"

namespace exotune::interp {

/// What names stand for in one proc of the call tree. The views of buffers are places in root
/// buffers with strides, so a window costs nothing when the program runs. Procs of one lineage
/// share symbols: each call gets an environment of its own.
struct Env {
  std::unordered_map<Sym, IntVal> control;
  std::unordered_map<Sym, View> views;
};

/// One use compiles one proc. A Lowering owns no program state: what it makes is a Compiled, which
/// runs any number of times with the same control arguments. Other control arguments mean another
/// compilation, since loops' bounds and extents are folded in as constants.
class Lowering {
 public:
  explicit Lowering(Arithmetic mode) : mode_(mode) {}
  /// Throws InterpError(kUnsupported) for what has no meaning, and kArgument for shapes that do not
  /// fit.
  Compiled compile_entry(const Proc& proc, const std::vector<int64_t>& control,
                         const std::vector<EntryView>& entry);

 private:
  [[noreturn]] static void unsupported(const SourceLocation& where, const std::string& what);
  int new_int() { return result_.int_slots++; }
  int new_base() { return result_.base_slots++; }
  /// The slot of a field, made at its first mention.
  int config_slot(const Config& c, const std::string& field);
  /// Appends to the list of the block that is being compiled.
  void emit(NodePtr n) { out_->push_back(std::move(n)); }
  IntVal op(IntOp o, const IntVal& a, const IntVal& b) const { return int_op(o, a, b, ranges_); }
  /// A value that stays what it is now: itself when linear, else held in a slot.
  IntVal let(IntVal v);
  /// Emits a check, or nothing where the condition is known to hold, or throws at once where it is
  /// known not to: errors that constants decide are found before anything runs.
  void require(IntVal cond, InterpError::Kind kind, std::string message,
               const SourceLocation& where, std::optional<IntVal> shown = {});

  // lower_control.cc
  /// A control expression: a linear form where it is one, so that addresses stay sums.
  IntVal control(const ExprPtr& e, const Env& env);
  IntVal config_read(const ReadConfig& r, const SourceLocation& where);

  // lower_place.cc
  const View& view_of(Sym s, const Env& env, const SourceLocation& where) const;
  /// One element's address in its root, with the checks of its subscripts.
  Access element(Sym name, const std::vector<ExprPtr>& idx, const Env& env,
                 const SourceLocation& where);
  /// Leaves out the check when the ranges of the slots prove it: what loops over affine subscripts
  /// do, mostly; so straight-line code runs without a comparison an element.
  void add_check(Access* a, const IntVal& i, const IntVal& extent, int dim) const;
  /// An actual argument that is a buffer, or a window of one.
  View whole_or_window(const ExprPtr& e, const Env& env);

  // lower_data.cc
  /// `context`: the precision of the place, which literals take. Operations are rounded where the
  /// emitted C rounds (arithmetic_type of core/codegen). `whole` below is what messages show.
  DataPtr data(const ExprPtr& e, ScalarType context, const Env& env);
  DataPtr unary(DataOp o, const ExprPtr& a, ScalarType type, const Env& env, const ExprPtr& whole);
  DataPtr binary(DataOp o, const ExprPtr& a, const ExprPtr& b, ScalarType type, const Env& env,
                 const ExprPtr& whole);
  DataPtr call_extern(const Extern& x, ScalarType type, const Env& env, const ExprPtr& whole);

  // lower_stmt.cc
  void compile_block(const Block& b, Env& env);
  /// The statements of a block compiled to a list of their own, for a loop's body or a branch.
  NodeList nested(const Block& b, Env& env);
  void compile_stmt(const Stmt& s, Env& env);
  // One kind of statement each.
  void store(StoreOp o, Sym name, const std::vector<ExprPtr>& idx, const ExprPtr& rhs,
             const Env& env, const SourceLocation& where);
  void loop(const For& f, Env& env);
  void branch(const If& i, Env& env);
  void allocate(const Alloc& a, Env& env, const SourceLocation& where);
  void write_config(const WriteConfig& w, const Env& env);
  void compile_asserts(const Proc& p, Env& env, const SourceLocation& where);
  /// The callee's body in place, in an environment of its own: procs of one lineage share symbols.
  void call(const Call& c, const Env& env, const SourceLocation& where);
  /// What a data formal stands for in a call: the argument's place, no copy of it.
  View bind(const Arg& formal, const ExprPtr& actual, const Env& env, const SourceLocation& where);
  /// Extents of a formal that differ from the argument's are a fault of the caller (kArgument).
  void require_shape(const Arg& formal, const Proc& p, Env& inner, const SourceLocation& where);

  Arithmetic mode_;
  Compiled result_;
  Ranges ranges_;            // of the slots in scope: what add_check asks
  NodeList* out_ = nullptr;  // of the block being compiled
};

}  // namespace exotune::interp
