#pragma once
// Products in programs: sums of products of two operands, as access patterns. Start at
// lift_products.
//
// Any statement `out[..] += a[..] * b[..]` below loops from 0 counts, wherever it stands, also with
// names for the factors (`a = A[i, k]`) in front of it: what else
// the loops hold (a beginning, a rectifier, a store) is left alone, because what is found is
// replayed as copies of the operands. Subscripts are single iterators, sums `s*y + d*r` of one
// iterator of the output and one of the sum, as a convolution's are, or `16*g + o`, loops that
// count a dimension together, as groups of channels are. Each may begin anywhere, run backwards
// (`y - r + 4`) and leave some of its dimension out; two may be of one loop (a diagonal).
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/ir/path.h"
#include "search/eqsat/access.h"
#include "search/eqsat/term.h"

namespace exotune::eqsat {

struct ProductLoop {
  Sym iter;
  Size extent = 0;
  bool summed = false;  // the output does not mention it
};

struct ProductOperand {
  Sym buffer;
  std::vector<Size> dims;  // of the buffer
  /// By dimension: how far apart the points of each loop are, whichever way it runs.
  std::vector<std::map<int, int64_t>> subscripts;
  std::vector<std::set<int>> backwards;  // of them those that count down
  std::vector<Size> first;               // the smallest index that is read
  std::vector<std::string> index;        // as text: "y - r + 4"
};

/// Loops with their distances, the closest points first.
using SubscriptLoops = std::vector<std::pair<int64_t, int>>;

/// A subscript as windows: the loops that say where one starts and those that run in it; without
/// any of the latter it is no window. Loops of the sum run in windows, where both kinds are there
/// and those have a known number of points.
struct WindowLoops {
  SubscriptLoops starts, taps;
};

struct Product {
  Path path;                       // of the statement; a loop is a prefix of it
  Path outermost;                  // the loop around everything that mentions the operands
  std::vector<ProductLoop> loops;  // outermost first
  ProductOperand left, right;
  Sym output_buffer;
  std::vector<int> output;      // loops in the order of the output's subscripts
  bool output_is_plain = true;  // each of its subscripts is one loop
};

WindowLoops window_loops(const Product& product, const std::map<int, int64_t>& subscript,
                         SizeTable& sizes);

/// How many points the loops count together, `distance` apart; nothing where they count some twice
/// or leave some out.
std::optional<Size> points_of(const Product& product, const SubscriptLoops& loops, int64_t distance,
                              SizeTable& sizes);

/// Why a statement that multiplies and adds was not read.
struct NotLifted {
  SourceLocation where;
  std::string reason;
};

/// Every product of the proc, in program order, and what was not read. `sizes` gives size arguments
/// their place in it.
struct LiftedProducts {
  std::vector<Product> products;
  std::vector<NotLifted> others;
};
LiftedProducts lift_products(const Proc& p, SizeTable& sizes);

/// A reduction `x[..] max= a[..]`, or of what else the statement holds, as a product of the one
/// operand alone: `left`. Nothing where it is not read, as for products.
std::optional<Product> lift_reduction(const Proc& p, const Path& statement, const Read& operand,
                                      SizeTable& sizes);

/// The product as a term: dot over zip, its access axes in the order shared, left, right; items of
/// one point where nothing is summed. Nothing where an operand is read in a way that no view says
/// (`reason` tells).
std::variant<Term, NotLifted> term_of(const Product& product, AccessLanguage& language);

/// One operand as a view whose axes are these loops, `border` of them of the access part, added to
/// the term: its index there. Nothing where no view says it.
std::optional<int> view_of(const Product& product, const ProductOperand& operand,
                           const std::vector<int>& loops, size_t border, AccessLanguage& language,
                           Term& term);

}  // namespace exotune::eqsat
