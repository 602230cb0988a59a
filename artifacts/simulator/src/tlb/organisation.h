// organisation.h - the contract of a TLB organisation: its arrays, and the page sizes in each array.
//
// One object holds the data-side L1 and the second level of one layout. Calls come in program order. lookup() updates the
// replacement state and, if the second level serves the page, fills the first level. After a miss, exactly one fill() of
// the same page follows. Instruction pages (always 4KB) that missed the L1 ITLB use only the second level.
#pragma once

#include "base/platform.h"
#include "base/registry.h"
#include "base/types.h"
#include "tlb/translation.h"

namespace tessera::sim {

class SecondLevel;

class TlbOrganisation {
public:
    virtual ~TlbOrganisation() = default;
    virtual Translation lookup(PageNumber page) = 0;
    virtual void fill(PageNumber page) = 0;
    virtual bool lookup_instruction(PageNumber page) = 0;
    /// pre: lookup_instruction(page) was false.
    virtual void fill_instruction(PageNumber page) = 0;
    /// The second level, if L1 is a FirstLevel of the platform (tlb/levels.h) that every miss fills; null: L1 is another one.
    virtual SecondLevel* behind_first_level() { return nullptr; }
    /// Forgets the pages that the range overlaps. Called only under mappings that change; the default refuses.
    virtual void drop(VirtRange range);
};

/// tlb.organisation: name -> organisation on this platform.
Registry<TlbOrganisation, const Platform&>& tlb_organisations();

}  // namespace tessera::sim
