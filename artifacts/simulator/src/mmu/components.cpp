#include "mmu/components.h"

#include <algorithm>

#include "branch/predictor.h"
#include "cache/prefetcher.h"
#include "mmu/design.h"
#include "os/allocator.h"
#include "os/mapping.h"
#include "pagetable/format.h"
#include "tlb/organisation.h"
#include "tlb/replacement.h"
#include "tlb/walk_cache.h"

namespace tessera::sim {
namespace {

template <class Registry>
void check(const std::string& key, const Registry& registry, const Chosen& chosen, OwnDefaults& filled) {
    if (!registry.has(chosen))
        throw Refusal("platform key " + key + " = " + chosen.name, "no such " + registry.kind(),
                      "choose one of: " + join(registry.names(), ", "));
    const ComponentInfo& info = registry.info(chosen);
    std::vector<OwnKey> defaults;
    OwnValues(info.section, info.keys, chosen.own, &defaults);
    for (const OwnKey& row : defaults) filled.emplace(info.section + "." + row.key, row);
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
    check("tlb.l1d.replacement", replacements(), p.l1_replacement, filled);
    check("tlb.l1i.replacement", replacements(), p.l1i_replacement, filled);
    check("tlb.stlb.replacement", replacements(), p.stlb_replacement, filled);
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
