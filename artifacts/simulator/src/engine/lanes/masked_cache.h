// masked_cache.h - one cache level of up to 64 layouts: sets of masked_set.h, LRU, any number of sets.
//
// L3 may be sliced (cache/slice_hash.h): whoever refers to it says `<may_be_sliced>`, and the other levels do not pay for the question.
//
// The cost of a reference depends on the length of its set's list: about one lookup if all lanes or no lanes hold the line.
// The list has at most 64 x ways entries (each lane has at most `ways` bits) plus the entries appended until the storage is
// full.
#pragma once

#include "base/large_memory.h"
#include "cache/slice_hash.h"
#include "engine/lanes/masked_set.h"

namespace tessera::sim::lanes::TESSERA_ISA {

/// pre: ways is 1 to most_masked_ways.
struct CacheShape {
    uint64_t sets;
    unsigned ways;
    unsigned slices = 0;  ///< 0: no hash
};

enum Slices : bool { unsliced, may_be_sliced };

/// One-byte name of a line, the same at every level; never 0. The highest bits of this product may choose a slice (slice_of), so the
/// lines of a set would have few of the names that these bits give.
LANES_INLINE uint8_t name_of(uint64_t line) {
    const uint8_t name = uint8_t((line * 0x9E3779B97F4A7C15u) >> 48);
    return name == 0 ? 1 : name;
}

class MaskedCache {
public:
    explicit MaskedCache(const CacheShape& shape)
        : sets_(shape.sets),
          slices_(shape.slices),
          index_(shape.slices == 0 ? shape.sets : shape.sets / shape.slices),
          ways_(shape.ways),
          room_(room(shape.ways)),
          stride_(sizeof(MaskedSet) + room_ * sizeof(MaskedEntry)),
          memory_(shape.sets * stride_) {}
    MaskedCache(const MaskedCache&) = delete;
    MaskedCache& operator=(const MaskedCache&) = delete;
    ~MaskedCache() {
        for (uint64_t set = 0; grown_sets_ != 0; ++set) {
            if (at(set).grown == nullptr) continue;
            std::free(at(set).grown);
            --grown_sets_;
        }
    }

    /// The line becomes the most recent of its set in each lane of `lanes`. Returns those that did not hold it.
    template <Slices kind = unsliced>
    LANES_INLINE_MEMBER uint64_t reference(uint64_t line, uint8_t name, uint64_t lanes) {
        MaskedSet& set = set_of<kind>(line);
        if (set.grown != nullptr) return reference_grown(set, line, name, lanes);
        const uint64_t candidates = inline_candidates(set, name);
        if (candidates == 0) {
            append(set, line, name, lanes);
            return lanes;
        }
        MaskedList list{set.filter, set.inline_entries(), set.used, room_};
        MaskedSearch search{lanes, 0, false};
        take_out(search, list, 0, candidates, line, ways_);
        if (search.is_newest) list.entries[list.used - 1].lanes |= lanes;
        else append(set, line, name, lanes);
        return lanes & ~search.hit;
    }

    template <Slices kind = unsliced>
    LANES_INLINE_MEMBER MaskedSet& set_of(uint64_t line) const {
        if (kind == unsliced || slices_ == 0) return at(index_(line));
        return at(sliced_set(line, slices_, index_.sets(), index_));
    }

    /// Host prefetch of what a reference reads and writes behind the head.
    LANES_INLINE_MEMBER static void fetch_entries(MaskedSet& set, uint8_t name) {
        if (__builtin_expect(set.grown != nullptr, 0)) {
            __builtin_prefetch(set.grown + set.used / 64 * 64, 1);
            __builtin_prefetch(set.grown + set.capacity + set.used * sizeof(MaskedEntry), 1);
            return;
        }
        MaskedEntry* entries = set.inline_entries();
        __builtin_prefetch(entries + set.used, 1);
        __builtin_prefetch(entries + (63 - unsigned(__builtin_clzll(inline_candidates(set, name) | 1))), 1);
    }

    /// Entries of a set's list that have lanes left, whether or not these still hold the line (for tests and cost models).
    unsigned entries(uint64_t set) const {
        const MaskedList list = list_of(at(set), room_);
        unsigned live = 0;
        for (unsigned i = 0; i < list.used; ++i) live += list.entries[i].lanes != 0;
        return live;
    }
    uint64_t sets() const { return sets_; }

private:
    /// Entries kept beside the head. Sets of eight ways hold 13 to 16 entries of 54 mosaics, so that all the room pays.
    static unsigned room(unsigned ways) { return ways < 4 ? 16 : MaskedSet::inline_room; }

    LANES_INLINE_MEMBER MaskedSet& at(uint64_t set) const { return *reinterpret_cast<MaskedSet*>(memory_.data() + set * stride_); }

    /// The head is one host cache line: comparing all of it and shifting the 16 bytes before the names out is one load.
    LANES_INLINE_MEMBER static uint64_t inline_candidates(const MaskedSet& set, uint8_t name) {
        return equal_bytes(reinterpret_cast<const uint8_t*>(&set), name) >> offsetof(MaskedSet, filter);
    }

    LANES_INLINE_MEMBER void append(MaskedSet& set, uint64_t line, uint8_t name, uint64_t lanes) {
        if (set.used == room_) {
            make_room(set);
            if (set.grown != nullptr) return append_grown(set, line, name, lanes);
        }
        const unsigned i = set.used++;
        set.filter[i] = name;
        set.inline_entries()[i] = {line, lanes};
    }

    __attribute__((noinline)) uint64_t reference_grown(MaskedSet& set, uint64_t line, uint8_t name, uint64_t lanes) {
        MaskedList list = list_of(set, room_);
        MaskedSearch search{lanes, 0, false};
        for (unsigned chunk = (list.used + 63) / 64; chunk-- > 0 && search.pending != 0;)
            take_out(search, list, chunk, named(list, chunk, name), line, ways_);
        if (search.is_newest) {
            list.entries[list.used - 1].lanes |= lanes;
        } else {
            if (list.used == list.capacity) make_room(set);
            append_grown(set, line, name, lanes);
        }
        return lanes & ~search.hit;
    }

    void append_grown(MaskedSet& set, uint64_t line, uint8_t name, uint64_t lanes) {
        const MaskedList list = list_of(set, room_);
        list.filter[set.used] = name;
        list.entries[set.used++] = {line, lanes};
    }

    /// Compacts, and takes more storage where little room came of it. Entries beside the head are worth a compaction for every five
    /// references, because a block of its own costs host cache misses.
    __attribute__((noinline)) void make_room(MaskedSet& set) {
        MaskedList list = list_of(set, room_);
        set.used = uint16_t(compact(list, ways_));
        if (list.used <= (set.grown == nullptr ? room_ - 4 : list.capacity / 4 * 3)) return;
        const unsigned capacity = (list.used + list.used / 3 + 63) / 64 * 64;
        uint8_t* block = static_cast<uint8_t*>(std::aligned_alloc(64, capacity * (1 + sizeof(MaskedEntry))));
        if (block == nullptr) out_of_memory();
        std::memset(block, 0, capacity);
        std::memcpy(block, list.filter, list.used);
        std::memcpy(block + capacity, list.entries, list.used * sizeof(MaskedEntry));
        if (set.grown == nullptr) ++grown_sets_;
        std::free(set.grown);
        set.grown = block;
        set.capacity = uint16_t(capacity);
    }

    uint64_t sets_, slices_;
    SetIndex index_;  ///< within a slice
    unsigned ways_;
    unsigned room_;
    size_t stride_;
    LargeMemory memory_;
    uint64_t grown_sets_ = 0;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
