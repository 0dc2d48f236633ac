#include "hw/machine.h"

#include <gtest/gtest.h>

namespace exotune {
namespace {

Machine made_up() {
  Machine m;
  m.arch = "x86_64";
  m.vendor = "Acme";
  m.microarch = "acme-1-2";
  m.features = {"fast", "wide"};
  m.caches = {{1, 1000, 32, 1}, {2, 9000, 32, 2}};
  return m;
}

TargetPtr native(const std::string& name, double peak, std::vector<std::string> needs) {
  auto t = std::make_shared<Target>();
  t->name = t->isa = name;
  t->peak[ScalarType::kF32] = peak;
  t->required_features = std::move(needs);
  return t;
}

TEST(Machine, probing_twice_gives_the_same_machine) {
  const Machine a = probe_machine(), b = probe_machine();
  const TargetPtr t = native("any", 1, {});
  EXPECT_FALSE(a.arch.empty());
  EXPECT_FALSE(a.microarch.empty());
  EXPECT_GE(a.threads, 1);
  EXPECT_GT(a.memory_bytes, 0);
  EXPECT_TRUE(std::is_sorted(a.features.begin(), a.features.end()));
  EXPECT_EQ(fingerprint(a, *t).hash, fingerprint(b, *t).hash);
}

TEST(Machine, caches_grow_with_their_level) {
  const Machine m = probe_machine();
  for (size_t k = 1; k < m.caches.size(); ++k) {
    EXPECT_GT(m.caches[k].level, m.caches[k - 1].level);
    EXPECT_GE(m.caches[k].bytes, m.caches[k - 1].bytes);
  }
}

TEST(Machine, names_what_a_target_lacks) {
  const Machine m = made_up();
  EXPECT_TRUE(supports(m, *native("a", 1, {"fast"})));
  EXPECT_EQ(missing_features(m, *native("b", 1, {"fast", "deep"})),
            std::vector<std::string>{"deep"});
  EXPECT_FALSE(supports(m, *native("b", 1, {"fast", "deep"})));
}

TEST(Machine, a_simulated_target_lacks_nothing_but_is_not_native) {
  auto t = std::make_shared<Target>(*native("sim", 1, {"deep"}));
  t->runner.kind = "sim";
  EXPECT_TRUE(missing_features(made_up(), *t).empty());
  EXPECT_FALSE(supports(made_up(), *t));
}

TEST(Machine, the_best_target_is_the_fastest_that_runs) {
  const std::vector<TargetPtr> all = {native("slow", 8, {"fast"}), native("good", 16, {"wide"}),
                                      native("missing", 64, {"deep"})};
  EXPECT_EQ(best_target(made_up(), all)->name, "good");
  EXPECT_EQ(best_target(made_up(), {all[2]}), nullptr);
}

TEST(Machine, the_best_target_for_bytes_has_instructions_for_them) {
  const TargetPtr wide = native("wide", 16, {"wide"});
  auto bytes = std::make_shared<Target>(*native("with_bytes", 16, {"wide"}));
  bytes->peak[ScalarType::kI8] = 64;
  const std::vector<TargetPtr> all = {bytes, wide};
  EXPECT_EQ(best_target(made_up(), all, {ScalarType::kI8, ScalarType::kI32})->name, "with_bytes");
  EXPECT_EQ(best_target(made_up(), all, {ScalarType::kF32})->name, "wide") << "a tie: by name";
  EXPECT_EQ(best_target(made_up(), all)->name, "wide");
}

TEST(Machine, measured_caches_replace_the_targets_figures) {
  auto t = std::make_shared<Target>();
  auto registers = std::make_shared<Memory>();
  t->levels = {{"registers", registers, 64, 0, 0},
               {"L1", nullptr, 1, 64, 2},
               {"L2", nullptr, 2, 64, 3},
               {"L3", nullptr, 3, 64, 4},
               {"DRAM", dram(), 0, 64, 5}};
  const std::vector<TargetLevel> levels = made_up().levels_of(*t);
  EXPECT_EQ(levels[0].bytes, 64);
  EXPECT_EQ(levels[1].bytes, 1000);
  EXPECT_EQ(levels[1].line_bytes, 32);
  EXPECT_EQ(levels[1].cost_per_line, 2);
  EXPECT_EQ(levels[2].bytes, 9000);
  EXPECT_EQ(levels[3].bytes, 3);  // this machine has no third level
}

TEST(Machine, a_fingerprint_changes_with_what_timing_depends_on) {
  const TargetPtr t = native("a", 1, {});
  const Machine m = made_up();
  const Fingerprint base = fingerprint(m, *t);
  EXPECT_EQ(base.isa, "a");
  EXPECT_EQ(base.microarch, "acme-1-2");
  Machine other = m;
  other.caches[1].bytes *= 2;
  EXPECT_NE(fingerprint(other, *t).hash, base.hash);
  other = m;
  other.stepping = 7;
  EXPECT_NE(fingerprint(other, *t).hash, base.hash);
  other = m;
  other.model_name = "another label";
  EXPECT_EQ(fingerprint(other, *t).hash, base.hash);
}

TEST(Compiler, the_first_that_runs_is_identified) {
  const CompilerIdentity gcc = find_compiler({{"no-such-compiler", "gcc", "clang"}, {"-O2"}, {}});
  EXPECT_EQ(gcc.program, "gcc");
  EXPECT_NE(gcc.version.find("gcc"), std::string::npos);
  EXPECT_EQ(gcc.path[0], '/');
  EXPECT_NE(find_compiler({{"gcc"}, {"-O3"}, {}}).hash, gcc.hash);
}

TEST(Compiler, none_on_path_is_unavailable) {
  try {
    find_compiler({{"no-such-cc", "nor-this"}, {}, {}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), ExitCode::kUnavailable);
    EXPECT_NE(std::string(e.what()).find("no-such-cc, nor-this"), std::string::npos);
  }
}

}  // namespace
}  // namespace exotune
