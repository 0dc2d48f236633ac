#include "core/base/json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace exotune {
namespace {

// Texts are read as they come and not into nlohmann's own values first: half the work, and the
// depth is known at each step. Whoever walks a value recurses, so a text cannot be deeper than a
// stack.
class Reader : public nlohmann::json_sax<nlohmann::ordered_json> {
 public:
  std::optional<Json> result() && { return std::move(root_); }

  bool null() override { return put({}); }
  bool boolean(bool flag) override { return put(flag); }
  bool number_integer(int64_t number) override { return put(number); }
  // Beyond an int64_t it would wrap: then it is a number like any other, and no integer.
  bool number_unsigned(uint64_t number) override {
    return number <= INT64_MAX ? put(static_cast<int64_t>(number))
                               : put(static_cast<double>(number));
  }
  bool number_float(double number, const std::string& /*text*/) override { return put(number); }
  bool string(std::string& text) override { return put(std::move(text)); }
  bool binary(binary_t& /*bytes*/) override { return false; }
  bool start_object(size_t /*size*/) override { return open(Json::object()); }
  bool start_array(size_t /*size*/) override { return open(Json::List()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    names_.back() = std::move(name);
    return true;
  }
  bool parse_error(size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  static constexpr size_t kDeepest = 100;

  bool put(Json value) {
    if (open_.empty())
      root_ = std::move(value);
    else if (open_.back().fields() != nullptr)
      open_.back()[names_.back()] = std::move(value);
    else
      open_.back().add(std::move(value));
    return true;
  }
  bool open(Json empty) {
    open_.push_back(std::move(empty));
    names_.emplace_back();
    return open_.size() <= kDeepest;
  }
  bool close() {
    Json whole = std::move(open_.back());
    open_.pop_back();
    names_.pop_back();
    return put(std::move(whole));
  }

  std::optional<Json> root_;
  std::vector<Json> open_;          // the lists and objects that are being read, outermost first
  std::vector<std::string> names_;  // the field that is read in each
};

nlohmann::ordered_json written(const Json& value) {
  if (const bool* flag = value.flag()) return *flag;
  if (const int64_t* integer = value.integer()) return *integer;
  if (const auto number = value.number()) return *number;
  if (const std::string* text = value.text()) return *text;
  if (const Json::List* list = value.list()) {
    auto all = nlohmann::ordered_json::array();
    for (const Json& each : *list) all.push_back(written(each));
    return all;
  }
  if (const Json::Fields* fields = value.fields()) {
    auto all = nlohmann::ordered_json::object();
    for (const auto& [name, each] : *fields) all[name] = written(each);
    return all;
  }
  return nullptr;
}

}  // namespace

std::optional<Json> Json::parse(const std::string& text) {
  Reader reader;
  if (!nlohmann::ordered_json::sax_parse(text, &reader)) return std::nullopt;
  return std::move(reader).result();
}

std::string Json::str(int indent) const {
  return written(*this).dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Json& Json::operator[](const std::string& name) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = Fields();
  Fields& fields = std::get<Fields>(value_);
  for (auto& [known, value] : fields)
    if (known == name) return value;
  return fields.emplace_back(name, Json()).second;
}

void Json::add(Json value) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = List();
  std::get<List>(value_).push_back(std::move(value));
}

std::optional<double> Json::number() const {
  if (const auto* integer = std::get_if<int64_t>(&value_)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&value_)) return *number;
  return std::nullopt;
}

const Json* Json::find(const std::string& name) const {
  if (const Fields* all = fields())
    for (const auto& [known, value] : *all)
      if (known == name) return &value;
  return nullptr;
}

}  // namespace exotune
