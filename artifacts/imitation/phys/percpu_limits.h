// percpu_limits.h - how many blocks move at a time, and how many frames a CPU may keep.
//
// Linux, mm/page_alloc.c:
// - zone_batchsize: managed / 1024, at most 256 (1MB), divided by 4, at least 1; half more, rounded down to a power of two, minus 1.
// - zone_highsize: high_min = low watermark / CPUs, high_max = managed / 8 / CPUs, both at least 4 batches.
// - nr_pcp_alloc: the size of a refill. Order 0: batch << alloc_factor, which doubles with every refill until PHYS_BATCH_SCALE_MAX,
//   limited by the room below `high`. Above order 0: batch >> order, at least 2. Each refill raises `high` by its batch.
// - nr_pcp_free, nr_pcp_high: the size of a return, and the count at which it happens.
// - zone_pcp_update_cacheinfo: keeps_batch if the CPU's share of the data caches holds more than three batches.
// - mm/vmstat.c calculate_normal_threshold: 2 fls(CPUs) (1 + fls(managed in 128MB)), at most 125.
#pragma once

#include "phys/phys.h"

/// Batch for a zone with `managed_frames`, in blocks of order 0; at least 1.
int32_t percpu_batch(uint32_t managed_frames);

/// The most frames of drift that one CPU keeps to itself.
int32_t percpu_drift_threshold(uint32_t cpus, uint32_t managed_frames);

/// Sets batch, high_min, high_max, keeps_batch and the threshold of all CPUs from the zone's size and low mark.
void percpu_set_limits(struct phys *p, struct zone *zone, uint64_t cache_slice_bytes);

/// Blocks to ask for when a list of the order is empty. Changes high and alloc_factor.
int32_t percpu_refill_blocks(struct percpu *percpu, const struct zone *zone, unsigned order);

/// The count of frames at which this free returns some. Changes high. `many`: orders 1 to 3 are freed in a row.
int32_t percpu_high(struct percpu *percpu, const struct zone *zone, bool many);

/// Frames to return once the count has reached `high`.
int32_t percpu_return_frames(const struct percpu *percpu, int32_t high, bool many);
