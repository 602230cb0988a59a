// hvc_delayed_tlb.cpp - hybrid virtual caching with a TLB behind L3: the delayed TLB (Park, 2.4.1).
//
// What comes before L3 is in hvc_common.h. An access that memory serves looks its page up in the delayed TLB. A hit is a
// second-level hit (H). A miss (M) walks beside L3, without walk caches, so each level of the page table is a load from L3 on
// (Park's pessimistic choice); then the page enters the delayed TLB. An entry is a page of the layout's or mapping's size, named by
// size and number; all sizes share the array (assumed). Replacement is LRU (assumed).
//
// Invariants: an access that a cache serves neither looks up nor walks. H + M of data is the accesses that memory serves, plus the
// candidates that miss the synonym TLB.
#include "mmu/designs/hvc_common.h"

namespace tessera::sim {
namespace {

const char* const section = "design.hvc-delayed-tlb";

class DelayedTlb final : public HybridVirtual {
public:
    DelayedTlb(const OwnValues& own, const DesignContext& context)
        : HybridVirtual(section, own, context),
          cycles_(uint32_t(own["delayed_cycles"])),
          delayed_tlb_(own_geometry(section, "entries", own["entries"], "ways", own["ways"]), "lru", context.platform) {}

private:
    Translated look_up(const Access& access, PageNumber page, Port* port) override {
        const bool hit = delayed_tlb_.lookup_or_fill(page);
        count(lookups_, hit, cycles_);
        if (!hit && port != nullptr) walker_.walk_behind_l3(access.address, page.size, *port);
        return {hit ? Translation::stlb_hit : Translation::miss, cycles_, Place::behind_l3};
    }
    void drop_delayed(VirtRange range) override { delayed_tlb_.drop(range); }
    std::vector<StructureCounts> delayed_structures() const override { return {lookups_}; }

    uint32_t cycles_;
    TlbArray delayed_tlb_;
    StructureCounts lookups_{"delayed-tlb"};
};

const Registered row(
    designs(), "hvc-delayed-tlb", "virtually addressed caches, and a TLB for what L3 misses",
    hybrid_keys({{"entries", "entries", 1, 65536, 1024, "Park, 2.3.3 (in 2.4.1 and 2.6 also 2048 to 32768)", "Delayed TLB"},
                 {"ways", "ways", 1, 64, 8, "Park, 2.3.3", "Its associativity"},
                 {"delayed_cycles", "cycles", 0, 1000, 7, "assumed: as a conventional second level (Park, Table 3.3)", "Its look-up"}}),
    [](const OwnValues& own, const DesignContext& context) { return std::make_unique<DelayedTlb>(own, context); });

}  // namespace
}  // namespace tessera::sim
