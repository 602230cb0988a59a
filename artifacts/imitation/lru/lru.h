// lru.h - the lists of pages that reclaim scans, the per-CPU batches in front of them, and the owners of pages.
//
// Linux 6.12 without CONFIG_LRU_GEN: include/linux/mmzone.h (enum lru_list), include/linux/mm_inline.h (folio_lru_list,
// lruvec_add_folio), mm/swap.c. One node, no memory cgroups.
// Encoding: the lists use the frame table's links, which a block in use does not need (PHYS_SPARE_LISTS). Each frame has a word of 8
// bytes: its 16 lowest bits are flags, the others say what maps it (rmap.h). A *page* here is a block in use: order 0, or 2MB, or any
// order; only its first frame has flags. Sizes count frames of 4KB.
// Rules:
// - folio_add_lru: a new page goes into the CPU's batch. The batch goes to the lists, oldest first, each page to the head of its list,
//   with its 31st page and with each page of order > 0 (__folio_batch_add_and_move, folio_may_be_lru_cached).
// - lru_activate, lru_deactivate_file, lru_deactivate, lru_lazyfree, lru_move_tail have batches of their own; the page stays on its old
//   list until the batch is full or drained. A drain takes them in this order: add, move_tail, deactivate_file, deactivate, lazyfree,
//   activate (lru_add_drain_cpu).
// - folio_mark_accessed: inactive and unreferenced -> referenced; inactive and referenced -> active, unreferenced, one page of
//   non-resident age (workingset.h); active -> referenced. A page that is still in the CPU's add batch gets active at once.
// - file pages and lazily freed anonymous ones are on the file lists (folio_is_file_lru: not LRU_SWAPBACKED).
// - lru_note_cost: cost = 32 x pages read or written + rotated; both costs are halved when their sum exceeds a quarter of the lists.
// - Counters of sizes lag: each CPU keeps a change to itself until it exceeds a threshold (mm/vmstat.c: __mod_node_page_state, the largest
//   threshold of the zones; __mod_zone_page_state, the zone's). With memory cgroups (lru_flush), sizes and refaults that decide are those
//   of the last flush, and the sizes by zone are exact (mm/memcontrol.c: lruvec_page_state, mem_cgroup_get_zone_lru_size).
// Left out: mlock's own batches (an owner sets LRU_UNEVICTABLE_PAGE before lru_add), memory cgroups, idle page tracking.
#pragma once

#include "lru/rmap.h"
#include "phys/phys.h"

enum lru_list { LRU_INACTIVE_ANON, LRU_ACTIVE_ANON, LRU_INACTIVE_FILE, LRU_ACTIVE_FILE, LRU_UNEVICTABLE, LRU_LISTS };
enum { LRU_ACTIVE_STEP = 1, LRU_FILE_STEP = 2, LRU_EVICTABLE_LISTS = 4 };

/// Flags of a page; the bits from LRU_OWNER_SHIFT on are the owner's number.
enum lru_flag {
    LRU_ON_LIST = 1 << 0,            // PG_lru
    LRU_ACTIVE = 1 << 1,
    LRU_REFERENCED = 1 << 2,
    LRU_WORKINGSET = 1 << 3,         // was active when it was evicted, or is deactivated now
    LRU_SWAPBACKED = 1 << 4,         // anonymous, or shared memory: goes to swap
    LRU_DIRTY = 1 << 5,
    LRU_WRITEBACK = 1 << 6,
    LRU_RECLAIM = 1 << 7,            // to be freed when its writeback ends; readahead's marker for clean file pages (PG_readahead)
    LRU_UNEVICTABLE_PAGE = 1 << 8,
    LRU_IN_SWAP_CACHE = 1 << 9,
    LRU_IN_BATCH = 1 << 10,          // a batch of a CPU has it
    LRU_ISOLATED = 1 << 11,          // taken off its list by reclaim or compaction
    LRU_LOCKED = 1 << 12,            // reclaim and compaction leave it alone
    LRU_OWNER_SHIFT = 13,            // 3 bits
};
enum { LRU_OWNERS = 8, LRU_OWNER_ANON = 0, LRU_OWNER_FILE = 1, LRU_OWNER_MASK = 7 << LRU_OWNER_SHIFT };

/// What became of a page that was to be written.
enum lru_written { LRU_WRITE_STARTED, LRU_WRITE_DONE, LRU_WRITE_REFUSED };

/// What only the owner of a page knows. Frames are first frames of pages; every page is isolated during the call, except in `mapped`.
/// A function may be NULL where the comment says so. None of them may allocate from the lists' own batches or drain them.
struct lru_owner {
    const char *name;
    void *context;
    /// True if a page table maps it.
    bool (*mapped)(void *context, uint32_t frame);
    /// folio_referenced: clears the young bits, and returns how many mappings were young. *executable: one lies in an area with
    /// AREA_EXEC.
    uint32_t (*referenced)(void *context, uint32_t frame, bool *executable);
    /// Before the unmap (add_to_swap; NULL: nothing to prepare). False: it cannot be reclaimed now, and becomes active. A page of
    /// order > 0 may be split first: its other pages go to the list `list` (lru_split).
    bool (*prepare)(void *context, uint32_t frame, uint32_t list, uint32_t cpu);
    /// An unmapped page that stays may give up its place in the cache (folio_free_swap of a full swap; NULL: never).
    void (*keep)(void *context, uint32_t frame, uint32_t cpu);
    /// try_to_unmap: removes all mappings; sets LRU_DIRTY if one was dirty. False: one remained.
    bool (*unmap)(void *context, uint32_t frame, uint32_t cpu);
    /// pageout, of a dirty page. The page is clean afterwards. LRU_WRITE_STARTED: has LRU_WRITEBACK, until lru_end_writeback.
    /// NULL: only the owner's own flusher writes.
    enum lru_written (*write)(void *context, uint32_t frame, uint32_t cpu);
    /// A batch of reclaim, 32 pages, ends: writes that have started are done (lru_end_writeback). NULL: nothing to finish.
    void (*finish_writes)(void *context, uint32_t cpu);
    /// __remove_mapping: the page is clean and unmapped and leaves its cache, which keeps `shadow` (workingset.h). False: in use.
    bool (*remove)(void *context, uint32_t frame, uint64_t shadow, uint32_t cpu);
    /// Compaction moves the page to the block at `to`, which has the same order and is in use: mappings and cache follow, contents
    /// too. Flags and lists are moved by the caller. False: it cannot move. NULL: its pages never move.
    bool (*migrate)(void *context, uint32_t from, uint32_t to, uint32_t cpu);
};

enum lru_operation { LRU_OP_ADD, LRU_OP_MOVE_TAIL, LRU_OP_DEACTIVATE_FILE, LRU_OP_DEACTIVATE, LRU_OP_LAZYFREE, LRU_OP_ACTIVATE, LRU_OPS };
enum { LRU_BATCH = 31 };             // PAGEVEC_SIZE, include/linux/pagevec.h

struct lru_batch {
    uint32_t count;
    uint32_t frame[LRU_BATCH];
};

/// What one CPU keeps to itself: changes that the counters do not contain yet (vm_node_stat_diff, vm_stat_diff).
struct lru_drift {
    int8_t node[LRU_LISTS], zone[PHYS_ZONES][LRU_LISTS], activate[2];
};

/// Names as in /proc/vmstat, where there is one.
struct lru_counts {
    uint64_t drains;                 // add batches that went to the lists
    uint64_t pgactivate, pgdeactivate, pgrotated, pglazyfree;
    uint64_t workingset_refault[2], workingset_activate[2], workingset_restore[2];       // [0] anonymous, [1] file
};

struct lru {
    struct phys *phys;
    struct link *links;              // phys->frames.links
    uint32_t first_head;             // LRU_LISTS heads, and LRU_SPARE_LISTS for isolated pages
    struct rmap rmap;                // with the words of all frames
    const struct lru_owner *owner[LRU_OWNERS];
    struct lru_batch *batch;         // LRU_OPS for each CPU
    uint64_t size[LRU_LISTS];        // frames on each list
    uint64_t zone_size[PHYS_ZONES][LRU_LISTS];
    struct lru_drift *drift;         // of each CPU
    int32_t drift_threshold;         // of the node's counters
    bool has_flushed;                // sizes and refaults of the last lru_flush follow, instead of the node's counters
    uint64_t flushed_size[LRU_LISTS], flushed_activate[2];
    uint64_t isolated[2];            // frames: anonymous, file
    uint64_t nonresident_age;
    uint64_t anon_cost, file_cost;
    struct lru_counts counts;
};

enum { LRU_SPARE_LISTS = (int)PHYS_SPARE_LISTS - (int)LRU_LISTS };

void lru_create(struct lru *lru, struct phys *phys);
void lru_destroy(struct lru *lru);

/// `owner` outlives the lists.
void lru_set_owner(struct lru *lru, unsigned number, const struct lru_owner *owner);

/// A block just allocated gets an owner and its first flags (of enum lru_flag, without LRU_ON_LIST and LRU_ISOLATED). What it had
/// before is gone, mappings too.
static inline void lru_own(struct lru *lru, uint32_t frame, unsigned owner, unsigned flags) {
    lru->rmap.word[frame] = flags | owner << LRU_OWNER_SHIFT;
}

static inline unsigned lru_flags(const struct lru *lru, uint32_t frame) { return (unsigned)lru->rmap.word[frame] & RMAP_FLAGS; }

/// Into the CPU's batch. True if the batch went to the lists.
bool lru_add(struct lru *lru, uint32_t frame, uint32_t cpu);

/// folio_mark_accessed.
void lru_mark_accessed(struct lru *lru, uint32_t frame, uint32_t cpu);

/// folio_activate, folio_deactivate, deactivate_file_folio, folio_mark_lazyfree, folio_rotate_reclaimable: by way of their batches.
/// Nothing happens where Linux tests so: the page is on no list, or is unevictable, or the change does not apply.
void lru_queue(struct lru *lru, uint32_t frame, enum lru_operation operation, uint32_t cpu);

/// All batches of a CPU, or of all CPUs (lru_add_drain, lru_add_drain_all).
void lru_drain(struct lru *lru, uint32_t cpu);
void lru_drain_all(struct lru *lru);

/// The page is about to be freed: it leaves its list (__page_cache_release). If a batch has it, all batches are drained first:
/// in Linux the batch keeps the page until then.
void lru_forget(struct lru *lru, uint32_t frame);

/// folio_end_writeback: LRU_WRITEBACK ends; with LRU_RECLAIM the page is moved to the tail of its inactive list.
void lru_end_writeback(struct lru *lru, uint32_t frame, uint32_t cpu);

/// folio_isolate_lru: off its list. False if it is on none.
bool lru_isolate(struct lru *lru, uint32_t frame);

/// The same without a change of the counters, which a batch of reclaim makes once for each zone with lru_count (update_lru_sizes).
bool lru_isolate_uncounted(struct lru *lru, uint32_t frame);
void lru_count(struct lru *lru, enum lru_list list, unsigned zone, int64_t pages);

/// For reclaim: an isolated page, which is in no list, goes to the head of the list that its flags name (move_folios_to_lru).
void lru_give(struct lru *lru, uint32_t frame);

/// An isolated page goes back by way of the CPU's batch (folio_putback_lru).
void lru_putback(struct lru *lru, uint32_t frame, uint32_t cpu);

/// The isolated block of 2^order frames at `frame` became pages of order 0 in phys (phys_split_used): they get its flags, isolated,
/// and go to the tail of the list with the head `list`, the last one first (lru_add_page_tail). Its first page stays where it is.
void lru_split(struct lru *lru, uint32_t frame, unsigned order, uint32_t list);

/// Counters, as the kernel reads them: of the node (node_page_state), of the LRU lists (lruvec_page_state), of a zone's part of a list
/// (lruvec_lru_size), and of pages that were active at their refault (WORKINGSET_ACTIVATE_*).
uint64_t lru_node_counted(const struct lru *lru, enum lru_list list);
uint64_t lru_counted(const struct lru *lru, enum lru_list list);
uint64_t lru_zone_counted(const struct lru *lru, unsigned zone, enum lru_list list);
uint64_t lru_activate_counted(const struct lru *lru, bool file);

/// A CPU puts its drift into the counters (refresh_cpu_vm_stats).
void lru_fold(struct lru *lru, uint32_t cpu);

/// Memory cgroups fold their counters (cgroup_rstat_flush, each 2 s). The first call turns them on.
void lru_flush(struct lru *lru);

/// Pages that were active at a refault.
void lru_count_activate(struct lru *lru, bool file, uint64_t pages);

/// Pages read or written, and pages rotated: the balance between anonymous and file pages.
void lru_note_cost(struct lru *lru, bool file, uint64_t pages_io, uint64_t pages_rotated);

static inline bool lru_has(const struct lru *lru, uint32_t frame, unsigned flag) { return lru->rmap.word[frame] & flag; }

static inline void lru_set(struct lru *lru, uint32_t frame, unsigned flags) { lru->rmap.word[frame] |= flags; }

static inline void lru_clear(struct lru *lru, uint32_t frame, unsigned flags) { lru->rmap.word[frame] &= ~(uint64_t)flags; }

static inline bool lru_test_clear(struct lru *lru, uint32_t frame, unsigned flag) {
    const bool was = lru_has(lru, frame, flag);
    lru_clear(lru, frame, flag);
    return was;
}

static inline bool lru_is_file(const struct lru *lru, uint32_t frame) { return !lru_has(lru, frame, LRU_SWAPBACKED); }

static inline const struct lru_owner *lru_owner_of(const struct lru *lru, uint32_t frame) {
    return lru->owner[lru_flags(lru, frame) >> LRU_OWNER_SHIFT];
}

/// The list that a page with these flags belongs to (folio_lru_list).
static inline enum lru_list lru_list_of(unsigned flags) {
    if (flags & LRU_UNEVICTABLE_PAGE) return LRU_UNEVICTABLE;
    return (enum lru_list)((flags & LRU_SWAPBACKED ? 0 : LRU_FILE_STEP) + (flags & LRU_ACTIVE ? LRU_ACTIVE_STEP : 0));
}

static inline bool lru_list_is_file(int list) { return list == LRU_INACTIVE_FILE || list == LRU_ACTIVE_FILE; }

static inline uint32_t lru_head(const struct lru *lru, enum lru_list list) { return lru->first_head + list; }

/// Head of one of LRU_SPARE_LISTS lists for isolated pages; empty unless somebody works with it.
static inline uint32_t lru_spare(const struct lru *lru, unsigned list) { return lru->first_head + LRU_LISTS + list; }

/// Hints for the host's caches before lru_forget: first for the page, then, when that has arrived, for its neighbours on the list.
static inline void lru_prefetch(const struct lru *lru, uint32_t frame) {
    __builtin_prefetch(&lru->links[frame], 1);
    __builtin_prefetch(&lru->rmap.word[frame], 1);
}

static inline void lru_prefetch_neighbours(const struct lru *lru, uint32_t frame) {
    if (!lru_has(lru, frame, LRU_ON_LIST)) return;
    __builtin_prefetch(&lru->links[lru->links[frame].previous], 1);
    __builtin_prefetch(&lru->links[lru->links[frame].next], 1);
}

static inline uint32_t lru_pages(const struct lru *lru, uint32_t frame) { return UINT32_C(1) << frame_order(&lru->phys->frames, frame); }
