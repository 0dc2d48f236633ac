#pragma once
// Statements and expressions: order, names for values, writes.
// How to read an entry: core/primitives/primitives.h.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/primitives/where.h"

namespace exotune {

/// s1; s2  ->  s2; s1
/// Obligation: the two commute.
/// Forwarding: cursors follow their statements.
/// Proposed to bring what is fused side by side.
[[nodiscard]] ProcPtr reorder_stmts(ProcPtr p, const Where& pair);  // a block of two

/// s1; s2  ->  s2; s1         s1: the first `first` statements of the block, s2: all others
/// Obligation: the two commute.
/// Forwarding: cursors follow their statements.
/// For what leaves a loop that it does not change with (hoist_from_loop).
[[nodiscard]] ProcPtr reorder_blocks(ProcPtr p, const Where& block, int first);

/// s1; s2  ->  s1; pass; s2
/// Obligation: none.
[[nodiscard]] ProcPtr insert_pass(ProcPtr p, const Cursor& gap);

/// pass; s  ->  s
/// everywhere, and so every loop and if that holds nothing else, where something remains in the
/// block.
/// Obligation: none.
/// Forwarding: other statements stay.
/// Proposed after what never runs was taken out.
[[nodiscard]] ProcPtr delete_pass(ProcPtr p);

/// s  ->  name: T; name = e; s[e := name]
/// cse: also every equal expression in the statements after s, up to the first that may change e.
/// Obligation: none without cse (s computes e before it writes); with it, nothing between the new
/// assignment and a use changes what e reads.
/// Forwarding: the bound expressions are new; statements stay, after the two new ones.
/// Proposed for what a chain of values needs of others, and for what is read of it behind it.
[[nodiscard]] ProcPtr bind_expr(ProcPtr p, const Where& expr, const std::string& name,
                                bool cse = false);

/// s1; ...; sn  ->  name: T; name = e; s1[e := name]; ...; sn[e := name]
/// for equal expressions anywhere below neighbouring statements: the pair is put before the first
/// of the statements, in the innermost block that holds them all, that contains one; or before a
/// statement given, which then is s1.
/// Obligation: e means the same there (no loop binds its names in between), reads in bounds there,
/// and nothing from there to the last use changes what it reads. Where a loop that may not run is
/// in between, the `par` loops around are proved free of races again.
/// Forwarding: as for one expression.
[[nodiscard]] ProcPtr bind_expr(ProcPtr p, const std::vector<Cursor>& exprs,
                                const std::string& name);
[[nodiscard]] ProcPtr bind_expr(ProcPtr p, const std::vector<Cursor>& exprs,
                                const std::string& name,
                                const Where& before);  // a statement around (or ahead of) them all

/// x op= e  ->  name: T; name = e; x op= name, where T is the integer type of x, and e of another
/// type Obligation: none: what a reduction adds to an integer is converted first, as by an
/// assignment. Forwarding: the reduction stays, after the two new statements; its right side is
/// new.
[[nodiscard]] ProcPtr bind_converted(ProcPtr p, const Where& stmt, const std::string& name);

/// x[i] = e; s  ->  s[x[i] := e]          (s: the rest of the block)
/// Obligation: x is allocated here and used nowhere but in s after this assignment; s only reads
/// it, at the element assigned, and does not change what e reads before the last use; nothing is
/// converted when stored, or s does nothing but store it in elements of x's type.
/// Forwarding: the assignment is gone, the expressions replaced are new; statements stay.
/// Proposed for names on the way of what an iteration leaves to the next.
[[nodiscard]] ProcPtr inline_assign(ProcPtr p, const Where& assign);

/// w = x[...]; s  ->  s with every access of w made through x
/// Obligation: the window's bounds keep their values in s (config reads).
/// Forwarding: the window statement is gone; every other statement stays.
[[nodiscard]] ProcPtr inline_window(ProcPtr p, const Where& window_stmt);

/// x  = e1; x  = e2  ->  x = e2            x op= e1; x   = e2  ->  x = e2
/// x  = e1; x += e2  ->  x = e1 + e2       x op= e1; x op= e2  ->  x op= e1 op e2
/// Obligation: one element; e2 does not read it; what is combined is not converted when stored.
/// += after += reorders a sum. For max= the operator is fmax.
/// Forwarding: the first statement is gone; cursors to the second stay.
[[nodiscard]] ProcPtr merge_writes(ProcPtr p, const Where& pair);

/// x = e1 + e2  ->  x = e1; x += e2        x += e1 + e2  ->  x += e1; x += e2
/// x = e1 - e2  ->  x = e1; x += -e2       x += e1 - e2  ->  x += e1; x += -e2
/// Obligation: e2 does not read what x writes; nothing is converted when stored; e1 - e2 only of
/// floats (the least integer has no negative). `x += ..` reorders a sum.
/// Forwarding: cursors to the statement stay with the first; the new one follows.
/// Proposed for sums of products under three loops or more.
[[nodiscard]] ProcPtr split_write(ProcPtr p, const Where& stmt);

/// x = x + e  ->  x += e      x = x - e  ->  x += -e      x = fmax(x, e)  ->  x max= e
/// x may be any summand; when it is not one of the two outermost the sum is reordered.
/// Obligation: the element read is the element written; nothing is converted when stored; x - e
/// only of floats (the least integer has no negative). Forwarding: cursors to the statement stay.
[[nodiscard]] ProcPtr fold_into_reduce(ProcPtr p, const Where& assign);

/// x = 0; for i: x += c * e   ->   x = 0; for i: x += e; x = c * x
/// The loop may be a nest of loops and ifs around the one reduction, in front of which there may be
/// values with names of their own; c may be either factor.
/// Obligation: x's indices and c are free of the iterators and of those names, whose values do not
/// read x; c reads nothing that the loop writes
/// and may be read after it, also where the loop does not run (the `par` loops around are proved
/// free of races again); e does not read x; nothing is converted when stored. Reorders sums of
/// floating-point numbers.
/// Forwarding: every statement stays; the multiplication is new.
[[nodiscard]] ProcPtr lift_reduce_constant(ProcPtr p, const Where& pair);

/// a + b -> b + a, a * b -> b * a; also and, or, ==, !=, fmax, fmin.
/// Obligation: none. Forwarding: the expression and its parts are new; all else stays.
[[nodiscard]] ProcPtr commute_expr(ProcPtr p, const Where& expr);

/// a + (b + c) -> (a + b) + c;  a + (b - c) -> (a + b) - c;  a * (b * c) -> (a * b) * c
/// Obligation: none over the reals; floating-point data is marked as reassociated.
/// Forwarding: the expression and its parts are new; all else stays.
[[nodiscard]] ProcPtr left_reassociate_expr(ProcPtr p, const Where& expr);

/// -(a * b)  ->  -a * b
/// Obligation: floating-point data; the sign of a product is that of its factors, so the value is
/// the same to the bit. Forwarding: the expression and its parts are new; all else stays.
[[nodiscard]] ProcPtr negate_factor(ProcPtr p, const Where& expr);

/// a * b  ->  (a + c) * b + -1.0 * (c * b)
/// Obligation: integers, which wrap around, so that nothing is lost; c and -c are values of their
/// type. Forwarding: the expression and its parts are new; all else stays.
[[nodiscard]] ProcPtr shift_factor(ProcPtr p, const Where& expr, int64_t by);

/// a / b  ->  a * (1.0 / b)
/// Obligation: floating-point data; equal over the reals, and marked as reassociated: b is rounded
/// once more, and 1.0 / b may overflow where a / b would not.
/// Forwarding: the expression and its parts are new; all else stays.
[[nodiscard]] ProcPtr multiply_by_reciprocal(ProcPtr p, const Where& expr);

/// One step of a power with an exponent that the program says:
///   pow(x, 2.0) -> x * x                      pow(x, 2 n) -> pow(x * x, n)
///   pow(x, 2 n + 1) -> pow(x * x, n) * x      pow(x, n + 0.5) -> pow(x, n) * sqrt(x)
///   pow(x, -n) -> 1.0 / pow(x, n)             pow(x, -n - 0.5) -> pow(1.0 / sqrt(x), 2 n + 1)
///   pow(x, 1.0) -> x,  pow(x, 0.0) -> 1.0,  pow(x, 0.5) -> sqrt(x);   pow(2.0, x) -> exp2(x)
/// Obligation: floating-point data; the exponent a literal, twice it an integer up to 128, or the
/// base 2.0; equal over the reals, and marked as reassociated: products are rounded one by one, may
/// overflow before their reciprocal vanishes, and sqrt keeps the sign of zero and is no number of
/// what is negative infinity. Forwarding: the expression and its parts are new; all else stays.
[[nodiscard]] ProcPtr expand_power(ProcPtr p, const Where& expr);

/// e -> with
/// Obligation: equal wherever control reaches e; control arithmetic stays quasi-affine. Control:
/// proved. Data: the same tree up to proved equal indices. Forwarding: the expression and its parts
/// are new; all else stays.
[[nodiscard]] ProcPtr rewrite_expr(ProcPtr p, const Where& expr, const ExprPtr& with);

}  // namespace exotune
