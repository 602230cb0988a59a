// registries.cpp - the registries of this folder's components, and the prefetcher `none`.
#include "cache/prefetcher.h"

namespace tessera::sim {
namespace {

class NoPrefetcher final : public Prefetcher {
public:
    void observe(const DemandAccess&, std::vector<VirtAddr>&) override {}
};

}  // namespace

Registry<Prefetcher, const PrefetchSlot&, const Platform&>& prefetchers() {
    static Registry<Prefetcher, const PrefetchSlot&, const Platform&> registry("prefetcher");
    return registry;
}

namespace {

const Registered row(prefetchers(), "none", "prefetches nothing",
                     [](const PrefetchSlot&, const Platform&) { return std::make_unique<NoPrefetcher>(); });

}  // namespace
}  // namespace tessera::sim
