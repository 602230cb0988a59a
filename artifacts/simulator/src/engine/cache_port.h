// cache_port.h - the memory side of a design: each load goes through the data caches of its layout at once, and is counted.
#pragma once

#include <array>

#include "cache/hierarchy.h"
#include "mmu/checked_port.h"

namespace tessera::sim {

/// Cache: of cache/hierarchy.h.
template <class Cache>
class CachePort final : public CheckedPort {
public:
    /// watcher: of evictions; null: there is none.
    explicit CachePort(const Platform& p, EvictionWatcher* watcher = nullptr) : CheckedPort(p), caches_(p, watcher) {
        for (size_t level = 0; level < load_cycles_.size(); ++level)
            load_cycles_[level] = walker_load_cycles(p, static_cast<MemoryLevel>(level));
    }

    /// A prefetch that the access at hand has caused. The level that has the line, asked from the one that it goes into on.
    MemoryLevel prefetch(LineNumber line, bool into_l1d) {
        return into_l1d ? caches_.prefetch_into_l1d(line, instruction()) : caches_.prefetch_into_l2(line, instruction());
    }
    /// Host prefetch for a line that is likely to be asked for soon.
    void fetch_sets(LineNumber line) const { caches_.mixed().fetch_sets(line); }

    std::array<uint64_t, 4> walker_served{}, background_served{};  ///< loads since the port was made, by level

private:
    MemoryLevel load(LineNumber line, LoadFrom from) {
        return from == LoadFrom::l1d ? caches_.walker(line, instruction()) : caches_.walker_beside_l3(line, instruction());
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
    Cycles serve_backgrounds(std::span<const PhysAddr> addresses, LoadFrom from) override {
        Cycles all;
        for (const PhysAddr address : addresses) {
            const auto level = static_cast<size_t>(load(line_of(address), from));
            ++background_served[level];
            all += load_cycles_[level];
        }
        return all;
    }
    void expect(std::span<const PhysAddr> addresses) const override {
        for (const PhysAddr address : addresses) caches_.mixed().fetch_sets_unless_in_l1d(line_of(address));
    }
    bool cache_holds(MemoryLevel level, LineNumber line) const override { return caches_.holds(level, line); }
    void cache_fill(MemoryLevel level, LineNumber line) override { caches_.fill(level, line, instruction()); }
    MemoryLevel serve_program(LineNumber line) override { return caches_.program(line, instruction()); }

    DataCaches<Cache> caches_;
    std::array<Cycles, 4> load_cycles_;  ///< of translation hardware, by level
};

}  // namespace tessera::sim
