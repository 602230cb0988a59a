// scan.h - one round of reclaim: what reclaim.h calls a scan. Shared by the files of this folder.
#pragma once

#include "reclaim/reclaim.h"

/// struct scan_control.
struct scan {
    struct reclaim *reclaim;
    uint32_t cpu;
    int priority;
    unsigned order;
    enum phys_zone highest;
    bool kswapd;
    bool may_write, may_swap;        // may_unmap is always true
    bool request;                    // for a write to memory.reclaim (cgroup_reclaim, of the root)
    bool ignore_references;          // young bits and LRU_REFERENCED do not matter, and stay
    uint64_t wanted, reclaimed, scanned;
    bool may_deactivate[2], force_deactivate, skipped_deactivate;      // [0] anonymous, [1] file
    bool file_is_tiny, cache_trim, no_cache_trim, cache_trim_failed;
    bool compaction_ready;
    uint64_t anon_cost, file_cost;
    struct {
        uint64_t dirty, unqueued_dirty, congested, writeback, immediate, taken, file_taken;
    } round;
};

/// What shrink_pages counted (struct reclaim_stat), in frames.
struct shrunk {
    uint64_t dirty, unqueued_dirty, congested, writeback, immediate, pageout, activated[2], ref_keep, unmap_fail;
};

/// Tries to free the isolated pages of a spare list, from its tail. Those that stay are left there. Returns frames freed.
uint64_t shrink_pages(struct scan *scan, uint32_t list, struct shrunk *shrunk);

/// Writes of this batch end.
void finish_writes(struct scan *scan);

/// 32 or fewer pages of an inactive list; of an active list.
uint64_t shrink_inactive(struct scan *scan, uint64_t pages, enum lru_list list);
void shrink_active(struct scan *scan, uint64_t pages, enum lru_list list);

/// inactive_is_low.
bool inactive_is_low(const struct lru *lru, enum lru_list inactive);

/// How much of each list this round scans; sets the fields of the balance.
void scan_balance(struct scan *scan);
void scan_counts(const struct scan *scan, uint64_t counts[LRU_EVICTABLE_LISTS]);

/// shrink_node: rounds at one priority.
void shrink_node(struct scan *scan);

/// mm/compaction.c compact_gap: free frames that compaction needs beside the marks.
static inline uint64_t compact_gap(unsigned order) { return UINT64_C(2) << order; }
