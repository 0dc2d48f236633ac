#pragma once
// Inspection: what scheduling operators read off a proc before they rewrite it. Untrusted: a wrong
// answer here makes a primitive refuse, never a wrong program. Exo 2 section 4.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/analysis/queries.h"
#include "core/cursor/cursor.h"

namespace exotune {

/// The way from a statement to the k-th of its body.
Path child(Path path, int k = 0);
/// The statement at a path, as a cursor.
Cursor at(const ProcPtr& p, const Path& path);
/// How many statements the block holds that `path` leads into.
int size_of_block(const ProcPtr& p, const Path& path);
/// The innermost loop of a nest of nothing but loops, `path` its outermost one. SchedulingError
/// when nothing stands there.
Path innermost(const ProcPtr& p, Path path);

/// Every loop whose iterator prints as `name`, in pre-order.
std::vector<Cursor> loops_named(const ProcPtr& p, const std::string& name);
/// As above, or InvalidCursorError naming the nearest iterator when there is none.
std::vector<Cursor> require_loops(const ProcPtr& p, const std::string& name);
/// hi - lo when both are literal.
std::optional<int64_t> literal_extent(const For& loop);
/// The greatest value of a bound that stands at `at`, where those of the loops around it that it
/// moves with are numbers: what a row of a triangle has at most. Else the bound itself.
ExprPtr greatest_bound(const ProcPtr& p, const ExprPtr& bound, const Path& at);
/// The loops around a statement, outermost first.
std::vector<Cursor> enclosing_loops(const Cursor& stmt);
/// Number of for/if statements from `inner` up to and including the loop over `outer_name`; 0 when
/// no loop of that name encloses it.
int levels_to(const Cursor& inner, const std::string& outer_name);

/// Bounds inference (Exo 2 section 4): the rectangle of `buffer` that a block touches, reads or
/// writes, one lo:hi per dimension, in the scope of the block; guards inside are not looked at.
/// Nothing when the block does not touch it or an index is not affine in the block's own loops.
struct Rectangle {
  std::vector<ExprPtr> lo, hi;
  /// "B[ko, 0:N]" as stage_mem takes it; dimensions one element wide are points, with `keep_last`
  /// not the last one.
  std::string text(const std::string& buffer, const std::vector<ScopeEntry>& scope,
                   bool keep_last = false) const;
};
enum class Touch : uint8_t { kAny, kReads, kWrites };
std::optional<Rectangle> touched(const ProcPtr& p, const Cursor& block, Sym buffer,
                                 Touch how = Touch::kAny,
                                 const std::function<bool(const Access&)>& which = {});

/// Does a loop stand in its body?
bool has_loops(const For& loop);

/// The buffer (argument or allocation) called `name` that is visible at `at`.
std::optional<ScopeEntry> visible(const ProcPtr& p, const Path& at, const std::string& name);

/// Buffers that a step is for: the one called `asked`, or of "" every array among the arguments
/// that has at least `dimensions` of them, in their order.
std::vector<std::string> buffers_asked(const ProcPtr& p, const std::string& asked,
                                       size_t dimensions = 1);

/// The statements of `p` that write the buffer called `name`, calls included, in pre-order.
std::vector<Cursor> writes_of(const ProcPtr& p, const std::string& name);
/// The loops over `iter` around writes of `buffer`, each once, in pre-order. InvalidCursorError
/// when nothing writes the buffer or no such loop is around it.
std::vector<Cursor> stage_loops(const ProcPtr& p, const std::string& buffer,
                                const std::string& iter);

/// The elements and scalars of data that an expression reads, its own first, those in indices too,
/// each as often as it stands there. Borrowed from the expression.
std::vector<const Read*> data_reads(const ExprPtr& e);

/// A statement's computation without names: "+=(*(x,x))", "=(x)", "=(/(x,3.000000))"; operands of +
/// and
/// * in one order. Equal shapes are what an instruction may match.
std::string shape_of(const Stmt& s);
/// Shapes of all instructions whose body is loops (and guards) around one statement, by the type of
/// the element it writes.
using Shapes = std::map<ScalarType, std::set<std::string>>;
std::shared_ptr<const Shapes> shapes_of(const std::vector<ProcPtr>& instrs);

}  // namespace exotune
