// Every parallel loop that the programs of this repository have or may be given: kernels, golden
// files, examples, and generated programs with static memory, windows, calls and nested loops. All
// run on four threads and under the thread sanitizer, many procs to a program.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>

#include "core/frontend/parser.h"
#include "core/ir/printer.h"
#include "core/primitives/primitives.h"
#include "hw/kernel_table.h"
#include "tests/emitted/c_program.h"
#include "tests/exhaustive/generator.h"
#include "tests/exhaustive/trial.h"

namespace exotune::emitted {
namespace {
namespace fs = std::filesystem;

/// The proc with the loop at `at` parallel, or null.
ProcPtr parallel_at(const ProcPtr& p, const Path& at) {
  const StmtPtr s = stmt_at(*p, at);
  const For* f = s ? s->as<For>() : nullptr;
  if (!f || f->mode == LoopMode::kPar) return nullptr;
  try {
    return parallelize_loop(p, Cursor::stmt(p, at));
  } catch (const SchedulingError&) {
    return nullptr;
  }
}

/// `p` with each loop parallel that may be, one at a time, and with all of them.
std::vector<ProcPtr> parallel_forms(const ProcPtr& p) {
  std::vector<ProcPtr> out;
  ProcPtr all = p;
  for (const Path& at : all_stmt_paths(*p)) {
    if (const ProcPtr one = parallel_at(p, at)) out.push_back(one);
    if (const ProcPtr more = parallel_at(all, at)) all = more;
  }
  if (parallel_loops(*all) > 1 || out.empty()) out.push_back(all);
  return out;
}

class Batch {
 public:
  explicit Batch(std::string name) : name_(std::move(name)) {}

  /// One call, at the first sizes, all alike, that the proc takes.
  void add(const ProcPtr& p) {
    if (parallel_loops(*p) == 0) return;
    size_t number = 0;
    try {
      number = program_.add(p);
    } catch (const InputError&) {
      return;  // has no C: an instruction's device, a memory of another machine
    }
    bool called = false;
    for (const int64_t n : {5, 8, 9, 16, 64, 1}) {
      std::map<std::string, int64_t> sizes;
      for (const Arg& a : p->args)
        if (is_control(a.type.scalar)) sizes[a.name.name()] = n;
      FillOptions fill;
      fill.strided_windows = true;
      try {
        Arguments arguments = make_arguments(*p, sizes, 3, fill);
        for (const auto& b : arguments.buffers)
          for (double& v : b->data)
            if (v == 0) v = 1;  // solvers divide by diagonals
        called = program_.call(number, arguments);
      } catch (const InterpError&) {
      }
      if (called) break;
    }
    loops_ += called ? parallel_loops(*p) : 0;
  }

  void expect_right(int least) {
    EXPECT_GE(loops_, least) << name_;
    for (const Build& build : {four_threads(), thread_sanitizer()})
      for (const CProgram::Failure& f : program_.run(build))
        ADD_FAILURE() << name_ << ", " << build.flags.back() << ": " << f.what;
    std::cout << name_ << ": " << loops_ << " parallel loops of " << program_.procs()
              << " procs ran in " << program_.calls() << " calls\n";
  }

 private:
  std::string name_;
  CProgram program_;
  int loops_ = 0;
};

TEST(ParallelLoops, of_the_kernels) {
  Batch batch("kernels");
  const KernelTable table = load_kernel_table(fs::path(EXOTUNE_SOURCE_DIR) / "kernels");
  for (const KernelEntry& kernel : table.kernels())
    for (const ProcPtr& p : parallel_forms(kernel.load())) batch.add(p);
  batch.expect_right(50);
}

TEST(ParallelLoops, of_golden_files_and_examples) {
  Batch batch("golden");
  for (const char* folder : {"tests/golden", "docs/examples"})
    for (const auto& entry : fs::directory_iterator(fs::path(EXOTUNE_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".exo") continue;
      if (entry.path().stem() == "tiles") continue;  // instructions of no machine
      std::ifstream in(entry.path());
      const std::string text(std::istreambuf_iterator<char>(in), {});
      for (const ProcPtr& p : parse_module(text, entry.path().string()).user_procs())
        for (const ProcPtr& q : parallel_forms(p)) batch.add(q);
    }
  batch.expect_right(10);
}

/// `p` with each buffer of constant size in static memory.
ProcPtr with_static_memory(ProcPtr p) {
  for (const Path& at : all_stmt_paths(*p)) {
    const Alloc* a = stmt_at(*p, at)->as<Alloc>();
    if (!a) continue;
    bool constant = true;
    for (const ExprPtr& e : a->type.shape) constant &= as_int(e).has_value();
    if (constant) p = set_memory(p, Cursor::stmt(p, at), dram_static());
  }
  return p;
}

TEST(ParallelLoops, of_generated_programs) {
  using exhaustive::Grammar;
  static const Grammar grammars[] = {
      exhaustive::kBuffers,
      {.name = "calls",
       .max_leaves = 3,
       .max_depth = 3,
       .locals = true,
       .windows = true,
       .calls = true,
       .guards = true,
       .parallel = true},
      {.name = "config",
       .max_leaves = 3,
       .max_depth = 2,
       .locals = true,
       .config = true,
       .device = true,
       .parallel = true},
  };
  Batch batch("generated");
  for (const Grammar& g : grammars)
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      exhaustive::Sampled choices(seed);
      const ProcPtr p = exhaustive::generate(g, choices);
      if (!exhaustive::invalid(*p).empty()) continue;
      batch.add(with_static_memory(p));
      for (const ProcPtr& q : parallel_forms(p)) batch.add(with_static_memory(q));
    }
  batch.expect_right(60);
}

}  // namespace
}  // namespace exotune::emitted
