// area_slabs.h - what areas cost: objects of the kernel, in slabs of physical memory.
//
// Linux 6.12: kernel/fork.c vm_area_alloc, vm_area_dup, vm_area_free; mm/rmap.c __anon_vma_prepare, anon_vma_clone, anon_vma_fork,
// unlink_anon_vmas. Rules:
// - Each area: a vm_area_struct, then its vma_lock (PER_VMA_LOCK). A split copies the area: the same two, then an anon_vma_chain for each element
//   of its list.
// - The first fault that needs an anon_vma: a link (anon_vma_chain), then the anon_vma, unless a neighbour's is shared.
// - fork: per area the two, a link for each element of the parent's list, an anon_vma, and its link.
// - An area that ends: its links, and each anon_vma that lost its last link (a root: when its last descendant is gone, too); then lock and area.
// - Frees happen at once; Linux frees areas and anon_vmas after an RCU grace period.
// Left out: nodes of the areas' tree (maple_node), mm_struct, names, policies, files, the lock of hugetlb areas.
#pragma once

#include <stddef.h>

#include "slab/slab.h"

/// An anon_vma: index 0 of the table is unused.
struct anon_object {
    slab_object object;
    uint32_t links, children;  // elements of lists that name it; anon_vmas whose root it is
    uint32_t root;  // itself, if it is one
    bool put;  // it lost its last link
};

struct area_link {
    slab_object object;
    uint32_t anon;  // in the table
};

/// Of one area. The last link names the area's own anon_vma.
struct area_objects {
    slab_object area, lock;
    struct area_link *link;
    size_t links, room;
};

struct area_slabs {
    struct slab_cache cache[SLAB_MAPLE_NODE];  // those of enum slab_known below it
    struct anon_object *anon;
    size_t anons, anon_room;
    uint32_t spare;  // chain of unused ones, by `root`
    uint32_t cpu;  // of the call in progress
    uint64_t failed;  // objects that physical memory refused: they cost nothing
};

void area_slabs_create(struct area_slabs *slabs, struct phys *phys, uint32_t possible_cpus);

/// All areas have ended.
void area_slabs_destroy(struct area_slabs *slabs);

struct area_objects area_objects_new(struct area_slabs *slabs);
struct area_objects area_objects_copy(struct area_slabs *slabs, const struct area_objects *from);
void area_objects_free(struct area_slabs *slabs, struct area_objects *objects);

/// anon_vma_clone into an area without links.
void area_objects_clone(struct area_slabs *slabs, struct area_objects *objects, const struct area_objects *from);

/// __anon_vma_prepare; `neighbour`: whose anon_vma is shared, or NULL.
void area_objects_prepare(struct area_slabs *slabs, struct area_objects *objects, const struct area_objects *neighbour);

/// The area of a fork's child gets an anon_vma of its own behind the parent's (anon_vma_fork).
void area_objects_fork(struct area_slabs *slabs, struct area_objects *objects);
