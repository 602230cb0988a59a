// pointer_chase.h - the kernel of chase: pointers that lead once through all elements, and where they must end.
//
// There is one element per stride, each on its own cache line. The next address is known only after the previous load, so
// the time of a step is the latency of one access. Elements rotate over lines and 4KB parts inside a stride, so that the
// sets of data caches and TLBs fill evenly for any page size. Several chains at once are independent of each other: they
// show how many misses the core overlaps.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/measure.h"
#include "common/rng.h"

namespace tessera::workloads {

enum class Order { random, ascending };

/// Byte offset of element i. Below 4KB the stride is the offset. From 4KB on, element i uses 4KB part i of its
/// stride (cyclically) and line i + i/32 of that part: 2048 elements in a row then take all pairs of a line and a part
/// modulo 32, so they spread evenly over the sets of an L2 that is indexed by address bits 6 to 16.
inline uint64_t element_offset(uint64_t i, uint64_t stride_bytes) {
    constexpr uint64_t kPartBytes = 4096, kLineBytes = 64;
    if (stride_bytes < kPartBytes) return i * stride_bytes;
    const uint64_t part = i % (stride_bytes / kPartBytes), line = (i + i / 32) % (kPartBytes / kLineBytes);
    return i * stride_bytes + part * kPartBytes + line * kLineBytes;
}

/// The order of one tour: a permutation of 0..elements-1 that starts at 0 (Fisher and Yates for `random`).
inline std::vector<uint32_t> tour_of(uint64_t elements, Order order, uint64_t seed) {
    std::vector<uint32_t> tour(elements);
    for (uint64_t i = 0; i < elements; ++i) tour[i] = static_cast<uint32_t>(i);
    if (order == Order::random)
        for (uint64_t i = elements - 1; i > 1; --i) std::swap(tour[i], tour[1 + below(mix64(seed, i), i)]);
    return tour;
}

/// Writes the pointers of `chains` closed chains: chain c visits tour[c], tour[c + chains], ... and begins again.
inline void link(char* base, const std::vector<uint32_t>& tour, uint64_t stride_bytes, uint64_t chains) {
    const uint64_t elements = tour.size();
    for (uint64_t t = 0; t < elements; ++t) {
        const uint64_t next = t + chains < elements ? t + chains : t % chains;
        *reinterpret_cast<void**>(base + element_offset(tour[t], stride_bytes)) = base + element_offset(tour[next], stride_bytes);
    }
}

/// Position in the tour of chain c after `steps` steps from its start: recomputed without the pointers.
inline uint64_t position_after(uint64_t elements, uint64_t chains, uint64_t c, uint64_t steps) {
    const uint64_t length = (elements - c + chains - 1) / chains;
    return c + steps % length * chains;
}

/// `steps` steps of one chain.
TESSERA_KERNEL inline void* follow(void* at, uint64_t steps) {
    for (uint64_t k = 0; k < steps; ++k) at = *static_cast<void**>(at);
    return at;
}

/// `steps` steps of every chain, interleaved; `at` holds where each is.
TESSERA_KERNEL inline void follow_all(std::vector<void*>& at, uint64_t steps) {
    void** const chain = at.data();
    const uint64_t chains = at.size();
    for (uint64_t k = 0; k < steps; ++k)
        for (uint64_t c = 0; c < chains; ++c) chain[c] = *static_cast<void**>(chain[c]);
}

/// A chain of `steps` operations of one cycle each: how long it takes says how fast the clock is.
/// Exclusive ors of two registers, because additions of constants are free on some processors.
TESSERA_KERNEL inline uint64_t one_cycle_chain(uint64_t steps, uint64_t operand) {
    uint64_t value = operand;
    for (uint64_t k = 0; k < steps; k += 16)
        __asm__ volatile(
            "xorq %1, %0\n xorq %1, %0\n xorq %1, %0\n xorq %1, %0\n"
            "xorq %1, %0\n xorq %1, %0\n xorq %1, %0\n xorq %1, %0\n"
            "xorq %1, %0\n xorq %1, %0\n xorq %1, %0\n xorq %1, %0\n"
            "xorq %1, %0\n xorq %1, %0\n xorq %1, %0\n xorq %1, %0"
            : "+r"(value)
            : "r"(operand)
            : "cc");
    return value;
}

}  // namespace tessera::workloads
