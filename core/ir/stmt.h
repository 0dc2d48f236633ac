#pragma once
// Statements: immutable, shared trees. Start at Stmt.
//
// Expression children are numbered uniformly (`stmt_exprs`): For: lo, hi; If: cond;
// Assign/Reduce: idx..., then rhs last; WriteConfig, WindowStmt: rhs; Alloc: shape...; Call:
// args...
#include <functional>
#include <set>
#include <variant>
#include <vector>

#include "core/ir/expr.h"
#include "core/ir/memory.h"

namespace exotune {

struct Stmt;
using StmtPtr = std::shared_ptr<const Stmt>;
using Block = std::vector<StmtPtr>;
struct Proc;
using ProcPtr = std::shared_ptr<const Proc>;

/// `name[idx] = rhs`: an element of a tensor or window, or with idx empty a scalar.
struct Assign {
  Sym name;
  std::vector<ExprPtr> idx;
  ExprPtr rhs;
};
enum class ReduceOp : uint8_t { kAdd, kMax, kMin };
const char* name_of(ReduceOp op);  // "+=", "max=", "min="
/// Is reducing twice by one value the same as once? True of max= and min=.
constexpr bool is_idempotent(ReduceOp op) { return op != ReduceOp::kAdd; }
/// `name[idx] op= rhs`. A statement of its own because the operation is associative and
/// commutative: that two of them commute, and that a loop of them may be cut or reordered (in real
/// arithmetic), is what most schedules of sums rest on.
struct Reduce {
  Sym name;
  std::vector<ExprPtr> idx;
  ExprPtr rhs;
  ReduceOp op;
};
/// `Config.field = rhs`, control or data: state of a device, which instructions read.
struct WriteConfig {
  ConfigPtr config;
  std::string field;
  ExprPtr rhs;
};
/// What is left of a block whose statements are gone: the text needs something to stand there.
struct Pass {};
/// `cond` is a control boolean: data never decides what runs.
struct If {
  ExprPtr cond;
  Block body, orelse;
};
/// kPar: the iterations may run in any order and at once; the checker proves that they do not race
/// before any C is emitted.
enum class LoopMode : uint8_t { kSeq, kPar };
/// Runs `body` for iter = lo, ..., hi - 1; zero times when hi <= lo.
struct For {
  Sym iter;
  ExprPtr lo, hi;
  Block body;
  LoopMode mode = LoopMode::kSeq;
};
/// In scope until the end of its block. Contents start undefined.
struct Alloc {
  Sym name;
  Type type;
  MemoryPtr mem;
};
/// Runs the callee's body with the arguments in place of its formals: scalars and tensors by
/// reference, control values by value. An instruction is a call of a proc with InstrInfo.
struct Call {
  ProcPtr callee;
  std::vector<ExprPtr> args;
};
/// `name = rhs[...]`: an alias, in scope until the end of its block. `type` is the window's.
struct WindowStmt {
  Sym name;
  ExprPtr rhs;  // a WindowExpr
  Type type;
};

using StmtNode = std::variant<Assign, Reduce, WriteConfig, Pass, If, For, Alloc, Call, WindowStmt>;

/// A node with its place; never changed once made. `where` counts neither for hash nor for equal.
struct Stmt {
  StmtNode node;
  SourceLocation where;
  uint64_t hash = 0;
  uint64_t bloom = 0;          // every symbol mentioned or bound inside
  bool writes_config = false;  // here, inside, or in a proc that is called

  /// The node as a T, null when it is another.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&node);
  }
};

// --- construction ---------------------------------------------------------------------------
/// The only place where hash, bloom and writes_config are computed: O(children), since theirs are
/// known. The makers below it are the same with the node written out.
StmtPtr make_stmt(StmtNode node, SourceLocation where = {});
StmtPtr make_assign(Sym name, std::vector<ExprPtr> idx, ExprPtr rhs);
StmtPtr make_reduce(Sym name, std::vector<ExprPtr> idx, ExprPtr rhs, ReduceOp op = ReduceOp::kAdd);
StmtPtr make_for(Sym iter, ExprPtr lo, ExprPtr hi, Block body, LoopMode mode = LoopMode::kSeq);
StmtPtr make_if(ExprPtr cond, Block body, Block orelse = {});
StmtPtr make_alloc(Sym name, Type type, MemoryPtr mem);
StmtPtr make_call(ProcPtr callee, std::vector<ExprPtr> args);
StmtPtr make_pass();

// --- inspection -----------------------------------------------------------------------------
/// Copies, in the order of the header of this file; with_exprs takes them back in that order and
/// number.
std::vector<ExprPtr> stmt_exprs(const Stmt& s);
StmtPtr with_exprs(const StmtPtr& s, const std::vector<ExprPtr>& exprs);
/// The body and orelse of a For or If with others; other statements must get empty blocks.
StmtPtr with_blocks(const StmtPtr& s, Block body, Block orelse);
const Block& body_of(const Stmt& s);             // empty for leaves
const Block& orelse_of(const Stmt& s);           // empty but for If
bool equal(const StmtPtr& a, const StmtPtr& b);  // structural, by symbol (binders included)
bool equal(const Block& a, const Block& b);
/// Linear in the smaller of the two; used where code is compared after its binders were made fresh,
/// so that plain equality would always fail.
/// Equal up to the names of what a and b bind (loop iterators, allocations, windows).
bool alpha_equal(const Block& a, const Block& b);
bool mentions(const StmtPtr& s, Sym sym);
bool mentions(const Block& b, Sym sym);
/// Symbols read or written in `b` that `b` does not bind.
std::set<Sym> free_symbols(const Block& b);
/// The symbol a statement binds for its later siblings (Alloc, WindowStmt), else the null symbol.
Sym bound_symbol(const Stmt& s);

// --- rewriting ------------------------------------------------------------------------------
/// Rewrites every expression bottom-up with `f` (see rewrite(ExprPtr)); shares what is unchanged.
/// Assign/Reduce/Alloc names are not expressions: see `rename`.
Block rewrite_exprs(const Block& b, const std::function<ExprPtr(const ExprPtr&)>& f);
/// Bottom-up over statements: `f` sees each statement after its children and returns the
/// statements to put in its place, or nothing to keep it.
Block rewrite_stmts(const Block& b, const std::function<std::optional<Block>(const StmtPtr&)>& f);
Block substitute(const Block& b, Sym s, const ExprPtr& by);
Block rename(const Block& b, Sym from, Sym to);
/// The same block with fresh symbols for everything it binds: needed when code is duplicated.
Block refresh_binders(const Block& b);
void for_each_stmt(const Block& b, const std::function<void(const StmtPtr&)>& f);  // pre-order
/// Every expression of every statement, outermost first, not descending into subexpressions.
void for_each_expr(const Block& b, const std::function<void(const ExprPtr&)>& f);

}  // namespace exotune
