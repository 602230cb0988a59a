// vm_replay.h - a file of events of one process and its children, run on a system (`tessera-vm --help` has the format).
//
// Contract: the file is read and run line by line; an impossible event stops the run with an error, after the events above it
// ran. An event that Linux would refuse (no area there, a range in the way) is impossible, too. The same system and file give
// the same output bytes.
#pragma once

#include <stdio.h>

#include "vm/fault.h"

struct vm_replay_counts {
    uint64_t faults[FAULT_KINDS][2];     // by kind and size: 4KB, 2MB. FAULT_NONE counts accesses without a fault
    uint64_t collapsed;
    uint64_t kswapd_passes;
};

/// Prints to `out`; with `decisions` also what physical memory, the page cache, reclaim, swap and compaction decided, with `changes` what became
/// of page tables and areas. The process does not exit; its children do. `name` is for messages.
bool vm_replay_run(struct process *process, const char *text, size_t bytes, const char *name, bool decisions, bool changes, FILE *out,
                   struct vm_replay_counts *counts, struct error *error);
