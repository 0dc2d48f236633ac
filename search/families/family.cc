#include "search/families/family.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "hw/toml_table.h"

namespace exotune::families {
namespace {

// May be missing: a family may have kernels only.
BodyText read_body(const std::filesystem::path& file) {
  BodyText body;
  body.where.file = std::make_shared<const std::string>(file.string());
  body.where.line = 1;
  std::ifstream in(file);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  body.text = text.str();
  return body;
}

Substitution read_places(const TomlTable& table) {
  Substitution places;
  for (const std::string& key : table.keys()) places[key] = table.text(key);
  return places;
}

Axis read_axis(const std::string& name, const TomlTable& table) {
  Axis axis{name, {}};
  // A value stands for its own name under the axis's, and for whatever else its table says.
  for (const std::string& value : table.keys())
    axis.values.emplace_back(value, with({{name, value}}, read_places(table.table(value))));
  return axis;
}

std::vector<std::string> read_axes(const TomlTable& table, const Family& family) {
  std::vector<std::string> axes = table.texts("for");
  for (const std::string& axis : axes)
    if (family.find_axis(axis) == nullptr)
      throw InputError(table.where("for"), "there is no axis '" + axis + "'");
  return axes;
}

std::vector<Bucket> read_buckets(const TomlTable& table, const std::string& key) {
  std::vector<Bucket> buckets;
  for (const TomlTable& bucket : table.tables(key)) {
    bucket.allow_only({"when", "at", "in_lines", "far"});
    buckets.push_back({bucket.text_or("when", ""), bucket.text("at"),
                       bucket.boolean_or("in_lines", false), bucket.boolean_or("far", false)});
  }
  // Some bucket has to be taken whatever the size.
  if (!buckets.empty() && !buckets.back().when.empty())
    throw InputError(table.where(key), "the last bucket is for all other sizes",
                     "leave its `when` out");
  return buckets;
}

// A kernel's own, or those of a name that several share.
std::vector<Bucket> buckets_of(const TomlTable& table, const Family& family) {
  if (!table.is_text("buckets")) return read_buckets(table, "buckets");
  const auto found = family.buckets.find(table.text("buckets"));
  if (found == family.buckets.end())
    throw InputError(table.where("buckets"),
                     "there are no buckets named '" + table.text("buckets") + "'",
                     "name them in [buckets]");
  return found->second;
}

KernelTemplate read_kernel(const TomlTable& table, const Family& family) {
  table.allow_only({"name", "for", "code", "schedule", "like", "tries", "far_tries", "values",
                    "buckets", "in_lines"});
  KernelTemplate kernel;
  kernel.name = table.text("name");
  kernel.axes = read_axes(table, family);
  kernel.code = table.text("code");
  kernel.schedule = table.text_or("schedule", "");
  kernel.like = table.text_or("like", "");
  kernel.where = table.where("code");
  kernel.tries = table.texts("tries");
  kernel.far_tries = table.texts("far_tries");
  if (table.has("values")) {
    const TomlTable values = table.table("values");
    for (const std::string& name : values.keys())
      kernel.values.emplace_back(name, values.texts(name));
  }
  kernel.buckets = buckets_of(table, family);
  kernel.in_lines = table.text_or("in_lines", "");
  return kernel;
}

std::pair<int, int> read_exchange(const std::string& text, const SourceLocation& where) {
  std::istringstream words(text);
  std::pair<int, int> exchange;
  if (!(words >> exchange.first >> exchange.second))
    throw InputError(where, "two positions are exchanged: \"4 5\"");
  return exchange;
}

RoutineTemplate read_routine(const TomlTable& table, const Family& family) {
  table.allow_only(
      {"name", "for", "returns", "real", "arguments", "wrong", "exchanged", "at_once"});
  RoutineTemplate routine{table.text("name"),
                          read_axes(table, family),
                          table.text_or("returns", "void"),
                          table.text_or("real", "${real}"),
                          table.text("arguments"),
                          table.texts("wrong"),
                          {},
                          table.text_or("at_once", ""),
                          table.where("name")};
  for (const std::string& text : table.texts("exchanged"))
    routine.exchanged.push_back(read_exchange(text, table.where("exchanged")));
  if (!routine.at_once.empty() && routine.returns != "void")
    throw InputError(table.where("at_once"),
                     "a routine that returns a value is computed by its body");
  return routine;
}

}  // namespace

int BodyText::lines() const {
  std::istringstream in(text);
  std::string line;
  int count = 0;
  // Without blank lines and comments.
  for (bool comment = false; std::getline(in, line);) {
    const size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos) continue;
    comment = comment || line.compare(begin, 2, "/*") == 0;
    if (!comment) ++count;
    // A comment that begins behind code on its line counts as code.
    if (line.find("*/") != std::string::npos) comment = false;
  }
  return count;
}

const Axis* Family::find_axis(const std::string& axis) const {
  const auto found =
      std::find_if(axes.begin(), axes.end(), [&](const Axis& each) { return each.name == axis; });
  return found == axes.end() ? nullptr : &*found;
}

std::vector<std::string> list_families(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  if (std::filesystem::is_directory(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Family load_family(const std::filesystem::path& folder, const std::string& name) {
  const std::vector<std::string> known = list_families(folder);
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    std::string all;
    for (const std::string& each : known) all += each + ", ";
    const std::string near = nearest(name, known);
    throw InputError({}, "there is no family '" + name + "'",
                     near.empty() ? "there are " + all + "all" : "did you mean " + near + "?");
  }
  // In this order: kernels and routines name axes.
  const TomlTable table = TomlTable::read(folder / (name + ".toml"));
  table.allow_only({"title", "uses", "target", "sizes", "places", "half", "buckets", "axis",
                    "kernel", "routine"});
  Family family;
  family.name = name;
  family.title = table.text("title");
  family.uses = table.texts("uses");
  if (table.has("target")) {
    const TomlTable targets = table.table("target");
    for (const std::string& target : targets.keys())
      family.targets[target] = read_places(targets.table(target));
  }
  if (table.has("places")) family.places = read_places(table.table("places"));
  if (table.has("half")) family.half = read_places(table.table("half"));
  if (table.has("buckets")) {
    const TomlTable lists = table.table("buckets");
    for (const std::string& list : lists.keys()) family.buckets[list] = read_buckets(lists, list);
  }
  if (table.has("sizes")) {
    const TomlTable sizes = table.table("sizes");
    for (const std::string& size : sizes.keys())
      family.sizes[size] = std::to_string(sizes.integer(size));
  }
  if (table.has("axis")) {
    const TomlTable axes = table.table("axis");
    for (const std::string& axis : axes.keys())
      family.axes.push_back(read_axis(axis, axes.table(axis)));
  }
  for (const TomlTable& kernel : table.tables("kernel"))
    family.kernels.push_back(read_kernel(kernel, family));
  for (const TomlTable& routine : table.tables("routine"))
    family.routines.push_back(read_routine(routine, family));
  family.bodies = read_body(folder / (name + ".c"));
  family.mixed = read_body(folder / (name + "_mixed.c"));
  return family;
}

std::vector<Substitution> combinations(const Family& family, const std::vector<std::string>& axes) {
  std::vector<Substitution> all = {{}};
  for (const std::string& name : axes) {
    const Axis* axis = family.find_axis(name);
    EXO_CHECK(axis != nullptr);
    std::vector<Substitution> next;
    // The last axis changes fastest.
    for (const Substitution& so_far : all)
      for (const auto& [value, places] : axis->values) next.push_back(with(so_far, places));
    all = std::move(next);
  }
  return all;
}

}  // namespace exotune::families
