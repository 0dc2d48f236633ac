#pragma once
// Whether a test is compiled with AddressSanitizer: gcc says so by a macro, clang by a feature.

#if defined(__SANITIZE_ADDRESS__)
#define EXOTUNE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EXOTUNE_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef EXOTUNE_ADDRESS_SANITIZER
#define EXOTUNE_ADDRESS_SANITIZER 0
#endif

namespace exotune {

/// True in programs that AddressSanitizer watches: they are slower, and their malloc is its own.
inline constexpr bool kAddressSanitizer = EXOTUNE_ADDRESS_SANITIZER != 0;

}  // namespace exotune
