#pragma once
// The judge: two procs are run in the interpreter on the same small sizes and random integers, and
// every cursor to a statement that both share must forward to it.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ir/proc.h"

namespace exotune::exhaustive {

/// How a rewritten proc takes the matrices of the one it came from, all of them square.
enum class Matrices : uint8_t { kSame, kTransposed, kJoined };  // joined: row after row

/// A proc's results on every small size, once: initial values of config fields included.
class Oracle {
 public:
  explicit Oracle(ProcPtr p);
  Oracle(Oracle&&) noexcept;
  ~Oracle();
  /// False when the proc itself fails on some input (reads what was never written).
  bool usable() const;
  /// "" when `after` gives the same outputs wherever the original ran, else what differs. With
  /// `fixed_n`, `after` takes no N and stands for N of that value. Config fields end with the same
  /// values too, but for those that the equivalence of the two is modulo.
  std::string difference(const ProcPtr& after, std::optional<int64_t> fixed_n = {},
                         Matrices matrices = Matrices::kSame) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// "" when every statement that stands once in both procs forwards to itself.
std::string lost_cursor(const ProcPtr& before, const ProcPtr& after);

}  // namespace exotune::exhaustive
