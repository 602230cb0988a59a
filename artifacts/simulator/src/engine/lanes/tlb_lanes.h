// tlb_lanes.h - L1 DTLB and STLB for sixteen layouts, with a filter that skips what cannot change anything.
//
// The filter is exact under LRU: an access whose page was the last to be referenced in its L1 set - for each page
// size that some lane gives it - hits the most recently used way in every lane, so neither counts nor contents change.
// Consecutive references to one page are the commonest case.
#pragma once

#include "engine/lanes/lru_lanes.h"

namespace tessera::sim::lanes::TESSERA_ISA {

struct TlbOutcome {
    Mask looked_up;              ///< missed L1: paid the STLB look-up
    Mask walk_4kb, walk_2mb, walk_1gb;
    bool quiet;                  ///< every lane hit L1; the masks are not set
};

class TlbLanes {
public:
    TlbLanes(const Platform& p, uint16_t active)
        : active_(active), shares_2mb_(p.stlb_holds_2mb != 0), l1_4kb_(p.l1_4kb), l1_2mb_(p.l1_2mb), l1_1gb_(p.l1_1gb),
          stlb_(p.stlb), stlb_1gb_(p.stlb_1gb), last_4kb_(p.l1_4kb.sets()), last_2mb_(p.l1_2mb.sets()) {}

    /// `page` is the dense number of the 4KB page, region_id << 9 | index.
    LANES_INLINE_MEMBER TlbOutcome access(uint64_t address, uint32_t page, uint32_t region_id, const Region& region) {
        TlbOutcome out;
        out.quiet = true;
        if (page == last_page_) return out;
        last_page_ = page;
        const uint64_t number_4kb = address >> 12, number_2mb = address >> 21;
        uint32_t& last_4kb = last_4kb_[l1_4kb_.index()(number_4kb)];
        bool same = last_4kb == page;
        last_4kb = page;
        const uint16_t large = region.lanes_2mb, huge = region.lanes_1gb;
        if (large != 0) {
            uint32_t& last_2mb = last_2mb_[l1_2mb_.index()(number_2mb)];
            same &= last_2mb == region_id;
            last_2mb = region_id;
        }
        if (huge != 0) {
            same &= last_1gb_ == region.pd_frame;
            last_1gb_ = region.pd_frame;
        }
        if (same) return out;
        return look_up(address, page, region_id, region);
    }

    /// Adds the counts since the last call.
    void flush(uint64_t hits[lane_count], uint64_t misses[lane_count]) {
        alignas(64) uint32_t h[lane_count], m[lane_count];
        store(reinterpret_cast<V*>(h), hits_);
        store(reinterpret_cast<V*>(m), misses_);
        for (unsigned lane = 0; lane < lane_count; ++lane) hits[lane] += h[lane], misses[lane] += m[lane];
        hits_ = misses_ = zero();
    }

private:
    LANES_INLINE_MEMBER TlbOutcome look_up(uint64_t address, uint32_t page, uint32_t region_id, const Region& region) {
        const uint64_t number_4kb = address >> 12, number_2mb = address >> 21, number_1gb = address >> 30;
        const uint16_t in_2mb = region.lanes_2mb & active_, in_1gb = region.lanes_1gb & active_;
        const uint16_t in_4kb = active_ & uint16_t(~(in_2mb | in_1gb));
        const Mask none = mask_of(0);
        TlbOutcome out{none, none, none, none, true};
        if (in_4kb != 0) {
            out.looked_up = l1_4kb_.reference(number_4kb, page, mask_of(in_4kb));
            if (any(out.looked_up)) out.walk_4kb = stlb_.reference(number_4kb, page, out.looked_up);
        }
        if (in_2mb != 0) {
            const uint32_t tag = region_id | 0x80000000u;  // page numbers stay below bit 31
            const Mask missed = l1_2mb_.reference(number_2mb, tag, mask_of(in_2mb));
            if (any(missed)) {
                out.looked_up = out.looked_up | missed;
                out.walk_2mb = shares_2mb_ ? stlb_.reference(number_2mb, tag, missed) : missed;
            }
        }
        if (in_1gb != 0) {
            const Mask missed = l1_1gb_.reference(number_1gb, region.pd_frame, mask_of(in_1gb));
            if (any(missed)) {
                out.looked_up = out.looked_up | missed;
                out.walk_1gb = stlb_1gb_.reference(number_1gb, region.pd_frame, missed);
            }
        }
        if (!any(out.looked_up)) return out;
        out.quiet = false;
        const Mask missed = out.walk_4kb | out.walk_2mb | out.walk_1gb;
        hits_ = add_if(without(out.looked_up, missed), hits_, broadcast(1));
        misses_ = add_if(missed, misses_, broadcast(1));
        return out;
    }

    uint16_t active_;
    bool shares_2mb_;
    LruLanes l1_4kb_, l1_2mb_, l1_1gb_, stlb_, stlb_1gb_;
    uint32_t last_page_ = 0, last_1gb_ = 0;
    Array<uint32_t> last_4kb_, last_2mb_;
    V hits_ = zero(), misses_ = zero();
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
