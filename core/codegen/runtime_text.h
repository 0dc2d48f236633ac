#pragma once
// The few lines of C that generated files carry along, each only when used.
#include <cstdint>
#include <string>

namespace exotune::codegen {

/// Definition of one helper: exo_floor_div, exo_max_f32, exo_bf16_to_f32, EXO_ASSERT, EXO_UNROLL,
/// EXO_STAYS, ...
std::string helper_text(const std::string& name);

/// The scratch arena and `void STEM_release_scratch(void)`.
std::string scratch_text(const std::string& stem, int64_t padding_bytes, bool thread_local_storage);

}  // namespace exotune::codegen
