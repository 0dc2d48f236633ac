// Einstein's notation as a kernel: the loops it becomes, and where what is wrong stands.
#include "cli/einsum.h"

#include <gtest/gtest.h>

#include "core/base/diagnostic.h"
#include "core/frontend/parser.h"

namespace exotune::cli {
namespace {

std::string error_of(const std::string& notation) {
  try {
    einsum_text(notation);
    return "accepted";
  } catch (const InputError& e) {
    return e.diagnostic().where.str() + ": " + e.diagnostic().message.str();
  }
}

TEST(Einsum, becomes_loops_over_the_result_and_then_over_the_sum) {
  EXPECT_EQ(einsum_text("ab,bc->ac"),
            "@proc\n"
            "def einsum(a: size, b: size, c: size, A: f32[a, b], B: f32[b, c], out: f32[a, c]):\n"
            "    for ai in seq(0, a):\n"
            "        for ci in seq(0, c):\n"
            "            for bi in seq(0, b):\n"
            "                out[ai, ci] += A[ai, bi] * B[bi, ci]\n");
}

TEST(Einsum, every_form_is_a_procedure) {
  for (const char* notation :
       {"ab,bc->ac", "abc,cd->abd", "bij,bjk->bik", "ij,kl->ikjl", "a,a->", "ab->ba", "ii->i",
        "ab,bc,cd,de,ef,fg->ag", "bhqd,bhkd->bhqk", " a b , b c -> a c "})
    EXPECT_EQ(parse_module(einsum_text(notation), "einsum").procs.size(), 1u) << notation;
}

TEST(Einsum, errors_name_the_column) {
  EXPECT_EQ(error_of("abc,cd"),
            "einsum:abc,cd:1:14: `->` and the indices of the result are missing");
  EXPECT_EQ(error_of("ab,,c->a"), "einsum:ab,,c->a:1:11: a factor without indices");
  EXPECT_EQ(error_of("aB->a"), "einsum:aB->a:1:9: an index is a small letter");
  EXPECT_EQ(error_of("ab->aa"), "einsum:ab->aa:1:13: `a` stands twice in the result");
  EXPECT_EQ(error_of("ab->c"), "einsum:ab->c:1:12: no factor has the index `c`");
  EXPECT_EQ(error_of("a1->a"), "einsum:a1->a:1:9: `1` is no index: one letter, a to z");
  EXPECT_EQ(error_of("...a->a"), "einsum:...a->a:1:8: `...` is not read");
  EXPECT_EQ(error_of(""), "einsum::1:8: `->` and the indices of the result are missing");
}

}  // namespace
}  // namespace exotune::cli
