// events.h - one sink for all that an imitated memory reports, in its order: decisions, and changes of page tables and areas.
//
// Contract: a function that is NULL hears nothing, and costs one test. What an event points to is valid during the call only. The sink
// changes nothing of the memory that reports to it. The sink of a memory is `events` in struct phys; each event has its struct where it
// arises.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct area_change;
struct file_event;
struct phys_event;
struct process;
struct pt_change;

struct events {
    void *context;                                                        // of each call
    void (*frames)(void *context, const struct phys_event *event);        // the allocator: phys/event.h
    void (*slab)(void *context, const char *cache, bool added, uint32_t frame, unsigned order);     // a slab came or went
    void (*file)(void *context, const struct file_event *event);          // the page cache: file/cache.h
    void (*decision)(void *context, const char *text);                    // reclaim, swap, compaction: one line
    void (*entry)(void *context, const struct pt_change *change);         // page-table entries: pt/table.h
    void (*area)(void *context, const struct area_change *change);        // areas of processes: vm/areas.h
    void (*scan)(void *context, const struct process *process, uint64_t page, int result);     // khugepaged: vm/collapse.h
};

/// Reports a decision, formatted as by printf.
__attribute__((format(printf, 2, 3))) void events_tell(const struct events *events, const char *format, ...);

#define EVENTS_DECISION(sink, ...)                                                           \
    do {                                                                                     \
        if (__builtin_expect((sink)->decision != NULL, 0)) events_tell((sink), __VA_ARGS__); \
    } while (0)
