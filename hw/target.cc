#include "hw/target.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/base/hashing.h"
#include "core/ir/printer.h"
#include "hw/machine_model.h"
#include "hw/toml_table.h"

namespace exotune {
namespace fs = std::filesystem;

namespace {

constexpr const char* kTargetFile = "target.toml";

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError({}, "cannot read '" + path.string() + "'");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The .exo files of the folder: those target.toml lists, in that order, else all by name.
std::vector<std::string> source_files(const TomlTable& toml, const fs::path& folder) {
  std::vector<std::string> present;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".exo") present.push_back(entry.path().filename().string());
  std::sort(present.begin(), present.end());
  if (!toml.has("files")) return present;
  std::vector<std::string> listed = toml.texts("files");
  for (const std::string& file : listed) {
    if (std::find(present.begin(), present.end(), file) != present.end()) continue;
    const std::string near = nearest(file, present);
    throw InputError(toml.where("files"), "no file '" + file + "' in " + folder.string(),
                     near.empty() ? "" : "did you mean '" + near + "'?");
  }
  return listed;
}

// A key that names a type, as in `lanes = { f32 = 8 }`.
ScalarType data_type(const TomlTable& table, const std::string& key) {
  const std::optional<ScalarType> type = scalar_type(key);
  if (type && is_data(*type)) return *type;
  throw InputError(table.where(key), "'" + key + "' is no element type",
                   "f16, bf16, f32, f64, i8, ui8, i16, ui16, i32");
}

// A value that names one of the memories that the target's own text defines.
MemoryPtr memory_of(const Module& library, const TomlTable& table, const std::string& key) {
  const std::string name = table.text(key);
  const auto it = library.memories.find(name);
  if (it != library.memories.end()) return it->second;
  std::vector<std::string> known;
  for (const auto& [memory, ptr] : library.memories) known.push_back(memory);
  const std::string near = nearest(name, known);
  throw InputError(table.where(key), "no memory '" + name + "' in this target",
                   near.empty() ? "" : "did you mean '" + near + "'?");
}

// A table of named figures; which names mean something is for its readers to say.
std::map<std::string, double> numbers(const TomlTable& toml, const std::string& key) {
  std::map<std::string, double> out;
  if (!toml.has(key)) return out;
  const TomlTable table = toml.table(key);
  for (const std::string& name : table.keys()) out[name] = table.number(name);
  return out;
}

TargetCompiler read_compiler(const TomlTable& table) {
  table.allow_only({"programs", "flags", "headers", "further"});
  TargetCompiler compiler{
      table.texts("programs"), table.texts("flags"), table.texts("headers"), {}};
  if (table.has("further")) {
    const TomlTable further = table.table("further");
    for (const std::string& feature : further.keys())
      compiler.further[feature] = further.texts(feature);
  }
  if (compiler.programs.empty())
    throw InputError(table.where(), "a target's compiler needs 'programs'",
                     "programs = [\"gcc\", \"clang\"]");
  return compiler;
}

// `flags` are for the compilers of peers in source; any other key is a library, with the words by
// which it is held to this instruction set.
PeerLimits read_peers(const TomlTable& table) {
  PeerLimits limits;
  for (const std::string& key : table.keys())
    (key == "flags" ? limits.flags : limits.cores[key]) = table.texts(key);
  return limits;
}

// The loop whose speed is the roof of this type: registers `chain` long, one `step` on each, so
// many operations a step.
RoofLoop read_roof(const TomlTable& table) {
  table.allow_only({"begin", "chain", "operand", "step", "operations"});
  RoofLoop roof{table.text("chain"), table.text("operand"), table.text("step"),
                static_cast<int>(table.integer("operations")), table.text_or("begin", "")};
  if (roof.operations < 1)
    throw InputError(table.where("operations"), "a step of a roof does at least one operation");
  return roof;
}

TargetRunner read_runner(const TomlTable& table) {
  TargetRunner runner;
  // All else in the table is the runner's own: it refuses what it does not know.
  runner.kind = table.text("kind");
  for (const std::string& key : table.keys())
    if (key != "kind") runner.options[key] = table.scalar(key);
  return runner;
}

ProcPtr instruction_of(const Module& library, const TomlTable& table, const std::string& key,
                       const std::string& name) {
  const ProcPtr found = library.find_proc(name);
  if (!found || !found->instr)
    throw InputError(table.where(key), "no instruction '" + name + "' in this target");
  return found;
}

void read_vector(const TomlTable& table, Target& target) {
  table.allow_only(
      {"width_bits", "lanes", "memory", "predication", "streams", "fence", "estimates"});
  target.vector_bits = static_cast<int>(table.integer("width_bits"));
  target.vector_memory = memory_of(target.library, table, "memory");
  target.predication = table.boolean_or("predication", false);
  if (table.has("streams")) {
    for (const std::string& name : table.texts("streams"))
      target.streams.push_back(instruction_of(target.library, table, "streams", name));
    target.stream_fence = instruction_of(target.library, table, "fence", table.text("fence"));
  }
  if (table.has("estimates"))
    for (const std::string& name : table.texts("estimates"))
      target.estimates.push_back(instruction_of(target.library, table, "estimates", name));
  const TomlTable lanes = table.table("lanes");
  for (const std::string& key : lanes.keys()) {
    const ScalarType type = data_type(lanes, key);
    const int64_t count = lanes.integer(key);
    // Fewer lanes than fit are fine: a machine may widen what it computes.
    if (count < 1 || count * bytes_of(type) * 8 > target.vector_bits)
      throw InputError(lanes.where(key), std::to_string(count) + " lanes of " + key +
                                             " do not fit a vector of " +
                                             std::to_string(target.vector_bits) + " bits");
    target.lanes[type] = static_cast<int>(count);
  }
}

TargetLevel read_level(const TomlTable& table, const Module& library,
                       const Microarchitecture& defaults) {
  table.allow_only({"name", "memory", "bytes", "line", "cost_per_line"});
  TargetLevel level;
  level.name = table.text("name");
  if (table.has("memory")) level.memory = memory_of(library, table, "memory");
  level.bytes = table.integer_or("bytes", 0);
  level.line_bytes = static_cast<int>(table.integer_or("line", 0));
  level.cost_per_line = table.number_or("cost_per_line", 0);
  // An instruction set says nothing of caches: the machine does, and before it is known a default.
  for (const TargetLevel& usual : defaults.levels)
    if (usual.name == level.name && !table.has("bytes") && !table.has("cost_per_line")) {
      level.bytes = usual.bytes;
      level.line_bytes = usual.line_bytes;
      level.cost_per_line = usual.cost_per_line;
    }
  if (level.is_cache() && level.bytes <= 0)
    throw InputError(table.where(), "level '" + level.name + "' has neither a memory nor bytes",
                     "memory = \"NAME\" when the program places data here, bytes = N for a cache");
  // A level of registers holds what its memory says: so many, of so many bytes.
  if (level.memory && level.bytes == 0 && level.memory->bytes > 0)
    level.bytes = level.memory->bytes * std::max(1, level.memory->count);
  return level;
}

// All files as one module, each seeing those before it. `text_of_all` is what the target's hash is
// of: instructions that change make another target, and trials of the old one are not taken for
// it.
Module read_library(const TomlTable& toml, const fs::path& folder, const Importer& importer,
                    std::string& text_of_all) {
  Module all;
  for (const std::string& file : source_files(toml, folder)) {
    const std::string text = read_file(folder / file);
    text_of_all += file + "\n" + text;
    Module part = parse_module(text, (folder / file).string(), importer, &all);
    // Twice the same name would make `replace` choose by order of files.
    for (const ProcPtr& p : part.procs) {
      const auto same = std::find_if(all.procs.begin(), all.procs.end(),
                                     [&](const ProcPtr& q) { return q->name == p->name; });
      if (same != all.procs.end())
        throw InputError(p->where,
                         "'" + p->name + "' is already defined at " + (*same)->where.str());
      all.procs.push_back(p);
    }
    part.procs.clear();
    all.import_all(part);
    for (const std::string& name : part.imports) all.imports.push_back(name);
  }
  // A later file sees the earlier ones' procs as imported: they are this target's own. So is what
  // an extended target has, after what this one adds.
  const auto known = [&](const ProcPtr& p) {
    return std::find(all.procs.begin(), all.procs.end(), p) != all.procs.end();
  };
  if (toml.has("extends")) {
    const Module* base = importer(toml.text("extends"), toml.where("extends"));
    if (!base) throw InputError(toml.where("extends"), "no target '" + toml.text("extends") + "'");
    all.import_all(*base);
    for (const ProcPtr& p : base->procs) {
      if (!known(p)) all.procs.push_back(p);
      // An extended target changes with its base.
      text_of_all += str(*p) + (p->instr ? p->instr->c_template + p->instr->c_global : "");
    }
  }
  std::erase_if(all.imported_procs, known);
  return all;
}

// A name is looked for among the shipped ones first, then as a folder here; a path is a folder
// only.
fs::path find_folder(const std::string& name_or_folder, const std::vector<fs::path>& folders) {
  const bool is_path = name_or_folder.find('/') != std::string::npos;
  if (!is_path)
    for (const fs::path& folder : folders)
      if (fs::exists(folder / name_or_folder / kTargetFile)) return folder / name_or_folder;
  if (fs::exists(fs::path(name_or_folder) / kTargetFile)) return name_or_folder;
  if (is_path)
    throw InputError({}, "no target in '" + name_or_folder + "'",
                     std::string("a target's folder holds a ") + kTargetFile);
  const std::vector<std::string> known = list_targets(folders);
  const std::string near = nearest(name_or_folder, known);
  std::string all;
  for (const std::string& name : known) all += (all.empty() ? "known targets: " : ", ") + name;
  throw InputError({}, "no target '" + name_or_folder + "'",
                   near.empty() ? all : "did you mean '" + near + "'?");
}

// Plans read a few figures by name. A simulator reads more of its own and refuses the rest itself;
// by a record (hw/runners) code only runs, and `[runner]` has the words of its commands.
void refuse_unread(const TomlTable& toml, const Target& target) {
  const bool here = target.runner.is_this_machine();
  const fs::path record = target.folder.parent_path() / "runners" / (target.runner.kind + ".toml");
  if (!here && !fs::exists(record)) return;
  if (here) toml.table("runner").allow_only({"kind"});
  if (toml.has("latency")) toml.table("latency").allow_only({"fma", "load"});
  std::vector<std::string> parameters = {"thread_start", "thread_trip", "thread_memory"};
  if (!here) parameters.push_back("memory_in_order");
  if (toml.has("parameters")) toml.table("parameters").allow_only(parameters);
}

// The order matters where a table needs another: memories before vectors and levels, the runner
// before what it makes of the rest.
TargetPtr read_target(const fs::path& folder, const Importer& importer) {
  const TomlTable toml = TomlTable::read(folder / kTargetFile);
  toml.allow_only({"title", "isa", "requires", "files", "extends", "compiler", "runner", "vector",
                   "peak", "roof", "peers", "latency", "parameters", "level", "search"});
  auto target = std::make_shared<Target>();
  target->name = fs::absolute(folder / kTargetFile).parent_path().filename().string();
  target->title = toml.text("title");
  target->isa = toml.text_or("isa", target->name);
  target->folder = folder;
  target->required_features = toml.texts("requires");

  std::string text = read_file(folder / kTargetFile);
  target->library = read_library(toml, folder, importer, text);
  target->hash = content_hash(text);

  target->compiler = read_compiler(toml.table("compiler"));
  target->runner = read_runner(toml.table("runner"));
  if (toml.has("vector")) read_vector(toml.table("vector"), *target);
  if (toml.has("peak")) {
    const TomlTable peak = toml.table("peak");
    for (const std::string& key : peak.keys())
      target->peak[data_type(peak, key)] = peak.number(key);
  }
  if (toml.has("roof")) {
    const TomlTable roofs = toml.table("roof");
    for (const std::string& key : roofs.keys())
      target->roofs[data_type(roofs, key)] = read_roof(roofs.table(key));
  }
  if (toml.has("peers")) target->peers = read_peers(toml.table("peers"));
  if (toml.has("search")) target->search = toml.table("search");
  target->latency = numbers(toml, "latency");
  target->parameters = numbers(toml, "parameters");
  // Caches of no particular core; the probe replaces them where the program runs.
  const Microarchitecture defaults = microarchitecture_of(folder.parent_path(), "");
  for (const TomlTable& level : toml.tables("level"))
    target->levels.push_back(read_level(level, target->library, defaults));
  if (target->levels.empty())
    throw InputError(toml.where(), "a target needs at least one [[level]] of memory");
  refuse_unread(toml, *target);
  return target;
}

}  // namespace

std::vector<ProcPtr> Target::instructions() const {
  std::vector<ProcPtr> out;
  for (const auto* procs : {&library.procs, &library.imported_procs})
    for (const ProcPtr& p : *procs)
      if (p->instr) out.push_back(p);
  return out;
}

int Target::lanes_of(ScalarType t) const {
  const auto it = lanes.find(t == ScalarType::kR ? ScalarType::kF32 : t);
  // A type that no vector holds is computed one at a time.
  return it == lanes.end() ? 1 : it->second;
}

double Target::peak_of(ScalarType t) const {
  const auto it = peak.find(t == ScalarType::kR ? ScalarType::kF32 : t);
  // 0: nobody knows, and no share of the peak is printed.
  return it == peak.end() ? 0 : it->second;
}

std::vector<TargetLevel> caches_of(const std::vector<TargetLevel>& levels) {
  std::vector<TargetLevel> out;
  for (const TargetLevel& l : levels)
    if (l.is_cache() && l.bytes > 0) out.push_back(l);
  return out;
}

const TargetLevel* Target::find_level(const std::string& level) const {
  for (const TargetLevel& l : levels)
    if (l.name == level) return &l;
  return nullptr;
}

TargetPtr load_target(const std::string& name_or_folder, const std::vector<fs::path>& folders) {
  TargetLibrary library(folders);
  return library.load(name_or_folder);
}

std::vector<std::string> list_targets(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (fs::exists(entry.path() / kTargetFile)) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

TargetLibrary::TargetLibrary(std::vector<fs::path> folders) : folders_(std::move(folders)) {}

TargetPtr TargetLibrary::load(const std::string& name_or_folder) {
  if (const auto it = loaded_.find(name_or_folder); it != loaded_.end() && it->second)
    return it->second;
  const fs::path folder = find_folder(name_or_folder, folders_);
  loaded_[name_or_folder] = nullptr;  // being read: an import of it from here is a cycle
  try {
    return loaded_[name_or_folder] = read_target(folder, importer());
  } catch (...) {
    // A target that could not be read may be mended and asked for again by a long-lived process.
    loaded_.erase(name_or_folder);
    throw;
  }
}

Importer TargetLibrary::importer() {
  return [this](const std::string& name, const SourceLocation& where) -> const Module* {
    const std::vector<std::string> known = names();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string near = nearest(name, known);
      throw InputError(where, "no target '" + name + "'",
                       near.empty() ? "" : "did you mean '" + near + "'?");
    }
    if (const auto it = loaded_.find(name); it != loaded_.end() && !it->second)
      throw InputError(where, "target '" + name + "' imports itself");
    return &load(name)->library;
  };
}

}  // namespace exotune
