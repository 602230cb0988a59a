// registries.cpp - the registry of designs.
#include "mmu/design.h"

namespace tessera::sim {

Registry<Design, const DesignContext&>& designs() {
    static Registry<Design, const DesignContext&> registry("design");
    return registry;
}

}  // namespace tessera::sim
