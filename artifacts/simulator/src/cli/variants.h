// variants.h - the platforms of a run: the one of --platform, or those of --variants.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/platform.h"
#include "cli/options.h"

namespace tessera::sim {

struct Variant {
    std::string label;  ///< empty for --platform
    std::string path;
    std::optional<Platform> platform;
    std::string refusal;  ///< why there is none
};

/// --platform: throws Refusal where its file is refused. --variants: lines `label<TAB>path`; throws Refusal for the list (both or none
/// of the options, no tab, a label twice, no line). A platform file that is refused is the refusal of its variant alone.
std::vector<Variant> variants_of(const Options& options);

}  // namespace tessera::sim
