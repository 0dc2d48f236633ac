#pragma once
// Traversals: the statements inside a place in an order. Names as in Exo 2 section 6.3.1: n is the
// node itself, l and r the side that its children are visited from. A statement's children are
// those of its body and then of its else branch; of a block, the statements are the children.
#include <vector>

#include "core/cursor/cursor.h"

namespace exotune {

/// Children from the left, then the node: what is inside comes before what is around it.
std::vector<Cursor> lrn(const Cursor& c);
/// The node, then its children from the left: the order of the text.
std::vector<Cursor> nlr(const Cursor& c);
/// Children from the right, then the node: rewriting in this order moves nothing still to come.
std::vector<Cursor> rln(const Cursor& c);
/// The node, then its children from the right.
std::vector<Cursor> nrl(const Cursor& c);

}  // namespace exotune
