// ideal.cpp - translation that takes no time: every data access hits in L1.
//
// An upper bound for all other designs (Park, KAIST 2019, 2.6). H, M and C of the data side are 0, and no table is ever read, so the
// caches hold the program's lines only. Code pages that miss the L1 ITLB count as STLB hits and take the STLB's look-up
// cycles, because fetch() has no shorter result (assumed: a code page never walks).
// Invariant: R is the same under all layouts if physical = virtual. Not modelled: the cost of any structure.
#include "mmu/design.h"
#include "os/allocator.h"

namespace tessera::sim {
namespace {

class Ideal final : public Design {
public:
    explicit Ideal(const DesignContext& context)
        : space_(context.space), allocator_(allocators().make(context.platform.allocator, context.space, context.platform)) {}

    Translated access(const Access& access, Port& port) override {
        port.program(allocator_->physical(access.address, space_.page_size(access.address)));
        return Translation::l1_hit;
    }
    Translation fetch(VirtAddr, Port&) override { return Translation::stlb_hit; }
    Translation access_tlb_only(const Access&) override { return Translation::l1_hit; }
    Translation fetch_tlb_only(VirtAddr) override { return Translation::stlb_hit; }
    void touch(VirtAddr address) override { allocator_->touch(address); }
    void changed(VirtRange) override {}

private:
    const AddressSpace& space_;
    std::unique_ptr<Allocator> allocator_;
};

const Registered row(designs(), "ideal", "every data access hits in L1: the bound that no design passes",
                     [](const DesignContext& context) { return std::make_unique<Ideal>(context); });

}  // namespace
}  // namespace tessera::sim
