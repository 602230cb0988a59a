// event.h - every decision of the allocator, for the sink of the memory (base/events.h), in the order of the decisions.
//
// Fields that a kind does not list are 0. The outcome of a request comes after everything that led to it. A claim by a block below
// order 9 comes after the take that it made possible; a claim of a block of order 9 or 10 has no take of its own. A steal comes before
// its take. The halves that a split leaves on free lists have no put.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum phys_event_kind {
    PHYS_ALLOC,          // a request got `frame` of `zone`: order, type
    PHYS_REFUSED,        // a request got nothing: order, type, other = enum phys_outcome
    PHYS_FREE,           // a block comes back: frame, order, type of its pageblock, zone
    PHYS_REFILL,         // per-CPU list of order, type: asked for `count` blocks, got `other`
    PHYS_TAKE,           // from a free list: frame, block's order = other, request's order, type of the list
    PHYS_PUT,            // onto a free list after merges: frame, order, type, other = order before, tail
    PHYS_CLAIM,          // fallback, type of pageblocks changes: frame, order asked, other = order found, type asked, other_type
    PHYS_STEAL,          // fallback, type of the pageblock stays: the same fields
    PHYS_BOOST,          // a fallback raised watermarks, or kswapd's pass ended: count = boost in frames, now
    PHYS_DRAIN,          // per-CPU lists give back: count = frames asked for, other = frames given
    PHYS_BELOW_HIGH,     // the zone went below (other = 1) or back above (other = 0) its high watermark
    PHYS_RESERVE,        // the pageblock of `frame` became a reserve (type HighAtomic), other_type before
    PHYS_UNRESERVE,      // and back: type, other_type = HighAtomic
    PHYS_WAKE,           // kswapd is to be woken: order, count = highest zone
    PHYS_EVENT_KINDS
};

struct phys_event {
    uint8_t kind, zone, cpu, order, type, other_type, tail;
    uint32_t frame, count, other;
};

/// Name of a kind in lower case, for example "refill".
const char *phys_event_name(int kind);

enum { PHYS_EVENT_TEXT_BYTES = 160 };

/// Writes the event as one line without end of line: its name, then `field=value` for the fields of its kind. Returns its length.
size_t phys_event_text(const struct phys_event *event, char text[PHYS_EVENT_TEXT_BYTES]);

/// For struct events: prints the event as an indented line; the context is a FILE *.
void phys_event_print(void *stream, const struct phys_event *event);
