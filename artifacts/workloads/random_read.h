// random_read.h - the kernel of gups: independent random reads of one large array, and its oracle.
//
// After RandomAccess of the HPC Challenge suite (Koester and Lucas), with reads instead of updates, as
// MICRO'20 (Mosmodel) uses it. The addresses come from an arithmetic generator, never from loaded data,
// so misses may overlap up to what the processor allows. Element i holds element_value(i): the expected
// checksum can be recomputed without the array.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "common/measure.h"
#include "common/rng.h"

namespace tessera::workloads {

/// Not linear in i, so that two wrong reads do not cancel in the sum.
inline uint64_t element_value(uint64_t i) { return i ^ (i << 21) ^ (i >> 9); }

TESSERA_KERNEL inline uint64_t read_at_random(const uint64_t* array, uint64_t elements, uint64_t reads, uint64_t seed) {
    Lcg64 addresses(seed);
    uint64_t sum = 0;
    for (uint64_t k = 0; k < reads; ++k) sum += array[below(addresses.next(), elements)];
    return sum;
}

/// The checksum that read_at_random must return; touches no array. The reads are taken in blocks from
/// the last to the first, each reached by jumping ahead, so a slip in the generator's state shows.
inline uint64_t expected_checksum(uint64_t elements, uint64_t reads, uint64_t seed) {
    constexpr uint64_t kBlock = 65536;
    uint64_t sum = 0;
    for (uint64_t block = (reads + kBlock - 1) / kBlock; block-- > 0;) {
        const uint64_t first = block * kBlock;
        const uint64_t end = first + kBlock < reads ? first + kBlock : reads;
        Lcg64 addresses(seed);
        addresses.jump(first);
        for (uint64_t k = first; k < end; ++k) sum += element_value(below(addresses.next(), elements));
    }
    return sum;
}

/// Reads as read_at_random, of an array that holds zeros. Returns a sum over the indices, in their order: each is added to
/// the sum turned left by one bit, after the element was mixed in, so one that is not zero shows, too.
TESSERA_KERNEL inline uint64_t read_unwritten_at_random(const uint64_t* array, uint64_t elements, uint64_t reads, uint64_t seed) {
    Lcg64 addresses(seed);
    uint64_t sum = 0;
    for (uint64_t k = 0; k < reads; ++k) {
        const uint64_t index = below(addresses.next(), elements);
        sum = std::rotl(sum, 1) + (array[index] ^ index);
    }
    return sum;
}

/// The sum that read_unwritten_at_random must return. Each block's addresses begin at a jump of the generator.
inline uint64_t expected_index_sum(uint64_t elements, uint64_t reads, uint64_t seed) {
    constexpr uint64_t kBlock = 65536;
    uint64_t sum = 0;
    for (uint64_t first = 0; first < reads; first += kBlock) {
        Lcg64 addresses(seed);
        addresses.jump(first);
        for (uint64_t k = first; k < std::min(first + kBlock, reads); ++k) sum = std::rotl(sum, 1) + below(addresses.next(), elements);
    }
    return sum;
}

}  // namespace tessera::workloads
