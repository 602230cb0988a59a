// areas.h - the areas (VMAs) of one process: disjoint ranges of pages with equal rights and backing, ascending.
//
// Encoding: a sorted array; a search takes log2(n) steps, an insertion moves the areas above it (48 bytes each). Pages are
// virtual page numbers.
// `offset` counts pages: of the file, or, for anonymous areas, the page at which the area was first touched or mapped; mremap
// keeps it (mm/vma.c copy_vma). So it decides which moved areas merge again.
// `anon` names what Linux calls an anon_vma: 0 until the first fault that needs one, then shared with a compatible neighbour or
// new.
// Left out: stacks that grow, mlock, userfaultfd, names, memory policies, sealing. The limit of 65530 areas is
// the caller's.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/area_slabs.h"

enum area_flag {
    AREA_READ = 1 << 0,
    AREA_WRITE = 1 << 1,
    AREA_EXEC = 1 << 2,
    AREA_SHARED = 1 << 3,
    AREA_HUGEPAGE = 1 << 4,      // MADV_HUGEPAGE
    AREA_NOHUGEPAGE = 1 << 5,    // MADV_NOHUGEPAGE
    AREA_ACCOUNT = 1 << 6,       // counts for overcommit: private, writable once (mm/mmap.c accountable_mapping)
    AREA_NORESERVE = 1 << 7,     // MAP_NORESERVE
    AREA_HUGETLB_2MB = 1 << 8,   // pages from a pool (hugetlb.h)
    AREA_HUGETLB_1GB = 1 << 9,
    AREA_HUGETLB_LOST = 1 << 10, // the owner took a page back (HPAGE_RESV_UNMAPPED)
    AREA_HUGETLB = AREA_HUGETLB_2MB | AREA_HUGETLB_1GB,
};
enum { AREA_RIGHTS = AREA_READ | AREA_WRITE | AREA_EXEC, AREA_MOST = 65530 };

struct area {
    uint64_t start, end;         // pages [start, end)
    uint64_t offset;             // pages
    uint32_t file;               // 0: anonymous and private; else the caller's name of a file, or of shared memory
    uint32_t anon;
    uint32_t flags;              // enum area_flag; areas with different flags never merge
    uint32_t chain;              // elements of its anon_vma_chain: 0 without `anon`; in the child of a fork one more than in the parent
    uint64_t swap_readahead;     // of the last swap fault (swap_in.h); 0: none yet. Kept by splits, and by the lower area of a merge
};

/// Called before a border of an area moves to `page`, where a 2MB mapping must end (mm/huge_memory.c vma_adjust_trans_huge).
typedef void areas_border(void *context, uint64_t page);

/// An area is there from now on, in this form: what others had of its range is its own. Or none is: `area` is NULL.
struct area_change {
    const struct areas *areas;
    uint64_t start, end;
    const struct area *area;
};

struct areas {
    struct area *item;
    size_t count, room;
    size_t recent;               // where the last search ended
    uint32_t last_anon;
    const struct events *events; // who is told of changes (struct area_change); NULL: nobody
    areas_border *border;        // NULL: no mappings to care about
    struct area_slabs *slabs;    // NULL: areas cost no frames
    struct area_objects *objects;        // of each area, with slabs
    size_t objects_room;
    void *context;
};

void areas_destroy(struct areas *areas);

/// Index of the first area that ends above `page`; `count` if there is none (mm/mmap.c find_vma).
size_t areas_from(struct areas *areas, uint64_t page);

/// The area that contains `page`; NULL if none does.
struct area *areas_at(struct areas *areas, uint64_t page);

/// True if no area overlaps [start, end).
bool areas_free(struct areas *areas, uint64_t start, uint64_t end);

/// Which neighbours a new area may merge with: brk asks for the one below only, and for none if the heap is empty.
enum areas_join { AREAS_JOIN_NONE, AREAS_JOIN_BELOW, AREAS_JOIN_BOTH };

/// Adds an area to a free range; it merges where merge.h and `join` allow. Returns the index of the area that now holds the
/// range. *merged may be NULL.
size_t areas_add(struct areas *areas, const struct area *area, enum areas_join join, bool *merged);

/// The area `to` is a copy of the area `from`, which has an `anon`: its objects get the same links (anon_vma_clone).
void areas_link(struct areas *areas, size_t to, size_t from);

/// [start, end) of the area `index` gets other flags: it merges with a neighbour, or the area is split. Returns the index of
/// the area that now holds the range.
size_t areas_change(struct areas *areas, size_t index, uint64_t start, uint64_t end, uint32_t flags, bool *merged);

/// Splits the areas that cross the borders of [start, end). Returns the index of the first area in it; *last is one after the
/// last.
size_t areas_isolate(struct areas *areas, uint64_t start, uint64_t end, size_t *last);

/// Removes the areas [first, last).
void areas_remove(struct areas *areas, size_t first, size_t last);

/// Tells that an area is there, or has changed.
void areas_report(const struct areas *areas, size_t index);

/// Gives the area an `anon` if it has none (mm/rmap.c __anon_vma_prepare).
void areas_need_anon(struct areas *areas, size_t index);
