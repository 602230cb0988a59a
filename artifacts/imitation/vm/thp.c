#include "vm/thp.h"

#include "pt/entry.h"

struct thp thp_default(void) {
    return (struct thp){.enabled = THP_ALWAYS,
                        .defrag = THP_DEFRAG_MADVISE,
                        .use_zero_page = true,
                        .khugepaged_defrag = true,
                        .max_ptes_none = PT_SLOTS - 1,
                        .max_ptes_swap = PT_SLOTS / 8,
                        .max_ptes_shared = PT_SLOTS / 2,
                        .pages_to_scan = 8 * PT_SLOTS};
}

struct thp thp_boot(uint64_t managed_frames) {
    struct thp thp = thp_default();
    if (managed_frames >= PHYS_THP_BOOT_FRAMES) return thp;
    thp.enabled = THP_NEVER;
    thp.defrag = THP_DEFRAG_NEVER;
    thp.use_zero_page = thp.khugepaged_defrag = false;
    return thp;
}

bool thp_fault_allowed(const struct thp *thp, const struct area *area) {
    if (area->file != 0 || area->flags & (AREA_NOHUGEPAGE | AREA_HUGETLB)) return false;
    return thp->enabled == THP_ALWAYS || (thp->enabled == THP_MADVISE && area->flags & AREA_HUGEPAGE);
}

bool thp_holds(const struct area *area, uint64_t page) {
    const uint64_t huge = pt_slot_pages(1), start = page & ~(huge - 1);
    return start >= area->start && start + huge <= area->end;
}

bool thp_scan_allowed(const struct thp *thp, const struct area *area) {
    const uint64_t huge = pt_slot_pages(1);
    return thp_fault_allowed(thp, area) && area->anon != 0 && area->end >= huge && thp_holds(area, area->end - huge);
}

/// GFP_TRANSHUGE_LIGHT: movable, no reclaim, no wake-up of kswapd, no reserves.
static struct phys_request light(uint32_t cpu) {
    struct phys_request request = phys_request_default(PHYS_THP_ORDER, PHYS_MOVABLE);
    request.cpu = (uint8_t)cpu;
    request.may_reclaim = request.may_wake_kswapd = false;
    request.no_reserves = true;
    return request;
}

struct phys_request thp_fault_request(const struct thp *thp, const struct area *area, uint32_t cpu) {
    const bool advised = area->flags & AREA_HUGEPAGE;
    struct phys_request request = light(cpu);
    request.no_retry = thp->defrag == THP_DEFRAG_ALWAYS && !advised;
    switch (thp->defrag) {
        case THP_DEFRAG_ALWAYS: request.may_reclaim = true; break;
        case THP_DEFRAG_DEFER: request.may_wake_kswapd = true; break;
        case THP_DEFRAG_DEFER_MADVISE:
            request.may_reclaim = advised;
            request.may_wake_kswapd = !advised;
            break;
        case THP_DEFRAG_MADVISE: request.may_reclaim = advised; break;
        default: break;
    }
    return request;
}

struct phys_request thp_zero_request(uint32_t cpu) {
    struct phys_request request = light(cpu);
    request.type = PHYS_UNMOVABLE;
    request.may_reclaim = true;
    return request;
}

struct phys_request thp_collapse_request(const struct thp *thp, uint32_t cpu) {
    struct phys_request request = light(cpu);
    request.may_reclaim = thp->khugepaged_defrag;
    return request;
}
