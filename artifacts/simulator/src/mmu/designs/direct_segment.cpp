// direct_segment.cpp - one segment with base, limit and offset registers beside conventional TLBs (Basu et al., ISCA 2013).
//
// The segment is the largest chunk of the mapping, the first of several as large (assumed: the operating system gives the registers
// to the chunk with most pages; Basu et al. reserve the segment when the program starts). Data accesses inside add the offset:
// they count as L1 hits, take no look-up and touch no TLB. All other accesses and all code pages go to the design thp of
// the same platform. The comparison of the registers takes no time (assumed).
// Invariants: with all data inside, H = M = C = 0 and R is that of ideal; with none inside, all counts are those of thp.
// After a change of the mapping, the segment is chosen again. TLB entries of pages that it takes over stay until they are
// evicted; they are not used. Not modelled: pages that the system maps in the segment one by one, and several processes.
#include "mmu/design.h"
#include "os/allocator.h"

namespace tessera::sim {
namespace {

class DirectSegment final : public Design {
public:
    explicit DirectSegment(const DesignContext& context)
        : space_(context.space),
          pages_(mapping_of(context.space, "mmu.design = direct-segment")),
          outside_(designs().make("thp", context)),
          allocator_(allocators().make(context.platform.allocator, context.space, context.platform)) {
        choose();
    }

    Translated access(const Access& access, Port& port) override {
        if (!inside(access.address)) return outside_->access(access, port);
        ++hits_;
        port.program(allocator_->physical(access.address, space_.page_size(access.address)));
        return Translation::l1_hit;
    }
    Translation access_tlb_only(const Access& access) override {
        if (!inside(access.address)) return outside_->access_tlb_only(access);
        ++hits_;
        return Translation::l1_hit;
    }
    Translation fetch(VirtAddr address, Port& port) override { return outside_->fetch(address, port); }
    Translation fetch_tlb_only(VirtAddr address) override { return outside_->fetch_tlb_only(address); }

    void touch(VirtAddr address) override {
        outside_->touch(address);
        allocator_->touch(address);
    }
    void changed(VirtRange range) override {
        outside_->changed(range);
        choose();
    }

    /// Every data access compares its address with the registers.
    std::vector<StructureCounts> structures() const override { return {{"segment", accesses_, hits_, 0}}; }

private:
    bool inside(VirtAddr address) {
        ++accesses_;
        return (address.value >> 12) - segment_.page < segment_.pages;
    }
    void choose() {
        segment_ = {};
        for (const PageChunk& chunk : pages_.chunks())
            if (chunk.pages > segment_.pages) segment_ = chunk;
    }

    const AddressSpace& space_;
    const MappedPages& pages_;
    std::unique_ptr<Design> outside_;
    std::unique_ptr<Allocator> allocator_;
    PageChunk segment_;  ///< no pages: an empty mapping
    uint64_t accesses_ = 0, hits_ = 0;
};

const Registered row(designs(), "direct-segment", "the largest chunk of the mapping needs no TLB; outside it, as thp",
                     [](const DesignContext& context) { return std::make_unique<DirectSegment>(context); });

}  // namespace
}  // namespace tessera::sim
