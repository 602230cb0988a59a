// readahead.h - which pages of a file are read together, and before they are asked for.
//
// Linux 6.12: mm/readahead.c. A window is [start, start + size); the page at start + size - async_size has a mark (PG_readahead,
// here LRU_RECLAIM, the same bit). Rules:
// - file_sync_readahead: a miss (page_cache_sync_ra). At index 0, for a request above the largest window, or at or behind the
//   page that was read last: size = the request's pages rounded up to 2^n, x 4 up to max/32, x 2 up to max/4, else max
//   (get_init_ra_size); async_size = what exceeds the request, or half. Else the pages cached just below count: no more than the
//   request: it is read as it is, without a window; more: size = them (doubled if they reach index 0) + the request, async_size 1.
// - file_async_readahead: a mark is met (page_cache_async_ra). Where the window expects it, the window moves on and grows: x 4 below
//   max/16, x 2 up to max/2, else max (get_next_ra_size); async_size = size. Elsewhere the window starts at the next page that is
//   missing, and its size comes from the distance.
// - file_mmap_readahead: a fault that finds nothing (mm/filemap.c do_sync_mmap_readahead): a window of 128KB around the page, a quarter of it
//   async; not after more than 100 misses that no hits followed. With MADV_HUGEPAGE: 4MB from the 2MB border on.
// - max: ra_pages; a larger request may be as large as the disk's best request (ractl_max_pages).
// - Pages that are there already end a request to the disk; the rest of the window follows in the next one. The window stops at the end
//   of the file, and where no frame is left.
// - `large` files: folios of up to 2^order pages, aligned, order + 2 in each next window, at most the window's size
//   (page_cache_ra_order); not for windows below 4 pages.
// Left out: fadvise (FMODE_RANDOM, double windows), MADV_RANDOM and MADV_SEQUENTIAL, congested cgroups, files whose folios have a least order.
#pragma once

#include "file/cache.h"

enum { FILE_LOTS_OF_MISSES = 100 };  // MMAP_LOTSAMISS, mm/filemap.c

uint32_t file_first_window(uint64_t pages, uint32_t max);
uint32_t file_next_window(uint32_t size, uint32_t max);

/// read(2) of `pages` from `index` on found nothing there.
void file_sync_readahead(struct file_cache *cache, struct file *file, uint64_t index, uint64_t pages, uint32_t cpu);

/// The folio has the mark: it loses it. `index`: the page that asks.
void file_async_readahead(struct file_cache *cache, struct file *file, uint32_t folio, uint64_t index, uint64_t pages, uint32_t cpu);

/// A fault found nothing. True if it may have read something: the fault starts again then.
bool file_mmap_readahead(struct file_cache *cache, struct file *file, uint64_t index, bool huge_advice, uint32_t cpu);

/// A fault found a folio that fault-around had left out (do_async_mmap_readahead). True if it read something.
bool file_mmap_readahead_more(struct file_cache *cache, struct file *file, uint32_t folio, uint64_t index, uint32_t cpu);
