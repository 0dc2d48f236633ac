#pragma once
// Matcher: one attempt to make a callee's body equal to a block, behind unify. Split by subject:
// matcher.cc statements and expressions, side by side; matcher_equations.cc the control formals, as
// unknowns of affine equations; matcher_windows.cc the data formals, as windows.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ir/normal_form.h"
#include "core/primitives/internal.h"
#include "core/primitives/unify.h"

namespace exotune::internal {

// One dimension of a use: a point, or an interval with its length.
struct Extent {
  ExprPtr lo;
  ExprPtr length;  // null: a point
};
/// One access: which element, or which part, of a buffer.
using Use = std::vector<Extent>;

inline Use points(const std::vector<ExprPtr>& idx) {
  Use out;
  for (const ExprPtr& i : idx) out.push_back({i, nullptr});
  return out;
}

/// Unification is a guess that is proved: what it finds (a value for each formal) is substituted
/// into the callee and compared with the block again by those who call it. A fault here therefore
/// loses a match; it cannot make a wrong one.
class Matcher {
 public:
  Matcher(const Proc& p, const Path& first, const Proc& callee)
      : p_(p), first_(first), callee_(callee) {
    const Block& b = block_at(p, first);
    size_t k = static_cast<size_t>(first.back().index);
    block_ = Block(b.begin() + k, b.begin() + k + callee.body.size());
    after_ = Block(b.begin() + k + callee.body.size(), b.end());
  }

  /// The arguments of a call that means the block, or why there is none. Tries the choices one
  /// after the other until one of them works; each try is linear in the block, but for the
  /// equations.
  Unification run();

 private:
  /// A data formal, as met so far: which buffer of the block stands for it, and the pairs of places
  /// at which both are used, from which the window is worked out in the end.
  struct Buffer {
    Sym actual;
    std::vector<std::pair<Use, Use>> uses;  // the formal's, the block's
  };
  /// pattern == actual must hold for the formals' values that are sought.
  struct Equation {
    ExprPtr pattern, actual;
    bool done = false;
  };

  /// Remembers the reason and returns false; the last one becomes the message.
  bool no(const char* why);

  /// Forgets what the attempt before learned, but not its choices.
  void reset();

  // --- choices: which of two orders to try, enumerated depth first ---
  /// False in the first attempt that comes here: the order as written; true: the other one.
  bool choose();
  /// Moves on to the next combination of choices; false after the last one.
  bool next_choice();

  const Arg* formal(Sym s) const { return callee_.find_arg(s); }
  /// A pattern's expression in the block's names: iterators and locals replaced by their partners.
  ExprPtr translated(ExprPtr e) const;
  /// Notes an equation; nothing is solved before all are known.
  void equate(const ExprPtr& pattern, const ExprPtr& actual);
  /// Strides are solved after the windows: a window says what its strides are.
  bool reads_formal_stride(const ExprPtr& e) const;
  bool strides_agree(const std::vector<ExprPtr>& args);

  // --- structure ---
  /// Same statements, same order: a call is matched by shape, never by what a block computes.
  bool blocks(const Block& a, const Block& b);

  bool stmts(const Stmt& a, const Stmt& b);

  bool loops(const For& a, const For& b);

  /// Any kind of expression; data compares trees with choices for commutative operations, argument
  /// an actual of a nested call.
  bool any(const ExprPtr& a, const ExprPtr& b);

  bool data(const ExprPtr& a, const ExprPtr& b);

  bool argument(const ExprPtr& a, const ExprPtr& b);

  /// The extents a name was declared with: windows that drop or keep dimensions are told apart by
  /// them.
  static std::vector<ExprPtr> declared_shape(const Block& b, Sym s, const Arg* arg);

  /// The pattern uses `name`, the block uses `actual` in its place.
  bool use(Sym name, const Use& pattern, Sym actual, const Use& mine);

  /// `a < b`, `b > a` and `a <= b - 1` are one condition; equations of affine forms see them as
  /// such.
  // --- conditions: comparisons are taken as `e >= 0`, `e == 0` or `e != 0` ---
  static std::optional<std::pair<ExprPtr, BinOpKind>> comparison(const ExprPtr& e);

  bool condition(const ExprPtr& a, const ExprPtr& b);

  // --- scopes ---
  /// A local of the block that is used after it cannot become a local of the callee.
  bool no_escapes();
  bool free_of_iters(const ExprPtr& e) const;
  bool free_of_iters(const Affine& a) const;

  // --- control formals ---
  ExprPtr with_solutions(ExprPtr e) const;
  bool is_unknown(const ExprPtr& atom) const;
  bool mentions_unknown(const ExprPtr& e) const;

  /// Goes over the equations until none changes: one whose unknowns are all known but one, with a
  /// coefficient that divides, gives that one its value.
  bool solve_controls();

  /// Compares what the substituted callee would do where the equations left a freedom.
  bool same_when_called();

  enum class Outcome { kSolved, kWaiting, kFailed };
  Outcome step(Equation& eq);

  bool vanishes(const Affine& residual);

  // --- data formals ---
  /// From the pairs of uses to one window each: which dimension of the buffer every dimension of
  /// the formal runs along, from where.
  bool bind_buffers();

  bool bind_buffer(const Arg& a, const Buffer& b);

  /// The one difference between the formal's subscript and the block's that all uses share: the
  /// window's offset there. Nothing when they differ, which means that no window does.
  std::optional<Affine> common_offset(const Buffer& b, size_t d, size_t k) const;

  std::optional<Affine> common_point(const Buffer& b, size_t d) const;

  /// Backtracks over which dimension goes where; ranks are small (at most four or so), so that all
  /// orders are a few dozen.
  static bool place(const std::vector<std::vector<std::optional<Affine>>>& offset,
                    const std::vector<std::optional<Affine>>& fixed, size_t k, size_t d,
                    std::vector<int>& dim_of);

  const Proc& p_;
  const Path& first_;
  const Proc& callee_;
  Block block_, after_;
  const char* why_ = "";
  std::vector<bool> choices_;
  size_t cursor_ = 0;
  std::vector<std::pair<Sym, ExprPtr>> iters_;  // of the pattern, as seen in the block
  std::vector<Sym> bound_iters_;                // of the block
  std::vector<std::pair<Sym, Sym>> locals_;
  std::vector<std::pair<Sym, Buffer>> buffers_;
  std::vector<Equation> equations_, stride_equations_;
  std::map<Sym, ExprPtr> bound_;
};

}  // namespace exotune::internal
