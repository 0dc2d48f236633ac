#include "search/families/units.h"

#include <algorithm>

#include "core/base/words.h"
#include "core/codegen/codegen.h"

namespace exotune::families {
namespace {

CFile kernels_of(const std::vector<ProcPtr>& procs, const std::string& stem, const Target& target) {
  CodegenOptions code;
  code.stem = stem;
  code.headers = target.compiler.headers;
  code.build = "cc " + joined(target.compiler.flags, " ");
  code.cpu = joined(target.required_features, ", ");
  return generate_c(procs, code);
}

// What kernels assert their callers, the bodies, hold to: compilers may build on it. Compiled with
// EXO_CHECKED it is tested all the same.
std::string with_asserts_believed(std::string c) {
  const std::string unused = "#define EXO_ASSERT(condition) ((void)(0 && (condition)))\n";
  const size_t at = c.find(unused);
  if (at == std::string::npos) return c;
  return c.replace(
      at, unused.size(),
      "#define EXO_ASSERT(condition) ((condition) ? (void)0 : __builtin_unreachable())\n");
}

// What stands in front of the bodies: the kernels, and what names mean here.
std::string prologue(const std::string& stem, const UnitRequest& request) {
  const std::string& target = request.target.name;
  std::string text = "#include \"" + stem + ".c\"\n";
  for (const std::string& used : request.family.uses)
    for (const char* precision : {"s", "d"})
      text += "#include \"" + used + "_" + precision + "_" + target + ".h\"\n";
  text += "#include \"common.h\"\n\n#define K(name) blas_##name##_" + target +
          "\n#define H(name) blas_##name##_here_" + target + "\n#define EXO_ENTRY(name) " +
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

// The members from `first` on that are versions of one kernel.
size_t versions_from(const std::vector<const Member*>& members, size_t first) {
  size_t last = first + 1;
  while (last < members.size() && members[last]->name == members[first]->name) ++last;
  return last - first;
}

// A function that takes the first of `count` versions whose condition holds.
std::string choice(const std::string& name, const std::string& attributes,
                   const std::vector<const Member*>& members, const CFile& file, size_t first,
                   size_t count) {
  std::vector<std::string> parts, names;
  for (const AbiArg& arg : file.functions[first].args) {
    parts.push_back(arg.c_type + " " + arg.name);
    names.push_back(arg.name);
  }
  std::string text = "\nstatic inline __attribute__((" + attributes + ")) void " + name + "(" +
                     joined(parts, ", ") + ") {\n";
  for (size_t k = first; k < first + count; ++k) {
    const std::string call = file.functions[k].name + "(" + joined(names, ", ") + ");";
    text += members[k]->when.empty()
                ? "  " + call + "\n}\n"
                : "  if (" + members[k]->when + ") {\n    " + call + "\n    return;\n  }\n";
  }
  return text;
}

// The functions that pick a version by the sizes they are given. Those named `here` bring the
// kernels to where they are called: few elements cost less than a call with windows does.
std::string choices_of(const std::vector<const Member*>& members, const CFile& file,
                       const Target& target) {
  std::string text;
  for (size_t k = 0; k < members.size(); k += versions_from(members, k)) {
    const std::string name = c_name_of(members[k]->name, target);
    const size_t count = versions_from(members, k);
    if (members[k]->c_name != name) text += choice(name, "unused", members, file, k, count);
    text += choice(c_name_of(members[k]->name + "_here", target), "unused, flatten", members, file,
                   k, count);
  }
  return text;
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
    std::vector<const Member*> members;
    for (const Member& member : request.members) {
      if (member.unit != precision) continue;
      procs.push_back(member.proc);
      members.push_back(&member);
    }
    Unit unit;
    unit.stem = request.family.name + "_" + precision + "_" + request.target.name;
    CFile file = kernels_of(procs, unit.stem, request.target);
    unit.kernels_c = with_asserts_believed(std::move(file.c));
    unit.kernels_h = file.h + choices_of(members, file, request.target);
    unit.entries_c = prologue(unit.stem, request);
    if (request.entries) {
      const BodyText& body = precision == "mixed" ? request.family.mixed : request.family.bodies;
      unit.entries_c += expand(body.text,
                               with(places_of(request.family, request.target),
                                    places_of_precision(request.family, precision)),
                               body.where);
      for (const Entry& entry : entries)
        if (entry.unit == precision) unit.entries_c += "\n" + entry.code;
    }
    units.push_back(std::move(unit));
  }
  return units;
}

}  // namespace exotune::families
