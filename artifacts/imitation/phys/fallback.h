// fallback.h - a request whose own free lists are empty takes memory of another type.
//
// Rules (mm/page_alloc.c):
// - fallbacks[]: unmovable tries reclaimable, then movable. Movable tries reclaimable, then unmovable. Reclaimable tries unmovable,
//   then movable. The choice is made for each order.
// - __rmqueue_claim: from order 10 down to the request's order (to order 9 with PHYS_NO_FRAGMENT), takes the first type that has a block.
//   A block of order 9 or 10 changes the type of its pageblocks and is split. For a smaller block, the zone's watermarks are
//   boosted first. If frames that are free plus frames that suit the request reach half of the pageblock, its type changes, all its
//   free blocks move to the tails of the new type's lists, and the request takes the smallest block of its type. Otherwise the search goes
//   on, an order lower.
// - can_steal_fallback: a movable request claims only blocks of order 4 and more; at the first smaller one, the search ends.
// - try_to_steal_block: which frames suit. Movable requests: frames on LRU lists. Others: in a movable pageblock, frames that are
//   neither free nor on LRU lists; in other pageblocks none.
// - prep_move_freepages_block: a pageblock that is not inside the zone's span is never claimed (the first of DMA, if frame 0 is not RAM).
// - __rmqueue_steal: from the request's order up, takes a block of another type and leaves the type of its pageblock.
// Left out: page_group_by_mobility_disabled (machines of a few MB), kdump.
#pragma once

#include "phys/buddy.h"

/// The type whose list of `order` a request of `type` falls back to; -1 if the lists of all others are empty.
int fallback_type(const struct phys *p, const struct zone *zone, unsigned order, int type);

/// Takes a block after a pageblock has changed its type; PHYS_NO_FRAME if none can be claimed. May boost the watermarks anyway.
uint32_t fallback_claim(struct phys *p, struct zone *zone, unsigned order, int type, unsigned rights);

/// Takes a block of another type.
uint32_t fallback_steal(struct phys *p, struct zone *zone, unsigned order, int type);

/// Changes the type of the pageblock of `frame`; its free blocks (order below 9) move with it. The pageblock lies in the zone's span.
void fallback_move_pageblock(struct phys *p, struct zone *zone, uint32_t frame, int from, int to);

/// True if the whole pageblock of `frame` lies in the zone's span.
bool fallback_spans_pageblock(const struct zone *zone, uint32_t frame);
