#include "vm/compaction.h"

#include "phys/watermarks.h"

struct vm_compaction vm_compaction_start(const struct phys_request *request) {
    (void)request;
    return (struct vm_compaction){.first = true, .priority = COMPACT_LIGHT, .result = COMPACT_SKIPPED};
}

uint32_t vm_compact(struct vm_system *system, const struct phys_request *request, struct vm_compaction *work) {
    struct compact *compact = &system->compact;
    const enum compact_priority priority = work->first ? COMPACT_ASYNC : work->priority;
    const unsigned rights = PHYS_MARK_MIN | (request->may_use_reserve ? PHYS_MIN_RESERVE : 0u);
    uint32_t frame;
    if (request->order == 0) return PHYS_NO_FRAME;
    work->first = false;
    work->result = compact_direct(compact, request->order, request->type, priority, (enum phys_zone)request->highest_zone, rights,
                                  request->cpu, &frame);
    if (work->result == COMPACT_SKIPPED) return PHYS_NO_FRAME;
    ++compact->counts.stall;
    if (frame == PHYS_NO_FRAME) frame = phys_alloc_attempt(system->phys, request);
    if (frame == PHYS_NO_FRAME) {
        ++compact->counts.fail;
        return PHYS_NO_FRAME;
    }
    compact->zone[frame_zone(frame)].flush = false;
    compact_defer_reset(compact, frame_zone(frame), request->order, true);
    ++compact->counts.success;
    return frame;
}

bool vm_compaction_hopeless(const struct phys_request *request, struct vm_compaction *work) {
    work->first = false;
    if (!request->no_retry || request->order <= PHYS_COSTLY_ORDER) return false;
    work->priority = COMPACT_ASYNC;
    return work->result == COMPACT_SKIPPED || work->result == COMPACT_DEFERRED;
}

/// compaction_zonelist_suitable: with a share of what can be reclaimed, compaction could start.
static bool could_start(const struct vm_system *system, const struct phys_request *request) {
    const struct phys *p = system->phys;
    for (int i = request->highest_zone; i >= 0; --i) {
        const struct zone *zone = &p->zones[i];
        if (zone->managed_frames == 0) continue;
        const uint64_t possible = reclaim_possible(&system->reclaim, (enum phys_zone)i) / request->order;
        const int64_t free = phys_zone_free(p, (enum phys_zone)i) + (int64_t)possible;
        if (compact_marks(p, zone, request->order, (enum phys_zone)request->highest_zone, free)) return true;
    }
    return false;
}

bool vm_compaction_again(struct vm_system *system, const struct phys_request *request, struct vm_compaction *work) {
    const bool costly = request->order > PHYS_COSTLY_ORDER;
    if (request->order == 0) return false;
    if (work->result == COMPACT_SKIPPED) return could_start(system, request);
    if (work->result == COMPACT_SUCCESS && ++work->retries <= (costly ? 4u : 16u)) return true;
    if (work->priority <= (costly ? COMPACT_LIGHT : COMPACT_FULL)) return false;
    work->priority = (enum compact_priority)(work->priority - 1);
    work->retries = 0;
    return true;
}
