#include "phys/phys.h"

#include <stdlib.h>

#include "phys/buddy.h"
#include "phys/watermarks.h"

enum { FREE_LISTS = PHYS_ORDERS * PHYS_TYPES };

struct phys_config phys_config_default(void) {
    return (struct phys_config){
        .cpus = 1, .thp = PHYS_THP_DEFAULT, .user_min_free_kbytes = -1, .watermark_scale_factor = 10, .watermark_boost_factor = 15000};
}

static uint32_t overlap(struct frame_range range, uint32_t first, uint32_t end) {
    const uint32_t low = range.first > first ? range.first : first, high = range.end < end ? range.end : end;
    return high > low ? high - low : 0;
}

/// The zone's span begins at its border or at the first frame of memory, and ends at its border or the end of memory
/// (mm/mm_init.c: zone_spanned_pages_in_node).
static void place_zone(struct zone *zone, enum phys_zone id, const struct memory_map *map) {
    static const uint32_t borders[PHYS_ZONES + 1] = {0, PHYS_DMA_END_FRAME, PHYS_DMA32_END_FRAME, PHYS_MOST_FRAMES};
    const uint32_t memory_first = map->ram[0].first, memory_end = map->ram[map->ram_count - 1].end;
    const uint32_t first = borders[id] > memory_first ? borders[id] : memory_first;
    const uint32_t end = borders[id + 1] < memory_end ? borders[id + 1] : memory_end;
    *zone = (struct zone){.id = (uint8_t)id};
    for (uint32_t i = 0; i < map->ram_count; ++i) zone->present_frames += overlap(map->ram[i], borders[id], borders[id + 1]);
    zone->managed_frames = zone->present_frames;
    for (uint32_t i = 0; i < map->reserved_count; ++i) zone->managed_frames -= overlap(map->reserved[i], borders[id], borders[id + 1]);
    zone->populated = zone->present_frames > 0;
    if (first < end) {
        zone->start_frame = first;
        zone->spanned_frames = end - first;
    }
}

static void place_lists(struct phys *p) {
    uint32_t list = p->frames.count;
    for (int i = 0; i < PHYS_ZONES; ++i) {
        struct zone *zone = &p->zones[i];
        zone->percpu = p->percpu + (uint32_t)i * p->cpus;
        zone->first_list = list;
        list += FREE_LISTS;
        for (uint32_t cpu = 0; cpu < p->cpus; ++cpu, list += PHYS_PERCPU_LISTS) zone->percpu[cpu].first_list = list;
    }
    p->first_spare_list = list;
}

bool phys_create_empty(struct phys *p, const struct memory_map *map, uint32_t cpus, struct error *error) {
    *p = (struct phys){.cpus = cpus};
    if (cpus < 1 || cpus > PHYS_MAX_CPUS) {
        error_asked(error, "memory for %u CPUs", cpus);
        error_found(error, "a machine has 1 to %d CPUs", PHYS_MAX_CPUS);
        return error_remedy(error, "change the number of CPUs");
    }
    const uint32_t end = map->ram_count > 0 ? map->ram[map->ram_count - 1].end : 0;
    const uint32_t block = UINT32_C(1) << PHYS_MAX_ORDER, count = (end + block - 1) / block * block;
    p->percpu = calloc((size_t)PHYS_ZONES * cpus, sizeof *p->percpu);
    if (end == 0 || end > PHYS_MOST_FRAMES || !p->percpu ||
        !frames_create(&p->frames, count, PHYS_ZONES * (FREE_LISTS + cpus * PHYS_PERCPU_LISTS) + PHYS_SPARE_LISTS)) {
        phys_destroy(p);
        error_asked(error, "tables for memory up to frame %u", end);
        error_found(error, "%s", end == 0 ? "the map has no RAM" : end > PHYS_MOST_FRAMES ? "the limit is 1TB" : "out of memory");
        return error_remedy(error, "pass a map with RAM below 1TB, or free 10 bytes of this machine's memory for each frame");
    }
    for (int i = 0; i < PHYS_ZONES; ++i) place_zone(&p->zones[i], (enum phys_zone)i, map);
    place_lists(p);
    for (uint32_t i = 0; i < map->ram_count; ++i) {
        bitmap_set(p->frames.present, map->ram[i].first, map->ram[i].end - map->ram[i].first);
        bitmap_set(p->frames.managed, map->ram[i].first, map->ram[i].end - map->ram[i].first);
    }
    for (uint32_t i = 0; i < map->reserved_count; ++i) {
        bitmap_set(p->frames.reserved, map->reserved[i].first, map->reserved[i].end - map->reserved[i].first);
        bitmap_clear(p->frames.managed, map->reserved[i].first, map->reserved[i].end - map->reserved[i].first);
    }
    return true;
}

/// Frees [first, end) in the largest aligned blocks, each to the tail of its list (mm/memblock.c: __free_pages_memory).
static void free_range(struct phys *p, uint32_t first, uint32_t end) {
    while (first < end) {
        unsigned order = first == 0 ? PHYS_MAX_ORDER : (unsigned)__builtin_ctz(first);
        if (order > PHYS_MAX_ORDER) order = PHYS_MAX_ORDER;
        while ((uint64_t)first + (UINT64_C(1) << order) > end) --order;
        buddy_free_block(p, first, order, true);
        first += UINT32_C(1) << order;
    }
}

/// Only a pageblock that starts with a frame of RAM becomes movable (mm/mm_init.c: memmap_init_range). The others keep the type 0 of
/// zeroed bits, for example the pageblock of frame 0 of a PC.
static void set_block_types(struct phys *p) {
    for (uint32_t frame = 0; frame < p->frames.count; frame += PHYS_PAGEBLOCK_FRAMES)
        if (!bitmap_get(p->frames.present, frame)) frame_set_block_types(&p->frames, frame, PHYS_PAGEBLOCK_ORDER, PHYS_UNMOVABLE);
}

bool phys_create(struct phys *p, const struct memory_map *map, const struct phys_config *config, struct error *error) {
    if (!phys_create_empty(p, map, config->cpus, error)) return false;
    p->watermark_boost_factor = config->watermark_boost_factor;
    set_block_types(p);
    for (uint32_t first = 0; first < p->frames.count;) {
        const uint32_t end = (uint32_t)bitmap_run_end(p->frames.managed, first, p->frames.count);
        if (bitmap_get(p->frames.managed, first)) free_range(p, first, end);
        first = end;
    }
    watermarks_setup(p, config);
    return true;
}

void phys_destroy(struct phys *p) {
    frames_destroy(&p->frames);
    free(p->percpu);
    *p = (struct phys){0};
}

int64_t phys_zone_free(const struct phys *p, enum phys_zone zone) {
    int64_t sum = p->zones[zone].free_frames;
    for (uint32_t cpu = 0; cpu < p->cpus; ++cpu) sum += p->zones[zone].percpu[cpu].free_drift;
    return sum;
}
