#include "file/read.h"

struct batch {
    uint32_t count;
    uint32_t folio[FILE_READ_BATCH];
};

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t folio_bytes(const struct file_cache *cache, uint32_t folio) {
    return (uint64_t)lru_pages(cache->lru, folio) * PHYS_FRAME_BYTES;
}

/// filemap_get_read_batch: pages [index, end).
static void fill(const struct file_cache *cache, const struct file *file, uint64_t index, uint64_t end, struct batch *batch) {
    batch->count = 0;
    while (index < end) {
        const uint32_t frame = file_frame(file, index);
        if (frame == PHYS_NO_FRAME) return;
        const uint32_t folio = file_folio(cache, frame);
        batch->folio[batch->count++] = folio;
        if (batch->count == FILE_READ_BATCH || lru_has(cache->lru, folio, LRU_LOCKED | LRU_RECLAIM)) return;
        index = file_index_of(cache, folio) + lru_pages(cache->lru, folio);
    }
}

/// filemap_create_folio: one page, read at once.
static bool create(struct file_cache *cache, struct file *file, uint64_t index, uint32_t cpu, struct batch *batch,
                   enum phys_outcome *outcome) {
    uint32_t frame;
    if (file_add(cache, file, index, 0, LRU_LOCKED, false, cpu, &frame, outcome) != FILE_ADDED) return false;
    file_ask_disk(cache, file, index, 1);
    file_io_done(cache);
    batch->folio[0] = frame;
    batch->count = 1;
    return true;
}

/// filemap_get_pages: pages [index, end) of a request. False: no memory.
static bool get_pages(struct file_cache *cache, struct file *file, uint64_t index, uint64_t end, uint32_t cpu, struct batch *batch,
                      enum phys_outcome *outcome) {
    fill(cache, file, index, end, batch);
    if (batch->count == 0) {
        file_sync_readahead(cache, file, index, end - index, cpu);
        fill(cache, file, index, end, batch);
    }
    if (batch->count == 0) return create(cache, file, index, cpu, batch, outcome);
    const uint32_t last = batch->folio[batch->count - 1];
    if (lru_has(cache->lru, last, LRU_RECLAIM)) {
        const uint64_t at = file_index_of(cache, last);
        file_async_readahead(cache, file, last, at, end - at, cpu);
    }
    if (lru_has(cache->lru, last, LRU_LOCKED)) file_io_done(cache);
    return true;
}

struct file_done file_read(struct file_cache *cache, struct file *file, uint64_t offset, uint64_t bytes, uint32_t cpu) {
    struct file_done done = {0, PHYS_GOT_FRAMES};
    const uint64_t end = offset + bytes, last_page = (end + PHYS_FRAME_BYTES - 1) / PHYS_FRAME_BYTES;
    int64_t last_pos = file->ra.prev_pos;
    uint64_t at = offset;
    while (at < end && at < file->bytes) {
        struct batch batch;
        if (!get_pages(cache, file, at / PHYS_FRAME_BYTES, last_page, cpu, &batch, &done.outcome)) break;
        const int64_t unit = (int64_t)folio_bytes(cache, batch.folio[0]);
        const int64_t before = last_pos - 1;      // -1 and below are in no folio
        if (before < 0 || (int64_t)at / unit != before / unit) lru_mark_accessed(cache->lru, batch.folio[0], cpu);
        for (uint32_t i = 0; i < batch.count; ++i) {
            const uint64_t size = folio_bytes(cache, batch.folio[i]);
            if (i > 0) lru_mark_accessed(cache->lru, batch.folio[i], cpu);
            at += least(least(end, file->bytes) - at, size - at % size);
        }
        last_pos = (int64_t)at;
    }
    file_io_done(cache);
    file->ra.prev_pos = last_pos;
    done.bytes = at - offset;
    return done;
}

/// The page of a write: there, or new. False: no memory.
static bool page_to_write(struct file_cache *cache, struct file *file, uint64_t at, uint64_t bytes, uint32_t cpu, uint32_t *frame,
                          enum phys_outcome *outcome) {
    const uint64_t index = at / PHYS_FRAME_BYTES;
    *frame = file_frame(file, index);
    if (*frame != PHYS_NO_FRAME) return true;
    const bool reads = bytes < PHYS_FRAME_BYTES && index < file_pages(file);
    if (file_add(cache, file, index, 0, reads ? LRU_LOCKED : 0, true, cpu, frame, outcome) != FILE_ADDED) return false;
    if (!reads) return true;
    file_ask_disk(cache, file, index, 1);
    file_io_done(cache);
    return true;
}

struct file_done file_write(struct file_cache *cache, struct file *file, uint64_t offset, uint64_t bytes, uint32_t cpu) {
    struct file_done done = {0, PHYS_GOT_FRAMES};
    while (done.bytes < bytes) {
        const uint64_t at = offset + done.bytes, piece = least(bytes - done.bytes, PHYS_FRAME_BYTES - at % PHYS_FRAME_BYTES);
        uint32_t frame;
        if (!page_to_write(cache, file, at, piece, cpu, &frame, &done.outcome)) break;
        lru_set(cache->lru, frame, LRU_DIRTY);
        done.bytes += piece;
        if (at + piece > file->bytes) file->bytes = at + piece;
    }
    return done;
}
