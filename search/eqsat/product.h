#pragma once
// Products in programs: sums of products of two operands, as access patterns. Start at
// lift_products; search.md's "lift" of equality saturation.
//
// Any statement `out[..] += a[..] * b[..]` below loops from 0 counts, wherever it stands, also with
// names for the factors (`a = A[i, k]`) in front of it: what else
// the loops hold (a beginning, a rectifier, a store) is left alone, because what is found is
// replayed as copies of the operands. Subscripts are single iterators, sums `s*y + d*r` of one
// iterator of the output and one of the sum, as a convolution's are, or `16*g + o`, loops that
// count a dimension together, as groups of channels are.
#include <map>
#include <optional>
#include <string>
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
  std::vector<Size> dims;                          // of the buffer
  std::vector<std::map<int, int64_t>> subscripts;  // by dimension: coefficients of loops
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

/// The product as a term: dot over zip, its access axes in the order shared, left, right. Nothing
/// where an operand is read in a way that no view says (`reason` tells).
std::variant<Term, NotLifted> term_of(const Product& product, AccessLanguage& language);

}  // namespace exotune::eqsat
