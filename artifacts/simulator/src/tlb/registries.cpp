// registries.cpp - the registries of this folder's components.
#include "tlb/organisation.h"
#include "tlb/replacement.h"
#include "tlb/walk_cache.h"

namespace tessera::sim {

Registry<Replacement, size_t, size_t>& replacements() {
    static Registry<Replacement, size_t, size_t> registry("replacement");
    return registry;
}

Registry<TlbOrganisation, const Platform&>& tlb_organisations() {
    static Registry<TlbOrganisation, const Platform&> registry("TLB organisation");
    return registry;
}

Registry<WalkCache, const Platform&>& walk_caches() {
    static Registry<WalkCache, const Platform&> registry("walk cache");
    return registry;
}

}  // namespace tessera::sim
