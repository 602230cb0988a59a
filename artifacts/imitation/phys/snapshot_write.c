#include <inttypes.h>

#include "phys/freelist.h"
#include "phys/percpu.h"
#include "phys/snapshot.h"

enum { FRAMES_OF_A_LINE = 32 };

/// Runs of set bits, as `KEY FIRST COUNT`.
static void write_bits(const uint64_t *bits, uint32_t end, const char *key, FILE *out) {
    for (uint32_t first = 0; first < end;) {
        const uint32_t next = (uint32_t)bitmap_run_end(bits, first, end);
        if (bitmap_get(bits, first)) fprintf(out, "%s %u %u\n", key, first, next - first);
        first = next;
    }
}

static void write_pageblocks(const struct phys *p, FILE *out) {
    const uint32_t count = p->frames.count >> PHYS_PAGEBLOCK_ORDER;
    const uint8_t *types = p->frames.block_type;
    for (uint32_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && types[next] == types[first]; ++next) continue;
        if (types[first] != PHYS_MOVABLE) fprintf(out, "pageblocks %s %u %u\n", phys_type_name(types[first]), first, next - first);
    }
}

static void write_zone(const struct zone *zone, FILE *out) {
    static const char *const flags[] = {"-",       "below_high",         "boosted",         "below_high,boosted",
                                        "reclaim", "below_high,reclaim", "boosted,reclaim", "below_high,boosted,reclaim"};
    fprintf(out, "zone %s min %u low %u high %u boost %u reserve %u %u %u free %" PRId64 " reserved_highatomic %u flags %s\n",
            phys_zone_name(zone->id), zone->marks[PHYS_MARK_MIN], zone->marks[PHYS_MARK_LOW], zone->marks[PHYS_MARK_HIGH], zone->boost,
            zone->lowmem_reserve[PHYS_DMA], zone->lowmem_reserve[PHYS_DMA32], zone->lowmem_reserve[PHYS_NORMAL], zone->free_frames,
            zone->reserved_highatomic, flags[zone->below_high + 2 * zone->boosted + 4 * zone->reclaim_active]);
}

static void write_list(const struct phys *p, uint32_t list, const char *key, FILE *out) {
    int on_line = 0;
    for (uint32_t frame = list_first(p->frames.links, list); frame != list; frame = list_first(p->frames.links, frame)) {
        if (on_line == 0) fprintf(out, "%s", key);
        fprintf(out, " %u", frame);
        if (++on_line < FRAMES_OF_A_LINE) continue;
        fprintf(out, "\n");
        on_line = 0;
    }
    if (on_line > 0) fprintf(out, "\n");
}

static void write_free_lists(const struct phys *p, const struct zone *zone, FILE *out) {
    char key[80];
    for (unsigned order = 0; order < PHYS_ORDERS; ++order)
        for (int type = 0; type < PHYS_TYPES; ++type) {
            snprintf(key, sizeof key, "free %s %u %s", phys_zone_name(zone->id), order, phys_type_name(type));
            write_list(p, free_list(zone, order, type), key, out);
        }
}

static void write_cpu(const struct zone *zone, uint32_t cpu, FILE *out) {
    static const char *const flags[] = {"-", "freed_high", "keeps_batch", "freed_high,keeps_batch"};
    const struct percpu *percpu = &zone->percpu[cpu];
    fprintf(out, "cpu %s %u high %d high_min %d high_max %d batch %d free_count %d alloc_factor %u flags %s drift %d threshold %d\n",
            phys_zone_name(zone->id), cpu, percpu->high, percpu->high_min, percpu->high_max, percpu->batch, percpu->free_count,
            percpu->alloc_factor, flags[percpu->freed_high_order + 2 * percpu->keeps_batch], percpu->free_drift, percpu->drift_threshold);
}

static void write_percpu_lists(const struct phys *p, const struct zone *zone, uint32_t cpu, FILE *out) {
    char key[80];
    for (unsigned index = 0; index < PHYS_PERCPU_LISTS; ++index) {
        const unsigned order = percpu_index_order(index);
        const unsigned type = order == PHYS_THP_ORDER ? index - PHYS_REQUEST_TYPES * (PHYS_COSTLY_ORDER + 1) : index % PHYS_REQUEST_TYPES;
        snprintf(key, sizeof key, "percpu %s %u %u %s", phys_zone_name(zone->id), cpu, order, phys_type_name((int)type));
        write_list(p, zone->percpu[cpu].first_list + index, key, out);
    }
}

static void write_used(const struct phys *p, FILE *out) {
    for (uint32_t first = 0; first < p->frames.count;) {
        if (frame_kind(&p->frames, first) != FRAME_USED) {
            ++first;
            continue;
        }
        const unsigned order = frame_order(&p->frames, first);
        uint32_t next = first, blocks = 0;
        for (; next < p->frames.count && frame_is(&p->frames, next, FRAME_USED, order); next += UINT32_C(1) << order) ++blocks;
        fprintf(out, "used %u %u %u\n", order, first, blocks);
        first = next;
    }
}

bool snapshot_write(const struct phys *p, FILE *out) {
    fprintf(out, "tessera-phys 1\ncpus %u\nmin_free_kbytes %u\nboost_factor %u\n", p->cpus, p->min_free_kbytes, p->watermark_boost_factor);
    write_bits(p->frames.present, p->frames.count, "ram", out);
    write_bits(p->frames.reserved, p->frames.count, "reserved", out);
    write_pageblocks(p, out);
    for (int i = 0; i < PHYS_ZONES; ++i)
        if (p->zones[i].populated) write_zone(&p->zones[i], out);
    for (int i = 0; i < PHYS_ZONES; ++i) write_free_lists(p, &p->zones[i], out);
    for (int i = 0; i < PHYS_ZONES; ++i)
        for (uint32_t cpu = 0; p->zones[i].populated && cpu < p->cpus; ++cpu) write_cpu(&p->zones[i], cpu, out);
    for (int i = 0; i < PHYS_ZONES; ++i)
        for (uint32_t cpu = 0; cpu < p->cpus; ++cpu) write_percpu_lists(p, &p->zones[i], cpu, out);
    write_used(p, out);
    write_bits(p->frames.lru, p->frames.count, "lru", out);
    fprintf(out, "end\n");
    return fflush(out) == 0 && !ferror(out);
}
