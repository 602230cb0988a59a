#include "mmu/components.h"

#include <algorithm>

#include "branch/predictor.h"
#include "cache/prefetcher.h"
#include "mmu/design.h"
#include "os/allocator.h"
#include "os/mapping.h"
#include "pagetable/format.h"
#include "replacement/replacement.h"
#include "tlb/organisation.h"
#include "tlb/walk_cache.h"

namespace tessera::sim {
namespace {

template <class Registry>
void check(const std::string& key, const Registry& registry, const Chosen& chosen, OwnDefaults& filled) {
    if (!registry.has(chosen))
        throw Refusal("platform key " + key + " = " + chosen.name, "no such " + registry.kind(),
                      "choose one of: " + join(registry.names()));
    const ComponentInfo& info = registry.info(chosen);
    std::vector<OwnKey> defaults;
    OwnValues(info.section, info.keys, chosen.own, &defaults);
    for (const OwnKey& row : defaults) filled.emplace(info.section + "." + row.key, row);
}

/// Of TLB arrays, which have no references to show. One of them has this geometry.
void check_tlb_replacement(const std::string& key, const Chosen& chosen, const Geometry& g, const Platform& p, OwnDefaults& filled) {
    check(key, replacements(), chosen, filled);
    if (replacements().make(chosen, std::max<size_t>(g.sets(), 1), std::max<size_t>(g.ways, 1), p)->needs_references())
        throw Refusal("platform key " + key + " = " + chosen.name, "this policy looks at the references of a data cache",
                      "use it for cache.*.replacement, and another one here (`tessera-sim list replacements`)");
}
void check_cache_replacement(const std::string& key, const CacheGeometry& cache, const Platform& p, OwnDefaults& filled) {
    check(key, replacements(), cache.replacement, filled);
    if (!(cache.replacement == "lru"))
        replacements().make(cache.replacement, cache.sets(), cache.ways, p);  // refuses what it cannot work with
}

const AddressSpace& no_pools() {
    static const AddressSpace space({}, layout_of(std::make_shared<Mapping>(Mapping{"", {{}}})));
    return space;
}

/// For a process without pools: enough for a design to refuse numbers that it cannot work with.
std::unique_ptr<Design> make_design(const Platform& p) { return designs().make(p.mmu_design, DesignContext{p, no_pools()}); }

/// A section is that of a component, in use or not.
void check_sections(const Platform& p) {
    std::vector<std::string> known;
    for (const ComponentKind& kind : component_kinds())
        for (const ComponentInfo& info : kind.components)
            if (!info.keys.empty()) known.push_back(info.section);
    for (const auto& [section, numbers] : p.sections)
        if (std::find(known.begin(), known.end(), section) == known.end())
            throw Refusal("platform keys " + section + ".*", "no component has such keys", did_you_mean(section, known));
}

}  // namespace

std::vector<ComponentKind> component_kinds() {
    return {{"allocators", allocators().list()},   {"branch-predictors", predictors().list()},
            {"designs", designs().list()},         {"page-tables", page_table_formats().list()},
            {"prefetchers", prefetchers().list()}, {"replacements", replacements().list()},
            {"tlbs", tlb_organisations().list()},  {"walk-caches", walk_caches().list()}};
}

bool needs_caches(const Platform& p) { return make_design(p)->needs_caches(); }

OwnDefaults check_components(const Platform& p) {
    OwnDefaults filled;
    check("mmu.design", designs(), p.mmu_design, filled);
    check("tlb.organisation", tlb_organisations(), p.tlb_organisation, filled);
    check_tlb_replacement("tlb.l1d.replacement", p.l1_replacement, p.l1_4kb, p, filled);
    check_tlb_replacement("tlb.l1i.replacement", p.l1i_replacement, p.l1i, p, filled);
    check_tlb_replacement("tlb.stlb.replacement", p.stlb_replacement, p.stlb, p, filled);
    check_cache_replacement("cache.l1d.replacement", p.l1d, p, filled);
    check_cache_replacement("cache.l2.replacement", p.l2, p, filled);
    check_cache_replacement("cache.l3.replacement", p.l3, p, filled);
    check("pwc.kind", walk_caches(), p.walk_cache, filled);
    check("page_table.format", page_table_formats(), p.page_table_format, filled);
    check("prefetch.l1d.kind", prefetchers(), p.prefetch_l1d.kind, filled);
    check("prefetch.l2.kind", prefetchers(), p.prefetch_l2.kind, filled);
    check("memory.allocator", allocators(), p.allocator, filled);
    check("branch.predictor", predictors(), p.branch_predictor, filled);
    prefetchers().make(p.prefetch_l1d.kind, p.prefetch_l1d, p);  // refuses numbers that it cannot work with
    prefetchers().make(p.prefetch_l2.kind, p.prefetch_l2, p);
    predictors().make(p.branch_predictor);
    make_design(p);
    check_sections(p);
    return filled;
}

}  // namespace tessera::sim
