// Figures of a target in the store: which are found again, and by whom.
#include "search/figures.h"

#include <gtest/gtest.h>

#include "search/weights.h"
#include "tests/search/machines.h"

namespace exotune {
namespace {

bool nothing_found(const TargetFigures& f) { return f.instructions.empty() && f.lines.empty(); }

TEST(Figures, what_was_measured_outranks_what_was_estimated) {
  const TargetPtr target = avx512();
  const auto store = make_memory_store();
  const Machine here = machine_named("znver5");
  EXPECT_TRUE(nothing_found(figures_of(*target, here, nullptr)));
  EXPECT_TRUE(nothing_found(figures_of(*target, here, store.get())));
  const InstructionFigure estimated{1, 5, FigureSource::kEstimated};
  const InstructionFigure measured{0.5, 4, FigureSource::kMeasured};
  keep_instructions(*target, here, {{"mm512_add_ps", estimated}, {"mm512_mul_ps", estimated}},
                    *store);
  const std::string before = figures_of(*target, here, store.get()).identity();
  keep_instructions(*target, here, {{"mm512_add_ps", measured}}, *store);
  const TargetFigures found = figures_of(*target, here, store.get());
  EXPECT_EQ(found.instructions.at("mm512_add_ps"), measured);
  EXPECT_EQ(found.instructions.at("mm512_mul_ps"), estimated);
  EXPECT_NE(found.identity(), before);
  for (const InstructionRow& row : stored_instruction_costs(*target, here, *store).rows) {
    if (row.name == "mm512_add_ps") {
      EXPECT_EQ(row.measured, measured);
      EXPECT_EQ(row.estimated, estimated);
      EXPECT_EQ(row.port, "arithmetic");
      EXPECT_EQ(row.text, 0.5);
    }
    if (row.name == "mm512_storeu_ps") {
      EXPECT_EQ(row.port, "store");
      EXPECT_EQ(row.measured.throughput, 0);
    }
  }
}

TEST(Figures, are_those_of_one_text_compiler_and_machine) {
  const TargetPtr target = avx512();
  const auto store = make_memory_store();
  const Machine here = machine_named("znver5");
  keep_instructions(*target, here, {{"mm512_add_ps", {0.5, 2, FigureSource::kMeasured}}}, *store);
  keep_lines(*target, here, {0.5, 1.25, 7}, *store);
  const TargetFigures found = figures_of(*target, here, store.get());
  EXPECT_EQ(found.lines, (std::vector<double>{0.5, 1.25, 7}));
  EXPECT_EQ(found.instructions.size(), 1u);
  EXPECT_TRUE(nothing_found(figures_of(*target, machine_named("haswell"), store.get())));
  Target edited = *target;
  edited.hash = "0123";
  EXPECT_TRUE(nothing_found(figures_of(edited, here, store.get())));
  edited = *target;
  edited.compiler.flags.push_back("-DOTHER");
  EXPECT_TRUE(nothing_found(figures_of(edited, here, store.get())));
  // Lines are the machine's, instructions those of its kind.
  Machine sister = here;
  sister.caches = {{1, 1 << 14, 64, 1}};
  EXPECT_TRUE(figures_of(*target, sister, store.get()).lines.empty());
  EXPECT_EQ(figures_of(*target, sister, store.get()).instructions.size(), 1u);
}

TEST(Figures, a_basis_leaves_some_out) {
  const TargetPtr target = avx512();
  const auto store = make_memory_store();
  const Machine here = machine_named("znver5");
  keep_instructions(*target, here, {{"mm512_add_ps", {0.5, 2, FigureSource::kMeasured}}}, *store);
  keep_lines(*target, here, {0.5, 1.25, 7}, *store);
  const auto of = [&](CostBasis basis) { return figures_of(*target, here, store.get(), basis); };
  EXPECT_TRUE(nothing_found(of(CostBasis::kText)));
  EXPECT_TRUE(of(CostBasis::kInstructions).lines.empty());
  EXPECT_EQ(of(CostBasis::kInstructions).instructions.size(), 1u);
  EXPECT_TRUE(of(CostBasis::kLines).instructions.empty());
  EXPECT_EQ(of(CostBasis::kLines).lines.size(), 3u);
  EXPECT_EQ(of(CostBasis::kAll).lines.size(), 3u);
  EXPECT_EQ(of(CostBasis::kMeasured).identity(), of(CostBasis::kAll).identity());
  EXPECT_EQ(cost_basis_names().size(), 5u);
}

TEST(Figures, fitted_lines_outrank_measured_ones_in_the_dynamic_program) {
  const TargetPtr target = avx512();
  const auto store = make_memory_store();
  const Machine here = machine_named("znver5");
  keep_lines(*target, here, {0.5, 1.25, 2.5, 8}, *store);
  const auto lines = [&](const char* operation, CostBasis basis) {
    return dp_figures(*target, here, store.get(), operation, basis).lines;
  };
  const std::vector<double> measured = {0.5, 1.25, 2.5, 8};
  EXPECT_EQ(lines("gemm", CostBasis::kAll), measured);
  CostWeights weights = unfitted_weights(*target, here, store.get());
  weights[Term::kLines1] = 0.75;
  weights[Term::kLines2] = 1.5;
  keep_weights(*target, here, weights, {"dot"}, *store);
  EXPECT_EQ(lines("gemm", CostBasis::kAll), (std::vector<double>{0.5, 0.75, 1.5, 8}));
  EXPECT_EQ(lines("dot", CostBasis::kAll), measured);
  EXPECT_EQ(lines("gemm", CostBasis::kMeasured), measured);
  EXPECT_FALSE(weights_of(*target, here, store.get(), "gemm", CostBasis::kMeasured).fitted);
}

TEST(Figures, weights_fitted_with_other_instruction_costs_are_not_read) {
  const TargetPtr target = avx512();
  const auto store = make_memory_store();
  const Machine here = machine_named("znver5");
  CostWeights weights = weights_of(*target, here, store.get());
  weights[Term::kLoop] = 3.5;
  keep_weights(*target, here, weights, {}, *store);
  EXPECT_TRUE(weights_of(*target, here, store.get()).fitted);
  keep_instructions(*target, here, {{"mm512_add_ps", {0.75, 2, FigureSource::kMeasured}}}, *store);
  EXPECT_FALSE(weights_of(*target, here, store.get()).fitted);
  weights = weights_of(*target, here, store.get());
  EXPECT_EQ(weights.machine.instructions.at("mm512_add_ps").throughput, 0.75);
  keep_weights(*target, here, weights, {}, *store);
  EXPECT_TRUE(weights_of(*target, here, store.get()).fitted);
}

TEST(Figures, measured_lines_are_the_weights_of_lines_until_a_fit) {
  const TargetPtr target = avx512();
  const auto store = make_memory_store();
  const Machine here = machine_named("znver5");
  keep_lines(*target, here, {0.5, 1.25, 2.5, 8}, *store);
  EXPECT_EQ(unfitted_weights(*target, here, store.get()).cycles_per_line(),
            (std::vector<double>{1.25, 2.5, 8}));
  EXPECT_EQ(unfitted_weights(*target, here, store.get(), CostBasis::kText).cycles_per_line(),
            unfitted_weights(*target, here, nullptr).cycles_per_line());
}

TEST(Figures, a_target_that_only_a_simulator_runs_has_none) {
  const TargetPtr gemmini =
      load_target("gemmini", {std::filesystem::path(EXOTUNE_SOURCE_DIR) / "hw"});
  const auto store = make_memory_store();
  EXPECT_TRUE(nothing_found(figures_of(*gemmini, machine_named("any"), store.get())));
}

}  // namespace
}  // namespace exotune
