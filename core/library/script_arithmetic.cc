#include "core/base/words.h"
#include "core/library/script_parts.h"

namespace exotune {

namespace {

constexpr size_t kMostText = 1'000'000;  // characters or elements that one value may have

// Nothing: it does not fit in 64 bits. Quotients and remainders are Python's, towards minus
// infinity.
std::optional<int64_t> integer_result(const std::string& op, int64_t x, int64_t y,
                                      const SourceLocation& where) {
  int64_t r = 0;
  const auto fits = [&](bool overflow) { return overflow ? std::nullopt : std::optional(r); };
  if (op == "+") return fits(__builtin_add_overflow(x, y, &r));
  if (op == "-") return fits(__builtin_sub_overflow(x, y, &r));
  if (op == "*") return fits(__builtin_mul_overflow(x, y, &r));
  if (y == 0) throw InputError(where, "division by zero");
  if (y == -1) {  // the one quotient that may not fit
    if (op != "//") return 0;
    return fits(__builtin_sub_overflow(int64_t{0}, x, &r));
  }
  int64_t q = x / y, m = x % y;
  if (m != 0 && (m < 0) != (y < 0)) --q, m += y;
  return op == "//" ? q : m;
}

}  // namespace

// Integers stay within 64 bits or are refused; quotients and remainders are Python's, which users
// of Exo rely on in their sizes. Strings and lists grow by `+` up to a limit: doubling a list 60
// times is a script of 60 lines.
Value script_binary(const std::string& op, const Value& a, const Value& b,
                    const SourceLocation& where) {
  if (op == "+") {
    const std::string *s = a.as<std::string>(), *t = b.as<std::string>();
    if (s && t) {
      if (s->size() + t->size() > kMostText) throw InputError(where, "this string is too long");
      return *s + *t;
    }
    const ValueList *l = a.as<ValueList>(), *m = b.as<ValueList>();
    if (l && m) {
      ValueList out = *l;
      out.insert(out.end(), m->begin(), m->end());
      if (out.size() > kMostText) throw InputError(where, "this list is too long");
      return out;
    }
  }
  const int64_t *x = a.as<int64_t>(), *y = b.as<int64_t>();
  if (!x || !y) throw InputError(where, quoted(op) + " is for integers here");
  const std::optional<int64_t> r = integer_result(op, *x, *y, where);
  if (!r) throw InputError(where, "the result does not fit in 64 bits");
  return *r;
}

}  // namespace exotune
