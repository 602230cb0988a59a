#include "phys/watermarks.h"

#include "phys/freelist.h"
#include "phys/percpu_limits.h"

static uint64_t square_root(uint64_t value) {
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit > 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= value) root += bit;
    return root;
}

static uint64_t at_most(uint64_t value, uint64_t limit) { return value < limit ? value : limit; }

static uint64_t at_least(uint64_t value, uint64_t limit) { return value > limit ? value : limit; }

uint32_t watermark_min_free_kbytes(uint64_t lowmem_frames) {
    const uint64_t kbytes = lowmem_frames * (PHYS_FRAME_BYTES / 1024);
    return (uint32_t)at_least(128, at_most(262144, square_root(kbytes * 16)));
}

uint32_t watermark_thp_min_free_kbytes(unsigned populated_zones, uint64_t lowmem_frames) {
    const unsigned pageblocks = 2 + PHYS_REQUEST_TYPES * PHYS_REQUEST_TYPES;
    const uint64_t frames = (uint64_t)pageblocks * PHYS_PAGEBLOCK_FRAMES * populated_zones;
    return (uint32_t)(at_most(frames, lowmem_frames / 20) * (PHYS_FRAME_BYTES / 1024));
}

/// Managed frames above the high watermark, of all zones.
static uint64_t lowmem_frames(const struct phys *p) {
    uint64_t sum = 0;
    for (int i = 0; i < PHYS_ZONES; ++i) {
        const struct zone *zone = &p->zones[i];
        if (zone->managed_frames > zone_mark(zone, PHYS_MARK_HIGH)) sum += zone->managed_frames - zone_mark(zone, PHYS_MARK_HIGH);
    }
    return sum;
}

static void set_marks(struct phys *p, uint32_t scale_factor) {
    const uint64_t min_frames = p->min_free_kbytes / (PHYS_FRAME_BYTES / 1024);
    uint64_t all_managed = 0;
    for (int i = 0; i < PHYS_ZONES; ++i) all_managed += p->zones[i].managed_frames;
    for (int i = 0; i < PHYS_ZONES; ++i) {
        struct zone *zone = &p->zones[i];
        const uint64_t min = all_managed ? min_frames * zone->managed_frames / all_managed : 0;
        const uint64_t step = at_least(min / 4, (uint64_t)zone->managed_frames * scale_factor / 10000);
        zone->boost = 0;
        zone->marks[PHYS_MARK_MIN] = (uint32_t)min;
        zone->marks[PHYS_MARK_LOW] = (uint32_t)(min + step);
        zone->marks[PHYS_MARK_HIGH] = (uint32_t)(min + 2 * step);
    }
}

void watermark_set_drift_marks(struct phys *p) {
    uint64_t all_managed = 0;
    for (int i = 0; i < PHYS_ZONES; ++i) all_managed += p->zones[i].managed_frames;
    const uint64_t min_frames = watermark_min_free_kbytes(all_managed) / (PHYS_FRAME_BYTES / 1024);
    for (int i = 0; i < PHYS_ZONES; ++i) {
        struct zone *zone = &p->zones[i];
        const uint64_t min = all_managed ? min_frames * zone->managed_frames / all_managed : 0;
        const uint64_t step = at_least(min / 4, zone->managed_frames / 1000);       // the scale factor of a boot is 10
        const uint64_t drift = (uint64_t)p->cpus * (uint64_t)percpu_drift_threshold(p->cpus, zone->managed_frames);
        zone->drift_mark = 0;
        if (!zone->populated) continue;
        if (p->cpus > 1) zone->drift_mark = (uint32_t)drift;
        if (drift > step) zone->drift_mark = (uint32_t)(min + 2 * step + drift);
    }
}

void watermark_set_pressure(struct phys *p, bool pressure) {
    for (int i = 0; i < PHYS_ZONES; ++i) {
        struct zone *zone = &p->zones[i];
        if (zone->drift_mark == 0) continue;
        const uint64_t share = (zone->marks[PHYS_MARK_LOW] - zone->marks[PHYS_MARK_MIN]) / p->cpus;
        const int32_t limit = pressure ? (int32_t)at_least(1, at_most(125, share)) : percpu_drift_threshold(p->cpus, zone->managed_frames);
        for (uint32_t cpu = 0; cpu < p->cpus; ++cpu) zone->percpu[cpu].drift_threshold = limit;
    }
}

int64_t watermark_free_for_kswapd(const struct phys *p, const struct zone *zone) {
    return zone->free_frames < (int64_t)zone->drift_mark ? phys_zone_free(p, (enum phys_zone)zone->id) : zone->free_frames;
}

static void set_lowmem_reserves(struct phys *p) {
    static const uint32_t ratio[PHYS_ZONES] = {256, 256, 32};  // sysctl_lowmem_reserve_ratio; nothing is above Normal
    for (int i = 0; i < PHYS_ZONES; ++i) {
        uint32_t above = 0;
        for (int highest = i + 1; highest < PHYS_ZONES; ++highest) {
            above += p->zones[highest].managed_frames;
            p->zones[i].lowmem_reserve[highest] = p->zones[i].managed_frames ? above / ratio[i] : 0;
        }
    }
}

/// What hugepage_init does with min_free_kbytes: it sees memory above the marks of init_per_zone_wmark_min.
static void start_khugepaged(struct phys *p, const struct phys_config *config) {
    unsigned populated = 0;
    uint64_t managed = 0;
    for (int i = 0; i < PHYS_ZONES; ++i) {
        populated += p->zones[i].populated;
        managed += p->zones[i].managed_frames;
    }
    if (managed < PHYS_THP_BOOT_FRAMES && config->thp != PHYS_THP_ON) return;
    if (config->thp == PHYS_THP_OFF) {
        p->min_free_kbytes = watermark_min_free_kbytes(lowmem_frames(p));
    } else {
        const uint32_t recommended = watermark_thp_min_free_kbytes(populated, lowmem_frames(p));
        if (recommended > p->min_free_kbytes) p->min_free_kbytes = recommended;
    }
    set_marks(p, config->watermark_scale_factor);
}

void watermarks_setup(struct phys *p, const struct phys_config *config) {
    for (int i = 0; i < PHYS_ZONES; ++i) {
        p->zones[i].boost = 0;
        for (int mark = 0; mark < PHYS_MARKS; ++mark) p->zones[i].marks[mark] = 0;
    }
    // init_per_zone_wmark_min, before marks exist.
    p->min_free_kbytes = watermark_min_free_kbytes(lowmem_frames(p));
    set_marks(p, config->watermark_scale_factor);
    start_khugepaged(p, config);
    if (config->user_min_free_kbytes >= 0) {  // min_free_kbytes_sysctl_handler, after the boot
        p->min_free_kbytes = (uint32_t)config->user_min_free_kbytes;
        set_marks(p, config->watermark_scale_factor);
    }
    set_lowmem_reserves(p);
    watermark_set_drift_marks(p);
    for (int i = 0; i < PHYS_ZONES; ++i) percpu_set_limits(p, &p->zones[i], config->cache_slice_bytes);
}

/// Frames that a request can't have although they are free: the rest of its own block, and the reserve of others.
static int64_t unusable_frames(const struct zone *zone, unsigned order, unsigned rights) {
    const bool reserves = (rights & (PHYS_NON_BLOCK | PHYS_MIN_RESERVE | PHYS_USE_HIGHATOMIC)) != 0;
    return (INT64_C(1) << order) - 1 + (reserves ? 0 : zone->free_highatomic);
}

static bool has_block(const struct phys *p, const struct zone *zone, unsigned order, unsigned rights) {
    const int types = rights & PHYS_USE_HIGHATOMIC ? PHYS_TYPES : PHYS_REQUEST_TYPES;
    for (; order < PHYS_ORDERS; ++order)
        for (int type = 0; zone->blocks[order] > 0 && type < types; ++type)
            if (!free_list_empty(p, zone, order, type)) return true;
    return false;
}

bool watermark_ok(const struct phys *p, const struct zone *zone, unsigned order, int64_t mark, enum phys_zone highest_zone,
                  unsigned rights) {
    int64_t needed = mark;
    if (rights & PHYS_MIN_RESERVE) {
        needed -= needed / 2;
        if (rights & PHYS_NON_BLOCK) needed -= needed / 4;
    }
    const int64_t usable = zone->free_frames - unusable_frames(zone, order, rights);
    if (usable <= needed + zone->lowmem_reserve[highest_zone]) return false;
    return order == 0 || has_block(p, zone, order, rights);
}

bool watermark_allows(const struct phys *p, const struct zone *zone, unsigned order, enum phys_mark mark, enum phys_zone highest_zone,
                      unsigned rights) {
    if (watermark_ok(p, zone, order, zone_mark(zone, mark), highest_zone, rights)) return true;
    const bool ignores_boost = order == 0 && (rights & PHYS_MIN_RESERVE) && zone->boost > 0 && (rights & PHYS_MARK_MASK) == PHYS_MARK_MIN;
    return ignores_boost && watermark_ok(p, zone, order, zone->marks[PHYS_MARK_MIN], highest_zone, rights);
}

bool watermark_boost(struct phys *p, struct zone *zone) {
    if (p->watermark_boost_factor == 0 || zone->managed_frames < 4 * PHYS_PAGEBLOCK_FRAMES) return false;
    const uint64_t high = zone->marks[PHYS_MARK_HIGH];
    uint64_t most = high * p->watermark_boost_factor / 10000;
    if (most == 0) return false;
    most = at_least(most, PHYS_PAGEBLOCK_FRAMES);
    zone->boost = (uint32_t)at_most((uint64_t)zone->boost + PHYS_PAGEBLOCK_FRAMES, most);
    PHYS_REPORT(p, .kind = PHYS_BOOST, .zone = zone->id, .count = zone->boost);
    return true;
}

void watermark_kswapd_pass(struct phys *p, enum phys_zone highest_zone, uint32_t cpu) {
    p->cpu = cpu;
    for (int i = 0; i <= (int)highest_zone; ++i) {
        struct zone *zone = &p->zones[i];
        zone->reclaim_active = false;
        if (zone->boost == 0) continue;
        zone->boost = 0;
        PHYS_REPORT(p, .kind = PHYS_BOOST, .zone = zone->id, .count = 0);
    }
}
