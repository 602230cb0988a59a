// buddy.h - blocks of 2^order frames: splits on the way out, merges on the way back.
//
// Rules (mm/page_alloc.c):
// - __rmqueue_smallest: the smallest order that has a block of the type, and the first block of that list.
// - expand: the low half is kept; each high half goes to the head of its list, so the next request continues upward.
// - __free_one_page: merges as long as the neighbour is free with the same order. From order 9 on, a neighbour of another type
//   merges only if both types are ordinary (not HighAtomic), and its pageblocks take the type of the freed block.
// - buddy_merge_likely: the block goes to the tail of its list if the neighbour of the next order is free, because then this
//   block's own neighbour may complete a larger one soon; to the head otherwise. Orders 9 and 10: always the head.
// - split_large_buddy: a free block above order 9 is returned pageblock by pageblock, each with its own type.
// - compaction_capture: a block that grows to the order that a run of compaction waits for goes to it (phys.h).
// Left out: shuffling of free lists, debug_pagealloc's guards.
#pragma once

#include "phys/freelist.h"

/// Takes a block of the type. PHYS_NO_FRAME if every list of the type from `order` on is empty. Counts the frames as taken.
uint32_t buddy_take(struct phys *p, struct zone *zone, unsigned order, int type);

/// Takes a block that is known to be on the list of (found, type), keeps its low 2^order frames.
void buddy_take_block(struct phys *p, struct zone *zone, uint32_t frame, unsigned order, unsigned found, int type);

/// Puts the high halves of a block that is on no list back, from `high` down to `low`; returns the frames put back.
uint32_t buddy_expand(struct phys *p, struct zone *zone, uint32_t frame, unsigned low, unsigned high, int type);

/// Returns a block of at most pageblock order to the zone, with the type of its pageblock.
void buddy_free(struct phys *p, struct zone *zone, uint32_t frame, unsigned order, int type, bool to_tail);

/// Returns a block of any order to its zone. `to_tail`: to the tail of the list in any case, as fresh memory.
void buddy_free_block(struct phys *p, uint32_t frame, unsigned order, bool to_tail);
