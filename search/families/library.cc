#include "search/families/library.h"

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "core/base/subprocess.h"
#include "hw/machine.h"
#include "search/families/member_shard.h"
#include "search/families/packaging.h"
#include "search/families/units.h"
#include "search/families/versions.h"
#include "search/families/wisdom.h"
#include "search/problem.h"

namespace exotune::families {
namespace {
namespace fs = std::filesystem;

std::string read_text(const fs::path& file) {
  std::ifstream in(file);
  if (!in) throw InputError({}, "cannot read " + file.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw InputError({}, "cannot write " + file.string());
}

// The families asked for, then those whose kernels they use and which were not asked for.
struct Chosen {
  std::vector<Family> families;
  size_t asked = 0;
};

Chosen choose(const LibraryRequest& request) {
  Chosen chosen;
  const auto has = [&](const std::string& name) {
    return std::any_of(chosen.families.begin(), chosen.families.end(),
                       [&](const Family& each) { return each.name == name; });
  };
  for (const std::string& name : request.families)
    if (!has(name)) chosen.families.push_back(load_family(request.texts, name));
  chosen.asked = chosen.families.size();
  // The list grows while it is walked: families used by those that are used.
  for (size_t k = 0; k < chosen.families.size(); ++k)
    for (const std::string& used : std::vector<std::string>(chosen.families[k].uses))
      if (!has(used)) chosen.families.push_back(load_family(request.texts, used));
  return chosen;
}

// What the tuned schedule gains over the usual one, size by size.
std::string gains_of(const TunedMember& tuned) {
  std::string text;
  for (const BucketResult& bucket : tuned.buckets) {
    std::ostringstream gain;
    gain << std::setprecision(3) << bucket.gain;
    text += "  " + bucket.at + ": x" + gain.str();
    if (bucket.refused + bucket.failed > 0)
      text += " (" + std::to_string(bucket.refused) + " refused, " + std::to_string(bucket.failed) +
              " failed)";
  }
  return text;
}

fs::path schedule_file(const LibraryRequest& request, const Target& target,
                       const Tunable& tunable) {
  return request.folder / "schedules" / target.name / (tunable.name + ".sched");
}

// The answers that were measured before are in the wisdom; the others are left to be asked.
std::vector<Tunable> not_tuned_yet(const LibraryRequest& request, const Family& family,
                                   const Target& target, Wisdom& wisdom, LibraryReport& report) {
  std::vector<Tunable> todo;
  for (Tunable& tunable : tunables_of(family, target, wisdom)) {
    const fs::path file = schedule_file(request, target, tunable);
    std::string known = fs::exists(file) ? read_text(file) : "";
    // Another text has another key, and is measured again.
    if (known.rfind(key_line(request.tuned_by, tunable), 0) == 0) {
      wisdom[tunable.name] = std::move(known);
      ++report.taken;
    } else {
      todo.push_back(std::move(tunable));
    }
  }
  return todo;
}

// Measures what has not been, and publishes each member's schedules as soon as they are known.
void tune_family(const LibraryRequest& request, const Family& family, const TargetPtr& target,
                 Wisdom& wisdom, LibraryReport& report) {
  const std::vector<Tunable> todo = not_tuned_yet(request, family, *target, wisdom, report);
  std::vector<Shard> shards;
  for (const Tunable& tunable : todo) shards.push_back(member_shard(tunable, *target));
  ExecutorHooks hooks;
  hooks.say = request.say;
  hooks.interrupted = request.interrupted;
  std::vector<std::pair<size_t, TunedMember>> kept;
  hooks.finished = [&](size_t k, const ShardResult& result) {
    MemberAnswer answer = read_member_answer(result.output, todo[k]);
    if (request.store != nullptr) keep_records(*request.store, answer.records, todo[k].name);
    kept.emplace_back(k, std::move(answer.tuned));
  };
  const auto publish = [&](const Tunable& tunable, const TunedMember& tuned) {
    if (request.say) request.say(tunable.name + gains_of(tuned));
    std::string& text = wisdom[tunable.name];
    text = key_line(request.tuned_by, tunable) + print_versions(tuned.versions);
    const fs::path file = schedule_file(request, *target, tunable);
    write_text(fs::path(file) += ".new", text);
    // A file is there as a whole or not at all, and a run that was stopped goes on behind it.
    fs::rename(fs::path(file) += ".new", file);
    ++report.tuned;
  };
  // The database first: records outlive the library's folder, and what has a file is not asked
  // again.
  hooks.together = [&](const std::function<void()>& tell) {
    if (request.store != nullptr)
      keep_together(*request.store, tell);
    else
      tell();
    for (const auto& [k, tuned] : kept) publish(todo[k], tuned);
    kept.clear();
  };
  const ExecutorReport ran = request.executor->run(shards, hooks);
  if (!ran.given_up.empty()) refuse_given_up(ran, shards, "kernels");
}

void write_unit(const fs::path& source, const Unit& unit) {
  write_text(source / (unit.stem + ".c"), unit.kernels_c);
  write_text(source / (unit.stem + ".h"), unit.kernels_h);
  write_text(source / (unit.stem + "_entries.c"), unit.entries_c);
}

// One target: proofs, C, scripts. Returns the stems; none when it was stopped.
std::vector<std::string> write_target(const LibraryRequest& request, const Chosen& chosen,
                                      const TargetPtr& target, LibraryReport& report) {
  std::vector<std::string> stems;
  // Given ones, or those that came with the texts.
  FoundWisdom found =
      find_wisdom(request.wisdom.empty() ? request.texts / "wisdom" : request.wisdom, target->name,
                  request.machine);
  if (found.machine != request.machine.name && !found.machine.empty() && request.say)
    request.say("schedules for " + target->name + " are those measured on " + found.machine +
                ": the nearest to " + request.machine.name);
  // Tile sizes may belong to a machine, too.
  if (!found.sizes.empty())
    write_text(request.folder / "schedules" / target->name / "sizes.toml", found.sizes);
  Wisdom& wisdom = found.schedules;
  for (size_t k = 0; k < chosen.families.size(); ++k) {
    const Family family = with_sizes(chosen.families[k], found);
    if (request.tune) tune_family(request, family, target, wisdom, report);
    report.stopped = request.tune && request.interrupted && request.interrupted();
    if (report.stopped) return {};
    if (request.say) request.say("proving " + family.name + " for " + target->name);
    // Every step is proved again, whoever found the schedule.
    const std::vector<Member> members = prove_members(family, target, wisdom);
    std::map<std::string, std::vector<Version>> schedules;
    std::map<std::string, std::string> origins;  // the member that a schedule was measured for
    for (const Member& member : members) {
      schedules[member.name].push_back({member.when, member.schedule});
      origins[member.name] = member.scheduled_as;
      report.steps += member.steps;
      report.reassociated += member.reassociates ? 1 : 0;
    }
    for (const auto& [name, versions] : schedules) {
      const auto known = wisdom.find(origins[name]);
      write_text(request.folder / "schedules" / target->name / (name + ".sched"),
                 known != wisdom.end() ? known->second : print_versions(versions));
    }
    report.kernels += members.size();
    // Kernels of a family that is only used get no routines of their own.
    const bool entries = k < chosen.asked;
    for (const Unit& unit :
         units_of({family, *target, members, request.targets.size() == 1, entries})) {
      write_unit(request.folder / "src", unit);
      stems.push_back(unit.stem);
    }
  }
  return stems;
}

void write_package(const LibraryRequest& request, const PackageFacts& facts) {
  const fs::path& folder = request.folder;
  write_text(folder / "include" / facts.name / "cblas.h",
             cblas_header(facts, read_text(request.texts / "cblas.h")));
  for (const char* file : {"common.h", "threads.c", "workspace.c", "xerbla.c"})
    write_text(folder / "src" / file, read_text(request.texts / file));
  write_text(folder / "src" / "dispatch.c", dispatch_source(facts));
  write_text(folder / "src" / (facts.name + ".map"), version_map(facts));
  write_text(folder / "src" / "Makefile", makefile(facts));
  write_text(folder / "lib" / "pkgconfig" / (facts.name + ".pc"), pkg_config(facts));
  const fs::path package = folder / "lib" / "cmake" / facts.name;
  write_text(package / (facts.name + "Config.cmake"), cmake_package(facts));
  write_text(package / (facts.name + "ConfigVersion.cmake"), cmake_package_version(facts));
}

}  // namespace

LibraryReport write_library(const LibraryRequest& request) {
  const Chosen chosen = choose(request);
  LibraryReport report;
  PackageFacts facts;
  facts.version = request.version;
  facts.targets = request.targets;
  for (size_t k = 0; k < chosen.asked; ++k) {
    const Family& family = chosen.families[k];
    const std::vector<Entry> entries = entries_of(family);
    facts.entries.insert(facts.entries.end(), entries.begin(), entries.end());
    report.lines_by_hand += family.bodies.lines() + family.mixed.lines();
  }
  for (const TargetPtr& target : request.targets) {
    facts.compilers.push_back(find_compiler(target->compiler).program);
    facts.stems.push_back(write_target(request, chosen, target, report));
    if (report.stopped) return report;
  }
  write_package(request, facts);
  report.routines = facts.entries.size();
  return report;
}

void build_library(const fs::path& folder, int jobs) {
  if (find_program("make").empty())
    throw Error(Diagnostic{{},
                           "there is no `make` here to build the library with",
                           {},
                           "apt install make, then make -j -C " + (folder / "src").string()},
                ExitCode::kUnavailable);
  CommandOptions options;
  // An hour: without a limit a compiler that hangs would hang us.
  options.timeout_seconds = 3600;
  const CommandResult result =
      run_command({"make", "-C", (folder / "src").string(), "-j" + std::to_string(jobs)}, options);
  if (result.ok()) return;
  throw Error(Diagnostic{{},
                         "the generated C was not built",
                         {LazyText(result.out + result.err)},
                         "make -C " + (folder / "src").string() + " says it again"},
              ExitCode::kInternal);
}

}  // namespace exotune::families
