// swap.h - one swap area: its slots and clusters, who uses them, and the swap cache.
//
// Linux 6.12 with CONFIG_THP_SWAP, an area that does not rotate (SSD, zram), without discard: mm/swapfile.c, mm/swap_slots.c,
// mm/swap_state.c. A *slot* is one page of the area; slot 0 is its header. A slot has a count of swap entries in page tables, and a
// bit that says that the swap cache holds it: a page in memory has the same content.
// Rules:
// - Clusters of 512 slots are free, nonfull, frag or full; lists are first in, first out. The free ones start in columns of 32
//   (setup_clusters, SWAP_CLUSTER_COLS): clusters 32, 64, ..., then 1, 33, 65, ...; the cluster of the header starts as nonfull.
// - A CPU goes on in its own cluster, upward; then it takes the first free cluster; then, for orders below 9, nonfull and frag ones
//   (cluster_alloc_swap_entry); order 0 also takes clusters of larger orders.
// - Order 0 comes from a cache of 64 slots a CPU, filled at once; freed slots gather in a second cache of 64 and go back together
//   (folio_alloc_swap, free_swap_slot). The caches work from more than 320 free slots a CPU on, until fewer than 128 (check_cache_active).
// - An area that is more than half full is *full* (vm_swap_full): slots that only the swap cache holds are then taken back, by the
//   search through a cluster, and from the oldest full cluster when no cluster is free.
// - A slot is free when no entry and no page has it any more (__swap_entry_free_locked); then its shadow is gone, too.
// Left out: several areas and priorities, areas that rotate, discard, zswap, pages of zeros that are not written, counts above 62.
#pragma once

#include "lru/lru.h"

enum {
    SWAP_NONE = 0,
    SWAP_CLUSTER = 512,
    SWAP_ORDERS = 10,
    SWAP_BATCH = 64,
    SWAP_CLUSTER_COLUMNS = 32,
    SWAP_MOST_COUNT = 62,        // SWAP_MAP_MAX
};

struct swap_cluster {
    uint16_t count;              // slots in use, bad ones too
    uint8_t state;               // swap.c
    uint8_t order;
};

struct swap_cpu {
    uint32_t next[SWAP_ORDERS];  // where the search goes on; SWAP_NONE: in a new cluster
    uint32_t slots[SWAP_BATCH], slots_left, slots_at;
    uint32_t freed[SWAP_BATCH], freed_count;
};

/// A page is written to a slot or read from it: for contents, disks and tests. NULL: nobody cares.
typedef void swap_transfer(void *context, bool write, uint32_t slot, uint32_t frame);

struct swap {
    struct lru *lru;
    uint32_t slots;              // with the header; 0: there is no swap
    int64_t free;                // nr_swap_pages: slots that caches of CPUs hold are not free
    uint32_t in_use;
    uint8_t *count;              // by slot: swap entries; SWAP_CACHED
    uint32_t *frame;             // by slot: the page in the swap cache; PHYS_NO_FRAME
    uint64_t *shadow;            // by slot: of the page that was evicted; 0
    uint32_t *slot_of;           // by frame: valid with LRU_IN_SWAP_CACHE
    uint32_t clusters;
    struct swap_cluster *cluster;
    struct link *links;          // by cluster, then heads of lists
    uint32_t frag_count[SWAP_ORDERS];
    struct swap_cpu *cpu;
    bool caches_active;
    bool synchronous;            // SWP_SYNCHRONOUS_IO: zram and RAM disks; a write is done when it returns, and nothing is read ahead
    uint32_t *writing;           // pages whose writes have started
    size_t writes, write_room;
    swap_transfer *transfer;
    void *context;
    struct {
        uint64_t pswpin, pswpout, swap_ra, swap_ra_hit;
    } counts;                    // /proc/vmstat
};

enum { SWAP_CACHED = 0x40 };     // bit in `count`

/// `pages` of the area, with its header; 0: no swap. At least 2, if any.
void swap_create(struct swap *swap, struct lru *lru, uint32_t pages, bool synchronous);
void swap_destroy(struct swap *swap);

static inline bool swap_full(const struct swap *swap) { return swap->slots > 0 && swap->free * 2 < (int64_t)swap->slots - 1; }

/// 2^order slots for the swap cache, aligned; order 0 or 9. SWAP_NONE: there are none.
uint32_t swap_alloc(struct swap *swap, unsigned order, uint32_t cpu);

/// The page joins the swap cache with slots that swap_alloc gave or swap_hold kept. Returns the shadow of its slot; 0: none.
uint64_t swap_cache_add(struct swap *swap, uint32_t frame, uint32_t slot);

/// The page leaves the swap cache; its slots keep `shadow`, and are free if no entry has them (delete_from_swap_cache).
void swap_cache_remove(struct swap *swap, uint32_t frame, uint64_t shadow, uint32_t cpu);

/// The page of the swap cache that has the slot; PHYS_NO_FRAME: none.
static inline uint32_t swap_cached(const struct swap *swap, uint32_t slot) { return swap->frame[slot]; }

static inline uint32_t swap_entries(const struct swap *swap, uint32_t slot) { return swap->count[slot] & ~(uint32_t)SWAP_CACHED; }

/// The slot is in use by the swap cache from now on (swapcache_prepare). False: it is already, or is free.
bool swap_hold(struct swap *swap, uint32_t slot);

/// One more swap entry has the slot (swap_duplicate). False: too many.
bool swap_duplicate(struct swap *swap, uint32_t slot);

/// One swap entry is gone because its page is mapped again (swap_free).
void swap_free(struct swap *swap, uint32_t slot, uint32_t cpu);

/// `pages` swap entries of consecutive slots are gone for good (free_swap_and_cache_nr): a page that only the swap cache has leaves it if
/// nothing maps it or the area is full; then `gone` gets it, to free it if nothing maps it. Slots of one cluster that each have one
/// entry go back at once, others by way of the CPU's cache.
typedef void swap_gone(void *context, uint32_t frame, uint32_t cpu);
void swap_drop(struct swap *swap, uint32_t slot, uint32_t pages, uint32_t cpu, swap_gone *gone, void *context);

/// swap_hold ends without a page in the cache (swapcache_clear).
void swap_unhold(struct swap *swap, uint32_t slot, uint32_t cpu);

/// folio_free_swap: the page leaves the swap cache if no entry has its slots; it is dirty then.
bool swap_release(struct swap *swap, uint32_t frame, uint32_t cpu);

/// A dirty page is written. LRU_WRITE_STARTED: until swap_finish_writes.
enum lru_written swap_write(struct swap *swap, uint32_t frame);
void swap_read(struct swap *swap, uint32_t frame);
void swap_finish_writes(struct swap *swap, uint32_t cpu);

/// Pages that a fault reads at once (__swapin_nr_pages): `hits` of the last window, 2^cluster at most.
uint32_t swap_window(uint64_t previous, uint64_t now, uint32_t hits, uint32_t most, uint32_t previous_window);

/// NULL, or the invariant that does not hold: counts of clusters, of free slots, of the cache.
const char *swap_check(const struct swap *swap);
