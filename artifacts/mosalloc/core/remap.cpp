// remap.cpp - mremap over pool memory.
//
// Order of attempts: shrink; grow into free space behind; move to the lowest range that fits. A move inside 4KB
// parts lets the kernel move page tables (MREMAP_DONTUNMAP, Linux 5.7: the old range never becomes a hole into
// which another thread's mapping could fall); anything else is copied.
#include <cerrno>
#include <cstring>

#include "core/space.h"
#include "core/sys.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

namespace mosalloc {

void copy_pages(uint64_t from, uint64_t to, uint64_t bytes) {
    static const char zeros[kPage4K] = {};
    for (uint64_t at = 0; at < bytes; at += kPage4K) {
        const void* page = reinterpret_cast<const void*>(from + at);
        if (memcmp(page, zeros, kPage4K) != 0) memcpy(reinterpret_cast<void*>(to + at), page, kPage4K);
    }
}

long Space::grow_in_place(Pool* pool, Range old, uint64_t bytes) {
    const Range extra{old.end, old.start + bytes};
    if (!is_anon(pool) || extra.end > pool->bytes() || !free_.is_free(extra)) return -ENOMEM;
    const long result = pool->commit(extra, pool->protection_at(old.end - kPage4K));
    if (sys::failed(result)) return result;
    take(pool, extra);
    return 0;
}

/// Contents and protections of `old` go to address `to`, where `bytes` of zeroed memory are committed.
long Space::move_to(Pool* pool, Range old, uint64_t bytes, uint64_t to) {
    const uint64_t moved = old.bytes() < bytes ? old.bytes() : bytes;
    const Range from{old.start, old.start + moved};
    const uint64_t source = pool->base() + old.start;
    Pool* target = holder({to, to + bytes});
    const uint64_t to_offset = target == nullptr ? 0 : to - target->base();
    const bool small_pages =
        !pool->touches_window(from) && (target == nullptr || !target->touches_window({to_offset, to_offset + moved}));
    if (small_pages) {
        const long result = sys::mremap(source, moved, moved, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to);
        if (!sys::failed(result)) {
            if (target != nullptr) target->record({to_offset, to_offset + moved}, *pool, from.start);
            return 0;
        }  // EFAULT: several mappings (mixed protections); EINVAL: an older kernel. Copying does the same.
    }
    long result = pool->open_for_copy(from, PROT_READ | PROT_WRITE);
    if (sys::failed(result)) return result;
    copy_pages(source, to, moved);
    if (target == nullptr) return 0;
    target->record({to_offset, to_offset + moved}, *pool, from.start);
    return target->enforce({to_offset, to_offset + moved});
}

long Space::move_fixed(Pool* pool, Range old, uint64_t bytes, uint64_t to) {
    const Range addresses{to, to + bytes};
    const Range source{pool->base() + old.start, pool->base() + old.end};
    if (to % kPage4K != 0 || addresses.overlaps(source)) return -EINVAL;
    if (pool->any_foreign(old)) return refused(-EINVAL);
    constexpr int rw = PROT_READ | PROT_WRITE;
    long result = overlaps(addresses)
                      ? map_fixed(addresses, rw)
                      : sys::mmap(to, bytes, rw, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE);
    if (!sys::failed(result)) result = move_to(pool, old, bytes, to);
    if (!sys::failed(result)) result = give(pool, old);
    return sys::failed(result) ? result : static_cast<long>(to);
}

/// MREMAP_FIXED that brings a mapping of the kernel's into a pool: it stays the program's own mapping there.
long Space::move_in(uint64_t old, uint64_t old_bytes, uint64_t bytes, uint64_t to) {
    Pool* pool = holder({to, to + bytes});
    if (pool == nullptr || to % kPage4K != 0) return refused(-EINVAL);
    const Range range = pool->offsets({to, to + bytes});
    if (!owns(pool, range) || !free_.has_room()) return refused(-ENOMEM);
    if (pool->touches_window(range)) return refused(-EINVAL);
    const long result = sys::mremap(old, old_bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    if (sys::failed(result)) return result;
    pool->adopt_foreign(range, PROT_READ | PROT_WRITE);
    take(pool, range);
    return result;
}

/// A file or shared mapping inside a pool cannot be copied, only moved by the kernel.
long Space::move_foreign(Pool* pool, Range old, uint64_t bytes) {
    uint64_t start;
    if (!free_.take_first_fit(bytes, &start)) return -ENOMEM;
    Pool& anon = pools_[MOSALLOC_POOL_ANON];
    const Range range{start, start + bytes};
    long result = -EINVAL;
    if (!anon.touches_window(range))
        result = sys::mremap(pool->base() + old.start, old.bytes(), bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                             anon.base() + start);
    if (sys::failed(result)) {
        free_.give(range);
        return refused(result);
    }
    anon.adopt_foreign(range, pool->protection_at(old.start));
    take(&anon, range);
    give(pool, old);
    return result;
}

/// Neither in place nor at a place that the caller chose: the lowest range that fits.
long Space::move_anywhere(Pool* pool, Range old, uint64_t bytes) {
    const long moved = place(bytes, PROT_READ | PROT_WRITE);
    if (sys::failed(moved)) return moved;
    const uint64_t at = static_cast<uint64_t>(moved);
    const int tail_prot = pool->protection_at(old.end - kPage4K);
    long result = move_to(pool, old, bytes, at);
    if (!sys::failed(result) && tail_prot != (PROT_READ | PROT_WRITE))
        result = protect({at + old.bytes(), at + bytes}, tail_prot);
    if (!sys::failed(result)) result = give(pool, old);
    if (!sys::failed(result)) return moved;
    Pool* anon = &pools_[MOSALLOC_POOL_ANON];
    give(anon, anon->offsets({at, at + bytes}));
    return result;
}

long Space::resize(Pool* pool, Range old, uint64_t bytes, bool may_move) {
    if (bytes <= old.bytes()) {
        const Range tail{old.start + bytes, old.end};
        const long result = tail.empty() ? 0 : give(pool, tail);
        return sys::failed(result) ? result : static_cast<long>(pool->base() + old.start);
    }
    const bool foreign = pool->any_foreign(old);
    if (!foreign && !sys::failed(grow_in_place(pool, old, bytes))) return static_cast<long>(pool->base() + old.start);
    if (!may_move) return -ENOMEM;
    return foreign ? move_foreign(pool, old, bytes) : move_anywhere(pool, old, bytes);
}

long Space::remap(uint64_t old, uint64_t old_bytes, uint64_t bytes, int flags, uint64_t to) {
    const bool fixed = (flags & MREMAP_FIXED) != 0, may_move = (flags & MREMAP_MAYMOVE) != 0;
    old_bytes = align_up(old_bytes, kPage4K);
    bytes = align_up(bytes, kPage4K);
    const Range addresses{old, old + old_bytes};
    if (old % kPage4K != 0 || bytes == 0 || (fixed && !may_move)) return -EINVAL;
    if (addresses.end < old || old + bytes < old) return -EINVAL;
    if (fixed && !overlaps(addresses)) return move_in(old, old_bytes, bytes, to);
    // Duplicating (old size 0) and leaving the old range behind are for shared memory and userfaultfd.
    if (old_bytes == 0 || (flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED)) != 0) return refused(-EINVAL);
    Pool* pool = holder(addresses);
    if (pool == nullptr || !pool->all_used(pool->offsets(addresses))) return -EFAULT;
    if (!free_.has_room()) return -ENOMEM;
    const Range range = pool->offsets(addresses);
    const long result = fixed ? move_fixed(pool, range, bytes, to) : resize(pool, range, bytes, may_move);
    served(is_anon(pool) ? MOSALLOC_POOL_ANON : MOSALLOC_POOL_HEAP);
    return result;
}

}  // namespace mosalloc
