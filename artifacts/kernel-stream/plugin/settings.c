// SPDX-License-Identifier: GPL-2.0-only
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

static const char *const REMEDY = "record with: ./run tessera lab faults stream record";

/// Puts the addresses of a line into the settings; false if there is no such name, or not that many addresses.
static bool take(struct settings *settings, const char *name, uint64_t first, uint64_t second, int count) {
    const struct {
        const char *name;
        uint64_t *first, *second;
    } places[] = {
        {"entry", &settings->entry, NULL},
        {"return", &settings->leave, NULL},
        {"schedule", &settings->schedule, NULL},
        {"vectors", &settings->vectors_begin, &settings->vectors_end},
        {"touch", &settings->touch_begin, &settings->touch_end},
    };
    if (strcmp(name, "interrupt") == 0) {
        if (count != 1 || settings->interrupt_count == MOST_INTERRUPTS) return false;
        settings->interrupts[settings->interrupt_count++] = first;
        return true;
    }
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        if (strcmp(name, places[i].name) != 0) continue;
        if (count != (places[i].second ? 2 : 1) || (places[i].second && second <= first)) return false;
        *places[i].first = first;
        if (places[i].second) *places[i].second = second;
        return true;
    }
    return false;
}

static void require_all(const struct settings *settings, const char *path) {
    const struct {
        const char *name;
        bool there;
    } needed[] = {
        {"out", settings->out[0] != 0},
        {"entry", settings->entry != 0},
        {"return", settings->leave != 0},
        {"schedule", settings->schedule != 0},
        {"interrupt", settings->interrupt_count != 0},
        {"vectors", settings->vectors_end != 0},
        {"touch", settings->touch_end != 0},
    };
    for (unsigned i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!needed[i].there) stop(path, REMEDY, "line '%s' is missing", needed[i].name);
}

struct settings settings_read(const char *path) {
    struct settings settings = {.out = ""};
    FILE *file = fopen(path, "r");
    if (!file) stop(path, REMEDY, "%s", strerror(errno));
    char line[PATH_BYTES + 16];
    for (unsigned number = 1; fgets(line, sizeof line, file); number++) {
        char name[16] = "", rest[8] = "";
        unsigned long long first = 0, second = 0;
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "out ", 4) == 0) {
            const size_t bytes = strlen(line + 4) + 1;
            if (bytes > sizeof settings.out) stop(path, REMEDY, "line %u has a path of %zu bytes", number, bytes);
            memcpy(settings.out, line + 4, bytes);
            continue;
        }
        const int found = sscanf(line, "%15s %llx %llx %7s", name, &first, &second, rest) - 1;
        if (found < 1 || found > 2 || !take(&settings, name, first, second, found))
            stop(path, REMEDY, "line %u, '%s', is no setting", number, line);
    }
    fclose(file);
    require_all(&settings, path);
    return settings;
}

bool settings_is_interrupt(const struct settings *settings, uint64_t pc) {
    if (settings->vectors_begin <= pc && pc < settings->vectors_end) return true;
    for (unsigned i = 0; i < settings->interrupt_count; i++)
        if (settings->interrupts[i] == pc) return true;
    return false;
}
