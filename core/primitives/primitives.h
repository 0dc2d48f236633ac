#pragma once
// The primitives: the trusted rewrites of which all scheduling is made. Exo 2 appendix A; thesis
// chapters 3-6. Each takes a proc and cursors (of that proc or any ancestor: they are forwarded),
// returns the rewritten proc, and throws SchedulingError when its obligation is not proved or
// InvalidCursorError when a cursor does not fit. The rewrite, the obligation and the forwarding
// rule of each stand with its definition (one .cc file per family).
#include <optional>
#include <string>
#include <vector>

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
  Cursor gap(const ProcPtr& p)
      const;  // a statement cursor means the gap after... use Cursor::before/after
  Cursor expr(const ProcPtr& p) const;
  Cursor buffer(const ProcPtr& p) const;  // an alloc statement or argument
  Cursor alloc(const ProcPtr& p) const;   // an alloc statement
  Cursor call(const ProcPtr& p) const;
  Value value() const;  // for traces

 private:
  std::optional<Cursor> cursor_;
  std::string pattern_;
};

enum class Tail : uint8_t { kPerfect, kGuard, kCut, kCutAndGuard };

// --- loops (core/primitives/loops.cc) ---------------------------------------------------------
ProcPtr divide_loop(ProcPtr p, const Where& loop, int64_t q, const std::vector<std::string>& names,
                    Tail tail);
ProcPtr reorder_loops(ProcPtr p, const Where& nested);  // "i j" or a cursor to the outer loop
ProcPtr lift_scope(ProcPtr p, const Where& scope);      // for/if out of the for/if around it
ProcPtr cut_loop(ProcPtr p, const Where& loop, const ExprPtr& cut_point);
ProcPtr cut_loop(ProcPtr p, const Where& loop, int64_t cut_point);
ProcPtr shift_loop(ProcPtr p, const Where& loop, const ExprPtr& new_lo);
ProcPtr extend_loop(ProcPtr p, const Where& loop, const ExprPtr& hi);
ProcPtr join_loops(ProcPtr p, const Where& first, const Where& second);
ProcPtr fission(ProcPtr p, const Cursor& gap, int n_lifts = 1);
ProcPtr fuse(ProcPtr p, const Where& first, const Where& second);
ProcPtr remove_loop(ProcPtr p, const Where& loop);
ProcPtr unroll_loop(ProcPtr p, const Where& loop);
ProcPtr parallelize_loop(ProcPtr p, const Where& loop);
ProcPtr mult_loops(ProcPtr p, const Where& nested, const std::string& name);
ProcPtr add_loop(ProcPtr p, const Where& block, const std::string& name, const ExprPtr& hi,
                 bool guard);
ProcPtr divide_with_recompute(ProcPtr p, const Where& loop, const ExprPtr& n, int64_t q,
                              const std::vector<std::string>& names);

// --- statements (statements.cc) ---------------------------------------------------------------
ProcPtr reorder_stmts(ProcPtr p, const Where& pair);  // a block of two
ProcPtr insert_pass(ProcPtr p, const Cursor& gap);
ProcPtr delete_pass(ProcPtr p);
ProcPtr bind_expr(ProcPtr p, const Where& expr, const std::string& name, bool cse = false);
ProcPtr bind_expr(ProcPtr p, const std::vector<Cursor>& exprs, const std::string& name);
ProcPtr inline_assign(ProcPtr p, const Where& assign);
ProcPtr inline_window(ProcPtr p, const Where& window_stmt);
ProcPtr merge_writes(ProcPtr p, const Where& pair);
ProcPtr split_write(ProcPtr p, const Where& stmt);
ProcPtr fold_into_reduce(ProcPtr p, const Where& assign);
ProcPtr lift_reduce_constant(ProcPtr p, const Where& pair);
ProcPtr commute_expr(ProcPtr p, const Where& expr);
ProcPtr left_reassociate_expr(ProcPtr p, const Where& expr);
ProcPtr rewrite_expr(ProcPtr p, const Where& expr, const ExprPtr& with);

// --- conditions (conditions.cc) ---------------------------------------------------------------
ProcPtr specialize(ProcPtr p, const Where& block, const std::vector<ExprPtr>& conditions);
ProcPtr eliminate_dead_code(ProcPtr p, const Where& stmt);
ProcPtr simplify(ProcPtr p);  // whole proc
ProcPtr simplify(ProcPtr p, const Where& block);

// --- buffers (buffers.cc, layout.cc) ----------------------------------------------------------
ProcPtr expand_dim(ProcPtr p, const Where& alloc, const ExprPtr& size, const ExprPtr& index);
ProcPtr lift_alloc(ProcPtr p, const Where& alloc, int n_lifts = 1);
ProcPtr sink_alloc(ProcPtr p, const Where& alloc);
ProcPtr divide_dim(ProcPtr p, const Where& alloc, int dim, int64_t q);
ProcPtr mult_dim(ProcPtr p, const Where& alloc, int hi_dim, int lo_dim);
ProcPtr rearrange_dim(ProcPtr p, const Where& alloc, const std::vector<int>& permutation);
/// New size of one dimension and offset subtracted from every index; `fold`: indices modulo size.
ProcPtr resize_dim(ProcPtr p, const Where& alloc, int dim, const ExprPtr& size,
                   const ExprPtr& offset, bool fold = false);
ProcPtr unroll_buffer(ProcPtr p, const Where& alloc, int dim);
ProcPtr reuse_buffer(ProcPtr p, const Where& kept, const Where& replaced);
ProcPtr delete_buffer(ProcPtr p, const Where& alloc);
/// `window`: "C[4*io:4*io+4, 0:N]" or "A[i, 0:8]" as text in the scope of the block.
ProcPtr stage_mem(ProcPtr p, const Where& block, const std::string& window, const std::string& name,
                  bool accum = false);
/// One dimension of a view: a new name and its extent, text in the scope of the block.
struct ViewAxis {
  std::string name, extent;
};
/// A buffer whose element at each index is the one that `element` names ("data[c, 4*jo + j + r]"
/// over the axes), or `otherwise` where `where` is false; it replaces reads in the block.
ProcPtr stage_view(ProcPtr p, const Where& block, const std::string& name,
                   const std::vector<ViewAxis>& axes, const std::string& element,
                   const std::string& where = "", double otherwise = 0);
ProcPtr set_memory(ProcPtr p, const Where& buffer, MemoryPtr memory);
ProcPtr set_precision(ProcPtr p, const Where& buffer, ScalarType precision);
ProcPtr set_precision(ProcPtr p, const std::vector<Where>& buffers, ScalarType precision);
ProcPtr set_window(ProcPtr p, const Where& arg, bool window);
/// A tensor argument with its dimensions permuted (reversed when none is given): callers change
/// too.
ProcPtr transpose(ProcPtr p, const Where& arg, const std::vector<int>& permutation = {});

// --- procs (procs.cc, replace.cc) -------------------------------------------------------------
ProcPtr rename_proc(ProcPtr p, const std::string& name);
ProcPtr replace(ProcPtr p, const Where& block, const ProcPtr& callee);
/// The form for hot loops: nothing when `callee` does not fit, and no text is made.
std::optional<ProcPtr> try_replace(const ProcPtr& p, const Cursor& block, const ProcPtr& callee);
ProcPtr inline_call(ProcPtr p, const Where& call);
ProcPtr call_eqv(ProcPtr p, const Where& call, const ProcPtr& other);
struct Extracted {
  ProcPtr proc, subproc;
};
Extracted extract_subproc(ProcPtr p, const Where& block, const std::string& name);
ProcPtr partial_eval(ProcPtr p, const std::vector<std::pair<std::string, int64_t>>& values);
ProcPtr add_assertion(ProcPtr p, const ExprPtr& condition);
ProcPtr make_instr(ProcPtr p, const std::string& c_template, const std::string& c_global,
                   double cost);

// --- hints and configuration state (prefetch.cc, config.cc) -----------------------------------
/// `window` may leave its buffer: what does not exist is not asked for. locality as in C: 0..3.
ProcPtr add_prefetch(ProcPtr p, const Cursor& gap, const std::string& window, int locality = 3);
/// `args` as text in the scope of the gap.
ProcPtr insert_noop_call(ProcPtr p, const Cursor& gap, const ProcPtr& callee,
                         const std::vector<std::string>& args);
ProcPtr write_config(ProcPtr p, const Cursor& gap, const ConfigPtr& config,
                     const std::string& field, const ExprPtr& e);
ProcPtr bind_config(ProcPtr p, const Where& expr, const ConfigPtr& config,
                    const std::string& field);
ProcPtr delete_config(ProcPtr p, const Where& stmt);

// --- text in the scope of a place -------------------------------------------------------------
/// Parses a control expression over the names visible at `at`: "4*io + 3", "N / 8".
ExprPtr parse_expr_at(const ProcPtr& p, const Path& at, const std::string& text);

}  // namespace exotune
