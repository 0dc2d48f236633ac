#include "search/families/members.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <exception>

#include "core/analysis/queries.h"
#include "core/cursor/provenance.h"
#include "core/library/script.h"
#include "core/library/transposition.h"
#include "core/primitives/primitives.h"

namespace exotune::families {
namespace {

Member member_of(const KernelTemplate& kernel, const Substitution& places, const Target& target,
                 const Wisdom& wisdom) {
  Member member;
  member.name = expand(kernel.name, places, kernel.where);
  member.c_name = "blas_" + member.name + "_" + target.name;
  const auto precision = places.find("p");
  member.unit = precision == places.end() ? "mixed" : precision->second;
  const Substitution all = with(places, {{"name", member.c_name}});
  member.code = expand(kernel.code, all, kernel.where);
  const auto known = wisdom.find(member.name);
  member.schedule =
      known != wisdom.end() ? known->second : expand(kernel.schedule, all, kernel.where);
  return member;
}

void prove(Member& member, const Target& target, const ValueList& instructions) {
  const Module module = parse_module(member.code, member.name + ".exo");
  const ProcPtr start = module.find_proc(member.c_name);
  if (start == nullptr)
    throw InputError({}, "the code of " + member.name + " defines no procedure ${name}");
  check(*start);
  ScriptEnvironment environment = script_environment(module, {&target.library});
  environment.start = start;
  environment.names["instrs"] = Value(instructions);
  const ScriptResult result = run_script(member.schedule, member.name + ".sched", environment);
  member.proc = result.proc;
  check(*member.proc);
  member.steps = trace_of(member.proc).size();
  member.reassociates = reassociates(member.proc);
}

// The instruction that transposes a tile of this type; "" where there is none.
std::string transposing(const Target& target, ScalarType type) {
  for (const ProcPtr& instruction : target.instructions())
    if (is_transpose(*instruction) && instruction->args.front().type.scalar == type)
      return instruction->name;
  return "";
}

}  // namespace

Substitution places_of(const Target& target) {
  Substitution places{{"target", target.name}};
  places["memory"] = target.vector_memory ? target.vector_memory->name : "DRAM";
  for (const ScalarType type : {ScalarType::kF32, ScalarType::kF64}) {
    const std::string name = type == ScalarType::kF32 ? "f32" : "f64";
    places["lanes." + name] = std::to_string(target.lanes_of(type));
    places["unit." + name] = "${lanes." + name + "}, ${memory}, instrs";
    places["transpose." + name] = transposing(target, type);
  }
  // A register tile two vectors wide: with its row of the other factor and a broadcast it fills the
  // registers. What is left of the rows goes by halves.
  const int registers =
      target.vector_memory && target.vector_memory->count > 0 ? target.vector_memory->count : 16;
  const int rows = std::max(1, (registers - 3) / 2);
  places["tile_rows"] = std::to_string(rows);
  std::string halves;
  for (int left = rows; left > 1; left = (left + 1) / 2) halves += std::to_string(left) + ", ";
  places["tile_heights"] = "[" + halves + "1]";
  return places;
}

std::vector<Member> prove_members(const Family& family, const TargetPtr& target,
                                  const Wisdom& wisdom) {
  std::vector<Member> members;
  const Substitution of_target = places_of(*target);
  for (const KernelTemplate& kernel : family.kernels)
    for (const Substitution& places : combinations(family, kernel.axes))
      members.push_back(member_of(kernel, with(of_target, places), *target, wisdom));

  ValueList instructions;
  for (const ProcPtr& instruction : target->instructions()) instructions.emplace_back(instruction);
  std::vector<std::exception_ptr> failures(members.size());
  tbb::parallel_for(size_t{0}, members.size(), [&](size_t k) {
    try {
      prove(members[k], *target, instructions);
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
