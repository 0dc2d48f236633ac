#include "hw/machine_model.h"

#include <algorithm>

#include "hw/toml_table.h"

namespace exotune {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "uarch";
constexpr const char* kDefault = "default";

const TargetLevel* level_of(const Microarchitecture& m, const std::string& name) {
  for (const TargetLevel& l : m.levels)
    if (l.name == name) return &l;
  return nullptr;
}

double latency_of(const Target& target, const char* what) {
  const auto it = target.latency.find(what);
  return it == target.latency.end() ? 0 : it->second;
}

// The file itself, the default that it leaves the fact to, or the target's text where neither says.
std::string source_of(const CoreFact& fact, const Microarchitecture& uarch,
                      const std::string& file) {
  if (std::find(uarch.said.begin(), uarch.said.end(), fact.key) != uarch.said.end()) return file;
  return default_core().*fact.value > 0 ? std::string(kFolder) + "/default.toml" : "target text";
}

void add_core(const Target& target, const Microarchitecture& uarch, const std::string& file,
              MachineModel& into) {
  into.core = uarch.core;
  if (into.core.fma_latency == 0) into.core.fma_latency = latency_of(target, "fma");
  if (into.core.load_latency == 0) into.core.load_latency = latency_of(target, "load");
  for (const CoreFact& fact : core_facts())
    if (const double value = into.core.*fact.value; value > 0)
      into.numbers.push_back({fact.key, value, fact.unit, source_of(fact, uarch, file)});
}

bool in_memory(const TargetLevel& level) {
  return level.is_cache() || level.memory->kind == MemoryKind::kHeap;
}

}  // namespace

// A star at the end stands for anything: families of cores share a text.
bool Microarchitecture::describes(const std::string& microarch) const {
  return std::any_of(microarchs.begin(), microarchs.end(), [&](const std::string& m) {
    const bool open = !m.empty() && m.back() == '*';
    return open ? microarch.rfind(m.substr(0, m.size() - 1), 0) == 0 : microarch == m;
  });
}

Microarchitecture load_microarchitecture(const fs::path& file) {
  const TomlTable toml = TomlTable::read(file);
  toml.allow_only({"title", "microarchs", "level", "core"});
  Microarchitecture out;
  out.name = file.stem().string();
  out.title = toml.text("title");
  out.microarchs = toml.texts("microarchs");
  for (const TomlTable& t : toml.tables("level")) {
    t.allow_only({"name", "bytes", "line", "cost_per_line"});
    TargetLevel level;
    level.name = t.text("name");
    level.bytes = t.integer_or("bytes", 0);
    level.line_bytes = static_cast<int>(t.integer("line"));
    level.cost_per_line = t.number("cost_per_line");
    if (level.bytes < 0 || level.line_bytes <= 0 || level.cost_per_line <= 0)
      throw InputError(t.where(), "level '" + level.name + "' needs a line and its cycles");
    out.levels.push_back(level);
  }
  if (toml.has("core")) {
    out.core = read_core(toml.table("core"), out.core);
    out.said = toml.table("core").keys();
  }
  return out;
}

// The first file that names the core, in the order of their names, so that two that do are decided
// alike everywhere; else the default.
Microarchitecture microarchitecture_of(const fs::path& folder, const std::string& microarch) {
  std::error_code ignored;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder / kFolder, ignored))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  Microarchitecture otherwise;
  for (const fs::path& file : files) {
    Microarchitecture m = load_microarchitecture(file);
    if (m.describes(microarch)) return m;
    if (m.name == kDefault) otherwise = std::move(m);
  }
  return otherwise;
}

// A machine that is not there has the caches of its text and nothing that was probed here.
Machine described_machine(Machine here, const fs::path& file) {
  const Microarchitecture core = load_microarchitecture(file);
  here.microarch = file.string();
  here.caches.clear();
  for (const TargetLevel& level : core.levels)
    if (level.bytes > 0)
      here.caches.push_back(
          {static_cast<int>(here.caches.size()) + 1, level.bytes, level.line_bytes, 1});
  return here;
}

// Each number from the best that knows it: the target's text, then the core's, then the probe, then
// what was measured. Caches are matched by their order from the core outwards, levels of memory
// with measured lines by the order of calibration.
MachineModel model_of(const Target& target, const Machine& machine,
                      const std::vector<double>& measured_lines) {
  const bool here = !machine.microarch.ends_with(".toml");
  const Microarchitecture uarch =
      here ? microarchitecture_of(target.folder.parent_path(), machine.microarch)
           : load_microarchitecture(machine.microarch);
  const std::string file = (here ? std::string(kFolder) + "/" : "") + uarch.name + ".toml";
  MachineModel out;
  out.levels = target.levels;
  size_t cache = 0, line = 0;  // of machine.caches, of measured_lines
  for (TargetLevel& level : out.levels) {
    if (!in_memory(level)) continue;
    std::string size_from = "target text", cost_from = size_from;
    if (const TargetLevel* known = level_of(uarch, level.name)) {
      if (level.is_cache() && known->bytes > 0) {
        level.bytes = known->bytes;
        size_from = file;
      }
      level.line_bytes = known->line_bytes;
      level.cost_per_line = known->cost_per_line;
      cost_from = file;
    }
    if (level.is_cache() && cache < machine.caches.size()) {
      const CacheLevel& probed = machine.caches[cache++];
      level.bytes = probed.bytes;
      if (probed.line_bytes > 0) level.line_bytes = probed.line_bytes;
      if (here) size_from = "probed";
    }
    if (line < measured_lines.size()) {
      level.cost_per_line = measured_lines[line++];
      cost_from = "measured";
    }
    if (level.is_cache())
      out.numbers.push_back({level.name, static_cast<double>(level.bytes), "bytes", size_from});
    if (level.cost_per_line > 0)
      out.numbers.push_back({level.name + " line", level.cost_per_line, "cycles", cost_from});
  }
  add_core(target, uarch, file, out);
  return out;
}

}  // namespace exotune
