// space.h - implements Linux's memory calls on the pools.
//
// The heap pool is a break that moves; the anonymous and the file pool hand out the lowest range that fits (first
// fit, as in MICRO'20 section V). Which offsets a program gets depends on its calls only, never on the windows.
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

/// A system call that marks the kernel's mappings of a range; `rest` is its other arguments.
struct Marking {
    long (*call)(Range addresses, void* rest);
    void* rest;
    long operator()(Range addresses) const { return call(addresses, rest); }
};

class Space {
public:
    /// Creates the pools at these addresses, which are reserved already. Writes every change to `map`. False without memory.
    bool init(const uint64_t (&bases)[kPools], const Layout& layout, const Policy& policy, mosalloc_pool_map* map);
    Pool& pool(uint64_t kind) { return pools_[kind]; }
    /// A forked child keeps its own counts in its own map.
    void set_map(mosalloc_pool_map* map) { map_ = map; }
    /// Shows the pools' counters in the map.
    void publish();

    bool overlaps(Range addresses) const;
    /// The pool that holds all of `addresses`, or null.
    Pool* holder(Range addresses);

    /// What a request for private anonymous memory asks beside its size.
    struct Request {
        int prot = 0;
        bool populate = false;
        bool no_reserve = false;
        bool lock = false;
    };
    // Functions with `later` add calls that can block: run it after the lock is released. Those without make all calls.
    long map(uint64_t bytes, const Request& request, Later* later);
    long map(uint64_t bytes, const Request& request);
    /// Whether the anonymous pool has a free range of this size.
    bool fits(uint64_t bytes) const { return free_[MOSALLOC_POOL_ANON].fits(bytes); }
    /// Maps a file or shared memory at any address. Returns -ENOMEM if the file pool is full and -EINVAL if this
    /// mapping cannot lie there (hugetlbfs); the caller then lets the kernel choose a place.
    long map_file(uint64_t bytes, int prot, int flags, int fd, uint64_t offset, Later* later);
    long map_file(uint64_t bytes, int prot, int flags, int fd, uint64_t offset);
    /// MAP_FIXED of private anonymous memory inside one pool.
    long map_fixed(Range addresses, const Request& request, Later* later);
    long map_fixed(Range addresses, const Request& request);
    /// MAP_FIXED of anything else (a file, shared memory) inside one pool; over a window it splits huge pages.
    long map_foreign(Range addresses, int prot, int flags, int fd, uint64_t offset, Later* later);
    long map_foreign(Range addresses, int prot, int flags, int fd, uint64_t offset);
    /// After the later calls of a mapping call failed: the memory could not be locked.
    long take_back(long address, uint64_t bytes);
    /// Whether nothing in `addresses` is handed out: MAP_FIXED_NOREPLACE may have it.
    bool vacant(Range addresses);
    long unmap(Range addresses);
    long protect(Range addresses, int prot);
    long protect_with_key(Range addresses, int prot, int key);
    long advise(Range addresses, int advice, Later* later);
    long advise(Range addresses, int advice);
    long lock(Range addresses, int flags, Later* later);
    long lock(Range addresses, int flags);
    long unlock(Range addresses);
    /// Returns -ENOMEM if a part of `addresses` is in a pool but not handed out: the kernel's result would describe
    /// the reserved span, which the program must not see.
    long check_mapped(Range addresses);
    // Marks (marks.cpp).
    /// userfaultfd: memory that is handed out, in 4KB pages; a window splits, or -EINVAL.
    long watch_faults(Range addresses, const Marking& kernel);
    /// Before mbind, which may take long and needs no lock: an error, or 0 and the memory is marked. `resets`: the default
    /// policy, to which holes are no error. In windows only whole huge pages.
    long allow_policy(Range addresses, bool resets);
    /// Before set_mempolicy_home_node, which leaves memory without a policy as it is.
    long allow_home_node(Range addresses);
    /// A name in /proc/PID/maps.
    long set_name(Range addresses, const Marking& kernel);
    /// System V shared memory at an address of the program's choice.
    long attach(uint64_t address, int id, int flags);
    long detach(uint64_t address);
    /// Addresses of the first marked memory in `addresses` that is handed out and has 4KB pages; empty if there is none.
    Range marked_run(Range addresses);
    /// After mlockall(MCL_CURRENT): free memory is not the program's, so its next owner gets it unlocked.
    void unlock_free();
    /// In a forked child: memory with MADV_DONTFORK is a hole there, which is reserved again and free.
    void adopt_child();

    long remap(uint64_t old, uint64_t old_bytes, uint64_t bytes, int flags, uint64_t to);

    uint64_t current_break() const { return pools_[MOSALLOC_POOL_HEAP].base() + break_; }
    /// 0, or -ENOMEM when the break is outside the heap pool.
    long set_break(uint64_t address);

private:
    template <class F>
    long for_each_area(Range addresses, F f);
    /// Passes the parts of `addresses` inside and outside the pools on, and counts them.
    template <class Inside, class Outside>
    long over(Range addresses, Inside inside, Outside outside);
    uint64_t kind_of(const Pool* pool) const { return static_cast<uint64_t>(pool - pools_); }
    bool is_heap(const Pool* pool) const { return pool == &pools_[MOSALLOC_POOL_HEAP]; }
    FreeList& list(const Pool* pool) { return free_[kind_of(pool)]; }
    mosalloc_pool& out(uint64_t kind) { return kind < MOSALLOC_POOL_COUNT ? map_->pools[kind] : map_->file_pool; }
    void reclaim(Pool* pool, Range range);
    template <class Kernel>
    void lock_up_to_hole(Pool* pool, Range used, Kernel kernel);
    bool owns(const Pool* pool, Range offsets) const;
    bool may_place(Pool* pool, Range offsets);
    void take(Pool* pool, Range offsets);
    long give(Pool* pool, Range offsets);
    void restore(Pool* pool, Range offsets, int more_flags);
    long place(uint64_t bytes, const Request& request);
    void settle(Range addresses, const Request& request, Later* later);
    long settled(long address, uint64_t bytes, Later* later);
    long full(uint64_t kind, uint64_t bytes, bool wanted = false);

    // remap.cpp
    long grow_in_place(Pool* pool, Range old, uint64_t bytes);
    long move_to(Pool* pool, Range old, uint64_t bytes, uint64_t to);
    long protect_like(Range addresses, const Pool& pool, Range from);
    void leave(Pool* pool, Range old, bool keep);
    long move_fixed(Pool* pool, Range old, uint64_t bytes, uint64_t to, bool keep);
    long move_in(uint64_t old, uint64_t old_bytes, uint64_t bytes, int flags, uint64_t to);
    long grow_by_kernel(Pool* pool, Range old, uint64_t bytes);
    long move_foreign(Pool* pool, Range old, uint64_t bytes, bool keep);
    long move_anywhere(Pool* pool, Range old, uint64_t bytes, bool keep);
    long resize(Pool* pool, Range old, uint64_t bytes, bool may_move);
    /// Counts a call and publishes what it changed.
    void served(uint64_t kind);
    /// Counts a call that a window makes impossible; returns `error`.
    long refused(long error);

    Pool pools_[kPools];
    FreeList free_[kPools];  ///< the heap's is not used
    uint64_t break_ = 0;     ///< offset
    uint64_t most_bytes_ = ~uint64_t{0};  ///< a larger request is no wish for a larger pool
    uint64_t most_holes_ = 0;  ///< of all pools together; further ones stay open
    mosalloc_pool_map* map_ = nullptr;
};

}  // namespace mosalloc
