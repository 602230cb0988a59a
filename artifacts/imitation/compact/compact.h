// compact.h - compaction: pages move from the low end of a zone to free frames at its high end, so that large blocks become free.
//
// Linux 6.12: mm/compaction.c, mm/migrate.c migrate_pages_batch, mm/page_alloc.c __isolate_free_page, compaction_capture.
// Rules:
// - Suitable (compaction_suit_allocation_order, compaction_suitable): not if the request's mark and order are met already (success); not if
//   free frames are below a mark (low for orders from 4 on, else min) + 2 x 2^order; not, from order 4 on, if the extfrag index is
//   from 0 to 500, because memory is short rather than fragmented.
// - The migration scanner goes up in pageblocks, from where it was last time; the free scanner goes down; they meet: complete, or partial
//   if this run did not cover the zone. Asynchronous runs have a start of their own.
// - Pageblocks that gave nothing are skipped by later runs (skip bits); the bits are cleared when the scanners meet in a direct run, once
//   kswapd sleeps or compaction restarts after its longest deferral (__reset_isolation_suitable).
// - Up to 32 pages are isolated at a time, of one pageblock; asynchronous direct runs give up on each aligned block of the order in
//   which one page cannot move. Asynchronous runs for movable requests only scan movable pageblocks.
// - For orders from 4 on, free lists of movable blocks name pageblocks to start with (fast_find_migrateblock), and free frames near the
//   high end (fast_isolate_freepages).
// - Pages move highest first, to free frames in the order in which these were found, smallest order first.
// - A run ends when a block of the order is free for the type, or could be taken from another type; or when a freed block grew to the
//   order: the request gets this one at once (capture).
// - Deferral: after a failed synchronous run, the next 1, 3, 7, ... 63 requests of this order or larger skip the zone.
// Writes are not waited for: writeback pages are not isolated, except in a full synchronous run, which the caller has no way to ask for.
// Left out: contiguous allocation, movable pages of drivers, memory offline, contention.
#pragma once

#include "lru/lru.h"

enum compact_result {  // the order of enum compact_result
    COMPACT_NOT_SUITABLE,
    COMPACT_SKIPPED,
    COMPACT_DEFERRED,
    COMPACT_CONTINUE,
    COMPACT_COMPLETE,
    COMPACT_PARTIAL,
    COMPACT_CONTENDED,
    COMPACT_SUCCESS,
    COMPACT_RESULTS
};

const char *compact_result_name(int result);

/// How hard a direct run tries (enum compact_priority): the smaller, the harder.
enum compact_priority { COMPACT_FULL, COMPACT_LIGHT, COMPACT_ASYNC };

struct compact_zone {
    uint32_t migrate[2];  // where the scanners go on: [0] asynchronous, [1] synchronous
    uint32_t free;
    uint32_t first_migrate, first_free;  // where they started after the skip bits were cleared
    bool flush;  // skip bits are to be cleared
    uint32_t considered, defer_shift;
    unsigned order_failed;  // smallest order whose last run failed
};

/// Names as in /proc/vmstat.
struct compact_counts {
    uint64_t migrate_scanned, free_scanned, isolated, pgmigrate_success, pgmigrate_fail;
    uint64_t stall, success, fail, daemon_wake;
};

struct compact {
    struct lru *lru;
    uint64_t *skip;  // by pageblock
    struct compact_zone zone[PHYS_ZONES];
    struct compact_counts counts;
    /// Frees a frame of order 0 that nobody uses. Set by the caller.
    void (*free)(void *context, uint32_t frame, uint32_t cpu);
    void *context;
};

void compact_create(struct compact *compact, struct lru *lru);
void compact_destroy(struct compact *compact);

/// True if a run for the order is worth while (compaction_suitable); compact_marks: the free frames alone, if there were so many.
bool compact_suitable(const struct compact *compact, const struct zone *zone, unsigned order, enum phys_zone highest);
bool compact_marks(const struct phys *p, const struct zone *zone, unsigned order, enum phys_zone highest, int64_t free);

/// A request: try_to_compact_pages. *captured: the block that it got, in use; PHYS_NO_FRAME. rights: the request's mark and other rights
/// (watermarks.h).
enum compact_result compact_direct(struct compact *compact, unsigned order, int type, enum compact_priority priority,
                                   enum phys_zone highest, unsigned rights, uint32_t cpu, uint32_t *captured);

/// A request got a block of the order (or, with `got` false, compaction only says that there is one): deferral ends.
void compact_defer_reset(struct compact *compact, enum phys_zone zone, unsigned order, bool got);

/// kcompactd, woken for an order (kcompactd_do_work).
void compact_daemon(struct compact *compact, unsigned order, enum phys_zone highest, uint32_t cpu);

/// echo 1 > /proc/sys/vm/compact_memory: all zones, synchronously, without skip bits.
void compact_all(struct compact *compact, uint32_t cpu);

/// kcompactd's periodic check (each 500 ms, compaction_proactiveness 20): compacts if the node's score is above 90, until zones are at 80
/// or below. The score of a zone is its unusable index of order 9 in percent, weighted with its share of the node. True if it ran.
bool compact_proactive(struct compact *compact, uint32_t cpu);

/// kswapd goes to sleep: skip bits that are to be cleared are (reset_isolation_suitable).
void compact_reset_skip(struct compact *compact);
