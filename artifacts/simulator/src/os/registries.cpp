// registries.cpp - the registry of allocators.
#include "os/allocator.h"

namespace tessera::sim {

Registry<Allocator, const AddressSpace&>& allocators() {
    static Registry<Allocator, const AddressSpace&> registry("allocator");
    return registry;
}

}  // namespace tessera::sim
