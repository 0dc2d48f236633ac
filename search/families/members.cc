#include "search/families/members.h"

#include <algorithm>
#include <exception>

#include "core/analysis/queries.h"
#include "core/base/parallel.h"
#include "core/cursor/provenance.h"
#include "core/library/script.h"
#include "core/library/transposition.h"
#include "core/primitives/primitives.h"
#include "hw/half_width.h"
#include "search/families/versions.h"

namespace exotune::families {
namespace {

// The object code with one more thing known of its sizes.
std::string with_assert(const std::string& code, const std::string& when) {
  if (when.empty()) return code;
  const size_t def = code.find("def "), end = code.find("):\n", def);
  if (def == std::string::npos || end == std::string::npos) return code;
  return code.substr(0, end + 3) + "    assert " + when + "\n" + code.substr(end + 3);
}

std::vector<Member> versions_of(const KernelTemplate& kernel, const Substitution& places,
                                const Target& target, const Wisdom& wisdom) {
  const std::string name = expand(kernel.name, places, kernel.where);
  const std::string as = scheduled_as(kernel, places);
  const auto known = wisdom.find(as);
  const std::string schedule =
      known != wisdom.end() ? known->second : expand(kernel.schedule, places, kernel.where);
  const std::vector<Version> versions = parse_versions(schedule, name);
  const auto precision = places.find("p");
  std::vector<Member> members;
  for (size_t k = 0; k < versions.size(); ++k) {
    Member member;
    member.name = name;
    member.scheduled_as = as;
    const std::string version = versions.size() == 1 ? "" : "_v" + std::to_string(k);
    member.c_name = c_name_of(name + version, target);
    member.unit = precision == places.end() ? "mixed" : precision->second;
    member.when = versions[k].when;
    member.schedule = versions[k].script;
    member.code = with_assert(
        expand(kernel.code, with(places, {{"name", member.c_name}}), kernel.where), member.when);
    members.push_back(std::move(member));
  }
  return members;
}

// The instruction that transposes a tile of this type; "" where there is none.
std::string transposing(const Target& target, ScalarType type) {
  for (const ProcPtr& instruction : target.instructions())
    if (is_transpose(*instruction) && instruction->args.front().type.scalar == type)
      return instruction->name;
  return "";
}

}  // namespace

std::string scheduled_as(const KernelTemplate& kernel, const Substitution& places) {
  return expand(kernel.like.empty() ? kernel.name : kernel.like, places, kernel.where);
}

std::string c_name_of(const std::string& member, const Target& target) {
  return "blas_" + member + "_" + target.name;
}

namespace {

// "16, 8, 4, 2, 1" for vectors of 16.
std::string blocks_of(int lanes) {
  std::string text = std::to_string(lanes);
  for (int size = lanes / 2; size >= 1; size /= 2) text += ", " + std::to_string(size);
  return text;
}

}  // namespace

Substitution places_of(const Family& family, const Target& target) {
  Substitution places{{"target", target.name}};
  const TargetPtr half = half_width_of(target);
  places["memory"] = target.vector_memory ? target.vector_memory->name : "DRAM";
  for (const ScalarType type : {ScalarType::kF32, ScalarType::kF64}) {
    const std::string name = type == ScalarType::kF32 ? "f32" : "f64";
    places["lanes." + name] = std::to_string(target.lanes_of(type));
    places["unit." + name] = "${lanes." + name + "}, ${memory}, instrs";
    places["blocks." + name] = blocks_of(target.lanes_of(type));
    if (half != nullptr) {
      places["half_lanes." + name] = std::to_string(half->lanes_of(type));
      places["half_blocks." + name] = blocks_of(half->lanes_of(type));
      places["half." + name] = std::to_string(half->lanes_of(type)) + ", " +
                               half->vector_memory->name + ", " +
                               half->instructions().front()->instr->list;
    }
    places["transpose." + name] = transposing(target, type);
  }
  for (const auto& [place, steps] : family.half) places[place] = half == nullptr ? "" : steps;
  places = with(with(places, family.places), family.sizes);
  const auto own = family.targets.find(target.name);
  return own == family.targets.end() ? places : with(places, own->second);
}

Prover::Prover(TargetPtr target) : target_(std::move(target)) {
  const TargetPtr half = half_width_of(*target_);
  std::vector<const Module*> libraries = {&target_->library};
  if (half != nullptr) libraries.push_back(&half->library);
  std::map<std::string, Value> names = script_environment({}, libraries).names;
  names_ = std::make_shared<const std::map<std::string, Value>>(std::move(names));
}

ProcPtr Prover::read(const std::string& code, const std::string& name,
                     const std::string& when) const {
  const Module module = parse_module(with_assert(code, when), name + ".exo");
  const ProcPtr proc = module.find_proc(name);
  if (proc == nullptr) throw InputError({}, "the code of " + name + " defines no such procedure");
  check(*proc);
  return proc;
}

ProcPtr Prover::replay(const ProcPtr& kernel, const std::string& script,
                       const std::string& member) const {
  ScriptEnvironment environment;
  environment.names = *names_;
  environment.names[kernel->name] = Value(kernel);
  environment.start = kernel;
  const ProcPtr proc = run_script(script, member + ".sched", environment).proc;
  check(*proc);
  return proc;
}

std::vector<Member> prove_members(const Family& family, const TargetPtr& target,
                                  const Wisdom& wisdom) {
  std::vector<Member> members;
  const Substitution of_target = places_of(family, *target);
  for (const KernelTemplate& kernel : family.kernels)
    for (const Substitution& places : combinations(family, kernel.axes))
      for (Member& member : versions_of(kernel, with(of_target, places), *target, wisdom))
        members.push_back(std::move(member));

  const Prover prover(target);
  std::vector<std::exception_ptr> failures(members.size());
  in_parallel(members.size(), [&](size_t k) {
    try {
      Member& member = members[k];
      const ProcPtr kernel = prover.read(member.code, member.c_name, "");
      member.proc = prover.replay(kernel, member.schedule, member.name);
      member.steps = trace_of(member.proc).size();
      member.reassociates = reassociates(member.proc);
    } catch (Error& error) {
      error.diagnostic().notes.push_back("in kernel " + members[k].name + " of family " +
                                         family.name + " for " + target->name);
      failures[k] = std::current_exception();
    } catch (...) {
      failures[k] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return members;
}

}  // namespace exotune::families
