#include "executors/json_fields.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/diagnostic.h"

namespace exotune {

using Json = nlohmann::ordered_json;

std::string json_text(const std::vector<JsonEntry>& fields) {
  Json json = Json::object();
  for (const auto& [key, value] : fields)
    std::visit([&, name = key](const auto& v) { json[name] = v; }, value);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

struct JsonFields::Object {
  Json json;
};

JsonFields::JsonFields(const std::string& text, std::string file, const std::string& format)
    : file_(std::move(file)), object_(std::make_unique<Object>()) {
  object_->json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (object_->json.is_discarded() || !object_->json.is_object()) refuse("it is no JSON object");
  if (this->text("format") != format) refuse("its format is not '" + format + "'");
}

JsonFields::~JsonFields() = default;

void JsonFields::refuse(const std::string& what) const {
  throw InputError({}, file_ + " cannot be used: " + what,
                   "only exo-tune writes into this folder; the file may be removed");
}

std::string JsonFields::text(const char* key) const {
  const auto at = object_->json.find(key);
  if (at == object_->json.end() || !at->is_string())
    refuse(std::string("'") + key + "' is missing or no text");
  return at->get<std::string>();
}

double JsonFields::number(const char* key) const {
  const auto at = object_->json.find(key);
  if (at == object_->json.end() || !at->is_number() || !std::isfinite(at->get<double>()))
    refuse(std::string("'") + key + "' is missing or no number");
  return at->get<double>();
}

bool JsonFields::flag(const char* key) const {
  const auto at = object_->json.find(key);
  if (at == object_->json.end() || !at->is_boolean())
    refuse(std::string("'") + key + "' is missing or neither true nor false");
  return at->get<bool>();
}

JsonLists JsonFields::lists(const char* key) const {
  const auto at = object_->json.find(key);
  if (at == object_->json.end() || !at->is_array())
    refuse(std::string("'") + key + "' is missing or no list");
  JsonLists lists;
  for (const Json& each : *at) {
    if (!each.is_array()) refuse(std::string("'") + key + "' holds something that is no list");
    lists.emplace_back();
    for (const Json& word : each) {
      if (!word.is_string()) refuse(std::string("'") + key + "' holds something that is no text");
      lists.back().push_back(word.get<std::string>());
    }
  }
  return lists;
}

}  // namespace exotune
