// registries.cpp - the registry of replacement policies.
#include "replacement/replacement.h"

namespace tessera::sim {

Registry<Replacement, size_t, size_t, const Platform&>& replacements() {
    static Registry<Replacement, size_t, size_t, const Platform&> registry("replacement");
    return registry;
}

}  // namespace tessera::sim
