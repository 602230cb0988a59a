// space.h - the two pools as one program sees them: the memory calls of Linux, answered from the pools.
//
// The heap pool is a break that moves; the anonymous pool hands out the lowest range that fits (first fit, as
// in MICRO'20 section V). Which offsets a program gets depends on its calls only, never on the windows.
//
// Callers hold the lock. Results are the kernel's: an address or 0, or -errno. Calls that concern no pool return
// through `outside`, which passes them on.
#pragma once

#include "core/base.h"
#include "core/free_list.h"
#include "core/layout.h"
#include "core/pool.h"
#include "mosalloc/pool_map.h"

namespace mosalloc {

class Space {
public:
    /// Pools at these addresses, reserved already. `map` gets every change. False when tables can't be had.
    bool init(uint64_t heap_base, uint64_t anon_base, const Layout& layout, mosalloc_pool_map* map);
    Pool& pool(uint64_t kind) { return pools_[kind]; }
    /// A forked child keeps its own count, in a map of its own.
    void set_map(mosalloc_pool_map* map) { map_ = map; }

    bool overlaps(Range addresses) const;
    /// The pool that holds all of `addresses`, or null.
    Pool* holder(Range addresses);

    long map(uint64_t bytes, int prot, bool populate);
    /// MAP_FIXED of private anonymous memory inside one pool.
    long map_fixed(Range addresses, int prot);
    /// MAP_FIXED of anything else (a file, shared memory) inside one pool; impossible over a window.
    long map_foreign(Range addresses, int prot, int flags, int fd, uint64_t offset);
    long unmap(Range addresses);
    long protect(Range addresses, int prot);
    long advise(Range addresses, int advice);
    long remap(uint64_t old, uint64_t old_bytes, uint64_t bytes, int flags, uint64_t to);

    uint64_t current_break() const { return pools_[MOSALLOC_POOL_HEAP].base() + break_; }
    /// 0, or -ENOMEM when the break is outside the heap pool.
    long set_break(uint64_t address);

private:
    template <class F>
    long for_each_area(Range addresses, F f);
    bool is_anon(const Pool* pool) const { return pool == &pools_[MOSALLOC_POOL_ANON]; }
    bool owns(const Pool* pool, Range offsets) const;
    void take(Pool* pool, Range offsets);
    long give(Pool* pool, Range offsets);
    long place(uint64_t bytes, int prot);
    long grow_in_place(Pool* pool, Range old, uint64_t bytes);
    long move_to(Pool* pool, Range old, uint64_t bytes, uint64_t to);
    long move_fixed(Pool* pool, Range old, uint64_t bytes, uint64_t to);
    long move_in(uint64_t old, uint64_t old_bytes, uint64_t bytes, uint64_t to);
    long move_foreign(Pool* pool, Range old, uint64_t bytes);
    long move_anywhere(Pool* pool, Range old, uint64_t bytes);
    long resize(Pool* pool, Range old, uint64_t bytes, bool may_move);
    /// Counts a call and publishes what it changed.
    void served(uint64_t kind);
    /// Counts a call that a window makes impossible; returns `error`.
    long refused(long error);

    Pool pools_[MOSALLOC_POOL_COUNT];
    FreeList free_;
    uint64_t break_ = 0;  ///< offset
    mosalloc_pool_map* map_ = nullptr;
};

/// Copies `from` to `to`, which reads zero; pages that are all zero are skipped, so sparse memory stays sparse.
void copy_pages(uint64_t from, uint64_t to, uint64_t bytes);

}  // namespace mosalloc
