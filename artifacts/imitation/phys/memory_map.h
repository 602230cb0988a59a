// memory_map.h - which frames exist, and which of them the allocator manages.
//
// Text format (parse): a line each, `ram START END` or `reserved START END`, byte addresses in hexadecimal with 0x, END exclusive.
// Comments start with # at the beginning of a line. RAM ranges ascend and do not overlap; the same for reserved ranges, each of
// which lies inside one RAM range. Incomplete frames at borders do not count: RAM shrinks, reserved grows
// (mm/memblock.c: __free_memory_core; for_each_mem_pfn_range).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { MEMORY_MAP_MOST_RANGES = 4096 };

struct frame_range {
    uint32_t first, end;   // frames [first, end)
};

struct memory_map {
    struct frame_range *ram, *reserved;   // owned
    uint32_t ram_count, reserved_count;
};

/// The map of a PC of QEMU (machine "pc", hw/i386/pc_piix.c) with `bytes` of memory: 4KB to 636KB, then from 1MB. Memory of 3.5GB
/// and more has a hole from 3GB to 4GB. Frame 0 and 636KB to 1MB are not RAM. `bytes` is a multiple of 1MB, 16MB at least.
bool memory_map_pc(struct memory_map *map, uint64_t bytes, struct error *error);

/// Parses the text format; `name` is for messages. False: `map` owns nothing.
bool memory_map_parse(struct memory_map *map, const char *text, size_t bytes, const char *name, struct error *error);

/// Adds a range of frames after all earlier ones of its kind; the caller keeps the rules above. False if memory is short.
bool memory_map_add(struct memory_map *map, bool reserved, struct frame_range range);
void memory_map_destroy(struct memory_map *map);
