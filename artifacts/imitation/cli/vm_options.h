// vm_options.h - the command line of tessera-vm.
#pragma once

#include "cli/options.h"
#include "vm/policy.h"

struct vm_options {
    struct options machine;      // the start: memory_bytes or snapshot, cpus
    const char *events;
    const struct vm_policy *policy;
    struct thp thp;
    unsigned root_order;
    uint32_t swap_pages;         // 0: no swap
    bool swap_synchronous;
    uint32_t page_cluster, swappiness;
    bool has_enabled, has_defrag, has_zero_page;    // given; without an option, the boot decides (vm_options_settle)
    const char *disk;            // a model and its parameters (disk/disk.h); NULL: none, reads take no time
    bool ram_disk;               // reads of files are done at once
    bool others_move;            // pages of others on the snapshot's LRU lists (vm/foreign.h)
    bool slabs;                  // areas cost frames (vm/area_slabs.h)
    bool decisions, changes;     // print what physical memory decided; and changes of page tables and areas
    bool help;
};

bool vm_options_parse(struct vm_options *options, int count, char **arguments, struct error *error);

/// Settings without an option become those that Linux boots with on this memory (thp_boot).
void vm_options_settle(struct vm_options *options, const struct phys *p);

extern const char *const vm_options_help;
