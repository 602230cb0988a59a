// free_list.h - which parts of a pool are free: disjoint ranges that never touch each other (touching ranges are merged,
// so coalescing is an invariant and not a pass). First fit = lowest address.
//
// `give` and `take` are set union and set difference. They are defined for ranges that are free or taken already, because
// munmap and MAP_FIXED are.
//
// Encoding: chunks of up to 128 ranges, ascending, and a directory with the first start and the largest range of each
// chunk. Two neighbouring chunks hold more than kFew ranges together. Cost with n ranges: a search by address is
// O(log n); first fit reads 8 bytes of the directory per chunk (20,000 holes: about 250 chunks, 2KB), then one
// chunk; a change moves at most one chunk, and seldom the directory.
#pragma once

#include "core/base.h"

namespace mosalloc {

class FreeList {
public:
    /// Bytes of storage for `capacity` ranges; untouched parts use no memory.
    static size_t storage_bytes(size_t capacity);
    /// `storage` outlives the list and is aligned to 8 bytes. Everything in [0, bytes) is free at first.
    void init(void* storage, size_t capacity, uint64_t bytes);

    /// Takes the lowest free range of `bytes`; false when there is none.
    bool take_first_fit(uint64_t bytes, uint64_t* start);
    void take(Range range);
    void give(Range range);

    /// Whether there is a free range of `bytes`.
    bool fits(uint64_t bytes) const;
    bool is_free(Range range) const;
    bool is_taken(Range range) const;
    /// One `give` or `take` adds at most one range; callers ask before they change anything.
    bool has_room() const { return count_ < capacity_; }
    size_t count() const { return count_; }
    uint64_t free_bytes() const { return free_bytes_; }
    /// The i-th range; O(chunks).
    const Range& at(size_t i) const;
    /// Whether neighbours hold more than kFew ranges together: the storage is sized for that.
    bool packed() const;

private:
    static constexpr size_t kMost = 128, kFew = 96;
    struct Chunk {
        Range ranges[kMost];
    };
    /// A range by its chunk's place in the directory and its place in the chunk; past the end: {chunks_, 0}.
    struct Place {
        size_t chunk, index;
    };

    Range& range_at(Place p) const { return storage_[ids_[p.chunk]].ranges[p.index]; }
    bool ends(Place p) const { return p.chunk == chunks_; }
    Place after(Place p) const { return p.index + 1 < counts_[p.chunk] ? Place{p.chunk, p.index + 1} : Place{p.chunk + 1, 0}; }
    /// The first range whose end is above `offset`.
    Place first_ending_after(uint64_t offset) const;
    void change(Place p, Range to);
    Place insert(Place before, Range range);
    Place erase(Place p);
    void refresh(size_t chunk);
    void split_chunk(size_t chunk);
    void open_directory(size_t at);
    void close_directory(size_t at);
    void tidy(size_t chunk);
    void append_next(size_t chunk);

    Chunk* storage_ = nullptr;
    uint64_t* starts_ = nullptr;   ///< directory: first start of a chunk
    uint64_t* largest_ = nullptr;  ///< directory: bytes of its largest range
    uint32_t* ids_ = nullptr;      ///< directory: where it is in storage
    uint32_t* counts_ = nullptr;   ///< directory: its ranges
    uint32_t* spare_ = nullptr;    ///< stack of chunks that are empty again
    size_t chunks_ = 0, spares_ = 0, fresh_ = 0;
    size_t capacity_ = 0;
    size_t count_ = 0;
    uint64_t free_bytes_ = 0;
};

}  // namespace mosalloc
