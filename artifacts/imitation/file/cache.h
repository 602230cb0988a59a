// cache.h - the page cache: which frame holds which page of a file.
//
// Linux 6.12: mm/filemap.c filemap_add_folio, __filemap_remove_folio; mm/truncate.c mapping_try_invalidate; fs/drop_caches.c.
// A *page* of a file is 4096 bytes, named by its index. A *folio* is a block of 2^order pages, aligned in file and memory; its
// first frame has its flags (lru.h). Ordinary files have order 0 only, as ext4 of 6.12; files that are opened as `large` get larger
// folios from readahead, as XFS does (mapping_set_large_folios), up to order 9.
// Encoding: for each file, chunks of 512 entries of 8 bytes; 0: nothing, bit 0: what workingset.h keeps of an evicted page, else
// frame + 1. For each frame, 8 bytes name its file and index.
// Requests: movable (GFP_HIGHUSER_MOVABLE). Reads of the disk: a page that readahead added is locked, and so not up to date, until
// file_io_done; who needs the page calls that, so the disk answers whole requests at once.
// Left out: truncation, holes, writeback (dirty pages stay dirty unless reclaim writes them), nodes of the index (radix_tree_node), buffer heads,
// O_DIRECT, memory cgroups, the dirty limit of a zone.
#pragma once

#include "lru/lru.h"
#include "phys/alloc.h"

enum {
    FILE_RA_PAGES = 32,  // 128KB, VM_READAHEAD_PAGES (include/linux/mm.h)
    FILE_IO_PAGES = 320,  // 1280KB, BLK_DEF_MAX_SECTORS_CAP (include/linux/blkdev.h), block/blk-settings.c
    FILE_MOST_ORDER = 9,  // MAX_PAGECACHE_ORDER, include/linux/pagemap.h
    FILE_MOST_FILES = 1 << 20,
};
#define FILE_MOST_BYTES (UINT64_C(1) << 47)

/// Readahead's state of an open file (struct file_ra_state, include/linux/fs.h). Each file is open once.
struct file_ra {
    uint64_t start;  // the window that was read last: [start, start + size) in pages
    uint32_t size, async_size;  // the page at start + size - async_size has the mark
    uint32_t ra_pages;  // the largest window; 0: no readahead
    uint32_t mmap_miss;  // faults that found nothing, less those that did
    int64_t prev_pos;  // byte behind the last read(2); -1: none yet
};

struct file {
    uint32_t number;  // the caller's name, not 0
    uint32_t slot;  // in the cache
    bool large;
    uint64_t bytes;
    struct file_ra ra;
    uint64_t **chunk;
    size_t chunks;
    uint64_t cached;  // pages
};

enum file_event_kind {
    FILE_READAHEAD,  // a window was decided: index, pages = size, more = async size
    FILE_ADD,  // a folio joined the cache: index, frame, order
    FILE_READ,  // a request to the disk: index, pages
    FILE_MARK,  // the folio at index got the mark for the next window
    FILE_AROUND,  // fault-around: pages [index, index + pages) were looked at, more = mapped
    FILE_REMOVE,  // a folio left the cache: index, frame, order
    FILE_EVENT_KINDS
};

struct file_event {
    uint8_t kind, order;
    uint32_t file, frame, pages, more;
    uint64_t index;
};

/// For struct events: prints the event as an indented line; the context is a FILE *.
void file_event_print(void *stream, const struct file_event *event);

struct file_counts {
    uint64_t pages_read, requests;  // from the disk
    uint64_t added, removed;  // pages
};

/// Told of each read: first page and pages.
typedef void file_disk(void *context, uint32_t file, uint64_t index, uint32_t pages);

struct file_cache {
    struct phys *phys;
    struct lru *lru;
    struct file **file;  // by slot
    size_t files, room;
    uint64_t *owner;  // by first frame of a folio: slot << 40 | index + 1; 0: no page of a file. NULL: no file yet
    uint32_t *flight;  // first frames of folios that the disk reads
    size_t flights, flight_room;
    uint32_t io_pages;
    const int64_t *free_swap;  // free slots of swap, for workingset.h; NULL: no swap
    file_disk *disk;  // NULL: nobody counts time
    void *disk_context;
    bool ahead;  // frames are for readahead: the request does not retry (readahead_gfp_mask)
    bool instant;  // a RAM disk: a read is done when the disk was asked
    struct file_counts counts;
};

void file_cache_create(struct file_cache *cache, struct phys *phys, struct lru *lru);

/// Frees all pages, dirty ones too. Nothing maps them, and no LRU batch holds them (lru_drain_all).
void file_cache_destroy(struct file_cache *cache, uint32_t cpu);

/// A file of `bytes` whose data are on the disk. NULL, or the rule that is broken.
const char *file_open(struct file_cache *cache, uint32_t number, uint64_t bytes, bool large);

/// NULL: no such file.
struct file *file_named(const struct file_cache *cache, uint32_t number);

static inline uint64_t file_pages(const struct file *file) { return (file->bytes + PHYS_FRAME_BYTES - 1) / PHYS_FRAME_BYTES; }

/// The frame of a page; PHYS_NO_FRAME: not in the cache.
uint32_t file_frame(const struct file *file, uint64_t index);

/// First frame of the folio that a frame belongs to, and the folio's first index.
static inline uint32_t file_folio(const struct file_cache *cache, uint32_t frame) { return frames_block_of(&cache->phys->frames, frame); }
static inline uint64_t file_index_of(const struct file_cache *cache, uint32_t folio) {
    return (cache->owner[folio] & ((UINT64_C(1) << 40) - 1)) - 1;
}
static inline struct file *file_of(const struct file_cache *cache, uint32_t folio) { return cache->file[cache->owner[folio] >> 40]; }

enum file_added { FILE_ADDED, FILE_EXISTS, FILE_NO_FRAME };

/// A folio at `index`, a multiple of its size, joins the cache and the CPU's LRU batch. `flags`: LRU_LOCKED (the disk reads it) or
/// 0; `rewritten`: its old content is not wanted (__GFP_WRITE), so no refault is counted. *frame, or *outcome: why none.
enum file_added file_add(struct file_cache *cache, struct file *file, uint64_t index, unsigned order, unsigned flags, bool rewritten,
                         uint32_t cpu, uint32_t *frame, enum phys_outcome *outcome);

/// The folio leaves the cache, which keeps `shadow` (0: nothing). Its block is the caller's.
void file_remove(struct file_cache *cache, uint32_t folio, uint64_t shadow);

/// The folio's pages are in the block at `to`, which has its order; the block at `folio` is the caller's.
void file_move(struct file_cache *cache, uint32_t folio, uint32_t to);

/// The disk is asked for pages [index, index + pages).
void file_ask_disk(struct file_cache *cache, const struct file *file, uint64_t index, uint32_t pages);

/// The disk has read all that it was asked for: pages are up to date.
void file_io_done(struct file_cache *cache);

/// echo 1 > /proc/sys/vm/drop_caches: folios that are clean, not mapped and not in use are freed, newest file first, each from its
/// start; the others are moved towards the end of the LRU lists. Returns the pages freed.
uint64_t file_drop_caches(struct file_cache *cache, uint32_t cpu);

static inline void file_report(const struct file_cache *cache, struct file_event event) {
    const struct events *sink = &cache->phys->events;
    if (__builtin_expect(sink->file != NULL, 0)) sink->file(sink->context, &event);
}
