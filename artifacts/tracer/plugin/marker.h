// SPDX-License-Identifier: GPL-2.0-only
// marker.h - the ROI markers of workloads/common/roi.h as bytes of one instruction.
#pragma once

#include <cstdint>
#include <cstring>

namespace tessera::tracer {

enum class Marker { none, begin, end };

// nopl disp32(%rax); the displacement spells TSRB or TSRE.
constexpr uint8_t begin_marker[7] = {0x0f, 0x1f, 0x80, 'T', 'S', 'R', 'B'};
constexpr uint8_t end_marker[7] = {0x0f, 0x1f, 0x80, 'T', 'S', 'R', 'E'};

inline Marker marker_of(const void* bytes, size_t size) {
    if (size != sizeof begin_marker) return Marker::none;
    if (std::memcmp(bytes, begin_marker, size) == 0) return Marker::begin;
    return std::memcmp(bytes, end_marker, size) == 0 ? Marker::end : Marker::none;
}

}  // namespace tessera::tracer
