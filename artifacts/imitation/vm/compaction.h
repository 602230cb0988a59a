// compaction.h - compaction on behalf of a request that goes through the slow path (slow_path.h).
//
// Linux 6.12: mm/page_alloc.c __alloc_pages_direct_compact, should_compact_retry, compaction_zonelist_suitable.
#pragma once

#include "compact/compact.h"
#include "vm/system.h"

/// What the slow path of one request remembers.
struct vm_compaction {
    bool first;                       // the asynchronous attempt before reclaim
    enum compact_priority priority;   // of the next attempt after reclaim
    enum compact_result result;       // of the last attempt
    uint32_t retries;
};

struct vm_compaction vm_compaction_start(const struct phys_request *request);

/// One attempt: the frame, or PHYS_NO_FRAME. Nothing for order 0.
uint32_t vm_compact(struct vm_system *system, const struct phys_request *request, struct vm_compaction *work);

/// After the first attempt: a request without retries, of order 4 or more, gives up (skipped, deferred). Else its later attempt is
/// asynchronous, too.
bool vm_compaction_hopeless(const struct phys_request *request, struct vm_compaction *work);

/// should_compact_retry, after reclaim made progress.
bool vm_compaction_again(struct vm_system *system, const struct phys_request *request, struct vm_compaction *work);
