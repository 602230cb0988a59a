#include "file/cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/host.h"
#include "lru/workingset.h"

enum { CHUNK = 512 };

static bool never_mapped(void *context, uint32_t frame) {
    (void)context;
    (void)frame;
    return false;
}

/// Until somebody who knows page tables replaces it.
static const struct lru_owner unmapped_owner = {.name = "file", .mapped = never_mapped};

void file_cache_create(struct file_cache *cache, struct phys *phys, struct lru *lru) {
    *cache = (struct file_cache){.phys = phys, .lru = lru, .io_pages = FILE_IO_PAGES};
    if (!lru->owner[LRU_OWNER_FILE]) lru_set_owner(lru, LRU_OWNER_FILE, &unmapped_owner);
}

const char *file_open(struct file_cache *cache, uint32_t number, uint64_t bytes, bool large) {
    if (number == 0) return "the number of a file is not 0";
    if (bytes > FILE_MOST_BYTES) return "a file has at most 2^47 bytes";
    if (file_named(cache, number)) return "this file is open already";
    if (cache->files == FILE_MOST_FILES) return "at most 1048576 files are open";
    struct file *file = host_alloc(sizeof *file);
    *file = (struct file){.number = number, .slot = (uint32_t)cache->files, .large = large, .bytes = bytes};
    file->ra = (struct file_ra){.ra_pages = FILE_RA_PAGES, .prev_pos = -1};
    if (!cache->owner) cache->owner = host_alloc(cache->phys->frames.count * sizeof *cache->owner);
    cache->file = host_grow(cache->file, &cache->room, cache->files + 1, sizeof *cache->file);
    cache->file[cache->files++] = file;
    return NULL;
}

struct file *file_named(const struct file_cache *cache, uint32_t number) {
    for (size_t slot = 0; slot < cache->files; ++slot)
        if (cache->file[slot]->number == number) return cache->file[slot];
    return NULL;
}

static uint64_t entry_at(const struct file *file, uint64_t index) {
    const uint64_t chunk = index / CHUNK;
    return chunk < file->chunks && file->chunk[chunk] ? file->chunk[chunk][index % CHUNK] : 0;
}

static uint64_t *entry_for(struct file *file, uint64_t index) {
    const uint64_t chunk = index / CHUNK;
    if (chunk >= file->chunks) {
        size_t room = file->chunks;
        file->chunk = host_grow(file->chunk, &room, chunk + 1, sizeof *file->chunk);
        for (size_t i = file->chunks; i < room; ++i) file->chunk[i] = NULL;
        file->chunks = room;
    }
    if (!file->chunk[chunk]) file->chunk[chunk] = host_alloc(CHUNK * sizeof **file->chunk);
    return &file->chunk[chunk][index % CHUNK];
}

static bool is_page(uint64_t entry) { return entry != 0 && !(entry & 1); }

uint32_t file_frame(const struct file *file, uint64_t index) {
    const uint64_t entry = entry_at(file, index);
    return is_page(entry) ? (uint32_t)(entry >> 1) - 1 : PHYS_NO_FRAME;
}

static struct phys_result allocate(struct file_cache *cache, unsigned order, uint32_t cpu) {
    struct phys_request request = phys_request_default(order, PHYS_MOVABLE);
    request.cpu = (uint8_t)cpu;
    request.no_retry = cache->ahead;
    return phys_obtain(cache->phys, &request);
}

static void give_back(struct file_cache *cache, uint32_t frame, unsigned order, uint32_t cpu) {
    struct error error;
    if (!phys_free(cache->phys, frame, order, cpu, &error)) error_stop(&error);
}

enum file_added file_add(struct file_cache *cache, struct file *file, uint64_t index, unsigned order, unsigned flags, bool rewritten,
                         uint32_t cpu, uint32_t *frame, enum phys_outcome *outcome) {
    const struct phys_result result = allocate(cache, order, cpu);
    const uint64_t pages = UINT64_C(1) << order;
    uint64_t shadow = 0;
    *outcome = result.outcome;
    *frame = PHYS_NO_FRAME;
    if (result.outcome != PHYS_GOT_FRAMES) return FILE_NO_FRAME;
    for (uint64_t i = 0; i < pages; ++i) {
        const uint64_t entry = entry_at(file, index + i);
        if (is_page(entry)) {
            give_back(cache, result.frame, order, cpu);
            return FILE_EXISTS;
        }
        if (entry != 0) shadow = entry >> 1;
    }
    for (uint64_t i = 0; i < pages; ++i) *entry_for(file, index + i) = (result.frame + i + 1) << 1;
    cache->owner[result.frame] = (uint64_t)file->slot << 40 | (index + 1);
    file->cached += pages;
    cache->counts.added += pages;
    lru_own(cache->lru, result.frame, LRU_OWNER_FILE, flags);
    if (flags & LRU_LOCKED) {
        cache->flight = host_grow(cache->flight, &cache->flight_room, cache->flights + 1, sizeof *cache->flight);
        cache->flight[cache->flights++] = result.frame;
    }
    const bool free_swap = cache->free_swap && *cache->free_swap > 0;
    if (shadow != 0 && !rewritten) workingset_refault(cache->lru, result.frame, shadow, free_swap);
    lru_add(cache->lru, result.frame, cpu);
    file_report(
        cache, (struct file_event){.kind = FILE_ADD, .order = (uint8_t)order, .file = file->number, .frame = result.frame, .index = index});
    *frame = result.frame;
    return FILE_ADDED;
}

void file_remove(struct file_cache *cache, uint32_t folio, uint64_t shadow) {
    struct file *file = file_of(cache, folio);
    const uint64_t index = file_index_of(cache, folio), pages = lru_pages(cache->lru, folio);
    file_report(cache, (struct file_event){.kind = FILE_REMOVE,
                                           .order = (uint8_t)frame_order(&cache->phys->frames, folio),
                                           .file = file->number,
                                           .frame = folio,
                                           .index = index});
    for (uint64_t i = 0; i < pages; ++i) *entry_for(file, index + i) = shadow == 0 ? 0 : shadow << 1 | 1;
    cache->owner[folio] = 0;
    file->cached -= pages;
    cache->counts.removed += pages;
}

void file_move(struct file_cache *cache, uint32_t folio, uint32_t to) {
    struct file *file = file_of(cache, folio);
    const uint64_t index = file_index_of(cache, folio), pages = lru_pages(cache->lru, folio);
    for (uint64_t i = 0; i < pages; ++i) *entry_for(file, index + i) = (to + i + 1) << 1;
    cache->owner[to] = cache->owner[folio];
    cache->owner[folio] = 0;
}

void file_ask_disk(struct file_cache *cache, const struct file *file, uint64_t index, uint32_t pages) {
    cache->counts.pages_read += pages;
    ++cache->counts.requests;
    file_report(cache, (struct file_event){.kind = FILE_READ, .file = file->number, .index = index, .pages = pages});
    if (cache->disk) cache->disk(cache->disk_context, file->number, index, pages);
    if (cache->instant) file_io_done(cache);
}

void file_io_done(struct file_cache *cache) {
    for (size_t i = 0; i < cache->flights; ++i) lru_clear(cache->lru, cache->flight[i], LRU_LOCKED);
    cache->flights = 0;
}

static void free_folio(struct file_cache *cache, uint32_t folio, uint32_t cpu) {
    const unsigned order = frame_order(&cache->phys->frames, folio);
    file_remove(cache, folio, 0);
    lru_forget(cache->lru, folio);
    give_back(cache, folio, order, cpu);
}

/// Nothing but the cache uses the folio.
static bool unused(const struct file_cache *cache, uint32_t folio) {
    const struct lru_owner *owner = lru_owner_of(cache->lru, folio);
    if (lru_has(cache->lru, folio, LRU_DIRTY | LRU_WRITEBACK | LRU_LOCKED | LRU_ISOLATED)) return false;
    return !owner->mapped(owner->context, folio);
}

static uint64_t drop_file(struct file_cache *cache, struct file *file, uint32_t cpu) {
    uint64_t dropped = 0;
    for (uint64_t index = 0, step; index < file->chunks * (uint64_t)CHUNK && file->cached > 0; index += step) {
        const uint32_t folio = file_frame(file, index);
        step = 1;
        if (folio == PHYS_NO_FRAME) {
            if (!file->chunk[index / CHUNK]) step = CHUNK - index % CHUNK;
            continue;
        }
        step = lru_pages(cache->lru, folio);
        if (unused(cache, folio)) {
            free_folio(cache, folio, cpu);
            dropped += step;
        } else if (!lru_has(cache->lru, folio, LRU_LOCKED)) {
            lru_queue(cache->lru, folio, LRU_OP_DEACTIVATE_FILE, cpu);
        }
    }
    return dropped;
}

uint64_t file_drop_caches(struct file_cache *cache, uint32_t cpu) {
    uint64_t dropped = 0;
    lru_drain_all(cache->lru);
    for (size_t slot = cache->files; slot-- > 0;)
        if (cache->file[slot]->cached > 0) dropped += drop_file(cache, cache->file[slot], cpu);
    return dropped;
}

void file_cache_destroy(struct file_cache *cache, uint32_t cpu) {
    file_io_done(cache);
    for (size_t slot = 0; slot < cache->files; ++slot) {
        struct file *file = cache->file[slot];
        for (uint64_t index = 0; index < file->chunks * (uint64_t)CHUNK && file->cached > 0; ++index) {
            const uint32_t folio = file_frame(file, index);
            if (folio != PHYS_NO_FRAME) free_folio(cache, folio, cpu);
        }
        for (size_t chunk = 0; chunk < file->chunks; ++chunk) free(file->chunk[chunk]);
        free(file->chunk);
        free(file);
    }
    free(cache->file);
    free(cache->owner);
    free(cache->flight);
    *cache = (struct file_cache){0};
}

void file_event_print(void *stream, const struct file_event *event) {
    const uint32_t file = event->file;
    const uint64_t at = event->index;
    switch (event->kind) {
        case FILE_READAHEAD:
            fprintf(stream, "  readahead file=%u index=%" PRIu64 " size=%u async=%u\n", file, at, event->pages, event->more);
            break;
        case FILE_ADD:
        case FILE_REMOVE:
            fprintf(stream, "  cache-%s file=%u index=%" PRIu64 " frame=%u order=%u\n", event->kind == FILE_ADD ? "add" : "remove", file,
                    at, event->frame, event->order);
            break;
        case FILE_READ: fprintf(stream, "  disk-read file=%u index=%" PRIu64 " pages=%u\n", file, at, event->pages); break;
        case FILE_MARK: fprintf(stream, "  mark file=%u index=%" PRIu64 "\n", file, at); break;
        case FILE_AROUND:
            fprintf(stream, "  fault-around file=%u index=%" PRIu64 " pages=%u mapped=%u\n", file, at, event->pages, event->more);
            break;
        default: break;
    }
}
