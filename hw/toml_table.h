#pragma once
// TomlTable: a table of a TOML file whose reader says what it expects, so that every mistake in a
// target, kernel table or runner record is an InputError with file, line, column and, for a key
// that nobody reads, the nearest key that exists.
//
// A table is a cheap handle on the parsed file. `child` tables and their files live as long as any
// handle does.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/diagnostic.h"

namespace exotune {

/// All refusals are InputErrors at the key's place. Reading is linear in the text; asking is a
/// look-up.
class TomlTable {
 public:
  /// Refuses (InputError) a file that cannot be read or does not parse.
  static TomlTable read(const std::filesystem::path& file);
  /// The same from text; `file_name` is for messages.
  static TomlTable parse(std::string_view text, const std::string& file_name);

  bool has(std::string_view key) const;
  bool is_text(std::string_view key) const;  // present and a string
  std::vector<std::string> keys() const;     // sorted
  /// Where the key's value (or, absent, the table) stands.
  SourceLocation where(std::string_view key = {}) const;
  /// Refuses any key that is not in `known`.
  void allow_only(const std::vector<std::string>& known) const;

  // Each refuses an absent key or a value of another type; an integer is also a number.
  std::string text(std::string_view key) const;
  int64_t integer(std::string_view key) const;
  double number(std::string_view key) const;
  bool boolean(std::string_view key) const;
  TomlTable table(std::string_view key) const;
  // Each takes the absent key as the given value (or as none), and refuses another type.
  std::string text_or(std::string_view key, std::string absent) const;
  int64_t integer_or(std::string_view key, int64_t absent) const;
  double number_or(std::string_view key, double absent) const;
  bool boolean_or(std::string_view key, bool absent) const;
  std::vector<std::string> texts(std::string_view key) const;
  std::vector<TomlTable> tables(std::string_view key) const;  // [[key]], or key = [{...}, ...]
  /// The value as it is written, of any scalar type: "4", "true", "abc".
  std::string scalar(std::string_view key) const;

 private:
  struct File;
  TomlTable(std::shared_ptr<const File> file, const void* table)
      : file_(std::move(file)), table_(table) {}
  [[noreturn]] void expected(std::string_view key, const char* what) const;

  std::shared_ptr<const File> file_;
  const void* table_;  // toml::table inside file_
};

}  // namespace exotune
