#include "hw/machine.h"

#include <cpu_features/cpu_features_macros.h>
#include <hwloc.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>

#include "core/base/hashing.h"
#include "core/base/subprocess.h"
#include "hw/machine_model.h"

#if defined(CPU_FEATURES_ARCH_X86)
#include <cpu_features/cpuinfo_x86.h>
#endif

namespace exotune {
namespace {

std::string lower(std::string s) {
  for (char& c : s) c = static_cast<char>(tolower(static_cast<unsigned char>(c)));
  return s;
}

void identify_cpu(Machine& machine) {
#if defined(CPU_FEATURES_ARCH_X86)
  // Features that both the CPU and the system support: registers that are not saved at a switch do
  // not count.
  const cpu_features::X86Info info = cpu_features::GetX86Info();
  machine.vendor = info.vendor;
  machine.model_name = info.brand_string;
  machine.family = info.family;
  machine.model = info.model;
  machine.stepping = info.stepping;
  for (int k = 0; k < cpu_features::X86_LAST_; ++k) {
    const auto feature = static_cast<cpu_features::X86FeaturesEnum>(k);
    if (cpu_features::GetX86FeaturesEnumValue(&info.features, feature))
      machine.features.emplace_back(cpu_features::GetX86FeaturesEnumName(feature));
  }
  const auto microarch = cpu_features::GetX86Microarchitecture(&info);
  // Newer cores than the library knows are named by vendor, family and model below.
  if (microarch != cpu_features::X86_UNKNOWN)
    machine.microarch = lower(cpu_features::GetX86MicroarchitectureName(microarch));
#else
  // "Features : fp asimd ..." or "isa : rv64imafdcv"
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("Features", 0) != 0 && line.rfind("isa", 0) != 0) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string word; words >> word;) machine.features.push_back(word);
    break;
  }
#endif
  // has_feature searches them so.
  std::sort(machine.features.begin(), machine.features.end());
  machine.features.erase(std::unique(machine.features.begin(), machine.features.end()),
                         machine.features.end());
  if (machine.microarch.empty())
    machine.microarch = lower(machine.vendor.empty() ? machine.arch : machine.vendor) + "-" +
                        std::to_string(machine.family) + "-" + std::to_string(machine.model);
}

void read_topology(Machine& machine) {
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return;
  if (hwloc_topology_load(topology) == 0) {
    // At least one of each, also where the system says nothing.
    const auto count = [&](hwloc_obj_type_t type) {
      return std::max(1, hwloc_get_nbobjs_by_type(topology, type));
    };
    machine.cores = count(HWLOC_OBJ_CORE);
    machine.threads = count(HWLOC_OBJ_PU);
    machine.memory_bytes = static_cast<int64_t>(hwloc_get_root_obj(topology)->total_memory);
    // From the first hardware thread outwards: its caches, the innermost first. Cores of another
    // kind on the same machine have others.
    for (hwloc_obj_t o = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, 0); o; o = o->parent) {
      if (!hwloc_obj_type_is_dcache(o->type)) continue;
      // Cores, not threads, as each core runs one thread of a kernel.
      const int sharers =
          hwloc_get_nbobjs_inside_cpuset_by_type(topology, o->cpuset, HWLOC_OBJ_CORE);
      machine.caches.push_back({static_cast<int>(o->attr->cache.depth),
                                static_cast<int64_t>(o->attr->cache.size),
                                static_cast<int>(o->attr->cache.linesize), std::max(1, sharers)});
    }
  }
  hwloc_topology_destroy(topology);
}

// What the C library knows where /sys is not mounted (a bare chroot) and the topology is empty.
void read_system(Machine& machine) {
  if (machine.memory_bytes <= 0)
    machine.memory_bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  if (!machine.caches.empty()) return;
  // 0 or -1 where it does not know either.
  const long levels[3][2] = {{sysconf(_SC_LEVEL1_DCACHE_SIZE), sysconf(_SC_LEVEL1_DCACHE_LINESIZE)},
                             {sysconf(_SC_LEVEL2_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_LINESIZE)},
                             {sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL3_CACHE_LINESIZE)}};
  for (int level = 0; level < 3; ++level)
    if (levels[level][0] > 0)
      machine.caches.push_back(
          {level + 1, levels[level][0], static_cast<int>(levels[level][1]), 1});
}

}  // namespace

bool Machine::has_feature(const std::string& feature) const {
  return std::binary_search(features.begin(), features.end(), feature);
}

std::vector<TargetLevel> Machine::levels_of(const Target& target) const {
  return model_of(target, *this).levels;
}

Machine probe_machine() {
  Machine machine;
  utsname system{};
  if (uname(&system) == 0) machine.arch = system.machine;
  identify_cpu(machine);
  read_topology(machine);
  read_system(machine);
  return machine;
}

std::vector<std::string> missing_features(const Machine& machine, const Target& target) {
  std::vector<std::string> missing;
  // Other runners bring their own CPU.
  if (!target.runner.is_this_machine()) return missing;
  for (const std::string& feature : target.required_features)
    if (!machine.has_feature(feature)) missing.push_back(feature);
  return missing;
}

bool supports(const Machine& machine, const Target& target) {
  return target.runner.is_this_machine() && missing_features(machine, target).empty();
}

TargetPtr best_target(const Machine& machine, const std::vector<TargetPtr>& targets,
                      const std::vector<ScalarType>& types) {
  const auto better = [&](const Target& a, const Target& b) {
    const auto key = [&](const Target& t) {
      std::vector<double> peaks;
      for (const ScalarType type : types) peaks.push_back(t.peak_of(type));
      peaks.insert(peaks.end(), {t.peak_of(ScalarType::kF32), t.peak_of(ScalarType::kF64)});
      return peaks;
    };
    return key(a) != key(b) ? key(a) > key(b) : a.name < b.name;
  };
  TargetPtr best;
  for (const TargetPtr& target : targets)
    if (supports(machine, *target) && (!best || better(*target, *best))) best = target;
  return best;
}

Fingerprint fingerprint(const Machine& machine, const Target& target) {
  std::ostringstream text;
  text << machine.arch << '\n'
       << machine.vendor << ' ' << machine.family << ' ' << machine.model << ' ' << machine.stepping
       << '\n'
       << machine.cores << ' ' << machine.threads << '\n';
  for (const CacheLevel& c : machine.caches)
    text << c.level << ' ' << c.bytes << ' ' << c.line_bytes << ' ' << c.shared_by << '\n';
  for (const std::string& feature : machine.features) text << feature << ' ';
  // Not the clock, the memory or the system's name: they differ between machines whose schedules
  // are the same.
  return {target.isa, machine.microarch, content_hash(text.str())};
}

std::optional<std::string> version_of(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  const std::lock_guard lock(mutex);
  if (const auto at = known.find(path); at != known.end()) return at->second;
  // Who was stopped may be asked again.
  const CommandResult said = run_command({path, "--version"});
  if (!said.ok()) return std::nullopt;
  return known[path] = said.out.substr(0, said.out.find('\n'));
}

CompilerIdentity find_compiler(const TargetCompiler& compiler) {
  std::string tried;
  for (const std::string& program : compiler.programs) {
    tried += (tried.empty() ? "" : ", ") + program;
    const std::string path = find_program(program);
    if (path.empty()) continue;
    const std::optional<std::string> version = version_of(path);
    // A program of that name that cannot say its version is none.
    if (!version) continue;
    CompilerIdentity found{program, path, *version, ""};
    std::string key = found.version;
    // Other flags make another compiler, for whatever was measured.
    for (const std::string& flag : compiler.flags) key += '\n' + flag;
    found.hash = content_hash(key);
    return found;
  }
  throw Error(Diagnostic{{},
                         "no C compiler for this target on PATH (tried " + tried + ")",
                         {},
                         "install one of them, or add another to the target's [compiler] programs"},
              ExitCode::kUnavailable);
}

}  // namespace exotune
