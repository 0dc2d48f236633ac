#pragma once
// From syntax to typed IR: names become symbols, control and data are told apart, every rule of the
// language that needs no proof is enforced. Start at Elaborator; parser.cc drives it.
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/refusals.h"
#include "core/base/within.h"
#include "core/base/words.h"
#include "core/frontend/bit_operations.h"
#include "core/frontend/parser.h"
#include "core/frontend/syntax.h"

namespace exotune {

/// The hint for a factor that takes few values: blocks of procedures, with `name` for it.
std::string a_procedure_for_each(const std::string& name);

/// "1 dimension", "2 dimensions".
std::string counted(size_t n, const std::string& one);

/// "did you mean `x`?" or empty.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates);

/// Tables of the module around the proc. A proc may only name what stands before it in the file,
/// which is why recursion cannot be written. What stands outside of a proc: all borrowed, may be
/// null.
struct Globals {
  const std::map<std::string, MemoryPtr>* memories = nullptr;
  const std::map<std::string, ConfigPtr>* configs = nullptr;
  const std::map<std::string, int64_t>* constants = nullptr;
  const std::map<std::string, double>* numbers = nullptr;
  std::map<std::string, ProcPtr> procs;       // callable by name
  std::map<std::string, Diagnostic> refused;  // procedures that are left out, and why
};

/// A name that nothing has: one error for all its places.
struct UnknownName : InputError {
  UnknownName(const SourceLocation& where, const std::string& unknown, const LazyText& hint)
      : InputError(where, "nothing here is named " + quoted(unknown), hint), name(unknown) {}
  std::string name;
};

/// Turns one proc's syntax into IR. Names live in a scope that blocks push to and pop from; errors
/// are thrown at the first offence (of a whole body: all of them) with its place and, where a near
/// name exists, with what was probably meant. Proofs come later (core/analysis): what is checked
/// here is grammar, names and types.
class Elaborator {
 public:
  explicit Elaborator(const Globals& globals) : globals_(globals) {}

  // --- scope ---
  /// Visible until the enclosing block ends; shadows what has the name.
  void bind(Sym name, Type type, MemoryPtr mem);
  /// The visible names of a place in a proc, by the spelling that they print by.
  void bind_scope(const std::vector<ScopeEntry>& scope);

  // --- expressions; each throws InputError ---
  ExprPtr control(const SyntaxExpr& e);  // size, index, stride or bool
  ExprPtr integer(const SyntaxExpr& e);  // control, not bool
  ExprPtr boolean(const SyntaxExpr& e);
  ExprPtr data(const SyntaxExpr& e);
  /// Data with literals taking precision `target` where nothing else decides.
  ExprPtr data(const SyntaxExpr& e, ScalarType target);
  ExprPtr window(const SyntaxExpr& e);  // name or name[...]: a WindowExpr
  /// Is a value data? Decided by its first leaf that is no integer literal; nothing when all are.
  std::optional<bool> looks_like_data(const SyntaxExpr& e) const;

  // --- declarations and statements ---
  /// A type in the language's sense: precision, extents that are positive control expressions,
  /// window or dense.
  Type type(const SyntaxType& t, bool is_argument);
  /// DRAM where none is named; InputError with the nearest name otherwise.
  MemoryPtr memory(const SyntaxType& t);
  /// In order; what a block binds ends with it.
  Block block(const std::vector<SyntaxStmt>& stmts);
  /// As block, of a procedure's whole body: reads on behind a statement that is refused, but not
  /// behind a declaration in its block, since others speak of it. InputError with all that it
  /// found.
  Block body(const std::vector<SyntaxStmt>& stmts);

 private:
  struct Entry {
    /// What a name means here; the innermost entry of a name counts.
    std::string name;
    Sym sym;
    Type type;
    MemoryPtr mem = nullptr;
    bool iterates = false;  // of a loop
    ExprPtr end = nullptr;  // of that loop
    bool allocated = false;
    SourceLocation where = {};  // of its allocation
  };
  struct Ended {
    ScalarType scalar;
    SourceLocation where;
  };
  const Entry* lookup(const std::string& name) const;
  /// The entry of a data name, or the error that says what it is instead; `use` ends that message.
  const Entry& data_entry(const SyntaxExpr& e, const char* use);
  [[noreturn]] void unknown(const SyntaxExpr& e) const;
  std::vector<std::string> visible_names() const;
  /// A name like it, or what is to be done where a block that has ended declared it; "": nothing.
  std::string instead_of_unknown(const std::string& name) const;
  /// The rule that users break first, with its reason: data never decides what runs.
  [[noreturn]] void data_in_control(const SyntaxExpr& e, const Entry& entry) const;

  /// What an integer is for: hints say what stands there instead of what may not.
  enum class Place : uint8_t { kOther, kShape, kSubscript, kLower, kUpper, kCast };
  ExprPtr integer(const SyntaxExpr& e, Place place);
  /// What may be written instead of a product of names, of a quotient by one, or of a call, at this
  /// place.
  std::string instead_of_product(const SyntaxExpr& e, const ExprPtr& lhs, const ExprPtr& rhs);
  /// A sum or product of control values as one of data of the wanted type, in brackets where it is
  /// not all of the value; "" for anything else.
  std::string multiplied_as_data(const SyntaxExpr& e, bool is_value);
  std::optional<SyntaxExpr> multiplied(const SyntaxExpr& e);
  std::string instead_of_quotient(BinOpKind op, const ExprPtr& lhs, const ExprPtr& rhs) const;
  bool is_all_of_place(const SyntaxExpr& e) const { return all_of_place_ == &e; }
  /// Of a subscript with the product `e` in it: an iterator that is added to it, and does not run
  /// to `row`.
  std::string iterator_beside(const SyntaxExpr& e, const std::string& row) const;
  std::string instead_of_call(const SyntaxExpr& e);
  /// For data in a subscript: what finds the element that is meant.
  std::string instead_of_chosen_element(const SyntaxExpr& e) const;
  /// For a condition of data and of iterators joined by `and`; "" for another.
  std::string beside_control(const SyntaxStmt& s) const;
  /// Whether a loop's iterator stands in it: its value is no argument.
  bool has_iterator(const ExprPtr& e) const;
  /// `e % N`, a ring of N places, in two cases.
  std::string instead_of_ring(const ExprPtr& lhs, const ExprPtr& rhs) const;

  ExprPtr control_name(const SyntaxExpr& e);
  ExprPtr control_call(const SyntaxExpr& e);
  ExprPtr control_binary(const SyntaxExpr& e);
  ExprPtr compare(const SyntaxExpr& e);
  ExprPtr comparison(BinOpKind op, const ExprPtr& left, const ExprPtr& right,
                     /// Of two control values of one sort; conditions are compared as themselves.
                     const SourceLocation& where) const;
  ExprPtr data_name(const SyntaxExpr& e);
  ExprPtr data_call(const SyntaxExpr& e);
  ExprPtr function_call(const SyntaxExpr& e, const std::string& name, size_t arity);
  /// What `select` takes; `select(a < b, c, d)` written with four arguments.
  std::string select_hint(const SyntaxExpr& e) const;
  /// Of another number of arguments than the function has.
  std::string arity_hint(const SyntaxExpr& e, const std::string& name) const;
  /// `select(i, 5, c, d)` decides nothing by data: an `if` does that.
  void refuse_select_by_control(const SyntaxExpr& e) const;
  /// `sum(x[i, :])` as the loop that it is; "" where `e` is no call with one row.
  std::string row_loop(const SyntaxExpr& e) const;
  [[noreturn]] void remainder_of_data(const SyntaxExpr& e);
  /// `x >> 3`, `i << 1`, `x & 7`: says what computes the same, as data where `as_data`.
  [[noreturn]] void refuse_bits(const SyntaxExpr& e, bool as_data);
  /// What computes the same as `e` with operations on bits in it: its text is "" where one of them
  /// is nothing else.
  InsteadOfBits without_bits(const SyntaxExpr& e, bool as_data);
  /// `e` as data: `yes` where it holds, else `no`, by `select`; "" where not all of it compares
  /// data, or the text would be long.
  std::string choice(const SyntaxExpr& e, const std::string& yes, const std::string& no) const;
  [[noreturn]] void refuse_condition(const SyntaxExpr& e) const;
  /// `c if a else d`: what it is where `a` is data, and where it is not.
  [[noreturn]] void refuse_choice(const SyntaxExpr& e) const;
  /// The text of such a choice, and of those in it, by `select`; "" where not all of it is data.
  std::string select_of(const SyntaxExpr& e) const;
  /// `text` as it is accepted: what is read in it in one precision.
  std::string in_one_type(const std::string& text) const;
  void refuse_control_as_data(const SyntaxExpr& e);
  /// `f32(e)`: a control value becomes data; data of another type goes through a scalar in front of
  /// the statement.
  ExprPtr cast(const SyntaxExpr& e, ScalarType to);
  ExprPtr data_binary(const SyntaxExpr& e);
  /// The configuration and field of `Cfg.f`; InputError when either does not exist.
  std::pair<ConfigPtr, const ConfigField*> config_field(const SyntaxExpr& e) const;
  std::vector<ExprPtr> indices(const SyntaxExpr& e, const Entry& entry);
  /// `x` or `x[...]` as a WindowExpr with one access a dimension.
  ExprPtr whole_or_window(const SyntaxExpr& e, const Entry& entry);

  void statement(const SyntaxStmt& s, Block& into);
  ExprPtr condition(const SyntaxStmt& s);
  /// What an `if` by data is written as; "" where nothing short says it.
  std::string instead_of_branch(const SyntaxStmt& s) const;
  /// `mode: index` for each scalar argument that decides; "" where other data does as well.
  std::string deciding_arguments(const SyntaxExpr& condition) const;
  /// Whether each name of data in it is a scalar argument; puts them in `names`.
  bool reads_arguments_only(const SyntaxExpr& e, std::vector<const Entry*>& names) const;
  /// `if c: break`, by a value that says whether the loop still goes on.
  std::string instead_of_break(const SyntaxExpr& condition) const;
  /// The same where each side writes one place, by `continue`, and for sides of any assignments.
  std::string instead_of_one(const SyntaxStmt& s) const;
  std::string instead_of_continue(const SyntaxExpr& condition) const;
  std::string instead_of_sides(const SyntaxStmt& s) const;
  ScalarType decided_by(const SyntaxExpr& condition) const;
  /// Of a branch of several assignments: one `select` for each, in an order that lets each find
  /// what it found; "" where there is none.
  std::string instead_of_several(const SyntaxStmt& s) const;
  /// The value of `target`, as an `if` with one assignment a branch gives it; "" for another.
  std::string chosen_value(const SyntaxStmt& s, const SyntaxStmt& first) const;
  void allocation(const SyntaxStmt& s, Block& into);
  /// The name that an assignment writes to does not exist.
  [[noreturn]] void unknown_target(const SyntaxStmt& s);
  /// `v = x[i]` of no `v`: its allocation.
  std::string allocated_first(const SyntaxStmt& s);
  std::string instead_of_variable(const SyntaxStmt& s);
  std::optional<std::array<std::string, 3>> two_cases(const SyntaxExpr& e);
  /// The type of what `e` reads, of all of it; nothing where it reads no data.
  std::optional<ScalarType> common_type_of(const SyntaxExpr& e) const;
  /// `e` with what it reads of another type as `type`: `s[0] + i32(x[i])`. R, which is not decided,
  /// stays.
  SyntaxExpr in_type(const SyntaxExpr& e, ScalarType type) const;
  /// A quotient of integers by a literal that is written as a real number.
  void refuse_cut_by_real(const SyntaxExpr& e, ScalarType lhs, ScalarType rhs) const;
  /// The hint for `a if c else b` whose condition is of control.
  std::string decided_by_statement(const SyntaxExpr& choice) const;
  /// C computes sums and products of narrow integers in an int: in_type of these, and their type.
  SyntaxExpr in_an_int(const SyntaxExpr& e, ScalarType& type) const;
  /// A size, an index or an expression of them, and none of literals alone.
  bool is_control_value(const SyntaxExpr& e);
  /// Casts of data put their scalars in `in_front`.
  StmtPtr assignment(const SyntaxStmt& s, Block& in_front);
  /// `y = max(y, x)`: says the reduction that it is.
  static void refuse_running_extreme(const SyntaxStmt& s);
  /// `x = y` of tensors, `x = 0.0` of one: says the loop that it is.
  void refuse_whole_tensor(const SyntaxStmt& s, const Entry& entry) const;
  void refuse_part_of_tensor(const SyntaxStmt& s, const Entry& entry);
  StmtPtr loop(const SyntaxStmt& s);
  /// `seq(a, b, step)` does not exist: says what to write instead.
  [[noreturn]] void stepped(const SyntaxExpr& iter, const SyntaxExpr& range);
  /// `seq(max(0, i - 2), min(n, i + 3))`: throws with what to write instead, both ends at once;
  /// returns where neither bound is such a call.
  void refuse_band(const SyntaxExpr& iter, const SyntaxExpr& range);
  /// A name near `wanted` that nothing visible has.
  std::string unused_name(const std::string& wanted) const;
  /// `reversed(seq(0, n))`: a loop that counts down; "" for another range.
  std::string instead_of_reversed(const SyntaxExpr& iter, const SyntaxExpr& range);
  /// `range(n)`: the loop over `seq` that it is, or the error that `seq` would be.
  std::string instead_of_range(const SyntaxExpr& iter, const SyntaxExpr& range);
  StmtPtr call(const SyntaxStmt& s);
  /// One argument, by the kind of its formal: a control value, a place, a window.
  ExprPtr argument(const SyntaxExpr& e, const Arg& formal, const Proc& callee);

  const Globals& globals_;
  std::vector<Entry> scope_;
  std::set<std::string> unknown_;  // said once
  Refusals* refusals_ = nullptr;   // of the body that is read; null: the first error is thrown
  Place place_ = Place::kOther;
  const SyntaxExpr* value_ = nullptr;         // all of what is assigned; for hints
  const SyntaxStmt* branch_ = nullptr;        // whose condition is read
  const SyntaxStmt* declares_ = nullptr;      // the allocation whose value is read
  std::map<std::string, Ended> ended_;        // what blocks that have ended allocated
  const SyntaxExpr* all_of_place_ = nullptr;  // what is read there
  ScalarType wanted_ = ScalarType::kF32;      // of the place that a value goes to; for hints
  ScalarType met_ = ScalarType::kR;  // by it in an operator, or R: nothing that says its type
  /// What a control value is as data at this place.
  ScalarType type_of_control() const { return met_ == ScalarType::kR ? wanted_ : met_; }
  Block* in_front_ = nullptr;  // casts of data put their scalars here; null outside of statements
};

}  // namespace exotune
