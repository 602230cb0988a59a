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
    explicit CachePort(const Platform& p, EvictionWatcher* watcher = nullptr) : CheckedPort(p), caches_(p, watcher) {}

    MemoryLevel walker_load(PhysAddr address, LoadFrom from) override {
        const MemoryLevel level = serve_walker(address, from);
        add_to_walk(load_cycles(level));
        return level;
    }
    std::span<const MemoryLevel> walker_loads(std::span<const PhysAddr> addresses, LoadFrom from) override {
        served_.clear();
        Cycles slowest;
        for (const PhysAddr address : addresses) {
            served_.push_back(serve_walker(address, from));
            slowest = std::max(slowest, load_cycles(served_.back()));
        }
        if (!addresses.empty()) add_to_walk(slowest);
        return served_;
    }
    void walker_loads_in_turn(std::span<const PhysAddr> addresses, LoadFrom from) override {
        expect(addresses);
        for (const PhysAddr address : addresses) walker_load(address, from);
    }
    MemoryLevel background_load(PhysAddr address, LoadFrom from) override {
        const MemoryLevel level = load(line_of(address), from);
        ++background_served[static_cast<size_t>(level)];
        add_to_background(load_cycles(level));
        return level;
    }
    void background_loads(std::span<const PhysAddr> addresses, LoadFrom from) override {
        expect(addresses);
        for (const PhysAddr address : addresses) background_load(address, from);
    }
    MemoryLevel program(PhysAddr address) override {
        if (is_second_) [[unlikely]]
            return referenced(address, MemoryLevel::l1d);
        return referenced(address, caches_.program(line_of(address), instruction()));
    }
    bool holds(MemoryLevel level, PhysAddr address) const override { return caches_.holds(checked(level, address), line_of(address)); }
    void fill(MemoryLevel level, PhysAddr address) override { caches_.fill(checked(level, address), line_of(address), instruction()); }

    /// In the place of begin(): the second translation of an access that crosses a page (engine/crossings.h). The program's reference then
    /// moves no cache, and is served by L1D: a design that translates behind L3 does not translate.
    void begin_second(const Access& access) {
        begin(access);
        is_second_ = true;
    }
    void end_second(const Translated& translated, const Access& access) {
        is_second_ = false;
        end_access(translated, access);
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
    MemoryLevel serve_walker(PhysAddr address, LoadFrom from) {
        before_load(address);
        const MemoryLevel level = load(line_of(address), from);
        after_load(address, from, level);
        ++walker_served[static_cast<size_t>(level)];
        return level;
    }
    /// These will be loaded at once: host prefetches.
    void expect(std::span<const PhysAddr> addresses) const {
        for (const PhysAddr address : addresses) caches_.mixed().fetch_sets_unless_in_l1d(line_of(address));
    }

    DataCaches<Cache> caches_;
    std::vector<MemoryLevel> served_;  ///< by walker_loads()
    bool is_second_ = false;           ///< the access at hand is a second translation
};

}  // namespace tessera::sim
