// place.h - where mmap puts a private anonymous area when the program names no address.
//
// Linux 6.12: the highest gap that is large enough (arch_get_unmapped_area_topdown). Lengths that are a multiple of 2MB are
// aligned to 2MB: the search asks for 2MB more and moves up to the border (mm/mmap.c __get_unmapped_area, mm/huge_memory.c
// __thp_get_unmapped_area); if no gap has 2MB more, it does without. Left out: gaps that stacks keep, address randomization (the
// caller's `high` contains it), hints, the bottom-up search after a search without success; files and shared memory, which have
// rules of their own (mm/shmem.c shmem_get_unmapped_area).
#pragma once

#include "vm/areas.h"

/// First page of a free range of `pages` in [low, high); 0 if there is none (low > 0).
uint64_t place_area(const struct areas *areas, uint64_t pages, uint64_t low, uint64_t high);
