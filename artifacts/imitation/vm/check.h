// check.h - the invariants of a system and its processes, checked one by one: for tests and for the fuzzer.
//
// No frame is mapped or used as a table twice; each is in use with its order; entries lie in areas that allow them; 2MB mappings
// and deposited tables are equal in number in each level-1 table; counts of tables, pages and mappings of split blocks are
// exact; areas are ascending and disjoint; frames name their mappings; the LRU lists are whole (lru/check.h).
#pragma once

#include "vm/process.h"

/// NULL if all hold, else the first one that does not. Needs 1 bit for each frame.
const char *vm_check(const struct vm_system *system, struct process *const *processes, size_t count);
