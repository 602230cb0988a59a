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
// (assumed) An anchor of contiguity 1 never enters. A 2MB page has anchors only if d >= 512, a 1GB page has none. 1GB pages are
// regular entries of the shared array. A tag match without contiguity match moves the anchor in the replacement order. A miss
// takes the cycles of the slower look-up. L1 is filled with the page's own size.
// (assumed) The load of the AVPN's entry: none if it is in the line of the page's own entry. In the 2MB region of the page, it
// reads that table. In another region, which the trace may never touch, it reads a linear table in physical::far, so that
// tables are still handed out in the order of first touch. The upper levels of that region take no load.
//
// The distance is chosen once, before the start (anchor_distance.h), and kept if the mapping changes. A change drops an anchor if
// it overlaps the pages that the anchor serves. Not modelled: regions with their own distances, the time to rewrite page tables.
#include <bit>

#include "base/isa.h"
#include "mmu/base_design.h"
#include "mmu/designs/anchor_array.h"
#include "mmu/designs/anchor_distance.h"
#include "mmu/designs/anchor_loop.h"
#include "os/physical_map.h"

namespace tessera::sim {
namespace {

constexpr uint64_t most_contiguity = 65536, far_entries = physical::far.begin;
static_assert(physical::far.holds((address_limit >> 12) * 8));
// For the loop: what a miss knows of its chunk is enough for every distance, and contiguities fit a word of the sets.
static_assert(L1Miss::most_pages >= most_anchor_distance && L1Miss::most_pages + most_anchor_distance - 1 <= RecentSets::most_value);

uint64_t distance_of(const OwnValues& own, const MappedPages& mapping) {
    const uint64_t distance = own["distance_pages"];
    if (distance == 0)
        return anchor_distance(histogram_of(mapping.chunks()), own["weights_as_printed"] ? AnchorCost::printed : AnchorCost::count);
    if (distance < least_anchor_distance || !std::has_single_bit(distance))
        throw Refusal("platform key design.anchor.distance_pages in pages, a power of two from 2 to 65536",
                      "'" + std::to_string(distance) + "'", "correct the value; 0 chooses the distance from the chunks of the mapping");
    return distance;
}

class Anchor final : public BaseDesign<> {
public:
    Anchor(const OwnValues& own, const DesignContext& context)
        : BaseDesign(context),
          mapping_(mapping_of(context.space, "mmu.design = anchor")),
          distance_(distance_of(own, mapping_)),
          shift_(unsigned(std::countr_zero(distance_))),
          background_fills_(own["background_fills"] != 0),
          regular_cycles_(uint32_t(context.platform.stlb_hit_cycles)),
          both_cycles_(std::max(regular_cycles_, uint32_t(own["anchor_cycles"]))),
          array_(context.platform.stlb, context.platform.stlb_replacement, context.platform),
          loop_(chosen_isa() == std::string("avx512") ? anchor_loop_avx512 : anchor_loop<PlainSteps>) {}

    /// Of data accesses. The anchor's look-up cycles are those beyond the regular ones, so both together are what accesses pay.
    std::vector<StructureCounts> structures() const override { return {regular_, anchor_}; }

protected:
    Translated look_up(const Access& access, PageNumber page, Port*) override {
        ++regular_.accesses;
        regular_.lookup_cycles += regular_cycles_;
        if (regular_hit(page)) {
            ++regular_.hits;
            return {Translation::stlb_hit, regular_cycles_};
        }
        ++anchor_.accesses;
        anchor_.lookup_cycles += both_cycles_ - regular_cycles_;
        const uint64_t vpn = access.address.value >> 12, number = vpn >> shift_;
        const std::optional<uint64_t> contiguity = array_.lookup(number, anchor_name(number));
        anchor_found_ = contiguity.has_value();
        if (!anchor_found_ || vpn - (number << shift_) >= *contiguity) return {Translation::miss, both_cycles_};
        ++anchor_.hits;
        return {Translation::stlb_hit, both_cycles_};
    }

    void fill(const Access& access, PageNumber page, Port* port) override {
        const VirtAddr address = access.address;
        if (!anchor_found_ && has_anchors(page.size)) {
            const uint64_t number = address.value >> 12 >> shift_;
            if (port != nullptr) load_anchor(address, page, *port);
            if (const uint64_t contiguity = contiguity_at(number << shift_, address); contiguity > 1) {
                array_.fill(number, anchor_name(number), contiguity);
                return;
            }
        }
        fill_regular(page);
    }

    bool regular_hit(PageNumber page) override { return array_.lookup(page.number, entry_name(page)).has_value(); }
    void fill_regular(PageNumber page) override { array_.fill(page.number, entry_name(page), 0); }

    void drop(VirtRange range) override {
        array_.drop([&](uint64_t name, uint64_t contiguity) {
            if ((name & 63) != anchor_bits) return overlaps(page_of_entry(name), range);
            const uint64_t begin = name >> 6 << shift_, end = begin + std::min(contiguity, distance_);
            return begin << 12 < range.end.value && range.begin.value < end << 12;
        });
    }

    bool needs_chunks() const override { return true; }
    bool needs_accesses() const override { return false; }
    /// look_up() and fill() of all misses in one loop (anchor_loop.h).
    void missed_l1(const L1Misses& misses, MissCounts& counts) override {
        RecentSets* const sets = array_.recent();
        if (sets == nullptr || misses.chunks == nullptr) return BaseDesign::missed_l1(misses, counts);
        uint64_t have_anchors = 0;
        for (const PageSize size : {PageSize::small_4kb, PageSize::large_2mb, PageSize::huge_1gb})
            have_anchors |= uint64_t{has_anchors(size)} << shift_of(size);
        const uint64_t accesses = counts.done = misses.list.size();
        const AnchorHits hits =
            loop_({sets->sets(), sets->set_mask(), sets->all_ways(), shift_, have_anchors}, misses.list.data(), accesses);
        counts.hits += hits.regular + hits.anchor;
        regular_ += {"", accesses, hits.regular, accesses * regular_cycles_};
        anchor_ += {"", accesses - hits.regular, hits.anchor, (accesses - hits.regular) * (both_cycles_ - regular_cycles_)};
    }

private:
    static uint64_t anchor_name(uint64_t number) { return number << 6 | anchor_bits; }

    bool has_anchors(PageSize size) const { return distance_ << 12 >= bytes_of(size).value || size == PageSize::small_4kb; }

    /// Of the anchor of the page at the address; 0 if the AVPN is in another chunk, as its contiguity ends before the page.
    uint64_t contiguity_at(uint64_t avpn, VirtAddr address) const {
        const MappedRow& row = mapping_.row(address);
        if (row.chunk >= mapping_.chunks().size()) return avpn < row.page ? 0 : 1;  // outside the pools
        const PageChunk& chunk = mapping_.chunks()[row.chunk];
        return avpn < chunk.page ? 0 : std::min(chunk.page + chunk.pages - avpn, most_contiguity);
    }

    void load_anchor(VirtAddr address, PageNumber page, Port& port) {
        const uint64_t avpn = address.value >> 12 >> shift_ << shift_;
        const VirtAddr first(avpn << 12);
        const bool same_region = first.value >> 21 == address.value >> 21;  // and so a page of the same size
        const PhysAddr entry = same_region ? walker_.leaf_entry(first, page.size) : PhysAddr(far_entries + avpn * 8);
        if (line_of(entry) == line_of(walker_.leaf_entry(address, page.size))) return;
        if (background_fills_) port.background_load(entry);
        else port.walker_load(entry);
    }

    const MappedPages& mapping_;
    uint64_t distance_;
    unsigned shift_;
    bool background_fills_;
    uint32_t regular_cycles_, both_cycles_;
    AnchorArray array_;
    AnchorHits (*loop_)(const AnchorLoop&, const L1Miss*, size_t);
    bool anchor_found_ = false;  ///< by the look-up of this access; fill() needs it
    StructureCounts regular_{"regular"}, anchor_{"anchor"};
};

const Registered row(designs(), "anchor", "anchor TLB: every d-th page-table entry also gives a contiguity (needs a mapping)",
                     {{"distance_pages", "pages", 0, most_anchor_distance, 0, "Park, 3.4: chosen from the chunks by Algorithm 1",
                       "Anchor distance, a power of two from 2; 0: chosen once from the chunks of the mapping"},
                      {"weights_as_printed", "0 or 1", 0, 1, 0, "assumed: the distances of Park, Table 3.6 agree with this reading",
                       "Cost of Algorithm 1: 0 counts TLB entries; 1 weighs them as the listing prints"},
                      {"anchor_cycles", "cycles", 0, 1000, 8, "Park, Table 3.3",
                       "Time of a look-up that reaches the anchor, the regular one included; at least tlb.stlb.hit_cycles"},
                      {"background_fills", "0 or 1", 0, 1, 1, "Park, 3.3.2: the anchor's entry is not on the critical path",
                       "0: the access waits for the load of the anchor's entry (an ablation)"}},
                     [](const OwnValues& own, const DesignContext& context) { return std::make_unique<Anchor>(own, context); });

}  // namespace
}  // namespace tessera::sim
