#include "search/dp/machine_text.h"

#include <algorithm>
#include <bit>

namespace exotune {

namespace {

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> out{""};
  for (const char c : text)
    if (c == by)
      out.emplace_back();
    else
      out.back() += c;
  return out;
}

// Small counts written as text, since a list of [search] holds strings.
int count_of(const TomlTable& table, const std::string& key, const std::string& text) {
  if (text.empty() || text.size() > 4 || text.find_first_not_of("0123456789") != std::string::npos)
    throw InputError(table.where(key), "'" + text + "' is no count");
  return std::stoi(text);
}

int level_index(const DpMachine& m, const TomlTable& table, const std::string& key,
                const std::string& name) {
  const int index = m.level(name);
  if (index < 0) {
    const std::string near = nearest(name, m.level_names());
    throw InputError(table.where(key), "no level '" + name + "' in [[search.level]]",
                     near.empty() ? "" : "did you mean '" + near + "'?");
  }
  return index;
}

void read_levels(const TomlTable& search, DpMachine& m) {
  const std::vector<TomlTable> tables = search.tables("level");
  if (tables.empty() || tables.size() > kMaxLevels)
    throw InputError(search.where("level"),
                     "[search] needs 1 to " + std::to_string(kMaxLevels) + " levels");
  for (const TomlTable& t : tables) {
    t.allow_only({"name", "registers", "lines", "cost", "cache", "layouts", "vectors", "to"});
    DpLevel level;
    level.name = t.text("name");
    level.registers = t.has("registers");
    level.capacity = t.integer(level.registers ? "registers" : "lines");
    level.cost = t.integer_or("cost", 0);
    level.cache = t.boolean_or("cache", false);
    level.layouts = t.boolean_or("layouts", true);
    for (const std::string& width : t.texts("vectors"))
      level.vectors.push_back(count_of(t, "vectors", width));
    if (level.capacity < 0 || (level.registers && level.capacity > 127) ||
        (!level.registers && !std::has_single_bit(static_cast<uint64_t>(level.capacity))))
      throw InputError(t.where(), "level '" + level.name +
                                      "' holds up to 127 registers or a power of two lines");
    m.levels.push_back(level);
  }
  for (size_t i = 0; i < tables.size(); ++i)
    for (const std::string& to : tables[i].texts("to"))
      m.levels[i].destinations.push_back(level_index(m, tables[i], "to", to));
}

void read_kernel(const TomlTable& t, const Target& target, DpMachine& m) {
  t.allow_only({"instruction", "levels", "cost", "per_vector", "per_element", "strip", "charged",
                "uses", "max_vectors", "mixed_vectors"});
  const std::string name = t.text("instruction");
  ProcPtr instruction;
  for (const ProcPtr& p : target.instructions())
    if (p->name == name) instruction = p;
  if (!instruction)
    throw InputError(t.where("instruction"), "no instruction '" + name + "' in this target");
  std::optional<DpKernel> kernel = kernel_of(instruction);
  if (!kernel)
    throw InputError(t.where("instruction"),
                     "the body of '" + name + "' is not one statement in a nest of loops");
  const std::vector<std::string> sets = t.texts("levels");
  if (sets.size() != kernel->kind.operands.size())
    throw InputError(t.where("levels"),
                     "'" + name + "' has " + std::to_string(kernel->kind.operands.size()) +
                         " operands: inputs in the order of the statement, then the output");
  for (const std::string& set : sets) {
    uint32_t mask = 0;
    for (const std::string& level : split(set, '|'))
      mask |= 1u << level_index(m, t, "levels", level);
    kernel->levels.push_back(mask);
  }
  kernel->base = t.integer_or("cost", 0);
  kernel->per_vector = t.integer_or("per_vector", 0);
  kernel->per_element = t.integer_or("per_element", 0);
  kernel->strip = t.integer_or("strip", 0);
  for (const std::string& operand : t.texts("charged"))
    kernel->charged |= 1u << std::min(31, count_of(t, "charged", operand));
  kernel->registers.assign(m.levels.size(), 0);
  if (t.has("uses")) {
    const TomlTable uses = t.table("uses");
    for (const std::string& level : uses.keys())
      kernel->registers[level_index(m, uses, level, level)] = static_cast<int>(uses.integer(level));
  }
  kernel->max_vectors = t.integer_or("max_vectors", 0);
  kernel->same_vectors = !t.boolean_or("mixed_vectors", false);
  m.kernels.push_back(std::move(*kernel));
}

}  // namespace

std::optional<DpKernel> kernel_of(const ProcPtr& instruction) {
  const std::optional<LiftedNest> nest = lift_nest(*instruction);
  if (!nest) return std::nullopt;
  DpKernel kernel;
  kernel.name = instruction->name;
  kernel.instruction = instruction;
  kernel.kind = nest->kind;
  kernel.extents = nest->extents;
  for (const auto& symbolic : nest->symbolic)
    kernel.multiples.push_back(symbolic ? symbolic->multiple : 1);
  return kernel;
}

void read_machine(const TomlTable& search, const Target& target, DpMachine& m) {
  search.allow_only({"line", "units", "level", "kernel"});
  m.line_bytes = static_cast<int>(search.integer_or("line", 64));
  m.units_per_cycle = static_cast<int>(search.integer_or("units", 1));
  read_levels(search, m);
  for (const TomlTable& t : search.tables("kernel")) read_kernel(t, target, m);
}

}  // namespace exotune
