// frames.h - the frame table: what the allocator knows of each 4KB frame.
//
// Encoding: struct of arrays, indexed by frame number (physical address / 4096). A frame costs 8 bytes of links, 1 byte of state
// and 4 bits; a pageblock 1 byte more. So 16GB with the hole below 4GB (4.46 M frames) take 43MB.
// A *block* is 2^order frames, aligned to its size, named by its first frame. Only the first frame of a block has a kind other
// than FRAME_INSIDE. Frames that were in use before a snapshot was taken belong to no known block: all are FRAME_INSIDE.
// Invariant: known blocks are disjoint, and every frame of a block is managed.
//
// Linux: struct page (include/linux/mm_types.h): buddy_list, pcp_list, private (order), PageBuddy, PageLRU; pageblock bits
// (mm/page_alloc.c: get_pfnblock_flags_mask).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/bitmap.h"
#include "base/list.h"
#include "phys/types.h"

enum frame_kind { FRAME_INSIDE, FRAME_FREE, FRAME_PERCPU, FRAME_USED };

struct frames {
    uint32_t count;        // a multiple of 1024, so that the neighbour of every block is in the table
    uint32_t lists;        // heads of lists: the indices count .. count + lists - 1 of `links`
    struct link *links;
    uint8_t *state;        // kind << 4 | order
    uint64_t *present;     // bit: the frame is RAM
    uint64_t *reserved;    // bit: RAM that was taken at boot and never goes to the allocator
    uint64_t *managed;     // bit: the frame belongs to the allocator: present and not reserved
    uint64_t *lru;         // bit: the frame is on an LRU list, so compaction could move it
    uint8_t *block_type;   // enum phys_type, for each pageblock
};

/// Tables for `count` frames, nothing managed, every pageblock movable (phys_create sets the types of fresh memory). False if memory is
/// short. Lists are empty.
bool frames_create(struct frames *frames, uint32_t count, uint32_t lists);
void frames_destroy(struct frames *frames);

/// The first frame of the known block that contains `frame`; PHYS_NO_FRAME if no known block does.
uint32_t frames_block_of(const struct frames *frames, uint32_t frame);

static inline int frame_kind(const struct frames *frames, uint32_t frame) { return frames->state[frame] >> 4; }

static inline unsigned frame_order(const struct frames *frames, uint32_t frame) { return frames->state[frame] & 15u; }

static inline bool frame_is(const struct frames *frames, uint32_t frame, enum frame_kind kind, unsigned order) {
    return frames->state[frame] == ((unsigned)kind << 4 | order);
}

static inline void frame_set(struct frames *frames, uint32_t frame, enum frame_kind kind, unsigned order) {
    frames->state[frame] = (uint8_t)((unsigned)kind << 4 | order);
}

static inline int frame_block_type(const struct frames *frames, uint32_t frame) {
    return frames->block_type[frame >> PHYS_PAGEBLOCK_ORDER];
}

/// Sets the type of all pageblocks of a block with order >= PHYS_PAGEBLOCK_ORDER.
static inline void frame_set_block_types(struct frames *frames, uint32_t frame, unsigned order, int type) {
    for (uint32_t block = 0; block < UINT32_C(1) << (order - PHYS_PAGEBLOCK_ORDER); ++block)
        frames->block_type[(frame >> PHYS_PAGEBLOCK_ORDER) + block] = (uint8_t)type;
}

static inline enum phys_zone frame_zone(uint32_t frame) {
    return frame < PHYS_DMA_END_FRAME ? PHYS_DMA : frame < PHYS_DMA32_END_FRAME ? PHYS_DMA32 : PHYS_NORMAL;
}
