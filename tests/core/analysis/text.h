#pragma once
// Procs from text, and what `check` says of them.
#include <string>

#include "core/analysis/queries.h"
#include "core/frontend/parser.h"

namespace exotune::testing {

/// The last proc of the text.
inline ProcPtr parse(const std::string& text) { return parse_module(text, "t.exo").procs.back(); }

/// "" when accepted, else the message without its location.
inline std::string refusal(const std::string& text, bool for_codegen = false) {
  try {
    check(*parse(text), for_codegen);
    return "";
  } catch (const InputError& e) {
    return e.diagnostic().message.str();
  }
}

}  // namespace exotune::testing
