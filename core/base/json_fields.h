#pragma once
// JsonFields: a JSON object that another process wrote, whose reader says what it expects; every
// mistake is an InputError that names what was read.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace exotune {

using JsonLists = std::vector<std::vector<std::string>>;
using JsonValue = std::variant<std::string, double, bool, JsonLists>;
using JsonEntry = std::pair<const char*, JsonValue>;

/// One field a line, in the order given; bytes that are no UTF-8 are replaced.
std::string json_text(const std::vector<JsonEntry>& fields);

/// Nothing is guessed: an absent field, another type or a number that is not finite refuses, and
/// the message says what was read and which field. Cheap to copy; parts keep the whole text alive.
class JsonFields {
 public:
  /// `what` it is, for messages: a file, "the answer for saxpy". `format`: what its field of that
  /// name must say; "" where it has none.
  JsonFields(const std::string& text, std::string what, const std::string& format = "");

  /// Each refuses what is absent or of another type.
  std::string text(const char* key) const;
  double number(const char* key) const;  // finite
  int64_t integer(const char* key) const;
  bool flag(const char* key) const;
  std::vector<std::string> texts(const char* key) const;
  JsonLists lists(const char* key) const;  // of lists of strings
  /// An object whose values are all strings.
  std::map<std::string, std::string> texts_by_name(const char* key) const;
  JsonFields object(const char* key) const;
  std::vector<JsonFields> objects(const char* key) const;
  bool has(const char* key) const;
  /// InputError: "`what`: why".
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  struct Object;
  JsonFields(std::shared_ptr<const Object> object, std::string what);

  std::string what_;
  std::shared_ptr<const Object> object_;
};

}  // namespace exotune
