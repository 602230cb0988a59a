// over_tlbs.h - base of the designs whose TLBs are those of a processor (tlb.organisation); they differ in their walk.
//
// A miss of both TLB levels walks; then the TLBs fill and the program's own line is referenced. A Walk has touch(), walk() and
// changed(), as mmu/walker.h.
#pragma once

#include "mmu/code_pages.h"
#include "mmu/shared_l1.h"
#include "os/allocator.h"
#include "tlb/levels.h"
#include "tlb/organisation.h"

namespace tessera::sim {

template <class Walk>
class OverTlbs : public ConventionalCode, private BehindSharedL1 {
public:
    template <class... WalkArguments>
    explicit OverTlbs(const DesignContext& context, WalkArguments&&... of_walk)
        : walk_(std::forward<WalkArguments>(of_walk)..., context),
          space_(context.space),
          tlbs_(tlb_organisations().make(context.platform.tlb_organisation, context.platform)),
          second_(tlbs_->behind_first_level()),
          allocator_(allocators().make(context.platform.allocator, context.space, context.platform)) {
    }

    Translated access(const Access& access, Port& port) final {
        const PageNumber page = page_at(access.address);
        const Translation found = tlbs_->lookup(page);
        if (found == Translation::miss) {
            walk_.walk(access.address, page.size, port);
            tlbs_->fill(page);
        }
        port.program(allocator_->physical(access.address, page.size));
        return found;
    }
    Translation access_tlb_only(const Access& access) final {
        const PageNumber page = page_at(access.address);
        const Translation found = tlbs_->lookup(page);
        if (found == Translation::miss) tlbs_->fill(page);
        return found;
    }
    void touch(VirtAddr address) final {
        walk_.touch(address);
        allocator_->touch(address);
    }
    void changed(VirtRange range) final {
        tlbs_->drop(range);
        walk_.changed(range);
    }
    BehindSharedL1* behind_shared_l1() final { return second_ == nullptr ? nullptr : this; }

protected:
    Walk walk_;

private:
    PageNumber page_at(VirtAddr address) const { return page_of(address, space_.page_size(address)); }
    bool regular_hit(PageNumber page) final { return tlbs_->lookup_instruction(page); }
    void fill_regular(PageNumber page) final { tlbs_->fill_instruction(page); }
    void walk_code(VirtAddr address, Port& port) final { walk_.walk(address, PageSize::small_4kb, port); }

    L1Pages l1_pages() const final { return L1Pages::of_the_space; }
    void missed_l1(const L1Misses& misses, MissCounts& counts) final {
        replay_misses(misses, counts, [this](const L1Miss& miss, const PageChunk*) { return second_->lookup_or_fill(miss.page()); });
    }
    void changed_behind_l1(VirtRange range) final {
        second_->drop(range);
        walk_.changed(range);
    }

    const AddressSpace& space_;
    std::unique_ptr<TlbOrganisation> tlbs_;
    SecondLevel* second_;  ///< of tlbs_; null: its first level is not the platform's
    std::unique_ptr<Allocator> allocator_;
};

}  // namespace tessera::sim
