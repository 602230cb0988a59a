// options.h - the command line of tessera-phys.
#pragma once

#include "phys/fragmenter.h"
#include "phys/phys.h"

#define OPTIONS_MOST_MEMORY (UINT64_C(1) << 50)  // bytes of --memory

struct options {
    const char *command;         // show, replay or fragment
    const char *events;          // replay: the file of events
    const char *snapshot, *map;  // start: at most one of snapshot, map, memory_bytes
    uint64_t memory_bytes;
    const char *write_snapshot;  // NULL: none
    bool decisions;              // replay: print every decision, not only outcomes
    struct phys_config config;
    bool has_config;             // an option of the machine was given, which a snapshot contains already
    struct fragmenter_goal goal;
    bool has_goal;
    bool help;
};

bool options_parse(struct options *options, int count, char **arguments, struct error *error);

extern const char *const options_help;
