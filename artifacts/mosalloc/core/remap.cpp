// remap.cpp - mremap over pool memory.
//
// Order of attempts: shrink; grow into the free space behind; move to the lowest range that fits. For a move inside
// 4KB parts, the kernel moves page tables (MREMAP_DONTUNMAP, Linux 5.7: the old range never becomes a hole where the
// kernel could place another thread's mapping). All other moves copy the memory.
#include <cerrno>

#include "core/copy.h"
#include "core/space.h"
#include "core/sys.h"

namespace mosalloc {
namespace {
constexpr int kReadWrite = PROT_READ | PROT_WRITE;
}

long Space::grow_in_place(Pool* pool, Range old, uint64_t bytes) {
    const Range extra{old.end, old.start + bytes};
    if (is_heap(pool) || extra.end > pool->bytes() || !list(pool).is_free(extra)) return -ENOMEM;
    const long result = pool->commit(extra, pool->protection_at(old.end - kPage4K));
    if (sys::failed(result)) return result;
    take(pool, extra);
    return 0;
}

/// Contents and protections of `old` go to address `to`, where `bytes` of zeroed memory are committed; what is longer
/// than `old` is as its last page. The old range stays as it is, with any contents.
long Space::move_to(Pool* pool, Range old, uint64_t bytes, uint64_t to) {
    const uint64_t moved = old.bytes() < bytes ? old.bytes() : bytes;
    const Range from{old.start, old.start + moved};
    const uint64_t source = pool->base() + old.start;
    Pool* target = holder({to, to + bytes});
    const Range place = target == nullptr ? Range{} : target->offsets({to, to + bytes});
    // Memory that leaves the pools is copied. The kernel may have several mappings where the program sees one, and outside
    // the pools the library could not hide this from the program's next mremap.
    if (target != nullptr && !pool->touches_window(from) && !target->touches_window(place)) {
        // Longer memory in one call, so that it is one mapping, which the kernel moves as a whole later.
        const bool grows = bytes > moved;
        const int flags = MREMAP_MAYMOVE | MREMAP_FIXED | (grows ? 0 : MREMAP_DONTUNMAP);
        const long result = sys::mremap(source, moved, grows ? bytes : moved, flags, to);
        if (!sys::failed(result)) {
            if (grows) reserve_span(source, moved);
            target->record(place, *pool, from);
            return 0;
        }  // EFAULT: several mappings (mixed protections); EINVAL: an older kernel. Copying does the same.
        // Before Linux 6.17 the kernel has already unmapped the target then.
        const long again = map_small(to, bytes, kReadWrite, 0);
        if (sys::failed(again)) return again;
    }
    long result = pool->open_for_copy(from, kReadWrite);
    if (!sys::failed(result)) {
        copy_pages(source, to, moved);
        result = protect_like({to, to + bytes}, *pool, from);
    }
    if (sys::failed(result)) pool->close_after_copy(from);
    return result;
}

/// Gives `addresses`, which can be read and written, the protections that are recorded for `from`; what is longer is as
/// its last page.
long Space::protect_like(Range addresses, const Pool& pool, Range from) {
    const auto like = [&](uint64_t at) {
        const uint64_t offset = from.start + (at - addresses.start);
        return pool.protection_at(offset < from.end ? offset : from.end - kPage4K);
    };
    Range run = addresses;
    for (; !run.empty(); run = {run.end, addresses.end}) {
        const int prot = like(run.start);
        run.end = run.start;
        while (run.end < addresses.end && like(run.end) == prot) run.end += kPage4K;
        const long result = prot == kReadWrite ? 0 : protect(run, prot);
        if (sys::failed(result)) return result;
    }
    return 0;
}

/// After a move: the old range is free, or (MREMAP_DONTUNMAP) still the program's and reads zero. The contents are at the
/// new place, so the move succeeds if the kernel refuses this: the old range then stays in use, and nobody else gets it.
void Space::leave(Pool* pool, Range old, bool keep) {
    if (keep) pool->renew(old);
    else give(pool, old);
}

long Space::move_fixed(Pool* pool, Range old, uint64_t bytes, uint64_t to, bool keep) {
    const Range addresses{to, to + bytes};
    if (to % kPage4K != 0 || addresses.overlaps(pool->addresses(old))) return -EINVAL;
    if (pool->any_foreign(old)) {  // only the kernel can move it, to a place with 4KB pages
        Pool* target = holder(addresses);
        const Range place = target == nullptr ? Range{} : target->offsets(addresses);
        if (target == nullptr ? overlaps(addresses) : !may_place(target, place)) return refused(-EINVAL);
        if (target != nullptr && target->touches_window(place) && sys::failed(target->split(place))) return refused(-EINVAL);
        const int prot = pool->protection_at(old.start);
        const int flags = MREMAP_MAYMOVE | MREMAP_FIXED | (keep ? MREMAP_DONTUNMAP : 0);
        const long result = sys::mremap(pool->base() + old.start, old.bytes(), bytes, flags, to);
        if (sys::failed(result)) {
            if (target != nullptr) reclaim(target, place);  // before Linux 6.17 the kernel unmaps the target first
            return result;
        }
        if (target != nullptr) target->adopt_foreign(place, prot);
        if (target != nullptr) take(target, place);
        if (!keep) give(pool, old);
        return result;
    }
    long result = overlaps(addresses) ? map_fixed(addresses, {kReadWrite})
                                      : sys::mmap(to, bytes, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
    if (!sys::failed(result)) result = move_to(pool, old, bytes, to);
    if (sys::failed(result)) return result;
    leave(pool, old, keep);
    return static_cast<long>(to);
}

/// MREMAP_FIXED that brings a mapping of the kernel's into a pool: it stays the program's own mapping there.
long Space::move_in(uint64_t old, uint64_t old_bytes, uint64_t bytes, int flags, uint64_t to) {
    Pool* pool = holder({to, to + bytes});
    if (pool == nullptr || to % kPage4K != 0) return refused(-EINVAL);
    const Range range = pool->offsets({to, to + bytes});
    if (!may_place(pool, range)) return refused(-ENOMEM);
    if (pool->touches_window(range) && sys::failed(pool->split(range))) return refused(-EINVAL);
    const long result = sys::mremap(old, old_bytes, bytes, flags, to);
    if (sys::failed(result)) {
        reclaim(pool, range);
        return result;
    }
    pool->adopt_foreign(range, kReadWrite);
    take(pool, range);
    return result;
}

/// The kernel can make a file or shared mapping longer where nothing is behind it, so the span makes room.
long Space::grow_by_kernel(Pool* pool, Range old, uint64_t bytes) {
    const Range extra{old.end, old.start + bytes};
    if (is_heap(pool) || extra.end > pool->bytes() || !list(pool).is_free(extra)) return -ENOMEM;
    if (pool->touches_window({old.start, extra.end})) return -ENOMEM;
    const uint64_t start = pool->base() + old.start;
    if (sys::failed(sys::munmap(start + old.bytes(), extra.bytes()))) return -ENOMEM;
    const long result = sys::mremap(start, old.bytes(), bytes, 0, 0);
    if (sys::failed(result)) {
        restore(pool, extra, MAP_FIXED_NOREPLACE);
        return result;
    }
    pool->adopt_foreign(extra, PROT_NONE);
    pool->record(extra, *pool, {old.end - kPage4K, old.end});
    take(pool, extra);
    return 0;
}

/// A file or shared mapping inside a pool cannot be copied, only moved by the kernel.
long Space::move_foreign(Pool* pool, Range old, uint64_t bytes, bool keep) {
    Pool& target = pools_[MOSALLOC_POOL_FILE];
    FreeList& free = list(&target);
    uint64_t start;
    if (!free.take_first_fit(bytes, &start)) return full(MOSALLOC_POOL_FILE, bytes);
    const Range range{start, start + bytes};
    const uint64_t to = target.base() + start;
    const int prot = pool->protection_at(old.start);
    const int flags = MREMAP_MAYMOVE | MREMAP_FIXED | (keep ? MREMAP_DONTUNMAP : 0);
    const long result = sys::mremap(pool->base() + old.start, old.bytes(), bytes, flags, to);
    if (sys::failed(result)) {
        restore(&target, range, MAP_FIXED);
        return result;
    }
    target.adopt_foreign(range, prot);
    take(&target, range);
    if (!old.empty() && !keep) give(pool, old);
    return result;
}

/// Neither in place nor at a place that the caller chose: the lowest range that fits.
long Space::move_anywhere(Pool* pool, Range old, uint64_t bytes, bool keep) {
    const long moved = place(bytes, {kReadWrite});
    if (sys::failed(moved)) return moved;
    const uint64_t at = static_cast<uint64_t>(moved);
    const long result = move_to(pool, old, bytes, at);
    if (!sys::failed(result)) {
        leave(pool, old, keep);
        return moved;
    }
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
    long grown = -ENOMEM;
    if (foreign || pool->any_mark(old)) grown = grow_by_kernel(pool, old, bytes);  // the new part has the same marks
    if (!foreign && sys::failed(grown)) grown = grow_in_place(pool, old, bytes);
    if (!sys::failed(grown)) return static_cast<long>(pool->base() + old.start);
    if (!may_move) return -ENOMEM;
    return foreign ? move_foreign(pool, old, bytes, false) : move_anywhere(pool, old, bytes, false);
}

long Space::remap(uint64_t old, uint64_t old_bytes, uint64_t bytes, int flags, uint64_t to) {
    const bool fixed = (flags & MREMAP_FIXED) != 0, may_move = (flags & MREMAP_MAYMOVE) != 0;
    const bool keep = (flags & MREMAP_DONTUNMAP) != 0;
    old_bytes = align_up(old_bytes, kPage4K);
    bytes = align_up(bytes, kPage4K);
    const Range addresses{old, old + old_bytes};
    const bool unknown = (flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP)) != 0;
    if (old % kPage4K != 0 || bytes == 0 || unknown || (fixed && !may_move)) return -EINVAL;
    if (keep && (!may_move || old_bytes != bytes)) return -EINVAL;
    if (addresses.end < old || old + bytes < old) return -EINVAL;
    if (fixed && !overlaps({old, old + (old_bytes == 0 ? kPage4K : old_bytes)})) return move_in(old, old_bytes, bytes, flags, to);
    const Range first{old, old + (old_bytes == 0 ? kPage4K : old_bytes)};
    Pool* pool = holder(first);
    if (pool == nullptr || !pool->all_used(pool->offsets(first))) return -EFAULT;
    const Range range = pool->offsets(addresses);
    const bool foreign = pool->any_foreign(pool->offsets(first));
    if (!is_heap(pool) && !list(pool).has_room()) return -ENOMEM;
    long result;
    if (old_bytes == 0) result = foreign && may_move && !fixed ? move_foreign(pool, range, bytes, false) : -EINVAL;
    else if (fixed) result = move_fixed(pool, range, bytes, to, keep);
    else if (keep) result = foreign ? move_foreign(pool, range, bytes, true) : move_anywhere(pool, range, bytes, true);
    else result = resize(pool, range, bytes, may_move);
    served(kind_of(pool));
    return result;
}

}  // namespace mosalloc
