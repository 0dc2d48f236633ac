#include "hw/kernel_table.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "hw/toml_table.h"

namespace exotune {
namespace {

std::map<std::string, std::string> scalars(const TomlTable& table, const std::string& key) {
  std::map<std::string, std::string> out;
  if (!table.has(key)) return out;
  const TomlTable entries = table.table(key);
  for (const std::string& name : entries.keys()) out[name] = entries.scalar(name);
  return out;
}

PeerOperation read_peer(const TomlTable& table) {
  table.allow_only({"op", "arguments", "sizes", "factors", "trans_a", "trans_b", "rectify"});
  PeerOperation peer;
  peer.op = table.text("op");
  peer.arguments = scalars(table, "arguments");
  peer.sizes = scalars(table, "sizes");
  peer.factors = scalars(table, "factors");
  peer.trans_a = table.boolean_or("trans_a", false);
  peer.trans_b = table.boolean_or("trans_b", false);
  peer.rectify = table.boolean_or("rectify", false);
  return peer;
}

// The list itself, or the name of one in the file's [sizes].
std::vector<TomlTable> size_list(const TomlTable& table, const std::string& key,
                                 const TomlTable& named) {
  if (!table.is_text(key)) return table.tables(key);
  const std::string list = table.text(key);
  if (named.has(list)) return named.tables(list);
  const std::string near = nearest(list, named.keys());
  throw InputError(table.where(key), "no list '" + list + "' in [sizes]",
                   near.empty() ? "" : "did you mean '" + near + "'?");
}

// The sizes under `key`, each with a value for every size that the kernel's formulas name.
std::vector<SizeBinding> bindings(const TomlTable& table, const std::string& key,
                                  const TomlTable& named_sizes, const KernelEntry& kernel) {
  std::vector<SizeBinding> out;
  for (const TomlTable& sizes : size_list(table, key, named_sizes)) {
    SizeBinding binding;
    for (const std::string& name : sizes.keys()) {
      const int64_t value = sizes.integer(name);
      if (value < 1) throw InputError(sizes.where(name), "a size must be positive");
      binding[name] = value;
    }
    for (const SizeFormula* formula : {&kernel.flops, &kernel.bytes})
      for (const std::string& name : formula->names())
        if (!binding.count(name))
          throw InputError(sizes.where(),
                           "the size '" + name + "' of '" + formula->text() + "' is missing");
    out.push_back(std::move(binding));
  }
  return out;
}

KernelEntry read_kernel(const TomlTable& table, const TomlTable& named_sizes,
                        const std::filesystem::path& folder) {
  table.allow_only({"name", "file", "proc", "family", "summary", "precision", "sizes", "flops",
                    "bytes", "peer", "ahead", "calibration"});
  KernelEntry kernel;
  kernel.where = table.where();
  kernel.name = table.text("name");
  kernel.file = folder / table.text("file");
  kernel.proc = table.text_or("proc", kernel.name);
  kernel.family = table.text("family");
  kernel.summary = table.text_or("summary", "");
  const std::string precision = table.text("precision");
  const std::optional<ScalarType> type = scalar_type(precision);
  if (!type || !is_data(*type))
    throw InputError(table.where("precision"), "'" + precision + "' is no element type");
  kernel.precision = *type;
  if (table.has("ahead")) kernel.ahead = table.texts("ahead");
  kernel.flops = SizeFormula(table.text("flops"), table.where("flops"));
  kernel.bytes = SizeFormula(table.text("bytes"), table.where("bytes"));
  kernel.sizes = bindings(table, "sizes", named_sizes, kernel);
  if (table.has("calibration"))
    kernel.calibration = bindings(table, "calibration", named_sizes, kernel);
  if (kernel.sizes.empty())
    throw InputError(table.where(), "kernel '" + kernel.name + "' has no sizes to measure at");
  if (table.has("peer")) kernel.peer = read_peer(table.table("peer"));
  return kernel;
}

}  // namespace

ProcPtr KernelEntry::load(const Importer& importer) const {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(where, "cannot read '" + file.string() + "'");
  std::ostringstream text;
  text << in.rdbuf();
  const Module module = parse_module(text.str(), file.string(), importer);
  std::vector<std::string> names;
  for (const ProcPtr& p : module.procs) {
    if (p->name == proc) return p;
    names.push_back(p->name);
  }
  const std::string near = nearest(proc, names);
  throw InputError(where, "no proc '" + proc + "' in " + file.string(),
                   near.empty() ? "" : "did you mean '" + near + "'?");
}

const KernelEntry* KernelTable::find(const std::string& name) const {
  for (const KernelEntry& k : kernels_)
    if (k.name == name) return &k;
  return nullptr;
}

const KernelEntry& KernelTable::at(const std::string& name) const {
  if (const KernelEntry* found = find(name)) return *found;
  std::vector<std::string> names;
  for (const KernelEntry& k : kernels_) names.push_back(k.name);
  const std::string near = nearest(name, names);
  throw InputError(
      {}, "no kernel '" + name + "'",
      near.empty() ? "exo-tune list kernels names them" : "did you mean '" + near + "'?");
}

std::vector<std::string> KernelTable::families() const {
  std::vector<std::string> out;
  for (const KernelEntry& k : kernels_)
    if (std::find(out.begin(), out.end(), k.family) == out.end()) out.push_back(k.family);
  return out;
}

std::vector<const KernelEntry*> KernelTable::of_family(const std::string& family) const {
  std::vector<const KernelEntry*> out;
  for (const KernelEntry& k : kernels_)
    if (k.family == family) out.push_back(&k);
  return out;
}

KernelTable load_kernel_table(const std::filesystem::path& folder) {
  const TomlTable table = TomlTable::read(folder / "kernels.toml");
  table.allow_only({"sizes", "kernel"});
  const TomlTable named_sizes =
      table.has("sizes") ? table.table("sizes") : TomlTable::parse("", "");
  std::vector<KernelEntry> kernels;
  for (const TomlTable& entry : table.tables("kernel")) {
    KernelEntry kernel = read_kernel(entry, named_sizes, folder);
    for (const KernelEntry& other : kernels)
      if (other.name == kernel.name)
        throw InputError(kernel.where,
                         "kernel '" + kernel.name + "' is already at " + other.where.str());
    kernels.push_back(std::move(kernel));
  }
  return KernelTable(std::move(kernels));
}

}  // namespace exotune
