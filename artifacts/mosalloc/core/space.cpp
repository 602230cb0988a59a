#include "core/space.h"

#include <cerrno>

#include "core/sys.h"

namespace mosalloc {
namespace {
/// Free ranges at most; the table costs memory only as far as it is used. A pool with more holes is full.
constexpr size_t kMaxHoles = 1 << 20;
constexpr int kPopulateRead = 22, kPopulateWrite = 23;  // MADV_POPULATE_*, Linux 5.14
}  // namespace

bool Space::init(uint64_t heap_base, uint64_t anon_base, const Layout& layout, mosalloc_pool_map* map) {
    const uint64_t bases[MOSALLOC_POOL_COUNT] = {heap_base, anon_base};
    for (size_t kind = 0; kind < MOSALLOC_POOL_COUNT; ++kind)
        if (!pools_[kind].init(bases[kind], layout.pool_bytes[kind])) return false;
    auto* holes = static_cast<Range*>(sys::table(kMaxHoles * sizeof(Range)));
    if (holes == nullptr) return false;
    free_.init(holes, kMaxHoles, layout.pool_bytes[MOSALLOC_POOL_ANON]);
    break_ = 0;
    map_ = map;
    return true;
}

bool Space::overlaps(Range addresses) const {
    for (const Pool& pool : pools_)
        if (addresses.overlaps(pool.span())) return true;
    return false;
}

Pool* Space::holder(Range addresses) {
    for (Pool& pool : pools_)
        if (pool.span().contains(addresses)) return &pool;
    return nullptr;
}

void Space::served(uint64_t kind) {
    mosalloc_pool& out = map_->pools[kind];
    ++out.calls;
    out.live_bytes = kind == MOSALLOC_POOL_HEAP ? break_ : pools_[kind].bytes() - free_.free_bytes();
    const PoolCounters &heap = pools_[MOSALLOC_POOL_HEAP].counters(), &anon = pools_[MOSALLOC_POOL_ANON].counters();
    map_->softened_protections = heap.softened_protections + anon.softened_protections;
    map_->ignored_advice = heap.ignored_advice + anon.ignored_advice;
    map_->zeroed_bytes = heap.zeroed_bytes + anon.zeroed_bytes;
}

long Space::refused(long error) {
    ++map_->refused_calls;
    return error;
}

/// Calls f(pool or null, address range) for the parts of `addresses` inside and outside the pools, ascending.
template <class F>
long Space::for_each_area(Range addresses, F f) {
    while (!addresses.empty()) {
        Range part = addresses;
        Pool* inside = nullptr;
        for (Pool& pool : pools_) {
            const Range span = pool.span();
            if (span.start <= part.start && part.start < span.end) {
                inside = &pool;
                part = part.clip(span);
            } else if (part.start < span.start && span.start < part.end && !span.empty()) {
                part.end = span.start;
            }
        }
        const long result = f(inside, part);
        if (sys::failed(result)) return result;
        addresses.start = part.end;
    }
    return 0;
}

void Space::take(Pool* pool, Range offsets) {
    mosalloc_pool& out = map_->pools[is_anon(pool) ? MOSALLOC_POOL_ANON : MOSALLOC_POOL_HEAP];
    if (is_anon(pool)) free_.take(offsets);
    if (out.used_bytes < offsets.end) out.used_bytes = offsets.end;
}

long Space::give(Pool* pool, Range offsets) {
    if (is_anon(pool) && !free_.has_room()) return -ENOMEM;
    const long result = pool->release(offsets);
    if (!sys::failed(result) && is_anon(pool)) free_.give(offsets);
    return result;
}

long Space::map(uint64_t bytes, int prot, bool populate) {
    const long result = place(bytes, prot);
    served(MOSALLOC_POOL_ANON);
    // MAP_POPULATE promises nothing, so its result is not looked at.
    const int advice = (prot & PROT_WRITE) != 0 ? kPopulateWrite : kPopulateRead;
    if (populate && !sys::failed(result)) sys::madvise(static_cast<uint64_t>(result), bytes, advice);
    return result;
}

long Space::place(uint64_t bytes, int prot) {
    Pool& pool = pools_[MOSALLOC_POOL_ANON];
    uint64_t start;
    if (!free_.take_first_fit(bytes, &start)) return -ENOMEM;
    const Range range{start, start + bytes};
    const long result = pool.commit(range, prot);
    if (sys::failed(result)) {
        free_.give(range);
        return result;
    }
    take(&pool, range);
    return static_cast<long>(pool.base() + start);
}

/// May the program place a mapping here? The heap ends at the break; above it the next brk will come along.
bool Space::owns(const Pool* pool, Range offsets) const {
    return is_anon(pool) || offsets.end <= align_up(break_, kPage4K);
}

long Space::map_fixed(Range addresses, int prot) {
    Pool* pool = holder(addresses);
    if (pool == nullptr) return refused(-EINVAL);
    const Range range = pool->offsets(addresses);
    if (!owns(pool, range) || !free_.has_room()) return refused(-ENOMEM);
    long result = pool->release(range);
    if (!sys::failed(result)) result = pool->commit(range, prot);
    if (sys::failed(result)) return result;
    take(pool, range);
    served(is_anon(pool) ? MOSALLOC_POOL_ANON : MOSALLOC_POOL_HEAP);
    return static_cast<long>(addresses.start);
}

long Space::map_foreign(Range addresses, int prot, int flags, int fd, uint64_t offset) {
    Pool* pool = holder(addresses);
    if (pool == nullptr) return refused(-EINVAL);
    const Range range = pool->offsets(addresses);
    if (!owns(pool, range) || !free_.has_room()) return refused(-ENOMEM);
    if (pool->touches_window(range)) return refused(-EINVAL);
    const long result = sys::mmap(addresses.start, addresses.bytes(), prot, flags, fd, offset);
    if (sys::failed(result)) return result;
    pool->adopt_foreign(range, prot);
    take(pool, range);
    served(is_anon(pool) ? MOSALLOC_POOL_ANON : MOSALLOC_POOL_HEAP);
    return result;
}

long Space::unmap(Range addresses) {
    return for_each_area(addresses, [&](Pool* pool, Range part) -> long {
        if (pool == nullptr) return sys::munmap(part.start, part.bytes());
        const long result = give(pool, pool->offsets(part));
        served(is_anon(pool) ? MOSALLOC_POOL_ANON : MOSALLOC_POOL_HEAP);
        return result;
    });
}

long Space::protect(Range addresses, int prot) {
    return for_each_area(addresses, [&](Pool* pool, Range part) -> long {
        if (pool == nullptr) return sys::mprotect(part.start, part.bytes(), prot);
        const long result = pool->protect(pool->offsets(part), prot);
        served(is_anon(pool) ? MOSALLOC_POOL_ANON : MOSALLOC_POOL_HEAP);
        return result;
    });
}

long Space::advise(Range addresses, int advice) {
    return for_each_area(addresses, [&](Pool* pool, Range part) -> long {
        if (pool == nullptr) return sys::madvise(part.start, part.bytes(), advice);
        const long result = pool->advise(pool->offsets(part), advice);
        served(is_anon(pool) ? MOSALLOC_POOL_ANON : MOSALLOC_POOL_HEAP);
        return result;
    });
}

long Space::set_break(uint64_t address) {
    Pool& pool = pools_[MOSALLOC_POOL_HEAP];
    if (address < pool.base() || address > pool.base() + pool.bytes()) return -ENOMEM;
    const uint64_t wanted = address - pool.base();
    const uint64_t old_end = align_up(break_, kPage4K), end = align_up(wanted, kPage4K);
    const long result = end > old_end ? pool.commit({old_end, end}, PROT_READ | PROT_WRITE)
                        : end < old_end ? pool.release({end, old_end}) : 0;
    if (sys::failed(result)) return result;
    break_ = wanted;
    if (map_->pools[MOSALLOC_POOL_HEAP].used_bytes < wanted) map_->pools[MOSALLOC_POOL_HEAP].used_bytes = wanted;
    served(MOSALLOC_POOL_HEAP);
    return 0;
}

}  // namespace mosalloc
