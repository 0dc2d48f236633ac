#include "search/families/tunables.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/base/hashing.h"

namespace exotune::families {
namespace {

constexpr std::string_view kTuned = "# tuned ";
constexpr const char* kSizesHint = "at = \"M=64 N=64\", of several at = \"M=64 N=64, M=50 N=90\"";

// Does the text, or what its places stand for, have ${name}? Places nest a few deep.
bool mentions(const std::string& text, const std::string& name, const Substitution& places,
              int depth = 8) {
  for (size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at + 2)) {
    const std::string place = text.substr(at + 2, text.find('}', at) - at - 2);
    if (place == name) return true;
    const auto found = places.find(place);
    if (depth > 0 && found != places.end() && mentions(found->second, name, places, depth - 1))
      return true;
  }
  return false;
}

// Every combination of the values whose places the text mentions.
std::vector<std::string> spelled_out(const std::string& text, const KernelTemplate& kernel,
                                     const Substitution& places) {
  std::vector<Substitution> all = {places};
  for (const auto& [name, values] : kernel.values) {
    if (!mentions(text, name, places)) continue;
    std::vector<Substitution> next;
    for (const Substitution& so_far : all)
      for (const std::string& value : values) next.push_back(with(so_far, {{name, value}}));
    all = std::move(next);
  }
  std::vector<std::string> scripts;
  for (const Substitution& each : all) scripts.push_back(expand(text, each, kernel.where));
  return scripts;
}

// All of them, without those of which nothing is left: no half vectors here.
std::vector<std::string> spelled_out(const std::vector<std::string>& texts,
                                     const KernelTemplate& kernel, const Substitution& places) {
  std::vector<std::string> scripts;
  for (const std::string& text : texts)
    for (std::string& script : spelled_out(text, kernel, places))
      if (!script.empty()) scripts.push_back(std::move(script));
  return scripts;
}

SizeBinding sizes_at(const std::string& text) {
  SizeBinding sizes;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = std::min(word.find('='), word.size());
    int64_t value = 0;
    const char* const end = word.data() + word.size();
    const char* const begin = equals < word.size() ? word.data() + equals + 1 : end;
    const auto [rest, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || rest != end || value < 1)
      throw InputError({}, "'" + word + "' is no size of a bucket", kSizesHint);
    sizes[word.substr(0, equals)] = value;
  }
  return sizes;
}

}  // namespace

std::vector<SizeBinding> all_sizes_at(const std::string& text) {
  std::vector<SizeBinding> all;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) all.push_back(sizes_at(part));
  const auto none = [](const SizeBinding& sizes) { return sizes.empty(); };
  if (all.empty() || std::any_of(all.begin(), all.end(), none))
    throw InputError({}, "'" + text + "' has no sizes to measure a bucket at", kSizesHint);
  return all;
}

std::string key_line(const std::string& tuned_by, const Tunable& tunable) {
  return std::string(kTuned) + tuned_by + " " + tunable.key() + "\n";
}

std::string without_key(const std::string& text) {
  return text.rfind(kTuned, 0) == 0 ? text.substr(std::min(text.find('\n'), text.size() - 1) + 1)
                                    : text;
}

std::string Tunable::key() const {
  std::string text = code + usual;
  if (!kept.empty()) text += "\n-- kept\n" + kept;
  for (const std::string& script : scripts) text += "\n--\n" + script;
  for (const std::string& script : far_scripts) text += "\n-- far\n" + script;
  for (const Bucket& bucket : buckets)
    text += "\n" + bucket.when + " at " + bucket.at + (bucket.in_lines ? " " + in_lines : "") +
            (bucket.far ? " far" : "");
  return content_hash(text);
}

std::vector<Tunable> tunables_of(const Family& family, const Target& target,
                                 const Wisdom& shipped) {
  std::vector<Tunable> out;
  const Substitution of_target = places_of(family, target);
  for (const KernelTemplate& kernel : family.kernels) {
    if (kernel.tries.empty() || kernel.buckets.empty()) continue;
    for (const Substitution& fixed : combinations(family, kernel.axes)) {
      const Substitution places = with(of_target, fixed);
      Tunable tunable;
      tunable.name = expand(kernel.name, places, kernel.where);
      if (scheduled_as(kernel, places) != tunable.name) continue;
      tunable.c_name = c_name_of(tunable.name, target);
      tunable.code = expand(kernel.code, with(places, {{"name", tunable.c_name}}), kernel.where);
      tunable.usual = expand(kernel.schedule, places, kernel.where);
      tunable.scripts = spelled_out(kernel.tries, kernel, places);
      tunable.far_scripts = spelled_out(kernel.far_tries, kernel, places);
      for (const Bucket& bucket : kernel.buckets)
        tunable.buckets.push_back({expand(bucket.when, places, kernel.where),
                                   expand(bucket.at, places, kernel.where), bucket.in_lines,
                                   bucket.far});
      tunable.in_lines = expand(kernel.in_lines, places, kernel.where);
      const auto known = shipped.find(tunable.name);
      if (known != shipped.end()) {
        tunable.kept = without_key(known->second);
        (void)parse_versions(tunable.kept, tunable.name);  // refused before anything is measured
      }
      out.push_back(std::move(tunable));
    }
  }
  return out;
}

}  // namespace exotune::families
