// tables.cpp - `tessera-sim keys`, `tessera-sim engines` and `tessera-sim list [KIND]`.
#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/platform.h"
#include "base/text.h"
#include "cli/commands.h"
#include "engine/engine.h"
#include "mmu/components.h"

namespace tessera::sim {

int keys_command() {
    std::puts("key,unit,least,most,description");
    for (const PlatformKey& row : platform_keys())
        std::printf("%s,%s,%llu,%llu,%s\n", row.key, csv_field(row.unit).c_str(), (unsigned long long)row.least, (unsigned long long)row.most, csv_field(row.description).c_str());
    return 0;
}

int engines_command() {
    for (const EngineInfo& info : engines()) std::printf("%s: %s\n", info.name.c_str(), info.sentence.c_str());
    return 0;
}

int list_command(int argc, char** argv) {
    std::vector<ComponentKind> kinds = component_kinds();
    ComponentKind all_engines{"engines", {}};
    for (const EngineInfo& info : engines()) all_engines.components.push_back({info.name, info.sentence});
    kinds.push_back(std::move(all_engines));
    std::sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    std::vector<std::string> names;
    for (const ComponentKind& kind : kinds) names.push_back(kind.name);
    const std::string asked = argc > 0 ? argv[0] : "";
    if (argc > 1 || (argc == 1 && std::find(names.begin(), names.end(), asked) == names.end()))
        throw Refusal("list " + asked, argc > 1 ? "more than one kind" : "no such kind", "list, or list with one of: " + join(names, ", "));
    std::puts("kind,name,sentence");
    for (const ComponentKind& kind : kinds)
        for (const ComponentInfo& info : kind.components)
            if (argc == 0 || kind.name == asked)
                std::printf("%s,%s,%s\n", kind.name.c_str(), csv_field(info.name).c_str(), csv_field(info.sentence).c_str());
    return 0;
}

}  // namespace tessera::sim
