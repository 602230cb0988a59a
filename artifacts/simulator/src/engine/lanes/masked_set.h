// masked_set.h - one cache set of up to 64 layouts: a single list of references, each with the lanes that made it.
//
// Encoding: entries (line, lanes) in the order of the references, newest last. What lane l's set of W ways holds, most
// recent first, are the first W entries from the end that have bit l: this is LRU by definition. A (line, lane) pair
// occurs at most once. Layouts differ by walker loads only, so most entries carry most lanes and the list stays near W.
// A reference appends; nothing is shifted. Its older bits are taken out of older entries; entries left without lanes
// and bits that W newer entries have pushed out of their lane stay until the storage is full and compact() drops both.
// Each entry has a one-byte name in `filter` (0: no lanes left), so that a miss reads one host cache line of the set.
#pragma once

#include "engine/lanes/masked_bytes.h"
#include "engine/lanes/masked_count.h"

namespace tessera::sim::lanes::TESSERA_ISA {

struct MaskedEntry {
    uint64_t line, lanes;
};

/// All zero: an empty set. The first entries lie directly behind the head, more in a block of their own.
struct alignas(64) MaskedSet {
    static constexpr unsigned inline_room = 48;

    uint8_t* grown;       ///< null, or `capacity` filter bytes (a multiple of 64), then the entries
    uint16_t used;        ///< entries in use, with or without lanes left
    uint16_t capacity;    ///< of `grown`
    uint32_t unused;
    uint8_t filter[inline_room];

    MaskedEntry* inline_entries() { return reinterpret_cast<MaskedEntry*>(this + 1); }
    const MaskedEntry* inline_entries() const { return reinterpret_cast<const MaskedEntry*>(this + 1); }
};
static_assert(sizeof(MaskedSet) == 64, "a miss reads one host cache line of the set");

/// The entries of a set, wherever they lie.
struct MaskedList {
    uint8_t* filter;
    MaskedEntry* entries;
    unsigned used, capacity;
};

LANES_INLINE MaskedList list_of(MaskedSet& set, unsigned inline_capacity) {
    if (set.grown == nullptr) return {set.filter, set.inline_entries(), set.used, inline_capacity};
    return {set.grown, reinterpret_cast<MaskedEntry*>(set.grown + set.capacity), set.used, set.capacity};
}

/// Bits of the entries 64 * chunk to 64 * chunk + 63 that are in use and whose name is (or, for 0, is not) `name`.
LANES_INLINE uint64_t named(const MaskedList& list, unsigned chunk, uint8_t name) {
    const unsigned left = list.used - 64 * chunk;
    const uint64_t in_use = left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
    const uint64_t equal = equal_bytes(list.filter + 64 * chunk, name);
    return (name == 0 ? ~equal : equal) & in_use;
}

/// Lanes that are in fewer than `ways` entries above `at`.
inline __attribute__((noinline)) uint64_t inside(const MaskedList& list, unsigned at, unsigned ways) {
    LaneCount above(ways);
    for (unsigned i = list.used; --i > at;) above.add(list.entries[i].lanes);
    return above.below();
}

/// Entries with lanes left from `at` to the newest.
LANES_INLINE unsigned live_from(const MaskedList& list, unsigned at) {
    unsigned live = unsigned(__builtin_popcountll(named(list, at / 64, 0) >> at % 64));
    for (unsigned chunk = at / 64 + 1; 64 * chunk < list.used; ++chunk) live += unsigned(__builtin_popcountll(named(list, chunk, 0)));
    return live;
}

/// Half-way through a reference: lanes whose older reference of the line has not been met, and those that held the line.
struct MaskedSearch {
    uint64_t pending, hit;
    bool is_newest;  ///< the newest entry has this line: no entry is appended, and the missing lanes join it
};

/// Takes the pending bits of `line` out of the entries `candidates` of a chunk, newest first.
LANES_INLINE void take_out(MaskedSearch& search, MaskedList& list, unsigned chunk, uint64_t candidates, uint64_t line, unsigned ways) {
    while (candidates != 0) {
        const unsigned bit = 63 - unsigned(__builtin_clzll(candidates)), at = 64 * chunk + bit;
        candidates ^= uint64_t{1} << bit;
        MaskedEntry& entry = list.entries[at];
        if (entry.line != line) continue;
        uint64_t held = entry.lanes & search.pending;
        search.pending ^= held;
        if (at + 1 == list.used) {
            search.is_newest = true;
        } else if (held != 0) {
            entry.lanes ^= held;
            if (entry.lanes == 0) list.filter[at] = 0;
            // Counting lane by lane is needed only where more than `ways` entries, with this one, could be in a lane's way.
            if (list.used - at > ways && live_from(list, at) + (entry.lanes == 0) > ways) held &= inside(list, at, ways);
        }
        search.hit |= held;
        if (search.pending == 0) return;
    }
}

/// Drops what no lane holds; keeps the order. Returns the entries left.
inline unsigned compact(MaskedList& list, unsigned ways) {
    LaneCount above(ways);
    for (unsigned i = list.used; i-- > 0;) {
        const uint64_t lanes = list.entries[i].lanes;
        list.entries[i].lanes = lanes & above.below();
        above.add(lanes);
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < list.used; ++i) {
        const MaskedEntry entry = list.entries[i];
        list.entries[kept] = entry;
        list.filter[kept] = list.filter[i];
        kept += entry.lanes != 0;
    }
    for (unsigned i = kept; i < list.used; ++i) list.filter[i] = 0;
    return list.used = kept;
}

}  // namespace tessera::sim::lanes::TESSERA_ISA
