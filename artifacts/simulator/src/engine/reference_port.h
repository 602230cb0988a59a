// reference_port.h - the memory side of a design in the oracle: each load goes through the caches at once, and is counted.
#pragma once

#include <array>

#include "cache/hierarchy.h"
#include "mmu/checked_port.h"

namespace tessera::sim {

class ReferencePort final : public CheckedPort {
public:
    ReferencePort(const Platform& p, DataCaches& caches) : CheckedPort(p), caches_(caches) {}
    std::array<uint64_t, 4> walker_served{}, background_served{};  ///< since begin_access()
    void begin_access() {
        begin();
        walker_served = background_served = {};
    }

private:
    MemoryLevel load(LineNumber line, LoadFrom from) {
        return from == LoadFrom::l1d ? caches_.walker(line) : caches_.walker_beside_l3(line);
    }
    MemoryLevel serve_walker(LineNumber line, LoadFrom from) override {
        const MemoryLevel level = load(line, from);
        ++walker_served[static_cast<size_t>(level)];
        return level;
    }
    MemoryLevel serve_background(LineNumber line, LoadFrom from) override {
        const MemoryLevel level = load(line, from);
        ++background_served[static_cast<size_t>(level)];
        return level;
    }
    bool cache_holds(MemoryLevel level, LineNumber line) const override { return caches_.holds(level, line); }
    void cache_fill(MemoryLevel level, LineNumber line) override { caches_.fill(level, line); }
    MemoryLevel serve_program(LineNumber line) override { return caches_.program(line); }

    DataCaches& caches_;
};

}  // namespace tessera::sim
