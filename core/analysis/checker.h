#pragma once
// The walk behind `check`: one pass over a proc with the facts of each place at hand. Split by
// subject: check.cc statements, check_expr.cc expressions and bounds, bounds_hint.cc what is
// written instead, check_call.cc calls, check_memory.cc what only code generation needs.
#include "core/analysis/effects.h"
#include "core/base/refusals.h"

namespace exotune {

/// One use checks one proc: the walk moves `scope_`, `problem_` and `path_` along with it, so that
/// each question is asked with the facts of its place. Throws at the first offence, or, of a user's
/// text, goes on to the next statement, since none but a declaration changes what others mean.
/// Cost: linear in the program but for the questions, which the cache of decisions answers for most
/// unrolled code.
class Checker {
 public:
  Checker(const Proc& p, bool for_codegen);
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;
  /// Throws InputError at the first offence.
  void run();
  /// The same, and throws InputError with all offences of the body.
  void run_to_the_end();
  /// Re-checks one statement: primitives that built a single new statement ask for no more. For
  /// a proc all of whose other statements passed.
  void run_at(const Path& at);

 private:
  // check.cc
  /// Names, types and asserts of the formals; asserts may only speak of what stands before them.
  void header();
  /// Asserts that contradict each other would make every claim about the body true: such a proc is
  /// refused, since a proof about it says nothing.
  void satisfiable();
  void block(const Block& b, Child child);
  /// stmt, behind which the walk goes on where its refusals are gathered.
  void stmt_or_refusal(const Stmt& s);
  /// Goes on to the statement that run_at was asked for, entering facts on the way, checking
  /// nothing else.
  void descend(const Block& b, const Path& at, size_t depth);
  void stmt(const Stmt& s);
  void loop(const Stmt& s, const For& n);
  /// For `par` loops: no two iterations touch one element unless both only read it or both reduce
  /// it the same way; and no iteration writes configuration.
  void race_free(const Stmt& s, const For& n);
  void branch(const Stmt& s, const If& n);
  void store(const Stmt& s, Sym name, const std::vector<ExprPtr>& idx, const ExprPtr& rhs);
  void allocation(const Stmt& s, const Alloc& n);
  void config_write(const Stmt& s, const WriteConfig& n);
  /// Of the buffers allocated in the `n` statements at `first`.
  void initialised(const Block& block, const Path& first, int n);
  /// Refuses what a later statement could change under a type: an extent in a shape that reads
  /// configuration.
  void fixed(const ExprPtr& e, const std::string& what, const SourceLocation& where);

  // check_expr.cc
  void integer(const ExprPtr& e, const SourceLocation& where);
  void boolean(const ExprPtr& e, const SourceLocation& where);
  /// The precision of a data expression; nothing for literals.
  std::optional<ScalarType> data(const ExprPtr& e, const SourceLocation& where);
  /// A data expression stored in (or passed as) an element of `target`: `data`, and every literal
  /// in it can be held by the precision that it takes there.
  void stored(const ExprPtr& e, ScalarType target, const SourceLocation& where);
  /// Each literal must be exact in the type it takes from its context: 300 is no i8, 0.1 is an f32.
  /// `stored`: the value that `e` is a part of, and where it goes; for the hint.
  struct Stored {
    const ExprPtr& value;
    ScalarType target;
  };
  void literals(const ExprPtr& e, ScalarType context, const SourceLocation& where,
                const Stored& stored);
  void cast(const Cast& n, const ExprPtr& e, const SourceLocation& where);
  /// The assert under which `inside`, an upper bound of `limit`, would be proved.
  std::string assert_hint(const ExprPtr& inside, const ExprPtr& limit);
  /// The precision that all arguments have.
  std::optional<ScalarType> function(const Extern& n, const ExprPtr& e,
                                     const SourceLocation& where);
  /// The hint for a `part` of mixed precisions in a value that is so elsewhere as well; "" where
  /// the part is all of it.
  std::string all_in_one_type(const ExprPtr& part) const;
  [[noreturn]] void mixed_arguments(const Extern& n,
                                    const std::vector<std::optional<ScalarType>>& types,
                                    size_t first, size_t other, const SourceLocation& where);
  std::optional<ScalarType> operands(const BinOp& n, const SourceLocation& where);
  /// As `data`, but the range of a cast is not looked at: a hint may say to cast otherwise.
  std::optional<ScalarType> operand(const ExprPtr& e, const SourceLocation& where);
  /// `e` as the user wrote it.
  std::string written(const ExprPtr& e) const;
  /// The binding of a data name, which must be visible.
  const Binding& buffer(Sym name, const SourceLocation& where);
  void element(Sym name, const std::vector<ExprPtr>& idx, const SourceLocation& where);
  void window(const WindowExpr& w, const SourceLocation& where);
  void config_read(const ReadConfig& r, const SourceLocation& where);
  ScalarType decided(ScalarType t) const;

  // bounds_hint.cc
  struct MissingBound {
    ExprPtr at_least_zero, condition;  // the same, the second one as it is said
  };
  /// What is written where the subscript of `dim` is not proved; "" where nothing short helps.
  std::string bounds_hint(Sym name, std::vector<ExprPtr> idx, size_t dim);
  std::string bounds_hint_of(const std::vector<MissingBound>& missing);
  /// The same where an extent is not proved to be positive.
  std::string positive_hint(const ExprPtr& size);
  std::string sizes_that_suffice(const std::vector<MissingBound>& missing);
  std::vector<MissingBound> missing_bounds();
  std::string narrower_loop(const std::vector<MissingBound>& missing);
  bool on_one_line(const Block& block) const;

  // check_call.cc
  /// Binds the formals' control values, proves the callee's asserts there, then each argument by
  /// kind.
  void call(const Stmt& s, const Call& n);
  void instruction(const Proc& callee, const SourceLocation& where);
  void argument(const Call& n, size_t k, const CallSubstitution& substitution,
                const SourceLocation& where);
  /// No two data arguments may overlap unless the callee only reads both: its body was checked, and
  /// is compiled, as if they did not.
  void aliases(const Call& n, const SourceLocation& where);

  // check_memory.cc
  /// These are asked only for code generation, since a schedule may pass through states that no C
  /// expresses: a buffer in registers that is still indexed by a variable, say.
  void allocation_memory(const Alloc& n, const SourceLocation& where);
  void addressable(Sym name, const SourceLocation& where);
  void argument_memory(const Call& n, size_t k, const SourceLocation& where);
  /// The registers of argument `k`, of the buffer `name`, hold as many elements as the callee's.
  void whole_registers(const Call& n, size_t k, Sym name, const SourceLocation& where);
  const Memory* memory_of(Sym name) const;

  [[noreturn]] void fail(const SourceLocation& where, LazyText message, LazyText hint = {}) const;
  /// `what`, then why the answer is no proof of `condition`.
  [[noreturn]] void fail(const SourceLocation& where, const std::string& what,
                         const std::string& condition, const Answer& answer,
                         LazyText hint = {}) const;
  const SourceLocation& at(const Stmt& s) const { return s.where; }

  const Proc& p_;
  bool codegen_;
  const ExprPtr* whole_ = nullptr;  // what is stored, while it is looked at
  Refusals* refusals_ = nullptr;    // of the body that is walked; null: the first is thrown
  bool hints_ = false;  // of a whole program; steps of schedules are refused too often for them
  Scope scope_;
  Problem problem_;
  Path path_;
  std::vector<Sym> iters_;
};

}  // namespace exotune
