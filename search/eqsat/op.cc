#include "search/eqsat/op.h"

#include "core/base/diagnostic.h"

namespace exotune::eqsat {

Family OpTable::family(const std::string& name) {
  const auto [it, is_new] = by_name_.try_emplace(name, static_cast<Family>(families_.size()));
  if (is_new) {
    EXO_CHECK(families_.size() < (Op{1} << (32 - kFamilyShift)) - 1);
    families_.push_back({name, {}, {}});
  }
  return it->second;
}

Op OpTable::op(const std::string& family_name, const std::vector<int64_t>& params) {
  return op(family(family_name), params);
}

Op OpTable::op(Family family, const std::vector<int64_t>& params) {
  Members& members = families_[family];
  const auto [it, is_new] =
      members.indices.try_emplace(params, static_cast<uint32_t>(members.params.size()));
  if (is_new) {
    EXO_CHECK(members.params.size() < (size_t{1} << kFamilyShift));
    members.params.push_back(params);
  }
  return (family << kFamilyShift) | it->second;
}

const std::vector<int64_t>& OpTable::params(Op op) const {
  return families_[family_of(op)].params[op & ((Op{1} << kFamilyShift) - 1)];
}

std::string OpTable::str(Op op) const {
  const std::vector<int64_t>& values = params(op);
  std::string text = name(family_of(op));
  if (values.empty()) return text;
  text += '[';
  for (size_t i = 0; i < values.size(); ++i) text += (i ? "," : "") + std::to_string(values[i]);
  return text + ']';
}

}  // namespace exotune::eqsat
