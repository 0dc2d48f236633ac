#include "search/tuning_context.h"

#include <map>

#include "core/base/diagnostic.h"
#include "core/base/hashing.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/attempted.h"
#include "core/library/statements.h"
#include "core/primitives/procedures.h"

namespace exotune {

Steps fixing_steps(const Proc& p, const SizeBinding& sizes) {
  ScheduleStep step{"partial_eval", {}};
  for (const auto& [name, value] : sizes)
    for (const Arg& a : p.args)
      if (a.name.name() == name && is_integer_control(a.type.scalar))
        step.named.emplace_back(name, value);
  return step.named.empty() ? Steps{} : Steps{std::move(step)};
}

namespace {

// What nobody can run: an error of the sizes, told where the assert stands.
void require_asserts(const Proc& p, const SizeBinding& sizes) {
  std::map<Sym, int64_t> env;
  for (const Arg& a : p.args)
    if (const auto it = sizes.find(a.name.name()); it != sizes.end()) env[a.name] = it->second;
  for (const ExprPtr& assert : p.asserts) {
    bool holds = true;
    try {
      holds = eval_control(assert, env) != 0;
    } catch (const InterpError&) {  // speaks of strides, or of sizes that stay open
    }
    if (!holds)
      throw InputError(assert->where,
                       "the assert `" + str(assert) + "` does not hold at " + sizes_text(sizes),
                       "--size with sizes at which it does");
  }
}

}  // namespace

ProcPtr at_sizes(ProcPtr p, const SizeBinding& sizes) {
  require_asserts(*p, sizes);
  std::vector<std::pair<std::string, int64_t>> values;
  for (const Arg& a : p->args)
    if (const auto it = sizes.find(a.name.name());
        it != sizes.end() && is_integer_control(a.type.scalar))
      values.emplace_back(*it);
  return values.empty() ? p : partial_eval(std::move(p), values);
}

ProcPtr with_folded_updates(ProcPtr p) {
  (void)attempted(p, [](const ProcPtr& q) { return fold_updates(q); });
  return p;
}

std::string sizes_text(const SizeBinding& sizes) {
  std::string out;
  for (const auto& [name, value] : sizes)
    out += (out.empty() ? "" : ",") + name + "=" + std::to_string(value);
  return out;
}

std::string threads_text(int threads) {
  return threads > 1 ? " (" + std::to_string(threads) + " threads)" : "";
}

std::string script_text(const Proc& kernel, const Steps& steps) {
  return "p = " + kernel.name + "\n" + key_of(steps);
}

TrialKey context_key(const Proc& kernel, const std::string& sizes, const Target& target,
                     const Machine& machine) {
  TrialKey key;
  key.kernel_hash = content_hash(canonical_text(kernel));
  key.sizes = sizes;
  key.target = target.name;
  key.fingerprint = fingerprint(machine, target).hash;
  return key;
}

TrialKey enter_context(const ProcPtr& kernel, const std::string& name, const std::string& sizes,
                       const Target& target, const Machine& machine,
                       const TargetToolchain& toolchain, Store& store) {
  const Fingerprint here = fingerprint(machine, target);
  TrialKey key = context_key(*kernel, sizes, target, machine);
  key.compiler = toolchain.describe();
  store.put_machine({here.hash, here.microarch, here.isa, machine.model_name});
  store.put_kernel(key.kernel_hash, name);
  return key;
}

}  // namespace exotune
