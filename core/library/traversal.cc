#include "core/library/traversal.h"

#include <algorithm>

namespace exotune {
namespace {

void visit(const Cursor& c, bool node_first, bool from_left, std::vector<Cursor>& out) {
  std::vector<Cursor> children;
  auto add = [&](const Cursor& block) {
    for (int k = 0; block.valid() && k < block.length(); ++k) children.push_back(block[k]);
  };
  if (c.kind() == CursorKind::kBlock) {
    add(c);
  } else if (c.is<For>()) {
    add(c.body());
  } else if (c.is<If>()) {
    add(c.body());
    add(c.orelse());
  }
  if (!from_left) std::reverse(children.begin(), children.end());
  const bool node = c.kind() != CursorKind::kBlock;
  if (node && node_first) out.push_back(c);
  for (const Cursor& child : children) visit(child, node_first, from_left, out);
  if (node && !node_first) out.push_back(c);
}

std::vector<Cursor> ordered(const Cursor& c, bool node_first, bool from_left) {
  std::vector<Cursor> out;
  visit(c, node_first, from_left, out);
  return out;
}

}  // namespace

std::vector<Cursor> lrn(const Cursor& c) { return ordered(c, false, true); }
std::vector<Cursor> nlr(const Cursor& c) { return ordered(c, true, true); }
std::vector<Cursor> rln(const Cursor& c) { return ordered(c, false, false); }
std::vector<Cursor> nrl(const Cursor& c) { return ordered(c, true, false); }

}  // namespace exotune
