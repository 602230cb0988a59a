// tessera-faults: latencies of first touches of memory, one by one, in TSC cycles.
//
// Passes run back to back: each maps new memory, touches its pages in order and unmaps it, so later passes get the frames that the
// passes before gave back. The first passes may pay for the host's own faults, if this machine is virtual. The file of --out has a
// line `pass,touch,tsc_cycles` for each touch. Standard output has one JSON object: the clock, and what the kernel counted in
// each pass. The program judges nothing.
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "error.h"
#include "options.h"
#include "pass.h"
#include "source.h"

static void bind_to(unsigned processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        stop(EXIT_WRONG_REQUEST, "--processor", "name a processor of `taskset -p $$`", "%u: %s", processor, strerror(errno));
}

/// The latencies of all passes, their memory touched already.
static uint32_t *room_for(size_t values) {
    uint32_t *room = malloc(values * sizeof *room);
    if (!room)
        stop(EXIT_FAILED_WORK, "room for the latencies", "give a smaller --size or fewer --passes", "%zu values: %s", values,
             strerror(errno));
    memset(room, 0xff, values * sizeof *room);
    return room;
}

static void write_series(const char *path, const uint32_t *cycles, unsigned passes, size_t touches) {
    FILE *out = fopen(path, "w");
    if (!out) stop(EXIT_WRONG_REQUEST, "--out", "name a file in a folder that exists", "'%s': %s", path, strerror(errno));
    fprintf(out, "pass,touch,tsc_cycles\n");
    for (unsigned pass = 0; pass < passes; pass++)
        for (size_t i = 0; i < touches; i++) fprintf(out, "%u,%zu,%" PRIu32 "\n", pass, i, cycles[pass * touches + i]);
    const int broken = ferror(out);
    if (fclose(out) != 0 || broken)
        stop(EXIT_FAILED_WORK, "--out", "free space on the disk", "'%s' cannot be written: %s", path, strerror(errno));
}

int main(int count, char **arguments) {
    const struct options options = options_read(count, arguments);
    clock_require_invariant();
    bind_to(options.processor);
    const size_t touches = pass_touches(options.kind, options.bytes);
    uint32_t *cycles = room_for(touches * options.passes);
    struct pass *passes = calloc(options.passes, sizeof *passes);
    if (!passes) stop(EXIT_FAILED_WORK, "room for the passes", "give fewer --passes", "%s", strerror(errno));
    const int file = options.kind->file ? source_create(options.folder, options.bytes) : -1;
    const double hertz = clock_hertz();
    const uint64_t overhead = clock_overhead();
    for (unsigned pass = 0; pass < options.passes; pass++)
        passes[pass] = pass_run(options.kind, file, options.bytes, cycles + pass * touches);

    write_series(options.out, cycles, options.passes, touches);
    printf(
        "{\"kind\": \"%s\", \"bytes\": %zu, \"step\": %zu, \"touches\": %zu, \"processor\": %u, \"tsc_hertz\": %.0f, \"clock_cycles\": %" PRIu64
        ", \"passes\": [",
        options.kind->name, options.bytes, options.kind->step, touches, options.processor, hertz, overhead);
    for (unsigned pass = 0; pass < options.passes; pass++)
        printf("%s{\"minor_faults\": %" PRIu64 ", \"major_faults\": %" PRIu64 ", \"huge_bytes\": %" PRIu64 "}", pass ? ", " : "",
               passes[pass].minor_faults, passes[pass].major_faults, passes[pass].huge_bytes);
    printf("]}\n");
    free(passes);
    free(cycles);
    return 0;
}
