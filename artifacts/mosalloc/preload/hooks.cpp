// hooks.cpp - decides which calls concern a pool; all other calls go to the kernel unchanged. Both are counted.
#include "preload/hooks.h"

#include <cerrno>
#include <sys/stat.h>

#include "core/later.h"
#include "core/marking.h"
#include "core/sys.h"
#include "preload/children.h"
#include "preload/events.h"
#include "preload/faults.h"
#include "preload/forks.h"
#include "preload/marks.h"
#include "preload/own_memory.h"

namespace mosalloc {
namespace {

// Flags of requests that a pool can serve. The kernel serves all others (memory that grows down, 32-bit addresses, huge
// pages that the program itself requests).
constexpr int kPlainFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_POPULATE | MAP_LOCKED | MAP_DENYWRITE | MAP_EXECUTABLE;
constexpr int kFileFlags = MAP_TYPE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_POPULATE | MAP_DENYWRITE | MAP_EXECUTABLE;
constexpr int kFixed = MAP_FIXED | MAP_FIXED_NOREPLACE;
constexpr int kProtections = PROT_READ | PROT_WRITE | PROT_EXEC;
constexpr uint64_t kAddressEnd = UINT64_C(1) << 47;

// Entry points align the stack to 16 bytes: QEMU 7.2 enters signal handlers with a stack that is 8 bytes off, and handlers
// do call malloc and mmap.
#define HOOK __attribute__((force_align_arg_pointer))

enum class By { pool, kernel };

/// Counts a call and turns the kernel's result into libc's.
long done(mosalloc_call call, By by, long result) {
    if (is_new_process()) const Entry entry;  // the counts go to the child's map
    mosalloc_pool_map* map = runtime().map;
    mosalloc_call_count& count = map->calls[call];
    __atomic_fetch_add(by == By::pool ? &count.pool : &count.kernel, 1, __ATOMIC_RELAXED);
    if (by == By::kernel) __atomic_fetch_add(&map->passed_through, 1, __ATOMIC_RELAXED);
    if (sys::failed(result)) __atomic_fetch_add(&count.failed, 1, __ATOMIC_RELAXED);
    add_child_counts();
    if (!sys::failed(result)) return result;
    errno = static_cast<int>(-result);
    return -1;
}

bool in_pools(uint64_t addr, uint64_t bytes) { return bytes != 0 && addr + bytes > addr && runtime().space.overlaps({addr, addr + bytes}); }

bool is_anonymous(int flags) { return (flags & (MAP_TYPE | MAP_ANONYMOUS)) == (MAP_PRIVATE | MAP_ANONYMOUS); }

bool is_plain(int prot, int flags) {
    const int plain = kPlainFlags | (runtime().stacks_in_pool ? MAP_STACK : 0);
    return is_anonymous(flags) && (flags & ~plain) == 0 && (prot & ~kProtections) == 0;
}

Space::Request request(int prot, int flags) {
    return {prot, (flags & MAP_POPULATE) != 0, (flags & MAP_NORESERVE) != 0, (flags & MAP_LOCKED) != 0};
}

/// Devices choose their own addresses; only plain files and shared memory go to the file pool.
bool is_file_pools(uint64_t addr, int prot, int flags, int fd) {
    if (addr != 0 || (flags & ~kFileFlags) != 0 || (prot & ~kProtections) != 0) return false;
    if ((flags & MAP_ANONYMOUS) != 0) return (flags & MAP_TYPE) == MAP_SHARED;
    struct stat status = {};
    // Files of hugetlbfs have huge pages, and the pool has 4KB pages only.
    return !sys::failed(sys::call(SYS_fstat, fd, reinterpret_cast<long>(&status))) && S_ISREG(status.st_mode) &&
           (status.st_blksize < static_cast<long>(kPage2M) || !asks_huge_pages(flags, fd));
}

long map_over_pool(uint64_t addr, uint64_t bytes, int prot, int flags, int fd, uint64_t offset, Later* later) {
    const Range range{addr, addr + align_up(bytes, kPage4K)};
    Space& space = runtime().space;
    if ((flags & MAP_FIXED_NOREPLACE) != 0 && !space.vacant(range)) return -EEXIST;
    if (is_plain(prot, flags & ~(kFixed | MAP_STACK))) return space.map_fixed(range, request(prot, flags), later);
    const long result = space.map_foreign(range, prot, flags, fd, offset, later);
    if (!sys::failed(result)) count_own_huge_pages(bytes, flags, fd);
    return result;
}

/// `reserves`: a reservation for which the pool has no room.
long map_outside(uint64_t addr, uint64_t bytes, int prot, int flags, int fd, uint64_t offset, bool reserves) {
    const long result = sys::mmap(addr, bytes, prot, flags, fd, offset);
    if (!sys::failed(result)) tell_map(static_cast<uint64_t>(result), bytes, prot, flags, fd, offset);
    if (sys::failed(result)) return result;
    count_own_huge_pages(bytes, flags, fd);
    if ((flags & MAP_FIXED) != 0) change_reservation(result, addr, bytes, is_anonymous(flags) ? prot : kReplaced);
    if (!is_anonymous(flags)) return result;
    const uint64_t at = static_cast<uint64_t>(result), size = align_up(bytes, kPage4K);
    const Entry entry;
    runtime().outside.mapped({at, at + size});
    if (reserves) {
        sys::madvise(at, size, MADV_NOHUGEPAGE);
        runtime().reservations.made({at, at + size});
    } else if (addr != 0 && (flags & kFixed) == 0) {
        runtime().map->hinted_bytes += size;
    }
    return result;
}

/// Serves the request from a pool. Returns false, with the pool's error in `result`, if the kernel must serve it; `reserves`
/// is then true for a reservation.
bool map_in_pools(uint64_t addr, size_t bytes, int prot, int flags, int fd, uint64_t offset, Later* later, long* result, bool* reserves) {
    if (bytes == 0 || bytes >= kAddressEnd || offset % kPage4K != 0) return false;
    const auto tell = [&] {
        if (!sys::failed(*result)) tell_map(static_cast<uint64_t>(*result), bytes, prot, flags, fd, offset);
    };
    const bool fixed = (flags & kFixed) != 0, over = addr % kPage4K == 0 && in_pools(addr, bytes);
    const uint64_t size = align_up(bytes, kPage4K);
    if (over) {  // an address that the program chose; a hint is followed only if that range is free
        const Entry entry;
        *result = map_over_pool(addr, bytes, prot, fixed ? flags : flags | MAP_FIXED_NOREPLACE, fd, offset, later);
        tell();
        if (fixed || *result != -EEXIST) return true;
    }
    if (fixed) return false;
    if (is_plain(prot, flags) && (addr == 0 || over || runtime().hints_in_pool)) {
        const Entry entry;
        if (prot == PROT_NONE && size >= kReservation && !runtime().space.fits(size)) {
            *reserves = runtime().reservations.may_leave(size, runtime().map->pools[MOSALLOC_POOL_ANON].used_bytes);
            if (*reserves) return false;
        }
        *result = runtime().space.map(size, request(prot, flags), later);
        tell();
        return true;
    }
    if (!is_file_pools(over ? 0 : addr, prot, flags, fd)) return false;
    const Entry entry;
    *result = runtime().space.map_file(size, prot, flags, fd, offset, later);
    tell();
    return !sys::failed(*result);  // no room there, or not for this file: the kernel chooses
}

HOOK void* hook_mmap(void* hint, size_t bytes, int prot, int flags, int fd, off_t offset) {
    const uint64_t addr = reinterpret_cast<uint64_t>(hint), from = static_cast<uint64_t>(offset);
    long result = 0;
    Later later;
    bool reserves = false;
    const bool pooled = map_in_pools(addr, bytes, prot, flags, fd, from, &later, &result, &reserves);
    if (!pooled) {
        result = map_outside(addr, bytes, prot, flags, fd, from, reserves);
    } else if (!sys::failed(result) && sys::failed(later.run())) {
        const Entry entry;
        const uint64_t at = static_cast<uint64_t>(result);
        result = runtime().space.take_back(result, align_up(bytes, kPage4K));
        tell_range(MOSALLOC_CALL_MUNMAP, {at, at + bytes}, 0, 0);
    }
    return reinterpret_cast<void*>(done(MOSALLOC_CALL_MMAP, pooled ? By::pool : By::kernel, result));
}

/// `result` again, after the tracer was told of a call that changed areas. Call it under the lock, so that the tracer learns of
/// the calls of several threads in the order in which they took effect. ENOMEM of munmap is no hole, but too many areas: as other
/// errors, it is not told.
long told(long result, mosalloc_call call, Range addresses, int prot = 0) {
    const bool at_hole = result == -ENOMEM && call != MOSALLOC_CALL_MUNMAP;
    if (!sys::failed(result) || at_hole) tell_range(call, addresses, prot, 0, at_hole);
    return result;
}

/// The same after a call that does not change areas, for libc's result of it.
long told_flags(long result, mosalloc_call call, const void* start, size_t bytes, int flags) {
    const uint64_t addr = reinterpret_cast<uint64_t>(start);
    const bool at_hole = result != 0 && errno == ENOMEM;
    if ((result == 0 || at_hole) && bytes != 0) tell_range(call, {addr, addr + bytes}, 0, flags, at_hole);
    return result;
}

template <class F>
long under_lock(F f) {
    const Entry entry;
    return f();
}

/// Calls over a range differ only in two steps: what the pools do with a whole, aligned range, and what the kernel does.
template <class InPools, class Kernel>
long over_range(mosalloc_call call, const void* start, size_t bytes, InPools in, Kernel kernel) {
    const Range pages = pages_in_pools(reinterpret_cast<uint64_t>(start), bytes);
    if (pages.empty()) return done(call, By::kernel, kernel());
    Later later;
    const long planned = under_lock([&] { return in(pages, &later); });
    const long made = later.run();
    return done(call, By::pool, sys::failed(made) ? made : planned);
}

HOOK int hook_munmap(void* start, size_t bytes) {
    const Range watched = events_expected() ? pages_in_pools(reinterpret_cast<uint64_t>(start), bytes) : Range{};
    if (!watched.empty()) unmap_watched(watched);
    return static_cast<int>(over_range(
        MOSALLOC_CALL_MUNMAP, start, bytes, [](Range r, Later*) { return told(runtime().space.unmap(r), MOSALLOC_CALL_MUNMAP, r); },
        [=] {
            const uint64_t addr = reinterpret_cast<uint64_t>(start);
            const long result = told(unmap_reservation(addr, bytes), MOSALLOC_CALL_MUNMAP, {addr, addr + bytes});
            if (sys::failed(result) || runtime().outside.empty()) return result;
            const Entry entry;
            runtime().outside.unmapped({addr, addr + align_up(bytes, kPage4K)});
            return result;
        }));
}

HOOK int hook_mprotect(void* start, size_t bytes, int prot) {
    return static_cast<int>(over_range(
        MOSALLOC_CALL_MPROTECT, start, bytes,
        [=](Range r, Later*) {
            return told((prot & ~kProtections) != 0 ? -EINVAL : runtime().space.protect(r, prot), MOSALLOC_CALL_MPROTECT, r, prot);
        },
        [=] {
            const uint64_t addr = reinterpret_cast<uint64_t>(start);
            const long result = told(sys::mprotect(addr, bytes, prot), MOSALLOC_CALL_MPROTECT, {addr, addr + bytes}, prot);
            return change_reservation(result, addr, bytes, prot);
        }));
}

HOOK int hook_pkey_mprotect(void* start, size_t bytes, int prot, int key) {
    return static_cast<int>(over_range(
        MOSALLOC_CALL_PKEY_MPROTECT, start, bytes,
        [=](Range r, Later*) {
            return told(key == -1 ? runtime().space.protect(r, prot) : runtime().space.protect_with_key(r, prot, key),
                        MOSALLOC_CALL_PKEY_MPROTECT, r, prot);
        },
        [=] {
            const uint64_t addr = reinterpret_cast<uint64_t>(start);
            const long result = told(sys::call(SYS_pkey_mprotect, static_cast<long>(addr), static_cast<long>(bytes), prot, key),
                                     MOSALLOC_CALL_PKEY_MPROTECT, {addr, addr + bytes}, prot);
            return change_reservation(result, addr, bytes, prot);
        }));
}

HOOK int hook_madvise(void* start, size_t bytes, int advice) {
    const long result = over_range(
        MOSALLOC_CALL_MADVISE, start, bytes,
        [=](Range r, Later* later) {
            const uint64_t refused = runtime().map->refused_marks;
            const long planned = runtime().space.advise(r, advice, later);
            tell_refused_mark("madvise", r, refused);
            return planned;
        },
        [=] { return sys::madvise(reinterpret_cast<uint64_t>(start), bytes, advice); });
    return static_cast<int>(told_flags(result, MOSALLOC_CALL_MADVISE, start, bytes, advice));
}

/// Returns the error instead of setting errno, and takes MADV_DONTNEED's zeros back from its POSIX namesake.
HOOK int hook_posix_madvise(void* start, size_t bytes, int advice) {
    if (advice == POSIX_MADV_DONTNEED) return 0;
    const int before = errno;
    const long result = over_range(
        MOSALLOC_CALL_POSIX_MADVISE, start, bytes, [=](Range r, Later* later) { return runtime().space.advise(r, advice, later); },
        [=] { return sys::madvise(reinterpret_cast<uint64_t>(start), bytes, advice); });
    told_flags(result, MOSALLOC_CALL_POSIX_MADVISE, start, bytes, advice);
    const int error = result == 0 ? 0 : errno;
    errno = before;
    return error;
}

long lock_memory(mosalloc_call call, const void* start, size_t bytes, int flags) {
    const uint64_t addr = align_down(reinterpret_cast<uint64_t>(start), kPage4K);
    const uint64_t size = bytes + (reinterpret_cast<uint64_t>(start) - addr);
    const long result = over_range(
        call, reinterpret_cast<void*>(addr), size, [=](Range r, Later* later) { return lock_pages(runtime().space, r, flags, later); },
        [=] {
            const long at = reinterpret_cast<long>(start), all = static_cast<long>(bytes);
            return flags == 0 ? sys::call(SYS_mlock, at, all) : sys::call(SYS_mlock2, at, all, flags);
        });
    return told_flags(result, call, start, bytes, flags);
}

HOOK int hook_mlock(const void* start, size_t bytes) { return static_cast<int>(lock_memory(MOSALLOC_CALL_MLOCK, start, bytes, 0)); }

HOOK int hook_mlock2(const void* start, size_t bytes, int flags) {
    return static_cast<int>(lock_memory(MOSALLOC_CALL_MLOCK2, start, bytes, flags));
}

HOOK int hook_munlock(const void* start, size_t bytes) {
    const uint64_t addr = align_down(reinterpret_cast<uint64_t>(start), kPage4K);
    const uint64_t size = bytes + (reinterpret_cast<uint64_t>(start) - addr);
    const long result = over_range(
        MOSALLOC_CALL_MUNLOCK, reinterpret_cast<void*>(addr), size, [](Range r, Later*) { return unlock_pages(runtime().space, r); },
        [=] { return sys::call(SYS_munlock, reinterpret_cast<long>(start), static_cast<long>(bytes)); });
    return static_cast<int>(told_flags(result, MOSALLOC_CALL_MUNLOCK, start, bytes, 0));
}

/// mincore and msync: the kernel's result, except that free memory of a pool does not exist for the program.
template <class Kernel>
int asked_of_kernel(mosalloc_call call, const void* start, size_t bytes, Kernel kernel) {
    long result = kernel();  // without the lock: msync waits for the disk
    const Range pages = pages_in_pools(reinterpret_cast<uint64_t>(start), bytes);
    if (pages.empty()) return static_cast<int>(done(call, By::kernel, result));
    if (!sys::failed(result)) result = under_lock([&] { return runtime().space.check_mapped(pages); });
    return static_cast<int>(done(call, By::pool, result));
}

HOOK int hook_mincore(void* start, size_t bytes, unsigned char* out) {
    return asked_of_kernel(MOSALLOC_CALL_MINCORE, start, bytes, [=] {
        return sys::call(SYS_mincore, reinterpret_cast<long>(start), static_cast<long>(bytes), reinterpret_cast<long>(out));
    });
}

HOOK int hook_msync(void* start, size_t bytes, int flags) {
    return asked_of_kernel(MOSALLOC_CALL_MSYNC, start, bytes,
                           [=] { return sys::call(SYS_msync, reinterpret_cast<long>(start), static_cast<long>(bytes), flags); });
}

HOOK void* hook_mremap(void* old, size_t old_bytes, size_t bytes, int flags, void* to) {
    const uint64_t from = reinterpret_cast<uint64_t>(old), target = reinterpret_cast<uint64_t>(to);
    const bool fixed = (flags & MREMAP_FIXED) != 0;
    const bool sane = old_bytes < kAddressEnd && bytes < kAddressEnd, keeps = (flags & MREMAP_DONTUNMAP) != 0;
    const bool ours = sane && (in_pools(from, old_bytes == 0 ? 1 : old_bytes) || (fixed && in_pools(target, bytes)));
    long result;
    if (ours) {
        const Entry entry;
        result = runtime().space.remap(from, old_bytes, bytes, flags, target);
        if (!sys::failed(result)) tell_remap(from, old_bytes, static_cast<uint64_t>(result), bytes, flags);
        if (!sys::failed(result) && fixed && !runtime().reservations.empty()) {  // between a pool and a reservation
            if (!keeps) runtime().reservations.gone({from, from + align_up(old_bytes, kPage4K)});
            runtime().reservations.opened({target, target + align_up(bytes, kPage4K)});
        }
    } else {
        result = sys::mremap(from, old_bytes, bytes, flags, target);
        if (!sys::failed(result)) tell_remap(from, old_bytes, static_cast<uint64_t>(result), bytes, flags);
        if (!sys::failed(result) && !runtime().outside.empty()) {
            const Entry entry;
            const uint64_t at = static_cast<uint64_t>(result);
            const Range old_range{from, from + align_up(old_bytes, kPage4K)}, new_range{at, at + align_up(bytes, kPage4K)};
            runtime().outside.moved(old_range, new_range);
            if (!runtime().reservations.empty()) runtime().reservations.moved(old_range, new_range, keeps);
        }
    }
    return reinterpret_cast<void*>(done(MOSALLOC_CALL_MREMAP, ours ? By::pool : By::kernel, result));
}

long move_break(mosalloc_call call, uint64_t wanted) {
    Space& space = runtime().space;
    const long result = space.set_break(wanted);
    const uint64_t base = space.pool(MOSALLOC_POOL_HEAP).base();
    if (!sys::failed(result)) tell_break(call, base, space.current_break() - base);
    return result;
}

/// Like libc's brk, which compares with the kernel's break: an address below the heap is no error and has no effect.
HOOK int hook_brk(void* address) {
    const Entry entry;
    const uint64_t wanted = reinterpret_cast<uint64_t>(address);
    Space& space = runtime().space;
    const bool below = wanted < space.pool(MOSALLOC_POOL_HEAP).base();
    return static_cast<int>(done(MOSALLOC_CALL_BRK, By::pool, below ? 0 : move_break(MOSALLOC_CALL_BRK, wanted)));
}

HOOK void* hook_sbrk(intptr_t increment) {
    const Entry entry;
    Space& space = runtime().space;
    const uint64_t old = space.current_break();
    const uint64_t wanted = old + static_cast<uint64_t>(increment);
    const bool below = increment < 0 && wanted < space.pool(MOSALLOC_POOL_HEAP).base();
    const long result = increment == 0 || below ? 0 : move_break(MOSALLOC_CALL_SBRK, wanted);
    const long answer = sys::failed(result) ? result : static_cast<long>(old);
    return reinterpret_cast<void*>(done(MOSALLOC_CALL_SBRK, By::pool, answer));
}

}  // namespace

Runtime& runtime() {
    static Runtime instance;  // zero-initialised storage without a constructor: usable before any code ran
    return instance;
}

Range pages_in_pools(uint64_t start, uint64_t bytes) {
    if (start % kPage4K != 0 || bytes > kAddressEnd || !in_pools(start, bytes)) return {};
    return {start, start + align_up(bytes, kPage4K)};
}

const Patch* hooks(size_t* count) {
    static const Patch kHooks[] = {
        {"mmap", reinterpret_cast<void*>(hook_mmap)},
        {"munmap", reinterpret_cast<void*>(hook_munmap)},
        {"mprotect", reinterpret_cast<void*>(hook_mprotect)},
        {"madvise", reinterpret_cast<void*>(hook_madvise)},
        {"mremap", reinterpret_cast<void*>(hook_mremap)},
        {"brk", reinterpret_cast<void*>(hook_brk)},
        {"sbrk", reinterpret_cast<void*>(hook_sbrk)},
        {"mlock", reinterpret_cast<void*>(hook_mlock)},
        {"mlock2", reinterpret_cast<void*>(hook_mlock2)},
        {"munlock", reinterpret_cast<void*>(hook_munlock)},
        {"mincore", reinterpret_cast<void*>(hook_mincore)},
        {"msync", reinterpret_cast<void*>(hook_msync)},
        {"posix_madvise", reinterpret_cast<void*>(hook_posix_madvise)},
        {"pkey_mprotect", reinterpret_cast<void*>(hook_pkey_mprotect)},
    };
    *count = sizeof kHooks / sizeof kHooks[0];
    return kHooks;
}

}  // namespace mosalloc
