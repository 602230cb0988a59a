// walker_lanes.h - page walks of sixteen layouts through walk-caches and data caches.
//
// Walks of one access proceed together, level by level; masks say which lanes read an entry. A page-table line
// is named by frame * 64 + line within the frame; its last time in each lane is kept here.
#pragma once

#include "engine/lanes/cache_lanes.h"
#include "engine/lanes/lru_lanes.h"
#include "engine/lanes/tlb_lanes.h"
#include "pagetable/layout_constants.h"

namespace tessera::sim::lanes::TESSERA_ISA {

/// References and misses a level, a lane; flushed into 64-bit totals by the machine.
struct LoadCounters {
    V references = zero(), missed[3] = {zero(), zero(), zero()};
    LANES_INLINE_MEMBER void add(const LevelMisses& m) {
        const V one = broadcast(1);
        missed[0] = add_if(m.l1d, missed[0], one);
        missed[1] = add_if(m.l2, missed[1], one);
        missed[2] = add_if(m.l3, missed[2], one);
    }
};

/// Load-to-use times by serving level.
struct LoadTimes {
    explicit LoadTimes(const Platform& p)
        : l1d(broadcast(uint32_t(p.l1d.load_cycles))), l2(broadcast(uint32_t(p.l2.load_cycles))),
          l3(broadcast(uint32_t(p.l3.load_cycles))), memory(broadcast(uint32_t(p.memory_load_cycles))) {}
    LANES_INLINE_MEMBER V of(const LevelMisses& m) const {
        return select(m.l3, memory, select(m.l2, l3, select(m.l1d, l2, l1d)));
    }
    V l1d, l2, l3, memory;
};

class WalkerLanes {
public:
    explicit WalkerLanes(const Platform& p) : pde_(p.pwc_pde), pdpte_(p.pwc_pdpte), pml4e_(p.pwc_pml4e), times_(p) {}

    void reserve_frames(uint32_t frames) {
        const size_t lines = size_t{frames} * 64;
        if (lines <= last_.size()) return;
        last_.grow(lines + lines / 2);
        known_.grow(lines + lines / 2);
    }

    /// Walk latency of each lane in `t`'s walk masks (0 elsewhere); `now` advances by the loads made.
    V walk(uint64_t address, const Region& region, const TlbOutcome& t, CacheLanes& caches, uint32_t now, LoadCounters* counters) {
        Mask reads_pde = t.walk_4kb;
        if (any(reads_pde)) reads_pde = pde_.reference(address >> 21, region.pt_frame, reads_pde);
        reads_pde = reads_pde | t.walk_2mb;
        Mask reads_pdpte = reads_pde;
        if (any(reads_pdpte)) reads_pdpte = pdpte_.reference(address >> 30, region.pd_frame, reads_pdpte);
        reads_pdpte = reads_pdpte | t.walk_1gb;
        Mask reads_pml4e = reads_pdpte;
        if (any(reads_pml4e)) reads_pml4e = pml4e_.reference(address >> 39, region.pdpt_frame, reads_pml4e);
        V latency = zero();
        if (any(reads_pml4e)) read(0, address >> 39, reads_pml4e, caches, now, latency, counters);
        if (any(reads_pdpte)) read(region.pdpt_frame, address >> 30, reads_pdpte, caches, now + 1, latency, counters);
        if (any(reads_pde)) read(region.pd_frame, address >> 21, reads_pde, caches, now + 2, latency, counters);
        if (any(t.walk_4kb)) read(region.pt_frame, address >> 12, t.walk_4kb, caches, now + 3, latency, counters);
        return latency;
    }

    /// For a page that may have to be walked soon.
    void prefetch(uint64_t address, const Region& region, const CacheLanes& caches) const {
        const size_t line = size_t{region.pt_frame} * 64 + ((address >> 15) & 63);
        __builtin_prefetch(&last_[line], 1);
        caches.l2.prefetch_table_line((page_table_base >> 6) + line);
        caches.l3.prefetch_table_line((page_table_base >> 6) + line);
    }

    TimeSpan time_span() { return {reinterpret_cast<uint32_t*>(last_.data()), last_.size() * lane_count, last_.size() * lane_count, 1}; }

private:
    void read(uint32_t frame, uint64_t number, Mask lanes, CacheLanes& caches, uint32_t now, V& latency, LoadCounters* counters) {
        const size_t line = size_t{frame} * 64 + ((number & 511) >> 3);
        const uint64_t physical = (page_table_base >> 6) + line;
        if (known_[line] == 0) {
            known_[line] = 1;
            caches.add_table_line(physical);
        }
        const V last = load(&last_[line]);
        const LevelMisses misses = caches.walker(physical, last, now, lanes);
        store(&last_[line], select(lanes, broadcast(now), last));
        latency = add_if(lanes, latency, times_.of(misses));
        if (counters == nullptr) return;
        counters->references = add_if(lanes, counters->references, broadcast(1));
        counters->add(misses);
    }

    LruLanes pde_, pdpte_, pml4e_;
    LoadTimes times_;
    Array<V> last_;
    Array<uint8_t> known_;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
