// phys_benchmark: pairs of alloc and free a second on one core. `phys_benchmark [SECONDS_OF_EACH_ROW]`, default 1.
//
// Rows: `pair` frees what it just got (order 0, through the CPU's lists); `batch N` gets N frames and then frees them, so that lists are
// refilled and drained; `mixed` keeps 4096 blocks of orders 0 to 9 and three types, and replaces one at a time; `huge` is order 9.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/random.h"
#include "phys/alloc.h"
#include "phys/check.h"

enum { HELD = 1 << 16, MIXED = 4096, CHUNK = 1 << 16 };

struct bench {
    struct phys p;
    struct error error;
    uint32_t held[HELD];
    uint8_t order[HELD];
    uint64_t random;
};

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint32_t get(struct bench *bench, unsigned order, enum phys_type type) {
    const struct phys_request request = phys_request_default(order, type);
    const struct phys_result result = phys_alloc(&bench->p, &request);
    if (result.outcome == PHYS_GOT_FRAMES) return result.frame;
    fprintf(stderr, "phys_benchmark: a request of order %u got nothing\n", order);
    exit(1);
}

static void give(struct bench *bench, uint32_t frame, unsigned order) {
    if (phys_free(&bench->p, frame, order, 0, &bench->error)) return;
    error_print(&bench->error, "phys_benchmark", stderr);
    exit(1);
}

static uint64_t pairs(struct bench *bench, unsigned order) {
    for (int i = 0; i < CHUNK; ++i) give(bench, get(bench, order, PHYS_MOVABLE), order);
    return CHUNK;
}

static uint64_t pair(struct bench *bench) { return pairs(bench, 0); }

static uint64_t huge(struct bench *bench) { return pairs(bench, 9); }

static uint64_t batches(struct bench *bench, int size) {
    for (int i = 0; i < size; ++i) bench->held[i] = get(bench, 0, PHYS_MOVABLE);
    for (int i = 0; i < size; ++i) give(bench, bench->held[i], 0);
    return (uint64_t)size;
}

static uint64_t batch_64(struct bench *bench) { return batches(bench, 64); }

static uint64_t batch_65536(struct bench *bench) { return batches(bench, HELD); }

static void replace(struct bench *bench, int slot) {
    static const uint8_t orders[16] = {0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 7, 9};
    bench->order[slot] = orders[random_below(&bench->random, 16)];
    bench->held[slot] = get(bench, bench->order[slot], (enum phys_type)random_below(&bench->random, 3));
}

static uint64_t mixed(struct bench *bench) {
    for (int i = 0; i < MIXED; ++i) replace(bench, i);
    for (int i = 0; i < CHUNK; ++i) {
        const int slot = (int)random_below(&bench->random, MIXED);
        give(bench, bench->held[slot], bench->order[slot]);
        replace(bench, slot);
    }
    for (int i = 0; i < MIXED; ++i) give(bench, bench->held[i], bench->order[i]);
    return CHUNK + MIXED;
}

int main(int count, char **arguments) {
    const double seconds = count > 1 ? atof(arguments[1]) : 1;
    static const struct {
        const char *name;
        uint64_t (*run)(struct bench *);
    } rows[] = {{"pair, order 0", pair},
                {"batch 64, order 0", batch_64},
                {"batch 65536, order 0", batch_65536},
                {"mixed orders and types", mixed},
                {"pair, order 9", huge}};
    struct bench *bench = calloc(1, sizeof *bench);
    struct memory_map map;
    const struct phys_config config = phys_config_default();
    if (!bench || !memory_map_pc(&map, UINT64_C(16) << 30, &bench->error)) return 1;
    if (!phys_create(&bench->p, &map, &config, &bench->error)) return 1;
    memory_map_destroy(&map);
    printf("16GB, 1 CPU, no log; processor time\n%-26s %12s %10s\n", "row", "pairs", "Mpairs/s");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        uint64_t done = rows[i].run(bench);  // warms up
        done = 0;
        const double start = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        double spent = 0;
        while ((spent = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - start) < seconds) done += rows[i].run(bench);
        printf("%-26s %12" PRIu64 " %10.1f\n", rows[i].name, done, 1e-6 * (double)done / spent);
    }
    const char *broken = phys_check(&bench->p);
    if (broken) fprintf(stderr, "phys_benchmark: %s\n", broken);
    phys_destroy(&bench->p);
    free(bench);
    return broken != NULL;
}
