// The page of library_bench.h: one SVG a level, nothing loaded from elsewhere.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "search/families/library_bench.h"

namespace exotune::families {
namespace {

// Pixels.
constexpr int kCell = 40, kRow = 18, kLabel = 130;

std::string figure_text(double value, const char* format = "%.2f") {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

// Red below 1, white at 1, green above; the ends are factors of 2.
std::string colour_of(double ratio) {
  if (std::isnan(ratio)) return "#eee";
  const double t = std::clamp(std::log2(ratio), -1.0, 1.0);
  const int faded = static_cast<int>(255 * (1 - std::abs(t)));
  char buffer[16];
  if (t < 0)
    std::snprintf(buffer, sizeof buffer, "#ff%02x%02x", faded, faded);
  else
    std::snprintf(buffer, sizeof buffer, "#%02x%02x%02x", faded, 200 + faded * 55 / 255, faded);
  return buffer;
}

std::string cell(const BenchPoint& point, const std::vector<std::string>& rivals, int x, int y) {
  std::string title = point.title + ", n = " + std::to_string(point.n) + ": " +
                      figure_text(point.gflops, "%.3g") + " GFLOP/s";
  for (size_t k = 0; k < point.ratios.size(); ++k)
    title += "; " + rivals[k] + " " + figure_text(point.ratios[k]);
  const double ratio = point.against_best();
  return "<g><title>" + title + "</title><rect x=\"" + std::to_string(x) + "\" y=\"" +
         std::to_string(y) + "\" width=\"" + std::to_string(kCell) + "\" height=\"" +
         std::to_string(kRow) + "\" fill=\"" + colour_of(ratio) + "\"/><text x=\"" +
         std::to_string(x + kCell / 2) + "\" y=\"" + std::to_string(y + 13) +
         "\" text-anchor=\"middle\">" + (std::isnan(ratio) ? "" : figure_text(ratio)) +
         "</text></g>\n";
}

std::string short_number(int n) {
  if (n >= 1000000) return std::to_string(n / 1000000) + "M";
  return n >= 10000 ? std::to_string(n / 1000) + "k" : std::to_string(n);
}

std::string map_of_level(const std::vector<BenchPoint>& points,
                         const std::vector<std::string>& rivals, int level) {
  std::vector<std::string> titles;
  std::vector<int> sizes;
  for (const BenchPoint& point : points) {
    if (point.level != level) continue;
    if (std::find(titles.begin(), titles.end(), point.title) == titles.end())
      titles.push_back(point.title);
    if (std::find(sizes.begin(), sizes.end(), point.n) == sizes.end()) sizes.push_back(point.n);
  }
  if (titles.empty()) return "";
  std::sort(sizes.begin(), sizes.end());
  const int width = kLabel + kCell * static_cast<int>(sizes.size() + 1);
  const int height = kRow * static_cast<int>(titles.size() + 1) + 4;
  std::string svg = "<h2>Level " + std::to_string(level) + "</h2>\n<svg width=\"" +
                    std::to_string(width) + "\" height=\"" + std::to_string(height) + "\">\n";
  const auto label = [&](int x, int y, const std::string& text, const char* anchor) {
    svg += "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" text-anchor=\"" +
           anchor + "\">" + text + "</text>\n";
  };
  for (size_t k = 0; k < sizes.size(); ++k)
    label(kLabel + kCell * static_cast<int>(k) + kCell / 2, 13, short_number(sizes[k]), "middle");
  label(width - kCell / 2, 13, "mean", "middle");
  for (size_t row = 0; row < titles.size(); ++row) {
    const int y = kRow * static_cast<int>(row + 1);
    label(4, y + 13, titles[row], "start");
    for (const BenchPoint& point : points) {
      if (point.level != level || point.title != titles[row]) continue;
      const auto column = std::find(sizes.begin(), sizes.end(), point.n) - sizes.begin();
      svg += cell(point, rivals, kLabel + kCell * static_cast<int>(column), y);
    }
    label(width - kCell / 2, y + 13, figure_text(mean_of(points, titles[row]).value), "middle");
  }
  return svg + "</svg>\n";
}

}  // namespace

std::string heat_map_page(const std::vector<BenchPoint>& points,
                          const std::vector<std::string>& rivals, const std::string& heading) {
  std::string page =
      "<!doctype html>\n<html><head><meta charset=\"utf-8\"><title>" + heading +
      "</title>\n<style>body{font:14px sans-serif}svg text{font:11px sans-serif}"
      "td,th{padding:2px 10px;text-align:right}</style></head><body>\n<h1>" +
      heading +
      "</h1>\n<p>The fastest rival's time over ours, at each size: above 1 (green) ours is "
      "faster. Rivals:";
  for (const std::string& rival : rivals) page += " " + rival;
  page += ". One thread, warm caches.</p>\n";
  for (const int level : {1, 2, 3}) page += map_of_level(points, rivals, level);
  page +=
      "<h2>The worst ten points</h2>\n<table><tr><th>routine</th><th>n</th><th>ratio</th></tr>\n";
  for (const BenchPoint& point : worst_of(points, 10))
    page += "<tr><td>" + point.title + "</td><td>" + std::to_string(point.n) + "</td><td>" +
            figure_text(point.against_best()) + "</td></tr>\n";
  return page + "</table>\n</body></html>\n";
}

}  // namespace exotune::families
