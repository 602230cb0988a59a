// slab.h - SLUB: caches of small objects of the kernel, with slabs of each CPU.
//
// Linux 6.12: mm/slub.c, CONFIG_SLUB_CPU_PARTIAL, without SLUB_TINY, debugging, CONFIG_SLAB_FREELIST_RANDOM; one node. A *slab* is a
// block of 2^order frames, unmovable, or reclaimable for caches with SLAB_RECLAIM_ACCOUNT; it is cut into objects. Rules:
// - calculate_order: at least 4 x (fls(CPUs) + 1) objects if 32KB hold so many; the smallest order up to 3 that wastes at most 1/16 of the slab,
//   else 1/8, 1/4, 1/2. With one CPU the possible CPUs count.
// - cpu_partial: 120 objects below 256 bytes, 52 below 1KB, 24 below a page, else 6; in slabs: twice that / objects of a slab,
//   rounded up (set_cpu_partial). min_partial: log2(size) / 2, from 5 to 10.
// - ___slab_alloc: the CPU's list of free objects, the rest of its slab, its partial slabs (youngest first), the node's partial slabs (oldest
//   first; some more go to the CPU, up to cpu_partial / 2 + 1), a new slab.
// - A new slab: without reclaim first, if its order is above the least order; then of the least order with the rights of the caller
//   (allocate_slab).
// - __slab_free: an object of the CPU's slab joins its list. Another slab that was full becomes one of the CPU's partial slabs; if
//   there are cpu_partial_slabs, those go to the node first. A partial slab of the node that becomes empty is freed if the node has
//   min_partial others or more.
// - Slabs that go to the node join its list at the tail; empty ones are freed in the same case (__put_partials).
// - Free objects are a stack: the last one freed is given out next; those of a new slab in ascending order.
// Left out: merging of caches with equal sizes, bulk calls, arrays of memory cgroups beside a slab, frees that wait for RCU
// (SLAB_TYPESAFE_BY_RCU, vm_area_free): they happen at once.
#pragma once

#include "phys/alloc.h"

enum { SLAB_MOST_ORDER = 3, SLAB_MOST_OBJECTS = 32767, SLAB_LEAST_PARTIAL = 5, SLAB_MOST_PARTIAL = 10, SLAB_NAME_BYTES = 32 };
#define SLAB_NONE UINT32_MAX

/// One object: its slab and its place in it. SLAB_NO_OBJECT: none.
typedef uint64_t slab_object;
#define SLAB_NO_OBJECT UINT64_MAX

struct slab {
    uint32_t frame;
    uint8_t order;
    bool frozen;  // a CPU has it
    bool on_node;  // on the node's list
    uint16_t objects, used;
    uint16_t free;  // first free object; SLAB_END: none
    uint32_t next, previous;  // on the node's list; `next` also on a CPU's list of partial slabs
    uint32_t behind;  // slabs on that list from here on (slab->slabs)
    uint16_t *link;  // of free objects
};
enum { SLAB_END = UINT16_MAX };

struct slab_cpu {
    uint32_t slab;  // SLAB_NONE: none
    uint16_t free;  // first free object that only this CPU may take
    uint32_t partial;  // first partial slab
};

struct slab_counts {
    uint64_t allocs, frees, new_slabs, freed_slabs;
    uint64_t from_node, from_cpu_partial, to_node;  // slabs: ALLOC_FROM_PARTIAL, CPU_PARTIAL_ALLOC; drained lists: CPU_PARTIAL_DRAIN
};

struct slab_cache {
    char name[SLAB_NAME_BYTES];
    struct phys *phys;
    uint32_t object_bytes, size;  // asked for; with alignment and link
    bool reclaimable;
    unsigned order, least_order;
    uint32_t objects;  // of a slab of `order`
    uint32_t cpu_partial, cpu_partial_slabs, min_partial;
    struct slab *slab;  // by number
    size_t slabs, room;
    uint32_t spare;  // chain of unused numbers
    uint32_t node_first, node_last, node_count;
    struct slab_cpu *cpu;  // one for each
    struct slab_counts counts;
};

/// What kmem_cache_create is asked for. `link_outside`: the link of free objects may not lie in the object (constructor, or
/// SLAB_TYPESAFE_BY_RCU), and takes 8 bytes more.
struct slab_kind {
    const char *name;
    uint32_t object_bytes, align;
    bool link_outside, reclaimable;
};

/// The kinds that areas need. Sizes: `sizeof` in the debug information of a 6.12.117 kernel for x86-64 with SMP, PER_VMA_LOCK, SWAP,
/// MEMCG, USERFAULTFD, without NUMA and ANON_VMA_NAME (vm_area_struct: 8 bytes more for each of NUMA, NUMA_BALANCING,
/// ANON_VMA_NAME). anon_vma has a constructor and TYPESAFE_BY_RCU: 96 + 8; radix_tree_node has a constructor: 576 + 8.
enum slab_known { SLAB_VM_AREA, SLAB_VMA_LOCK, SLAB_ANON_VMA, SLAB_ANON_VMA_CHAIN, SLAB_MAPLE_NODE, SLAB_RADIX_TREE_NODE, SLAB_KNOWN };
extern const struct slab_kind slab_known[SLAB_KNOWN];

/// `possible_cpus` count where only one CPU is present; 0: the present ones. False: an impossible size.
bool slab_cache_create(struct slab_cache *cache, struct phys *phys, const struct slab_kind *kind, uint32_t possible_cpus);

/// All objects are free. Gives all slabs back.
void slab_cache_destroy(struct slab_cache *cache, uint32_t cpu);

/// An object; SLAB_NO_OBJECT: *outcome says why.
slab_object slab_alloc(struct slab_cache *cache, uint32_t cpu, enum phys_outcome *outcome);
void slab_free(struct slab_cache *cache, slab_object object, uint32_t cpu);

/// kmem_cache_shrink as far as one CPU goes: its slabs go to the node, and the node's empty ones are freed. The node's list is not
/// sorted by use.
void slab_shrink(struct slab_cache *cache, uint32_t cpu);

/// Order of slabs for objects of `size` bytes (calculate_order).
unsigned slab_order(uint32_t size, uint32_t cpus);

/// Physical frame and byte of an object.
static inline uint64_t slab_address(const struct slab_cache *cache, slab_object object) {
    return (uint64_t)cache->slab[object >> 16].frame * PHYS_FRAME_BYTES + (object & UINT16_MAX) * cache->size;
}

/// NULL if the lists are whole, else the rule that is broken. For tests.
const char *slab_check(const struct slab_cache *cache);
