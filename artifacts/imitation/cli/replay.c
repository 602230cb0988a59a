#include "cli/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "phys/alloc.h"
#include "phys/percpu.h"
#include "phys/watermarks.h"

enum { ID_UNUSED = 0, ID_REFUSED = 1, ID_FRAME = 2 };   // an ID's value: unused, got nothing, or frame + ID_FRAME

struct replay {
    struct phys *p;
    FILE *out;
    uint32_t *ids;
    uint64_t ids_count;
    uint64_t *held;        // bit: first frame of a block that an ID stands for
    struct replay_counts *counts;
    struct error *error;
};

static bool id_at(struct replay *replay, const struct line *line, uint32_t **id, uint64_t *value) {
    if (!field_number(line, 1, 0, REPLAY_MOST_IDS - 1, value)) return false;
    if (*value >= replay->ids_count) {
        const uint64_t count = (*value + 1) * 2;
        uint32_t *larger = realloc(replay->ids, count * sizeof *larger);
        if (!larger) return false;
        memset(larger + replay->ids_count, 0, (count - replay->ids_count) * sizeof *larger);
        replay->ids = larger;
        replay->ids_count = count;
    }
    *id = &replay->ids[*value];
    return true;
}

/// `cpu=N` in field `at`, or no such field and CPU 0.
static bool cpu_at(const struct replay *replay, const struct line *line, uint32_t at, uint64_t *cpu) {
    *cpu = 0;
    if (line->count == at) return true;
    if (line->count != at + 1 || line->length[at] < 5 || memcmp(line->field[at], "cpu=", 4) != 0) return false;
    struct line number = *line;
    number.field[at] += 4;
    number.length[at] -= 4;
    return field_number(&number, at, 0, replay->p->cpus - 1, cpu);
}

static bool option(const struct replay *replay, const struct line *line, uint32_t at, struct phys_request *request) {
    char text[24];
    uint64_t cpu;
    if (!field_copy(line, at, text, sizeof text)) return false;
    if (strcmp(text, "no-wake") == 0) return !(request->may_wake_kswapd = false);
    if (strcmp(text, "no-reclaim") == 0) return !(request->may_reclaim = false);
    if (strcmp(text, "use-reserve") == 0) return request->may_use_reserve = true;
    if (strcmp(text, "no-reserves") == 0) return request->no_reserves = true;
    if (strncmp(text, "zone=", 5) == 0) {
        const int zone = phys_zone_named(text + 5);
        request->highest_zone = (uint8_t)zone;
        return zone >= 0;
    }
    struct line single = {.count = at + 1};
    single.field[at] = line->field[at];
    single.length[at] = line->length[at];
    if (!cpu_at(replay, &single, at, &cpu)) return false;
    request->cpu = (uint8_t)cpu;
    return true;
}

static const char *run_alloc(struct replay *replay, const struct line *line) {
    static const char *const reasons[] = {"", "compaction", "reclaim", "memory"};
    uint32_t *id;
    uint64_t name, order;
    char type_name[16];
    if (!id_at(replay, line, &id, &name)) return "alloc is followed by an ID below 67108864";
    if (*id != ID_UNUSED) return "this ID is in use";
    if (!field_number(line, 2, 0, PHYS_MAX_ORDER, &order)) return "an order from 0 to 10 follows the ID";
    const int type = field_copy(line, 3, type_name, sizeof type_name) ? phys_type_named(type_name) : -1;
    if (type < 0 || type >= PHYS_REQUEST_TYPES) return "the type is Unmovable, Movable or Reclaimable";
    struct phys_request request = phys_request_default((unsigned)order, (enum phys_type)type);
    for (uint32_t at = 4; at < line->count; ++at)
        if (!option(replay, line, at, &request)) return "options are zone=NAME, cpu=N, no-wake, no-reclaim, use-reserve and no-reserves";
    const struct phys_result result = phys_alloc(replay->p, &request);
    const bool got = result.outcome == PHYS_GOT_FRAMES;
    ++replay->counts->allocs;
    replay->counts->refused += !got;
    *id = got ? result.frame + ID_FRAME : ID_REFUSED;
    if (got) bitmap_set(replay->held, result.frame, 1);
    if (got) fprintf(replay->out, "%" PRIu64 " %u\n", name, result.frame);
    else fprintf(replay->out, "%" PRIu64 " none %s\n", name, reasons[result.outcome]);
    return NULL;
}

static const char *run_free(struct replay *replay, const struct line *line) {
    uint32_t *id;
    uint64_t name, cpu;
    if (!id_at(replay, line, &id, &name) || !cpu_at(replay, line, 2, &cpu))
        return "free is followed by an ID, and cpu=N if it is not CPU 0";
    if (*id == ID_UNUSED) return "no block in use has this ID";
    const uint32_t frame = *id - ID_FRAME;
    const bool refused = *id == ID_REFUSED;
    *id = ID_UNUSED;
    replay->counts->skipped += refused;
    if (refused) return NULL;
    ++replay->counts->frees;
    bitmap_clear(replay->held, frame, 1);
    return phys_free(replay->p, frame, frame_order(&replay->p->frames, frame), (uint32_t)cpu, replay->error) ? NULL : replay->error->found;
}

static const char *run_free_frame(struct replay *replay, const struct line *line) {
    uint64_t frame, order, cpu;
    if (!field_number(line, 1, 0, PHYS_MOST_FRAMES, &frame) || !field_number(line, 2, 0, PHYS_MAX_ORDER, &order) ||
        !cpu_at(replay, line, 3, &cpu))
        return "free-frame is followed by FRAME ORDER, and cpu=N if it is not CPU 0";
    if (frame < replay->p->frames.count && bitmap_get(replay->held, frame)) return "this block has an ID: free it by its ID";
    ++replay->counts->frees;
    return phys_free(replay->p, (uint32_t)frame, (unsigned)order, (uint32_t)cpu, replay->error) ? NULL : replay->error->found;
}

static const char *run_lru(struct replay *replay, const struct line *line) {
    uint32_t *id;
    uint64_t name;
    const bool on = field_is(line, 2, "on");
    if (line->count != 3 || !id_at(replay, line, &id, &name) || (!on && !field_is(line, 2, "off"))) return "lru is followed by ID on|off";
    if (*id == ID_UNUSED) return "no block in use has this ID";
    replay->counts->skipped += *id == ID_REFUSED;
    if (*id == ID_REFUSED) return NULL;
    return phys_set_lru(replay->p, *id - ID_FRAME, on, replay->error) ? NULL : replay->error->found;
}

static const char *run_drain(struct replay *replay, const struct line *line) {
    uint64_t cpu;
    if (!cpu_at(replay, line, 1, &cpu)) return "drain is followed by cpu=N, or by nothing for all CPUs";
    if (line->count == 1) percpu_drain_all(replay->p, 0);
    else percpu_drain(replay->p, (uint32_t)cpu, (uint32_t)cpu);
    return NULL;
}

static const char *run_refresh(struct replay *replay, const struct line *line) {
    uint64_t cpu;
    if (!cpu_at(replay, line, 1, &cpu)) return "refresh is followed by cpu=N, or by nothing for CPU 0";
    percpu_refresh(replay->p, (uint32_t)cpu);
    return NULL;
}

static const char *run_kswapd(struct replay *replay, const struct line *line) {
    static const char *const rule = "kswapd is followed by zone=NAME, or by nothing for all zones";
    char text[24] = "zone=Normal";
    if (line->count > 2 || (line->count == 2 && !field_copy(line, 1, text, sizeof text))) return rule;
    const int zone = strncmp(text, "zone=", 5) == 0 ? phys_zone_named(text + 5) : -1;
    if (zone < 0) return rule;
    watermark_kswapd_pass(replay->p, (enum phys_zone)zone, 0);
    return NULL;
}

static const char *run_line(struct replay *replay, const struct line *line) {
    static const struct {
        const char *key;
        const char *(*run)(struct replay *, const struct line *);
    } events[] = {{"alloc", run_alloc}, {"free", run_free},       {"free-frame", run_free_frame}, {"lru", run_lru},
                  {"drain", run_drain}, {"refresh", run_refresh}, {"kswapd", run_kswapd}};
    for (size_t i = 0; i < sizeof events / sizeof *events; ++i)
        if (field_is(line, 0, events[i].key)) return events[i].run(replay, line);
    return "events are alloc, free, free-frame, lru, drain, refresh and kswapd";
}

bool replay_run(struct phys *p, const char *text, size_t bytes, const char *name, bool decisions, FILE *out, struct replay_counts *counts,
                struct error *error) {
    struct replay replay = {.p = p, .out = out, .counts = counts, .error = error};
    struct lines lines;
    struct line line;
    const char *rule = NULL;
    *counts = (struct replay_counts){0};
    p->events = (struct events){.context = out, .frames = decisions ? phys_event_print : NULL};
    lines_start(&lines, text, bytes, name);
    replay.held = calloc(bitmap_words(p->frames.count), sizeof *replay.held);
    if (!replay.held) rule = "out of memory";
    while (!rule && lines_next(&lines, &line)) {
        const uint32_t last = line.count - 1;
        if (decisions) fprintf(out, "> %.*s\n", (int)(line.field[last] + line.length[last] - line.field[0]), line.field[0]);
        rule = run_line(&replay, &line);
    }
    p->events = (struct events){0};
    free(replay.ids);
    free(replay.held);
    if (!rule && !lines.broken && (fflush(out) != 0 || ferror(out))) rule = "the output cannot be written";
    if (!rule && !lines.broken) return true;
    char copy[300];
    snprintf(copy, sizeof copy, "%s", rule ? rule : lines.broken);
    return lines_refuse(&lines, copy, "correct this event; the events above it ran", error);
}
