// fault_huge.h - the part of a fault that 2MB mappings have (fault.h).
#pragma once

#include "vm/fault.h"

/// Tries the fault with 2MB in the level-1 table. True: done, or it needs something. False: the fault goes on with 4KB.
bool fault_huge(struct process *process, size_t area, uint64_t page, bool write, uint32_t cpu, enum fault_try attempt,
                struct pt_table *table, struct fault *fault);
