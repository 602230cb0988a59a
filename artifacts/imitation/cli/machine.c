#include "cli/machine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/publish.h"
#include "phys/indices.h"
#include "phys/snapshot.h"

static bool failed(struct error *error, const char *path) {
    error_asked(error, "file %s", path);
    error_found(error, "%s", strerror(errno));
    return error_remedy(error, "check the path and its permissions");
}

char *read_file(const char *path, size_t *bytes, struct error *error) {
    FILE *file = fopen(path, "rb");
    size_t room = 1 << 16;
    char *text = file ? malloc(room) : NULL;
    *bytes = 0;
    while (text) {
        *bytes += fread(text + *bytes, 1, room - *bytes, file);
        if (*bytes < room) break;
        char *larger = realloc(text, room *= 2);
        if (!larger) free(text);
        text = larger;
    }
    if (!text || ferror(file)) {
        failed(error, path);
        free(text);
        text = NULL;
    }
    if (file) fclose(file);
    return text;
}

static bool from_file(struct phys *p, const struct options *options, struct error *error) {
    const char *path = options->snapshot ? options->snapshot : options->map;
    struct memory_map map;
    size_t bytes;
    char *text = read_file(path, &bytes, error);
    if (!text) return false;
    bool done;
    if (options->snapshot) {
        done = snapshot_read(p, text, bytes, path, PHYS_MOST_FRAMES, error);
    } else {
        done = memory_map_parse(&map, text, bytes, path, error);
        if (done) {
            done = phys_create(p, &map, &options->config, error);
            memory_map_destroy(&map);
        }
    }
    free(text);
    return done;
}

bool machine_create(struct phys *p, const struct options *options, struct error *error) {
    struct memory_map map;
    if (options->memory_bytes == 0) return from_file(p, options, error);
    if (!memory_map_pc(&map, options->memory_bytes, error)) return false;
    const bool done = phys_create(p, &map, &options->config, error);
    memory_map_destroy(&map);
    return done;
}

bool machine_write(const struct phys *p, const char *path, struct error *error) {
    char temporary[4096];
    if (snprintf(temporary, sizeof temporary, "%s.tmp", path) >= (int)sizeof temporary) {
        errno = ENAMETOOLONG;
        return failed(error, path);
    }
    FILE *file = fopen(temporary, "wb");
    if (!file) return failed(error, temporary);
    if (snapshot_write(p, file)) return publish_file(file, temporary, path) || failed(error, path);
    failed(error, path);
    fclose(file);
    return remove(temporary) == 0 ? false : error_remedy(error, "check the path and its permissions, and remove %s", temporary);
}

void machine_show(const struct phys *p, FILE *out) {
    fprintf(out, "cpus %u, min_free_kbytes %u\n", p->cpus, p->min_free_kbytes);
    for (int i = 0; i < PHYS_ZONES; ++i) {
        const struct zone *zone = &p->zones[i];
        if (!zone->populated) continue;
        int64_t percpu = 0;
        for (uint32_t cpu = 0; cpu < p->cpus; ++cpu) percpu += zone->percpu[cpu].count;
        fprintf(out, "zone %s: frames: spanned %u, present %u, managed %u, free %" PRId64 ", per-CPU %" PRId64 "\n", phys_zone_name(i),
                zone->spanned_frames, zone->present_frames, zone->managed_frames, phys_zone_free(p, (enum phys_zone)i), percpu);
        fprintf(out, "  marks (frames): min %u, low %u, high %u, boost %u; lowmem reserve %u %u %u\n", zone->marks[PHYS_MARK_MIN],
                zone->marks[PHYS_MARK_LOW], zone->marks[PHYS_MARK_HIGH], zone->boost, zone->lowmem_reserve[PHYS_DMA],
                zone->lowmem_reserve[PHYS_DMA32], zone->lowmem_reserve[PHYS_NORMAL]);
        fprintf(out, "  per-CPU lists: batch %d, high %d to %d\n", zone->percpu[0].batch, zone->percpu[0].high_min,
                zone->percpu[0].high_max);
        fprintf(out, "  order:       ");
        for (unsigned order = 0; order < PHYS_ORDERS; ++order) fprintf(out, " %6u", order);
        fprintf(out, "\n  free blocks: ");
        for (unsigned order = 0; order < PHYS_ORDERS; ++order) fprintf(out, " %6u", zone->blocks[order]);
        fprintf(out, "\n  extfrag:     ");
        for (unsigned order = 0; order < PHYS_ORDERS; ++order) fprintf(out, " %6d", extfrag_index(zone, order));
        fprintf(out, "\n  unusable:    ");
        for (unsigned order = 0; order < PHYS_ORDERS; ++order) fprintf(out, " %6d", unusable_index(zone, order));
        fprintf(out, "\n");
    }
}
