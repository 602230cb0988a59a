// word_sum.h - the checksum of prepared files: a sum over 32-bit words, each mixed with its position.
//
// Addition commutes, so threads may add their parts in any order, and a part may begin at any word. Positions enter,
// so words that change places show. It finds damage; it is no protection against forgery.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/rng.h"

namespace tessera::workloads {

/// `bytes` is a multiple of 4; the first word has position `first_word`.
inline uint64_t sum_of_words(const void* data, uint64_t bytes, uint64_t first_word) {
    const auto* at = static_cast<const unsigned char*>(data);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < bytes / 4; ++i) {
        uint32_t word;
        std::memcpy(&word, at + 4 * i, sizeof word);
        sum += mix64(word, first_word + i);
    }
    return sum;
}

}  // namespace tessera::workloads
