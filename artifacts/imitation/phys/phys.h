// phys.h - the state of physical memory, and how to make it from a memory map.
//
// Contract: one thread. Every call that changes state names the CPU it runs on (p->cpu during the call). All state is in this
// structure and the tables it owns, so equal structures give equal decisions.
//
// Linux: the state after memblock_free_all (mm/memblock.c), init_per_zone_wmark_min, setup_per_cpu_pageset (mm/page_alloc.c) and
// hugepage_init (mm/huge_memory.c), if nothing had been allocated at boot. A snapshot (snapshot.h) gives a real boot's state.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/events.h"
#include "phys/event.h"
#include "phys/frames.h"
#include "phys/memory_map.h"
#include "phys/types.h"
#include "phys/zone.h"

/// Huge pages, as far as they change min_free_kbytes.
enum phys_thp {
    PHYS_THP_DEFAULT,  // on from PHYS_THP_BOOT_FRAMES managed frames on; a smaller machine boots without (mm/huge_memory.c hugepage_init)
    PHYS_THP_ON,  // always or madvise: at boot, or on a smaller machine written to /sys afterwards
    PHYS_THP_OFF,  // never, from the boot on
};
#define PHYS_THP_BOOT_FRAMES UINT32_C(131072)  // 512MB, of all zones

struct phys_config {
    uint32_t cpus;  // 1 to PHYS_MAX_CPUS
    enum phys_thp thp;
    int32_t user_min_free_kbytes;  // written to vm.min_free_kbytes after the boot; -1: nothing was
    uint32_t watermark_scale_factor;  // of managed frames / 10000
    uint32_t watermark_boost_factor;  // of the high watermark / 10000; 0: no boost
    uint64_t cache_slice_bytes;  // data cache of one CPU, shared levels divided by their CPUs (drivers/base/cacheinfo.c)
};

enum { PHYS_SPARE_LISTS = 16 };  // for blocks in use, whose links the allocator does not need: the LRU lists

struct phys_request;
struct phys_result;

/// What stands behind the allocator: it is told when kswapd is to be woken, and takes a refused request that may reclaim further
/// (compaction, reclaim, the retries of __alloc_pages_slowpath). Both may be NULL.
struct phys_help {
    void (*wake)(void *context, unsigned order, unsigned highest_zone);
    struct phys_result (*go_on)(void *context, const struct phys_request *request, const struct phys_result *refused);
    void *context;
};

/// A block of `order` that is freed in the zone and may serve the type goes to the run of compaction that waits for it, and on no free list
/// (mm/page_alloc.c compaction_capture).
struct phys_capture {
    bool wanted;
    uint8_t zone, order, type;
    uint32_t frame;  // the block, in use; PHYS_NO_FRAME: none yet
};

struct phys {
    struct frames frames;
    struct phys_capture capture;
    struct phys_help help;
    uint32_t first_spare_list;  // head of the first one
    struct zone zones[PHYS_ZONES];
    struct percpu *percpu;  // zones * cpus, owned
    uint32_t cpus;
    uint32_t cpu;  // the CPU of the call in progress
    uint32_t min_free_kbytes;
    uint32_t watermark_boost_factor;
    struct events events;  // who is told; nobody at first
};

/// Linux's defaults: 1 CPU, huge pages as at boot, scale factor 10, boost factor 15000, a cache slice of 0 bytes.
struct phys_config phys_config_default(void);

/// Fresh memory: everything that the map manages is free, in blocks as large as alignment allows, at ascending addresses. Pageblocks
/// that start with a frame of RAM are movable, the others unmovable.
/// False if the map or configuration is impossible or memory is short; then `p` owns nothing.
bool phys_create(struct phys *p, const struct memory_map *map, const struct phys_config *config, struct error *error);

/// Tables and zones for `map`, no frame free yet, watermarks 0: for phys_create and the reader of snapshots.
bool phys_create_empty(struct phys *p, const struct memory_map *map, uint32_t cpus, struct error *error);
void phys_destroy(struct phys *p);

/// Frames on the free lists of a zone, exactly.
int64_t phys_zone_free(const struct phys *p, enum phys_zone zone);

static inline struct zone *phys_zone_of(struct phys *p, uint32_t frame) { return &p->zones[frame_zone(frame)]; }

static inline void phys_report(const struct phys *p, const struct phys_event *event) { p->events.frames(p->events.context, event); }

/// Reports an event if somebody is told: PHYS_REPORT(p, .kind = PHYS_FREE, .frame = frame). The CPU is filled in.
#define PHYS_REPORT(p, ...)                                                                      \
    do {                                                                                         \
        if (__builtin_expect((p)->events.frames != NULL, 0))                                     \
            phys_report((p), &(const struct phys_event){.cpu = (uint8_t)(p)->cpu, __VA_ARGS__}); \
    } while (0)
