#pragma once
// What a bare-metal benchmark needs besides the kernel: the texts of its start-up code, linker
// script, console and main program. They use nothing but the compiler's own headers, and are the
// same for every runner (contract.h). A program for Linux has its system's start-up code and its C
// library instead (kLinuxHost), counts nothing itself, and marks by a system call that no system
// has where what is to be counted begins and ends.
//
// Memory from 0x80000000: code and constants, `tohost`, a gap, the stack, data. The stack grows
// towards the gap, so that a simulator that refuses stores there catches its overflow.
namespace exotune::runtime {

extern const char* const kStart;      // start.S
extern const char* const kLink;       // link.ld
extern const char* const kHeader;     // exo_tune.h: what main.c, host.c and a problem share
extern const char* const kHost;       // host.c: HTIF, numbers, memcpy and the like
extern const char* const kMain;       // main.c
extern const char* const kLinuxHost;  // host.c on Linux

}  // namespace exotune::runtime
