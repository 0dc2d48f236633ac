// What a scheduled proc is counted as, against counts made by hand.
#include "cost/features.h"

#include <gtest/gtest.h>

#include "core/base/diagnostic.h"
#include "core/frontend/parser.h"
#include "cost/instruction_class.h"
#include "cost/static_cost.h"

namespace exotune {
namespace {

// A machine of four-float vectors, four registers.
const char* const kInstructions = R"(
@memory
class REG:
    kind = "vector"
    bytes = 16
    count = 4
    c_types = {"f32": "v4"}

@instr("load", cost = 0.5)
def load(dst: [f32][4] @ REG, src: [f32][4] @ DRAM):
    for i in seq(0, 4):
        dst[i] = src[i]

@instr("store", cost = 1)
def store(dst: [f32][4] @ DRAM, src: [f32][4] @ REG):
    for i in seq(0, 4):
        dst[i] = src[i]

@instr("fma", cost = 0.5)
def fma(dst: [f32][4] @ REG, a: [f32][4] @ REG, b: [f32][4] @ REG):
    for i in seq(0, 4):
        dst[i] += a[i] * b[i]

@instr("zero", cost = 0.25)
def zero(dst: [f32][4] @ REG):
    for i in seq(0, 4):
        dst[i] = 0.0

@instr("set", cost = 0.5)
def set(dst: [f32][4] @ REG, src: f32 @ DRAM):
    for i in seq(0, 4):
        dst[i] = src

@instr("store_part", cost = 1)
def store_part(n: size, dst: [f32][n] @ DRAM, src: [f32][4] @ REG):
    for i in seq(0, 4):
        if i < n:
            dst[i] = src[i]
)";

Module module_of(const std::string& text) {
  return parse_module(std::string(kInstructions) + text, "counted.exo");
}

CostMachine machine() {
  CostMachine m;
  m.caches = {{1024, 64, 1}, {16384, 64, 2}, {1 << 20, 64, 6}};
  m.latency = 4;
  m.load_latency = 7;
  m.vector_bytes = 16;
  return m;
}

Features count(const std::string& text, const std::map<std::string, int64_t>& sizes = {}) {
  return features_of(*module_of(text).procs.back(), sizes, machine());
}

TEST(Features, ports_take_the_busiest_of_each_block) {
  const Features f = count(R"(
@proc
def f(x: f32[400], y: f32[400]):
    for i in seq(0, 100):
        a: f32[4] @ REG
        b: f32[4] @ REG
        load(a[0:4], x[4 * i:4 * i + 4])
        load(b[0:4], y[4 * i:4 * i + 4])
        fma(b[0:4], a[0:4], a[0:4])
        store(y[4 * i:4 * i + 4], b[0:4])
)");
  EXPECT_DOUBLE_EQ(f[Term::kLoad], 100);
  EXPECT_DOUBLE_EQ(f[Term::kArithmetic], 50);
  EXPECT_DOUBLE_EQ(f[Term::kStore], 100);
  EXPECT_DOUBLE_EQ(f[Term::kPort], 100);
  EXPECT_DOUBLE_EQ(f[Term::kLoop], 100);
  EXPECT_DOUBLE_EQ(f[Term::kEntry], 1);
  EXPECT_DOUBLE_EQ(f[Term::kRun], 1);
  EXPECT_DOUBLE_EQ(f[Term::kLatency], 0);  // b is loaded anew in every iteration
}

TEST(Features, one_accumulator_waits_for_itself_and_two_half_as_long) {
  const auto text = [](int accumulators) {
    std::string body = "\n@proc\ndef f(x: f32[8000]):\n";
    for (int k = 0; k < accumulators; ++k)
      body += "    s" + std::to_string(k) + ": f32[4] @ REG\n    zero(s" + std::to_string(k) +
              "[0:4])\n";
    const int step = 4 * accumulators;
    body += "    for i in seq(0, " + std::to_string(8000 / step) + "):\n        a: f32[4] @ REG\n";
    for (int k = 0; k < accumulators; ++k) {
      const std::string at = std::to_string(step) + " * i + " + std::to_string(4 * k);
      body += "        load(a[0:4], x[" + at + ":" + at + " + 4])\n        fma(s" +
              std::to_string(k) + "[0:4], a[0:4], a[0:4])\n";
    }
    return body;
  };
  const Features one = count(text(1)), two = count(text(2));
  EXPECT_DOUBLE_EQ(one[Term::kLatency], 2000 * (4 - 0.5));
  EXPECT_DOUBLE_EQ(two[Term::kLatency], 1000 * (4 - 1.0));
}

TEST(Features, figures_of_instructions_outrank_their_text) {
  CostMachine m = machine();
  m.instructions["fma"] = {2, 9, FigureSource::kMeasured};
  m.instructions["load"] = {0.25, 0, FigureSource::kMeasured};
  const Features f = features_of(*module_of(R"(
@proc
def f(x: f32[4]):
    s: f32[4] @ REG
    zero(s[0:4])
    for i in seq(0, 1000):
        a: f32[4] @ REG
        load(a[0:4], x[0:4])
        fma(s[0:4], a[0:4], a[0:4])
)")
                                      .procs.back(),
                                 {}, m);
  EXPECT_DOUBLE_EQ(f[Term::kArithmetic], 2000);
  EXPECT_DOUBLE_EQ(f[Term::kLoad], 250);
  EXPECT_DOUBLE_EQ(f[Term::kLatency], 1000 * (9 - 2));
}

TEST(Features, a_chain_through_memory_counts_for_the_loop_that_stays_on_it) {
  const Features f = count(R"(
@proc
def f(x: f32[400, 4], y: f32[4]):
    for i in seq(0, 400):
        a: f32[4] @ REG
        b: f32[4] @ REG
        load(b[0:4], y[0:4])
        load(a[0:4], x[i, 0:4])
        fma(b[0:4], a[0:4], a[0:4])
        store(y[0:4], b[0:4])
)");
  EXPECT_DOUBLE_EQ(f[Term::kLatency], 400 * (4 + 7 - 1.0));
}

TEST(Features, a_triangle_counts_as_its_middle_row) {
  const auto compiled = [](const std::string& columns) {
    return count(R"(
@proc
def rows(A: f32[64, 64], B: f32[64, 64]):
    for i in seq(0, 64):
        for j in seq(0, )" +
                 columns +
                 R"():
            B[i, j] += A[i, j] * A[i, j]
)")[Term::kCompiled];
  };
  EXPECT_GT(compiled("32"), 0);
  EXPECT_EQ(compiled("i"), compiled("32"));
  EXPECT_EQ(compiled("64 - i"), compiled("32"));
}

TEST(Features, the_same_load_twice_is_one) {
  const Features f = count(R"(
@proc
def f(x: f32[4], y: f32[4]):
    a: f32[4] @ REG
    b: f32[4] @ REG
    load(a[0:4], x[0:4])
    load(b[0:4], x[0:4])
    load(b[0:4], y[0:4])
)");
  EXPECT_DOUBLE_EQ(f[Term::kLoad], 1);
}

TEST(Features, registers_beyond_the_file_spill) {
  const auto text = [](int registers) {
    std::string body = "\n@proc\ndef f(x: f32[400]):\n";
    for (int k = 0; k < registers; ++k) body += "    s" + std::to_string(k) + ": f32[4] @ REG\n";
    body +=
        "    for i in seq(0, 100):\n        a: f32[4] @ REG\n        load(a[0:4], x[4 * i:4 * i + "
        "4])\n";
    for (int k = 0; k < registers; ++k)
      body += "        fma(s" + std::to_string(k) + "[0:4], a[0:4], a[0:4])\n";
    return body;
  };
  EXPECT_DOUBLE_EQ(count(text(3))[Term::kSpill], 0);
  EXPECT_DOUBLE_EQ(count(text(6))[Term::kSpill], 100 * (6 + 1 - 4));
}

TEST(Features, registers_that_are_written_anew_need_not_last) {
  // Six registers, each for two statements: no more than two are needed at once.
  std::string body = "\n@proc\ndef f(x: f32[400], y: f32[400]):\n";
  for (int k = 0; k < 6; ++k) body += "    s" + std::to_string(k) + ": f32[4] @ REG\n";
  body += "    for i in seq(0, 100):\n";
  for (int k = 0; k < 6; ++k) {
    const std::string s = "s" + std::to_string(k);
    body += "        load(" + s + "[0:4], x[4 * i:4 * i + 4])\n        store(y[4 * i:4 * i + 4], " +
            s + "[0:4])\n";
  }
  EXPECT_DOUBLE_EQ(count(body)[Term::kSpill], 0);
}

TEST(Features, one_literal_in_many_registers_is_one) {
  const auto text = [](bool same) {
    std::string body = "\n@proc\ndef f(x: f32[400]):\n    a: f32[4] @ REG\n    zero(a[0:4])\n";
    for (int k = 0; k < 6; ++k) {
      const std::string n = std::to_string(k);
      body += "    c" + n + ": f32\n    c" + n + " = " + (same ? "2" : n) + ".5\n    s" + n +
              ": f32[4] @ REG\n    set(s" + n + "[0:4], c" + n + ")\n";
    }
    body += "    for i in seq(0, 100):\n";
    for (int k = 0; k < 6; ++k) {
      const std::string s = "s" + std::to_string(k) + "[0:4]";
      body += "        fma(a[0:4], " + s + ", " + s + ")\n";
    }
    return body;
  };
  EXPECT_DOUBLE_EQ(count(text(true))[Term::kSpill], 0);
  EXPECT_DOUBLE_EQ(count(text(false))[Term::kSpill], 100 * (6 + 1 - 4));
}

TEST(Features, what_a_compiler_vectorizes_is_counted_in_vectors) {
  const Features along = count(R"(
@proc
def f(n: size, x: f32[n], y: f32[n]):
    for i in seq(0, n):
        y[i] += 2.0 * x[i]
)",
                               {{"n", 1000}});
  EXPECT_DOUBLE_EQ(along[Term::kCompiled], 250);  // stores: one a vector
  EXPECT_DOUBLE_EQ(along[Term::kScalar], 0);
  const Features sum = count(R"(
@proc
def f(n: size, x: f32[n], y: f32[1]):
    for i in seq(0, n):
        y[0] += x[i]
)",
                             {{"n", 1000}});
  EXPECT_DOUBLE_EQ(sum[Term::kCompiled], 0);
  EXPECT_GT(sum[Term::kScalar], 1000);
  EXPECT_GT(sum[Term::kChain], 1000);
}

TEST(Features, every_kth_element_is_shuffled_up_to_eight) {
  const auto counted = [](int apart) {
    std::string text = "\n@proc\ndef f(x: f32[4096], y: f32[4096]):\n    for i in seq(0, " +
                       std::to_string(4096 / apart) + "):\n";
    for (int k = 0; k < apart; ++k) {
      const std::string at = "[" + std::to_string(apart) + " * i + " + std::to_string(k) + "]";
      text += "        y" + at + " += 2.0 * x" + at + "\n";
    }
    return count(text);
  };
  EXPECT_DOUBLE_EQ(counted(1)[Term::kCompiled], 1024);
  double before = 1024;
  for (const int apart : {2, 4, 8}) {
    const Features f = counted(apart);
    EXPECT_DOUBLE_EQ(f[Term::kScalar], 0) << apart;
    EXPECT_GT(f[Term::kCompiled], before) << apart;
    before = f[Term::kCompiled];
  }
  const Features sixteen = counted(16);
  EXPECT_DOUBLE_EQ(sixteen[Term::kCompiled], 0);
  EXPECT_GT(sixteen[Term::kScalar], before);
}

// Short loops inside are written out where their number is known when it is compiled.
TEST(Features, loops_inside_are_written_out_where_their_number_is_known) {
  const auto compiled = [](const std::string& from, const std::string& to) {
    return count(
        "\n@proc\ndef f(b: index, x: f32[400, 100], y: f32[100], a: f32[400]):\n"
        "    assert 0 <= b\n    assert b < 10\n"
        "    for i in seq(0, 100):\n        for k in seq(" +
            from + ", " + to + "):\n            y[i] += x[k, i] * a[k]\n",
        {{"b", 5}})[Term::kCompiled];
  };
  EXPECT_GT(compiled("0", "5"), 0);
  EXPECT_EQ(compiled("8 * b", "8 * b + 5"), compiled("0", "5"));
  EXPECT_EQ(compiled("0", "b"), 0);
  EXPECT_EQ(compiled("8 * b", "9 * b"), 0);
}

TEST(Features, what_leaves_gaps_is_no_vector) {
  const Features f = count(R"(
@proc
def f(x: f32[4096], y: f32[4096]):
    for i in seq(0, 1024):
        y[4 * i] += 2.0 * x[4 * i]
        y[4 * i + 2] += 2.0 * x[4 * i + 2]
)");
  EXPECT_DOUBLE_EQ(f[Term::kCompiled], 0);
  EXPECT_GT(f[Term::kScalar], 0);
}

// Four sums that stay become one of vectors, four elements that move on do not.
TEST(Features, sums_side_by_side_are_vectors_only_where_they_stay) {
  const auto scalar = [](const char* place) {
    std::string text =
        "\n@proc\ndef f(x: f32[400, 100], y: f32[400, 100]):\n    for i in seq(0, 100):\n";
    for (const char* k : {"0", "1", "2", "3"})
      text += "        y[" + std::string(k) + ", " + place + "] += x[" + k + ", i]\n";
    return count(text)[Term::kScalar];
  };
  EXPECT_LT(scalar("0"), 500);
  const Features moving = count(R"(
@proc
def f(x: f32[100, 100], y: f32[100, 100]):
    for i in seq(0, 100):
        y[i, 0] += x[0, i]
        y[i, 1] += x[1, i]
        y[i, 2] += x[2, i]
        y[i, 3] += x[3, i]
)");
  EXPECT_GT(moving[Term::kScalar], 2 * scalar("0"));
}

// As many additions as they take time: else a plan that leaves them outside of vectors looks free.
TEST(Features, calls_and_quotients_of_scalars_are_many_additions) {
  const auto scalar = [](const std::string& value) {
    return count("\n@proc\ndef f(x: f32[4], y: f32[4]):\n    y[0] = " + value +
                 "\n")[Term::kScalar];
  };
  const double sum = scalar("x[0] + x[1]");
  EXPECT_GT(scalar("x[0] / x[1]"), 2 * sum);
  EXPECT_GT(scalar("sqrt(x[0])"), 2 * sum);
  EXPECT_GT(scalar("exp(x[0])"), 10 * sum);
  EXPECT_GT(scalar("pow(x[0], x[1])"), scalar("exp(x[0])"));
  EXPECT_LE(scalar("fmax(x[0], x[1])"), sum);
}

TEST(Features, short_loops_of_constant_bounds_are_written_out) {
  const Features f = count(R"(
@proc
def f(x: f32[4000]):
    s: f32[2, 4] @ REG
    for i in seq(0, 500):
        for k in seq(0, 2):
            a: f32[4] @ REG
            load(a[0:4], x[8 * i + 4 * k:8 * i + 4 * k + 4])
            fma(s[k, 0:4], a[0:4], a[0:4])
)");
  EXPECT_DOUBLE_EQ(f[Term::kLoop], 500);
  EXPECT_DOUBLE_EQ(f[Term::kLoad], 500);
  EXPECT_DOUBLE_EQ(f[Term::kIndexed], 1000);
  EXPECT_DOUBLE_EQ(f[Term::kLatency], 500 * (4 - 1.0));  // two chains, not one of both
}

TEST(Features, parts_of_vectors_and_vectors_across_lines) {
  const Features f = count(R"(
@proc
def f(x: f32[10, 15]):
    for i in seq(0, 10):
        a: f32[4] @ REG
        load(a[0:4], x[i, 0:4])
        store_part(3, x[i, 12:15], a[0:4])
)");
  EXPECT_DOUBLE_EQ(f[Term::kPartial], 10);
  EXPECT_DOUBLE_EQ(f[Term::kSplit], 10 * (12.0 / 64) + 10 * (8.0 / 64));
}

TEST(Features, instructions_are_classified_by_their_bodies) {
  const Module m = module_of("");
  const auto named = [&](const std::string& name) {
    for (const ProcPtr& p : m.procs)
      if (p->name == name) return classify(*p);
    return InstructionClass{};
  };
  EXPECT_DOUBLE_EQ(named("load").ports.load, 0.5);
  EXPECT_DOUBLE_EQ(named("store").ports.store, 1);
  EXPECT_TRUE(named("store").writes_memory);
  EXPECT_TRUE(named("fma").accumulates);
  EXPECT_DOUBLE_EQ(named("fma").ports.arithmetic, 0.5);
  EXPECT_DOUBLE_EQ(named("fma").ports.load, 0);
  EXPECT_DOUBLE_EQ(named("zero").ports.other, 0.25);
  EXPECT_TRUE(named("store_part").partial);
  EXPECT_FALSE(named("store").partial);
}

TEST(CostTerms, each_can_be_switched_off_alone) {
  Features all;
  all.count.fill(1);
  CostWeights w;
  w.hidden = 0;
  for (size_t k = 0; k < kTerms; ++k) w.cycles[k] = static_cast<double>(k + 1);
  const double whole = cost_of(all, w);
  for (size_t k = 0; k < kTerms; ++k) {
    const Term t = static_cast<Term>(k);
    EXPECT_DOUBLE_EQ(whole - cost_of(all, w.without(t)), static_cast<double>(k + 1)) << name_of(t);
    EXPECT_EQ(term_of(name_of(t)), t);
  }
  EXPECT_THROW(term_of("latincy"), InputError);
}

TEST(CostTerms, the_greater_side_hides_a_share_of_the_lesser) {
  Features f;
  f[Term::kPort] = 100;
  f[Term::kLines1] = 40;
  CostWeights w;
  w[Term::kPort] = w[Term::kLines1] = 1;
  w.hidden = 0;
  EXPECT_DOUBLE_EQ(cost_of(f, w), 140);
  w.hidden = 0.75;
  EXPECT_DOUBLE_EQ(cost_of(f, w), 110);
  w.hidden = 1;
  EXPECT_DOUBLE_EQ(cost_of(f, w), 100);
}

TEST(CostTerms, the_text_says_what_lines_cost_until_they_are_measured) {
  const CostWeights w = default_weights(machine());
  EXPECT_FALSE(w.fitted);
  EXPECT_EQ(w.cycles_per_line(), (std::vector<double>{1, 2, 6}));
}

}  // namespace
}  // namespace exotune
