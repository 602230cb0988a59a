// space_marks.cpp - calls that leave marks on the kernel's mappings: policies, registrations, names, shared memory.
//
// Free memory of a pool is mapped for the kernel (reserved, without access), but must not get a mark: its next owner would
// inherit it. So each call reaches only memory that is handed out, and holes give the kernel's results for holes.
#include <cerrno>
#include <sys/shm.h>

#include "core/areas.h"
#include "core/space.h"
#include "core/sys.h"

namespace mosalloc {

long Space::watch_faults(Range addresses, const Marking& kernel) {
    bool found = false;
    const long result = over(
        addresses,
        [&](Pool* pool, Range part) {
            return pool->for_each_run_with(part, kUsed, [&](Range run) -> long {
                const long splits = pool->split_for_mark(run);
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

long Space::allow_policy(Range addresses, bool resets) {
    const long allowed = for_each_area(addresses, [&](Pool* pool, Range part) -> long {
        if (pool == nullptr) return 0;
        const Range range = pool->offsets(part);
        if (!resets && !pool->all_used(range)) return -EFAULT;
        return (resets && !pool->any_mark(range)) || pool->whole_pages(range) ? 0 : pool->refuse_mark();
    });
    if (sys::failed(allowed) || resets) return allowed;
    return for_each_area(addresses, [&](Pool* pool, Range part) -> long {
        if (pool != nullptr) pool->mark_odd(pool->offsets(part));
        return 0;
    });
}

long Space::allow_home_node(Range addresses) {
    return for_each_area(addresses, [&](Pool* pool, Range part) -> long {
        return pool == nullptr || pool->whole_pages(pool->offsets(part)) ? 0 : pool->refuse_mark();
    });
}

long Space::set_name(Range addresses, const Marking& kernel) {
    return over(
        addresses,
        [&](Pool* pool, Range part) -> long {
            const long result = pool->for_each_run_with(part, kUsed, [&](Range run) {
                return pool->windows().for_each_part(run, [&](Range same, uint64_t) -> long {
                    if (!pool->whole_pages(same)) {
                        pool->ignore_mark();
                        return 0;
                    }
                    pool->mark_odd(same);
                    return kernel(pool->addresses(same));
                });
            });
            return sys::failed(result) || pool->all_used(part) ? result : -ENOMEM;
        },
        kernel);
}

namespace {

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

long Space::attach(uint64_t address, int id, int flags) {
    shmid_ds segment = {};
    const long known = sys::call(SYS_shmctl, id, IPC_STAT, reinterpret_cast<long>(&segment));
    const uint64_t at = (flags & SHM_RND) != 0 ? align_down(address, kPage4K) : address;
    uint64_t bytes = align_up(segment.shm_segsz, kPage4K);
    const bool inside = !sys::failed(known) && at + bytes > at && overlaps({at, at + bytes});
    if (!inside || at % kPage4K != 0) return attach_kernel(id, address, flags);
    if (at % kPage2M == 0 && bytes % kPage2M != 0 && has_huge_pages(id)) bytes = align_up(bytes, kPage2M);
    const Range range{at, at + bytes};
    if ((flags & SHM_REMAP) == 0 && !vacant(range)) return -EINVAL;
    Pool* pool = holder(range);
    if (pool == nullptr) return refused(-EINVAL);
    const Range place = pool->offsets(range);
    if (!may_place(pool, place)) return refused(-ENOMEM);
    if (pool->touches_window(place) && sys::failed(pool->split(place))) return refused(-EINVAL);
    const long result = attach_kernel(id, at, flags | SHM_REMAP);
    if (sys::failed(result)) return result;
    pool->adopt_foreign(place, protection_of(flags));
    take(pool, place);
    served(kind_of(pool));
    return result;
}

long Space::detach(uint64_t address) {
    const long result = sys::call(SYS_shmdt, static_cast<long>(address));
    Pool* pool = holder({address, address + 1});
    if (sys::failed(result) || pool == nullptr) return result;
    // The kernel takes the size from the segment, and leaves out what the program has replaced.
    const Range behind{address - pool->base(), align_up(out(kind_of(pool)).used_bytes, kPage4K)};
    pool->for_each_run_with(behind, kUsed | kForeign, [&](Range run) -> long {
        reclaim(pool, run);
        return 0;
    });
    served(kind_of(pool));
    return result;
}

/// Reserves the parts of `range` again where the kernel has no mapping any more, and gives them back. If another thread got
/// such a part from the kernel meanwhile, it keeps it, and the pool does not hand it out.
void Space::reclaim(Pool* pool, Range range) {
    const uint64_t at = pool->base() + range.start;
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    const long got = sys::mmap(at, range.bytes(), PROT_NONE, flags);
    if (got == static_cast<long>(at)) {
        pool->forget_huge_pages(range);
        pool->mark_odd(range);
        give(pool, range);
        return;
    }
    if (!sys::failed(got)) sys::munmap(static_cast<uint64_t>(got), range.bytes());  // a kernel before Linux 4.17
    const auto whole = [&] {  // no hole in it; MS_ASYNC does nothing else
        return !sys::failed(sys::call(SYS_msync, static_cast<long>(at), static_cast<long>(range.bytes()), MS_ASYNC));
    };
    if (range.bytes() == kPage4K || whole()) return;
    const uint64_t middle = range.start + align_up(range.bytes() / 2, kPage4K);
    reclaim(pool, {range.start, middle});
    reclaim(pool, {middle, range.end});
}

Range Space::marked_run(Range addresses) {
    Range found;
    for_each_area(addresses, [&](Pool* pool, Range part) -> long {
        if (pool == nullptr) return 0;
        return pool->for_each_run_with(pool->offsets(part), kUsed | kOdd, [&](Range run) {
            return pool->windows().for_each_part(run, [&](Range same, uint64_t page_bytes) -> long {
                if (page_bytes != kPage4K) return 0;
                found = pool->addresses(same);
                return -EEXIST;  // ends the search
            });
        });
    });
    return found;
}

void Space::unlock_free() {
    for (const Pool& pool : pools_) {
        uint64_t at = 0;
        const auto unlock = [&](uint64_t end) {
            const Range free = pool.addresses({at, end});
            if (!free.empty()) sys::call(SYS_munlock, static_cast<long>(free.start), static_cast<long>(free.bytes()));
        };
        const uint64_t used = align_up(out(kind_of(&pool)).used_bytes, kPage4K);
        pool.for_each_run_with({0, used}, kUsed, [&](Range run) -> long {
            unlock(run.start);
            at = run.end;
            return 0;
        });
        unlock(pool.bytes());
    }
}

void Space::adopt_child() {
    for (Pool& pool : pools_) {
        pool.for_each_run_with(pool.unforked(), kUnforked, [&](Range run) -> long {
            reclaim(&pool, run);
            return 0;
        });
    }
}

}  // namespace mosalloc
