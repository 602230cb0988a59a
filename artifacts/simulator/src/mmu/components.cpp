#include "mmu/components.h"

#include "cache/prefetcher.h"
#include "mmu/design.h"
#include "os/allocator.h"
#include "pagetable/format.h"
#include "tlb/organisation.h"
#include "tlb/replacement.h"
#include "tlb/walk_cache.h"

namespace tessera::sim {
namespace {

template <class Registry>
void check(const std::string& key, const Registry& registry, const std::string& name) {
    if (!registry.has(name))
        throw Refusal("platform key " + key + " = " + name, "no such " + registry.kind(),
                      "choose one of: " + join(registry.names(), ", "));
}

}  // namespace

std::vector<ComponentKind> component_kinds() {
    return {{"allocators", allocators().list()}, {"designs", designs().list()}, {"page-tables", page_table_formats().list()},
            {"prefetchers", prefetchers().list()}, {"replacements", replacements().list()}, {"tlbs", tlb_organisations().list()},
            {"walk-caches", walk_caches().list()}};
}

void check_components(const Platform& p) {
    check("mmu.design", designs(), p.mmu_design);
    check("tlb.organisation", tlb_organisations(), p.tlb_organisation);
    check("tlb.l1d.replacement", replacements(), p.l1_replacement);
    check("tlb.l1i.replacement", replacements(), p.l1i_replacement);
    check("tlb.stlb.replacement", replacements(), p.stlb_replacement);
    check("pwc.kind", walk_caches(), p.walk_cache);
    check("page_table.format", page_table_formats(), p.page_table_format);
    check("prefetch.l1d.kind", prefetchers(), p.prefetch_l1d.kind);
    check("prefetch.l2.kind", prefetchers(), p.prefetch_l2.kind);
    check("memory.allocator", allocators(), p.allocator);
    prefetchers().make(p.prefetch_l1d.kind, p.prefetch_l1d);  // refuses numbers that it cannot work with
    prefetchers().make(p.prefetch_l2.kind, p.prefetch_l2);
}

}  // namespace tessera::sim
