#pragma once
// The five edits that every primitive is made of, and how each forwards paths. Exo 2 section 5.2.
// Start at Rewrite.
#include <functional>
#include <optional>
#include <set>

#include "core/cursor/cursor.h"
#include "core/cursor/value.h"

namespace exotune {

struct Edit {
  enum class Kind : uint8_t {
    kInsert,   // `count` statements before gap `at`
    kDelete,   // `count` statements from `at`
    kReplace,  // `count` statements from `at` become `new_count`: cursors into them die
    kWrap,     // `count` statements from `at` become one whose body (`inner`) holds them
    kMove,     // `count` statements from `at` to before gap `to` (in paths before the edit)
    kUnwrap,   // statement `at` is replaced by the `count` statements of its body (or orelse)
    kExpr,     // the expression at `at` changed: cursors into it die
    kSwap,     // statement `at` and the only statement of its body (or orelse, by `inner`) change
               // places; branches follow (see Rewrite::swap)
    kKeep,     // statement `at` changed in place (names, bounds): cursors inside stay
  };
  Kind kind;
  Path at;
  int count = 1;
  int new_count = 0;
  Path to;
  Path inner;  // kWrap: path from the new statement to its first wrapped one, e.g. {{kBody, 0}}
};
/// A statement path, gap, block start or expression path after the edit; nothing when it is gone.
/// `gap`: the path is a gap (may equal the block's length).
std::optional<Path> forward(const Edit& e, const Path& path, bool gap = false);

/// In what sense a step's result equals its input; the default is: for all inputs, exactly.
struct StepFlags {
  /// Only over the reals (sums reordered): the record's proof level says so.
  bool reassociates = false;
  /// Only for some inputs (partial_eval, add_assertion): equivalence does not cross the step.
  bool specializes = false;
  /// Config fields ("Cfg.f") modulo which the step is an equivalence.
  std::set<std::string> modulo_config;
};

/// One primitive in progress: starts from a proc, applies edits, ends as a new proc that knows its
/// parent, operator, arguments and forwarding. Paths given are in the current state.
class Rewrite {
 public:
  explicit Rewrite(ProcPtr p);
  const Proc& proc() const { return *current_; }  // the current state
  const ProcPtr& original() const { return original_; }

  void insert(const Path& gap, Block stmts);
  /// Puts `pass` in its place where a block would become empty (not for orelse).
  void erase(const Path& first, int count);
  void replace(const Path& first, int count, Block with);
  /// Same statement with other names, bounds or mode: cursors into it stay valid.
  void replace_keep(const Path& at, StmtPtr with);
  /// `make(body)` builds one statement whose body (or, with `orelse`, orelse) is the given block.
  void wrap(const Path& first, int count, const std::function<StmtPtr(Block)>& make,
            bool orelse = false);
  /// The for/if at `at` is replaced by its body (or orelse).
  void unwrap(const Path& at, bool orelse = false);
  void move(const Path& first, int count, const Path& to_gap);
  /// `with` is the statement at `at` after it and the only statement of its body (or orelse)
  /// changed places. Each cursor follows its statement. Branches: the inner's body stays the body
  /// of the statement now inside; the inner's orelse comes to stand in `with`'s orelse, under a
  /// copy of the outer; the outer's other branch goes along with the outer.
  void swap(const Path& at, StmtPtr with, bool from_orelse = false);
  void replace_expr(const Path& at, ExprPtr with);
  /// Rewrites in place every statement of the proc (renames, index changes) with an unchanged tree
  /// shape: cursors to statements stay, cursors to expressions stay by position.
  void map_in_place(Block new_body);
  /// Changes name, arguments, asserts or instr info.
  void set_header(const std::function<void(Proc&)>& change);
  /// Where a path of the original proc is now.
  std::optional<Path> now(const Path& original_path, bool gap = false) const;

  /// What the trace says of this step beyond its arguments; see StepFlags.
  StepFlags flags;

  /// The finished proc. `op` and `args` become its trace entry: positional arguments in the order
  /// of the script form, without the proc; a last Value that is a map prints as keyword arguments.
  ProcPtr finish(std::string op, std::vector<Value> args);

 private:
  ProcPtr original_;
  std::shared_ptr<Proc> current_;
  std::vector<Edit> edits_;
};

}  // namespace exotune
