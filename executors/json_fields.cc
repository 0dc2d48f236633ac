#include "executors/json_fields.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/diagnostic.h"

namespace exotune {
// Texts that travel between nodes, read without trust: a file may be half written, of another
// version or somebody else's. Whatever is missing or of another type is refused by its key; nothing
// is assumed.

using Json = nlohmann::ordered_json;

std::string json_text(const std::vector<JsonEntry>& fields) {
  Json json = Json::object();
  for (const auto& [key, value] : fields)
    std::visit([&, name = key](const auto& v) { json[name] = v; }, value);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

struct JsonFields::Object {
  Json json;

  const Json& field(const JsonFields& fields, const char* key) const {
    const auto at = json.find(key);
    if (at == json.end()) fields.refuse(std::string("'") + key + "' is missing");
    return *at;
  }
  const Json& list(const JsonFields& fields, const char* key) const {
    const Json& value = field(fields, key);
    if (!value.is_array()) fields.refuse(std::string("'") + key + "' is no list");
    return value;
  }
  static std::vector<std::string> strings(const JsonFields& fields, const char* key,
                                          const Json& list) {
    if (!list.is_array()) fields.refuse(std::string("'") + key + "' holds what is no list");
    std::vector<std::string> all;
    for (const Json& each : list) {
      if (!each.is_string()) fields.refuse(std::string("'") + key + "' holds what is no text");
      all.push_back(each.get<std::string>());
    }
    return all;
  }
};

JsonFields::JsonFields(const std::string& text, std::string what, const std::string& format)
    : what_(std::move(what)) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) refuse("it is no JSON object");
  object_ = std::make_shared<const Object>(Object{std::move(json)});
  if (!format.empty() && this->text("format") != format)
    refuse("its format is not '" + format + "'");
}

JsonFields::JsonFields(std::shared_ptr<const Object> object, std::string what)
    : what_(std::move(what)), object_(std::move(object)) {}

void JsonFields::refuse(const std::string& why) const {
  throw InputError({}, what_ + " cannot be used: " + why,
                   "exo-tune alone writes such texts, and every node needs the same version of it");
}

std::string JsonFields::text(const char* key) const {
  const Json& value = object_->field(*this, key);
  if (!value.is_string()) refuse(std::string("'") + key + "' is no text");
  return value.get<std::string>();
}

double JsonFields::number(const char* key) const {
  const Json& value = object_->field(*this, key);
  if (!value.is_number() || !std::isfinite(value.get<double>()))
    refuse(std::string("'") + key + "' is no number");
  return value.get<double>();
}

// Unsigned numbers above 2^63 would wrap in the conversion.
int64_t JsonFields::integer(const char* key) const {
  const Json& value = object_->field(*this, key);
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX))
    refuse(std::string("'") + key + "' is no integer");
  return value.get<int64_t>();
}

bool JsonFields::flag(const char* key) const {
  const Json& value = object_->field(*this, key);
  if (!value.is_boolean()) refuse(std::string("'") + key + "' is neither true nor false");
  return value.get<bool>();
}

std::vector<std::string> JsonFields::texts(const char* key) const {
  return Object::strings(*this, key, object_->list(*this, key));
}

JsonLists JsonFields::lists(const char* key) const {
  JsonLists all;
  for (const Json& each : object_->list(*this, key))
    all.push_back(Object::strings(*this, key, each));
  return all;
}

std::map<std::string, std::string> JsonFields::texts_by_name(const char* key) const {
  const Json& value = object_->field(*this, key);
  if (!value.is_object()) refuse(std::string("'") + key + "' is no object");
  std::map<std::string, std::string> all;
  for (const auto& [name, text] : value.items()) {
    if (!text.is_string()) refuse(std::string("'") + key + "' holds what is no text");
    all[name] = text.get<std::string>();
  }
  return all;
}

JsonFields JsonFields::object(const char* key) const {
  const Json& value = object_->field(*this, key);
  if (!value.is_object()) refuse(std::string("'") + key + "' is no object");
  return JsonFields(std::make_shared<const Object>(Object{value}), what_);
}

std::vector<JsonFields> JsonFields::objects(const char* key) const {
  std::vector<JsonFields> all;
  for (const Json& each : object_->list(*this, key)) {
    if (!each.is_object()) refuse(std::string("'") + key + "' holds what is no object");
    all.push_back(JsonFields(std::make_shared<const Object>(Object{each}), what_));
  }
  return all;
}

bool JsonFields::has(const char* key) const { return object_->json.contains(key); }

}  // namespace exotune
