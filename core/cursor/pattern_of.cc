// The pattern that finds a cursor: the inverse of find.cc.
#include "core/cursor/cursor.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

// The shape of a statement with holes for everything but the name that says what it is about.
std::string outline(const Stmt& s) {
  struct Visitor {
    static std::string target(Sym name, const std::vector<ExprPtr>& idx) {
      return name.name() + (idx.empty() ? "" : "[_]");
    }
    std::string operator()(const Assign& n) { return target(n.name, n.idx) + " = _"; }
    std::string operator()(const Reduce& n) {
      return target(n.name, n.idx) + " " + name_of(n.op) + " _";
    }
    std::string operator()(const WriteConfig& n) { return n.config->name + "." + n.field + " = _"; }
    std::string operator()(const Pass&) { return "pass"; }
    std::string operator()(const If&) { return "if _: _"; }
    std::string operator()(const For& n) { return "for " + n.iter.name() + " in _: _"; }
    std::string operator()(const Alloc& n) { return n.name.name() + " : _"; }
    std::string operator()(const Call& n) { return n.callee->name + "(_)"; }
    std::string operator()(const WindowStmt& n) { return n.name.name() + " = _"; }
  };
  return std::visit(Visitor{}, s.node);
}

// For an expression: its outermost operation, holes below. A constant is its own outline.
std::string outline(const Expr& e) {
  struct Visitor {
    const Expr& e;
    std::string operator()(const Read& n) { return n.name.name() + (n.idx.empty() ? "" : "[_]"); }
    std::string operator()(const Const&) { return str(make_expr(e.node, e.type)); }
    std::string operator()(const USub&) { return "-_"; }
    std::string operator()(const Not&) { return "not _"; }
    std::string operator()(const BinOp& n) { return std::string("_ ") + name_of(n.op) + " _"; }
    std::string operator()(const Extern& n) { return n.fn + "(_)"; }
    std::string operator()(const WindowExpr& n) { return n.name.name() + "[_]"; }
    std::string operator()(const StrideExpr& n) {
      return "stride(" + n.name.name() + ", " + std::to_string(n.dim) + ")";
    }
    std::string operator()(const ReadConfig& n) { return n.config->name + "." + n.field; }
    std::string operator()(const Cast&) { return std::string(name_of(e.type)) + "(_)"; }
  };
  return std::visit(Visitor{e}, e.node);
}

// Found by trying: cheap, as patterns are cached and the walk stops at the place itself.
// `text`, with the "#n" under which it finds exactly `c`.
std::string numbered(const Cursor& c, const std::string& text) {
  const std::vector<Cursor> all = find_all(c.proc(), text);
  for (size_t k = 0; k < all.size(); ++k) {
    if (all[k].path() == c.path() && all[k].kind() == c.kind() && all[k].length() == c.length())
      return k == 0 ? text : text + " #" + std::to_string(k);
  }
  throw InternalError("no pattern finds `" + c.describe() + "`");
}

}  // namespace

// The inverse of find: a pattern that finds this cursor in its procedure, for traces and printed
// schedules.
std::string pattern_of(const Cursor& c) {
  switch (c.kind()) {
    case CursorKind::kStmt:
      return numbered(c, outline(*c.stmt()));
    case CursorKind::kBlock: {
      if (c.length() == 1) return numbered(c[0], outline(*c[0].stmt()));
      // One statement per line: after a `;` the next would belong to a loop's body.
      std::string text;
      for (int k = 0; k < c.length(); ++k) text += (k ? "\n" : "") + outline(*c[k].stmt());
      return numbered(c, text);
    }
    case CursorKind::kGap: {
      // A gap is named by the statement beside it; which side is kept by who asks.
      Cursor near = c.anchor();
      if (!near.valid()) throw InvalidCursorError("a gap with no statement beside it");
      return pattern_of(near);
    }
    case CursorKind::kExpr:
      return numbered(c, outline(*c.expr()));
    case CursorKind::kArg:
      return c.proc()->args[static_cast<size_t>(c.arg_index())].name.name();
    case CursorKind::kInvalid:
      break;
  }
  throw InvalidCursorError("a cursor whose target is gone has no pattern");
}

}  // namespace exotune
