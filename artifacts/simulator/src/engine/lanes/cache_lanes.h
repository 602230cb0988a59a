// cache_lanes.h - L1D, L2 and L3 for sixteen layouts: shared program recency, one walker recency a lane.
//
// The rule of cache/hierarchy.h in other words: a line is in a set of W ways if fewer than W other lines of the
// set - the program's and this lane's page-table lines - were used since its own last use. For a program line
// the first number is the same in all lanes and the second is one comparison with a row of walker times; where
// the program alone pushed it out no lane needs to be looked at. For a page-table line both are counted.
#pragma once

#include "engine/lanes/program_recency.h"
#include "engine/lanes/walker_recency.h"

namespace tessera::sim::lanes::TESSERA_ISA {

class CacheLevelLanes {
public:
    explicit CacheLevelLanes(const CacheGeometry& g)
        : index_(g.sets()), program_(g.sets(), g.ways), walker_(g.sets(), g.ways) {}

    uint32_t set_of(uint64_t physical_line) const { return index_(physical_line); }
    void prefetch(uint32_t set) const { program_.prefetch(set), walker_.prefetch(set); }
    void prefetch_table_line(uint64_t physical_line) const { walker_.prefetch_rows(index_(physical_line)); }
    void add_table_line(uint64_t physical_line) { walker_.add_line(index_(physical_line)); }

    /// Lanes of `all` in which the program's reference misses.
    LANES_INLINE_MEMBER Mask program_misses(uint32_t set, uint32_t line, uint32_t now, Mask all) {
        const auto found = program_.reference(set, line, now);
        if (found.above >= program_.ways()) return all;
        return without(all, walker_.keeps(set, found.above, found.time, all));
    }
    /// The same reference when no lane needs to know whether it hits.
    LANES_INLINE_MEMBER void program_passes(uint32_t set, uint32_t line, uint32_t now) { program_.reference(set, line, now); }

    /// Lanes of `wanted` (a subset of `lanes`) in which the walker's reference misses. pre: lanes where last is 0 count as misses.
    LANES_INLINE_MEMBER Mask walker_misses(uint64_t physical_line, V last, uint32_t now, Mask lanes, Mask wanted) {
        const uint32_t set = index_(physical_line);
        V above = walker_.reference(set, last, now, lanes);
        Mask inside = without(wanted, eq(last, zero()));
        const V ways = broadcast(program_.ways()), one = broadcast(1);
        inside = inside & gt(ways, above);
        if (!any(inside)) return wanted;
        const uint32_t* times = program_.times(set);
        for (unsigned k = 0; k < program_.ways(); ++k) {
            const Mask newer = inside & gt(broadcast(times[k]), last);
            if (!any(newer)) break;  // times fall: no later one is newer
            above = add_if(newer, above, one);
        }
        return without(wanted, inside & gt(ways, above));
    }

    size_t time_spans(TimeSpan* out) {
        out[0] = program_.time_span();
        out[1] = walker_.newest_span();
        out[2] = walker_.row_span();
        return 3;
    }

private:
    SetIndex index_;
    ProgramRecency program_;
    WalkerRecency walker_;
};

/// Lanes that missed each level.
struct LevelMisses {
    Mask l1d, l2, l3;
};

class CacheLanes {
public:
    explicit CacheLanes(const Platform& p) : l1d(p.l1d), l2(p.l2), l3(p.l3) {}

    struct Sets {
        uint32_t l1d, l2, l3;
    };
    LANES_INLINE_MEMBER Sets sets_of(uint64_t physical_line) const {
        return {l1d.set_of(physical_line), l2.set_of(physical_line), l3.set_of(physical_line)};
    }

    /// One program reference; true when some lane missed L1D, and then `out` is set.
    LANES_INLINE_MEMBER bool program(const Sets& sets, uint32_t line, uint32_t now, Mask all, LevelMisses& out) {
        out.l1d = l1d.program_misses(sets.l1d, line, now, all);
        if (!any(out.l1d)) {
            l2.program_passes(sets.l2, line, now);
            l3.program_passes(sets.l3, line, now);
            return false;
        }
        out.l2 = l2.program_misses(sets.l2, line, now, all) & out.l1d;
        out.l3 = l3.program_misses(sets.l3, line, now, all) & out.l2;
        return true;
    }

    LANES_INLINE_MEMBER LevelMisses walker(uint64_t physical_line, V last, uint32_t now, Mask lanes) {
        LevelMisses out;
        out.l1d = l1d.walker_misses(physical_line, last, now, lanes, lanes);
        out.l2 = l2.walker_misses(physical_line, last, now, lanes, out.l1d);
        out.l3 = l3.walker_misses(physical_line, last, now, lanes, out.l2);
        return out;
    }

    void add_table_line(uint64_t physical_line) {
        l1d.add_table_line(physical_line), l2.add_table_line(physical_line), l3.add_table_line(physical_line);
    }

    CacheLevelLanes l1d, l2, l3;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
