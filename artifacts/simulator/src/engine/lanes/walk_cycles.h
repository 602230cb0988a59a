// walk_cycles.h - the latency of each lane's walk, one row of 64 numbers of 32 bits a walking access.
#pragma once

#include "engine/lanes/rows.h"
#include "engine/lanes/storage.h"
#include "engine/outcome.h"

namespace tessera::sim::lanes::TESSERA_ISA {

/// row[l] += cycles in the lanes given.
LANES_INLINE void add_cycles(uint32_t* row, uint64_t lanes, uint32_t cycles) {
#if defined(__AVX512BW__)
    const __m512i by = _mm512_set1_epi32(int(cycles));
    for (unsigned at = 0; at < max_lanes; at += 16) {
        const __m512i old = _mm512_load_si512(row + at);
        _mm512_store_si512(row + at, _mm512_mask_add_epi32(old, __mmask16(lanes >> at), old, by));
    }
#elif defined(__AVX2__)
    const __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128), by = _mm256_set1_epi32(int(cycles));
    for (unsigned at = 0; at < max_lanes; at += 8) {
        const __m256i in = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(int(lanes >> at & 255)), each), each);
        __m256i* to = reinterpret_cast<__m256i*>(row + at);
        _mm256_store_si256(to, _mm256_add_epi32(_mm256_load_si256(to), _mm256_and_si256(in, by)));
    }
#else
    for (unsigned at = 0; at < max_lanes; ++at) row[at] += lanes >> at & 1 ? cycles : 0;
#endif
}

/// The rows of one chunk.
class WalkCycles {
public:
    /// At most so many rows are taken until the next call.
    void begin(size_t rows) {
        if (rows * max_lanes > cycles_.size()) cycles_.grow(rows * max_lanes);
        used_ = 0;
    }
    uint32_t take() {
        std::memset(row(uint32_t(used_)), 0, max_lanes * sizeof(uint32_t));
        return uint32_t(used_++);
    }
    uint32_t* row(uint32_t index) { return cycles_.data() + size_t{index} * max_lanes; }
    size_t used() const { return used_; }

private:
    Array<uint32_t> cycles_;
    size_t used_ = 0;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
