// components.h - every kind of component that a platform names, in one list.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/platform.h"
#include "base/registry.h"

namespace tessera::sim {

struct ComponentKind {
    std::string name;  ///< of `tessera-sim list NAME`
    std::vector<ComponentInfo> components;
};

/// All but the engines, sorted by name.
std::vector<ComponentKind> component_kinds();

/// Keys of components in use that took their defaults: `design.anchor.distance_pages` -> what the component declares.
using OwnDefaults = std::map<std::string, OwnKey>;

/// Throws Refusal that names the platform key and the valid names if a component that the platform asks for does not
/// exist, or cannot work with the numbers that the platform gives it, in its own section or elsewhere.
OwnDefaults check_components(const Platform& platform);

/// Whether H and M of the platform's design depend on the contents of data caches.
bool needs_caches(const Platform& platform);

}  // namespace tessera::sim
