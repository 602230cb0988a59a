// registries.cpp - the registry of allocators, and the mapping that some components need.
#include "os/allocator.h"

namespace tessera::sim {

const MappedPages& mapping_of(const AddressSpace& space, const std::string& who) {
    if (space.mapping() != nullptr) return *space.mapping();
    throw Refusal(who + ", which needs the frames of pages", "a layout, which gives pages only sizes",
                  "give mappings instead of layouts (--mappings; docs/reference/mappings.md)");
}

Refusal missing_page(const Unmapped& missing, uint64_t access) {
    return Refusal("a frame for data access " + std::to_string(access), missing.what(),
                   "give the page a row; `tessera mapping generate --trace` makes mappings with all pages of a trace");
}

Registry<Allocator, const AddressSpace&, const Platform&>& allocators() {
    static Registry<Allocator, const AddressSpace&, const Platform&> registry("allocator");
    return registry;
}

}  // namespace tessera::sim
