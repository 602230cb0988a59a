// code_pages.h - base of designs that translate code as conventional processors do: regular 4KB entries, then a walk.
#pragma once

#include "mmu/design.h"

namespace tessera::sim {

class ConventionalCode : public Design {
public:
    Translation fetch(VirtAddr address, Port& port) final {
        const Translation found = fetch_tlb_only(address);
        if (found == Translation::miss) walk_code(address, port);
        return found;
    }
    Translation fetch_tlb_only(VirtAddr address) final {
        const PageNumber page = page_of(address, PageSize::small_4kb);
        if (regular_hit(page)) return Translation::stlb_hit;
        fill_regular(page);
        return Translation::miss;
    }

protected:
    /// The array of regular entries, which code pages share with data.
    virtual bool regular_hit(PageNumber page) = 0;
    /// pre: regular_hit() was false.
    virtual void fill_regular(PageNumber page) = 0;
    virtual void walk_code(VirtAddr address, Port& port) = 0;
};

}  // namespace tessera::sim
