// highatomic.h - pageblocks reserved for requests of order 1 and more that cannot wait.
//
// Linux, mm/page_alloc.c:
// - reserve_highatomic_pageblock: after such a request got a block, its pageblock becomes HighAtomic, until 1% of the zone (rounded up to
//   pageblocks) is reserved. Zones of less than 100 pageblocks reserve nothing.
// - unreserve_highatomic_pageblock: before a request fails after reclaim, one pageblock goes back to the type of the request. Unless
//   forced, each zone keeps one.
#pragma once

#include "phys/phys.h"

/// `frame`, order: a block that a request with PHYS_USE_HIGHATOMIC just got from `zone`.
void highatomic_reserve(struct phys *p, struct zone *zone, uint32_t frame, unsigned order);

/// Searches the zones from `highest_zone` down. True if a pageblock changed to `type`.
bool highatomic_unreserve(struct phys *p, enum phys_zone highest_zone, int type, bool force);
