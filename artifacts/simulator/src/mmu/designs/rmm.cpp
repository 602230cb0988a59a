// rmm.cpp - redundant memory mappings: a small array of ranges beside a conventional second level (Park, 3.2 and Table 3.3).
//
// A range is a chunk of at least two pages (assumed): first page, number of pages, offset. Behind an L1 miss, the design looks up
// the regular arrays (tlb.stlb*) and the ranges in parallel. A regular hit takes tlb.stlb.hit_cycles, a hit of a range alone
// range_cycles, a miss the longer of the two. If both miss, the page is walked and fills its regular entry. Then the hardware
// searches the range table in the background (range_table.h), and the range enters.
//
// Ranges: fully associative, LRU (range_array.h). Both structures see each look-up, so a hit of both
// makes both most recent (assumed). A hit of a range fills L1 with the page's own size, and no regular entry (assumed).
// (assumed) A bit of the leaf entry tells that the page is in a range: no search for other pages. Code pages are regular entries.
// A range that enters replaces those that it overlaps: they are parts of it which later changes left behind.
// Not modelled: limits of the offset field, eager paging (that is the mapping's part).
#include "mmu/base_design.h"
#include "mmu/designs/range_array.h"
#include "mmu/designs/range_table.h"

namespace tessera::sim {
namespace {

class Rmm final : public BaseDesign<> {
public:
    Rmm(const OwnValues& own, const DesignContext& context)
        : BaseDesign(context),
          mapping_(mapping_of(context.space, "mmu.design = rmm")),
          table_(mapping_, own["btree"] != 0),
          has_ranges_(own["entries"] != 0),
          ranges_(own["entries"]),
          regular_cycles_(uint32_t(context.platform.stlb_hit_cycles)),
          range_cycles_(has_ranges_ ? uint32_t(own["range_cycles"]) : 0),
          second_(context.platform) {}

    /// Of data accesses. A range's hits are those without a regular one. The cycles of a miss are those of the slower structure.
    std::vector<StructureCounts> structures() const override { return {regular_, range_}; }

protected:
    Translated look_up(const Access& access, PageNumber page, Port*) override {
        ++regular_.accesses;
        ++range_.accesses;
        if (!numbered_) number();
        const bool in_range = ranges_.lookup(mapping_.row(access.address).chunk, access.address.value >> 12),
                   in_regular = regular_hit(page);
        const bool range_counts = in_regular ? false : in_range || range_cycles_ > regular_cycles_;
        const uint32_t cycles = range_counts ? range_cycles_ : regular_cycles_;
        (range_counts ? range_ : regular_).lookup_cycles += cycles;
        if (!in_regular && !in_range) return {Translation::miss, cycles};
        ++(in_regular ? regular_ : range_).hits;
        return {Translation::stlb_hit, cycles};
    }

    void fill(const Access& access, PageNumber page, Port* port) override {
        fill_regular(page);
        enter_range(mapping_.row(access.address).chunk, port);
    }

    void enter_range(uint32_t number, Port* port) {
        if (!has_ranges_ || number >= mapping_.chunks().size()) return;
        const PageChunk& chunk = mapping_.chunks()[number];
        if (chunk.pages < 2) return;
        if (port != nullptr) port->background_loads(table_.search(number));
        ranges_.enter(number, chunk.page, chunk.page + chunk.pages);
    }

    bool needs_chunks() const override { return true; }
    bool needs_accesses() const override { return false; }
    /// look_up() and fill(), which needs no search of the table here.
    void missed_l1(const L1Misses& misses, MissCounts& counts) override {
        if (!numbered_) number();
        uint64_t regular_hits = 0, range_hits = 0;
        replay_misses(misses, counts, [&](const L1Miss& miss, const PageChunk* known) {
            const uint64_t vpn = miss.address().value >> 12;
            const uint32_t number = known != nullptr ? miss.chunk : mapping_.row(miss.address()).chunk;
            const bool in_range = ranges_.lookup(number, vpn);
            const bool in_regular = in_range ? second_.lookup(miss.page()) : second_.lookup_or_fill(miss.page());
            regular_hits += in_regular, range_hits += in_range & !in_regular;
            if (in_range | in_regular) return true;
            enter_range(number, nullptr);
            return false;
        });
        const uint64_t accesses = misses.list.size(), both_missed = accesses - regular_hits - range_hits;
        const bool range_last = range_cycles_ > regular_cycles_;
        regular_ += {"", accesses, regular_hits, regular_cycles_ * (regular_hits + (range_last ? 0 : both_missed))};
        range_ += {"", accesses, range_hits, range_cycles_ * (range_hits + (range_last ? both_missed : 0))};
    }
    bool regular_hit(PageNumber page) override { return second_.lookup(page); }
    void fill_regular(PageNumber page) override { second_.fill(page); }

    void drop(VirtRange range) override {
        second_.drop(range);
        ranges_.forget(range.begin.value >> 12, (range.end.value + 4095) >> 12);
        table_.changed();
        numbered_ = false;
    }

private:
    /// At the start and after each change, when the mapping has numbered its chunks again.
    void number() {
        ranges_.renumber(mapping_.chunks().size(), [this](uint64_t page) { return mapping_.row(VirtAddr(page << 12)).chunk; });
        numbered_ = true;
    }

    const MappedPages& mapping_;
    RangeTable table_;
    bool has_ranges_, numbered_ = false;
    RangeArray ranges_;
    uint32_t regular_cycles_, range_cycles_;
    SecondLevel second_;
    StructureCounts regular_{"regular"}, range_{"range"};
};

const Registered row(designs(), "rmm", "redundant memory mappings: 32 ranges beside a conventional second level (needs a mapping)",
                     {{"entries", "ranges", 0, 4096, 32, "Park, Table 3.3", "Ranges, fully associative with LRU; 0: none (an ablation)"},
                      {"range_cycles", "cycles", 0, 1000, 8, "Park, Table 3.3", "Time that a range adds to an access that missed L1"},
                      {"btree", "0 or 1", 0, 1, 1, "Kanellopoulos et al., ASPLOS 2025 (Virtuoso), Table 4: a tree stores the ranges",
                       "Range table: 1: a B-tree with nodes of 64 bytes; 0: sorted rows of 24 bytes, binary search"}},
                     [](const OwnValues& own, const DesignContext& context) { return std::make_unique<Rmm>(own, context); });

}  // namespace
}  // namespace tessera::sim
