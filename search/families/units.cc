#include "search/families/units.h"

#include <algorithm>

#include "core/codegen/codegen.h"

namespace exotune::families {
namespace {

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

CFile kernels_of(const std::vector<ProcPtr>& procs, const std::string& stem, const Target& target) {
  CodegenOptions code;
  code.stem = stem;
  code.headers = target.compiler.headers;
  code.build = "cc " + joined(target.compiler.flags, " ");
  code.cpu = joined(target.required_features, ", ");
  return generate_c(procs, code);
}

// What stands in front of the bodies: the kernels, and what names mean here.
std::string prologue(const std::string& stem, const UnitRequest& request) {
  const std::string& target = request.target.name;
  std::string text = "#include \"" + stem + ".c\"\n";
  for (const std::string& used : request.family.uses)
    for (const char* precision : {"s", "d"})
      text += "#include \"" + used + "_" + precision + "_" + target + ".h\"\n";
  text += "#include \"common.h\"\n\n#define K(name) blas_##name##_" + target +
          "\n#define EXO_ENTRY(name) " +
          (request.public_names ? "name" : "exo_" + target + "_##name") + "\n\n";
  return text;
}

const Substitution& places_of_precision(const Family& family, const std::string& precision) {
  static const Substitution kNone;
  if (const Axis* axis = family.find_axis("p"))
    for (const auto& [value, places] : axis->values)
      if (value == precision) return places;
  return kNone;
}

}  // namespace

std::vector<Unit> units_of(const UnitRequest& request) {
  std::vector<std::string> precisions;
  for (const Member& member : request.members)
    if (std::find(precisions.begin(), precisions.end(), member.unit) == precisions.end())
      precisions.push_back(member.unit);
  const std::vector<Entry> entries = entries_of(request.family);

  std::vector<Unit> units;
  for (const std::string& precision : precisions) {
    std::vector<ProcPtr> procs;
    for (const Member& member : request.members)
      if (member.unit == precision) procs.push_back(member.proc);
    Unit unit;
    unit.stem = request.family.name + "_" + precision + "_" + request.target.name;
    CFile file = kernels_of(procs, unit.stem, request.target);
    unit.kernels_c = std::move(file.c);
    unit.kernels_h = std::move(file.h);
    unit.entries_c = prologue(unit.stem, request);
    if (request.entries) {
      const BodyText& body = precision == "mixed" ? request.family.mixed : request.family.bodies;
      unit.entries_c +=
          expand(body.text,
                 with(places_of(request.target), places_of_precision(request.family, precision)),
                 body.where);
      for (const Entry& entry : entries)
        if (entry.unit == precision) unit.entries_c += "\n" + entry.code;
    }
    units.push_back(std::move(unit));
  }
  return units;
}

}  // namespace exotune::families
