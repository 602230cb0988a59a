// anchor.cpp - the anchor TLB: a page-table entry every d pages also says how many pages behind it are contiguous (Park, 3.3).
//
// The AVPN of a page is its number without the low log2(d) bits. The entry of the AVPN is an anchor: its contiguity counts the
// pages from the AVPN to the end of its chunk, itself included, at most 2^16. One second-level array (tlb.stlb) holds regular
// entries of all page sizes and anchors. Behind an L1 miss, the design looks up the regular entry, then the anchor. An anchor
// serves a page if page - AVPN < contiguity. Steps (Park, Table 3.2):
//   regular hit                 done
//   anchor found, match         done
//   anchor found, no match      walk, fill the regular entry
//   neither                     walk, load the AVPN's entry in the background; match: fill the anchor only, else the regular entry
//
// Encoding: index and name of an anchor come from page >> log2(d) (Park, Figure 3.6). Low six bits of an anchor's name: 1. Its
// payload is the contiguity. A code page is a regular entry.
//
// (assumed) An anchor enters only if it reaches beyond the page: not with contiguity 1, and not for a 2MB page that is alone in its
// chunk or fills a distance of 512, so these are regular entries (Park, 3.5.2: "regular L2 TLB entries containing large pages"). A 1GB
// page has no anchors. 1GB pages are regular entries of the shared array. A tag match without contiguity match moves the anchor in the
// replacement order. A miss takes the cycles of the slower look-up. L1 is filled with the page's own size.
// (assumed) The load of the AVPN's entry: none if it is in the line of the page's own entry. In the 2MB region of the page, it
// reads that table. In another region, which the trace may never touch, it reads a linear table in physical::far, so that
// tables are still handed out in the order of first touch. The upper levels of that region take no load.
//
// The distance is chosen once, before the start (anchor_distance.h), and kept if the mapping changes. A change drops an anchor if it
// overlaps the pages that the anchor serves, or if the chunk now goes on behind them (Park, 3.3.3). Regular entries of pages that did
// not change stay. The look-up itself is in anchor_step.h. Not modelled: regions with their own distances, the time to rewrite page
// tables, permissions (3.3.3: a page with others ends a chunk), context switches, which load the distance (3.3.1).
#include <bit>

#include "base/isa.h"
#include "mmu/base_design.h"
#include "mmu/designs/anchor_distance.h"
#include "mmu/designs/anchor_step.h"
#include "os/physical_map.h"
#include "tlb/entry_array.h"

namespace tessera::sim {
namespace {

constexpr uint64_t far_entries = physical::far.begin;
static_assert(physical::far.holds((address_limit >> 12) * 8));
static_assert(most_contiguity >= most_anchor_distance && most_contiguity + most_anchor_distance - 1 <= RecentSets::most_payload);

uint64_t distance_of(const OwnValues& own, const MappedPages& mapping) {
    const uint64_t distance = own["distance_pages"];
    if (distance == 0)
        return anchor_distance(histogram_of(mapping.chunks()), own["weights_as_printed"] ? AnchorCost::printed : AnchorCost::count);
    if (distance < least_anchor_distance || !std::has_single_bit(distance))
        throw Refusal("platform key design.anchor.distance_pages in pages, a power of two from 2 to 65536",
                      "'" + std::to_string(distance) + "'", "correct the value; 0 chooses the distance from the chunks of the mapping");
    return distance;
}

/// Array: an EntryArray or a RecentSets, with contiguities; 0: of a regular entry.
template <class Array>
class Anchor : public BaseDesign<> {
public:
    Anchor(const OwnValues& own, const DesignContext& context)
        : BaseDesign(context),
          mapping_(mapping_of(context.space, "mmu.design = anchor")),
          distance_(distance_of(own, mapping_)),
          table_{unsigned(std::countr_zero(distance_))},
          background_fills_(own["background_fills"] != 0),
          regular_cycles_(uint32_t(context.platform.stlb_hit_cycles)),
          both_cycles_(std::max(regular_cycles_, uint32_t(own["anchor_cycles"]))),
          array_(context.platform.stlb, context.platform.stlb_replacement, context.platform) {}

    /// Of data accesses. The anchor's look-up cycles are those beyond the regular ones, so both together are what accesses pay.
    std::vector<StructureCounts> structures() const override {
        const uint64_t regular_misses = accesses_ - regular_hits_;
        return {{"regular", accesses_, regular_hits_, accesses_ * regular_cycles_},
                {"anchor", regular_misses, anchor_hits_, regular_misses * (both_cycles_ - regular_cycles_)}};
    }

protected:
    Translated look_up(const Access& access, PageNumber page, Port*) override {
        const PageChunk* const chunk = chunk_of(access);
        const InChunk place = chunk == nullptr ? InChunk() : InChunk(*chunk, access.address.value >> 12);
        const uint64_t contiguity = table_.contiguity(access.address, page.size, place);
        const AnchorStep step = anchor_step(array_, table_, access.address, page, contiguity);
        anchor_found_ = step.anchor_found;
        count(1, step.regular, step.anchor);
        return Translated::behind_l1((step.regular | step.anchor) != 0, select(step.regular != 0, regular_cycles_, both_cycles_));
    }
    void fill(const Access& access, PageNumber page, Port* port) override {
        if (port != nullptr && !anchor_found_ && table_.exist_for(page.size)) load_anchor(access.address, page, *port);
    }
    void count(uint64_t accesses, uint64_t regular_hits, uint64_t anchor_hits) {
        accesses_ += accesses, regular_hits_ += regular_hits, anchor_hits_ += anchor_hits;
    }

    bool regular_hit(PageNumber page) override {
        const EntryPlace at = array_.seek(page.number, entry_name(page));
        array_.enter_if(at.found, at, entry_name(page), 0);
        return at.found;
    }
    void fill_regular(PageNumber page) override { array_.enter(array_.seek(page.number, entry_name(page)), entry_name(page), 0); }

    void drop(VirtRange range) override {
        array_.drop([&](uint64_t name, uint64_t contiguity) {
            if ((name & 63) != anchor_bits) return overlaps(page_of_entry(name), range);
            const uint64_t begin = name >> 6 << table_.shift, end = begin + std::min(contiguity, distance_);
            if (begin << 12 < range.end.value && range.begin.value < end << 12) return true;
            return range.begin.value == end << 12 && contiguity < distance_ && contiguity_now(begin) != contiguity;
        });
    }

    bool needs_chunks() const override { return true; }
    bool needs_accesses() const override { return false; }

    const AnchorTable& table() const { return table_; }
    Array& array() { return array_; }

private:
    /// In the page table, of the anchor of this page; 0: none.
    uint64_t contiguity_now(uint64_t avpn) const {
        if (!mapping_.has(VirtAddr(avpn << 12))) return 0;
        const uint32_t number = mapping_.row(VirtAddr(avpn << 12)).chunk;
        return number < mapping_.chunks().size() ? InChunk(mapping_.chunks()[number], avpn).from : 0;
    }
    void load_anchor(VirtAddr address, PageNumber page, Port& port) {
        const uint64_t avpn = table_.number(address) << table_.shift;
        const VirtAddr first(avpn << 12);
        const bool same_region = first.value >> 21 == address.value >> 21;  // and so a page of the same size
        const PhysAddr entry = same_region ? walker_.leaf_entry(first, page.size) : PhysAddr(far_entries + avpn * 8);
        if (line_of(entry) == line_of(walker_.leaf_entry(address, page.size))) return;
        if (background_fills_) port.background_load(entry);
        else port.walker_load(entry);
    }

    const MappedPages& mapping_;
    uint64_t distance_;
    AnchorTable table_;
    bool background_fills_;
    uint32_t regular_cycles_, both_cycles_;
    Array array_;
    bool anchor_found_ = false;  ///< by the look-up of this access; fill() needs it
    uint64_t accesses_ = 0, regular_hits_ = 0, anchor_hits_ = 0;
};

/// Misses that were listed go through one loop.
class AnchorInRecentSets final : public Anchor<RecentSets> {
public:
    using Anchor::Anchor;

private:
    void missed_l1(const L1Misses& misses, MissCounts& counts) override {
        if (misses.chunks == nullptr) return BaseDesign::missed_l1(misses, counts);
        RecentSets& sets = array();
        const L1Miss* const list = misses.list.data();
        const size_t accesses = misses.list.size();
        const AnchorTable of = table();
        RecentSteps steps = sets.steps();
        const AnchorHits hits = has_avx512_ ? anchor_steps_avx512(sets.sets(), sets.set_mask(), sets.all_ways(), of, list, accesses)
                                            : anchor_steps(steps, of, list, accesses);
        counts.done = accesses, counts.hits += hits.regular + hits.anchor;
        count(accesses, hits.regular, hits.anchor);
    }
    bool has_avx512_ = chosen_isa() == std::string("avx512");
};

std::unique_ptr<Design> make(const OwnValues& own, const DesignContext& context) {
    if (RecentSets::can_be(context.platform.stlb, context.platform.stlb_replacement))
        return std::make_unique<AnchorInRecentSets>(own, context);
    return std::make_unique<InOnePiece<Anchor<EntryArray<uint32_t>>>>(own, context);
}

const Registered row(designs(), "anchor", "anchor TLB: every d-th page-table entry also gives a contiguity (needs a mapping)",
                     {{"distance_pages", "pages", 0, most_anchor_distance, 0, "Park, 3.4: chosen from the chunks by Algorithm 1",
                       "Anchor distance, a power of two from 2; 0: chosen once from the chunks of the mapping"},
                      {"weights_as_printed", "0 or 1", 0, 1, 0, "assumed: the distances of Park, Table 3.6 agree with this reading",
                       "Cost of Algorithm 1: 0 counts TLB entries; 1 weighs them as the listing prints"},
                      {"anchor_cycles", "cycles", 0, 1000, 8, "Park, Table 3.3",
                       "Time of a look-up that reaches the anchor, the regular one included; at least tlb.stlb.hit_cycles"},
                      {"background_fills", "0 or 1", 0, 1, 1, "Park, 3.3.2: the anchor's entry is not on the critical path",
                       "0: the access waits for the load of the anchor's entry (an ablation)"}},
                     make);

}  // namespace
}  // namespace tessera::sim
