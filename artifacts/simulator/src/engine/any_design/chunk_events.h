// chunk_events.h - events of a chunk that do not depend on the layout, computed once for all layouts: code pages that miss
// the L1 ITLB, first touches of 2MB regions (of second pages, too), program counters of accesses, and the lines that prefetchers request.
#pragma once

#include <bitset>
#include <memory>
#include <vector>

#include "cache/prefetch_slots.h"
#include "engine/functional.h"
#include "mmu/instruction_side.h"

namespace tessera::sim::any_design {

/// Which 2MB regions were touched. Throws Refusal for an address that the models cannot place.
class TouchedRegions {
public:
    /// True the first time.
    bool add(uint64_t address);

private:
    uint64_t last_ = ~uint64_t{0};
    std::vector<std::unique_ptr<std::bitset<512>>> gigabytes_;
};

struct Fetch {
    uint32_t execution;
    VirtAddr page;
    bool first_touch;
};

struct Ask {
    uint32_t access;
    VirtAddr target;
    bool into_l1d;
};

/// Of one chunk.
class ChunkEvents {
public:
    const std::vector<Fetch>& fetches() const { return fetches_; }
    const std::vector<Ask>& asks() const { return asks_; }
    bool first_touch(size_t access) const { return first_touch_[access] != 0; }
    /// Of the second page of a crossing access, by its place in Chunk::crossing.
    bool first_touch_of_second(size_t crossing) const { return first_touch_of_second_[crossing] != 0; }
    uint64_t pc(size_t access) const { return pcs_[access]; }

private:
    friend class EventReader;
    std::vector<Fetch> fetches_;
    std::vector<Ask> asks_;
    std::vector<uint8_t> first_touch_, first_touch_of_second_;
    std::vector<uint64_t> pcs_;  ///< of the instructions of accesses
};

class EventReader {
public:
    EventReader(const Platform& platform, const std::vector<trace::StaticBlock>& blocks);

    /// In the order of chunks; replaces what `out` held. prefetch: whether the prefetchers see this chunk.
    void read(const Chunk& chunk, bool prefetch, ChunkEvents& out);

private:
    struct Block {
        uint64_t pc, bytes;
        std::vector<uint64_t> access_pcs;  ///< of access i, or the last one beyond them
    };
    void observe(const Chunk& chunk, size_t access, ChunkEvents& out);

    std::vector<Block> blocks_;
    InstructionSide instructions_;
    PrefetchSlots prefetchers_;
    TouchedRegions regions_;
};

}  // namespace tessera::sim::any_design
