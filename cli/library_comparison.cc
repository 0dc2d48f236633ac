#include "cli/library_comparison.h"

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "cli/interrupt.h"
#include "cli/text_file.h"
#include "runners/toolchain.h"
#include "search/families/bench_reasons.h"
#include "search/families/library_bench.h"

namespace exotune::cli {
namespace {
namespace fs = std::filesystem;

fs::path shared_object(const std::string& folder) {
  return fs::absolute(fs::path(folder) / "lib" / "libexo-blas.so.0");
}

Table every_point(const std::vector<families::BenchPoint>& points,
                  const std::vector<std::string>& names) {
  std::vector<std::string> columns = {"routine", "n", "us", "GFLOP/s"};
  columns.insert(columns.end(), names.begin(), names.end());
  for (const std::string& name : names) columns.push_back(name + " cold");
  std::vector<std::string> numbers(columns.begin() + 1, columns.end());
  Table table(columns, numbers);
  for (const families::BenchPoint& point : points) {
    std::vector<std::string> row = {point.title, std::to_string(point.n),
                                    number(point.seconds * 1e6), number(point.gflops)};
    for (const double ratio : point.ratios) row.push_back(number(ratio));
    for (const double ratio : point.cold) row.push_back(number(ratio));
    table.add(std::move(row));
  }
  return table;
}

void print_summary(const std::vector<families::BenchPoint>& points, int vector_bytes) {
  const std::vector<std::string> numbers = {"sizes", "against the best", "least", "cold",
                                            "least cold"};
  Table table({"routine", "sizes", "against the best", "least", "cold", "least cold"}, numbers);
  std::string last;
  for (const families::BenchPoint& point : points) {
    if (point.title == last) continue;
    last = point.title;
    const families::Mean mean = families::mean_of(points, last);
    const families::Mean cold = families::cold_mean_of(points, last);
    table.add({last, std::to_string(mean.points), number(mean.value), number(mean.least),
               number(cold.value), number(cold.least)});
  }
  std::fputs(table.str(Format::kTable).c_str(), stdout);
  Table worst({"the worst", "n", "against the best", "bound by"}, {"n", "against the best"});
  for (const families::BenchPoint& point : families::worst_of(points, 10))
    worst.add({point.title, std::to_string(point.n), number(point.against_best()),
               families::bound_of(point, points, vector_bytes)});
  std::fputs(("\n" + worst.str(Format::kTable)).c_str(), stdout);
}

}  // namespace

bool is_blas_library(const std::string& folder) { return fs::exists(shared_object(folder)); }

ExitCode compare_library(const LibraryComparison& request) {
  const TargetToolchain toolchain = toolchain_of(*request.target);
  PeerOptions wanted;
  wanted.only = request.only_peers;
  const std::vector<families::Rival> rivals =
      families::load_rivals(discover_peers(toolchain, wanted).peers, toolchain,
                            (fs::path(request.folder) / "rivals").string());
  const families::Rival ours("exo-blas", {shared_object(request.folder).string()});
  std::vector<std::string> names;
  for (const families::Rival& rival : rivals) names.push_back(rival.name());
  watch_interrupts();
  families::LibraryBenchOptions options;
  options.routines = request.routines;
  options.most = request.most;
  options.interrupted = interrupted;
  const std::vector<families::BenchPoint> points = families::bench_library(ours, rivals, options);
  if (request.format != Format::kTable) {
    std::fputs(every_point(points, names).str(request.format).c_str(), stdout);
    return interrupted() ? ExitCode::kInterrupted : ExitCode::kOk;
  }
  print_summary(points, request.vector_bytes);
  const std::string page =
      request.page.empty() ? (fs::path(request.folder) / "heat-map.html").string() : request.page;
  write_text_file(page, families::heat_map_page(points, names, "exo-blas against other libraries"));
  std::printf("\n%s\n", page.c_str());
  return interrupted() ? ExitCode::kInterrupted : ExitCode::kOk;
}

}  // namespace exotune::cli
