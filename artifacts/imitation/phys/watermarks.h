// watermarks.h - how many frames a zone keeps free, and whether a request may still have one.
//
// Formulas (mm/page_alloc.c unless said otherwise; all integer divisions):
// - calculate_min_free_kbytes: 4 sqrt(lowmem in kB) = floor(sqrt(16 kB)), between 128 and 262144 kB. lowmem: nr_free_zone_pages,
//   the managed frames above the high watermarks so far (0 at boot).
// - mm/khugepaged.c set_recommended_min_free_kbytes: with huge pages, at least (2 + 3 x 3) pageblocks for each populated zone, but at
//   most 5% of lowmem. With `never`, calculate_min_free_kbytes runs once more, on the memory above the high marks that exist then.
//   A machine with less than 512MB of managed memory does neither at boot (mm/huge_memory.c hugepage_init).
// - __setup_per_zone_wmarks: min = min_free x managed / all managed. step = max(min / 4, managed x scale / 10000). low = min + step,
//   high = low + step. Boosts end.
// - mm/vmscan.c balance_pgdat: at the end of a pass, kswapd takes away the boosts that it found at the start.
// - setup_per_zone_lowmem_reserve: managed frames of the zones above, up to the request's highest zone, divided by 256.
// - mm/vmstat.c refresh_zone_stat_thresholds: at boot, a zone gets a drift mark, high + CPUs x threshold, if all CPUs' drift exceeds
//   low - min. Other CPUs come up before marks exist: then it is CPUs x threshold at least. One CPU: most zones have none.
// - mm/vmstat.c set_pgdat_percpu_threshold: while kswapd is awake, zones with a drift mark have the threshold (low - min) / CPUs, 1 to 125
//   (calculate_pressure_threshold). zone_watermark_ok_safe: kswapd adds the drift to the count only below the drift mark.
// - __zone_watermark_ok: free - (2^order - 1) - reserve of HighAtomic must be *above* mark + lowmem reserve, and for order > 0 there
//   must be a block of the order or larger.
#pragma once

#include "phys/phys.h"

/// Rights of a request beside the mark it is checked against (mm/internal.h: ALLOC_*). Bits 0-1 of such a word are an enum phys_mark.
enum phys_right {
    PHYS_MARK_MASK = 3,
    PHYS_NON_BLOCK = 16,       // cannot wait: a quarter of min more, if it may use the reserve
    PHYS_MIN_RESERVE = 32,     // __GFP_HIGH: half of min
    PHYS_NO_FRAGMENT = 256,    // no fallback below pageblock order
    PHYS_USE_HIGHATOMIC = 512, // order > 0 in atomic context: may take from the HighAtomic reserve
    PHYS_WAKE_KSWAPD = 2048,
};

/// min_free_kbytes for `lowmem_frames`, before huge pages raise it.
uint32_t watermark_min_free_kbytes(uint64_t lowmem_frames);

/// The recommendation for huge pages, in kB, for a number of populated zones.
uint32_t watermark_thp_min_free_kbytes(unsigned populated_zones, uint64_t lowmem_frames);

/// Sets marks and per-CPU limits of all zones, as a kernel that has finished its boot. Boosts end.
void watermarks_setup(struct phys *p, const struct phys_config *config);

/// True if the zone has enough memory for the request above `mark` frames. `highest_zone`: of the request.
bool watermark_ok(const struct phys *p, const struct zone *zone, unsigned order, int64_t mark, enum phys_zone highest_zone,
                  unsigned rights);

/// The allocator's own check, zone_watermark_fast: the same, but requests of order 0 with PHYS_MIN_RESERVE see min without boost.
bool watermark_allows(const struct phys *p, const struct zone *zone, unsigned order, enum phys_mark mark, enum phys_zone highest_zone,
                      unsigned rights);

/// A fallback raises the zone's boost by one pageblock, up to boost_factor of high (boost_watermark). False if the zone has under
/// four pageblocks or there is no factor.
bool watermark_boost(struct phys *p, struct zone *zone);

/// Sets the drift marks of all zones, as the boot does with the marks that it sets first. CPUs, zones' sizes: known.
void watermark_set_drift_marks(struct phys *p);

/// kswapd wakes up (pressure), or goes to sleep: thresholds of drift change in zones that have a drift mark.
void watermark_set_pressure(struct phys *p, bool pressure);

/// Free frames of a zone as kswapd counts them (zone_watermark_ok_safe).
int64_t watermark_free_for_kswapd(const struct phys *p, const struct zone *zone);

/// kswapd has finished a pass over the zones up to `highest_zone`, in which no boost was added: their boosts end, and no reclaim is
/// active there. What it reclaimed is freed by the caller. The boosts that end are reported.
void watermark_kswapd_pass(struct phys *p, enum phys_zone highest_zone, uint32_t cpu);
