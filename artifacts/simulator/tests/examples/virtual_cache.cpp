// virtual_cache.cpp - a virtually addressed L1D: only what misses it is translated (after Wood et al., ISCA 1986).
//
// The line is asked for first, by its virtual address; translation follows behind. What the TLB sees thus depends on
// the caches, so the caches must see every access (needs_caches).
#include "mmu/base_design.h"
#include "tlb/organisation.h"

namespace tessera::sim {
namespace {

class VirtualCache final : public BaseDesign<Walker, L1::none> {
public:
    explicit VirtualCache(const DesignContext& context)
        : BaseDesign(context), tlbs_(tlb_organisations().make(context.platform.tlb_organisation, context.platform)) {}

    Translated access(const Access& access, Port& port) override {
        if (port.program(PhysAddr(access.address.value)) == MemoryLevel::l1d) return Translation::l1_hit;
        return translate(access, page_at(access.address), &port);
    }
    bool needs_caches() const override { return true; }

private:
    Translated look_up(const Access&, PageNumber page, Port*) override { return tlbs_->lookup(page); }
    void fill(const Access&, PageNumber page, Port*) override { tlbs_->fill(page); }
    bool regular_hit(PageNumber page) override { return tlbs_->lookup_instruction(page); }
    void fill_regular(PageNumber page) override { tlbs_->fill_instruction(page); }
    void drop(VirtRange range) override { tlbs_->drop(range); }

    std::unique_ptr<TlbOrganisation> tlbs_;
};

const Registered row(designs(), "example-virtual-cache", "translates what misses a virtually addressed L1D",
                     [](const DesignContext& context) { return std::make_unique<VirtualCache>(context); });

}  // namespace
}  // namespace tessera::sim
