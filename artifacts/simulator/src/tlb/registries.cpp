// registries.cpp - the registries of this folder's components.
#include "tlb/organisation.h"
#include "tlb/walk_cache.h"

namespace tessera::sim {

void TlbOrganisation::drop(VirtRange) {
    throw Refusal("a mapping of several epochs under this tlb.organisation",
                  "it cannot forget pages that change (drop() in tlb/organisation.h)",
                  "use the organisation split, or a mapping with one epoch");
}

void WalkCache::drop(VirtRange) {
    throw Refusal("a mapping of several epochs under this pwc.kind", "it cannot forget entries that change (drop() in tlb/walk_cache.h)",
                  "use the walk caches paging-structure, or a mapping with one epoch");
}

Registry<TlbOrganisation, const Platform&>& tlb_organisations() {
    static Registry<TlbOrganisation, const Platform&> registry("TLB organisation");
    return registry;
}

Registry<WalkCache, const Platform&, const TableLevels&>& walk_caches() {
    static Registry<WalkCache, const Platform&, const TableLevels&> registry("walk cache");
    return registry;
}

}  // namespace tessera::sim
