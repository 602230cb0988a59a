// fragmenter.h - fragments a zone by pinning real frames, so that an index of indices.h gets a chosen value.
//
// Method. All per-CPU lists are drained, and every free frame of the zone is taken. Frames outside complete chunks (aligned runs of
// 2^order taken frames) are freed again. Each chunk gets a pattern of pinned frames, and its other frames are freed:
// - unusable index: a chunk is whole, or broken by one pinned frame.
// - extfrag index: level 0 to order - 1 pins one aligned block of 2^(order - 1 - level) frames, at a random place. Level order - 1 + i
//   pins one frame in each of 2^i parts. A higher level leaves more and smaller blocks. All chunks have one of two adjacent levels.
//   Below what level 0 gives (about 500), few chunks have level 0 and all others stay pinned: the index is low only if memory is short.
// So the highest index takes half of the free frames, and 1000 - 1000 / order (889 for order 9) takes one frame of each chunk.
// A share of the pinned frames is on LRU lists, so that compaction could move them. A pageblock changes its type only if it
// merges with a neighbour while it is freed. The same seed and memory give the same result.
#pragma once

#include "phys/phys.h"

enum fragmenter_index { FRAGMENTER_EXTFRAG, FRAGMENTER_UNUSABLE };

struct fragmenter_goal {
    enum phys_zone zone;
    enum fragmenter_index index;
    unsigned order;             // of the index, 1 to 10
    int target;                 // thousandths, 0 to 1000
    int tolerance;              // thousandths: the result may differ by this much
    int movable_share;          // thousandths of the pinned frames, 0 to 1000
    uint64_t seed;
};

struct fragmenter_pins {
    uint32_t *frames;           // blocks of order 0 in use, ascending; owned
    uint32_t count;
    int reached;                // the index afterwards, thousandths
};

/// False if the goal is impossible. If the index cannot come within the tolerance, the error states the target and the nearest value,
/// and nothing is pinned; free lists have another order then. The pinned frames are the caller's: fragmenter_release frees them.
bool fragmenter_run(struct phys *p, const struct fragmenter_goal *goal, struct fragmenter_pins *pins, struct error *error);

/// Frees all pinned frames (none of them may have been freed meanwhile) and the list.
void fragmenter_release(struct phys *p, struct fragmenter_pins *pins);
