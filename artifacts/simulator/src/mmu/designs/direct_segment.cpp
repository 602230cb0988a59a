// direct_segment.cpp - one segment with base, limit and offset registers beside conventional TLBs (Basu et al., ISCA 2013).
//
// The segment is the largest chunk of the mapping, the first of several as large (assumed: the operating system gives the registers
// to the chunk with most pages; Basu et al. reserve the segment when the program starts). Data accesses inside add the offset:
// they count as L1 hits, take no look-up and touch no TLB. All other accesses and all code pages go to the design thp of
// the same platform. The comparison of the registers takes no time (assumed).
// Invariants: with all data inside, H = M = C = 0 and R is that of ideal; with none inside, all counts are those of thp.
// After a change of the mapping, the segment is chosen again. TLB entries of pages that it takes over stay until they are
// evicted; they are not used. Not modelled: pages that the system maps in the segment one by one, and several processes.
#include "mmu/over_tlbs.h"

namespace tessera::sim {
namespace {

class DirectSegment final : public OverTlbs<Walker> {
public:
    explicit DirectSegment(const DesignContext& context)
        : OverTlbs(context, "split"), pages_(mapping_of(context.space, "mmu.design = direct-segment")) {
        choose();
    }

    BehindSharedL1* behind_shared_l1() override { return nullptr; }  // the segment comes before L1
    /// Every data access compares its address with the registers.
    std::vector<StructureCounts> structures() const override { return {{"segment", accesses_, hits_, 0}}; }

private:
    Translated look_up(const Access& access, PageNumber page, Port* port) override {
        ++accesses_;
        if ((access.address.value >> 12) - segment_.page >= segment_.pages) return OverTlbs::look_up(access, page, port);
        ++hits_;
        return Translation::l1_hit;
    }
    void drop(VirtRange range) override {
        OverTlbs::drop(range);
        choose();
    }
    void choose() {
        segment_ = {};
        for (const PageChunk& chunk : pages_.chunks())
            if (chunk.pages > segment_.pages) segment_ = chunk;
    }

    const MappedPages& pages_;
    PageChunk segment_;  ///< no pages: an empty mapping
    uint64_t accesses_ = 0, hits_ = 0;
};

const Registered row(designs(), "direct-segment", "the largest chunk of the mapping needs no TLB; outside it, as thp",
                     [](const DesignContext& context) { return std::make_unique<DirectSegment>(context); });

}  // namespace
}  // namespace tessera::sim
