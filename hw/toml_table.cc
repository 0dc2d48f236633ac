#include "hw/toml_table.h"

#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace exotune {

namespace fs = std::filesystem;

// Shared by all tables of one file: each keeps it alive, and points at its own node in it.
struct TomlTable::File {
  std::shared_ptr<const std::string> name;
  toml::table root;
};

namespace {

// The header names no type of toml++, which few files need to read.
const toml::table& as_table(const void* table) { return *static_cast<const toml::table*>(table); }

SourceLocation locate(std::shared_ptr<const std::string> name, const toml::source_position& at) {
  return {std::move(name), static_cast<int>(at.line), static_cast<int>(at.column)};
}

}  // namespace

TomlTable TomlTable::read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    std::error_code failed;
    throw InputError({}, "cannot read '" + file.string() + "'",
                     fs::exists(file, failed)
                         ? "check its permissions"
                         : "paths are taken from " + fs::current_path(failed).string());
  }
  std::ostringstream text;
  text << in.rdbuf();
  return parse(text.str(), file.string());
}

TomlTable TomlTable::parse(std::string_view text, const std::string& file_name) {
  auto file = std::make_shared<File>();
  file->name = std::make_shared<const std::string>(file_name);
  try {
    file->root = toml::parse(text, file_name);
  } catch (const toml::parse_error& error) {
    // The parser's own words, at its place.
    throw InputError(locate(file->name, error.source().begin), std::string(error.description()));
  }
  const void* root = &file->root;
  return TomlTable(std::move(file), root);
}

bool TomlTable::has(std::string_view key) const { return as_table(table_).contains(key); }

bool TomlTable::is_text(std::string_view key) const { return as_table(table_)[key].is_string(); }

std::vector<std::string> TomlTable::keys() const {
  std::vector<std::string> names;
  // toml++ keeps keys sorted already, which it does not promise.
  for (const auto& [key, value] : as_table(table_)) names.emplace_back(key.str());
  std::sort(names.begin(), names.end());
  return names;
}

SourceLocation TomlTable::where(std::string_view key) const {
  // Of a key: its value; of none: the table itself.
  const toml::node* node = key.empty() ? nullptr : as_table(table_).get(key);
  const toml::source_region& region = node ? node->source() : as_table(table_).source();
  SourceLocation at = locate(file_->name, region.begin);
  if (!at.known()) at.line = at.column = 1;  // the root table has no place of its own
  return at;
}

void TomlTable::allow_only(const std::vector<std::string>& known) const {
  // A misspelt key would be a default that nobody chose.
  for (const auto& [key, value] : as_table(table_)) {
    const std::string name(key.str());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = nearest(name, known);
    std::string all;
    for (const std::string& k : known) all += (all.empty() ? "known keys: " : ", ") + k;
    throw InputError(locate(file_->name, key.source().begin), "unknown key '" + name + "'",
                     near.empty() ? all : "did you mean '" + near + "'?");
  }
}

void TomlTable::expected(std::string_view key, const char* what) const {
  if (!has(key)) throw InputError(where(), "missing key '" + std::string(key) + "' (" + what + ")");
  throw InputError(where(key), "'" + std::string(key) + "' must be " + what);
}

std::string TomlTable::text(std::string_view key) const {
  if (auto v = as_table(table_)[key].value_exact<std::string>()) return *v;
  expected(key, "a string");
}

int64_t TomlTable::integer(std::string_view key) const {
  // exact: 1.0 is no integer, and a number is no string.
  if (auto v = as_table(table_)[key].value_exact<int64_t>()) return *v;
  expected(key, "an integer");
}

double TomlTable::number(std::string_view key) const {
  const auto node = as_table(table_)[key];
  if (auto v = node.value_exact<double>()) return *v;
  // A number may be written without a point.
  if (auto v = node.value_exact<int64_t>()) return static_cast<double>(*v);
  expected(key, "a number");
}

bool TomlTable::boolean(std::string_view key) const {
  if (auto v = as_table(table_)[key].value_exact<bool>()) return *v;
  expected(key, "true or false");
}

TomlTable TomlTable::table(std::string_view key) const {
  if (const toml::table* t = as_table(table_)[key].as_table()) return TomlTable(file_, t);
  expected(key, "a table");
}

std::string TomlTable::text_or(std::string_view key, std::string absent) const {
  // A key of the wrong type is an error, also where it may be absent.
  return has(key) ? text(key) : std::move(absent);
}
int64_t TomlTable::integer_or(std::string_view key, int64_t absent) const {
  return has(key) ? integer(key) : absent;
}
double TomlTable::number_or(std::string_view key, double absent) const {
  return has(key) ? number(key) : absent;
}
bool TomlTable::boolean_or(std::string_view key, bool absent) const {
  return has(key) ? boolean(key) : absent;
}

std::vector<std::string> TomlTable::texts(std::string_view key) const {
  std::vector<std::string> out;
  // A list that is left out is empty.
  if (!has(key)) return out;
  const toml::array* array = as_table(table_)[key].as_array();
  if (!array) expected(key, "a list of strings");
  for (const toml::node& node : *array) {
    const auto v = node.value_exact<std::string>();
    if (!v)
      throw InputError(locate(file_->name, node.source().begin),
                       "'" + std::string(key) + "' must be a list of strings");
    out.push_back(*v);
  }
  return out;
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) const {
  std::vector<TomlTable> out;
  if (!has(key)) return out;
  const toml::array* array = as_table(table_)[key].as_array();
  if (!array) expected(key, "a list of tables");
  for (const toml::node& node : *array) {
    const toml::table* t = node.as_table();
    if (!t)
      throw InputError(locate(file_->name, node.source().begin),
                       "'" + std::string(key) + "' must be a list of tables");
    out.push_back(TomlTable(file_, t));
  }
  return out;
}

// As text, for options that are handed on to whoever reads them.
std::string TomlTable::scalar(std::string_view key) const {
  const toml::node* node = as_table(table_).get(key);
  if (!node) expected(key, "a value");
  if (auto v = node->value_exact<std::string>()) return *v;
  if (node->is_table() || node->is_array()) expected(key, "a string, number or boolean");
  std::ostringstream out;
  node->visit([&](const auto& value) {
    if constexpr (toml::is_value<decltype(value)>) out << value;
  });
  return out.str();
}

}  // namespace exotune
