// baseline.cpp - conventional second-level TLBs on 4KB pages only (baseline) or on the pages of the layout or mapping (thp).
//
// Park (KAIST 2019), 3.5.1: the baseline has 4KB pages only; THP has the large pages that the operating system gave. Both have
// the platform's L1 arrays, the second-level arrays of tlb/levels.h, and a conventional walk. Baseline gives every address a
// 4KB page, whatever the layout or mapping says, so its walks end at a pte. The two take the arrays of tlb.organisation = split
// whatever the platform names there (assumed). With these arrays, thp is the design conventional.
// Invariants: baseline under any layout has the counts of thp under a layout of 4KB pages, as long as physical = virtual.
// thp has the counts of conventional. Not modelled: the promotion and demotion of pages, which are work of the mapping.
#include "mmu/base_design.h"

namespace tessera::sim {
namespace {

class TwoLevels : public BaseDesign<> {
public:
    explicit TwoLevels(const DesignContext& context) : BaseDesign(context), second_(context.platform) {}

protected:
    Translated look_up(const Access&, PageNumber page, Port*) override {
        return second_.lookup_or_fill(page) ? Translation::stlb_hit : Translation::miss;
    }
    bool regular_hit(PageNumber page) override { return second_.lookup(page); }
    void fill_regular(PageNumber page) override { second_.fill(page); }
    void drop(VirtRange range) override { second_.drop(range); }
    bool needs_accesses() const override { return false; }

private:
    SecondLevel second_;
};

const Registered baseline(designs(), "baseline", "conventional TLBs and walks on 4KB pages only, whatever the layout or mapping says",
                          [](const DesignContext& context) { return std::make_unique<InOnePiece<TwoLevels>>(context.with_4kb_pages()); });
const Registered thp(designs(), "thp", "conventional TLBs and walks on the pages of the layout or mapping, to compare designs with",
                     [](const DesignContext& context) { return std::make_unique<InOnePiece<TwoLevels>>(context); });

}  // namespace
}  // namespace tessera::sim
