// range_array.h - the ranges that a redundant memory mapping holds in hardware: fully associative, LRU.
//
// A range is a chunk of the mapping at the time when it entered. It leaves when one of its pages changes, so it always lies in one
// chunk of today's mapping: the whole chunk, or a part if the chunk has grown. So the ranges of a page are found by the number of
// its chunk, without a search. A chunk that enters replaces its parts. Ranges in order of use are a doubly linked list.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::sim {

class RangeArray {
public:
    /// most: ranges, below 65535. 0: it never hits. No chunk has a number before renumber().
    explicit RangeArray(size_t most) : most_(uint16_t(most)), ranges_(most + 1) { ranges_[most_].newer = ranges_[most_].older = most_; }

    /// The chunks of the mapping got new numbers, from 0 to below `chunks`; chunk_of(page) is that of a page.
    template <class ChunkOf>
    void renumber(size_t chunks, ChunkOf&& chunk_of) {
        first_part_.assign(chunks, none);
        for (uint16_t i = ranges_[most_].newer; i != most_; i = ranges_[i].newer) add_part(i, chunk_of(ranges_[i].begin));
    }

    /// True if a range holds this page of the chunk; it is then the most recent one. Chunks without a number have no range.
    bool lookup(uint32_t chunk, uint64_t page) {
        if (chunk >= first_part_.size()) return false;
        for (uint16_t i = first_part_[chunk]; i != none; i = ranges_[i].next_part)
            if (page - ranges_[i].begin < ranges_[i].pages) {
                unlink(i);
                link_as_newest(i);
                return true;
            }
        return false;
    }

    /// The whole chunk enters as the most recent range; if the array is full, the least recent one leaves.
    void enter(uint32_t chunk, uint64_t begin, uint64_t end) {
        if (most_ == 0) return;
        while (first_part_[chunk] != none) remove(first_part_[chunk]);
        if (free_.empty() && used_ == most_) remove(ranges_[most_].newer);
        uint16_t i = used_;
        if (free_.empty()) ++used_;
        else i = free_.back(), free_.pop_back();
        ranges_[i].begin = begin, ranges_[i].pages = end - begin;
        add_part(i, chunk);
        link_as_newest(i);
    }

    /// Drops the ranges that overlap these pages.
    void forget(uint64_t begin, uint64_t end) {
        for (uint16_t i = ranges_[most_].newer; i != most_;) {
            const uint16_t next = ranges_[i].newer;
            if (ranges_[i].begin < end && begin < ranges_[i].begin + ranges_[i].pages) remove(i);
            i = next;
        }
    }

private:
    static constexpr uint16_t none = 0xffff;
    struct Range {
        uint64_t begin = 0, pages = 0;  ///< of 4KB
        uint32_t chunk = 0;
        uint16_t next_part = none;       ///< another range of the chunk
        uint16_t newer = 0, older = 0;   ///< neighbours in the order of use
    };

    void add_part(uint16_t i, uint32_t chunk) {
        ranges_[i].chunk = chunk;
        ranges_[i].next_part = first_part_[chunk];
        first_part_[chunk] = i;
    }
    void remove(uint16_t i) {
        uint16_t* part = &first_part_[ranges_[i].chunk];
        while (*part != i) part = &ranges_[*part].next_part;
        *part = ranges_[i].next_part;
        unlink(i);
        free_.push_back(i);
    }
    void unlink(uint16_t i) {
        ranges_[ranges_[i].newer].older = ranges_[i].older;
        ranges_[ranges_[i].older].newer = ranges_[i].newer;
    }
    void link_as_newest(uint16_t i) {
        const uint16_t newest = ranges_[most_].older;
        ranges_[i].older = newest, ranges_[i].newer = most_;
        ranges_[newest].newer = ranges_[most_].older = i;
    }

    uint16_t most_, used_ = 0;
    std::vector<Range> ranges_;         ///< [most_] is the ends of the list: its `newer` is the least recent range
    std::vector<uint16_t> free_;        ///< places that were used
    std::vector<uint16_t> first_part_;  ///< [chunk]
};

}  // namespace tessera::sim
