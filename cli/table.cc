#include "cli/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/base/json.h"

namespace exotune::cli {
namespace {

bool is_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && std::isfinite(value);
}

// Code points of UTF-8 text: what it takes on a terminal.
size_t width(const std::string& text) {
  size_t count = 0;
  for (const char c : text) count += (c & 0xC0) != 0x80;
  return count;
}

std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace

Format parse_format(const std::string& text) {
  if (text == "table") return Format::kTable;
  if (text == "json") return Format::kJson;
  if (text == "csv") return Format::kCsv;
  const std::string near = nearest(text, {"table", "json", "csv"});
  throw InputError({}, "--format: unknown format '" + text + "'",
                   near.empty() ? "table, json or csv" : "did you mean '" + near + "'?");
}

Table::Table(std::vector<std::string> columns, const std::vector<std::string>& numbers)
    : columns_(std::move(columns)) {
  for (const std::string& column : columns_)
    numeric_.push_back(std::find(numbers.begin(), numbers.end(), column) != numbers.end());
}

void Table::add(std::vector<std::string> row) {
  EXO_CHECK(row.size() == columns_.size());
  rows_.push_back(std::move(row));
}

std::string Table::str(Format format) const {
  switch (format) {
    case Format::kTable:
      return table();
    case Format::kJson:
      return json();
    case Format::kCsv:
      return csv();
  }
  return "";
}

std::string Table::table() const {
  std::vector<size_t> widths;
  std::vector<bool> right;
  for (size_t c = 0; c < columns_.size(); ++c) {
    widths.push_back(width(columns_[c]));
    bool numbers = !rows_.empty();
    for (const auto& row : rows_) {
      widths[c] = std::max(widths[c], width(row[c]));
      numbers = numbers && (row[c].empty() || is_number(row[c]));
    }
    right.push_back(numbers);
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out;
    for (size_t c = 0; c < cells.size(); ++c) {
      const std::string pad(widths[c] - width(cells[c]), ' ');
      out += right[c] ? pad + cells[c] : cells[c] + pad;
      out += "  ";
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n";
  };
  std::string out = line(columns_);
  std::vector<std::string> rule;
  for (const size_t w : widths) rule.push_back(std::string(w, '-'));
  out += line(rule);
  for (const auto& row : rows_) out += line(row);
  return out;
}

std::string Table::json() const {
  Json all = Json::List();
  for (const auto& row : rows_) {
    Json object = Json::object();
    for (size_t c = 0; c < columns_.size(); ++c) {
      Json& cell = object[columns_[c]];
      cell = row[c];
      if (!numeric_[c]) continue;
      if (row[c].empty()) cell = Json();
      if (is_number(row[c])) cell = Json::parse(row[c]).value_or(row[c]);
    }
    all.add(std::move(object));
  }
  return all.str(2) + "\n";
}

std::string Table::csv() const {
  const auto line = [](const std::vector<std::string>& cells) {
    std::string out;
    for (size_t c = 0; c < cells.size(); ++c) out += (c == 0 ? "" : ",") + csv_cell(cells[c]);
    return out + "\n";
  };
  std::string out = line(columns_);
  for (const auto& row : rows_) out += line(row);
  return out;
}

std::string number(double value) {
  if (std::isnan(value)) return "";
  if (value != 0 && (std::fabs(value) >= 1e7 || std::fabs(value) < 1e-3))
    return fmt::format("{:.2e}", value);
  if (std::fabs(value) >= 100) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g}", value);
}

}  // namespace exotune::cli
