// reclaim.h - which pages are freed when memory is short: direct reclaim and kswapd.
//
// Linux 6.12 without CONFIG_LRU_GEN: mm/vmscan.c. One node, no memory cgroups below the root.
// Rules:
// - Balance (prepare_scan_control, get_scan_count): anonymous and file lists are scanned in the ratio
//   swappiness x (A + 1) / (a + 1) to (200 - swappiness) x (A + 1) / (f + 1), with costs a = anon + both, f = file + both, A = a + f
//   (lru_note_cost). Without free swap: files only; at priority 0: equally; if the files are too few to matter: anonymous only; if many
//   inactive file pages are not refaulting: files only.
// - A round scans size >> priority of each list, in batches of 32; when enough is reclaimed, the smaller kind ends and the other one
//   goes on in proportion (shrink_lruvec).
// - Active lists shrink if the inactive one is low (inactive x floor(sqrt(10 GB)) < active; factor 1 below 1GB) or pages refault.
//   Their pages become inactive, whether they are young or not; young pages of executable files stay (shrink_active_list).
// - An inactive page (folio_check_references): young once -> referenced, stays; young twice, or by two mappings, or executable
//   file -> active; else it goes: prepare, unmap, write, remove (lru.h, struct lru_owner). Dirty file pages are left to their owner's
//   flusher, and marked.
// - Direct reclaim: 32 pages, priorities 12 to 0, then the same again with active lists open (do_try_to_free_pages).
// - kswapd (balance_pgdat): until one zone has its high mark and the order; a batch is the sum of high marks. Boosts are reclaimed first,
//   without swap and without writes. 16 passes without any page, a boost's passes too: it gives up until direct reclaim gets one.
// Writes that have started end after their batch of 32 pages. Linux: when the disk is done. A page is freed at the next scan in both cases.
// kswapd sleeps at once, with the thresholds of drift of that state (watermarks.h). Linux: it looks once more after 0.1 s, and reclaims if
// no zone is balanced then. A caller that knows time does so with kswapd_may_sleep.
// Left out: demotion, throttling (each wait ends at once), shrinkers of slabs, laptop mode, memory cgroups' protection.
#pragma once

#include "swap/swap.h"

enum { RECLAIM_BATCH = 32, RECLAIM_PRIORITY = 12, RECLAIM_RETRIES = 16 };

/// Frees a page that has no user any more, as the CPU.
typedef void reclaim_free(void *context, uint32_t frame, uint32_t cpu);

/// True if compaction could make a block of the order in the zone (compact.h); reclaim for large orders then stops.
typedef bool reclaim_suitable(void *context, const struct zone *zone, unsigned order, enum phys_zone highest);

/// Names as in /proc/vmstat.
struct reclaim_counts {
    uint64_t pgscan_kswapd, pgscan_direct, pgsteal_kswapd, pgsteal_direct, pgscan[2], pgsteal[2], pgrefill;
    uint64_t allocstall, pageoutrun, nr_vmscan_write, nr_vmscan_immediate_reclaim;
};

struct reclaim {
    struct lru *lru;
    struct swap *swap;  // slots 0: no swap
    reclaim_free *free;
    reclaim_suitable *suitable;
    void *context;
    uint32_t swappiness;  // 0 to 200
    uint32_t kswapd_order;  // what kswapd was asked for since its last pass
    uint32_t kswapd_zone;
    bool kswapd_asked;
    uint32_t kswapd_failures;
    // What the last pass left: the order at which it stopped (its own, or 0), and whether kswapd may sleep (prepare_kswapd_sleep).
    uint32_t kswapd_stopped;
    bool kswapd_sleeps;
    bool node_writeback, node_dirty;  // PGDAT_WRITEBACK, PGDAT_DIRTY
    uint64_t refaults[2];  // workingset_activate at the end of the last reclaim
    struct reclaim_counts counts;
};

/// Without swap: a struct swap that was created with 0 pages.
void reclaim_create(struct reclaim *reclaim, struct lru *lru, struct swap *swap);

/// Pages freed, at least 32 if possible; 1 if there are none but compaction can go on; 0: no progress (try_to_free_pages).
uint64_t reclaim_direct(struct reclaim *reclaim, unsigned order, enum phys_zone highest, uint32_t cpu);

/// A write to the root's memory.reclaim (memory_reclaim): a quarter of what is left of `pages` at a time, at least 32; gives up after 17
/// times without a page. The shares of file and anonymous pages are not balanced as for direct reclaim. Returns the pages freed.
uint64_t reclaim_request(struct reclaim *reclaim, uint64_t pages, uint32_t cpu);

/// The list for reclaim_pages: isolated pages, the first one to be reclaimed at its tail.
uint32_t reclaim_list(const struct reclaim *reclaim);

/// Reclaims the pages of that list, whether they were used lately or not; those that stay go back to the LRU by way of the CPU's batch
/// (reclaim_pages). Returns the frames freed.
uint64_t reclaim_pages(struct reclaim *reclaim, uint32_t cpu);

/// A request woke kswapd (wakeup_kswapd): it remembers the largest order and the highest zone.
void kswapd_wake(struct reclaim *reclaim, unsigned order, enum phys_zone highest);

/// True if kswapd was woken, has not given up, and finds no zone balanced, or a boost.
bool kswapd_needed(const struct reclaim *reclaim);

/// True if kswapd has given up, or finds a zone balanced for order 0 (prepare_kswapd_sleep).
bool kswapd_may_sleep(const struct reclaim *reclaim, enum phys_zone highest);

/// True if a boost waits for kswapd's pass over these zones.
bool kswapd_boosted(const struct reclaim *reclaim, enum phys_zone highest);

/// One pass (balance_pgdat). Returns the pages reclaimed. Without kswapd_sleeps, Linux makes another one at once, for order 0.
uint64_t kswapd_pass(struct reclaim *reclaim, uint32_t cpu);

/// Frames that reclaim could free in a zone, at most (zone_reclaimable_pages).
uint64_t reclaim_possible(const struct reclaim *reclaim, enum phys_zone zone);
