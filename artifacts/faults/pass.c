#include "pass.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "clock.h"
#include "error.h"
#include "source.h"

#define BORDER ((size_t)2 << 20)

size_t pass_touches(const struct kind *kind, size_t bytes) { return bytes / kind->step; }

/// `bytes` at a multiple of 2MB: the page tables of a pass start with its first page, in each pass alike.
static char *mapped(const struct kind *kind, int file, size_t bytes) {
    char *space = mmap(NULL, bytes + BORDER, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED)
        stop(EXIT_FAILED_WORK, "address space for a pass", "give a smaller --size", "mmap of %zu bytes: %s", bytes + BORDER,
             strerror(errno));
    char *start = (char *)(((uintptr_t)space + BORDER - 1) & ~(BORDER - 1));
    const size_t before = (size_t)(start - space);
    // The borders go back, so that the pass starts with no page table of its own.
    if (before) munmap(space, before);
    if (before < BORDER) munmap(start + bytes, BORDER - before);
    const int how = kind->file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    char *memory = mmap(start, bytes, PROT_READ | (kind->store ? PROT_WRITE : 0), how | MAP_FIXED, kind->file ? file : -1, 0);
    if (memory == MAP_FAILED)
        stop(EXIT_FAILED_WORK, "memory for a pass", "give a smaller --size", "mmap of %zu bytes: %s", bytes, strerror(errno));
    if (!kind->file && madvise(memory, bytes, kind->huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0)
        stop(EXIT_WRONG_REQUEST, kind->huge ? "2MB pages" : "4KB pages only", "use a kernel with CONFIG_TRANSPARENT_HUGEPAGE",
             "madvise: %s", strerror(errno));
    return memory;
}

/// AnonHugePages of the mapping at `start`, in bytes.
static uint64_t huge_bytes(const char *start) {
    FILE *maps = fopen("/proc/self/smaps", "r");
    if (!maps) stop(EXIT_FAILED_WORK, "which pages are huge", "mount /proc", "/proc/self/smaps: %s", strerror(errno));
    char line[512];
    uint64_t kilobytes = 0;
    int inside = 0;
    while (fgets(line, sizeof line, maps)) {
        unsigned long first = 0, end = 0, value = 0;
        if (sscanf(line, "%lx-%lx ", &first, &end) == 2) inside = first <= (unsigned long)start && (unsigned long)start < end;
        else if (inside && sscanf(line, "AnonHugePages: %lu kB", &value) == 1) kilobytes = value;
    }
    fclose(maps);
    return kilobytes << 10;
}

static void touch_all(const struct kind *kind, volatile char *memory, size_t touches, uint32_t *cycles) {
    for (size_t i = 0; i < touches; i++) {
        volatile char *at = memory + i * kind->step;
        const uint64_t begin = clock_read();
        if (kind->store) *at = 1;
        else (void)*at;
        const uint64_t taken = clock_read() - begin;
        cycles[i] = taken < UINT32_MAX ? (uint32_t)taken : UINT32_MAX;
    }
}

struct pass pass_run(const struct kind *kind, int file, size_t bytes, uint32_t *cycles) {
    char *memory = mapped(kind, file, bytes);
    if (kind->file) source_require_cached(memory, bytes);
    if (kind->populate) memset(memory, 0, bytes);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    touch_all(kind, memory, pass_touches(kind, bytes), cycles);
    getrusage(RUSAGE_SELF, &after);
    const struct pass done = {
        .minor_faults = (uint64_t)(after.ru_minflt - before.ru_minflt),
        .major_faults = (uint64_t)(after.ru_majflt - before.ru_majflt),
        .huge_bytes = huge_bytes(memory),
    };
    munmap(memory, bytes);
    return done;
}
