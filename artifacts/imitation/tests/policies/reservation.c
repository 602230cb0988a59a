// reservation.c - an example of a policy with a state: reservations of 2MB. The first fault in 2MB of an area takes a block for all of them, and each
// page that is mapped there later gets its frame of the block. So neighbours in virtual memory are neighbours in physical memory.
// A reservation ends when a part of its 2MB is unmapped, or when memory is short, the oldest first: frames that no page got go back.
//
// J. Navarro et al., Practical, Transparent Operating System Support for Superpages, OSDI 2002, sections 4.1 and 4.3. Left out: promotion to a
// page of 2MB, reservations of other sizes.
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"
#include "base/host.h"
#include "vm/policy.h"

struct reservation {
    uint32_t process, frame;  // by number; of the block
    uint64_t page;  // the first one
    uint64_t placed[PT_SLOTS / 64];  // frames that a page got
};

struct reservations {
    struct reservation *item;  // oldest first
    size_t count, room;
};

static void start(struct vm_system *system) { system->policy_state = host_alloc(sizeof(struct reservations)); }

static void end(struct vm_system *system) {
    struct reservations *all = system->policy_state;
    free(all->item);
    free(all);
}

static struct reservation *find(const struct reservations *all, uint32_t process, uint64_t page) {
    for (size_t i = 0; i < all->count; ++i)
        if (all->item[i].process == process && page - all->item[i].page < PT_SLOTS) return &all->item[i];
    return NULL;
}

/// Returns how many frames went back.
static uint32_t finish(struct vm_system *system, size_t index, uint32_t cpu) {
    struct reservations *all = system->policy_state;
    const struct reservation gone = all->item[index];
    memmove(all->item + index, all->item + index + 1, (--all->count - index) * sizeof gone);
    for (uint32_t i = 0; i < PT_SLOTS; ++i)
        if (!bitmap_get(gone.placed, i)) vm_free(system, gone.frame + i, 0, cpu);
    return PT_SLOTS - (uint32_t)bitmap_count(gone.placed, 0, PT_SLOTS);
}

static void reserve(struct process *process, uint64_t page, uint32_t cpu) {
    struct vm_system *system = process->system;
    struct reservations *all = system->policy_state;
    struct error error;
    struct phys_request request = vm_request(process, page, PHYS_THP_ORDER, PHYS_MOVABLE, cpu);
    request.may_reclaim = false;
    const struct phys_result block = phys_alloc(system->phys, &request);
    if (block.outcome != PHYS_GOT_FRAMES) return;
    if (!phys_split_used(system->phys, block.frame, 0, &error)) error_stop(&error);
    all->item = host_grow(all->item, &all->room, all->count + 1, sizeof *all->item);
    all->item[all->count++] = (struct reservation){.process = process->number, .frame = block.frame, .page = page};
}

static bool on_fault(const struct missing *missing, struct fault *fault) {
    struct process *process = missing->process;
    const uint64_t first = missing->page & ~(uint64_t)(PT_SLOTS - 1);
    if (missing->level == 0) {
        if (missing->write) fault_page(missing, fault);
        else fault_zero_page(missing, fault);
        return true;
    }
    if (thp_holds(&process->areas.item[missing->area], missing->page) && !find(process->system->policy_state, process->number, first))
        reserve(process, first, missing->cpu);
    return false;
}

static struct phys_result placement(struct vm_system *system, const struct phys_request *request) {
    struct reservation *found = request->order == 0 ? find(system->policy_state, request->process, request->page) : NULL;
    const uint32_t slot = pt_index(request->page, 0);
    if (!found || bitmap_get(found->placed, slot)) return phys_obtain(system->phys, request);
    bitmap_set(found->placed, slot, 1);
    return (struct phys_result){PHYS_GOT_FRAMES, found->frame + slot};
}

static bool on_pressure(struct vm_system *system, const struct phys_request *request) {
    const struct reservations *all = system->policy_state;
    uint32_t freed = 0;
    while (freed == 0 && all->count > 0) freed = finish(system, 0, request->cpu);
    return freed > 0;
}

static void on_unmap(struct process *process, uint64_t page, uint64_t last, uint32_t cpu) {
    const struct reservations *all = process->system->policy_state;
    for (size_t i = all->count; i-- > 0;) {
        const struct reservation *one = &all->item[i];
        if (one->process == process->number && page < one->page + PT_SLOTS && one->page < last) finish(process->system, i, cpu);
    }
}

const struct vm_policy reservation = {
    .start = start, .end = end, .on_fault = on_fault, .placement = placement, .on_pressure = on_pressure, .on_unmap = on_unmap};
