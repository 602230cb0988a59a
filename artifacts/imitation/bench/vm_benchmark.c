// vm_benchmark: page faults a second on one core. `vm_benchmark [SECONDS_OF_EACH_ROW]`, default 1.
//
// Rows: `write 4KB`, `read 4KB` (zero page) and `copy` (read, then write) touch each page of 1GB in order and unmap it, `random`
// in a random order; `write 2MB` touches each 2MB of 8GB. The time of munmap is part of each row, except for `hit`: accesses
// without a fault. The last two rows touch 1GB of a machine with 512MB and swap: new pages, and pages that come back.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/host.h"
#include "base/random.h"
#include "vm/check.h"
#include "vm/fault.h"
#include "vm/slow_path.h"

enum { PAGES = 1 << 18, HUGE_PAGES = 4096 };
static const uint64_t at = UINT64_C(1) << 30;    // page

struct bench {
    struct phys p;
    struct vm_system system;
    struct process process;
    uint64_t random;
    struct bench *small;         // 512MB and swap: 1GB does not fit
};

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void require(const char *broken) {
    if (!broken) return;
    fprintf(stderr, "vm_benchmark: %s\n", broken);
    exit(1);
}

static void map(struct bench *bench, uint64_t pages, bool huge) {
    bench->system.thp.enabled = huge ? THP_ALWAYS : THP_NEVER;
    require(process_map(&bench->process, at, pages, AREA_READ | AREA_WRITE, 0, 0, 0));
}

static void unmap(struct bench *bench, uint64_t pages) { require(process_unmap(&bench->process, at, pages, 0)); }

static void touch(struct bench *bench, uint64_t page, bool write, enum fault_kind kind) {
    if (fault_access(&bench->process, page, write, 0, FAULT_FIRST).kind != kind) require("an access got something else");
}

static uint64_t each(struct bench *bench, bool write, enum fault_kind kind) {
    for (uint64_t i = 0; i < PAGES; ++i) touch(bench, at + i, write, kind);
    return PAGES;
}

static uint64_t write_4kb(struct bench *bench) {
    map(bench, PAGES, false);
    const uint64_t faults = each(bench, true, FAULT_PAGE);
    unmap(bench, PAGES);
    return faults;
}

static uint64_t read_4kb(struct bench *bench) {
    map(bench, PAGES, false);
    const uint64_t faults = each(bench, false, FAULT_ZERO);
    unmap(bench, PAGES);
    return faults;
}

static uint64_t copy(struct bench *bench) {
    map(bench, PAGES, false);
    const uint64_t faults = each(bench, false, FAULT_ZERO) + each(bench, true, FAULT_COPY);
    unmap(bench, PAGES);
    return faults;
}

static uint64_t random_4kb(struct bench *bench) {
    const uint64_t odd = random_next(&bench->random) | 1;     // i * odd modulo a power of 2 visits each page once
    map(bench, PAGES, false);
    for (uint64_t i = 0; i < PAGES; ++i) touch(bench, at + i * odd % PAGES, true, FAULT_PAGE);
    unmap(bench, PAGES);
    return PAGES;
}

static uint64_t write_2mb(struct bench *bench) {
    map(bench, HUGE_PAGES * 512, true);
    for (uint64_t i = 0; i < HUGE_PAGES; ++i) touch(bench, at + i * 512, true, FAULT_PAGE);
    unmap(bench, HUGE_PAGES * 512);
    return HUGE_PAGES;
}

static uint64_t write_pressed(struct bench *bench) {
    struct bench *small = bench->small;
    map(small, PAGES, false);
    for (uint64_t i = 0; i < PAGES; ++i) {
        touch(small, at + i, true, FAULT_PAGE);
        vm_background(&small->system, 0);
    }
    unmap(small, PAGES);
    return PAGES;
}

/// Pages come from swap and go there, 8 at a time.
static uint64_t swap_pressed(struct bench *bench) {
    struct bench *small = bench->small;
    uint64_t faults = 0;
    if (!areas_at(&small->process.areas, at)) map(small, PAGES, false);
    for (uint64_t i = 0; i < PAGES; ++i) {
        const enum fault_kind kind = fault_access(&small->process, at + i, true, 0, FAULT_FIRST).kind;
        if (kind == FAULT_NEEDS) require("memory and swap are full");
        faults += kind != FAULT_NONE;
        vm_background(&small->system, 0);
    }
    return faults;
}

static uint64_t hit(struct bench *bench) {
    if (!areas_at(&bench->process.areas, at)) {
        map(bench, PAGES, false);
        each(bench, true, FAULT_PAGE);
    }
    return each(bench, true, FAULT_NONE);
}

static struct bench *start(uint64_t bytes) {
    struct bench *bench = host_alloc(sizeof *bench);
    struct error error;
    struct memory_map memory;
    const struct phys_config config = phys_config_default();
    const struct thp thp = thp_default();
    if (!memory_map_pc(&memory, bytes, &error) || !phys_create(&bench->p, &memory, &config, &error)) error_stop(&error);
    memory_map_destroy(&memory);
    vm_create(&bench->system, &bench->p, &thp);
    if (process_create(&bench->process, &bench->system, 1, 0) != PHYS_GOT_FRAMES) require("no memory for a process");
    return bench;
}

static void end(struct bench *bench) {
    struct process *only = &bench->process;
    require(vm_check(&bench->system, &only, 1));
    process_exit(&bench->process, 0);
    vm_destroy(&bench->system);
    phys_destroy(&bench->p);
    free(bench);
}

int main(int count, char **arguments) {
    const double wanted = count > 1 ? atof(arguments[1]) : 1;
    static const struct {
        const char *name;
        uint64_t (*run)(struct bench *);
    } rows[] = {{"write 4KB", write_4kb},
                {"read 4KB", read_4kb},
                {"copy", copy},
                {"random write 4KB", random_4kb},
                {"write 2MB", write_2mb},
                {"hit", hit},
                {"write 4KB, reclaim", write_pressed},
                {"swap in and out", swap_pressed}};
    struct bench *bench = start(UINT64_C(16) << 30);
    bench->small = start(UINT64_C(512) << 20);
    vm_swap_on(&bench->small->system, PAGES + 1, false);
    slow_path_start(&bench->small->system);
    printf("16GB, 1 CPU, no log; processor time. The last two rows: 1GB is touched in 512MB, with 1GB of swap\n%-20s %12s %10s\n", "row",
           "accesses", "M/s");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        uint64_t done = 0;
        rows[i].run(bench);      // warms up
        const double start = seconds();
        double spent = 0;
        while ((spent = seconds() - start) < wanted) done += rows[i].run(bench);
        printf("%-20s %12" PRIu64 " %10.2f\n", rows[i].name, done, 1e-6 * (double)done / spent);
    }
    end(bench->small);
    end(bench);
    return 0;
}
