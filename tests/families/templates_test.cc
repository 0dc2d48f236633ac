// The text of families: places, axes, entry points, and what is said of mistakes in them.
#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "hw/half_width.h"
#include "search/families/entries.h"
#include "search/families/members.h"
#include "search/families/tunables.h"
#include "search/families/units.h"
#include "search/families/versions.h"
#include "tests/cli/command_harness.h"

namespace exotune::families {
namespace {

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.diagnostic().str();
  }
  return "";
}

TEST(TemplateText, fills_places_and_drops_lines_of_empty_ones) {
  EXPECT_EQ(expand("a ${x}\n  ${none}\n\n${y}b", {{"x", "1${y}"}, {"y", "2"}, {"none", ""}}, {}),
            "a 12\n\n2b");
}

TEST(TemplateText, refuses_unknown_open_and_circular_places) {
  EXPECT_NE(refusal([] {
              expand("${lanse}", {{"lanes", "4"}}, {});
            }).find("${lanes}"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              expand("${x", {{"x", ""}}, {});
            }).find("without its }"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              expand("${x}", {{"x", "${x}"}}, {});
            }).find("contains itself"),
            std::string::npos);
}

constexpr const char* kFamily = R"(
title = "one"
[axis.p]
s = { T = "f32", real = "float" }
d = { T = "f64", real = "double" }
[[kernel]]
name = "${p}twice"
for = ["p"]
code = '''
@proc
def ${name}(n: size, x: [${T}][n]):
    for i in seq(0, n):
        x[i] = 2.0 * x[i]
'''
[[routine]]
name = "${p}twice"
for = ["p"]
arguments = "layout uplo n *A! lda"
wrong = ["n < 0", "lda < n"]
exchanged = ["2 3"]
)";

Family family_of(const std::string& text, const std::string& wanted = "one") {
  const cli::CommandHarness harness("family-text");
  harness.write("one.toml", text);
  harness.write("one.c", "/* two\n * lines */\nint x;\n\n");
  return load_family(harness.folder(), wanted);
}

TEST(Family, makes_a_routine_for_each_value_of_its_axes) {
  const Family family = family_of(kFamily);
  const std::vector<Entry> entries = entries_of(family);
  ASSERT_EQ(entries.size(), 2u);
  std::set<std::string> names;
  for (const Entry& entry : entries) names.insert(entry.cblas + " " + entry.fortran);
  EXPECT_EQ(names, (std::set<std::string>{"cblas_dtwice dtwice_", "cblas_stwice stwice_"}));
  EXPECT_EQ(family.bodies.lines(), 1);
}

TEST(Family, checks_arguments_in_order_and_counts_as_the_reference_does) {
  const std::string code = entries_of(family_of(kFamily)).front().code;
  for (const char* part :
       {"(lda < n)) wrong = 5;", "(lda < n)) wrong = 4;", "\"DTWICE\", &wrong, 6",
        "wrong = row && wrong == 2 ? 3 : row && wrong == 3 ? 2 : wrong;"})
    EXPECT_NE(code.find(part), std::string::npos) << part << "\n" << code;
}

TEST(Family, asks_first_for_what_is_done_at_once) {
  const std::string text = std::string(kFamily) + "at_once = \"${p}little\"\n";
  const std::string code = entries_of(family_of(text)).front().code;
  for (const char* part :
       {// CBLAS: a jump to one of two functions with the same arguments
        "(dlittle_if(row, uplo_, n) ? exo_first_cblas_dtwice : exo_others_cblas_dtwice)"
        "(layout, uplo, n, A, lda);",
        "if (!dlittle(!(layout != CblasRowMajor && layout != CblasColMajor) && "
        "!(!(uplo == CblasUpper || uplo == CblasLower)), row, uplo_, n, A, lda)) "
        "exo_others_cblas_dtwice(layout, uplo, n, A, lda);",
        // Fortran: before arguments are checked
        "if (dlittle_if(row, uplo_, n) && dlittle(!(!exo_letter(uplo_letter, \"UuLl\")), row, "
        "uplo_, n, A, lda)) return;\n  if (EXO_RARE("})
    EXPECT_NE(code.find(part), std::string::npos) << part << "\n" << code;
  EXPECT_NE(refusal([&] { family_of(text + "returns = \"${real}\"\n"); }).find("by its body"),
            std::string::npos);
}

TEST(Family, says_what_is_wrong_with_its_text) {
  EXPECT_NE(refusal([] { family_of(kFamily, "on"); }).find("did you mean one?"), std::string::npos);
  EXPECT_NE(refusal([] { family_of(std::string(kFamily) + "retruns = 'x'\n"); }).find("returns"),
            std::string::npos);
  std::string text = kFamily;
  text.replace(text.find("for = [\"p\"]"), 11, "for = [\"q\"]");
  EXPECT_NE(refusal([&] { family_of(text); }).find("no axis 'q'"), std::string::npos);
}

TEST(Versions, are_read_and_printed) {
  const std::string text = "# when n < 4\np = f(p)\n# otherwise\np = g(p)\n";
  const std::vector<Version> versions = parse_versions(text, "x");
  ASSERT_EQ(versions.size(), 2u);
  EXPECT_EQ(versions[0].when, "n < 4");
  EXPECT_EQ(versions[1].script, "p = g(p)\n");
  EXPECT_EQ(print_versions(versions), text);
  EXPECT_EQ(parse_versions("p = g(p)\n", "x").size(), 1u);
}

TEST(Versions, the_first_whose_condition_holds_is_taken) {
  const std::vector<Version> versions = parse_versions(
      "# when n <= 4 * 2\na\n# when n == 10\nb\n# when m > 3\nc\n# otherwise\nd\n", "x");
  const auto script = [&](const SizeBinding& sizes) {
    return version_for(versions, sizes)->script;
  };
  EXPECT_EQ(script({{"n", 8}}), "a\n");
  EXPECT_EQ(script({{"n", 9}}), "d\n");
  EXPECT_EQ(script({{"n", 10}, {"m", 9}}), "b\n");
  EXPECT_EQ(script({{"n", 11}, {"m", 4}}), "c\n");
  EXPECT_EQ(script({{"n", 11}, {"m", 3}}), "d\n");
  EXPECT_EQ(version_for({}, {}), nullptr);
  EXPECT_TRUE(holds("n < 3", {{"n", 2}}));
  EXPECT_FALSE(holds("n < 3", {{"n", 3}}));
  EXPECT_FALSE(holds("n >= 3", {{"n", 2}}));
  EXPECT_FALSE(holds("n < 3", {})) << "a size that is not there";
}

TEST(Versions, refuse_what_has_no_place) {
  for (const char* text : {"# when n < 4\np = f(p)\n", "p = f(p)\n# when n < 4\n# otherwise\n",
                           "# when n < 4\n# otherwise\n# otherwise\n",
                           "# when (n - 20) / 8 == 0\np = f(p)\n# otherwise\np = g(p)\n",
                           "# when n < 4) abort(); if (1\np = f(p)\n# otherwise\np = g(p)\n",
                           "# when n < 4 # small\np = f(p)\n# otherwise\np = g(p)\n"})
    EXPECT_NE(refusal([&] { parse_versions(text, "x"); }).find("x.sched:"), std::string::npos)
        << text;
}

TEST(Family, chooses_versions_by_size) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  const Family family = family_of(kFamily);
  const Wisdom wisdom{{"dtwice",
                       "# when n < 4\np = divide_loop(p, 'i', 2, ['a', 'b'], "
                       "tail='cut')\n# otherwise\np = rename_loop(p, 'i', 'j')\n"}};
  const std::vector<Member> members = prove_members(family, target, wisdom);
  ASSERT_EQ(members.size(), 3u);
  EXPECT_NE(members[0].code.find("assert n < 4"), std::string::npos);
  const std::vector<Unit> units = units_of({family, *target, members});
  const std::string& header = units.front().kernels_h;
  const size_t choice = header.find("void blas_dtwice_avx2(int64_t n, struct exo_win_1f64 x) {");
  ASSERT_NE(choice, std::string::npos) << header;
  EXPECT_LT(header.find("if (n < 4) {\n    blas_dtwice_v0_avx2(n, x);", choice),
            header.find("blas_dtwice_v1_avx2(n, x);", choice));
}

TEST(Family, names_the_member_whose_schedule_is_refused) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  const Family family = family_of(kFamily);
  EXPECT_EQ(prove_members(family, target, {}).size(), 2u);
  const Wisdom wisdom{{"dtwice", "p = divide_loop(p, 'j', 4, ['a', 'b'], tail='cut')\n"}};
  EXPECT_NE(refusal([&] { prove_members(family, target, wisdom); }).find("in kernel dtwice"),
            std::string::npos);
}

// A diagonal of ones takes the schedules that were found for any diagonal: nothing is tuned for it,
// and what a folder has under its own name is not looked at.
TEST(Family, a_member_may_take_the_schedules_of_another) {
  constexpr const char* kLike = R"(
title = "like"
[axis.diag]
n = { times = "2.0 * " }
u = { times = "" }
[[kernel]]
name = "scaled_${diag}"
for = ["diag"]
like = "scaled_n"
code = '''
@proc
def ${name}(n: size, x: [f32][n]):
    for i in seq(0, n):
        x[i] = ${times}x[i]
'''
schedule = "p = p\n"
tries = ["p = divide_loop(p, 'i', 4, ['io', 'ii'], tail='cut')\n"]
buckets = [{ at = "n=9" }]
)";
  const Family family = family_of(kLike);
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  const std::vector<Tunable> tunables = tunables_of(family, *target);
  ASSERT_EQ(tunables.size(), 1u);
  EXPECT_EQ(tunables[0].name, "scaled_n");
  const Wisdom wisdom = {
      {"scaled_n",
       "# when n <= 4\np = p\n# otherwise\np = divide_loop(p, 'i', 8, ['io', 'ii'], tail='cut')\n"},
      {"scaled_u", "p = no_such_operator(p)\n"}};
  const std::vector<Member> members = prove_members(family, target, wisdom);
  ASSERT_EQ(members.size(), 4u);
  for (const Member& member : members) EXPECT_EQ(member.scheduled_as, "scaled_n");
  EXPECT_EQ(members[3].name, "scaled_u");
  EXPECT_NE(members[3].schedule.find("'i', 8,"), std::string::npos);
  EXPECT_EQ(members[2].when, "n <= 4");
}

// Buckets that several kernels share stand in one place; a try of half vectors is none where no
// target has them, and takes each of the values that its place mentions where one has.
TEST(Family, kernels_share_buckets_and_try_half_vectors_where_there_are_any) {
  constexpr const char* kShared = R"(
title = "shared"
[buckets]
short = [{ when = "n <= 8", at = "n=5" }, { at = "n=20", in_lines = true, far = true }]
[half]
halves = "p = vectorize(p, 'i', ${half.f32}, tail='cut')\np = divide_loop(p, 'i', ${parts}, ['io', 'i'], tail='cut')\n"
[axis.p]
s = { T = "f32", by_halves = "${halves}" }
[[kernel]]
name = "${p}twice"
for = ["p"]
code = "@proc\ndef ${name}(n: size, x: [${T}][n]):\n    for i in seq(0, n):\n        x[i] = 2.0 * x[i]\n"
schedule = "p = p\n"
tries = ["${by_halves}"]
far_tries = ["p = divide_loop(p, 'i', ${parts}, ['io', 'i'], tail='cut')\n"]
values = { parts = ["2", "4"] }
buckets = "short"
in_lines = "x"
)";
  const Family family = family_of(kShared);
  const auto tunable = [&](const char* target) {
    return tunables_of(family, *load_target(target, {EXOTUNE_SOURCE_DIR "/hw"})).at(0);
  };
  EXPECT_TRUE(tunable("avx2").scripts.empty());
  const Tunable wide = tunable("avx512");
  ASSERT_EQ(wide.scripts.size(), 2u);
  EXPECT_NE(wide.scripts[1].find("'i', 8, AVX2, instrs_avx2"), std::string::npos);
  EXPECT_NE(wide.scripts[1].find("'i', 4, ['io'"), std::string::npos);
  ASSERT_EQ(wide.buckets.size(), 2u);
  EXPECT_EQ(wide.buckets[0].at, "n=5");
  EXPECT_EQ(wide.in_lines, "x");
  EXPECT_FALSE(wide.buckets[0].in_lines);
  EXPECT_TRUE(wide.buckets[1].in_lines);
  Tunable anywhere = wide;
  anywhere.buckets[1].in_lines = false;
  EXPECT_NE(anywhere.key(), wide.key()) << "it is measured elsewhere, and again";
  EXPECT_EQ(wide.far_scripts.size(), 2u);
  EXPECT_FALSE(wide.buckets[0].far);
  EXPECT_TRUE(wide.buckets[1].far);
  Tunable near = wide;
  near.buckets[1].far = false;
  EXPECT_NE(near.key(), wide.key()) << "fewer schedules are tried";
  std::string text = kShared;
  text.replace(text.find("= \"short\""), 9, "= \"shart\"");
  EXPECT_NE(refusal([&] { family_of(text); }).find("no buckets named 'shart'"), std::string::npos);
}

TEST(HalfWidth, is_that_of_a_target_that_requires_no_more) {
  const TargetPtr wide = load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"});
  const TargetPtr half = half_width_of(*wide);
  ASSERT_NE(half, nullptr);
  EXPECT_EQ(half->name, "avx2");
  EXPECT_EQ(half_width_of(*half), nullptr);
  EXPECT_EQ(half_width_of(*load_target("neon", {EXOTUNE_SOURCE_DIR "/hw"})), nullptr);
}

TEST(Prover, takes_blocks_of_half_a_vector_by_vectors_of_half_the_width) {
  const TargetPtr target = load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"});
  const Family family =
      family_of(std::string(kFamily) + "[half]\nsteps = \"p = vectorize(p, 'i #2', ${half.f64}, " +
                "tail='perfect')\\n\"\n");
  const Substitution places = places_of(family, *target);
  // Nothing where no target has half the width.
  EXPECT_EQ(places_of(family, *load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"})).at("steps"), "");
  EXPECT_EQ(expand("${blocks.f64}", places, {}), "8, 4, 2, 1");
  const Prover prover(target);
  const ProcPtr kernel = prover.read(
      "@proc\ndef f(n: size, x: f64[n]):\n    for i in seq(0, n):\n        x[i] = 2.0 * x[i]\n",
      "f", "");
  const ProcPtr p = prover.replay(
      kernel,
      expand("p = block_loop(p, 'i', [16, ${blocks.f64}], ['io', 'i'])\n${steps}", places, {}),
      "f");
  EXPECT_NE(str(*p).find("mm256_mul_pd("), std::string::npos);
  EXPECT_EQ(str(*p).find("mm512"), std::string::npos);
}

}  // namespace
}  // namespace exotune::families
