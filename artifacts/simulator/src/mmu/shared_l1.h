// shared_l1.h - what a design does behind an L1 DTLB of the platform, for engines that look L1 up once for several designs.
//
// A first level (tlb/levels.h) sees each data access of the program, and its fills do not depend on what is behind it: each miss
// fills the page. So designs with equal keys tlb.l1d.* and equal page sizes have the same hits and misses in L1, and those behind
// it need only the misses. For H and M only: walks and data caches are not shared. Used by engine/any_design/tlb_group.h.
//
// A design gets a list of misses in one call, and goes through it in a loop (replay_misses()). The engine also tells which chunk of the
// mapping a page is in: it is the same for all designs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "os/page_rows.h"
#include "tlb/entry_name.h"
#include "tlb/translation.h"

namespace tessera::sim {

/// The pages that the L1 DTLB of a design holds: those of the layout or mapping, or 4KB pages whatever they say.
enum class L1Pages : uint8_t { of_the_space, only_4kb };

/// A data access that missed L1.
struct L1Miss {
    static constexpr uint32_t unknown = ~uint32_t{0};
    VirtAddr address;
    uint64_t name;                            ///< of the page (tlb/entry_name.h)
    uint32_t row = unknown, chunk = unknown;  ///< of the mapping: numbers in its rows() and chunks()
    InChunk in_chunk;                         ///< if the chunk is known: the same for all designs, so it is found once

    L1Miss(VirtAddr address, PageNumber page) : address(address), name(entry_name(page)) {}
    PageNumber page() const { return page_of_entry(name); }
};

/// One data access of the program.
struct Access {
    VirtAddr address;
    bool is_store = false;
    uint64_t pc = 0;                   ///< of the instruction
    const PageChunk* chunk = nullptr;  ///< of the mapping, that holds the address, if the engine knows it
};

/// Misses in program order, all before or all behind a change of the mapping.
struct L1Misses {
    std::span<const L1Miss> list;
    const PageChunk* chunks;   ///< of the mapping; null: all are unknown
    const Access* accesses;    ///< of each miss of the list; null: no design needs them

    Access access_of(const L1Miss& miss) const {
        Access access = accesses == nullptr ? Access{miss.address} : accesses[&miss - list.data()];
        access.chunk = miss.chunk == L1Miss::unknown ? nullptr : chunks + miss.chunk;
        return access;
    }
};

struct MissCounts {
    size_t done = 0;    ///< of the list at hand; where one throws, those before it
    uint64_t hits = 0;  ///< of all lists: served behind L1. Meaningless where one throws
};

class BehindSharedL1 {
public:
    virtual ~BehindSharedL1() = default;
    virtual L1Pages l1_pages() const = 0;
    /// missed_l1() uses the chunk of a miss. Unknown: ask the mapping. The page is outside the pools or, among 4KB pages, may lack a row.
    virtual bool needs_chunks() const { return false; }
    /// missed_l1() uses the store bit or the instruction of a miss.
    virtual bool needs_accesses() const = 0;
    /// For each miss, what Design::access_tlb_only() does for a page that missed L1, except to fill L1.
    virtual void missed_l1(const L1Misses& misses, MissCounts& counts) = 0;
    /// What Design::changed() does, except to L1.
    virtual void changed_behind_l1(VirtRange range) = 0;
};

/// The loop of missed_l1(). served(miss): whether a structure behind L1 serves it; it also does the fills of a miss.
template <class Served>
void replay_misses(const L1Misses& misses, MissCounts& counts, Served&& served) {
    constexpr size_t ahead = 8;  // between a host prefetch and its use
    const std::span<const L1Miss> list = misses.list;
    uint64_t hits = 0;
    for (size_t i = 0; i < list.size(); ++i) {
        counts.done = i;
        if (i + ahead < list.size() && list[i + ahead].chunk != L1Miss::unknown) __builtin_prefetch(misses.chunks + list[i + ahead].chunk);
        hits += served(list[i]) ? 1 : 0;
    }
    counts.done = list.size();
    counts.hits += hits;
}

}  // namespace tessera::sim
