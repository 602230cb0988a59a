// conventional.cpp - the MMU of the processors that the papers measured: TLBs, then a page walk, then the access.
//
// Functional, in program order. The parts are registered components chosen by the platform: TLBs (tlb.organisation), page table
// and walk caches (mmu/walker.h). Instruction pages always are 4KB pages.
#include "mmu/over_tlbs.h"

namespace tessera::sim {
namespace {

std::unique_ptr<Design> make(const DesignContext& context) {
    return std::make_unique<OverTlbs<Walker>>(context, context.platform.tlb_organisation);
}

const Registered conventional(designs(), "conventional", "TLBs, then a page walk through the data caches, then the access", make);
const Registered noop(designs(), "noop", "the conventional design, run as any other design: a control for engines and studies", make);

}  // namespace
}  // namespace tessera::sim
