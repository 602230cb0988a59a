// hooks.cpp - decides which call concerns a pool; the rest goes to the kernel unchanged and is counted.
#include "preload/hooks.h"

#include <cerrno>

#include "core/sys.h"

namespace mosalloc {
namespace {

// Flags that leave a request an ordinary one. Everything else (stacks, locked, 32-bit, huge pages asked for by
// the program itself, shared) is the kernel's business.
constexpr int kPlainFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_POPULATE | MAP_DENYWRITE | MAP_EXECUTABLE;
// Entry points put the stack on 16 bytes themselves: QEMU 7.2 enters signal handlers with a stack that is 8 bytes off,
// and handlers do call malloc and mmap.
#define HOOK __attribute__((force_align_arg_pointer))

constexpr int kFixed = MAP_FIXED | MAP_FIXED_NOREPLACE;
constexpr int kProtections = PROT_READ | PROT_WRITE | PROT_EXEC;

long done(long result) {
    if (!sys::failed(result)) return result;
    errno = static_cast<int>(-result);
    return -1;
}

long passed(long result) {
    __atomic_fetch_add(&runtime().map->passed_through, 1, __ATOMIC_RELAXED);
    return done(result);
}

bool in_pools(uint64_t addr, uint64_t bytes) {
    return bytes != 0 && addr + bytes > addr && runtime().space.overlaps({addr, addr + bytes});
}

long map_over_pool(uint64_t addr, uint64_t bytes, int prot, int flags, int fd, uint64_t offset) {
    const Range range{addr, addr + align_up(bytes, kPage4K)};
    if (addr % kPage4K != 0) return -EINVAL;
    if ((flags & MAP_FIXED) == 0) return -EEXIST;  // MAP_FIXED_NOREPLACE: the whole span is mapped
    const bool plain = (flags & ~(kPlainFlags | MAP_FIXED | MAP_STACK)) == 0 && (prot & ~kProtections) == 0;
    if (plain && (flags & MAP_ANONYMOUS) != 0) return runtime().space.map_fixed(range, prot);
    return runtime().space.map_foreign(range, prot, flags, fd, offset);
}

HOOK void* hook_mmap(void* hint, size_t bytes, int prot, int flags, int fd, off_t offset) {
    const uint64_t addr = reinterpret_cast<uint64_t>(hint);
    const bool small = bytes != 0 && bytes < UINT64_C(1) << 47 && offset % static_cast<off_t>(kPage4K) == 0;
    const bool plain = small && addr == 0 && (flags & ~kPlainFlags) == 0 && (prot & ~kProtections) == 0 &&
                       (flags & (MAP_PRIVATE | MAP_ANONYMOUS)) == (MAP_PRIVATE | MAP_ANONYMOUS);
    long result;
    if (plain) {
        Guard guard(runtime().lock);
        result = done(runtime().space.map(align_up(bytes, kPage4K), prot, (flags & MAP_POPULATE) != 0));
    } else if (small && (flags & kFixed) != 0 && in_pools(addr, bytes)) {
        Guard guard(runtime().lock);
        result = done(map_over_pool(addr, bytes, prot, flags, fd, static_cast<uint64_t>(offset)));
    } else {
        result = passed(sys::mmap(addr, bytes, prot, flags, fd, static_cast<uint64_t>(offset)));
    }
    return reinterpret_cast<void*>(result);
}

/// munmap, mprotect and madvise differ in one line: what the pools do with a whole, aligned range.
template <class InPools, class Outside>
int over_range(void* start, size_t bytes, InPools in, Outside outside) {
    const uint64_t addr = reinterpret_cast<uint64_t>(start);
    if (addr % kPage4K != 0 || bytes > UINT64_C(1) << 47 || !in_pools(addr, bytes))
        return static_cast<int>(passed(outside(addr)));
    Guard guard(runtime().lock);
    return static_cast<int>(done(in(Range{addr, addr + align_up(bytes, kPage4K)})));
}

HOOK int hook_munmap(void* start, size_t bytes) {
    return over_range(
        start, bytes, [](Range r) { return runtime().space.unmap(r); },
        [=](uint64_t addr) { return sys::munmap(addr, bytes); });
}

HOOK int hook_mprotect(void* start, size_t bytes, int prot) {
    return over_range(
        start, bytes,
        [=](Range r) { return (prot & ~kProtections) != 0 ? -EINVAL : runtime().space.protect(r, prot); },
        [=](uint64_t addr) { return sys::mprotect(addr, bytes, prot); });
}

HOOK int hook_madvise(void* start, size_t bytes, int advice) {
    return over_range(
        start, bytes, [=](Range r) { return runtime().space.advise(r, advice); },
        [=](uint64_t addr) { return sys::madvise(addr, bytes, advice); });
}

HOOK void* hook_mremap(void* old, size_t old_bytes, size_t bytes, int flags, void* to) {
    const uint64_t from = reinterpret_cast<uint64_t>(old), target = reinterpret_cast<uint64_t>(to);
    const bool fixed = (flags & MREMAP_FIXED) != 0;
    const bool sane = old_bytes < UINT64_C(1) << 47 && bytes < UINT64_C(1) << 47;
    const bool ours = sane && (in_pools(from, old_bytes == 0 ? 1 : old_bytes) || (fixed && in_pools(target, bytes)));
    long result;
    if (ours) {
        Guard guard(runtime().lock);
        result = done(runtime().space.remap(from, old_bytes, bytes, flags, target));
    } else {
        result = passed(sys::mremap(from, old_bytes, bytes, flags, target));
    }
    return reinterpret_cast<void*>(result);
}

/// Like libc's, which asks the kernel and finds a break that is high enough: below the heap is no error, no effect.
HOOK int hook_brk(void* address) {
    Guard guard(runtime().lock);
    if (reinterpret_cast<uint64_t>(address) < runtime().space.pool(MOSALLOC_POOL_HEAP).base()) return 0;
    return static_cast<int>(done(runtime().space.set_break(reinterpret_cast<uint64_t>(address))));
}

HOOK void* hook_sbrk(intptr_t increment) {
    Guard guard(runtime().lock);
    Space& space = runtime().space;
    const uint64_t old = space.current_break();
    const uint64_t wanted = old + static_cast<uint64_t>(increment);
    const bool below = increment < 0 && wanted < space.pool(MOSALLOC_POOL_HEAP).base();
    const long result = increment == 0 || below ? 0 : space.set_break(wanted);
    return reinterpret_cast<void*>(done(sys::failed(result) ? result : static_cast<long>(old)));
}

}  // namespace

Runtime& runtime() {
    static Runtime instance;  // zero-initialised storage without a constructor: usable before any code ran
    return instance;
}

const Patch* hooks(size_t* count) {
    static const Patch kHooks[] = {
        {"mmap", reinterpret_cast<void*>(hook_mmap)},         {"munmap", reinterpret_cast<void*>(hook_munmap)},
        {"mprotect", reinterpret_cast<void*>(hook_mprotect)}, {"madvise", reinterpret_cast<void*>(hook_madvise)},
        {"mremap", reinterpret_cast<void*>(hook_mremap)},     {"brk", reinterpret_cast<void*>(hook_brk)},
        {"sbrk", reinterpret_cast<void*>(hook_sbrk)},
    };
    *count = sizeof kHooks / sizeof kHooks[0];
    return kHooks;
}

}  // namespace mosalloc
