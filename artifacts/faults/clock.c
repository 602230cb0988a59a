#include "clock.h"

#include <cpuid.h>
#include <time.h>

#include "error.h"

void clock_require_invariant(void) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
        stop(EXIT_WRONG_REQUEST, "the time-stamp counter as a clock", "use another machine, or a virtual machine that passes the flag on",
             "CPUID 0x80000007 does not state an invariant TSC (EDX %#x, bit 8)", d);
}

static uint64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

double clock_hertz(void) {
    const uint64_t begin = nanoseconds(), first = clock_read();
    uint64_t end = begin;
    while (end - begin < 50000000u) end = nanoseconds();
    return (double)(clock_read() - first) * 1e9 / (double)(end - begin);
}

uint64_t clock_overhead(void) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 10000; i++) {
        const uint64_t begin = clock_read(), taken = clock_read() - begin;
        least = taken < least ? taken : least;
    }
    return least;
}
