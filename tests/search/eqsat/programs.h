#pragma once
// Programs and shipped rules, as tests of eqsat read them.
#include <fstream>
#include <sstream>
#include <string>

#include "core/frontend/parser.h"
#include "search/eqsat/lowering.h"

namespace exotune::eqsat {

inline RuleText shipped(const std::string& name) {
  std::ifstream in(EXOTUNE_SOURCE_DIR "/search/eqsat/rules/" + name + ".rules");
  std::stringstream text;
  text << in.rdbuf();
  return {name + ".rules", text.str()};
}

inline ProcPtr proc(const std::string& text) {
  return parse_module(text, "test.exo").procs.front();
}

}  // namespace exotune::eqsat
