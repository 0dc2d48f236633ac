// How far the libraries are from this machine's roof: every peer, every operation, by size, warm or
// cold. This is the bar a tuned kernel has to pass.
//
//   bench_peers [--target NAME] [--cold] [OPERATION...]
//
// One line per operation, precision and size: GFLOP/s (GB/s for levels 1 and 2) of each peer, the
// best last, and for level 3 its share of the measured peak.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "hw/machine.h"
#include "runners/machine_peak.h"
#include "runners/shootout.h"

namespace exotune {
namespace {

struct Workload {
  std::vector<ArgSpec> args;
  PeerProblem problem;
  double flops = 0, bytes = 0;
};

/// `n` is the order of matrices, the length of vectors.
Workload make_workload(BlasOp op, ElementType type, int64_t n) {
  Workload w;
  PeerProblem& p = w.problem;
  p.op = op;
  p.type = type;
  p.m = p.n = p.k = n;
  p.alpha.value = 2;
  p.beta.value = 1;
  const ElementType input = op == BlasOp::kDsdot ? ElementType::kF32 : type;
  const double width = static_cast<double>(element_bytes(input)), order = static_cast<double>(n);
  const auto add = [&](const char* name, std::vector<int64_t> shape, bool read, bool written) {
    w.args.push_back(ArgSpec::tensor(name, input, std::move(shape), read, written));
    return static_cast<int>(w.args.size()) - 1;
  };
  if (blas_level(op) == 3) {
    p.a = add("a", {n, n}, true, false);
    p.b = add("b", {n, n}, true, false);
    p.c = add("c", {n, n}, true, true);
    w.flops = 2 * order * order * order;
    w.bytes = 4 * width * order * order;
    return w;
  }
  const bool two_vectors = op != BlasOp::kScal && op != BlasOp::kAsum && op != BlasOp::kSyr &&
                           op != BlasOp::kTrmv && op != BlasOp::kTrsv;
  const bool result = op == BlasOp::kDot || op == BlasOp::kDsdot || op == BlasOp::kAsum;
  const bool writes_x = op == BlasOp::kScal || op == BlasOp::kSwap || op == BlasOp::kRot ||
                        op == BlasOp::kRotm || op == BlasOp::kTrmv || op == BlasOp::kTrsv;
  const bool writes_a = op == BlasOp::kGer || op == BlasOp::kSyr || op == BlasOp::kSyr2;
  const bool whole = op == BlasOp::kGemv || op == BlasOp::kGer;
  if (blas_level(op) == 2) {
    p.a = add("a", {n, n}, true, writes_a);
    w.flops = (whole || op == BlasOp::kSymv || op == BlasOp::kSyr2 ? 2.0 : 1.0) * order * order;
    w.bytes = (writes_a ? 2 : 1) * (whole ? 1 : 0.5) * width * order * order;
  }
  p.x = add("x", {n}, true, writes_x);
  if (two_vectors) p.y = add("y", {n}, true, !result && !writes_a);
  if (result) {
    p.result = static_cast<int>(w.args.size());
    w.args.push_back(ArgSpec::scalar("result", type, true, true));
  }
  if (blas_level(op) == 1) {
    const double vectors =
        1.0 + two_vectors + writes_x + (two_vectors && !result && op != BlasOp::kCopy);
    w.flops = 2 * order;
    w.bytes = vectors * width * order;
  }
  return w;
}

/// A diagonal that makes a triangular solve shrink what it solves, so that repeating it stays
/// finite.
TestCase make_case(const Workload& w) {
  TestCase test = make_inputs(w.args, 1);
  if (w.problem.op == BlasOp::kTrsv) {
    const int64_t n = w.problem.n;
    for (int64_t i = 0; i < n; ++i)
      test.inputs[0][static_cast<size_t>(i * n + i)] = static_cast<double>(4 * n);
  }
  return test;
}

void run_row(const TargetToolchain& toolchain, const PeerReport& report, BlasOp op,
             ElementType type, int64_t n, bool cold, const std::map<ElementType, double>& peaks) {
  const Workload w = make_workload(op, type, n);
  std::vector<Contender> field;
  for (const Peer& peer : report.peers)
    if (peer.supports(w.problem))
      field.push_back({peer.name, std::nullopt, PeerCall{peer, w.problem}});
  ShootoutOptions options;
  options.rounds = 9;
  options.batch_seconds = 3e-4;
  options.cold = cold;
  const ShootoutResult r = shootout(toolchain, field, w.args, make_case(w), options);
  const bool compute = blas_level(op) == 3;
  const char* letter = op == BlasOp::kDsdot ? "" : type == ElementType::kF32 ? "s" : "d";
  std::printf("%s%-6s %8lld", letter, blas_op_name(op), static_cast<long long>(n));
  for (const ContenderResult& c : r.contenders)
    std::printf("  %s %.1f", c.name.c_str(),
                c.median > 0 ? (compute ? w.flops : w.bytes) / c.median * 1e-9 : 0.0);
  if (r.fastest >= 0) {
    const ContenderResult& best = r.contenders[static_cast<size_t>(r.fastest)];
    std::printf("  | %s", best.name.c_str());
    if (compute) std::printf(" %.1f%%", 100 * w.flops / best.median * 1e-9 / peaks.at(type));
  }
  std::printf("\n");
  std::fflush(stdout);
}

/// The target's, or the best that this machine runs; plain C where it runs none.
TargetToolchain toolchain_for(const std::string& target) {
  const std::filesystem::path folder = EXOTUNE_SOURCE_DIR "/hw";
  if (!target.empty()) return toolchain_of(*load_target(target, {folder}));
  std::vector<TargetPtr> all;
  for (const std::string& name : list_targets({folder})) all.push_back(load_target(name, {folder}));
  const TargetPtr best = best_target(probe_machine(), all);
  return best ? toolchain_of(*best) : plain_toolchain();
}

int run(const std::string& target, bool cold, const std::vector<std::string>& wanted) {
  const TargetToolchain toolchain = toolchain_for(target);
  const PeerReport report = discover_peers(toolchain);
  for (const Peer& p : report.peers) std::printf("# %s: %s\n", p.name.c_str(), p.version.c_str());
  for (const std::string& a : report.absent) std::printf("# absent: %s\n", a.c_str());
  for (const std::string& c : report.cleared_environment) std::printf("# cleared: %s\n", c.c_str());
  std::map<ElementType, double> peaks;
  for (ElementType type : {ElementType::kF32, ElementType::kF64}) {
    peaks[type] = measure_peak(toolchain, type);
    std::printf("# peak %s: %.1f GFLOP/s\n", element_name(type), peaks[type]);
  }
  const std::vector<std::vector<int64_t>> sizes = {{40, 1000, 10'000, 100'000, 1'000'000},
                                                   {16, 40, 64, 100, 256, 1000},
                                                   {16, 33, 64, 96, 128, 250, 512}};
  for (BlasOp op : blas_ops()) {
    if (op == BlasOp::kConv2d || op == BlasOp::kRead || op == BlasOp::kGemm2)
      continue;  // no shapes of a single number
    if (!wanted.empty() &&
        std::find(wanted.begin(), wanted.end(), blas_op_name(op)) == wanted.end())
      continue;
    for (ElementType type : {ElementType::kF32, ElementType::kF64}) {
      if (op == BlasOp::kDsdot && type == ElementType::kF32) continue;
      for (int64_t n : sizes[static_cast<size_t>(blas_level(op) - 1)])
        run_row(toolchain, report, op, type, n, cold, peaks);
    }
  }
  return 0;
}

}  // namespace
}  // namespace exotune

int main(int argc, char** argv) {
  std::string target;
  bool cold = false;
  std::vector<std::string> wanted;
  for (int k = 1; k < argc; ++k) {
    if (!std::strcmp(argv[k], "--cold"))
      cold = true;
    else if (!std::strcmp(argv[k], "--target") && k + 1 < argc)
      target = argv[++k];
    else
      wanted.push_back(argv[k]);
  }
  try {
    return exotune::run(target, cold, wanted);
  } catch (const exotune::Error& e) {
    std::fprintf(stderr, "%s", e.diagnostic().str().c_str());
    return static_cast<int>(e.exit_code());
  }
}
