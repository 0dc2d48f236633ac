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

TEST(Einsum, types_follow_indices) {
  EXPECT_EQ(einsum_text("ab:i8,b:i8->a"),
            "@proc\n"
            "def einsum(a: size, b: size, A: i8[a, b], B: i8[b], out: i32[a]):\n"
            "    for ai in seq(0, a):\n"
            "        for bi in seq(0, b):\n"
            "            wideA: i32\n"
            "            wideB: i32\n"
            "            wideA = A[ai, bi]\n"
            "            wideB = B[bi]\n"
            "            out[ai] += wideA * wideB\n");
  const auto heading = [](const std::string& notation) {
    const std::string text = einsum_text(notation);
    return text.substr(text.find("A:"), text.find('\n', 10) - text.find("A:"));
  };
  EXPECT_EQ(heading("a,a->a:f64"), "A: f64[a], B: f64[a], out: f64[a]):");
  EXPECT_EQ(heading("a:f64,a->a"), "A: f64[a], B: f64[a], out: f64[a]):");
  EXPECT_EQ(heading("a:bf16, a : bf16 -> a"), "A: bf16[a], B: bf16[a], out: f32[a]):");
  EXPECT_EQ(heading("a:ui8,a:i8->a:i32"), "A: ui8[a], B: i8[a], out: i32[a]):");
  for (const char* notation : {"ab:f64,bc:f64->ac:f64", "ab:i8,bc:i8->ac:i32", "ab:bf16,bc->ac",
                               "ab:f16,bc:f16->ac", "ab,bc:i16,cd:f64->ad", "ab:i32,bc->ac"})
    EXPECT_EQ(parse_module(einsum_text(notation), "einsum").procs.size(), 1u) << notation;
}

TEST(Einsum, errors_name_the_column) {
  EXPECT_EQ(error_of("a:f23->a"), "einsum:a:f23->a:1:10: `f23` is no type of elements");
  EXPECT_EQ(error_of("a:f32,a->a:i32"),
            "einsum:a:f32,a->a:i32:1:10: `i32` does not hold every `f32`");
  EXPECT_EQ(error_of("a,a:f64->a:f32"),
            "einsum:a,a:f64->a:f32:1:12: `f32` does not hold every `f64`");
  EXPECT_EQ(error_of("a->a:"), "einsum:a->a::1:13: `` is no type of elements");

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
