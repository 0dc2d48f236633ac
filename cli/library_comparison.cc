#include "cli/library_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "cli/interrupt.h"
#include "cli/text_file.h"
#include "runners/toolchain.h"
#include "search/families/bench_reasons.h"
#include "search/families/library_bench.h"

namespace exotune::cli {
namespace {
namespace fs = std::filesystem;

// Of a library with threads, in processes of its own.
constexpr int kRoundsOfProcesses = 5;

fs::path shared_object(const std::string& folder) {
  return fs::absolute(fs::path(folder) / "lib" / "libexo-blas.so.0");
}

Table every_point(const std::vector<families::BenchPoint>& points,
                  const std::vector<std::string>& names) {
  std::vector<std::string> columns = {"routine", "n", "us", "GFLOP/s"};
  columns.insert(columns.end(), names.begin(), names.end());
  const bool has_cold = std::any_of(points.begin(), points.end(),
                                    [](const auto& point) { return !point.cold.empty(); });
  if (has_cold)
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
    const auto of_cold = [&](double value) { return cold.points == 0 ? "-" : number(value); };
    table.add({last, std::to_string(mean.points), number(mean.value), number(mean.least),
               of_cold(cold.value), of_cold(cold.least)});
  }
  std::fputs(table.str(Format::kTable).c_str(), stdout);
  Table worst({"the worst", "n", "against the best", "bound by"}, {"n", "against the best"});
  for (const families::BenchPoint& point : families::worst_of(points, 10))
    worst.add({point.title, std::to_string(point.n), number(point.against_best()),
               families::bound_of(point, points, vector_bytes)});
  std::fputs(("\n" + worst.str(Format::kTable)).c_str(), stdout);
}

std::vector<families::BenchPoint> measured_points(
    const LibraryComparison& request, const std::vector<families::RivalLibrary>& rivals) {
  families::LibraryBenchOptions options;
  options.routines = request.routines;
  options.most = request.most;
  options.interrupted = interrupted;
  families::RivalLibrary ours;
  ours.name = "exo-blas";
  ours.paths = {shared_object(request.folder).string()};
  if (request.threads > 1) {
    options.rounds = kRoundsOfProcesses;
    return families::bench_library_threads(ours, rivals, request.threads, options);
  }
  std::vector<families::Rival> loaded;
  for (const families::RivalLibrary& rival : rivals) loaded.push_back(families::load_rival(rival));
  return families::bench_library(families::load_rival(ours), loaded, options);
}

}  // namespace

bool is_blas_library(const std::string& folder) { return fs::exists(shared_object(folder)); }

std::vector<std::string> targets_of_library(const std::string& folder) {
  const std::string prefix = "CC_";
  std::vector<std::string> targets;
  std::ifstream makefile(fs::path(folder) / "src" / "Makefile");
  for (std::string line; std::getline(makefile, line);)
    if (line.rfind(prefix, 0) == 0)
      targets.push_back(line.substr(prefix.size(), line.find(' ') - prefix.size()));
  return targets;
}

ExitCode compare_library(const LibraryComparison& request) {
  const TargetToolchain toolchain = toolchain_of(*request.target);
  PeerOptions wanted;
  wanted.only = request.only_peers;
  std::vector<families::RivalLibrary> rivals =
      families::rival_libraries(discover_peers(toolchain, wanted).peers, toolchain,
                                (fs::path(request.folder) / "rivals").string());
  if (request.threads > 1) std::erase_if(rivals, [](const auto& r) { return !r.has_threads; });
  std::vector<std::string> names;
  for (const families::RivalLibrary& rival : rivals) names.push_back(rival.name);
  watch_interrupts();
  const std::vector<families::BenchPoint> points = measured_points(request, rivals);
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
