#include "cli/vm_counters.h"

#include "phys/percpu.h"
#include "vm/slow_path.h"

static void fold(struct vm_system *system) {
    percpu_fold(system->phys, 0);
    lru_fold(&system->lru, 0);
}

const char *vm_counters_event(struct vm_system *system, const struct line *line, bool *idles) {
    const bool each = line->count == 2 && field_is(line, 0, "idle") && field_is(line, 1, "kswapd");
    if (line->count != 1 && !each) return "idle is followed by nothing, or by kswapd; flush-counters by nothing";
    if (each) *idles = true;
    else if (field_is(line, 0, "idle")) fold(system);
    else lru_flush(&system->lru);
    return NULL;
}

uint32_t vm_counters_background(struct vm_system *system, bool idles) {
    struct reclaim *reclaim = &system->reclaim;
    if (!system->phys->help.wake) return 0;
    uint32_t all = vm_background(system, 0), passes = all;
    while (idles && passes > 0) {
        const enum phys_zone highest = (enum phys_zone)reclaim->kswapd_zone;
        fold(system);
        if (kswapd_may_sleep(reclaim, highest)) break;
        kswapd_wake(reclaim, 0, highest);
        passes = vm_background(system, 0);
        all += passes;
    }
    return all;
}
