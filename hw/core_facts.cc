#include "hw/core_facts.h"

#include "core/base/diagnostic.h"

namespace exotune {

const char* uarch_text(const std::string& file);  // made by exotune_embed

const std::vector<CoreFact>& core_facts() {
  static const std::vector<CoreFact> facts = {
      {"page", "bytes", &CoreFacts::page},
      {"translations", "pages", &CoreFacts::translations},
      {"window", "instructions", &CoreFacts::window},
      {"scalar_width", "operations", &CoreFacts::scalar_width},
      {"load", "cycles", &CoreFacts::load},
      {"store", "cycles", &CoreFacts::store},
      {"arithmetic", "cycles", &CoreFacts::arithmetic},
      {"shuffle", "cycles", &CoreFacts::shuffle},
      {"operand_load", "cycles", &CoreFacts::operand_load},
      {"thread_start", "cycles", &CoreFacts::thread_start},
      {"thread_memory", "threads", &CoreFacts::thread_memory},
      {"ways", "ways", &CoreFacts::ways},
      {"stream_ramp", "lines", &CoreFacts::stream_ramp},
      {"combined_lines", "lines", &CoreFacts::combined_lines},
      {"cache_full", "of a cache", &CoreFacts::cache_full},
      {"apart_cost", "of adjacent lines", &CoreFacts::apart_cost},
      {"apart_lines", "lines", &CoreFacts::apart_lines},
      {"port_crowding", "of other ports", &CoreFacts::port_crowding},
      {"fma", "cycles", &CoreFacts::fma},
      {"fma_latency", "cycles", &CoreFacts::fma_latency},
      {"load_latency", "cycles", &CoreFacts::load_latency},
  };
  return facts;
}

const CoreFacts& default_core() {
  static const CoreFacts core = read_core(
      TomlTable::parse(uarch_text("default.toml"), "uarch/default.toml").table("core"), {});
  return core;
}

CoreFacts read_core(const TomlTable& core, CoreFacts otherwise) {
  std::vector<std::string> keys;
  for (const CoreFact& fact : core_facts()) keys.emplace_back(fact.key);
  core.allow_only(keys);
  for (const CoreFact& fact : core_facts()) {
    double& value = otherwise.*fact.value;
    value = core.number_or(fact.key, value);
    if (value < 0) throw InputError(core.where(fact.key), std::string(fact.key) + " is below 0");
  }
  return otherwise;
}

}  // namespace exotune
