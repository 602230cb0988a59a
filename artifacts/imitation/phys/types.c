#include "phys/types.h"

#include <string.h>

static const char *const type_names[PHYS_TYPES] = {"Unmovable", "Movable", "Reclaimable", "HighAtomic"};
static const char *const zone_names[PHYS_ZONES] = {"DMA", "DMA32", "Normal"};

const char *phys_type_name(int type) { return type >= 0 && type < PHYS_TYPES ? type_names[type] : "?"; }

const char *phys_zone_name(int zone) { return zone >= 0 && zone < PHYS_ZONES ? zone_names[zone] : "?"; }

static int named(const char *const *names, int count, const char *name) {
    for (int i = 0; i < count; ++i)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

int phys_type_named(const char *name) { return named(type_names, PHYS_TYPES, name); }

int phys_zone_named(const char *name) { return named(zone_names, PHYS_ZONES, name); }
