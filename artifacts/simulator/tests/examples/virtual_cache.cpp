// virtual_cache.cpp - a virtually addressed L1D: only what misses it is translated (after Wood et al., ISCA 1986).
//
// The line is asked for first, by its virtual address; translation follows behind. What the TLB sees thus depends on
// the caches, so the caches must see every access (needs_caches).
#include "mmu/walker.h"
#include "tlb/organisation.h"

namespace tessera::sim {
namespace {

class VirtualCache final : public Design {
public:
    explicit VirtualCache(const DesignContext& context)
        : space_(context.space),
          tlbs_(tlb_organisations().make(context.platform.tlb_organisation, context.platform)),
          walker_(context) {}

    Translated access(const Access& access, Port& port) override {
        const VirtAddr address = access.address;
        if (port.program(PhysAddr(address.value)) == MemoryLevel::l1d) return Translation::l1_hit;
        const PageNumber page = page_of(address, space_.page_size(address));
        const Translation found = find(page);
        if (found == Translation::miss) walker_.walk(address, page.size, port);
        return found;
    }
    Translation fetch(VirtAddr address, Port& port) override {
        const Translation found = fetch_tlb_only(address);
        if (found == Translation::miss) walker_.walk(address, PageSize::small_4kb, port);
        return found;
    }
    Translation access_tlb_only(const Access& access) override { return find(page_of(access.address, space_.page_size(access.address))); }
    Translation fetch_tlb_only(VirtAddr address) override {
        const PageNumber page = page_of(address, PageSize::small_4kb);
        if (tlbs_->lookup_instruction(page)) return Translation::stlb_hit;
        tlbs_->fill_instruction(page);
        return Translation::miss;
    }
    void touch(VirtAddr address) override { walker_.touch(address); }
    bool needs_caches() const override { return true; }

private:
    Translation find(PageNumber page) {
        const Translation found = tlbs_->lookup(page);
        if (found == Translation::miss) tlbs_->fill(page);
        return found;
    }

    const AddressSpace& space_;
    std::unique_ptr<TlbOrganisation> tlbs_;
    Walker walker_;
};

const Registered row(designs(), "example-virtual-cache", "translates what misses a virtually addressed L1D",
                     [](const DesignContext& context) { return std::make_unique<VirtualCache>(context); });

}  // namespace
}  // namespace tessera::sim
