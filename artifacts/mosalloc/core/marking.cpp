#include "core/marking.h"

#include <sys/shm.h>

#include "core/later.h"

namespace mosalloc {
namespace {

constexpr int kLockOnFault = 1;  // MLOCK_ONFAULT

/// The kernel locks mapped pages up to a hole, but does not populate them. So this makes a real hole for the call. A huge
/// page cannot have a hole, but hugetlb pages are never swapped anyway.
template <class Kernel>
void lock_up_to_hole(Placement& places, Pool* pool, Range used, Kernel kernel) {
    const Range hole{used.end, used.end + kPage4K};
    // An open hole is inside a mapping; at the limit on mappings the kernel cannot make this one.
    const bool none = pool->touches_window(hole) || pool->any_open(hole);
    if (none || sys::failed(sys::munmap(pool->base() + hole.start, kPage4K))) {
        kernel(pool->addresses(used), kLockOnFault);
        return;
    }
    kernel(pool->addresses({used.start, hole.end}), 0);
    places.restore(pool, hole, MAP_FIXED_NOREPLACE);
}

/// The call itself reaches the memory outside the pools.
long leave_outside(Range) { return 0; }

long attach_kernel(int id, uint64_t address, int flags) { return sys::call(SYS_shmat, id, static_cast<long>(address), flags); }

/// A segment of huge pages is as long as its pages; its size does not show that. So attaches it once elsewhere.
bool has_huge_pages(int id) {
    const long at = attach_kernel(id, 0, SHM_RDONLY);
    if (sys::failed(at)) return false;
    const bool huge = sys::mprotect(static_cast<uint64_t>(at), kPage4K, PROT_NONE) == -EINVAL;
    sys::call(SYS_shmdt, at);
    return huge;
}

int protection_of(int shm_flags) {
    return PROT_READ | ((shm_flags & SHM_RDONLY) != 0 ? 0 : PROT_WRITE) | ((shm_flags & SHM_EXEC) != 0 ? PROT_EXEC : 0);
}

}  // namespace

long lock_pages(Placement& places, Range addresses, int flags, Later* later) {
    const auto add = [&](Range part) { return later->add(flags == 0 ? SYS_mlock : SYS_mlock2, part, flags); };
    const auto kernel = [](Range part, int how) {
        const long at = static_cast<long>(part.start), bytes = static_cast<long>(part.bytes());
        return how == 0 ? sys::call(SYS_mlock, at, bytes) : sys::call(SYS_mlock2, at, bytes, how);
    };
    return places.over(
        addresses,
        [&](Pool* pool, Range part) -> long {
            const Range used{part.start, pool->pages().first_hole(part)};
            pool->mark_odd(used);
            if (used.end == part.end) return add(pool->addresses(used));
            if (!used.empty()) lock_up_to_hole(places, pool, used, kernel);
            return -ENOMEM;
        },
        add);
}

long unlock_pages(Placement& places, Range addresses) {
    const auto kernel = [](Range part) { return sys::call(SYS_munlock, static_cast<long>(part.start), static_cast<long>(part.bytes())); };
    return places.over(
        addresses,
        [&](Pool* pool, Range part) -> long {
            const Range used{part.start, pool->pages().first_hole(part)};
            const long result = used.empty() ? 0 : kernel(pool->addresses(used));
            return sys::failed(result) || used.end == part.end ? result : -ENOMEM;
        },
        kernel);
}

void unlock_free(Placement& places) {
    for (uint64_t kind = 0; kind < kPools; ++kind) {
        const Pool& pool = places.pool(kind);
        uint64_t at = 0;
        const auto unlock = [&](uint64_t end) {
            const Range free = pool.addresses({at, end});
            if (!free.empty()) sys::call(SYS_munlock, static_cast<long>(free.start), static_cast<long>(free.bytes()));
        };
        const uint64_t used = align_up(places.used_bytes(&pool), kPage4K);
        pool.pages().for_each_run_with({0, used}, kUsed, [&](Range run) -> long {
            unlock(run.start);
            at = run.end;
            return 0;
        });
        unlock(pool.bytes());
    }
}

long watch_faults(Placement& places, Range addresses, const Marking& kernel) {
    bool found = false;
    const long result = places.over(
        addresses,
        [&](Pool* pool, Range part) {
            return pool->pages().for_each_run_with(part, kUsed, [&](Range run) -> long {
                const long splits = pool->exchange().split_for_mark(run);
                if (sys::failed(splits)) return splits;
                pool->mark_odd(run);
                found = true;
                return kernel(pool->addresses(run));
            });
        },
        [&](Range part) {
            found = true;
            return kernel(part);
        });
    return sys::failed(result) || found ? result : -EINVAL;
}

long allow_policy(Placement& places, Range addresses, bool resets) {
    const auto check = [&](Pool* pool, Range range) -> long {
        if (!resets && !pool->pages().all_used(range)) return -EFAULT;
        return (resets && !pool->pages().any(range, kMarks)) || pool->huge().whole_pages(range) ? 0 : pool->refuse_mark();
    };
    const long allowed = places.for_each_area(addresses, check, leave_outside);
    if (sys::failed(allowed) || resets) return allowed;
    const auto mark = [](Pool* pool, Range range) -> long { return pool->mark_odd(range), 0; };
    return places.for_each_area(addresses, mark, leave_outside);
}

long allow_home_node(Placement& places, Range addresses) {
    const auto check = [](Pool* pool, Range range) -> long { return pool->huge().whole_pages(range) ? 0 : pool->refuse_mark(); };
    return places.for_each_area(addresses, check, leave_outside);
}

long set_name(Placement& places, Range addresses, const Marking& kernel) {
    return places.over(
        addresses,
        [&](Pool* pool, Range part) -> long {
            const long result = pool->pages().for_each_run_with(part, kUsed, [&](Range run) {
                return pool->windows().for_each_part(run, [&](Range same, uint64_t) -> long {
                    if (!pool->huge().whole_pages(same)) return pool->ignore_mark();
                    pool->mark_odd(same);
                    return kernel(pool->addresses(same));
                });
            });
            return sys::failed(result) || pool->pages().all_used(part) ? result : -ENOMEM;
        },
        kernel);
}

long attach(Placement& places, uint64_t address, int id, int flags) {
    shmid_ds segment = {};
    const long known = sys::call(SYS_shmctl, id, IPC_STAT, reinterpret_cast<long>(&segment));
    const uint64_t at = (flags & SHM_RND) != 0 ? align_down(address, kPage4K) : address;
    uint64_t bytes = align_up(segment.shm_segsz, kPage4K);
    const bool inside = !sys::failed(known) && at + bytes > at && places.overlaps({at, at + bytes});
    if (!inside || at % kPage4K != 0) return attach_kernel(id, address, flags);
    if (at % kPage2M == 0 && bytes % kPage2M != 0 && has_huge_pages(id)) bytes = align_up(bytes, kPage2M);
    const Range range{at, at + bytes};
    if ((flags & SHM_REMAP) == 0 && !places.vacant(range)) return -EINVAL;
    const long result = places.put_foreign(range, protection_of(flags), [&] { return attach_kernel(id, at, flags | SHM_REMAP); });
    if (!sys::failed(result)) places.served(places.holder(range));
    return result;
}

long detach(Placement& places, uint64_t address) {
    const long result = sys::call(SYS_shmdt, static_cast<long>(address));
    Pool* pool = places.holder({address, address + 1});
    if (sys::failed(result) || pool == nullptr) return result;
    // The kernel takes the size from the segment, and leaves out what the program has replaced.
    const Range behind{address - pool->base(), align_up(places.used_bytes(pool), kPage4K)};
    pool->pages().for_each_run_with(behind, kUsed | kForeign, [&](Range run) -> long {
        places.reclaim(pool, run);
        return 0;
    });
    places.served(pool);
    return result;
}

Range marked_run(Placement& places, Range addresses) {
    Range found;
    const auto find = [&](Pool* pool, Range part) {
        return pool->pages().for_each_run_with(part, kUsed | kOdd, [&](Range run) {
            return pool->windows().for_each_part(run, [&](Range same, uint64_t page_bytes) -> long {
                if (page_bytes != kPage4K) return 0;
                found = pool->addresses(same);
                return -EEXIST;  // ends the search
            });
        });
    };
    places.for_each_area(addresses, find, leave_outside);
    return found;
}

}  // namespace mosalloc
