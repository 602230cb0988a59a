#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "engine/engine.h"
#include "os/mapping.h"

namespace tessera::sim {
namespace {

std::vector<EngineInfo>& table() {
    static std::vector<EngineInfo> engines;
    return engines;
}

}  // namespace

const std::vector<EngineInfo>& engines() { return table(); }

Registration::Registration(EngineInfo info) {
    auto& all = table();
    const auto at = std::lower_bound(all.begin(), all.end(), info, [](auto& a, auto& b) { return a.name < b.name; });
    if (at != all.end() && at->name == info.name) {
        std::fprintf(stderr, "tessera-sim: two engines have the name %s\n", info.name.c_str());
        std::abort();
    }
    all.insert(at, std::move(info));
}

void check_epochs(const Layout& layout, uint64_t warm_passes) {
    if (warm_passes != 0 && layout.mapping != nullptr && layout.mapping->log != nullptr)
        throw Refusal("--warm-passes with log " + layout.name, "its changes are places in one pass over the trace",
                      "leave out --warm-passes");
    if (warm_passes != 0 && layout.mapping != nullptr && layout.mapping->epochs.size() > 1)
        throw Refusal("--warm-passes with mapping " + layout.name,
                      "it has " + std::to_string(layout.mapping->epochs.size()) + " epochs, which are places in one pass over the trace",
                      "leave out --warm-passes, or use a mapping with one epoch");
}

std::unique_ptr<Engine> make_engine(const std::string& name) {
    std::vector<std::string> names;
    for (const EngineInfo& info : engines()) {
        if (info.name == name) return info.make();
        names.push_back(info.name);
    }
    throw Refusal("--engine " + name, "no such engine", "choose one of: " + join(names));
}

}  // namespace tessera::sim
