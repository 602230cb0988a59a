// behind_l1.h - base of the designs that differ from a conventional processor only behind the L1 DTLB.
//
// The base has the L1 DTLB of the platform (tlb/levels.h), the page table with its walk caches and the frames. A design
// of its own says what happens behind L1, in two functions: look_up() searches its structures, fill() enters the page after a
// walk. The walk goes through the data caches from L1D on. A page that a structure serves fills L1 with its own size.
//
// For H and M of many designs in one run, a design can also override missed_l1(), the loop over both functions without a port, by one
// that the compiler can put into one piece. Its results must be those of look_up() and fill().
#pragma once

#include "mmu/code_pages.h"
#include "mmu/shared_l1.h"
#include "mmu/walker.h"
#include "os/allocator.h"
#include "tlb/levels.h"

namespace tessera::sim {

class BehindL1 : public ConventionalCode, private BehindSharedL1 {
public:
    /// pages: what the design gives an address; designs of 4KB pages ignore the layout's or mapping's sizes.
    explicit BehindL1(const DesignContext& context, L1Pages pages = L1Pages::of_the_space)
        : space_(context.space),
          walker_(DesignContext{context.platform, context.space, pages == L1Pages::only_4kb}),
          pages_(pages),
          first_(context.platform),
          allocator_(allocators().make(context.platform.allocator, context.space, context.platform)) {}

    Translated access(const Access& access, Port& port) final {
        const PageNumber page = page_at(access.address);
        const Translated found = find(access.address, page, &port);
        port.program(allocator_->physical(access.address, space_.page_size(access.address)));
        return found;
    }
    Translation access_tlb_only(const Access& access) final { return find(access.address, page_at(access.address), nullptr).found; }
    void touch(VirtAddr address) override {
        walker_.touch(address);
        allocator_->touch(address);
    }
    void changed(VirtRange range) final {
        first_.drop(range);
        changed_behind_l1(range);
    }
    BehindSharedL1* behind_shared_l1() final { return this; }

protected:
    /// Behind an L1 miss: stlb_hit or miss, with the cycles that its look-ups took.
    virtual Translated look_up(VirtAddr address, PageNumber page) = 0;
    /// After the walk of the page. port: for background loads; null where only TLBs change (the same fills then).
    virtual void fill(VirtAddr address, PageNumber page, Port* port) = 0;
    /// Forgets what the design's own structures hold of the range (L1 and walk caches are done).
    virtual void drop(VirtRange range) = 0;
    /// look_up() and fill() for each miss, without a port (mmu/shared_l1.h).
    void missed_l1(const L1Misses& misses, MissCounts& counts) override {
        replay_misses(misses, counts, [this](const L1Miss& miss, const PageChunk*) {
            if (space_.mapping() != nullptr) space_.mapping()->expect_row(miss.row);
            return find_behind(miss.address(), miss.page(), nullptr).found != Translation::miss;
        });
    }

    const AddressSpace& space_;
    Walker walker_;

private:
    PageNumber page_at(VirtAddr address) const {
        return page_of(address, pages_ == L1Pages::only_4kb ? PageSize::small_4kb : space_.page_size(address));
    }
    Translated find(VirtAddr address, PageNumber page, Port* port) {
        if (first_.lookup(page)) return Translation::l1_hit;
        const Translated found = find_behind(address, page, port);
        first_.fill(page);
        return found;
    }
    Translated find_behind(VirtAddr address, PageNumber page, Port* port) {
        const Translated found = look_up(address, page);
        if (found.found == Translation::miss) {
            if (port != nullptr) walker_.walk(address, page.size, *port);
            fill(address, page, port);
        }
        return found;
    }
    void walk_code(VirtAddr address, Port& port) final { walker_.walk(address, PageSize::small_4kb, port); }

    L1Pages l1_pages() const final { return pages_; }
    void changed_behind_l1(VirtRange range) final {
        walker_.changed(range);
        drop(range);
    }

    L1Pages pages_;

    FirstLevel first_;
    std::unique_ptr<Allocator> allocator_;
};

}  // namespace tessera::sim
