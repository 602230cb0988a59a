// registries.cpp - the registry of designs, and what designs do by default.
#include "mmu/design.h"

namespace tessera::sim {

void Design::changed(VirtRange) {
    throw Refusal("a mapping of several epochs under this mmu.design", "the design cannot follow changes (changed() in mmu/design.h)",
                  "use a mapping with one epoch, or another design (docs/explain/designs.md)");
}

Registry<Design, const DesignContext&>& designs() {
    static Registry<Design, const DesignContext&> registry("design");
    return registry;
}

}  // namespace tessera::sim
