// clock.h - the time-stamp counter (TSC): a clock that user code reads in some 20 ns, without a system call.
//
// An invariant TSC counts at one rate in all power states (Intel SDM, volume 3, 18.17.1; AMD APM, volume 2, 13.2.4). Its cycles are
// units of time, not cycles of the core.
#pragma once

#include <stdint.h>
#include <x86intrin.h>

/// Ends the program if the processor does not state an invariant TSC (CPUID 0x80000007, EDX bit 8).
void clock_require_invariant(void);

/// TSC cycles a second, from 50 ms of CLOCK_MONOTONIC_RAW.
double clock_hertz(void);

/// Smallest difference of two readings with nothing between them, of 10,000 pairs.
uint64_t clock_overhead(void);

/// A reading. The fences keep work before it before, and work after it after (SDM, volume 2, LFENCE, RDTSC).
static inline uint64_t clock_read(void) {
    _mm_lfence();
    const uint64_t now = __rdtsc();
    _mm_lfence();
    return now;
}
