#include "phys/memory_map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "phys/types.h"

#define MIB (UINT64_C(1) << 20)

bool memory_map_add(struct memory_map *map, bool reserved, struct frame_range range) {
    struct frame_range **ranges = reserved ? &map->reserved : &map->ram;
    uint32_t *count = reserved ? &map->reserved_count : &map->ram_count;
    struct frame_range *grown = realloc(*ranges, (*count + 1) * sizeof *grown);
    if (!grown) return false;
    *ranges = grown;
    grown[(*count)++] = range;
    return true;
}

void memory_map_destroy(struct memory_map *map) {
    free(map->ram);
    free(map->reserved);
    *map = (struct memory_map){0};
}

static bool add_bytes(struct memory_map *map, uint64_t start, uint64_t end) {
    return start >= end || memory_map_add(map, false, (struct frame_range){(uint32_t)(start >> 12), (uint32_t)(end >> 12)});
}

bool memory_map_pc(struct memory_map *map, uint64_t bytes, struct error *error) {
    const uint64_t low_limit = 3584 * MIB, low_with_hole = 3072 * MIB, high_start = 4096 * MIB;
    *map = (struct memory_map){0};
    error_asked(error, "a PC with %" PRIu64 " bytes of memory", bytes);
    if (bytes % MIB != 0 || bytes < 16 * MIB || bytes > 1000 * 1024 * MIB) {
        error_found(error, "memory is a multiple of 1MB, from 16MB to 1000GB");
        return error_remedy(error, "choose such a size, for example 4GB, or write a memory map");
    }
    const uint64_t low = bytes >= low_limit ? low_with_hole : bytes;
    if (add_bytes(map, 4096, 636 * 1024) && add_bytes(map, MIB, low) && add_bytes(map, high_start, high_start + bytes - low)) return true;
    memory_map_destroy(map);
    error_found(error, "out of memory");
    return error_remedy(error, "free memory on this machine");
}

/// One range of the text, in frames: RAM shrinks to whole frames, reserved ranges grow.
static bool range_of(const struct line *line, bool reserved, struct frame_range *range) {
    uint64_t start, end;
    if (line->count != 3 || !field_hex(line, 1, &start) || !field_hex(line, 2, &end)) return false;
    if (start >= end || end > (uint64_t)PHYS_MOST_FRAMES * PHYS_FRAME_BYTES) return false;
    const uint64_t up = PHYS_FRAME_BYTES - 1;
    range->first = (uint32_t)((reserved ? start : start + up) >> 12);
    range->end = (uint32_t)((reserved ? end + up : end) >> 12);
    return true;
}

static bool inside_ram(const struct memory_map *map, struct frame_range *range) {
    for (uint32_t i = 0; i < map->ram_count; ++i)
        if (range->first < map->ram[i].end && range->end > map->ram[i].first)
            return range->first >= map->ram[i].first && range->end <= map->ram[i].end;
    return false;
}

static const char *broken_rule(const struct memory_map *map, const struct line *line, struct frame_range *range) {
    const bool reserved = field_is(line, 0, "reserved");
    if (!reserved && !field_is(line, 0, "ram")) return "a line starts with ram or reserved";
    if (!range_of(line, reserved, range)) return "two hexadecimal byte addresses below 1TB follow, the first one smaller";
    const struct frame_range *ranges = reserved ? map->reserved : map->ram;
    const uint32_t count = reserved ? map->reserved_count : map->ram_count;
    if (count == MEMORY_MAP_MOST_RANGES) return "a map has at most 4096 ranges of a kind";
    if (count > 0 && ranges[count - 1].end > range->first) return "ranges of a kind ascend and do not overlap, counted in whole frames";
    return reserved && !inside_ram(map, range) ? "a reserved range lies inside one RAM range that stands above it" : NULL;
}

bool memory_map_parse(struct memory_map *map, const char *text, size_t bytes, const char *name, struct error *error) {
    struct lines lines;
    struct line line;
    *map = (struct memory_map){0};
    lines_start(&lines, text, bytes, name);
    while (lines_next(&lines, &line)) {
        struct frame_range range;
        const bool reserved = field_is(&line, 0, "reserved");
        const char *rule = broken_rule(map, &line, &range);
        if (!rule && range.first < range.end && !memory_map_add(map, reserved, range)) rule = "out of memory";
        if (!rule) continue;
        memory_map_destroy(map);
        return lines_refuse(&lines, rule, "correct the line; for example: ram 0x100000 0x40000000", error);
    }
    if (!lines.broken && map->ram_count > 0) return true;
    memory_map_destroy(map);
    return lines_refuse(&lines, lines.broken ? lines.broken : "the map has no RAM", "write at least one line: ram START END", error);
}
