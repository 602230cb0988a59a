// conventional.cpp - the MMU of the processors that the papers measured: TLBs, then a page walk, then the access.
//
// Functional, in program order. The parts are registered components chosen by the platform. A miss of both TLB levels
// walks (mmu/walker.h); then the TLBs fill and the program's own line is referenced. Instruction pages always are 4KB pages.
#include "mmu/walker.h"
#include "os/allocator.h"
#include "tlb/organisation.h"

namespace tessera::sim {
namespace {

class Conventional final : public Design {
public:
    explicit Conventional(const DesignContext& context)
        : space_(context.space), tlbs_(tlb_organisations().make(context.platform.tlb_organisation, context.platform)),
          walker_(context.platform), allocator_(allocators().make(context.platform.allocator, context.space, context.platform)) {}

    Translated access(const Access& access, Port& port) override {
        const VirtAddr address = access.address;
        const PageSize size = space_.page_size(address);
        const PageNumber page = page_of(address, size);
        const Translation translation = tlbs_->lookup(page);
        if (translation == Translation::miss) {
            walker_.walk(address, size, port);
            tlbs_->fill(page);
        }
        port.program(allocator_->physical(address, size));
        return translation;
    }

    Translation fetch(VirtAddr address, Port& port) override {
        const PageNumber page = page_of(address, PageSize::small_4kb);
        if (tlbs_->lookup_instruction(page)) return Translation::stlb_hit;
        walker_.walk(address, page.size, port);
        tlbs_->fill_instruction(page);
        return Translation::miss;
    }

    Translation access_tlb_only(const Access& access) override {
        const PageNumber page = page_of(access.address, space_.page_size(access.address));
        const Translation translation = tlbs_->lookup(page);
        if (translation == Translation::miss) tlbs_->fill(page);
        return translation;
    }

    Translation fetch_tlb_only(VirtAddr address) override {
        const PageNumber page = page_of(address, PageSize::small_4kb);
        if (tlbs_->lookup_instruction(page)) return Translation::stlb_hit;
        tlbs_->fill_instruction(page);
        return Translation::miss;
    }

    void touch(VirtAddr address) override {
        walker_.touch(address);
        allocator_->touch(address);
    }

    void changed(VirtRange range) override {
        tlbs_->drop(range);
        walker_.changed(range);
    }

private:
    const AddressSpace& space_;
    std::unique_ptr<TlbOrganisation> tlbs_;
    Walker walker_;
    std::unique_ptr<Allocator> allocator_;
};

std::unique_ptr<Design> make(const DesignContext& context) { return std::make_unique<Conventional>(context); }

const Registered conventional(designs(), "conventional", "TLBs, then a page walk through the data caches, then the access", make);
const Registered noop(designs(), "noop", "the conventional design, run as any other design: a control for engines and studies", make);

}  // namespace
}  // namespace tessera::sim
