// vm_options.h - the command line of tessera-vm.
#pragma once

#include "cli/options.h"
#include "vm/thp.h"

struct vm_options {
    struct options machine;      // the start: memory_bytes or snapshot, cpus
    const char *events;
    struct thp thp;
    unsigned root_order;
    bool decisions;              // print what physical memory decided, too
    bool help;
};

bool vm_options_parse(struct vm_options *options, int count, char **arguments, struct error *error);

extern const char *const vm_options_help;
