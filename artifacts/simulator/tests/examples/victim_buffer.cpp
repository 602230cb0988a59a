// victim_buffer.cpp - a first-level TLB for all page sizes with a small fully associative buffer of what it evicted
// (after Jouppi's victim caches, ISCA 1990). The array has the geometry of tlb.l1d.4kb, the buffer a key of this file's own.
#include <algorithm>

#include "mmu/base_design.h"

namespace tessera::sim {
namespace {

class VictimBuffer final : public BaseDesign<Walker, L1::none> {
public:
    VictimBuffer(uint64_t victims, const DesignContext& context)
        : BaseDesign(context),
          array_(context.platform.l1_4kb, context.platform.l1_replacement, context.platform),
          victims_(victims, none) {}

private:
    static constexpr PageNumber none{~uint64_t{0}};

    Translated look_up(const Access&, PageNumber page, Port*) override { return find(page); }
    void fill(const Access&, PageNumber page, Port*) override { enter(page); }
    bool regular_hit(PageNumber page) override { return find(page) != Translation::miss; }
    void fill_regular(PageNumber page) override { enter(page); }
    void drop(VirtRange range) override {
        array_.drop(range);
        std::replace_if(victims_.begin(), victims_.end(), [&](PageNumber page) { return page != none && overlaps(page, range); }, none);
    }

    Translation find(PageNumber page) {
        if (array_.lookup(page)) return Translation::l1_hit;
        const auto victim = std::find(victims_.begin(), victims_.end(), page);
        if (victim == victims_.end()) return Translation::miss;
        *victim = none;
        enter(page);
        return Translation::stlb_hit;
    }
    void enter(PageNumber page) {
        PageNumber evicted;
        if (!array_.fill(page, &evicted) || victims_.empty()) return;
        victims_[next_] = evicted;
        next_ = (next_ + 1) % victims_.size();
    }

    TlbArray array_;
    std::vector<PageNumber> victims_;  ///< replaced in turn
    size_t next_ = 0;
};

const Registered row(designs(), "example-victim-buffer", "one TLB array for all page sizes and a buffer of its victims",
                     {{"victims", "entries", 0, 64, 4, "assumed: four, as in the smallest of Jouppi's caches", "Size of the buffer"}},
                     [](const OwnValues& own, const DesignContext& context) {
                         return std::make_unique<VictimBuffer>(own["victims"], context);
                     });

}  // namespace
}  // namespace tessera::sim
