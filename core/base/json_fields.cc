#include "core/base/json_fields.h"

#include <cmath>

#include "core/base/diagnostic.h"
#include "core/base/json.h"

namespace exotune {
// Texts that travel between nodes, read without trust: a file may be half written, of another
// version or somebody else's. Whatever is missing or of another type is refused by its key; nothing
// is assumed.

std::string json_text(const std::vector<JsonEntry>& fields) {
  Json json = Json::object();
  for (const auto& [key, value] : fields)
    std::visit([&, name = key](const auto& v) { json[name] = v; }, value);
  return json.str(1) + "\n";
}

struct JsonFields::Object {
  Json json;

  const Json& field(const JsonFields& fields, const char* key) const {
    const Json* found = json.find(key);
    if (found == nullptr) fields.refuse(std::string("'") + key + "' is missing");
    return *found;
  }
  const Json::List& list(const JsonFields& fields, const char* key) const {
    const Json::List* all = field(fields, key).list();
    if (all == nullptr) fields.refuse(std::string("'") + key + "' is no list");
    return *all;
  }
  static std::vector<std::string> strings(const JsonFields& fields, const char* key,
                                          const Json::List* list) {
    if (list == nullptr) fields.refuse(std::string("'") + key + "' holds what is no list");
    std::vector<std::string> all;
    for (const Json& each : *list) {
      if (each.text() == nullptr) fields.refuse(std::string("'") + key + "' holds what is no text");
      all.push_back(*each.text());
    }
    return all;
  }
};

JsonFields::JsonFields(const std::string& text, std::string what, const std::string& format)
    : what_(std::move(what)) {
  Json json = Json::parse(text).value_or(Json());
  if (json.fields() == nullptr) refuse("it is no JSON object");
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
  const std::string* text = object_->field(*this, key).text();
  if (text == nullptr) refuse(std::string("'") + key + "' is no text");
  return *text;
}

double JsonFields::number(const char* key) const {
  const std::optional<double> number = object_->field(*this, key).number();
  if (!number || !std::isfinite(*number)) refuse(std::string("'") + key + "' is no number");
  return *number;
}

int64_t JsonFields::integer(const char* key) const {
  const int64_t* integer = object_->field(*this, key).integer();
  if (integer == nullptr) refuse(std::string("'") + key + "' is no integer");
  return *integer;
}

bool JsonFields::flag(const char* key) const {
  const bool* flag = object_->field(*this, key).flag();
  if (flag == nullptr) refuse(std::string("'") + key + "' is neither true nor false");
  return *flag;
}

std::vector<std::string> JsonFields::texts(const char* key) const {
  return Object::strings(*this, key, &object_->list(*this, key));
}

JsonLists JsonFields::lists(const char* key) const {
  JsonLists all;
  for (const Json& each : object_->list(*this, key))
    all.push_back(Object::strings(*this, key, each.list()));
  return all;
}

std::map<std::string, std::string> JsonFields::texts_by_name(const char* key) const {
  const Json::Fields* fields = object_->field(*this, key).fields();
  if (fields == nullptr) refuse(std::string("'") + key + "' is no object");
  std::map<std::string, std::string> all;
  for (const auto& [name, value] : *fields) {
    if (value.text() == nullptr) refuse(std::string("'") + key + "' holds what is no text");
    all[name] = *value.text();
  }
  return all;
}

JsonFields JsonFields::object(const char* key) const {
  const Json& value = object_->field(*this, key);
  if (value.fields() == nullptr) refuse(std::string("'") + key + "' is no object");
  return JsonFields(std::make_shared<const Object>(Object{value}), what_);
}

std::vector<JsonFields> JsonFields::objects(const char* key) const {
  std::vector<JsonFields> all;
  for (const Json& each : object_->list(*this, key)) {
    if (each.fields() == nullptr) refuse(std::string("'") + key + "' holds what is no object");
    all.push_back(JsonFields(std::make_shared<const Object>(Object{each}), what_));
  }
  return all;
}

bool JsonFields::has(const char* key) const { return object_->json.find(key) != nullptr; }

}  // namespace exotune
