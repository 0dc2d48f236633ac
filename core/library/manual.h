#pragma once
// The manual: what the headers of the primitives and of this library say of each function, read
// from the headers themselves, so that nothing is said twice. Start at manual_entry.
#include <string>

#include "core/library/operators.h"

namespace exotune {

struct ManualEntry {
  std::string
      header;        // "core/primitives/loops.h"; "" when no header has a comment for the function
  std::string text;  // its comment without the slashes: before -> after, obligation, forwarding
  /// One function as its header describes it.
};

/// The comment above the first declaration of a function. Cost: a scan of the headers, once.
ManualEntry manual_entry(const std::string& function);

/// Where searches propose the operator, and with which values; "" when none does. It is the last
/// part of its function's comment, from "Proposed " on, or said in its row.
std::string proposal_of(const Operator& op);

/// An operator in full, several lines: its signature, what it does in short, the entry of the
/// function that it calls, and whether and where a search proposes it.
std::string description_of(const Operator& op);

/// The functions of a header with a comment in front of them, in the order of the text; free of the
/// program's own headers, for tests.
std::vector<std::pair<std::string, std::string>> entries_of(const std::string& header_text);

}  // namespace exotune
