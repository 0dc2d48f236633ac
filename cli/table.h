#pragma once
// A result as rows, printed the way --format asks: an aligned table for people, JSON or CSV for
// programs.
#include <string>
#include <vector>

namespace exotune::cli {

enum class Format { kTable, kJson, kCsv };

/// "table", "json" or "csv"; InputError with the nearest otherwise.
Format parse_format(const std::string& text);

class Table {
 public:
  /// Cells of the columns `numbers` are numbers in JSON, and null where they are empty; those of
  /// the others are strings, whatever they look like.
  explicit Table(std::vector<std::string> columns, const std::vector<std::string>& numbers = {});
  /// One cell per column.
  void add(std::vector<std::string> row);
  bool empty() const { return rows_.empty(); }
  size_t rows() const { return rows_.size(); }

  /// Ends in a newline. A column whose cells are all numbers is right-aligned in the table; JSON is
  /// an array of objects; CSV follows RFC 4180.
  std::string str(Format format) const;

 private:
  std::string table() const;
  std::string json() const;
  std::string csv() const;
  std::vector<std::string> columns_;
  std::vector<bool> numeric_;  // by column
  std::vector<std::vector<std::string>> rows_;
};

/// `value` with three significant digits: "221", "0.0123", "3.14e-07"; "" for NaN.
std::string number(double value);

}  // namespace exotune::cli
