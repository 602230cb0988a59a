// split.cpp - the usual TLBs of processors: arrays split by page size, some of them shared by several sizes (tlb/levels.h).
//
// A miss of both levels fills the second level, then the first. Levels are not inclusive of each other (Intel and AMD
// publish no more). A size that no second-level array holds walks on each L1 miss.
#include "tlb/levels.h"
#include "tlb/organisation.h"

namespace tessera::sim {
namespace {

class Split final : public TlbOrganisation {
public:
    explicit Split(const Platform& p) : first_(p), second_(p) {}

    Translation lookup(PageNumber page) override {
        if (first_.lookup(page)) return Translation::l1_hit;
        if (!second_.lookup(page)) return Translation::miss;
        first_.fill(page);
        return Translation::stlb_hit;
    }
    void fill(PageNumber page) override {
        second_.fill(page);
        first_.fill(page);
    }
    bool lookup_instruction(PageNumber page) override { return second_.lookup(page); }
    void fill_instruction(PageNumber page) override { second_.fill(page); }
    SecondLevel* behind_first_level() override { return &second_; }
    void drop(VirtRange range) override {
        first_.drop(range);
        second_.drop(range);
    }

private:
    FirstLevel first_;
    SecondLevel second_;
};

const Registered row(tlb_organisations(), "split",
                     "L1 arrays and second-level arrays by page size, shared by sizes where the platform says so",
                     [](const Platform& p) { return std::make_unique<Split>(p); });

}  // namespace
}  // namespace tessera::sim
