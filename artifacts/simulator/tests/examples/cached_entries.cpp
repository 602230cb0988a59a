// cached_entries.cpp - translations in L2: a line of eight neighbouring pages, looked up behind the TLBs (after Victima, MICRO 2023).
//
// Behind an L1 miss, the design looks up the second level (tlb/levels.h), then whether L2 has the line of the page. Such a hit takes
// `cycles` more and enters the second level. A walk of a 4KB page puts its line into L2, where it is evicted as any other.
// Not modelled (assumed): lines of large pages, which lines are worth it, a priority of these lines in L2.
#include <unordered_set>

#include "mmu/base_design.h"

namespace tessera::sim {
namespace {

class CachedEntries final : public BaseDesign<> {
public:
    CachedEntries(uint64_t cycles, const DesignContext& context)
        : BaseDesign(context), second_(context.platform), cycles_(uint32_t(context.platform.stlb_hit_cycles + cycles)) {}

    bool needs_caches() const override { return true; }
    std::vector<StructureCounts> structures() const override { return {counts_}; }

private:
    static_assert(physical::far.holds(address_limit >> 15 << 6));
    static PhysAddr line(uint64_t group) { return PhysAddr(physical::far.begin + group * 64); }

    Translated look_up(const Access& access, PageNumber page, Port* port) override {
        if (second_.lookup(page)) return Translation::stlb_hit;
        const uint64_t group = access.address.value >> 15;
        ++counts_.accesses;
        counts_.lookup_cycles += cycles_;
        if (page.size != PageSize::small_4kb || !groups_.contains(group) || !port->holds(MemoryLevel::l2, line(group)))
            return {Translation::miss, cycles_};
        ++counts_.hits;
        port->fill(MemoryLevel::l2, line(group));  // the most recent one
        second_.fill(page);
        return {Translation::stlb_hit, cycles_};
    }
    void fill(const Access& access, PageNumber page, Port* port) override {
        second_.fill(page);
        if (page.size != PageSize::small_4kb) return;
        groups_.insert(access.address.value >> 15);
        port->fill(MemoryLevel::l2, line(access.address.value >> 15));
    }
    bool regular_hit(PageNumber page) override { return second_.lookup(page); }
    void fill_regular(PageNumber page) override { second_.fill(page); }
    void drop(VirtRange range) override {
        second_.drop(range);
        std::erase_if(groups_, [&](uint64_t group) { return group << 15 < range.end.value && range.begin.value < (group + 1) << 15; });
    }

    SecondLevel second_;
    uint32_t cycles_;
    std::unordered_set<uint64_t> groups_;  ///< whose lines are as the mapping is
    StructureCounts counts_{"line"};
};

const Registered row(designs(), "example-cached-entries", "a second level, and lines of entries in L2",
                     {{"cycles", "cycles", 0, 1000, 12, "assumed: as L2", "What the look-up in L2 adds to that of the second level"}},
                     [](const OwnValues& own, const DesignContext& context) {
                         return std::make_unique<CachedEntries>(own["cycles"], context);
                     });

}  // namespace
}  // namespace tessera::sim
