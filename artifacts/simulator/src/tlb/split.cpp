// split.cpp - the usual TLBs of processors: arrays split by page size, some of them shared by several sizes.
//
// L1: one array per size; with in_4kb, a size lives in the 4KB array. Second level: 4KB pages are in `stlb`. 2MB and 1GB
// pages are in `stlb` if it holds them, else in their own array if there is one, else in no array, so that each L1 miss
// walks. A miss of both levels fills the second level, then the first. Levels are not inclusive of each other (MICRO'20
// Table 4; Intel and AMD publish no more).
#include "tlb/array.h"
#include "tlb/organisation.h"

namespace tessera::sim {
namespace {

class Split final : public TlbOrganisation {
public:
    explicit Split(const Platform& p)
        : in_4kb_2mb_(p.l1_2mb_in_4kb != 0), in_4kb_1gb_(p.l1_1gb_in_4kb != 0),
          holds_2mb_(p.stlb_holds_2mb != 0), holds_1gb_(p.stlb_holds_1gb != 0),
          l1_4kb_(p.l1_4kb, p.l1_replacement), l1_2mb_(p.l1_2mb, p.l1_replacement), l1_1gb_(p.l1_1gb, p.l1_replacement),
          stlb_(p.stlb, p.stlb_replacement), stlb_2mb_(p.stlb_2mb, p.stlb_replacement), stlb_1gb_(p.stlb_1gb, p.stlb_replacement) {}

    Translation lookup(PageNumber page) override {
        if (first(page.size).lookup(page)) return Translation::l1_hit;
        if (!second(page.size).lookup(page)) return Translation::miss;
        first(page.size).fill(page);
        return Translation::stlb_hit;
    }
    void fill(PageNumber page) override {
        second(page.size).fill(page);
        first(page.size).fill(page);
    }
    bool lookup_instruction(PageNumber page) override { return stlb_.lookup(page); }
    void fill_instruction(PageNumber page) override { stlb_.fill(page); }

private:
    TlbArray& first(PageSize size) {
        if (size == PageSize::large_2mb && !in_4kb_2mb_) return l1_2mb_;
        if (size == PageSize::huge_1gb && !in_4kb_1gb_) return l1_1gb_;
        return l1_4kb_;
    }
    TlbArray& second(PageSize size) {
        if (size == PageSize::large_2mb && !holds_2mb_) return stlb_2mb_;
        if (size == PageSize::huge_1gb && !holds_1gb_) return stlb_1gb_;
        return stlb_;
    }

    bool in_4kb_2mb_, in_4kb_1gb_, holds_2mb_, holds_1gb_;
    TlbArray l1_4kb_, l1_2mb_, l1_1gb_, stlb_, stlb_2mb_, stlb_1gb_;
};

const Registered row(tlb_organisations(), "split", "L1 arrays and second-level arrays by page size, shared by sizes where the platform says so",
                     [](const Platform& p) { return std::make_unique<Split>(p); });

}  // namespace
}  // namespace tessera::sim
