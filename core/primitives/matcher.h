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
using Use = std::vector<Extent>;

inline Use points(const std::vector<ExprPtr>& idx) {
  Use out;
  for (const ExprPtr& i : idx) out.push_back({i, nullptr});
  return out;
}

class Matcher {
 public:
  Matcher(const Proc& p, const Path& first, const Proc& callee)
      : p_(p), first_(first), callee_(callee) {
    const Block& b = block_at(p, first);
    size_t k = static_cast<size_t>(first.back().index);
    block_ = Block(b.begin() + k, b.begin() + k + callee.body.size());
    after_ = Block(b.begin() + k + callee.body.size(), b.end());
  }

  Unification run();

 private:
  struct Buffer {
    Sym actual;
    std::vector<std::pair<Use, Use>> uses;  // the formal's, the block's
  };
  struct Equation {
    ExprPtr pattern, actual;
    bool done = false;
  };

  bool no(const char* why);

  void reset();

  // --- choices: which of two orders to try, enumerated depth first ---
  bool choose();
  bool next_choice();

  const Arg* formal(Sym s) const { return callee_.find_arg(s); }
  ExprPtr translated(ExprPtr e) const;
  void equate(const ExprPtr& pattern, const ExprPtr& actual);
  bool reads_formal_stride(const ExprPtr& e) const;
  bool strides_agree(const std::vector<ExprPtr>& args);

  // --- structure ---
  bool blocks(const Block& a, const Block& b);

  bool stmts(const Stmt& a, const Stmt& b);

  bool loops(const For& a, const For& b);

  bool any(const ExprPtr& a, const ExprPtr& b);

  bool data(const ExprPtr& a, const ExprPtr& b);

  bool argument(const ExprPtr& a, const ExprPtr& b);

  static std::vector<ExprPtr> declared_shape(const Block& b, Sym s, const Arg* arg);

  /// The pattern uses `name`, the block uses `actual` in its place.
  bool use(Sym name, const Use& pattern, Sym actual, const Use& mine);

  // --- conditions: comparisons are taken as `e >= 0`, `e == 0` or `e != 0` ---
  static std::optional<std::pair<ExprPtr, BinOpKind>> comparison(const ExprPtr& e);

  bool condition(const ExprPtr& a, const ExprPtr& b);

  // --- scopes ---
  bool no_escapes();
  bool free_of_iters(const ExprPtr& e) const;
  bool free_of_iters(const Affine& a) const;

  // --- control formals ---
  ExprPtr with_solutions(ExprPtr e) const;
  bool is_unknown(const ExprPtr& atom) const;
  bool mentions_unknown(const ExprPtr& e) const;

  bool solve_controls();

  bool same_when_called();

  enum class Outcome { kSolved, kWaiting, kFailed };
  Outcome step(Equation& eq);

  bool vanishes(const Affine& residual);

  // --- data formals ---
  bool bind_buffers();

  bool bind_buffer(const Arg& a, const Buffer& b);

  std::optional<Affine> common_offset(const Buffer& b, size_t d, size_t k) const;

  std::optional<Affine> common_point(const Buffer& b, size_t d) const;

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
