// rmap.h - which page tables map a frame.
//
// Linux finds the mappings of a page by way of its anon_vma or its file (mm/rmap.c rmap_walk); here each frame names them itself.
// The order of the walk decides nothing: references are summed, and all mappings go or none.
// Encoding: a word of 8 bytes for each frame: 16 bits of flags (lru.h), 35 of a page, 12 of a process's number from 1 on; both 0: none.
// More than one mapping: bit 63 and, in place of page and process, the first of a chain.
// A 2MB mapping is noted at the first frame of its block. Frames of page tables are never noted.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RMAP_FLAG_BITS = 16, RMAP_FLAGS = (1 << RMAP_FLAG_BITS) - 1, RMAP_PAGE_BITS = 35, RMAP_MOST_PROCESSES = (1 << 12) - 1 };

/// One mapping: process's number << RMAP_PAGE_BITS | page (PT_PAGES is 2^35).
typedef uint64_t rmap_place;

struct rmap_link {
    rmap_place place;
    uint32_t next;               // 0: the last one
};

struct rmap {
    uint64_t *word;              // by frame
    struct rmap_link *link;      // of chains; link[0] is unused
    size_t links, room;
    uint32_t spare;              // chain of unused links
};

void rmap_create(struct rmap *rmap, uint32_t frames);
void rmap_destroy(struct rmap *rmap);

static inline rmap_place rmap_make(uint32_t process, uint64_t page) { return (uint64_t)process << RMAP_PAGE_BITS | page; }

static inline uint32_t rmap_process(rmap_place place) { return (uint32_t)(place >> RMAP_PAGE_BITS); }

static inline uint64_t rmap_page(rmap_place place) { return place & ((UINT64_C(1) << RMAP_PAGE_BITS) - 1); }

static inline bool rmap_mapped(const struct rmap *rmap, uint32_t frame) { return rmap->word[frame] >> RMAP_FLAG_BITS != 0; }

/// True if more than one mapping is noted.
static inline bool rmap_shared(const struct rmap *rmap, uint32_t frame) { return rmap->word[frame] >> 63; }

/// The first mapping of a frame, which has none yet.
static inline void rmap_set(struct rmap *rmap, uint32_t frame, rmap_place place) {
    rmap->word[frame] = (rmap->word[frame] & RMAP_FLAGS) | place << RMAP_FLAG_BITS;
}

/// One more mapping of a frame, at the end.
void rmap_add(struct rmap *rmap, uint32_t frame, rmap_place place);

/// A chain loses one mapping, which it has (rmap_remove).
void rmap_remove_shared(struct rmap *rmap, uint32_t frame, rmap_place place);

static inline void rmap_remove(struct rmap *rmap, uint32_t frame, rmap_place place) {
    if (rmap_shared(rmap, frame)) rmap_remove_shared(rmap, frame, place);
    else rmap->word[frame] &= RMAP_FLAGS;
}

/// A mapping moved.
void rmap_move(struct rmap *rmap, uint32_t frame, rmap_place from, rmap_place to);

/// All mappings of a frame that has none of its own become those of another one.
static inline void rmap_give(struct rmap *rmap, uint32_t from, uint32_t to) {
    rmap->word[to] = (rmap->word[to] & RMAP_FLAGS) | (rmap->word[from] & ~(uint64_t)RMAP_FLAGS);
    rmap->word[from] &= RMAP_FLAGS;
}

/// The mappings of a frame, oldest first: `rmap_place place; for (struct rmap_walk w = rmap_start(r, f); rmap_next(&w, &place);)`.
/// None may be added or removed on the way.
struct rmap_walk {
    const struct rmap *rmap;
    rmap_place single;
    uint32_t link;
};

struct rmap_walk rmap_start(const struct rmap *rmap, uint32_t frame);
bool rmap_next(struct rmap_walk *walk, rmap_place *place);

/// The oldest mapping of a frame that has one.
rmap_place rmap_oldest(const struct rmap *rmap, uint32_t frame);
uint32_t rmap_count(const struct rmap *rmap, uint32_t frame);
