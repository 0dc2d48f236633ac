// Targets that are simulated, through the command. Skipped without a cross compiler.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/command_harness.h"

namespace exotune::cli {
namespace {

bool says(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

class Simulated : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("riscv64-unknown-elf-gcc").empty())
      GTEST_SKIP() << "no cross compiler on PATH";
  }
};

TEST_F(Simulated, a_kernel_gets_cycles_and_no_more_than_the_schedule_by_hand) {
  const CommandHarness harness("rvm");
  const CommandResult result = harness.run({"conv1d", "--target", "rvm"});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(says(result.out, "model cycles")) << result.out;
  const auto record = nlohmann::json::parse(harness.read("out/conv1d.json"));
  EXPECT_EQ(record["cycles"]["unit"], "model cycles");
  EXPECT_GT(record["cycles"]["as_written"], 16 * record["cycles"]["count"].get<double>());
  EXPECT_TRUE(says(harness.read("out/conv1d.sched"), "RVM_TILE"));
  const CommandResult again = harness.run({"conv1d", "--target", "rvm"});
  EXPECT_TRUE(says(again.out, " 0 candidates measured")) << again.out;
}

// From the plain loops alone, at both intervals of the array that are known.
TEST_F(Simulated, the_search_needs_no_schedule_by_hand) {
  const CommandHarness harness("unaided");
  const std::string root = std::string(EXOTUNE_SOURCE_DIR);
  const auto cycles = [&](const std::string& kernel, const std::string& target) {
    const CommandResult r =
        harness.run({kernel, "--target", target, "--size", "OC=16,IC=4,N=16,W=4"});
    EXPECT_EQ(r.exit_status, 0) << r.err;
    return nlohmann::json::parse(harness.read("out/conv1d.json"))["cycles"];
  };
  std::filesystem::copy(root + "/kernels/convolution.exo", harness.folder() / "mine.exo");
  std::filesystem::create_directories(harness.folder() / "slow");
  std::filesystem::copy(root + "/hw/rvm", harness.folder() / "slow/rvm");
  std::string text = harness.read("slow/rvm/target.toml");
  const size_t at = text.find("mmasa_interval = 4");
  ASSERT_NE(at, std::string::npos);
  harness.write("slow/rvm/target.toml", text.replace(at, 18, "mmasa_interval = 12"));
  const auto found = cycles("mine.exo:conv1d", "rvm"),
             slow = cycles("mine.exo:conv1d", "./slow/rvm");
  EXPECT_GE(found["as_written"], 16 * found["count"].get<double>()) << found;
  EXPECT_GE(slow["as_written"], 16 * slow["count"].get<double>()) << slow;
  EXPECT_LE(found["count"], cycles("conv1d", "rvm")["count"]);
  EXPECT_LE(slow["count"], cycles("conv1d", "./slow/rvm")["count"]);
}

// Layers of a quantised network on the array, checked and counted on the simulator.
TEST_F(Simulated, layers_are_found_for_the_array) {
  const CommandHarness harness("layers");
  const auto share = [&](const std::string& kernel, const std::string& sizes) {
    const CommandResult r =
        harness.run({kernel, "--target", "gemmini", "--size", sizes + ",act=1", "--trials", "6"});
    EXPECT_EQ(r.exit_status, 0) << r.err;
    const auto record = nlohmann::json::parse(harness.read("out/" + kernel + ".json"));
    return record["cycles"]["share_of_peak"].get<double>();
  };
  EXPECT_GT(share("i8gemm_scaled", "M=64,N=128,K=256"), 0.75);
  EXPECT_GT(share("i8conv3x3_scaled", "B=1,H=14,W=14,IC=64,OC=32"), 0.7);
}

// One layer after the other, the first one's results where the second reads them.
TEST_F(Simulated, a_network_runs_on_the_array_as_a_whole) {
  const CommandHarness harness("network");
  const CommandResult r =
      harness.run({std::string(EXOTUNE_SOURCE_DIR) + "/docs/examples/network.exo", "--target",
                   "gemmini", "--size", "B=32,N0=48,N1=32,N2=16,act=1", "--trials", "8", "-q"});
  ASSERT_EQ(r.exit_status, 0) << r.err;
  const auto cycles = nlohmann::json::parse(harness.read("out/i8mlp.json"))["cycles"];
  EXPECT_GT(cycles["as_written"], 50 * cycles["count"].get<double>()) << cycles;
  EXPECT_FALSE(says(harness.read("out/i8mlp.c"), "rintf("));
}

TEST_F(Simulated, without_a_name_what_the_target_serves_is_tuned) {
  const CommandHarness harness("unnamed");
  const CommandResult r = harness.run({"kernel", "--target", "rvm", "-n"});
  EXPECT_EQ(r.exit_status, 0) << r.err;
  EXPECT_TRUE(says(r.out, "conv1d (")) << r.out;
  EXPECT_FALSE(says(r.out, "saxpy (")) << r.out;
}

TEST_F(Simulated, what_the_book_shows_runs) {
  const std::string root = EXOTUNE_SOURCE_DIR;
  const CommandHarness harness("book");
  std::filesystem::create_directories(harness.folder() / "docs");
  std::filesystem::copy(root + "/docs/examples", harness.folder() / "docs/examples");
  std::filesystem::create_directory_symlink(root + "/kernels", harness.folder() / "kernels");
  int shown = 0;
  for (const char* chapter : {"/docs/add-an-accelerator.md", "/docs/results.md"}) {
    std::ifstream book(root + chapter);
    bool cross = false;
    for (std::string line; std::getline(book, line);) {
      if (line.rfind("```", 0) == 0) cross = line == "```console cross";
      if (!cross || line.rfind("$ exo-tune ", 0) != 0) continue;
      std::istringstream words(line.substr(11));
      const CommandResult result = harness.run({std::istream_iterator<std::string>(words), {}});
      EXPECT_EQ(result.exit_status, 0) << line << "\n" << result.err;
      ++shown;
    }
  }
  EXPECT_GE(shown, 2);
}

TEST_F(Simulated, the_doctor_knows_its_targets) {
  const CommandHarness harness("doctor_simulated");
  const CommandResult result = harness.run({"doctor", "--no-peers", "--format", "json"});
  int seen = 0;
  for (const auto& row : nlohmann::json::parse(result.out))
    if (row["what"] == "target rvm" || row["what"] == "target gemmini") {
      EXPECT_EQ(row["state"], "ok") << row;
      ++seen;
    }
  EXPECT_EQ(seen, 2);
}

// A schedule of one's own is counted where the target's candidates are.
TEST_F(Simulated, a_schedule_by_hand_is_counted) {
  const CommandHarness harness("counted");
  const std::string root = std::string(EXOTUNE_SOURCE_DIR);
  const CommandResult result =
      harness.run({"bench", "conv1d", root + "/kernels/conv1d_rvm.sched", "--target", "rvm",
                   "--size", "OC=16,IC=4,N=16,W=4", "--format", "json"});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  const auto rows = nlohmann::json::parse(result.out);
  ASSERT_EQ(rows.size(), 1u) << rows;
  EXPECT_EQ(rows[0]["status"], "ok");
  EXPECT_EQ(rows[0]["of what"], "model cycles");
  EXPECT_TRUE(says(rows[0].dump(), "797")) << rows;
}

// What is lost without a simulator, and how to get it.
TEST_F(Simulated, the_doctor_says_what_a_missing_simulator_costs) {
  const CommandHarness harness("doctor_runners");
  const CommandResult result = harness.run({"doctor", "--no-peers", "--format", "json"});
  int seen = 0;
  for (const auto& row : nlohmann::json::parse(result.out)) {
    if (row["what"] != "runner spike") continue;
    ++seen;
    const bool there = !find_program("spike").empty();
    EXPECT_EQ(row["state"], there ? "ok" : "missing") << row;
    EXPECT_EQ(says(row["detail"], "are not compared"), !there) << row;
    EXPECT_EQ(says(row["detail"], "build Spike"), !there) << row;
  }
  EXPECT_EQ(seen, 1);
}

// Verilator's binary and FireSim's manager are stood in for; the records are those that ship.
void make_stand_in(const CommandHarness& harness, const std::string& name,
                   const std::string& script) {
  const std::string simulate = std::string(EXOTUNE_BINARY_DIR) + "/bin/simulate_stand_in";
  harness.write("bin/" + name, "#!/bin/sh\nsimulate() { echo 'booting'; " + simulate +
                                   " $1 rv32imc rvm | sed 's/$/\\r/'; echo '*** PASSED ***'; }\n" +
                                   script);
  std::filesystem::permissions(harness.folder() / "bin" / name, std::filesystem::perms::owner_all);
}

// The same program, three kinds of cycles: each is measured, named and kept by itself.
TEST_F(Simulated, kinds_of_cycles_are_kept_apart) {
  const CommandHarness harness("kinds");
  make_stand_in(harness, "simulator-chipyard.harness-GemminiRocketConfig", "simulate $2\n");
  make_stand_in(harness, "firesim",
                "[ $1 = runworkload ] || exit 0\n"
                "for json in deploy/workloads/*.json; do :; done\n"
                "id=$(basename $json .json)\n"
                "at=deploy/results-workload/2026-01-01--00-00-01-$id/${id}0\n"
                "mkdir -p $at\nsimulate deploy/workloads/$id/program.elf > $at/uartlog\n"
                "rm $json\n");
  const std::string path = (harness.folder() / "bin").string() + ":" + std::getenv("PATH");
  for (const auto& [runner, unit] : std::map<std::string, std::string>{
           {"sim", "model cycles"}, {"verilator", "rtl cycles"}, {"firesim", "fpga cycles"}}) {
    const CommandResult r = harness.run(
        {"conv1d", "--target", "rvm", "--runner", runner, "--trials", "2"}, {{"PATH", path}});
    ASSERT_EQ(r.exit_status, 0) << runner << "\n" << r.err;
    EXPECT_TRUE(says(r.out, unit)) << r.out;
    EXPECT_TRUE(says(r.out, " 0 known before")) << r.out;
    const auto record = nlohmann::json::parse(harness.read("out/conv1d.json"));
    EXPECT_EQ(record["cycles"]["unit"], unit);
  }
  const CommandResult kinds = harness.run(
      {"db", "query", "select unit, count(distinct candidate) from results group by unit"});
  for (const char* unit : {"model cycles", "rtl cycles", "fpga cycles"})
    EXPECT_TRUE(says(kinds.out, unit)) << kinds.out;
}

TEST_F(Simulated, another_runner_is_named_or_missing) {
  const CommandHarness harness("runner");
  const CommandResult missing = harness.run({"conv1d", "--target", "rvm", "--runner", "spikes"});
  EXPECT_EQ(missing.exit_status, 6);
  EXPECT_TRUE(says(missing.err, "did you mean 'spike'?")) << missing.err;
}

// What is missing is named, with what to do about it.
TEST_F(Simulated, a_missing_simulator_and_a_missing_compiler_are_unavailable) {
  const CommandHarness harness("missing");
  if (find_program("spike").empty()) {
    const CommandResult spike = harness.run({"conv1d", "--target", "rvm", "--runner", "spike"});
    EXPECT_EQ(spike.exit_status, 6);
    EXPECT_TRUE(says(spike.err, "needs 'spike'")) << spike.err;
    EXPECT_TRUE(says(spike.err, "hint: build Spike")) << spike.err;
  }
  std::filesystem::copy(std::string(EXOTUNE_SOURCE_DIR) + "/hw/rvm", harness.folder() / "mine");
  std::string text = harness.read("mine/target.toml");
  const size_t from = text.find("programs = ["), to = text.find(']', from);
  text.replace(from, to - from, "programs = [\"no-such-gcc\"");
  harness.write("mine/target.toml", text);
  const CommandResult compiler = harness.run({"conv1d", "--target", "./mine"});
  EXPECT_EQ(compiler.exit_status, 6);
  EXPECT_TRUE(says(compiler.err, "no-such-gcc")) << compiler.err;
}

TEST_F(Simulated, a_figure_that_nothing_reads_is_an_error) {
  const CommandHarness harness("figure");
  const std::string root = std::string(EXOTUNE_SOURCE_DIR) + "/hw/rvm/";
  std::filesystem::create_directories(harness.folder() / "mine");
  for (const char* file : {"target.toml", "tiles.exo"}) {
    std::ifstream in(root + file);
    std::string text(std::istreambuf_iterator<char>(in), {});
    if (const size_t at = text.find("issue_depth"); at != std::string::npos)
      text.insert(at, "isue_depth = 3\n");
    harness.write(std::string("mine/") + file, text);
  }
  const CommandResult result = harness.run({"conv1d", "--target", "./mine"});
  EXPECT_EQ(result.exit_status, 2) << result.out;
  EXPECT_TRUE(says(result.err, "nothing reads 'isue_depth'")) << result.err;
  EXPECT_TRUE(says(result.err, "did you mean 'issue_depth'?")) << result.err;
}

// What an instruction can do wrong on the machine: its C is replaced, its body stays.
struct Fault {
  std::string name, target, file, instruction;
  std::string c;  // the arguments of @instr before its cost
  std::string says, hint;
};

void PrintTo(const Fault& f, std::ostream* out) { *out << f.name; }

class Faults : public Simulated, public testing::WithParamInterface<Fault> {};

TEST_P(Faults, are_named_with_a_hint) {
  const Fault& f = GetParam();
  const CommandHarness harness("fault_" + f.name);
  const std::string root = EXOTUNE_SOURCE_DIR;
  std::filesystem::copy(root + "/hw/" + f.target, harness.folder() / f.target);
  std::string text = harness.read(f.target + "/" + f.file);
  const size_t def = text.find("\ndef " + f.instruction + "(");
  ASSERT_NE(def, std::string::npos);
  const size_t from = text.rfind("\n@instr(", def) + 8, to = text.rfind(", cost", def);
  harness.write(f.target + "/" + f.file, text.replace(from, to - from, f.c));
  const bool tiles = f.target == "rvm";
  const CommandResult r = harness.run(
      {"bench", tiles ? "conv1d" : "i8gemm_scaled",
       root + (tiles ? "/kernels/conv1d_rvm.sched" : "/docs/examples/gemmini_library.sched"),
       "--target", "./" + f.target, "--size",
       tiles ? "OC=16,IC=4,N=16,W=4" : "M=64,N=128,K=512,act=1", "--timeout", "0.1"});
  EXPECT_EQ(r.exit_status, 5) << r.err;
  EXPECT_TRUE(says(r.err, f.says)) << r.err;
  EXPECT_TRUE(says(r.err, "hint: " + f.hint)) << r.err;
  // Where it was, whoever found it.
  EXPECT_FALSE(says(r.err, "in exo_trap_entry")) << r.err;
}

const Fault kFaults[] = {
    {"illegal", "rvm", "tiles.exo", "rvm_mld",
     R"("asm volatile(\".word 0xffffffff\" ::: \"memory\");")", "crash: illegal instruction",
     "the C of an instruction"},
    {"misaligned", "rvm", "tiles.exo", "rvm_mld",
     R"("asm volatile(\".insn r 0x2b, 0, 0x02, x%0, %1, %2\" :: \"i\"(16 + {md_reg}), \"r\"((const char*)&{src_data} + 1), \"r\"(16) : \"memory\");")",
     "crash: mld.w from the misaligned address", "the C of an instruction"},
    {"runaway", "rvm", "tiles.exo", "rvm_mld", R"("for (;;) asm volatile(\"\" ::: \"memory\");")",
     "timeout: ", "a loop that does not end"},
    {"deep", "rvm", "tiles.exo", "rvm_mld",
     R"("exo_deep(1);", "static int exo_deep(int n) { volatile char page[4096]; page[0] = n; return exo_deep(n + 1) + page[0]; }")",
     "crash: stack overflow", "the C of an instruction"},
    {"wrong", "rvm", "tiles.exo", "rvm_mld",
     R"("asm volatile(\".insn r 0x2b, 0, 0x7c, x0, x%0, x0\" :: \"i\"({md_reg}) : \"memory\");")",
     "mismatch: out, byte", "the C of an instruction does not do what its body says"},
    {"scratchpad", "gemmini", "commands.exo", "do_ld_i8_block",
     R"("EXO_GEMMINI(2, &{src_data}, EXO_GEMMINI_TILE({dst_data} + 16380, {n}, 16 * {m}));")",
     "of a scratchpad of 16384", "the C of an instruction"},
};
INSTANTIATE_TEST_SUITE_P(Device, Faults, testing::ValuesIn(kFaults),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace exotune::cli
