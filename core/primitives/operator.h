#pragma once
// One row of the operator table, beside the function that it calls: an operator's name, its
// parameters, what it does in short, and how the bound arguments reach the function. The table
// itself, and who reads it: core/library/operators.h.
//
// To add an operator, write its row in the file of its function, in what NAME_operators() returns
// (which says `using namespace params`); a file's first row is one line more, in operator_rows.h of
// its folder:
//
//   {"divide_loop",
//    {proc(), place("loop"), integer("q"), new_names("new_iters"), string("tail", "guard"),
//     boolean("perfect", false)},
//    "for i in seq(0, N): s  ->  for io in seq(0, N / q): for ii in seq(0, q): s",
//    [](const OperatorArgs& a) -> Value {
//      return divide_loop(a.proc(), a.where(1), a.integer(2), a.strings(3), tail_of(a));
//    }},
//
// Arguments reach the function already bound to the parameters in order, defaults filled in, and of
// the declared kind; the function's own refusals (SchedulingError, InvalidCursorError) pass
// through.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/primitives/loops.h"
#include "core/primitives/where.h"

namespace exotune {

enum class ParamKind : uint8_t {
  kProc,    // a procedure: the one being scheduled, or an instruction
  kProcs,   // a list of procedures; lists in it are joined: [mm512_stream_ps, instrs]
  kPlace,   // a cursor or a pattern string (Where)
  kPlaces,  // a list of kPlace; a single one counts as a list of one
  kCursor,  // a cursor only, for example a gap
  kInteger,
  kIntegers,  // a list of integers
  kNumber,    // an integer or a float
  kBoolean,
  kString,
  kStrings,  // a list of strings; a single string counts as a list of its words
  kName,     // a new name: an identifier, as a string
  kNames,    // a list of them; a single string counts as a list of its words
  kExpr,     // an integer or text, parsed by the operator in the scope of its place
  kExprs,    // a list of kExpr; a single one counts as a list of one
  kMemory,   // DRAM, AVX512, ...
  kConfig,
  kPrecision,  // 'f32' or a bare precision name
  kKeywords,   // all remaining keyword arguments, as a map of integers (partial_eval)
  kAny,
};
const char* name_of(ParamKind k);  // "a loop or statement (cursor or pattern)", for messages

struct Param {
  std::string name;
  ParamKind kind = ParamKind::kAny;
  std::optional<Value> fallback;  // absent: required. None is accepted where the fallback is None
};

/// One short function per kind, so that a row reads like the signature it declares.
namespace params {
Param proc(std::string name = "p");
Param procs(std::string name);
Param place(std::string name, std::optional<Value> fallback = {});
Param places(std::string name, std::optional<Value> fallback = {});
Param cursor(std::string name);
Param integer(std::string name, std::optional<Value> fallback = {});
Param integers(std::string name, std::optional<Value> fallback = {});
Param number(std::string name, std::optional<Value> fallback = {});
Param boolean(std::string name, std::optional<Value> fallback = {});
Param string(std::string name, std::optional<Value> fallback = {});
Param strings(std::string name, std::optional<Value> fallback = {});
Param new_name(std::string name, std::optional<Value> fallback = {});
Param new_names(std::string name, std::optional<Value> fallback = {});
Param expression(std::string name, std::optional<Value> fallback = {});
Param expressions(std::string name, std::optional<Value> fallback = {});
Param memory(std::string name, std::optional<Value> fallback = {});
Param config(std::string name);
Param precision(std::string name, std::optional<Value> fallback = {});
Param keywords(std::string name);
Param any(std::string name, std::optional<Value> fallback = {});
}  // namespace params

/// The arguments of one call, bound to the operator's parameters; k counts parameters from 0.
class OperatorArgs {
 public:
  explicit OperatorArgs(std::vector<Value> values) : values_(std::move(values)) {}
  const Value& operator[](int k) const { return values_[static_cast<size_t>(k)]; }
  const std::vector<Value>& values() const { return values_; }
  bool given(int k) const { return !(*this)[k].is_none(); }  // false: None, or a None default

  // Each takes argument k to be of the kind that its parameter declares: binding has seen to it.
  ProcPtr proc(int k = 0) const;
  std::vector<ProcPtr> procs(int k) const;
  Where where(int k) const;
  std::vector<Where> places(int k) const;
  /// The place as a cursor of the current form of proc() (patterns are found, cursors forwarded).
  Cursor cursor(int k) const;
  int64_t integer(int k) const;
  int small(int k) const;  // an integer used as a dimension or a count: InputError beyond a million
  std::vector<int64_t> integers(int k) const;
  double number(int k) const;
  bool boolean(int k) const;
  const std::string& string(int k) const;
  std::vector<std::string> strings(int k) const;
  MemoryPtr memory(int k) const;
  ConfigPtr config(int k) const;
  ScalarType precision(int k) const;
  std::string text(int k) const;  // kExpr: as text
  /// kExpr: parsed in the scope of `at` in proc().
  ExprPtr expr(int k, const Path& at) const;
  /// As expr, but data is allowed too.
  ExprPtr any_expr(int k, const Path& at) const;
  /// kKeywords: integers, and bools as 0 or 1.
  std::vector<std::pair<std::string, int64_t>> keywords(int k) const;

 private:
  std::vector<Value> values_;
};

/// Another list of parameters that the same operator takes: Exo 2's, where it differs from ours.
struct OperatorForm {
  std::vector<Param> params;
  std::function<Value(const OperatorArgs&)> run;
};

/// Who acts on a call. Rows of holes and constraints are for their description and for whoever
/// calls them without an evaluator.
enum class OperatorRole : uint8_t {
  kRewrite,     // its function, always
  kConstraint,  // the script's evaluator keeps it (core/library/constraints.h)
  kHole,        // the evaluator hands the place to whoever searches (core/library/script.h)
};

struct Operator {
  std::string name;
  std::vector<Param> params;  // the first is the proc
  std::string doc;            // before -> after, one line
  // Its arguments are bound and of their kinds; it refuses by throwing.
  std::function<Value(const OperatorArgs&)>
      run;                                // a proc, or a list (a tuple) that starts with one
  std::vector<OperatorForm> others = {};  // tried in order when the arguments do not fit `params`
  std::string function = {};  // that it calls, where it is called otherwise; see manual.h
  std::string proposed = {};  // for operators that no header declares; see proposal_of (manual.h)
  OperatorRole role = OperatorRole::kRewrite;
  std::string signature()
      const;  // "divide_loop(p, loop, q, new_iters, tail='guard', perfect=False)"
};

/// A row for a function that is called otherwise than the operator.
Operator in_cpp(std::string function, Operator row);

/// 'perfect', 'guard', 'cut', 'cut_and_guard', 'short'; else InputError.
Tail loop_tail(const std::string& name);
/// An integer or text, as an expression's text: ('r', 3) and ('r', '3') are the same axis.
std::string expression_text(const Value& v);

}  // namespace exotune
