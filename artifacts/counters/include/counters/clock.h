// clock.h - the clock of regions: it is not stepped or slewed by NTP.
#pragma once

#include <cstdint>
#include <ctime>

namespace tessera::counters {

inline uint64_t nanoseconds(const timespec& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

inline uint64_t now_ns() {
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return nanoseconds(time);
}

}  // namespace tessera::counters
