// platform_rules.h - rules between the keys of a platform, in addition to the bounds of each key.
#pragma once

#include <string>

#include "base/platform.h"

namespace tessera::sim {

/// Checks every rule of platform_rules.cpp. `name` is what messages call the platform. Throws Refusal naming the keys, their
/// values and the rule. Names of components are only checked for their form here: the registries know which exist.
void check_platform_rules(const std::string& name, const Platform& platform);

}  // namespace tessera::sim
