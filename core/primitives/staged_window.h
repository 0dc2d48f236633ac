#pragma once
// The window that stage_mem copies, and where uses of its buffer fall: in the copy, or outside.
// Start at StagedWindow.
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/ir/normal_form.h"
#include "core/primitives/calls.h"
#include "core/primitives/uses.h"

namespace exotune::internal {

inline constexpr const char* kStageMem = "stage_mem";

/// `window` of a buffer ("x[0:8, j]", of the buffer or of a window of it) in front of `block`.
/// Everything is said of the buffer at its root, so that uses through other windows are met as
/// well. Refuses, by SchedulingError of stage_mem, windows that are not proved to hold an element,
/// and what the block does not use.
class StagedWindow {
 public:
  StagedWindow(const ProcPtr& p, const Cursor& block, const std::string& window);

  Sym root() const { return root_; }
  ScalarType scalar() const { return scalar_; }
  std::vector<ExprPtr> tmp_shape() const { return window_shape(access_); }

  bool is_written() const;
  /// The operation when the block only reduces into the window, always with the same one.
  std::optional<ReduceOp> only_reduction() const;
  /// True when each element of the window is surely written by the block before anything reads it.
  /// Then no copy in is needed. One write has to cover all, or several one place each of every few
  /// (the components of a number): others that do together are not recognised.
  bool written_first() const;

  /// A use at `at` as one of the copy `tmp`; nothing where it is proved to lie outside. Refuses
  /// what is proved neither.
  std::optional<ElementUse> element(const Alias& alias, const std::vector<ExprPtr>& idx,
                                    const Path& at, Sym tmp) const;
  std::optional<WindowUse> window(const Alias& alias, const std::vector<WindowAccess>& given,
                                  const Path& at, Sym tmp) const;

  /// for i0..: for i1..: tmp[i0, i1] (=) root[lo0 + i0, lo1 + i1], guarded where the window may
  /// leave the buffer.
  StmtPtr copy(
      const std::function<StmtPtr(std::vector<ExprPtr> tmp, std::vector<ExprPtr> root)>& make,
      bool touches_root = true) const;

 private:
  enum class Place { kInside, kOutside };
  /// Of a dimension the places at, at + of, at + 2 of, ..; all of it.
  struct Slice {
    size_t dimension = 0;
    int64_t of = 1, at = 0;
  };

  bool provably_outside(const Access& a) const;
  Place place(const std::vector<ExprPtr>& in, const std::vector<ExprPtr>& out,
              const Path& at) const;
  bool covers(const Access& w, const std::vector<Slice>& slices) const;
  bool written_point_by_point(const std::vector<const Access*>& writes) const;
  bool counts_through(const Affine& offset, const ExprPtr& size, const std::vector<RangedVar>& vars,
                      std::set<Sym>& used, int64_t from) const;
  bool precedes_all(const Access& w) const;

  const Proc& p_;
  Path first_;
  int n_;
  Sym root_;
  ScalarType scalar_;
  std::vector<ExprPtr> shape_;
  std::vector<WindowAccess> access_;
  std::vector<Access> accesses_;  // of the window; those provably outside left out
};

}  // namespace exotune::internal
