// ideal.cpp - translation that takes no time: every data access hits in L1.
//
// An upper bound for all other designs (Park, KAIST 2019, 2.6). H, M and C of the data side are 0, and no table is ever read, so the
// caches hold the program's lines only. Code pages that miss the L1 ITLB count as STLB hits and take the STLB's look-up
// cycles, because fetch() has no shorter result (assumed: a code page never walks).
// Invariant: R is the same under all layouts if physical = virtual. Not modelled: the cost of any structure.
#include "mmu/base_design.h"

namespace tessera::sim {
namespace {

struct NoWalk {
    explicit NoWalk(const DesignContext&) {}
    void touch(VirtAddr) {}
    void walk(VirtAddr, PageSize, Port&) {}
    void changed(VirtRange) {}
};

class Ideal final : public BaseDesign<NoWalk, L1::none> {
public:
    explicit Ideal(const DesignContext& context) : BaseDesign(context) {}

    Translation access_tlb_only(const Access&) override { return Translation::l1_hit; }  // for speed: the page does not matter

private:
    Translated look_up(const Access&, PageNumber, Port*) override { return Translation::l1_hit; }
    bool regular_hit(PageNumber) override { return true; }
    void fill_regular(PageNumber) override {}
    void drop(VirtRange) override {}
};

const Registered row(designs(), "ideal", "every data access hits in L1: the bound that no design passes",
                     [](const DesignContext& context) { return std::make_unique<Ideal>(context); });

}  // namespace
}  // namespace tessera::sim
