#pragma once
// What a program of one's own does after scheduling: runs both procs in the interpreter on small
// integers and compares every element.
#include <exotune/exotune.h>

#include <cstdint>
#include <map>
#include <string>

/// Exits with 1 and a message when `after` computes anything else than `before` at these sizes.
void require_same_result(const exotune::ProcPtr& before, const exotune::ProcPtr& after,
                         const std::map<std::string, int64_t>& sizes);
