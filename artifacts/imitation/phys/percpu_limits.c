#include "phys/percpu_limits.h"

static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

static int32_t between(int32_t value, int32_t low, int32_t high) { return value >= high ? high : value <= low ? low : value; }

/// Position of the highest bit, from 1; 0 for 0.
static int32_t bit_length(uint32_t value) { return value == 0 ? 0 : 32 - __builtin_clz(value); }

int32_t percpu_batch(uint32_t managed_frames) {
    const int32_t quarter = larger(smaller((int32_t)(managed_frames / 1024), 256) / 4, 1);
    return larger((1 << (bit_length((uint32_t)(quarter + quarter / 2)) - 1)) - 1, 1);
}

int32_t percpu_drift_threshold(uint32_t cpus, uint32_t managed_frames) {
    const uint32_t units_of_128mb = managed_frames >> 15;
    return smaller(125, 2 * bit_length(cpus) * (1 + bit_length(units_of_128mb)));
}

void percpu_set_limits(struct phys *p, struct zone *zone, uint64_t cache_slice_bytes) {
    const int32_t batch = percpu_batch(zone->managed_frames);
    for (uint32_t cpu = 0; cpu < p->cpus; ++cpu) {
        struct percpu *percpu = &zone->percpu[cpu];
        percpu->batch = batch;
        percpu->high_min = larger((int32_t)(zone_mark(zone, PHYS_MARK_LOW) / p->cpus), 4 * batch);
        percpu->high_max = larger((int32_t)(zone->managed_frames / 8 / p->cpus), 4 * batch);
        percpu->keeps_batch = cache_slice_bytes / PHYS_FRAME_BYTES > 3 * (uint64_t)batch;
        percpu->drift_threshold = percpu_drift_threshold(p->cpus, zone->managed_frames);
    }
}

int32_t percpu_refill_blocks(struct percpu *percpu, const struct zone *zone, unsigned order) {
    percpu->high = between(percpu->high, percpu->high_min, percpu->high_max);
    if (percpu->high < percpu->batch) return 1;
    int32_t blocks = order == 0 ? percpu->batch << percpu->alloc_factor : percpu->batch;
    if (percpu->high_min != percpu->high_max && !zone->below_high) percpu->high = smaller(percpu->high + blocks, percpu->high_max);
    if (order == 0) {
        const int32_t room = larger(percpu->high - percpu->count - percpu->batch, percpu->batch);
        if (blocks <= room && percpu->alloc_factor < PHYS_BATCH_SCALE_MAX) ++percpu->alloc_factor;
        blocks = smaller(blocks, room);
    }
    return blocks > 1 ? larger(blocks >> order, 2) : blocks;
}

int32_t percpu_high(struct percpu *percpu, const struct zone *zone, bool many) {
    const int32_t low = percpu->high_min, top = percpu->high_max;
    const int32_t high = percpu->high = between(percpu->high, low, top);
    if (high == 0) return 0;
    if (many) {
        percpu->high = larger(high - (percpu->batch << PHYS_BATCH_SCALE_MAX), low);
        return 0;
    }
    const int32_t freed = larger(percpu->free_count, percpu->batch);
    if (zone->reclaim_active) {
        percpu->high = larger(high - freed, low);
        return smaller(percpu->batch * 4, percpu->high);
    }
    if (low == top) return high;
    if (zone->below_high) {
        percpu->high = larger(high - freed, low);
        return larger(percpu->count, low);
    }
    const int32_t needed = percpu->free_count + percpu->batch;
    if (percpu->count >= high && high < needed) percpu->high = between(needed, low, top);
    return high;
}

int32_t percpu_return_frames(const struct percpu *percpu, int32_t high, bool many) {
    if (many) return smaller(percpu->count, percpu->batch << PHYS_BATCH_SCALE_MAX);
    if (high < percpu->batch) return 1;
    return between(percpu->free_count, percpu->batch, high - percpu->batch);
}
