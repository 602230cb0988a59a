#include "file/readahead.h"

/// A readahead in progress: pages [index, index + pages) are added, and the disk has not been asked for them yet.
struct window {
    struct file_cache *cache;
    struct file *file;
    uint32_t cpu, pages;
    uint64_t index;
};

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

uint32_t file_first_window(uint64_t pages, uint32_t max) {
    uint64_t size = 1;
    while (size < pages) size *= 2;
    if (size <= max / 32) return (uint32_t)size * 4;
    return size <= max / 4 ? (uint32_t)size * 2 : max;
}

uint32_t file_next_window(uint32_t size, uint32_t max) {
    if (size < max / 16) return 4 * size;
    return size <= max / 2 ? 2 * size : max;
}

/// read_pages: one request to the disk.
static void ask_disk(struct window *window) {
    if (window->pages > 0) file_ask_disk(window->cache, window->file, window->index, window->pages);
    window->index += window->pages;
    window->pages = 0;
}

static void mark(struct window *window, uint32_t folio, uint64_t index) {
    lru_set(window->cache->lru, folio, LRU_RECLAIM);
    file_report(window->cache, (struct file_event){.kind = FILE_MARK, .file = window->file->number, .index = index});
}

static enum file_added add(const struct window *window, uint64_t index, unsigned order, uint32_t *frame) {
    enum phys_outcome outcome;
    window->cache->ahead = true;
    const enum file_added added = file_add(window->cache, window->file, index, order, LRU_LOCKED, false, window->cpu, frame, &outcome);
    window->cache->ahead = false;
    return added;
}

/// page_cache_ra_unbounded: `pages` from window->index on, the mark `lookahead` before the end.
static void read_single(struct window *window, uint64_t pages, uint64_t lookahead) {
    const uint64_t start = window->index, marked = start + pages - lookahead;
    for (uint64_t index = start; index < start + pages;) {
        uint32_t frame;
        const bool there = file_frame(window->file, index) != PHYS_NO_FRAME;
        if (there) {
            ask_disk(window);
            index = ++window->index;
            continue;
        }
        if (add(window, index, 0, &frame) != FILE_ADDED) break;
        if (index == marked) mark(window, frame, index);
        ++window->pages;
        ++index;
    }
    ask_disk(window);
}

/// do_page_cache_ra.
static void read_to_end(struct window *window, uint64_t pages, uint64_t lookahead) {
    const uint64_t count = file_pages(window->file);
    if (window->index >= count) return;
    read_single(window, least(pages, count - window->index), lookahead);
}

/// Largest order of a folio at `index` that ends at or before `limit`.
static unsigned fitting(uint64_t index, unsigned order, uint64_t limit) {
    if (index & ((UINT64_C(1) << order) - 1)) order = (unsigned)__builtin_ctzll(index);
    while (order > 0 && index + (UINT64_C(1) << order) - 1 > limit) --order;
    return order;
}

/// The folios of a large file. False: the rest is read page by page.
static bool read_folios(struct window *window, const struct file_ra *ra, unsigned order) {
    const uint64_t limit = least(file_pages(window->file) - 1, window->index + ra->size - 1);
    const uint64_t marked = window->index + ra->size - ra->async_size;
    enum file_added added = FILE_ADDED;
    if (order < FILE_MOST_ORDER) order += 2;
    order = (unsigned)least(least(order, FILE_MOST_ORDER), 31u - (unsigned)__builtin_clz(ra->size));
    for (uint64_t index = window->index; index <= limit && added == FILE_ADDED;) {
        const unsigned fits = fitting(index, order, limit);
        const uint64_t pages = UINT64_C(1) << fits;
        uint32_t frame;
        added = add(window, index, fits, &frame);
        if (added != FILE_ADDED) break;
        if (index == (marked & ~(pages - 1))) mark(window, frame, index);
        window->pages += (uint32_t)pages;
        index += pages;
    }
    ask_disk(window);
    return added == FILE_ADDED;
}

/// page_cache_ra_order: the window of the file's state, from `index` on.
static void read_window(struct file_cache *cache, struct file *file, uint64_t index, unsigned order, uint32_t cpu) {
    const struct file_ra *ra = &file->ra;
    struct window window = {.cache = cache, .file = file, .cpu = cpu, .index = index};
    file_report(cache, (struct file_event){
                           .kind = FILE_READAHEAD, .file = file->number, .index = index, .pages = ra->size, .more = ra->async_size});
    if (file->large && file->bytes > 0 && ra->size >= 4 && read_folios(&window, ra, order)) return;
    read_to_end(&window, ra->size, ra->async_size);
}

static uint32_t largest_window(const struct file_cache *cache, const struct file *file, uint64_t pages) {
    const uint32_t max = file->ra.ra_pages;
    return pages > max && cache->io_pages > max ? (uint32_t)least(pages, cache->io_pages) : max;
}

/// page_cache_prev_miss: the next missing page at or below `index`; after `most` pages without one, the last page that was looked at. Below
/// index 0: UINT64_MAX.
static uint64_t miss_below(const struct file *file, uint64_t index, uint64_t most) {
    uint64_t at = index;
    for (uint64_t i = 0; i < most; ++i) {
        at = index - i;
        if (at == UINT64_MAX || file_frame(file, at) == PHYS_NO_FRAME) break;
    }
    return at;
}

void file_sync_readahead(struct file_cache *cache, struct file *file, uint64_t index, uint64_t pages, uint32_t cpu) {
    struct file_ra *ra = &file->ra;
    struct window window = {.cache = cache, .file = file, .cpu = cpu, .index = index};
    if (ra->ra_pages == 0) {
        read_to_end(&window, 1, 0);
        return;
    }
    const uint32_t max = largest_window(cache, file, pages);
    const uint64_t previous = (uint64_t)ra->prev_pos / PHYS_FRAME_BYTES;
    if (index == 0 || pages > max || index - previous <= 1) {
        ra->start = index;
        ra->size = file_first_window(pages, max);
        ra->async_size = ra->size > pages ? ra->size - (uint32_t)pages : ra->size / 2;
        read_window(cache, file, index, 0, cpu);
        return;
    }
    const uint64_t miss = miss_below(file, index - 1, max);
    uint64_t below = index - miss - 1;
    if (below <= pages) {
        read_to_end(&window, pages, 0);
        return;
    }
    if (miss == UINT64_MAX) below *= 2;
    ra->start = index;
    ra->size = (uint32_t)least(below + pages, max);
    ra->async_size = 1;
    read_window(cache, file, index, 0, cpu);
}

void file_async_readahead(struct file_cache *cache, struct file *file, uint32_t folio, uint64_t index, uint64_t pages, uint32_t cpu) {
    struct file_ra *ra = &file->ra;
    const unsigned order = frame_order(&cache->phys->frames, folio);
    if (ra->ra_pages == 0 || lru_has(cache->lru, folio, LRU_WRITEBACK)) return;
    lru_clear(cache->lru, folio, LRU_RECLAIM);
    const uint32_t max = largest_window(cache, file, pages);
    const uint64_t expected = (ra->start + ra->size - ra->async_size) & ~((UINT64_C(1) << order) - 1);
    if (index == expected) {
        const uint32_t next = file_next_window(ra->size, max);
        ra->start += ra->size;
        ra->size = ra->size > next ? ra->size : next;
        ra->async_size = ra->size;
        read_window(cache, file, ra->start, order, cpu);
        return;
    }
    uint64_t start = index + 1;
    while (start < index + 1 + max && file_frame(file, start) != PHYS_NO_FRAME) ++start;
    if (start - index > max) return;
    ra->start = start;
    ra->size = file_next_window((uint32_t)(start - index + pages), max);
    ra->async_size = ra->size;
    read_window(cache, file, ra->start, order, cpu);
}

bool file_mmap_readahead(struct file_cache *cache, struct file *file, uint64_t index, bool huge_advice, uint32_t cpu) {
    struct file_ra *ra = &file->ra;
    if (huge_advice) {
        ra->size = 2 * PHYS_PAGEBLOCK_FRAMES;
        ra->async_size = PHYS_PAGEBLOCK_FRAMES;
        read_window(cache, file, index & ~(uint64_t)(PHYS_PAGEBLOCK_FRAMES - 1), PHYS_PAGEBLOCK_ORDER, cpu);
        return true;
    }
    if (ra->ra_pages == 0) return false;
    if (ra->mmap_miss < FILE_LOTS_OF_MISSES * 10) ++ra->mmap_miss;
    if (ra->mmap_miss > FILE_LOTS_OF_MISSES) return false;
    ra->start = index > ra->ra_pages / 2 ? index - ra->ra_pages / 2 : 0;
    ra->size = ra->ra_pages;
    ra->async_size = ra->ra_pages / 4;
    read_window(cache, file, ra->start, 0, cpu);
    return true;
}

bool file_mmap_readahead_more(struct file_cache *cache, struct file *file, uint32_t folio, uint64_t index, uint32_t cpu) {
    struct file_ra *ra = &file->ra;
    if (ra->ra_pages == 0) return false;
    if (ra->mmap_miss > 0) --ra->mmap_miss;
    if (!lru_has(cache->lru, folio, LRU_RECLAIM)) return false;
    file_async_readahead(cache, file, folio, index, ra->ra_pages, cpu);
    return true;
}
