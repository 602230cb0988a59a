// tessera-phys: shows, replays and fragments an imitation of Linux 6.12's physical memory.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/machine.h"
#include "cli/replay.h"

static bool replay(struct phys *p, const struct options *options, int *status, struct error *error) {
    struct replay_counts counts;
    size_t bytes;
    char *text = read_file(options->events, &bytes, error);
    if (!text) {
        *status = 2;
        return false;
    }
    const bool done = replay_run(p, text, bytes, options->events, options->decisions, stdout, &counts, error);
    free(text);
    fprintf(stderr, "%" PRIu64 " allocs, %" PRIu64 " of them refused, %" PRIu64 " frees, %" PRIu64 " events of refused allocs skipped\n",
            counts.allocs, counts.refused, counts.frees, counts.skipped);
    return done;
}

static bool fragment(struct phys *p, const struct options *options, struct error *error) {
    struct fragmenter_pins pins;
    if (!fragmenter_run(p, &options->goal, &pins, error)) return false;
    printf("index %d thousandths, %u frames pinned\n", pins.reached, pins.count);
    free(pins.frames);
    return true;
}

int main(int count, char **arguments) {
    struct options options;
    struct error error;
    struct phys p;
    int status = 1;
    if (!options_parse(&options, count, arguments, &error) || (!options.help && !machine_create(&p, &options, &error))) {
        error_print(&error, "tessera-phys", stderr);
        return 2;
    }
    if (options.help) return fputs(options_help, stdout) < 0;
    bool done = true;
    if (strcmp(options.command, "replay") == 0) done = replay(&p, &options, &status, &error);
    else if (strcmp(options.command, "fragment") == 0) done = fragment(&p, &options, &error);
    else machine_show(&p, stdout);
    if (done && options.write_snapshot) done = machine_write(&p, options.write_snapshot, &error);
    phys_destroy(&p);
    if (!done) error_print(&error, "tessera-phys", stderr);
    return done ? 0 : status;
}
