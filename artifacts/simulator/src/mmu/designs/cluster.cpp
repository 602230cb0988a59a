// cluster.cpp - a cluster TLB beside a regular one: one entry for up to eight pages (Pham et al., HPCA 2014; Park, KAIST 2019, 3.5.1).
//
// Behind L1, two arrays are looked up in parallel. A regular entry is one page. A cluster entry maps an aligned group of eight
// virtual pages to an aligned group of eight frames (frame >> 3): a valid bit and the low three bits of the frame for each page.
// After a walk, the hardware compares the eight PTEs of the line that it loaded. Those with the same frame >> 3 as the page
// form a cluster entry if they are two or more (assumed); a single one becomes a regular entry.
//
// Encoding. An entry's set is its group modulo sets. Its name is the group with its valid bits. The simulator takes the valid
// bits from the mapping, so a page finds exactly the entry that holds it; the three bits of each frame are in the mapping, too.
// Invariants: entries of one group have no page in common (they may stand side by side: assumed); a group that changes loses
// all its entries. Both arrays have the policy of tlb.stlb (assumed). A hit in the regular array takes tlb.stlb.hit_cycles, one in
// the cluster array cluster_cycles, and a miss the larger of the two (assumed: a walk begins when both have missed).
//
// `cluster` sees every page as 4KB pages. `cluster-2mb` enters 2MB and 1GB pages in the regular array as themselves. Pages outside
// the pools are regular, code pages are regular. Not modelled: permissions, PCIDs.
#include <algorithm>

#include "mmu/base_design.h"

namespace tessera::sim {
namespace {

Geometry geometry_of(const OwnValues& own, const std::string& array, const Platform& platform) {
    const Geometry geometry{own[array + "_entries"], own[array + "_ways"]};
    if (geometry.entries % geometry.ways != 0)
        throw Refusal("platform keys " + array + "_entries and " + array + "_ways in design." + platform.mmu_design.name,
                      std::to_string(geometry.entries) + " entries are no multiple of " + std::to_string(geometry.ways) + " ways",
                      "correct one of the two");
    return geometry;
}

class Cluster : public BaseDesign<> {
public:
    Cluster(bool large_pages, const OwnValues& own, const DesignContext& context)
        : BaseDesign(large_pages ? context : context.with_4kb_pages()),
          pages_(mapping_of(context.space, "mmu.design = " + context.platform.mmu_design.name)),
          regular_(geometry_of(own, "regular", context.platform), context.platform.stlb_replacement, context.platform),
          clusters_(geometry_of(own, "cluster", context.platform), context.platform.stlb_replacement, context.platform),
          regular_cycles_(uint32_t(context.platform.stlb_hit_cycles)),
          cluster_cycles_(uint32_t(own["cluster_cycles"])),
          miss_cycles_(std::max(regular_cycles_, cluster_cycles_)) {}

    /// Data accesses only. A miss counts its look-up cycles in the array that it waits for last.
    std::vector<StructureCounts> structures() const override {
        const uint64_t of_misses = (accesses_ - regular_hits_ - cluster_hits_) * miss_cycles_;
        const bool regular_last = cluster_cycles_ < regular_cycles_;
        return {{"regular", accesses_, regular_hits_, regular_hits_ * regular_cycles_ + (regular_last ? of_misses : 0)},
                {"cluster", accesses_, cluster_hits_, cluster_hits_ * cluster_cycles_ + (regular_last ? 0 : of_misses)}};
    }

protected:
    /// After a miss, the page enters the array where it was not found: a walk gives a cluster entry if several pages go together.
    Translated look_up(const Access& access, PageNumber page, Port*) override {
        const uint64_t group = access.address.value >> 15;
        const uint8_t bits = page.size == PageSize::small_4kb && clusters_.exists() ? together(access) : 0;
        const uint64_t name = group << 8 | bits;
        const bool several = (bits & (bits - 1)) != 0;
        const EntryPlace regular = regular_.seek(page), cluster = clusters_.seek(group, name);
        const bool missed = !regular.found;
        if (missed & several) clusters_.enter(cluster, name);
        else regular_.enter(regular, page);
        ++accesses_, regular_hits_ += regular.found, cluster_hits_ += missed & cluster.found;
        return Translated::behind_l1(regular.found | cluster.found,
                                     select(regular.found, regular_cycles_, select(cluster.found, cluster_cycles_, miss_cycles_)));
    }
    bool needs_chunks() const override { return true; }
    bool needs_accesses() const override { return false; }
    bool regular_hit(PageNumber page) override { return regular_.lookup(page); }
    void fill_regular(PageNumber page) override { regular_.fill(page); }
    void drop(VirtRange range) override {
        regular_.drop(range);
        clusters_.drop([range](uint64_t name, Nothing) {
            const uint64_t begin = name >> 8 << 15;
            return begin < range.end.value && range.begin.value < begin + (8 << 12);
        });
    }

private:
    /// The valid bits of the address's entry: the pages of its group whose frame >> 3 is that of its own frame.
    uint8_t together(const Access& access) const {
        const uint64_t page = access.address.value >> 12, begin = page & ~uint64_t{7};
        const PageChunk* const own = chunk_of(access);
        if (own == nullptr) {
            const MappedRow& row = pages_.row(access.address);  // a page outside, or in a window of the kernel, which is a run
            return row.frame >= outside_frames ? uint8_t(1 << (page - begin)) : of_a_run(page, row.frame + (page - row.page));
        }
        const uint64_t frame = own->frame + (page - own->page);
        if (own->page <= begin && begin + 8 <= own->page + own->pages) return of_a_run(page, frame);  // most groups
        const PageChunk *chunk = own, *const first = pages_.chunks().data(), *const end = first + pages_.chunks().size();
        while (chunk != first && chunk[-1].page + chunk[-1].pages > begin) --chunk;
        uint8_t bits = 0;
        for (; chunk != end && chunk->page < begin + 8; ++chunk) {
            // The aligned group of frames begins at this page, if the chunk goes so far; all differences are modulo 2^64.
            const int64_t aligned = int64_t(chunk->page + ((frame & ~uint64_t{7}) - chunk->frame));
            const int64_t from = std::max({aligned, int64_t(chunk->page), int64_t(begin)});
            const int64_t to = std::min({aligned + 8, int64_t(chunk->page + chunk->pages), int64_t(begin + 8)});
            if (from < to) bits |= uint8_t(((1u << (to - from)) - 1) << (from - int64_t(begin)));
        }
        return bits;
    }
    /// If the frames of the whole group go on as its pages do.
    static uint8_t of_a_run(uint64_t page, uint64_t frame) { return uint8_t(0xffu << (page & 7) >> (frame & 7)); }

    struct Nothing {};
    const MappedPages& pages_;
    TlbArray regular_;
    EntryArray<Nothing> clusters_;
    uint32_t regular_cycles_, cluster_cycles_, miss_cycles_;
    uint64_t accesses_ = 0, regular_hits_ = 0, cluster_hits_ = 0;
};

std::vector<OwnKey> keys() {
    const std::string table = "Park (KAIST 2019), Table 3.3";
    return {{"regular_entries", "entries", 0, 65536, 768, table, "Array of regular entries; 0: none"},
            {"regular_ways", "ways", 1, 64, 6, table, "Ways of the array of regular entries"},
            {"cluster_entries", "entries", 0, 65536, 320, table, "Array of cluster entries; 0: none"},
            {"cluster_ways", "ways", 1, 64, 5, table, "Ways of the array of cluster entries"},
            {"cluster_cycles", "cycles", 0, 4000, 8, table, "What a hit in the array of cluster entries takes"}};
}

const Registered cluster(designs(), "cluster", "a regular TLB and one whose entries map up to eight 4KB pages each", keys(),
                         [](const OwnValues& own, const DesignContext& c) { return std::make_unique<InOnePiece<Cluster>>(false, own, c); });
const Registered cluster_2mb(designs(), "cluster-2mb", "cluster, with 2MB and 1GB pages in the regular TLB", keys(),
                             [](const OwnValues& own, const DesignContext& c) {
                                 return std::make_unique<InOnePiece<Cluster>>(true, own, c);
                             });

}  // namespace
}  // namespace tessera::sim
