#pragma once
// Expressions as a user wrote them, for messages: the parser makes a cast of data, `i8(x[i])`, a
// scalar in front of the statement, `x_i8`, and integers of data numbers. Start at WrittenCasts.
#include <map>

#include "core/ir/proc.h"

namespace exotune {

/// The casts of a proc; made when there is something to say. Borrows nothing.
class WrittenCasts {
 public:
  explicit WrittenCasts(const Proc& p);
  /// `e` with the casts where their scalars stand, and integers where a literal is of an integer
  /// type. To be printed, nothing else.
  ExprPtr written(const ExprPtr& e) const;

 private:
  struct Scalar {
    SourceLocation where;
    ExprPtr value;
  };
  std::map<Sym, Scalar> scalars_;
};

/// A value as one of another type; a size or an index at once: `i8(n)` becomes `f32(n)`.
ExprPtr as_type(ScalarType type, const ExprPtr& e);
/// A value with all that is read of integers as `type`, which holds them: `x[i] * i16(y[i])`
/// becomes `i32(x[i]) * i32(y[i])`. Of what WrittenCasts made.
ExprPtr integers_as(ScalarType type, const ExprPtr& e);
/// Is a quotient computed in it?
bool has_quotient(const ExprPtr& e);
/// The types of what a value reads, one by one; R, which is not decided, is none. Of what
/// WrittenCasts made, as the next.
std::vector<ScalarType> types_read(const ExprPtr& e);
/// The smallest that holds what all of them hold; f32 of none.
ScalarType common_type_of(const std::vector<ScalarType>& types);
/// A value with all that it reads as `type`. Quotients of integers stay such, and are cast.
ExprPtr reads_as(ScalarType type, const ExprPtr& e);

}  // namespace exotune
