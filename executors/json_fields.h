#pragma once
// JsonFields: a small JSON object that a file of the shared folder holds, whose reader says what it
// expects; every mistake is an InputError that names the file. Private to this folder.
#include <initializer_list>
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

class JsonFields {
 public:
  /// `format`: what the field of that name must say.
  JsonFields(const std::string& text, std::string file, const std::string& format);
  ~JsonFields();
  std::string text(const char* key) const;
  double number(const char* key) const;  // finite
  bool flag(const char* key) const;
  JsonLists lists(const char* key) const;  // a list of lists of strings
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  struct Object;
  std::string file_;
  std::unique_ptr<Object> object_;
};

}  // namespace exotune
