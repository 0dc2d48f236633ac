#include "search/dp/memo_names.h"

#include <utility>

#include "core/base/diagnostic.h"
#include "core/base/json.h"

namespace exotune {

std::string name_of(const SpecKind& kind) {
  Json operands = Json::List();
  for (const OperandKind& o : kind.operands) {
    Json subscripts = Json::List();
    for (const Subscript& s : o.subscripts) {
      Json terms = Json::List();
      for (const SubscriptTerm& t : s) terms.add(Json::List{t.dim, t.coefficient});
      subscripts.add(std::move(terms));
    }
    operands.add({{"type", static_cast<int>(o.type)}, {"subscripts", std::move(subscripts)}});
  }
  const Json name = {{"statement", kind.statement},   {"accumulates", kind.accumulates},
                     {"reduction", kind.reduction},   {"operands", std::move(operands)},
                     {"symmetries", kind.symmetries}, {"initial", kind.initial}};
  return name.str();
}

std::string name_of(const TensorLayout& layout) {
  Json dims = Json::List();
  for (int i = 0; i < layout.rank; ++i)
    dims.add(Json::List{layout.dims[i].dim, layout.dims[i].pack});
  const Json name = {{"contiguous", layout.contiguous}, {"dims", std::move(dims)}};
  return name.str();
}

namespace {

[[noreturn]] void damaged(const std::string& why) { throw InputError({}, why); }

template <class T>
const T& known(const T* value, const char* what) {
  if (value == nullptr) damaged(std::string("it has no ") + what + " where one belongs");
  return *value;
}

const Json& field_of(const Json& object, const char* name) {
  return known(object.find(name), name);
}
const Json::List& list_of(const Json& value) { return known(value.list(), "list"); }
const std::string& words_of(const Json& value) { return known(value.text(), "text"); }
bool flag_of(const Json& value) { return known(value.flag(), "flag"); }

// Into a type that holds less: what does not fit was not written here.
template <class T>
T number_of(const Json& value) {
  const int64_t number = known(value.integer(), "number");
  if (!std::in_range<T>(number)) damaged("a number is out of range");
  return static_cast<T>(number);
}
template <class T>
std::vector<T> numbers_of(const Json& value) {
  std::vector<T> all;
  for (const Json& each : list_of(value)) all.push_back(number_of<T>(each));
  return all;
}

// Two numbers, as subscripts and layouts have them.
template <class First, class Second>
std::pair<First, Second> pair_of(const Json& value) {
  const Json::List& both = list_of(value);
  if (both.size() != 2) damaged("a pair is none");
  return {number_of<First>(both[0]), number_of<Second>(both[1])};
}

Json json_in(const std::string& name) {
  std::optional<Json> json = Json::parse(name);
  if (!json) damaged("a name is no JSON");
  return std::move(*json);
}

}  // namespace

SpecKind kind_named(const std::string& name) {
  const Json json = json_in(name);
  SpecKind kind;
  kind.statement = words_of(field_of(json, "statement"));
  kind.accumulates = flag_of(field_of(json, "accumulates"));
  for (const Json& each : list_of(field_of(json, "reduction")))
    kind.reduction.push_back(flag_of(each));
  for (const Json& o : list_of(field_of(json, "operands"))) {
    OperandKind operand{static_cast<ScalarType>(number_of<int>(field_of(o, "type"))), {}};
    for (const Json& s : list_of(field_of(o, "subscripts"))) {
      Subscript subscript;
      for (const Json& term : list_of(s)) {
        const auto [dim, coefficient] = pair_of<uint8_t, uint16_t>(term);
        subscript.push_back({dim, coefficient});
      }
      operand.subscripts.push_back(subscript);
    }
    kind.operands.push_back(operand);
  }
  for (const Json& each : list_of(field_of(json, "symmetries")))
    kind.symmetries.push_back(numbers_of<int>(each));
  kind.initial = words_of(field_of(json, "initial"));
  return kind;
}

TensorLayout layout_named(const std::string& name) {
  const Json json = json_in(name);
  TensorLayout layout;
  for (const Json& each : list_of(field_of(json, "dims"))) {
    if (layout.rank == kMaxPhysical) damaged("a layout has too many dimensions");
    const auto [dim, pack] = pair_of<uint8_t, uint16_t>(each);
    layout.dims[layout.rank++] = {dim, pack};
  }
  layout.contiguous = number_of<uint8_t>(field_of(json, "contiguous"));
  return layout;
}

}  // namespace exotune
