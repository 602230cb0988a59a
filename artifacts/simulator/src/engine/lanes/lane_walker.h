// lane_walker.h - page walks of all layouts through walk caches and data caches.
//
// The walks of one access proceed together, level by level from the root; masks say which lanes read an entry. Where a walk
// begins: the lowest walk cache that has the region, asked upwards; the ones above are not asked. A missing entry is
// read and kept, so asking and filling are one reference. Leaf entries are never kept.
#pragma once

#include "engine/lanes/lane_tlbs.h"
#include "engine/lanes/masked_hierarchy.h"
#include "engine/lanes/walk_cycles.h"
#include "engine/lanes/walk_loads.h"
#include "os/physical_map.h"

namespace tessera::sim::lanes::TESSERA_ISA {

/// Loads and those that missed L1D, L2, L3, a lane; one set of counters each for data-side and instruction-side walks.
struct LoadCounters {
    LaneCounter loads, missed[3];
    LANES_INLINE_MEMBER void add(uint64_t lanes, const LevelMasks& m) {
        loads.add(lanes);
        missed[0].add(m.l1d_missed);
        missed[1].add(m.l2_missed);
        missed[2].add(m.l3_missed);
    }
};

/// What a walk adds to: null where it is not wanted.
struct WalkRecord {
    LoadCounters* counters;
    uint32_t* cycles;        ///< row of WalkCycles
    uint64_t l1d_missed;     ///< lanes that had a load that missed L1D
    WalkLoads* loads;        ///< those that missed L3; null also where memory's queues do not see walks
    uint32_t row;            ///< of the cycles
};

class LaneWalker {
public:
    explicit LaneWalker(const MachineConfig& c)
        : caches_{LaneArray(c.walk_cache[0]), LaneArray(c.walk_cache[1]), LaneArray(c.walk_cache[2]), LaneArray(c.walk_cache[3])},
          root_(5 - c.table_levels),
          begin_cycles_(c.walker_begin_cycles),
          l1d_cycles_(c.cache[0].load_cycles + c.walker_load_adds_cycles),
          more_cycles_{c.cache[1].load_cycles - c.cache[0].load_cycles, c.cache[2].load_cycles - c.cache[1].load_cycles,
                       c.memory_load_cycles - c.cache[2].load_cycles} {}

    /// Walks for 4KB, 2MB and 1GB pages in the lanes given; none of these lanes twice.
    void walk(const uint64_t (&lanes)[3], uint64_t address, uint32_t region_id, const Work& w, MaskedHierarchy& memory,
              WalkRecord& record) {
        const Region& region = w.region_table[region_id];
        const RegionTables& tables = w.page_tables[region_id];
        if (record.cycles != nullptr && begin_cycles_ != 0) add_cycles(record.cycles, lanes[0] | lanes[1] | lanes[2], begin_cycles_);
        const uint32_t item[4] = {0, region.half_terabyte, region.gigabyte, region_id};
        uint64_t reads[5];  // by Level
        reads[4] = lanes[0];
        reads[3] = ask(3, item[3], address, reads[4]) | lanes[1];
        reads[2] = ask(2, item[2], address, reads[3]) | lanes[2];
        reads[1] = ask(1, item[1], address, reads[2]);
        reads[0] = root_ == 0 ? ask(0, item[0], address, reads[1]) : 0;
        for (unsigned level = root_; level < 5; ++level)
            if (reads[level] != 0) load_entry(level, tables.frame[level], address, reads[level], memory, record);
    }

    /// The line of the entry that maps the 4KB page, which is the one that a walk cannot avoid.
    LANES_INLINE_MEMBER static uint64_t leaf_line(uint64_t address, const RegionTables& tables) {
        return line_of(4, tables.frame[4], address);
    }
    /// The line of the entry of the 2MB region, which is the leaf where it is a 2MB page.
    LANES_INLINE_MEMBER static uint64_t directory_line(uint64_t address, const RegionTables& tables) {
        return line_of(3, tables.frame[3], address);
    }

private:
    /// One entry of this level maps 2^shift bytes: base/level.h.
    LANES_INLINE unsigned shift(unsigned level) { return 48 - 9 * level; }
    LANES_INLINE uint64_t line_of(unsigned level, uint32_t frame, uint64_t address) {
        return (page_table_base >> 6) + uint64_t{frame} * 64 + (((address >> shift(level)) & 511) >> 3);
    }

    /// Lanes that do not have the entry of this level; they keep it from now on.
    LANES_INLINE_MEMBER uint64_t ask(unsigned level, uint32_t item, uint64_t address, uint64_t lanes) {
        LaneArray& cache = caches_[level];
        if (lanes == 0 || !cache.exists()) return lanes;
        return cache.reference(item, cache.index()(address >> shift(level)), lanes);
    }

    LANES_INLINE_MEMBER void load_entry(unsigned level, uint32_t frame, uint64_t address, uint64_t lanes, MaskedHierarchy& memory,
                                        WalkRecord& record) {
        const uint64_t line = line_of(level, frame, address);
        const LevelMasks m = memory.walker(line, lanes);
        record.l1d_missed |= m.l1d_missed;
        if (record.counters != nullptr) record.counters->add(lanes, m);
        if (record.cycles == nullptr) return;
        add_cycles(record.cycles, lanes, l1d_cycles_);
        if (m.l1d_missed != 0) add_cycles(record.cycles, m.l1d_missed, more_cycles_[0]);
        if (m.l2_missed != 0) add_cycles(record.cycles, m.l2_missed, more_cycles_[1]);
        if (m.l3_missed == 0) return;
        add_cycles(record.cycles, m.l3_missed, more_cycles_[2]);
        if (record.loads != nullptr) record.loads->add(record.row, line, m.l3_missed);
    }

    LaneArray caches_[4];  ///< by Level: pml5e, pml4e, pdpte, pde
    unsigned root_;
    uint32_t begin_cycles_, l1d_cycles_,
        more_cycles_[3];  ///< what missing L1D, L2, L3 adds (modulo 2^32: a level may be faster than the one above)
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
