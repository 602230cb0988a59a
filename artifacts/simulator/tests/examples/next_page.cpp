// next_page.cpp - a second-level TLB and a buffer of prefetched entries: the walk of a page also gets the entry of the next page
// (sequential prefetching, as in Kandiraju and Sivasubramaniam, ISCA 2002).
//
// Behind an L1 miss, the design looks up the second level (tlb/levels.h), then the buffer. A hit in the buffer enters the second
// level. A walk loads the entry of the next 4KB page in the background, unless it is in the line of the page's own entry.
// Not modelled (assumed): prefetches for 2MB and 1GB pages, and across a border of 2MB, where tables may not exist yet.
#include "mmu/base_design.h"

namespace tessera::sim {
namespace {

class NextPage final : public BaseDesign<> {
public:
    NextPage(const OwnValues& own, const DesignContext& context)
        : BaseDesign(context),
          second_(context.platform),
          buffer_({own["entries"], own["entries"]}, "lru", context.platform),
          buffer_cycles_(uint32_t(own["cycles"])),
          both_cycles_(uint32_t(context.platform.stlb_hit_cycles) + buffer_cycles_) {}

    std::vector<StructureCounts> structures() const override { return {counts_}; }

protected:
    Translated look_up(const Access&, PageNumber page, Port*) override {
        if (second_.lookup(page)) return Translation::stlb_hit;
        ++counts_.accesses;
        counts_.lookup_cycles += buffer_cycles_;
        if (!buffer_.lookup(page)) return {Translation::miss, both_cycles_};
        ++counts_.hits;
        second_.fill(page);
        return {Translation::stlb_hit, both_cycles_};
    }
    void fill(const Access& access, PageNumber page, Port* port) override {
        const VirtAddr address = access.address;
        second_.fill(page);
        const VirtAddr next(address.value + 4096);
        if (!buffer_.exists() || page.size != PageSize::small_4kb || next.value >> 21 != address.value >> 21) return;
        if (buffer_.lookup(page_of(next, page.size))) return;
        const PhysAddr entry = walker_.leaf_entry(next, page.size);
        if (port != nullptr && line_of(entry) != line_of(walker_.leaf_entry(address, page.size))) port->background_load(entry);
        buffer_.fill(page_of(next, page.size));
    }
    bool regular_hit(PageNumber page) override { return second_.lookup(page); }
    void fill_regular(PageNumber page) override { second_.fill(page); }
    void drop(VirtRange range) override {
        second_.drop(range);
        buffer_.drop(range);
    }

private:
    SecondLevel second_;
    TlbArray buffer_;
    uint32_t buffer_cycles_, both_cycles_;
    StructureCounts counts_{"buffer"};
};

const Registered row(designs(), "example-next-page", "a second level, and a buffer of entries that walks of the pages before prefetched",
                     {{"entries", "entries", 0, 1024, 16, "assumed: as a small first level", "Prefetched entries, fully associative, LRU"},
                      {"cycles", "cycles", 0, 1000, 1, "assumed: a small array", "Look-up of the buffer, after that of the second level"}},
                     [](const OwnValues& own, const DesignContext& context) { return std::make_unique<NextPage>(own, context); });

}  // namespace
}  // namespace tessera::sim
