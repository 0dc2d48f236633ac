// Matrix products of one volume and many shapes, each tuned for its size, against the peers: from a
// few long rows to a few long columns.
//
//   bench_sweep [--kernel sgemm] [--target avx512] [--k 512] [--area 262144] [--seconds 30]
//               [--db FILE] [M...]
//
// M x N = area, M from 8 to area / 8 in powers of two (or as given). One line per shape: our speed,
// our share of the measured peak, and our speed over each peer's, paired in one process. Then the
// least and the geometric mean of our speed over the better of OpenBLAS and BLIS. With --db what
// was measured once is not measured again.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "search/tuner.h"

namespace exotune {
namespace {

struct Options {
  std::string kernel = "sgemm", target = "avx512", database;
  int64_t k = 512, area = 512 * 512;
  double seconds = 30;
  std::vector<int64_t> rows;
};

const char* const kPeers[] = {"openblas", "blis", "eigen", "onednn"};

double against(const TuneResult& result, const std::string& peer) {
  for (const PeerRow& row : result.peers)
    if (row.name == peer) return row.ratio.median;
  return 0;
}

int run(const Options& options) {
  TargetLibrary targets({EXOTUNE_SOURCE_DIR "/hw"});
  const KernelTable table = load_kernel_table(EXOTUNE_SOURCE_DIR "/kernels");
  TuneRequest request;
  request.kernel = table.at(options.kernel);
  request.proc = request.kernel.load(targets.importer());
  request.target = targets.load(options.target);
  request.machine = probe_machine();
  request.time_budget_seconds = options.seconds;
  const auto store = options.database.empty() ? make_memory_store() : open_store(options.database);
  std::printf("%7s %7s %6s  GFLOP/s  peak %%", "M", "N", "K");
  for (const char* peer : kPeers) std::printf("  %8s", peer);
  std::printf("  proof\n");
  double least = INFINITY, logarithms = 0;
  int compared = 0;
  for (const int64_t m : options.rows) {
    request.sizes = {{"M", m}, {"N", options.area / m}, {"K", options.k}};
    request.representative = request.sizes;
    const TuneResult result = tune(request, *store);
    std::printf("%7lld %7lld %6lld", static_cast<long long>(m),
                static_cast<long long>(options.area / m), static_cast<long long>(options.k));
    if (result.winner == nullptr) {
      std::printf("  no valid candidate\n");
      continue;
    }
    std::printf("  %7.1f  %6.1f", result.gflops,
                result.peak_gflops > 0 ? 100 * result.gflops / result.peak_gflops : 0);
    double bar = INFINITY;
    for (const char* peer : kPeers) {
      const double ratio = against(result, peer);
      if (ratio > 0)
        std::printf("  %8.3f", ratio);
      else
        std::printf("  %8s", "-");
      if (ratio > 0 && (peer == kPeers[0] || peer == kPeers[1])) bar = std::min(bar, ratio);
    }
    std::printf("  %s\n", proof_level_name(result.proof));
    std::fflush(stdout);
    if (!std::isfinite(bar)) continue;
    least = std::min(least, bar);
    logarithms += std::log(bar);
    ++compared;
  }
  if (compared > 0)
    std::printf("over the better of OpenBLAS and BLIS: at least %.3f, geometric mean %.3f\n", least,
                std::exp(logarithms / compared));
  return 0;
}

int usage() {
  std::fprintf(stderr,
               "usage: bench_sweep [--kernel NAME] [--target NAME] [--k N] [--area N] "
               "[--seconds S] [--db FILE] [M...]\n");
  return 2;
}

}  // namespace
}  // namespace exotune

int main(int argc, char** argv) {
  exotune::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool takes_value = word.rfind("--", 0) == 0;
    if (takes_value && i + 1 == argc) return exotune::usage();
    if (word == "--kernel")
      options.kernel = argv[++i];
    else if (word == "--target")
      options.target = argv[++i];
    else if (word == "--db")
      options.database = argv[++i];
    else if (word == "--k")
      options.k = std::atoll(argv[++i]);
    else if (word == "--area")
      options.area = std::atoll(argv[++i]);
    else if (word == "--seconds")
      options.seconds = std::atof(argv[++i]);
    else if (!takes_value && std::atoll(argv[i]) > 0)
      options.rows.push_back(std::atoll(argv[i]));
    else
      return exotune::usage();
  }
  if (options.k < 1 || options.area < 1) return exotune::usage();
  if (options.rows.empty())
    for (int64_t m = 8; m <= options.area / 8; m *= 2) options.rows.push_back(m);
  try {
    return exotune::run(options);
  } catch (const exotune::Error& e) {
    std::fprintf(stderr, "%s", e.diagnostic().str().c_str());
    return static_cast<int>(e.exit_code());
  }
}
