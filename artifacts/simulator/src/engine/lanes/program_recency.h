// program_recency.h - the lines that the program used last, per cache set: one copy for all layouts.
//
// Program data has the same physical addresses in every layout, and recency is global (cache/hierarchy.h), so
// the order in which the program used its lines is the same in every lane. Each set keeps, most recent first,
// as many (tag, time) pairs as the cache has ways. What the walkers of the lanes add is in walker_recency.h.
#pragma once

#include "engine/lanes/machine.h"
#include "engine/lanes/storage.h"

namespace tessera::sim::lanes::TESSERA_ISA {

class ProgramRecency {
public:
    ProgramRecency(uint64_t sets, uint64_t ways)
        : ways_(unsigned(ways)), padded_((unsigned(ways) + 7) / 8 * 8), words_(sets * padded_ * 2) {}

    unsigned ways() const { return ways_; }
    TimeSpan time_span() { return {words_.data() + padded_, padded_, 2 * size_t{padded_}, words_.size() / (2 * size_t{padded_})}; }
    void prefetch(uint32_t set) const {
        const char* at = reinterpret_cast<const char*>(&words_[size_t{set} * padded_ * 2]);
        for (unsigned b = 0; b < padded_ * 8; b += 64) __builtin_prefetch(at + b, 1);
    }

    /// Times of a set's lines, most recent first; 0 in empty ways.
    const uint32_t* times(uint32_t set) const { return &words_[size_t{set} * padded_ * 2 + padded_]; }

    struct Found {
        unsigned above;  ///< lines of the set used since; ways() when the line is not among them
        uint32_t time;   ///< of the line's last use
    };

    /// The line becomes the most recent.
    LANES_INLINE_MEMBER Found reference(uint32_t set, uint32_t tag, uint32_t now) {
        uint32_t* tags = &words_[size_t{set} * padded_ * 2];
        uint32_t* times = tags + padded_;
        if (tags[0] == tag) {
            const uint32_t before = times[0];
            times[0] = now;
            return {0, before};
        }
        const __m256i name = _mm256_set1_epi32(int(tag));
        unsigned at = ways_;
        for (unsigned c = 0; c < padded_; c += 8) {
            const __m256i chunk = _mm256_load_si256(reinterpret_cast<const __m256i*>(tags + c));
            const unsigned match = unsigned(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(chunk, name))));
            if (match != 0) {
                at = c + unsigned(__builtin_ctz(match));
                break;
            }
        }
        const Found found{at, at < ways_ ? times[at] : 0};
        const unsigned last = at < ways_ ? at : ways_ - 1;
        push_down(tags, last);
        push_down(times, last);
        tags[0] = tag;
        times[0] = now;
        return found;
    }

private:
    /// items[1..last] = items[0..last-1]
    LANES_INLINE_MEMBER void push_down(uint32_t* items, unsigned last) {
        const __m256i each = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        for (int c = int(last & ~7u); c >= 0; c -= 8) {
            const __m256i old = _mm256_load_si256(reinterpret_cast<const __m256i*>(items + c));
            const __m256i shifted = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(items + c - 1));
            const __m256i keep = _mm256_cmpgt_epi32(each, _mm256_set1_epi32(int(last) - c));
            _mm256_store_si256(reinterpret_cast<__m256i*>(items + c), _mm256_blendv_epi8(shifted, old, keep));
        }
    }

    unsigned ways_, padded_;
    Array<uint32_t> words_;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
