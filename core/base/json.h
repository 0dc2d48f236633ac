#pragma once
// Json: a JSON value, as a text is made of it and as one is read. Start at Json::parse and str().
//
//   Json record = {{"name", "saxpy"}, {"sizes", sizes}};   // an object, in the order written
//   record["seconds"] = 0.25;
//   write(record.str(2));
//
// The door to nlohmann/json, which takes seconds to compile wherever it is included: json.cc alone
// does. Texts come from other machines and other programs, so reading refuses and never guesses.
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace exotune {

/// A value: copies are deep. Numbers are integers as long as an int64_t holds them.
class Json {
 public:
  using List = std::vector<Json>;
  using Field = std::pair<std::string, Json>;
  using Fields = std::vector<Field>;  // in the order they were written

  Json() = default;  // null
  Json(bool flag) : value_(flag) {}
  Json(double number) : value_(number) {}
  template <std::integral T>
  Json(T number) : value_(static_cast<int64_t>(number)) {}
  Json(std::string text) : value_(std::move(text)) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(List list) : value_(std::move(list)) {}
  Json(std::initializer_list<Field> fields) : value_(Fields(fields)) {}
  template <class T>
  Json(const std::vector<T>& list) : value_(List(list.begin(), list.end())) {}
  template <class T>
  Json(const std::map<std::string, T>& fields) : value_(Fields(fields.begin(), fields.end())) {}
  static Json object() { return Json(std::initializer_list<Field>()); }

  /// Null for a text that is no JSON, or nested more than a hundred deep. A name that is given
  /// twice has its last value.
  static std::optional<Json> parse(const std::string& text);
  /// One line, or with an indent one value a line. Bytes that are no UTF-8 are replaced, numbers
  /// that are not finite are null.
  std::string str(int indent = -1) const;

  /// The field of that name, made null if there is none; null becomes an object.
  Json& operator[](const std::string& name);
  /// Appends; null becomes a list.
  void add(Json value);

  /// Null where the value is of another type.
  const bool* flag() const { return std::get_if<bool>(&value_); }
  const int64_t* integer() const { return std::get_if<int64_t>(&value_); }
  std::optional<double> number() const;  // of integers too
  const std::string* text() const { return std::get_if<std::string>(&value_); }
  const List* list() const { return std::get_if<List>(&value_); }
  const Fields* fields() const { return std::get_if<Fields>(&value_); }
  /// Null where this is no object, or has none of that name.
  const Json* find(const std::string& name) const;

  bool operator==(const Json&) const = default;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, List, Fields> value_;
};

}  // namespace exotune
