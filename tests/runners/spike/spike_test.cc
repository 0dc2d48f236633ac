// The same programs on Spike, the reference simulator, and on the embedded one: as many
// instructions, the same outputs. Skipped, with what is missing, where there is no Spike or no
// extension for it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/base/subprocess.h"
#include "core/library/script.h"
#include "runners/arena.h"
#include "runners/command/contract.h"
#include "runners/command/program.h"
#include "runners/sim/devices.h"
#include "runners/sim/simulation.h"
#include "runners/spike/extension_library.h"
#include "runners/work_directory.h"
#include "search/device/device_search.h"
#include "search/problem.h"
#include "search/tuning_context.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;

const fs::path kRoot = EXOTUNE_SOURCE_DIR;

struct Program {
  std::string name, target;
  std::string file;       // below the source tree, or the text of a procedure
  std::string procedure;  // of a file
  SizeBinding sizes;
  bool device = false;   // it uses the target's extension
  std::string schedule;  // below the source tree; "search": the search's first
};

void PrintTo(const Program& p, std::ostream* out) { *out << p.name; }

std::string content(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

ContractOutput embedded(const Target& target, const std::string& elf, const std::string& isa,
                        const std::string& extension) {
  sim::Figures figures(target.latency, target.parameters);
  sim::SimulationOptions options;
  options.isa = sim::Isa::parse(isa);
  options.timing = sim::Timing::read(figures);
  const sim::DevicePtr device = sim::make_device(extension, figures, sim::shipped_devices());
  return read_contract(sim::simulate(sim::ElfImage::read(elf), options, device.get()).console);
}

ContractOutput on_spike(const std::string& elf, const std::string& isa,
                        const std::string& extension) {
  std::vector<std::string> command = {"spike", "--isa=" + isa};
  if (!extension.empty())
    command.insert(command.end(),
                   {"--extlib=" + extension_library(extension), "--extension=" + extension});
  command.push_back(elf);
  return read_contract(run_command(command, {"", 120, {}}).out);
}

class OnSpike : public testing::TestWithParam<Program> {
 protected:
  OnSpike()
      : library_({kRoot / "hw"}),
        target_(library_.load(GetParam().target)),
        extension_(GetParam().device ? target_->runner.options.at("extension") : "") {}
  void SetUp() override {
    if (find_program("riscv64-unknown-elf-gcc").empty())
      GTEST_SKIP() << "no cross compiler on PATH";
    if (find_program("spike").empty()) GTEST_SKIP() << "no spike on PATH";
    const std::string file = extension_library(extension_);
    if (file.empty() || file.find('/') != std::string::npos) return;
    const char* folders = std::getenv("LD_LIBRARY_PATH");
    std::istringstream all(folders ? folders : "");
    bool found = false;
    for (std::string folder; std::getline(all, folder, ':');)
      found = found || fs::exists(fs::path(folder) / file);
    if (!found) GTEST_SKIP() << "no " << file << " in LD_LIBRARY_PATH";
  }

  ProcPtr written() {
    const Program& p = GetParam();
    const bool is_text = p.file.find("@proc") != std::string::npos;
    const Module module = parse_module(is_text ? p.file : content(kRoot / p.file),
                                       is_text ? "text.exo" : p.file, library_.importer());
    for (const ProcPtr& proc : module.user_procs())
      if (is_text || proc->name == p.procedure) return proc;
    throw InputError({}, "there is no " + p.procedure + " in " + p.file);
  }
  ProcPtr scheduled(const ProcPtr& kernel) {
    const Program& p = GetParam();
    if (p.schedule.empty()) return kernel;
    if (p.schedule == "search")
      return DeviceSearch(kernel, p.sizes, *target_).next(1, {}).at(0).schedule.proc;
    ScriptEnvironment names = script_environment({}, {&target_->library});
    names.start = kernel;
    names.names[kernel->name] = Value(kernel);
    return run_script(content(kRoot / p.schedule), p.schedule, names).proc;
  }

  TargetLibrary library_;
  TargetPtr target_;
  std::string extension_;
};

TEST_P(OnSpike, takes_as_many_instructions_to_the_same_output) {
  const ProcPtr kernel = written();
  ASSERT_NE(kernel, nullptr);
  const std::unique_ptr<Runner> plain = native_runner(plain_toolchain());
  const TuningProblem problem =
      make_problem(kernel, GetParam().sizes, {.runner = plain.get(), .target = target_.get()});
  const Candidate candidate =
      make_candidate(at_sizes(scheduled(kernel), GetParam().sizes), *target_, problem);
  WorkDirectory folder("");
  ProgramBuilder builder(toolchain_of(*target_), folder.path(), 60);
  builder.prepare(candidate.args, problem.test);
  const BuiltProgram program = builder.build(candidate);
  ASSERT_TRUE(program.ok()) << program.error;
  const std::string isa = target_->runner.options.at("isa");
  const ContractOutput here = embedded(*target_, program.elf, isa, extension_),
                       there = on_spike(program.elf, isa, extension_);
  ASSERT_TRUE(here.complete && here.all_ok());
  ASSERT_TRUE(there.complete && there.all_ok());
  EXPECT_EQ(here.runs[0].instructions, there.runs[0].instructions);
  EXPECT_EQ(here.runs[0].hash, there.runs[0].hash);
  RecordProperty("instructions", static_cast<int>(there.runs[0].instructions));
  RecordProperty("cycles", static_cast<int>(here.runs[0].cycles));
}

// A product of tiles by one of the tile unit's instructions.
std::string tiles(const std::string& type, int depth, const std::string& sum,
                  const std::string& end, const std::string& product) {
  const std::string d = std::to_string(depth), store = sum == "f32" ? "_f" : "";
  const auto operand = [&](const std::string& name, const std::string& from) {
    return "    " + name + ": " + type + "[4, " + d + "] @ RVM_TILE\n    rvm_mld" + end + "(" +
           name + "[0:4, 0:" + d + "], " + from + "[0:4, 0:" + d + "])\n";
  };
  return "from rvm import *\n@proc\ndef f(A: " + type + "[4, " + d + "], B: " + type + "[4, " + d +
         "], C: " + sum + "[4, 4]):\n    c: " + sum + "[4, 4] @ RVM_TILE\n    rvm_mzero" + store +
         "(c[0:4, 0:4])\n" + operand("a", "A") + operand("b", "B") + "    " + product +
         "(c[0:4, 0:4], b[0:4, 0:" + d + "], a[0:4, 0:" + d + "])\n    rvm_mst" + store +
         "(c[0:4, 0:4], C[0:4, 0:4])\n";
}

const SizeBinding kSignal = {{"OC", 16}, {"IC", 4}, {"N", 16}, {"W", 4}};
const std::string kOne = "kernels/blas1.exo", kTwo = "kernels/blas2.exo",
                  kThree = "kernels/gemm.exo";

// The tile unit beside 32 bits, compressed; floats by the compiler's own functions.
const Program kTileUnit[] = {
    {"conv1d_scalar", "rvm", "kernels/convolution.exo", "conv1d", kSignal},
    {"conv1d_by_hand", "rvm", "kernels/convolution.exo", "conv1d", kSignal, true,
     "kernels/conv1d_rvm.sched"},
    {"conv1d_found", "rvm", "kernels/convolution.exo", "conv1d", kSignal, true, "search"},
    {"words", "rvm", tiles("i32", 4, "i32", "", "rvm_mmasa"), "", {}, true},
    {"halfwords", "rvm", tiles("i16", 8, "i32", "_h", "rvm_mmada"), "", {}, true},
    {"bytes", "rvm", tiles("i8", 16, "i32", "_b", "rvm_mmaqa"), "", {}, true},
    {"floats", "rvm", tiles("f32", 4, "f32", "_f", "rvm_fmmacc"), "", {}, true},
    {"i8gemm_32", "rvm", kThree, "i8gemm", {{"M", 9}, {"N", 11}, {"K", 13}}},
    {"saxpy_32", "rvm", kOne, "saxpy", {{"n", 37}}},
};
INSTANTIATE_TEST_SUITE_P(TileUnit, OnSpike, testing::ValuesIn(kTileUnit),
                         [](const auto& info) { return info.param.name; });

// 64 bits, compressed, with floats.
const Program kCore[] = {
    {"saxpy", "gemmini", kOne, "saxpy", {{"n", 101}}},
    {"sdot", "gemmini", kOne, "sdot", {{"n", 101}}},
    {"ddot", "gemmini", kOne, "ddot", {{"n", 101}}},
    {"dsdot", "gemmini", kOne, "dsdot", {{"n", 101}}},
    {"sasum", "gemmini", kOne, "sasum", {{"n", 101}}},
    {"drot", "gemmini", kOne, "drot", {{"n", 33}}},
    {"sgemv_n", "gemmini", kTwo, "sgemv_n", {{"M", 17}, {"N", 19}}},
    {"dgemv_t", "gemmini", kTwo, "dgemv_t", {{"M", 17}, {"N", 19}}},
    {"ssymv_l", "gemmini", kTwo, "ssymv_l", {{"N", 17}}},
    {"strsv_ln", "gemmini", kTwo, "strsv_ln", {{"N", 17}}},
    {"sgemm", "gemmini", kThree, "sgemm", {{"M", 9}, {"N", 11}, {"K", 13}}},
    {"dgemm", "gemmini", kThree, "dgemm", {{"M", 9}, {"N", 11}, {"K", 13}}},
    {"i8gemm_relu", "gemmini", kThree, "i8gemm_relu", {{"M", 9}, {"N", 11}, {"K", 13}}},
    {"ssoftmax", "gemmini", "kernels/softmax.exo", "ssoftmax", {{"M", 5}, {"N", 33}}},
    {"blur_ui16", "gemmini", "kernels/image.exo", "blur_ui16", {{"H", 6}, {"W", 16}}},
};
INSTANTIATE_TEST_SUITE_P(Core, OnSpike, testing::ValuesIn(kCore),
                         [](const auto& info) { return info.param.name; });

// Factors of all settings, pixels in four rows, sums that begin with bytes, a maximum of sums.
const std::string kOtherForms = R"(from gemmini import *
@proc
def f(s: f32, t: f32, u: f32, A: i8[10, 4], B: i8[16, 8], D: i8[6, 8], I: i8[6, 8], C: i32[6, 8], P: i8[3, 8]):
    a: i8[16, 16] @ GEMM_SCRATCH
    b: i8[16, 16] @ GEMM_SCRATCH
    d: i8[16, 16] @ GEMM_SCRATCH
    c: i32[2, 6, 16] @ GEMM_ACCUM
    config_ld_repeated_i8(stride(A, 0))
    do_ld_repeated_i8(10, A[0:10, 0:4], a[0:13, 0:16])
    config_ld_scaled_i8_id1(stride(B, 0), s)
    do_ld_scaled_i8_id1(16, 8, B[0:16, 0:8], b[0:16, 0:16])
    config_ld_scaled_i8(stride(D, 0), u)
    do_ld_scaled_i8(6, 8, D[0:6, 0:8], d[0:6, 0:16])
    config_matmul()
    do_matmul_add_i8(6, 8, 16, a[3:9, 0:16], b[0:16, 0:16], d[0:6, 0:16], c[0, 0:6, 0:16])
    config_ld_acc_scaled_i8(stride(I, 0), t)
    do_ld_acc_scaled_i8(6, 8, I[0:6, 0:8], c[1, 0:6, 0:16])
    st_acc_i32(6, 8, c[0, 0:6, 0:16], C[0:6, 0:8])
    st_pool2_acc_i8(3, 8, c[0:2, 0:6, 0:16], P[0:3, 0:8])
)";

const Program kArray[] = {
    {"i8gemm_scaled_by_hand",
     "gemmini",
     kThree,
     "i8gemm_scaled",
     {{"M", 256}, {"N", 256}, {"K", 512}, {"act", 1}},
     true,
     "kernels/i8gemm_scaled_gemmini.sched"},
    {"i8gemm_scaled_found",
     "gemmini",
     kThree,
     "i8gemm_scaled",
     {{"M", 64}, {"N", 64}, {"K", 64}, {"act", 1}},
     true,
     "search"},
    {"i8gemm_scaled_odd",
     "gemmini",
     kThree,
     "i8gemm_scaled",
     {{"M", 50}, {"N", 33}, {"K", 77}, {"act", 0}},
     true,
     "search"},
    {"i8conv3x3_scaled_found",
     "gemmini",
     "kernels/convolution.exo",
     "i8conv3x3_scaled",
     {{"B", 1}, {"H", 14}, {"W", 14}, {"IC", 32}, {"OC", 32}, {"act", 1}},
     true,
     "search"},
    {"pool_found",
     "gemmini",
     "docs/examples/pool.exo",
     "maxpool2",
     {{"B", 1}, {"H", 4}, {"W", 12}, {"C", 32}},
     true,
     "search"},
    {"conv_pool_found",
     "gemmini",
     "docs/examples/conv_pool.exo",
     "i8conv3x3_pool2",
     {{"B", 1}, {"H", 2}, {"W", 14}, {"IC", 32}, {"OC", 32}, {"act", 1}},
     true,
     "search"},
    {"other_forms", "gemmini", kOtherForms, "", {}, true},
};
INSTANTIATE_TEST_SUITE_P(Array, OnSpike, testing::ValuesIn(kArray),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace exotune
