// measure.h - runs and times the region of interest: clock, marker, kernel, marker, clock.
//
// The clock is read outside the markers, so a tracer records the kernel alone. The kernel must not be
// inlined (mark it TESSERA_KERNEL): otherwise the compiler may move its arithmetic across the markers.
#pragma once

#include <chrono>
#include <cstdint>

#include "common/roi.h"

#define TESSERA_KERNEL __attribute__((noinline))

namespace tessera::workloads {

template <class Body>
uint64_t region_of_interest_ns(Body&& body) {
    const auto begin = std::chrono::steady_clock::now();
    TESSERA_ROI_BEGIN();
    body();
    TESSERA_ROI_END();
    const auto end = std::chrono::steady_clock::now();
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count());
}

}  // namespace tessera::workloads
