// check.cpp - `tessera-sim check --platform FLAT`: reads a platform as `run` does, without simulation. Prints the keys that
// the file leaves out, with the default of each and its source, and the sections that belong to no component in use.
#include <algorithm>
#include <cstdio>
#include <set>

#include "base/platform.h"
#include "cli/commands.h"
#include "mmu/components.h"

namespace tessera::sim {

int check_command(int argc, char** argv) {
    const CommandHelp help{"check",
                           "check that a flat platform file can be simulated",
                           {{"platform", "FILE", std::nullopt, "flat platform file: lines `key = value`"}},
                           {"tessera-sim check --platform haswell.flat"},
                           {}};
    const Options options(help, argc, argv);
    if (options.wants_help()) return 0;
    Platform platform = read_platform(options["platform"]);
    const OwnDefaults own = check_components(platform);
    for (const PlatformKey& row : platform_keys())
        if (std::find(platform.filled.begin(), platform.filled.end(), row.key) != platform.filled.end())
            std::printf("default: %s = %s (%s)\n", row.key, row.fallback, row.source);
    for (const auto& [key, row] : own)
        std::printf("default: %s = %llu (%s)\n", key.c_str(), static_cast<unsigned long long>(*row.fallback), row.source.c_str());
    std::set<std::string> used;
    for (const PlatformKey& row : platform_keys())
        if (row.word != nullptr) used.insert(std::string(row.section) + "." + row.word(platform).name);
    for (const auto& [section, numbers] : platform.sections)
        if (!used.contains(section)) std::printf("not in use: %s\n", section.c_str());
    std::printf("%s: accepted\n", options["platform"].c_str());
    return 0;
}

}  // namespace tessera::sim
