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
    std::puts("key,unit,least,most,default,source,description");
    const auto print = [](const std::string& key, const std::string& unit, uint64_t least, uint64_t most, const std::string& fallback,
                          const std::string& source, const std::string& sentence) {
        std::printf("%s,%s,%llu,%llu,%s,%s,%s\n", key.c_str(), csv_field(unit).c_str(), (unsigned long long)least, (unsigned long long)most,
                    fallback.c_str(), csv_field(source).c_str(), csv_field(sentence).c_str());
    };
    for (const PlatformKey& row : platform_keys()) print(row.key, row.unit, row.least, row.most, row.fallback, row.source, row.description);
    for (const ComponentKind& kind : component_kinds())
        for (const ComponentInfo& info : kind.components)
            for (const OwnKey& row : info.keys)
                print(info.section + "." + row.key, row.unit, row.least, row.most, row.fallback ? std::to_string(*row.fallback) : "",
                      row.source, row.sentence);
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
        throw Refusal("list " + asked, argc > 1 ? "more than one kind" : "no such kind",
                      "run tessera-sim list, alone or with one of: " + join(names));
    std::puts("kind,name,sentence,keys");
    for (const ComponentKind& kind : kinds)
        for (const ComponentInfo& info : kind.components)
            if (argc == 0 || kind.name == asked) {
                std::vector<std::string> keys;
                for (const OwnKey& row : info.keys) keys.push_back(info.section + "." + row.key);
                std::printf("%s,%s,%s,%s\n", kind.name.c_str(), csv_field(info.name).c_str(), csv_field(info.sentence).c_str(),
                            join(keys, " ").c_str());
            }
    return 0;
}

}  // namespace tessera::sim
