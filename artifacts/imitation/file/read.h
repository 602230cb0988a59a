// read.h - read(2) and write(2) of a file by way of the page cache.
//
// Linux 6.12: mm/filemap.c filemap_read, filemap_get_pages, filemap_get_read_batch, filemap_create_folio, generic_perform_write;
// fs/ext4/inode.c ext4_da_write_begin. Rules:
// - A read takes folios in batches of up to 31; a batch ends with a folio that is not up to date or has readahead's mark. An empty batch
//   is a miss: readahead for the rest of the request (readahead.h). A mark at the end of a batch moves the window.
// - Each folio of a read is marked accessed once (lru_mark_accessed); the first one not if the last read ended in it.
// - A request counts as long as the program asked, even beyond the end of the file.
// - A write takes page by page: a missing one gets a frame; if the write covers only a part of it and the file has data there, the disk reads it
//   first. The page is dirty; it is not marked accessed. The file grows.
// Left out: writes to `large` files (iomap), holes, direct I/O, dirty throttling (balance_dirty_pages).
#pragma once

#include "file/readahead.h"

enum { FILE_READ_BATCH = 31 };  // PAGEVEC_SIZE

struct file_done {
    uint64_t bytes;  // fewer than asked at the end of the file, or without memory
    enum phys_outcome outcome;  // PHYS_GOT_FRAMES, or what physical memory refused
};

struct file_done file_read(struct file_cache *cache, struct file *file, uint64_t offset, uint64_t bytes, uint32_t cpu);

/// offset + bytes <= FILE_MOST_BYTES; the file is not `large`.
struct file_done file_write(struct file_cache *cache, struct file *file, uint64_t offset, uint64_t bytes, uint32_t cpu);
