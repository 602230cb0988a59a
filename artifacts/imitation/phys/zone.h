// zone.h - a zone: free lists, watermarks, per-CPU lists and counters of a range of frames.
//
// Linux: struct zone, struct free_area, struct per_cpu_pages, struct per_cpu_zonestat (include/linux/mmzone.h).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "phys/types.h"

enum phys_mark { PHYS_MARK_MIN, PHYS_MARK_LOW, PHYS_MARK_HIGH, PHYS_MARKS };

enum {
    PHYS_PERCPU_LISTS = PHYS_REQUEST_TYPES * (PHYS_COSTLY_ORDER + 1) + 2,
    PHYS_BATCH_SCALE_MAX = 5,  // CONFIG_PCP_BATCH_SCALE_MAX (mm/Kconfig), its default
};

/// One CPU's lists of a zone. All counts are in frames.
struct percpu {
    int32_t count;               // frames on the lists
    int32_t high;                // at this count, a free gives some back; moves between high_min and high_max
    int32_t high_min, high_max;
    int32_t batch;               // refill of order 0 at alloc_factor 0, in blocks
    int32_t free_count;          // frames freed in a row; halved by each allocation
    uint8_t alloc_factor;        // refills of order 0 are batch << alloc_factor; halved by each free
    bool freed_high_order;       // the last free had order 1 to 3
    bool keeps_batch;            // the CPU's cache is large: keep a batch when high orders are freed in a row
    int32_t free_drift;          // change of free frames that the zone's counter does not contain yet
    int32_t drift_threshold;     // above this magnitude, the drift goes into the zone's counter
    uint32_t first_list;         // head of list 0; list i of percpu_index() (percpu.h) is first_list + i
};

struct zone {
    uint8_t id;                  // enum phys_zone
    bool populated;              // present_frames > 0
    uint32_t start_frame, spanned_frames;    // frames in [start, start + spanned), with holes
    uint32_t present_frames;     // without holes
    uint32_t managed_frames;     // without what was reserved at boot
    int64_t free_frames;         // as Linux counts them: the true number is this plus every CPU's free_drift
    int64_t free_highatomic;     // frames on free lists of type HighAtomic
    uint32_t reserved_highatomic;            // frames of pageblocks of type HighAtomic
    uint32_t blocks[PHYS_ORDERS];            // free blocks of each order, all types together
    uint32_t first_list;         // head of the list of order 0, type 0; see free_list() in freelist.h
    uint32_t marks[PHYS_MARKS];  // frames, without boost
    uint32_t boost;              // frames added to every mark, until kswapd's next pass ends
    uint32_t lowmem_reserve[PHYS_ZONES];     // frames kept from requests whose highest zone is the index
    uint32_t drift_mark;         // below it, kswapd counts exactly (watermarks.h); 0: never, and thresholds of drift stay
    bool below_high;             // seen below the high watermark
    bool boosted;                // kswapd has to be woken for a boost
    bool reclaim_active;         // set and cleared by the caller: kswapd works on this zone
    struct percpu *percpu;       // one for each CPU
};

/// The watermark with its boost, in frames.
static inline int64_t zone_mark(const struct zone *zone, enum phys_mark mark) { return (int64_t)zone->marks[mark] + zone->boost; }

/// True if [frame, frame + count) lies between the zone's first and last frame; holes do not matter.
static inline bool zone_spans(const struct zone *zone, uint32_t frame, uint32_t count) {
    return frame >= zone->start_frame && (uint64_t)frame + count <= (uint64_t)zone->start_frame + zone->spanned_frames;
}
