// tables.cpp - `tessera-sim keys` and `tessera-sim engines`.
#include <cstdio>

#include "base/platform.h"
#include "base/text.h"
#include "cli/commands.h"
#include "engine/engine.h"

namespace tessera::sim {

int keys_command() {
    std::puts("key,unit,description");
    for (const PlatformKey& row : platform_keys())
        std::printf("%s,%s,%s\n", row.key, csv_field(row.unit).c_str(), csv_field(row.description).c_str());
    return 0;
}

int engines_command() {
    for (const EngineInfo& info : engines()) std::printf("%s: %s\n", info.name.c_str(), info.sentence.c_str());
    return 0;
}

}  // namespace tessera::sim
