#include "vm/slow_path.h"

#include "phys/highatomic.h"
#include "phys/percpu.h"
#include "phys/watermarks.h"
#include "vm/compaction.h"
#include "vm/policy.h"

static struct phys_result got(uint32_t frame) {
    return (struct phys_result){frame != PHYS_NO_FRAME ? PHYS_GOT_FRAMES : PHYS_NO_MEMORY, frame};
}

/// __alloc_pages_direct_reclaim. *progress: pages.
static uint32_t after_reclaim(struct vm_system *system, const struct phys_request *request, uint64_t *progress) {
    struct phys *p = system->phys;
    *progress = reclaim_direct(&system->reclaim, request->order, (enum phys_zone)request->highest_zone, request->cpu);
    if (*progress == 0) return PHYS_NO_FRAME;
    uint32_t frame = phys_alloc_attempt(p, request);
    if (frame != PHYS_NO_FRAME) return frame;
    highatomic_unreserve(p, (enum phys_zone)request->highest_zone, request->type, false);
    percpu_drain_all(p, request->cpu);
    return phys_alloc_attempt(p, request);
}

/// should_reclaim_retry.
static bool reclaim_again(struct vm_system *system, const struct phys_request *request, bool progress, uint32_t *fruitless) {
    struct phys *p = system->phys;
    const enum phys_zone highest = (enum phys_zone)request->highest_zone;
    *fruitless = progress && request->order <= PHYS_COSTLY_ORDER ? 0 : *fruitless + 1;
    for (int i = (int)highest; *fruitless <= RECLAIM_RETRIES && i >= 0; --i) {
        struct zone wish = p->zones[i];
        if (wish.managed_frames == 0) continue;
        wish.free_frames = phys_zone_free(p, (enum phys_zone)i) + (int64_t)reclaim_possible(&system->reclaim, (enum phys_zone)i);
        if (watermark_ok(p, &wish, request->order, zone_mark(&wish, PHYS_MARK_MIN), highest,
                         request->may_use_reserve ? PHYS_MIN_RESERVE : 0))
            return true;
    }
    return highatomic_unreserve(p, highest, request->type, true);
}

static struct phys_result go_on(void *context, const struct phys_request *request, const struct phys_result *refused) {
    struct vm_system *system = context;
    struct phys_result result = *refused;
    uint32_t fruitless = 0;
    if (system->policy->on_pressure && system->policy->on_pressure(system, request)) {
        const uint32_t frame = phys_alloc_attempt(system->phys, request);
        if (frame != PHYS_NO_FRAME) return got(frame);
    }
    struct vm_compaction work = vm_compaction_start(request);
    work.first = result.outcome == PHYS_NEEDS_COMPACTION;        // movable requests of orders 1 to 3 have no attempt before reclaim
    if (result.outcome == PHYS_NEEDS_COMPACTION) {
        const uint32_t frame = vm_compact(system, request, &work);
        if (frame != PHYS_NO_FRAME) return got(frame);
        if (vm_compaction_hopeless(request, &work)) return got(PHYS_NO_FRAME);
        result = phys_alloc_again(system->phys, request);
    }
    while (result.outcome == PHYS_NEEDS_RECLAIM) {
        uint64_t progress;
        uint32_t frame = after_reclaim(system, request, &progress);
        if (frame == PHYS_NO_FRAME) frame = vm_compact(system, request, &work);
        if (frame != PHYS_NO_FRAME) return got(frame);
        if (request->no_retry || request->order > PHYS_COSTLY_ORDER) return got(PHYS_NO_FRAME);
        if (!reclaim_again(system, request, progress > 0, &fruitless) && !(progress > 0 && vm_compaction_again(system, request, &work)))
            return got(PHYS_NO_FRAME);
        result = phys_alloc_again(system->phys, request);
    }
    return result;
}

static void wake(void *context, unsigned order, unsigned highest_zone) {
    struct vm_system *system = context;
    kswapd_wake(&system->reclaim, order, (enum phys_zone)highest_zone);
}

void slow_path_start(struct vm_system *system) { system->phys->help = (struct phys_help){wake, go_on, system}; }

/// kswapd, and kcompactd if it wakes it: after a boost, and for an order that kswapd gave up for order 0.
uint32_t vm_background(struct vm_system *system, uint32_t cpu) {
    struct reclaim *reclaim = &system->reclaim;
    uint32_t passes = 0;
    bool sleeps = !kswapd_needed(reclaim);
    while (!sleeps) {
        const unsigned order = reclaim->kswapd_order;
        const enum phys_zone highest = (enum phys_zone)reclaim->kswapd_zone;
        const bool boosted = kswapd_boosted(reclaim, highest);
        kswapd_pass(reclaim, cpu);
        ++passes;
        sleeps = reclaim->kswapd_sleeps;
        unsigned wanted = boosted ? PHYS_PAGEBLOCK_ORDER : 0;
        if (sleeps) compact_reset_skip(&system->compact);
        if (sleeps && reclaim->kswapd_stopped < order && order > wanted) wanted = order;
        if (wanted > 0) compact_daemon(&system->compact, wanted, highest, cpu);
        if (!sleeps) kswapd_wake(reclaim, 0, highest);
    }
    return passes;
}
