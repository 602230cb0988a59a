// foreign.h - pages of others: blocks of order 0 that a snapshot has both as `used` and on an LRU list (phys/snapshot.h).
//
// They belong to programs that the events do not run, for example the shell of a guest. Compaction moves them, as it moves any page of
// an LRU list (mm/compaction.c isolate_migratepages_block). Reclaim does not see them: they are on the unevictable list.
#pragma once

#include "vm/system.h"

enum { LRU_OWNER_FOREIGN = 2 };

/// The blocks join the LRU; returns how many. Blocks of an unknown order stay where they are: nothing moves them.
uint32_t foreign_adopt(struct vm_system *system);
