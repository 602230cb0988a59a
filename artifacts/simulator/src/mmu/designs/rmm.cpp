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

class Rmm : public BaseDesign<> {
public:
    Rmm(const OwnValues& own, const DesignContext& context)
        : BaseDesign(context),
          mapping_(mapping_of(context.space, "mmu.design = rmm")),
          table_(mapping_, own["btree"] != 0),
          has_ranges_(own["entries"] != 0),
          ranges_(own["entries"]),
          regular_cycles_(uint32_t(context.platform.stlb_hit_cycles)),
          range_cycles_(has_ranges_ ? uint32_t(own["range_cycles"]) : 0),
          miss_cycles_(std::max(regular_cycles_, range_cycles_)),
          second_(context.platform) {}

    /// Of data accesses. A range's hits are those without a regular one. The cycles of a miss are those of the slower structure.
    std::vector<StructureCounts> structures() const override {
        const uint64_t misses = accesses_ - regular_hits_ - range_hits_;
        const bool range_last = range_cycles_ > regular_cycles_;
        return {{"regular", accesses_, regular_hits_, regular_cycles_ * (regular_hits_ + (range_last ? 0 : misses))},
                {"range", accesses_, range_hits_, range_cycles_ * (range_hits_ + (range_last ? misses : 0))}};
    }

protected:
    Translated look_up(const Access& access, PageNumber page, Port*) override {
        if (!numbered_) number();
        const bool in_range = ranges_.lookup(number_of(chunk_of(access)), access.address.value >> 12);
        const bool in_regular = in_range ? second_.lookup(page) : second_.lookup_or_fill(page);
        ++accesses_, regular_hits_ += in_regular, range_hits_ += in_range & !in_regular;
        return Translated::behind_l1(in_regular | in_range,
                                     select(in_regular, regular_cycles_, select(in_range, range_cycles_, miss_cycles_)));
    }
    void fill(const Access& access, PageNumber, Port* port) override {
        const PageChunk* const chunk = chunk_of(access);
        if (!has_ranges_ || chunk == nullptr || chunk->pages < 2) return;
        if (port != nullptr) port->background_loads(table_.search(number_of(chunk)));
        ranges_.enter(number_of(chunk), chunk->page, chunk->page + chunk->pages);
    }

    bool needs_chunks() const override { return true; }
    bool needs_accesses() const override { return false; }
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

    /// Its place among the mapping's chunks; null: no chunk has that number.
    uint32_t number_of(const PageChunk* chunk) const {
        return chunk == nullptr ? ~uint32_t{0} : uint32_t(chunk - mapping_.chunks().data());
    }

    const MappedPages& mapping_;
    RangeTable table_;
    bool has_ranges_, numbered_ = false;
    RangeArray ranges_;
    uint32_t regular_cycles_, range_cycles_, miss_cycles_;
    SecondLevel second_;
    uint64_t accesses_ = 0, regular_hits_ = 0, range_hits_ = 0;
};

const Registered row(designs(), "rmm", "redundant memory mappings: 32 ranges beside a conventional second level (needs a mapping)",
                     {{"entries", "ranges", 0, 4096, 32, "Park, Table 3.3", "Ranges, fully associative with LRU; 0: none (an ablation)"},
                      {"range_cycles", "cycles", 0, 1000, 8, "Park, Table 3.3", "Time that a range adds to an access that missed L1"},
                      {"btree", "0 or 1", 0, 1, 1, "Kanellopoulos et al., ASPLOS 2025 (Virtuoso), Table 4: a tree stores the ranges",
                       "Range table: 1: a B-tree with nodes of 64 bytes; 0: sorted rows of 24 bytes, binary search"}},
                     [](const OwnValues& own, const DesignContext& context) { return std::make_unique<InOnePiece<Rmm>>(own, context); });

}  // namespace
}  // namespace tessera::sim
