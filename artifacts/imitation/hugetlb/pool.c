#include "hugetlb/pool.h"

#include <stdlib.h>

#include "base/host.h"
#include "phys/range.h"

void hugetlb_create(struct hugetlb *hugetlb, struct phys *phys) { *hugetlb = (struct hugetlb){.phys = phys}; }

static uint32_t allocate(struct hugetlb *hugetlb, enum hugetlb_size size, uint32_t cpu) {
    if (size == HUGETLB_1GB) return phys_take_range(hugetlb->phys, hugetlb_order(size), cpu).frame;
    struct phys_request request = phys_request_default(hugetlb_order(size), PHYS_MOVABLE);
    request.cpu = (uint8_t)cpu;
    return phys_obtain(hugetlb->phys, &request).frame;
}

static void release(struct hugetlb *hugetlb, enum hugetlb_size size, uint32_t frame, uint32_t cpu) {
    const unsigned order = size == HUGETLB_2MB ? hugetlb_order(size) : PHYS_MAX_ORDER;
    const uint32_t end = frame + (UINT32_C(1) << hugetlb_order(size));
    for (struct error error; frame < end; frame += UINT32_C(1) << order)
        if (!phys_free(hugetlb->phys, frame, order, cpu, &error)) error_stop(&error);
}

static void push(struct hugetlb_pool *pool, uint32_t frame) {
    pool->free = host_grow(pool->free, &pool->room, pool->count + 1, sizeof *pool->free);
    pool->free[pool->count++] = frame;
}

/// New pages, so that the first one lies on top, above the pages that were free before.
static void grow(struct hugetlb *hugetlb, enum hugetlb_size size, uint64_t wanted, uint32_t cpu) {
    struct hugetlb_pool *pool = &hugetlb->pool[size];
    const size_t before = pool->count;
    for (; pool->total - pool->surplus < wanted; ++pool->total) {
        const uint32_t frame = allocate(hugetlb, size, cpu);
        if (frame == PHYS_NO_FRAME) break;
        push(pool, frame);
    }
    for (size_t low = before, high = pool->count; low + 1 < high; ++low) {
        const uint32_t frame = pool->free[low];
        pool->free[low] = pool->free[--high];
        pool->free[high] = frame;
    }
}

static void shrink(struct hugetlb *hugetlb, enum hugetlb_size size, uint64_t wanted, uint32_t cpu) {
    struct hugetlb_pool *pool = &hugetlb->pool[size];
    const uint64_t needed = pool->reserved + pool->total - pool->count, least = wanted > needed ? wanted : needed;
    const size_t top = pool->count;
    for (; pool->count > 0 && pool->total - pool->surplus > least; --pool->total) --pool->count;
    for (size_t i = top; i > pool->count; --i) release(hugetlb, size, pool->free[i - 1], cpu);
    while (pool->total - pool->surplus > wanted && pool->surplus < pool->total) ++pool->surplus;
}

uint64_t hugetlb_resize(struct hugetlb *hugetlb, enum hugetlb_size size, uint64_t wanted, uint32_t cpu) {
    struct hugetlb_pool *pool = &hugetlb->pool[size];
    while (pool->surplus > 0 && wanted > pool->total - pool->surplus) --pool->surplus;
    grow(hugetlb, size, wanted, cpu);
    shrink(hugetlb, size, wanted, cpu);
    return pool->total - pool->surplus;
}

bool hugetlb_reserve(struct hugetlb_pool *pool, uint64_t pages) {
    if (pages > pool->count - pool->reserved) return false;
    pool->reserved += pages;
    return true;
}

void hugetlb_unreserve(struct hugetlb_pool *pool, uint64_t pages) { pool->reserved -= pages; }

uint32_t hugetlb_take(struct hugetlb_pool *pool, bool reserved) {
    if (pool->count == 0 || (!reserved && pool->count <= pool->reserved)) return PHYS_NO_FRAME;
    pool->reserved -= reserved;
    return pool->free[--pool->count];
}

void hugetlb_give(struct hugetlb *hugetlb, enum hugetlb_size size, uint32_t frame, bool restore, uint32_t cpu) {
    struct hugetlb_pool *pool = &hugetlb->pool[size];
    if (pool->surplus > 0) {
        --pool->surplus;
        --pool->total;
        release(hugetlb, size, frame, cpu);
        return;
    }
    pool->reserved += restore;
    push(pool, frame);
}

void hugetlb_destroy(struct hugetlb *hugetlb, uint32_t cpu) {
    for (int size = 0; size < HUGETLB_SIZES; ++size) {
        struct hugetlb_pool *pool = &hugetlb->pool[size];
        while (pool->count > 0) release(hugetlb, (enum hugetlb_size)size, pool->free[--pool->count], cpu);
        free(pool->free);
    }
    *hugetlb = (struct hugetlb){0};
}
