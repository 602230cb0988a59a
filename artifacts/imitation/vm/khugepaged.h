// khugepaged.h - the scan loop: one wake-up looks at `pages_to_scan` entries (thp.h).
//
// Linux 6.12: mm/khugepaged.c khugepaged_do_scan, khugepaged_scan_mm_slot. Progress: 1 for each process, 1 for each area that is
// skipped, 512 for each range.
// After each range that got as far as an allocation the loop starts again at the next range. A wake-up starts a full scan at
// most once.
// After the first refused block Linux sleeps for 60 s and goes on; after the second the wake-up ends.
// A wake-up comes each 10 s (scan_sleep_millisecs): the time is the caller's. LRU batches are drained first.
#pragma once

#include "vm/collapse.h"

/// One wake-up on a CPU; each range is reported with what became of it (struct events, scan). Returns the number of ranges that were collapsed.
uint64_t khugepaged_wake(struct vm_system *system, uint32_t cpu);
