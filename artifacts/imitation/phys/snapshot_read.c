// snapshot_read.c - one function for each kind of line; each returns NULL, or the rule that its line breaks.
#include <string.h>

#include "base/lines.h"
#include "phys/check.h"
#include "phys/freelist.h"
#include "phys/percpu.h"
#include "phys/snapshot.h"
#include "phys/watermarks.h"

struct reader {
    struct phys *p;
    struct memory_map map;
    struct error *error;
    uint32_t most_frames;
    bool created, ended;
    uint64_t cpus, min_free_kbytes, boost_factor;
    uint32_t last_pageblock;               // end of the last run of pageblocks
    bool has_zone[PHYS_ZONES];
    bool has_cpu[PHYS_ZONES][PHYS_MAX_CPUS];
};

typedef const char *handler(struct reader *reader, const struct line *line);

static const char *read_header(struct reader *reader, const struct line *line) {
    (void)reader;
    return line->count == 2 && field_is(line, 1, "1") ? NULL : "the first line is: tessera-phys 1";
}

static const char *read_cpus(struct reader *reader, const struct line *line) {
    return line->count == 2 && field_number(line, 1, 1, PHYS_MAX_CPUS, &reader->cpus) ? NULL : "cpus is followed by a number from 1 to 64";
}

static const char *read_min_free(struct reader *reader, const struct line *line) {
    return line->count == 2 && field_number(line, 1, 0, INT32_MAX, &reader->min_free_kbytes) ? NULL : "min_free_kbytes is followed by kB";
}

static const char *read_boost(struct reader *reader, const struct line *line) {
    return line->count == 2 && field_number(line, 1, 0, 1000000, &reader->boost_factor) ? NULL : "boost_factor is followed by 0 to 1000000";
}

/// FIRST COUNT at field `at`, with FIRST + COUNT <= limit.
static bool read_run(const struct line *line, uint32_t at, uint64_t limit, uint32_t *first, uint32_t *count) {
    uint64_t low, length;
    if (line->count != at + 2 || !field_number(line, at, 0, limit, &low) || !field_number(line, at + 1, 1, limit, &length)) return false;
    *first = (uint32_t)low;
    *count = (uint32_t)length;
    return low + length <= limit;
}

static const char *read_range(struct reader *reader, const struct line *line) {
    const bool reserved = field_is(line, 0, "reserved");
    uint32_t first, count;
    if (!read_run(line, 1, reader->most_frames, &first, &count)) return "FIRST COUNT follows: frames inside the limit of this reader";
    const struct memory_map *map = &reader->map;
    const struct frame_range *ranges = reserved ? map->reserved : map->ram;
    const uint32_t ranges_count = reserved ? map->reserved_count : map->ram_count;
    if (ranges_count > 0 && ranges[ranges_count - 1].end >= first) return "ranges ascend, disjoint and not adjacent";
    bool inside = !reserved;
    for (uint32_t i = 0; !inside && i < map->ram_count; ++i) inside = first >= map->ram[i].first && first + count <= map->ram[i].end;
    if (!inside) return "a reserved range lies inside one ram range";
    return memory_map_add(&reader->map, reserved, (struct frame_range){first, first + count}) ? NULL : "out of memory";
}

static const char *read_pageblocks(struct reader *reader, const struct line *line) {
    struct frames *frames = &reader->p->frames;
    char name[16];
    uint32_t first, count;
    if (!field_copy(line, 1, name, sizeof name)) return "a type follows";
    const int type = phys_type_named(name);
    if (type < 0 || type == PHYS_MOVABLE) return "the type is Unmovable, Reclaimable or HighAtomic";
    if (!read_run(line, 2, frames->count >> PHYS_PAGEBLOCK_ORDER, &first, &count)) return "FIRST COUNT follows: pageblocks of this memory";
    if (first < reader->last_pageblock) return "runs of pageblocks ascend";
    if (first > 0 && first == reader->last_pageblock && frames->block_type[first - 1] == type) return "adjacent runs differ in type";
    memset(frames->block_type + first, type, count);
    reader->last_pageblock = first + count;
    return NULL;
}

/// The zone named by field 1; NULL if there is none with memory.
static struct zone *read_zone_name(struct reader *reader, const struct line *line) {
    char name[16];
    const int id = field_copy(line, 1, name, sizeof name) ? phys_zone_named(name) : -1;
    return id >= 0 && reader->p->zones[id].populated ? &reader->p->zones[id] : NULL;
}

static const char *const no_zone = "the name of a zone with memory follows: DMA, DMA32 or Normal";

/// Field `at` is `word` and the next one a number.
static bool read_pair(const struct line *line, uint32_t at, const char *word, int64_t least, int64_t most, int64_t *value) {
    return field_is(line, at, word) && field_signed(line, at + 1, least, most, value);
}

/// The set of flags in field `at`; -1 if it is not one of the texts.
static int read_flags(const struct line *line, uint32_t at, const char *const *texts, int count) {
    for (int i = 0; i < count; ++i)
        if (field_is(line, at, texts[i])) return i;
    return -1;
}

static const char *read_zone(struct reader *reader, const struct line *line) {
    static const char *const texts[] = {"-",       "below_high",         "boosted",         "below_high,boosted",
                                        "reclaim", "below_high,reclaim", "boosted,reclaim", "below_high,boosted,reclaim"};
    static const char *const words[] = {"min", "low", "high", "boost"};
    struct zone *zone = read_zone_name(reader, line);
    int64_t value[4], free, reserved;
    uint64_t reserve[PHYS_ZONES];
    if (!zone) return no_zone;
    if (reader->has_zone[zone->id]) return "a zone has one line";
    const char *rule = "a zone has: min low high boost reserve (3 numbers) free reserved_highatomic flags";
    if (line->count != 20) return rule;
    for (uint32_t i = 0; i < 4; ++i)
        if (!read_pair(line, 2 + 2 * i, words[i], 0, INT32_MAX, &value[i])) return rule;
    for (uint32_t i = 0; i < PHYS_ZONES; ++i)
        if (!field_number(line, 11 + i, 0, INT32_MAX, &reserve[i])) return rule;
    if (!field_is(line, 10, "reserve") || !read_pair(line, 14, "free", INT32_MIN, INT32_MAX, &free)) return rule;
    const int flags = read_flags(line, 19, texts, 8);
    if (!read_pair(line, 16, "reserved_highatomic", 0, INT32_MAX, &reserved) || !field_is(line, 18, "flags") || flags < 0) return rule;
    for (int i = 0; i < PHYS_MARKS; ++i) zone->marks[i] = (uint32_t)value[i];
    for (int i = 0; i < PHYS_ZONES; ++i) zone->lowmem_reserve[i] = (uint32_t)reserve[i];
    zone->boost = (uint32_t)value[3];
    zone->free_frames = free;
    zone->reserved_highatomic = (uint32_t)reserved;
    zone->below_high = flags & 1;
    zone->boosted = flags & 2;
    zone->reclaim_active = flags & 4;
    reader->has_zone[zone->id] = true;
    return NULL;
}

/// A frame that starts a block of the order in the zone, and that no other line named.
static bool read_block(const struct reader *reader, const struct line *line, uint32_t at, const struct zone *zone, unsigned order,
                       uint32_t *frame) {
    uint64_t value;
    if (!field_number(line, at, 0, reader->p->frames.count - 1, &value) || value % (UINT64_C(1) << order) != 0) return false;
    *frame = (uint32_t)value;
    return frame_zone(*frame) == zone->id && frame_kind(&reader->p->frames, *frame) == FRAME_INSIDE;
}

static const char *const no_block = "frames of the zone follow, aligned to the order, each named once in the file";

static const char *read_free(struct reader *reader, const struct line *line) {
    struct zone *zone = read_zone_name(reader, line);
    uint64_t order;
    char name[16];
    if (!zone) return no_zone;
    if (line->count < 5 || !field_number(line, 2, 0, PHYS_MAX_ORDER, &order)) return "an order from 0 to 10, a type and frames follow";
    const int type = field_copy(line, 3, name, sizeof name) ? phys_type_named(name) : -1;
    if (type < 0) return "the type is Unmovable, Movable, Reclaimable or HighAtomic";
    for (uint32_t at = 4; at < line->count; ++at) {
        uint32_t frame;
        if (!read_block(reader, line, at, zone, (unsigned)order, &frame)) return no_block;
        if (frame_block_type(&reader->p->frames, frame) != type) return "a free block is on the list of its pageblock's type";
        free_list_put(reader->p, zone, frame, (unsigned)order, type, true);
        if (type == PHYS_HIGHATOMIC) zone->free_highatomic += INT64_C(1) << order;
    }
    return NULL;
}

static const char *read_cpu(struct reader *reader, const struct line *line) {
    static const char *const words[] = {"high", "high_min", "high_max", "batch", "free_count", "alloc_factor"};
    static const int64_t most[] = {1 << 28, 1 << 28, 1 << 28, 1 << 16, 1 << 28, PHYS_BATCH_SCALE_MAX};
    static const char *const texts[] = {"-", "freed_high", "keeps_batch", "freed_high,keeps_batch"};
    struct zone *zone = read_zone_name(reader, line);
    int64_t value[6], drift, threshold;
    uint64_t cpu;
    if (!zone) return no_zone;
    const char *rule = "a CPU has: high high_min high_max batch free_count alloc_factor flags drift threshold";
    if (line->count != 21 || !field_number(line, 2, 0, reader->p->cpus - 1, &cpu)) return "the number of a CPU of this machine follows";
    for (uint32_t i = 0; i < 6; ++i)
        if (!read_pair(line, 3 + 2 * i, words[i], i == 3, most[i], &value[i])) return rule;
    const int flags = read_flags(line, 16, texts, 4);
    if (!field_is(line, 15, "flags") || flags < 0 || !read_pair(line, 17, "drift", -125, 125, &drift)) return rule;
    if (!read_pair(line, 19, "threshold", 0, 125, &threshold)) return rule;
    if (value[1] > value[2]) return "high_min is at most high_max";
    if (reader->has_cpu[zone->id][cpu]) return "a CPU has one line for each zone";
    reader->has_cpu[zone->id][cpu] = true;
    struct percpu *percpu = &zone->percpu[cpu];
    percpu->high = (int32_t)value[0];
    percpu->high_min = (int32_t)value[1];
    percpu->high_max = (int32_t)value[2];
    percpu->batch = (int32_t)value[3];
    percpu->free_count = (int32_t)value[4];
    percpu->alloc_factor = (uint8_t)value[5];
    percpu->freed_high_order = flags & 1;
    percpu->keeps_batch = flags & 2;
    percpu->free_drift = (int32_t)drift;
    percpu->drift_threshold = (int32_t)threshold;
    return NULL;
}

static const char *read_percpu(struct reader *reader, const struct line *line) {
    struct zone *zone = read_zone_name(reader, line);
    uint64_t cpu, order;
    char name[16];
    if (!zone) return no_zone;
    if (!field_number(line, 2, 0, reader->p->cpus - 1, &cpu)) return "the number of a CPU of this machine follows";
    if (line->count < 6 || !field_number(line, 3, 0, PHYS_MAX_ORDER, &order) || !percpu_allows((unsigned)order))
        return "an order of 0 to 3 or 9, a type and frames follow";
    const int type = field_copy(line, 4, name, sizeof name) ? phys_type_named(name) : -1;
    const int types = order == PHYS_THP_ORDER ? 2 : PHYS_REQUEST_TYPES;
    if (type < 0 || type >= types) return "the type is Unmovable, Movable, or below order 9 Reclaimable";
    struct percpu *percpu = &zone->percpu[cpu];
    for (uint32_t at = 5; at < line->count; ++at) {
        uint32_t frame;
        if (!read_block(reader, line, at, zone, (unsigned)order, &frame)) return no_block;
        frame_set(&reader->p->frames, frame, FRAME_PERCPU, (unsigned)order);
        list_add_last(reader->p->frames.links, percpu->first_list + percpu_index((unsigned)order, type), frame);
        percpu->count += 1 << order;
    }
    return NULL;
}

static const char *read_used(struct reader *reader, const struct line *line) {
    struct frames *frames = &reader->p->frames;
    uint64_t order, first, blocks;
    const char *rule = "ORDER FIRST COUNT follow: aligned blocks of this memory, each named once in the file";
    if (line->count != 4 || !field_number(line, 1, 0, PHYS_MAX_ORDER, &order)) return rule;
    if (!field_number(line, 2, 0, frames->count - 1, &first) || !field_number(line, 3, 1, frames->count >> order, &blocks)) return rule;
    if (first % (UINT64_C(1) << order) != 0 || first + (blocks << order) > frames->count) return rule;
    for (uint32_t frame = (uint32_t)first; frame < first + (blocks << order); frame += UINT32_C(1) << order) {
        if (frame_kind(frames, frame) != FRAME_INSIDE) return rule;
        frame_set(frames, frame, FRAME_USED, (unsigned)order);
    }
    return NULL;
}

static const char *read_lru(struct reader *reader, const struct line *line) {
    struct frames *frames = &reader->p->frames;
    uint32_t first, count;
    if (!read_run(line, 1, frames->count, &first, &count)) return "FIRST COUNT follow: frames of this memory";
    if (bitmap_count(frames->lru, first, count) != 0) return "runs of lru do not overlap";
    if (bitmap_count(frames->managed, first, count) != count) return "frames on LRU lists are managed";
    bitmap_set(frames->lru, first, count);
    return NULL;
}

static const char *read_end(struct reader *reader, const struct line *line) {
    reader->ended = true;
    return line->count == 1 ? NULL : "end stands alone";
}

/// Kinds of lines, in the order of the file. `once`: exactly one line; `empty_memory`: before the tables exist.
static const struct kind {
    const char *key;
    handler *read;
    bool once, empty_memory;
} kinds[] = {
    {"tessera-phys", read_header, true, true},
    {"cpus", read_cpus, true, true},
    {"min_free_kbytes", read_min_free, true, true},
    {"boost_factor", read_boost, true, true},
    {"ram", read_range, false, true},
    {"reserved", read_range, false, true},
    {"pageblocks", read_pageblocks, false, false},
    {"zone", read_zone, false, false},
    {"free", read_free, false, false},
    {"cpu", read_cpu, false, false},
    {"percpu", read_percpu, false, false},
    {"used", read_used, false, false},
    {"lru", read_lru, false, false},
    {"end", read_end, true, false},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const char *create(struct reader *reader) {
    if (!phys_create_empty(reader->p, &reader->map, (uint32_t)reader->cpus, reader->error)) return "memory without RAM, or too large";
    reader->created = true;
    reader->p->min_free_kbytes = (uint32_t)reader->min_free_kbytes;
    reader->p->watermark_boost_factor = (uint32_t)reader->boost_factor;
    return NULL;
}

/// One line; `*last` is the index of the kind of the line before.
static const char *read_line(struct reader *reader, const struct line *line, int *last) {
    int kind = 0;
    while (kind < KINDS && !field_is(line, 0, kinds[kind].key)) ++kind;
    if (kind == KINDS) return "a line starts with one of the words of the format";
    if (kind < *last || (kind == *last && kinds[kind].once)) return "lines follow the order of the format, and some stand once";
    for (int skipped = *last + 1; skipped < kind; ++skipped)
        if (kinds[skipped].once) return "a line that stands once is missing above";
    *last = kind;
    if (!kinds[kind].empty_memory && !reader->created) {
        const char *rule = create(reader);
        if (rule) return rule;
    }
    return kinds[kind].read(reader, line);
}

static const char *missing(const struct reader *reader) {
    if (!reader->ended) return "the last line is: end";
    for (int i = 0; i < PHYS_ZONES; ++i) {
        if (!reader->p->zones[i].populated) continue;
        if (!reader->has_zone[i]) return "every zone with memory has a line";
        for (uint32_t cpu = 0; cpu < reader->p->cpus; ++cpu)
            if (!reader->has_cpu[i][cpu]) return "every CPU has a line for each zone with memory";
    }
    watermark_set_drift_marks(reader->p);
    return phys_check(reader->p);
}

bool snapshot_read(struct phys *p, const char *text, size_t bytes, const char *name, uint32_t most_frames, struct error *error) {
    struct reader reader = {.p = p, .error = error, .most_frames = most_frames < PHYS_MOST_FRAMES ? most_frames : PHYS_MOST_FRAMES};
    struct lines lines;
    struct line line;
    const char *rule = NULL;
    int last = -1;
    *p = (struct phys){0};
    lines_start(&lines, text, bytes, name);
    while (!rule && lines_next(&lines, &line)) rule = reader.ended ? "nothing follows end" : read_line(&reader, &line, &last);
    if (!rule) rule = lines.broken ? lines.broken : missing(&reader);
    memory_map_destroy(&reader.map);
    if (!rule) return true;
    phys_destroy(p);
    return lines_refuse(&lines, rule, "write the snapshot again, from a machine that does not run meanwhile", error);
}
